"""A provider of tools that is not ours: an MCP server of the official SDK over stdio."""

from mcp.server.mcpserver import MCPServer

server = MCPServer("peer")


@server.tool()
def echo(text: str) -> str:
    """Repeats a text"""
    return f"peer says {text}"


server.run("stdio")
