"""Client-side tools with the official Python SDK: the daemon, a provider of its own process, and an agent that
knows nothing of either. Each agent (revision, transport) calls a tool of each kind of provider."""

import asyncio
import contextlib
import functools
import json
import os
import sys
import urllib.request
from collections.abc import AsyncIterator
from typing import Any

from harness import (
    Case,
    check,
    check_equal,
    end,
    free_port,
    http_server,
    quiet_environment,
    run_cases,
    until_listening,
)
from sdk_client import session

ERAS = ["2026-07-28", "2025-11-25"]
CHANNEL = "room"


@contextlib.asynccontextmanager
async def program(*words: str, log: Any, environment: dict[str, str]) -> AsyncIterator[None]:
    process = await asyncio.create_subprocess_exec(
        *words, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, env=environment
    )
    try:
        yield
    finally:
        await end(process)


async def until_listed(agent: Any, name: str) -> None:
    async with asyncio.timeout(15):
        while True:
            tools = (await agent.list_tools()).tools
            if any(tool.name == name for tool in tools):
                return
            await asyncio.sleep(0.05)


async def call(agent: Any, name: str, arguments: dict[str, Any]) -> str:
    await until_listed(agent, name)
    result = await agent.call_tool(name, arguments)
    check(not result.is_error, f"{name} failed: {result.content}")
    return result.content[0].text


def post(url: str, body: dict[str, Any], token: str) -> dict[str, Any]:
    request = urllib.request.Request(
        url,
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.loads(answer.read())


def answer_events(base: str, token: str, opened: asyncio.Event, loop: asyncio.AbstractEventLoop) -> None:
    """A client of the façade: takes one call from the event stream and answers it."""
    request = urllib.request.Request(
        f"{base}/client-tools/events?channel_id={CHANNEL}&results=1", headers={"Authorization": f"Bearer {token}"}
    )
    with urllib.request.urlopen(request, timeout=20) as stream:
        loop.call_soon_threadsafe(opened.set)
        for line in stream:
            if not line.startswith(b"data:"):
                continue
            event = json.loads(line[5:])
            if event["type"] == "ai_indicator.update":
                continue
            check_equal(event["type"], "custom_client_tool_invocation", "the type of the event")
            check_equal(event["cid"], f"messaging:{CHANNEL}", "cid")
            text = f"facade {os.getpid()} {event['args']['text']}"
            post(
                f"{base}/client-tools/result",
                {
                    "invocation_id": event["invocation_id"],
                    "result": {"content": [{"type": "text", "text": text}]},
                },
                token,
            )
            return


class Trio:
    """The three programs; every case has its own daemon."""

    def __init__(self, server: str, client: str, folder: str, log: Any) -> None:
        self.server, self.client, self.folder, self.log = server, client, folder, log
        self.environment = {**quiet_environment(folder), "XDG_RUNTIME_DIR": folder}
        self.peer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "client_tools_peer.py")
        self.socket = os.path.join(folder, "providers.sock")
        self.token_file = os.path.join(folder, "state", "mcpcore", "providers.token")

    # Agents: a session, and the address of the daemon's HTTP.

    @contextlib.asynccontextmanager
    async def over_http(self, era: str) -> AsyncIterator[tuple[Any, str]]:
        command = [self.server, "--demo", "--client-tools", "--providers-socket", self.socket]
        command += ["--listen", "127.0.0.1:PORT"]
        async with http_server(command, self.log, self.environment) as url:
            async with session(f"{url}/channels/{CHANNEL}", era, False, self.log, self.environment) as agent:
                yield agent, url.removesuffix("/mcp")

    @contextlib.asynccontextmanager
    async def over_stdio(self, era: str) -> AsyncIterator[tuple[Any, str]]:
        port = free_port()
        command = [self.server, "--demo", "--client-tools", "--providers-socket", self.socket]
        command += ["--stdio", "--channel", CHANNEL, "--listen", f"127.0.0.1:{port}"]
        async with session(command, era, False, self.log, self.environment) as agent:
            # In the newest revision a session is open before its process is ready.
            await until_listening(None, port)
            yield agent, f"http://127.0.0.1:{port}"

    # Providers.

    def provide(self, *what: str) -> contextlib.AbstractAsyncContextManager[None]:
        words = [self.client, "provide", "--channel", CHANNEL, "--client", "trio", *what]
        return program(*words, log=self.log, environment=self.environment)

    async def at_the_socket(self, agent: Any, base: str) -> None:
        async with self.provide("--tool", "greet", self.socket):
            text = await call(agent, "greet", {"name": "Ann"})
            check_equal(text, "The user was greeted with: Hello, Ann!", "the greeting")
        async with self.provide(self.socket, "--", sys.executable, self.peer):
            check_equal(await call(agent, "repeat", {"text": "unix"}), "peer says unix", "the answer")

    async def over_tcp(self, agent: Any, base: str) -> None:
        where = ["--token-file", self.token_file, base]
        async with self.provide(*where, "--", sys.executable, self.peer):
            check_equal(await call(agent, "repeat", {"text": "tcp"}), "peer says tcp", "the answer")

    async def facade(self, agent: Any, base: str) -> None:
        with open(self.token_file, encoding="ascii") as file:
            token = file.read().strip()
        tools = [{"name": "repeat", "description": "Repeats", "parameters": {"type": "object"}}]
        registered = await asyncio.to_thread(
            post, f"{base}/register-tools", {"channel_id": f"messaging:{CHANNEL}", "tools": tools}, token
        )
        check_equal(
            registered,
            {"message": "Client tools registered", "channel_id": CHANNEL, "count": 1},
            "the registration",
        )
        opened = asyncio.Event()
        events = asyncio.create_task(
            asyncio.to_thread(answer_events, base, token, opened, asyncio.get_running_loop())
        )
        await asyncio.wait_for(opened.wait(), 10)
        text = await call(agent, "repeat", {"text": "x"})
        check_equal(text, f"facade {os.getpid()} x", "the façade's answer")
        await asyncio.wait_for(events, 10)


def cases(server: str, client: str, folder: str, log: Any) -> list[Case]:
    trio = Trio(server, client, folder, log)
    agents = [("http", trio.over_http), ("stdio", trio.over_stdio)]
    providers = [
        ("provider on the unix socket", trio.at_the_socket),
        ("provider over TCP", trio.over_tcp),
        ("client of the façade", trio.facade),
    ]

    async def case(connect: Any, provide: Any, era: str) -> None:
        async with connect(era) as (agent, base):
            await provide(agent, base)

    return [
        (f"agent over {name}, {era}, {provider}", functools.partial(case, connect, provide, era))
        for era in ERAS
        for name, connect in agents
        for provider, provide in providers
    ]


if __name__ == "__main__":
    sys.exit(asyncio.run(run_cases("client tools", cases)))
