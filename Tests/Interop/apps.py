"""Views with the official Python SDK, without a browser, in both eras and over both transports: what our client
reads of the SDK's server, and what the SDK's client, with views and without, reads of ours."""

import asyncio
import contextlib
import functools
import json
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

from mcp.client.client import Client
from mcp.client.extension import advertise
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from harness import Case, check, check_equal, http_server, quiet_environment, run_cases

EXTENSION = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"
ERAS = ["2026-07-28", "2025-11-25"]
SERVER = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "apps_server.py")]
VIEW = os.path.join(os.path.dirname(os.path.abspath(__file__)), "apps_view.html")


class Run:
    def __init__(self, server: str, client: str, log: Any, environment: dict[str, str]) -> None:
        self.server, self.client, self.log, self.environment = server, client, log, environment

    # Our client, their server.

    async def ask(self, era: str, words: list[str], target: str | list[str]) -> Any:
        command = [self.client, "--protocol", era, "--json"]
        if isinstance(target, str):
            command += [words[0], target, *words[1:]]
        else:
            command += [*words, "--", *target]
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=self.log,
            env=self.environment,
        )
        out, _ = await asyncio.wait_for(process.communicate(), 30)
        check_equal(process.returncode, 0, f"the status of {' '.join(words)}")
        return json.loads(out)

    async def read_theirs(self, era: str, target: str | list[str]) -> None:
        tools = {tool["name"]: tool for tool in (await self.ask(era, ["tools"], target))["tools"]}
        uri = tools["counter"]["_meta"]["ui"]["resourceUri"]
        check_equal(uri, "ui://counter/app.html", "the address of the view")
        check_equal(tools["counter_add"]["_meta"]["ui"]["visibility"], ["app"], "the audience of counter_add")
        [contents] = (await self.ask(era, ["read", uri], target))["contents"]
        check_equal(contents["mimeType"], MIME_TYPE, "the media type")
        with open(VIEW, encoding="utf-8") as page:
            check_equal(contents["text"], page.read(), "the document")
        answer = await self.ask(era, ["call", "counter", "start=7"], target)
        check_equal(answer["content"][0]["text"], "The counter is at 7.", "the text for a client without views")

    async def theirs_over_stdio(self, era: str) -> None:
        await self.read_theirs(era, SERVER)

    async def theirs_over_http(self, era: str) -> None:
        async with http_server([*SERVER, "--http", "PORT"], self.log, self.environment) as url:
            await self.read_theirs(era, url)

    # Their client, our server.

    @contextlib.asynccontextmanager
    async def connect(self, era: str, has_views: bool, url: str | None) -> AsyncIterator[Client]:
        if url is None:
            parameters = StdioServerParameters(
                command=self.server, args=["--demo", "--stdio"], env=self.environment
            )
            transport = stdio_client(parameters, errlog=self.log)
        else:
            transport = streamable_http_client(url)
        extensions = [advertise(EXTENSION, {"mimeTypes": [MIME_TYPE]})] if has_views else None
        mode = "auto" if era == ERAS[0] else "legacy"
        async with Client(
            transport, mode=mode, cache=None, read_timeout_seconds=30, extensions=extensions
        ) as client:
            check_equal(client.protocol_version, era, "the version")
            yield client

    async def read_ours(self, era: str, url: str | None) -> None:
        for has_views in [True, False]:
            async with self.connect(era, has_views, url) as client:
                check_equal((client.server_capabilities.extensions or {}).get(EXTENSION), {}, "the extension")
                tools = {tool.name: tool for tool in (await client.list_tools()).tools}
                uri = tools["clock"].meta["ui"]["resourceUri"]
                check_equal(tools["clock_tick"].meta["ui"]["visibility"], ["app"], "the audience of clock_tick")
                [contents] = (await client.read_resource(uri)).contents
                check_equal(contents.mime_type, MIME_TYPE, "the media type")
                check(contents.text.startswith("<!doctype html>"), "the document is no page")
                result = await client.call_tool("run_conformance", {})
                check_equal(result.structured_content, {"clientSupportsUI": has_views}, "what the server knows")

    async def ours_over_stdio(self, era: str) -> None:
        await self.read_ours(era, None)

    async def ours_over_http(self, era: str) -> None:
        command = [self.server, "--demo", "--listen", "127.0.0.1:PORT"]
        async with http_server(command, self.log, self.environment) as url:
            await self.read_ours(era, url)


def cases(server: str, client: str, folder: str, log: Any) -> list[Case]:
    run = Run(server, client, log, quiet_environment(folder))
    bodies = [
        ("our client, their server, stdio", run.theirs_over_stdio),
        ("our client, their server, http", run.theirs_over_http),
        ("their client, our server, stdio", run.ours_over_stdio),
        ("their client, our server, http", run.ours_over_http),
    ]
    return [(f"{name}, {era}", functools.partial(body, era)) for era in ERAS for name, body in bodies]


if __name__ == "__main__":
    sys.exit(asyncio.run(run_cases("views", cases)))
