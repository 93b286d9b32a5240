"""A server of fastmcp, which all its generations can run."""

from fastmcp import FastMCP

server = FastMCP("generation")


@server.tool()
def greet(who: str) -> str:
    """Greets."""
    return f"Hello, {who}"


server.run()
