"""Servers from PyPI behind the daemon, called with the official Python SDK and with mcp-client."""

import asyncio
import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

from harness import Case, check, check_equal, http_server, quiet_environment, run_cases
from sdk_client import session

ERAS = ["2026-07-28", "2025-11-25", "2025-03-26"]
BIN = os.path.dirname(os.path.abspath(sys.executable))


class Gateway:
    """The daemon with four servers behind it: three real ones, and one that cannot be started."""

    def __init__(self, server: str, client: str, folder: str, log: Any) -> None:
        self.server, self.client, self.folder, self.log = server, client, folder, log
        self.environment = quiet_environment(folder)
        self.repository = os.path.join(folder, "repository")
        if not os.path.exists(self.repository):
            subprocess.run(["git", "init", "-q", self.repository], check=True, stdout=log, stderr=log)
        self.file = os.path.join(folder, "mcp.jsonc")
        servers = {
            "time": {"command": f"{BIN}/mcp-server-time", "args": ["--local-timezone", "Europe/Berlin"]},
            "git": {"command": f"{BIN}/mcp-server-git", "args": ["--repository", self.repository]},
            "fetch": {"command": f"{BIN}/mcp-server-fetch", "args": []},
            "broken": {"command": sys.executable, "args": ["-c", "import not_installed"]},
        }
        with open(self.file, "w", encoding="utf-8") as file:
            json.dump({"mcpServers": servers}, file)

    @contextlib.asynccontextmanager
    async def over_http(self) -> AsyncIterator[str]:
        command = [self.server, "-c", self.file, "--listen", "127.0.0.1:PORT"]
        async with http_server(command, self.log, self.environment) as base:
            yield base

    async def run_client(self, *words: str) -> str:
        process = await asyncio.create_subprocess_exec(
            self.client, *words, stdout=asyncio.subprocess.PIPE, stderr=self.log, env=self.environment
        )
        output, _ = await process.communicate()
        check_equal(process.returncode, 0, f"the status of {words[0]}")
        return output.decode()


async def all_tools(agent: Any) -> set[str]:
    """The names of the tools, once the servers, which take seconds to start, have reported theirs."""
    async with asyncio.timeout(40):
        while True:
            names = {tool.name for tool in (await agent.list_tools()).tools}
            if {"get_current_time", "git_status", "fetch"} <= names:
                return names
            await asyncio.sleep(0.2)


async def by_the_sdk(gateway: Gateway, era: str) -> None:
    async with gateway.over_http() as base:
        async with session(base, era, False, gateway.log, gateway.environment) as agent:
            await all_tools(agent)
            now = await agent.call_tool("get_current_time", {"timezone": "Asia/Tokyo"})
            check(not now.is_error and "Asia/Tokyo" in now.content[0].text, f"the time is {now.content}")
            status = await agent.call_tool("git_status", {"repo_path": gateway.repository})
            check(not status.is_error and "branch" in status.content[0].text, f"the status is {status.content}")
            wrong = await agent.call_tool("get_current_time", {"timezone": "Mars/Olympus"})
            check(wrong.is_error and wrong.content[0].text, "a wrong timezone is no error")
            prompts = {prompt.name for prompt in (await agent.list_prompts()).prompts}
            check("fetch" in prompts, f"the prompts are {prompts}")


async def over_stdio(gateway: Gateway, era: str) -> None:
    command = [gateway.server, "-c", gateway.file, "--stdio"]
    async with session(command, era, False, gateway.log, gateway.environment) as agent:
        await all_tools(agent)
        now = await agent.call_tool("get_current_time", {"timezone": "UTC"})
        check(not now.is_error, f"the time is {now.content}")


async def by_our_client(gateway: Gateway) -> None:
    async with gateway.over_http() as base:
        async with session(base, ERAS[0], False, gateway.log, gateway.environment) as agent:
            await all_tools(agent)
        text = await gateway.run_client("call", "--json", base, "get_current_time", "timezone=UTC")
        check("UTC" in text, f"mcp-client printed {text}")
        tools = await gateway.run_client("tools", base)
        check("git_status" in tools, f"mcp-client printed {tools}")


async def killed_while_called(gateway: Gateway) -> None:
    async with gateway.over_http() as base:
        async with session(base, ERAS[0], False, gateway.log, gateway.environment) as agent:
            await all_tools(agent)

            async def call() -> bool:
                result = await agent.call_tool("get_current_time", {"timezone": "UTC"})
                check(result.content[0].text, "a result without a text")
                return not result.is_error

            calls = [asyncio.create_task(call()) for _ in range(20)]
            await asyncio.sleep(0.02)
            for process in await server_processes():
                os.kill(process, signal.SIGKILL)
            outcomes = await asyncio.gather(*calls)
            print(f"  {outcomes.count(True)} of {len(outcomes)} calls answered around the kill")
            async with asyncio.timeout(30):
                while not await call():
                    await asyncio.sleep(0.1)


async def server_processes() -> list[int]:
    """The processes of mcp-server-time that the daemon of this run has started."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if f"{BIN}/mcp-server-time".encode() in file.read().split(b"\0"):
                    found.append(int(name))
    check(found, "mcp-server-time does not run")
    return found


def cases(server: str, client: str, folder: str, log: Any) -> list[Case]:
    gateway = Gateway(server, client, folder, log)
    return [
        *((f"SDK over HTTP, {era}", functools.partial(by_the_sdk, gateway, era)) for era in ERAS),
        *((f"SDK over stdio, {era}", functools.partial(over_stdio, gateway, era)) for era in ERAS),
        ("mcp-client over HTTP", functools.partial(by_our_client, gateway)),
        ("kill -9 during calls", functools.partial(killed_while_called, gateway)),
    ]


if __name__ == "__main__":
    sys.exit(asyncio.run(run_cases("upstreams", cases)))
