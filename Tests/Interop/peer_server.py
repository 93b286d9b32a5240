"""The other side of the interoperability matrix: a server written with the official Python SDK.

    peer_server.py                     stdio
    peer_server.py --http PORT         streamable HTTP on 127.0.0.1, path /mcp, sessions, SSE answers
    peer_server.py --http PORT --json  the same with JSON answers
    peer_server.py --http PORT --stateless   JSON answers and no sessions
    peer_server.py … --legacy          refuses 2026-07-28, like a server from before it
    peer_server.py --forks SOCKET      stdio servers on demand, for peer_stdio.py

The names are those of `mcp-server --demo`, so that one table of operations fits both directions.
"""

import argparse
import asyncio
import datetime
import os
import signal
import socket
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

LARGE_TEXT = "0123456789" * 100_000

server = MCPServer("peer", version="1.2.3", instructions="A peer for tests.", log_level="ERROR")


class Sum(BaseModel):
    sum: float


class Time(BaseModel):
    time: str


@server.tool(structured_output=False)
def echo(text: str) -> str:
    """Returns its text."""
    return text


@server.tool()
def add(a: float, b: float) -> Sum:
    """Adds two numbers."""
    return Sum(sum=a + b)


@server.tool()
def now() -> Time:
    """The current time."""
    return Time(time=datetime.datetime.now(datetime.UTC).isoformat())


@server.tool(structured_output=False)
def fail(reason: str = "no reason given") -> str:
    """Always fails."""
    raise ToolError(f"failed on purpose: {reason}")


@server.tool(structured_output=False)
async def slow(seconds: float, ctx: Context) -> str:
    """Waits, and reports progress four times."""
    for step in range(1, 5):
        await asyncio.sleep(seconds / 4)
        await ctx.report_progress(step, 4, f"step {step}")
    return f"waited {seconds:g} s"


@server.resource("demo:///hello", mime_type="text/plain")
def hello() -> str:
    """A short text."""
    return "Hello, world!\n"


@server.resource("demo:///large", mime_type="text/plain")
def large() -> str:
    """One megabyte of text."""
    return LARGE_TEXT


@server.resource("demo:///greeting/{name}", mime_type="text/plain")
def greeting(name: str) -> str:
    """A greeting for a name."""
    return f"Hello, {name}!"


@server.prompt()
def summarize(text: str, style: str = "short") -> str:
    """Asks for a summary."""
    return f"Summarize in a {style} style:\n{text}"


async def refuse_modern(context: Any, call_next: Any) -> Any:
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        raise MCPError(code=METHOD_NOT_FOUND, message="Method not found", data=context.method)
    return await call_next(context)


async def serve_legacy_stdio() -> None:
    """The SDK's loop that knows only the handshake; its usual one takes the era of the first request."""
    inner = server._lowlevel_server
    async with stdio_server() as (incoming, outgoing), inner.lifespan(inner) as state:
        await serve_loop(inner, incoming, outgoing, lifespan_state=state)


def serve_stdio(legacy: bool) -> None:
    if legacy:
        asyncio.run(serve_legacy_stdio())
    else:
        server.run("stdio")


def serve_forks(path: str, legacy: bool) -> None:
    """Serves each connection in a fork, on the stdin, stdout and stderr that the connection hands over."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _, descriptors, _, _ = socket.recv_fds(connection, 1, 3)
                for standard, descriptor in enumerate(descriptors):
                    os.dup2(descriptor, standard)
                    os.close(descriptor)
                serve_stdio(legacy)
                os._exit(0)
            connection.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int, metavar="PORT")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--stateless", action="store_true")
    parser.add_argument("--legacy", action="store_true")
    parser.add_argument("--forks", metavar="SOCKET")
    options = parser.parse_args()
    if options.legacy:
        server.middleware.insert(0, refuse_modern)
    if options.forks:
        serve_forks(options.forks, options.legacy)
    elif options.http is None:
        serve_stdio(options.legacy)
    else:
        server.run(
            "streamable-http",
            port=options.http,
            json_response=options.json or options.stateless,
            stateless_http=options.stateless,
        )


if __name__ == "__main__":
    main()
