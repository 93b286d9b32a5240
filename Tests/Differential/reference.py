"""The server that ours is compared with: the official Python SDK, of either generation, with the tools, resources and
prompt of `mcp-server --demo` that both can have, and the same texts."""

import asyncio

try:
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import Context
    from mcp.server.fastmcp import FastMCP as Server

server = Server("demo", log_level="CRITICAL")


@server.tool(structured_output=False)
async def echo(text: str) -> str:
    return text


@server.tool(structured_output=False)
async def slow(seconds: float, ctx: Context) -> str:
    await asyncio.sleep(seconds)
    return f"waited {seconds:g} s"


@server.resource("demo:///hello", mime_type="text/plain")
async def hello() -> str:
    return "Hello from mcp-server."


@server.resource("demo:///greeting/{name}", mime_type="text/plain")
async def greeting(name: str) -> str:
    return f"Hello, {name}!"


@server.prompt()
async def summarize(text: str, style: str = "") -> str:
    return f"Summarize the following text.{f' Style: {style}.' if style else ''}\n\n{text}"


server.run("stdio")
