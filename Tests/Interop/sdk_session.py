"""A session of the Python SDK with a server over HTTP."""

import contextlib
from collections.abc import AsyncIterator

import httpx2
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client


@contextlib.asynccontextmanager
async def session(url: str, *, patience: float) -> AsyncIterator[ClientSession]:
    """Yields an initialized session; a stream may be silent for that many seconds."""
    async with (
        httpx2.AsyncClient(timeout=httpx2.Timeout(10, read=patience)) as http,
        streamable_http_client(url, http_client=http) as streams,
        ClientSession(streams[0], streams[1]) as client,
    ):
        await client.initialize()
        yield client
