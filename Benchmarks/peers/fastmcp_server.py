"""FastMCP (PyPI fastmcp) with the tool that is measured: `fastmcp_server.py stdio` or `fastmcp_server.py PORT`."""
import sys

from fastmcp import FastMCP

server = FastMCP("peer")


@server.tool
def echo(text: str) -> str:
    return text


if sys.argv[1] == "stdio":
    server.run(show_banner=False)
else:
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="critical")
