"""A server of the low-level interface of the Python SDK, which all its generations before 2 have."""

import asyncio

import mcp.types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

server = Server("generation")


@server.list_tools()
async def list_tools():
    schema = {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}
    return [types.Tool(name="greet", description="Greets.", inputSchema=schema)]


@server.call_tool()
async def call_tool(name, arguments):
    return [types.TextContent(type="text", text=f"Hello, {arguments['who']}")]


async def main():
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


asyncio.run(main())
