"""A server with a view, written with `mcp.server.apps` of the official Python SDK.

    apps_server.py               stdio
    apps_server.py --http PORT   streamable HTTP on 127.0.0.1, path /mcp

The view counts: `counter` shows it, `counter_add` is for the view alone, `counter_reset` for models alone.
"""

import argparse
import os

from mcp.server.apps import Apps, ResourceCsp, ResourcePermissions, client_supports_apps
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

URI = "ui://counter/app.html"
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "apps_view.html"), encoding="utf-8") as page:
    HTML = page.read()

apps = Apps()
count = 0


class Count(BaseModel):
    count: int


@apps.tool(resource_uri=URI, structured_output=False)
def counter(ctx: Context, start: int | None = None) -> str:
    """Shows a counter."""
    global count
    count = count if start is None else start
    return f"The view shows {count}." if client_supports_apps(ctx) else f"The counter is at {count}."


@apps.tool(resource_uri=URI, visibility=["app"])
def counter_add(by: int = 1) -> Count:
    """Counts, for the view."""
    global count
    if by == 0:
        raise ToolError("adding nothing")
    count += by
    return Count(count=count)


@apps.tool(resource_uri=URI, visibility=["model"], structured_output=False)
def counter_reset() -> str:
    """Begins anew."""
    global count
    count = 0
    return "The counter is at 0."


apps.add_html_resource(
    URI,
    HTML,
    title="Counter",
    csp=ResourceCsp(connect_domains=["https://counter.example", "https://evil.example;script-src *"]),
    permissions=ResourcePermissions(clipboard_write={}),
    prefers_border=True,
)
server = MCPServer("counter", version="1.0.0", log_level="ERROR", extensions=[apps])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int, metavar="PORT")
    options = parser.parse_args()
    if options.http is None:
        server.run("stdio")
    else:
        server.run("streamable-http", port=options.http)


if __name__ == "__main__":
    main()
