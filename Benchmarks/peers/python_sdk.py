"""The official Python SDK (PyPI mcp) with the tool that is measured: `python_sdk.py stdio` or `python_sdk.py PORT`."""
import sys

from mcp.server import MCPServer

server = MCPServer("peer", log_level="CRITICAL")


@server.tool()
def echo(text: str) -> str:
    return text


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
