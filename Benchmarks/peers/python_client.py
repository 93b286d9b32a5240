"""A client of the official Python SDK (PyPI mcp) that makes calls: `python_client.py URL COUNT CONCURRENCY`.

Prints its processor time per 100,000 calls as one line of JSON.
"""
import asyncio
import json
import resource
import sys
import time

from mcp import ClientSession
from mcp.client import streamable_http

url, count, concurrency = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
connect = getattr(streamable_http, "streamable_http_client", None) or streamable_http.streamablehttp_client


async def run(session, calls):
    left = iter(range(calls))

    async def work():
        for _ in left:
            result = await session.call_tool("echo", {"text": "hello world"})
            assert result.content[0].text == "hello world"

    await asyncio.gather(*(work() for _ in range(concurrency)))


async def main():
    async with connect(url) as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        await run(session, min(count, 4 * concurrency))
        before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        await run(session, count)
        took, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
        scale = 1e5 / count
        print(json.dumps({
            "calls": count, "user": (after.ru_utime - before.ru_utime) * scale,
            "system": (after.ru_stime - before.ru_stime) * scale, "perSecond": count / took}))


asyncio.run(main())
