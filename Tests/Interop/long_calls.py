"""Calls that take longer than their clients wait for a sign of life: progress and comments keep them alive."""

import asyncio
import contextlib
import functools
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

from harness import Case, check, check_equal, end, free_port, quiet_environment, run_cases, until_listening
from sdk_session import session

SILENCE = 33  # seconds: two heartbeats
PATIENCE = 20  # seconds that each client waits for a sign of life
TOOLS = {
    "silent": {"exec": ["sleep", str(SILENCE)], "timeout": "5m"},
    "spoken": {"exec": ["sh", "-c", "echo one; sleep 0.3; echo two"], "progress": "lines"},
}


@contextlib.asynccontextmanager
async def serving(server: str, folder: str, log: Any) -> AsyncIterator[str]:
    path = os.path.join(folder, "mcp.jsonc")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"tools": TOOLS}, file)
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        server, "-c", path, "--listen", f"127.0.0.1:{port}", stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
        env=quiet_environment(folder),
    )
    try:
        await until_listening(process, port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        await end(process)


async def sdk(server: str, folder: str, log: Any, *, wants_progress: bool) -> None:
    reports: list[float] = []

    async def report(progress: float, _total: float | None, _message: str | None) -> None:
        reports.append(progress)

    async with serving(server, folder, log) as url, session(url, patience=PATIENCE) as client:
        result = await client.call_tool("silent", {}, progress_callback=report if wants_progress else None)
        check(not result.is_error, f"the call failed: {result}")
        check_equal(len(reports), 2 if wants_progress else 0, "the number of reports")
        check(reports == sorted(set(reports)), f"the values do not increase: {reports}")


async def sdk_lines(server: str, folder: str, log: Any) -> None:
    messages: list[str | None] = []

    async def report(_progress: float, _total: float | None, message: str | None) -> None:
        messages.append(message)

    async with serving(server, folder, log) as url, session(url, patience=PATIENCE) as client:
        await client.call_tool("spoken", {}, progress_callback=report)
        check_equal(messages, ["one", "two"], "the messages")


async def our_client(server: str, client: str, folder: str, log: Any) -> None:
    async with serving(server, folder, log) as url:
        began = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            client, "call", url, "--timeout", f"{PATIENCE}s", "silent", stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=quiet_environment(folder),
        )
        _, errors = await process.communicate()
        check_equal(process.returncode, 0, f"the exit code, after {errors.decode()}")
        check(time.monotonic() - began >= SILENCE, "the call ended too early")


def cases(server: str, client: str, folder: str, log: Any) -> list[Case]:
    return [
        ("Python SDK: heartbeat", functools.partial(sdk, server, folder, log, wants_progress=True)),
        ("Python SDK: comments only", functools.partial(sdk, server, folder, log, wants_progress=False)),
        ("Python SDK: lines", functools.partial(sdk_lines, server, folder, log)),
        ("mcp-client: heartbeat", functools.partial(our_client, server, client, folder, log)),
    ]


if __name__ == "__main__":
    sys.exit(asyncio.run(run_cases("long calls", cases)))
