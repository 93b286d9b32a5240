"""Client-side tools with the official Python SDK: the daemon, a provider of its own process, and an agent that
knows nothing of either. Each agent (revision, transport) calls a tool of each kind of provider."""

import argparse
import asyncio
import contextlib
import json
import os
import sys
import tempfile
import urllib.request
from collections.abc import AsyncIterator
from typing import Any

from harness import check, check_equal, free_port
from sdk_client import session

ERAS = ["2026-07-28", "2025-11-25"]


@contextlib.asynccontextmanager
async def program(*words: str, log: Any, environment: dict[str, str]) -> AsyncIterator[None]:
    process = await asyncio.create_subprocess_exec(
        *words, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, env=environment
    )
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await asyncio.wait_for(process.wait(), 10)


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
        f"{base}/client-tools/events?channel_id=facade&results=1", headers={"Authorization": f"Bearer {token}"}
    )
    with urllib.request.urlopen(request, timeout=20) as stream:
        loop.call_soon_threadsafe(opened.set)
        for line in stream:
            if not line.startswith(b"data:"):
                continue
            event = json.loads(line[5:])
            check_equal(event["type"], "custom_client_tool_invocation", "the type of the event")
            check_equal(event["cid"], "messaging:facade", "cid")
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
    def __init__(self, server: str, client: str, folder: str, log: Any) -> None:
        self.server, self.client, self.folder, self.log = server, client, folder, log
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": folder, "XDG_STATE_HOME": folder}
        self.peer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "client_tools_peer.py")
        self.token_file = os.path.join(folder, "mcpcore", "providers.token")

    def provide(self, channel: str, *what: str) -> contextlib.AbstractAsyncContextManager[None]:
        words = [self.client, "provide", "--channel", channel, "--client", "trio"]
        return program(*words, *what, log=self.log, environment=self.environment)

    async def over_http(self, era: str) -> None:
        port = free_port()
        base = f"http://127.0.0.1:{port}"
        socket = os.path.join(self.folder, "mcpcore", "providers.sock")
        async with program(
            self.server, "--demo", "--listen", f"127.0.0.1:{port}", "--client-tools", log=self.log,
            environment=self.environment,
        ):
            async with asyncio.timeout(10):
                while not (os.path.exists(self.token_file) and os.path.exists(socket)):
                    await asyncio.sleep(0.02)
            with open(self.token_file, encoding="ascii") as file:
                token = file.read().strip()

            def agent(channel: str) -> contextlib.AbstractAsyncContextManager[Any]:
                return session(f"{base}/mcp/channels/{channel}", era, False, self.log, self.environment)

            async with self.provide("unix", "--tool", "greet", socket), agent("unix") as session_:
                text = await call(session_, "greet", {"name": "Ann"})
                check_equal(text, "The user was greeted with: Hello, Ann!", "the greeting")
            where = ["--token-file", self.token_file, f"127.0.0.1:{port}", "--", sys.executable, self.peer]
            async with self.provide("tcp", *where), agent("tcp") as session_:
                check_equal(await call(session_, "echo", {"text": "tcp"}), "peer says tcp", "the answer")
            await self.facade(base, token, agent)

    async def facade(self, base: str, token: str, agent: Any) -> None:
        tools = [{"name": "echo", "description": "Repeats", "parameters": {"type": "object"}}]
        registered = await asyncio.to_thread(
            post, f"{base}/register-tools", {"channel_id": "messaging:facade", "tools": tools}, token
        )
        check_equal(
            registered,
            {"message": "Client tools registered", "channel_id": "facade", "count": 1},
            "the registration",
        )
        opened = asyncio.Event()
        events = asyncio.create_task(
            asyncio.to_thread(answer_events, base, token, opened, asyncio.get_running_loop())
        )
        await asyncio.wait_for(opened.wait(), 10)
        async with agent("facade") as session_:
            text = await call(session_, "echo", {"text": "x"})
        check_equal(text, f"facade {os.getpid()} x", "the façade's answer")
        await asyncio.wait_for(events, 10)

    async def over_stdio(self, era: str) -> None:
        socket = os.path.join(self.folder, f"{era}.sock")
        command = [self.server, "--demo", "--stdio", "--client-tools", "--channel", "room"]
        command += ["--providers-socket", socket]
        async with session(command, era, False, self.log, self.environment) as agent:
            async with self.provide("room", socket, "--", sys.executable, self.peer):
                check_equal(await call(agent, "echo", {"text": "stdio"}), "peer says stdio", "the answer")


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--client", required=True)
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory(prefix="mcp-trio-") as folder:
        path = os.path.join(folder, "log")
        with open(path, "w", encoding="utf-8") as log:
            trio = Trio(os.path.abspath(options.server), os.path.abspath(options.client), folder, log)
            for era in ERAS:
                for name, run in [("http", trio.over_http), ("stdio", trio.over_stdio)]:
                    try:
                        async with asyncio.timeout(60):
                            await run(era)
                        print(f"client tools, agent over {name}, {era}: ok")
                    except Exception as error:
                        failures += 1
                        print(f"client tools, agent over {name}, {era}: FAILED: {error!r}")
        if failures:
            with open(path, encoding="utf-8", errors="replace") as log:
                print(log.read()[-4000:])
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
