"""The interoperability matrix: this project's programs against the official Python SDK, cell by cell.

    matrix.py --server PATH --client PATH      both directions
    matrix.py --sdk-only                       the SDK's client against the SDK's server: checks these scripts

Dimensions: revision x transport x direction x operation. Prints one table per direction and exits 1 when a
cell failed or stayed empty. What is impossible is printed as n/a with its reason.
"""

import argparse
import asyncio
import contextlib
import importlib.metadata
import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from typing import Any

import cli_client
import sdk_client
from harness import (
    ERAS,
    LARGE_TEXT,
    MODERN,
    OPERATIONS,
    UNICODE_TEXT,
    CheckFailed,
    Column,
    Expected,
    expected_of_ours,
    expected_of_sdk,
    fork_server,
    http_server,
    print_table,
    quiet_environment,
    shorten,
)

HERE = os.path.dirname(os.path.abspath(__file__))
PEER = [sys.executable, os.path.join(HERE, "peer_server.py")]
DOCUMENT_TEXT = f"# A document\n\n{UNICODE_TEXT}\n"
COLUMNS_OF_OUR_CLIENT = (
    "(http: event streams and sessions; json: JSON bodies; no id: no sessions either; auto: the client\n"
    "finds the revision, as in the first column; old: it does so with a server from before 2026-07-28)"
)


class Run:
    """The options, the scratch folder and the columns of one run."""

    def __init__(self, options: argparse.Namespace, scratch: str, log: Any) -> None:
        self.options = options
        self.scratch = scratch
        self.log = log  # what the servers write to stderr
        self.environment = quiet_environment(scratch)
        self.slots = asyncio.Semaphore(max(2, os.cpu_count() or 2))
        self.large_file = self.write("large.txt", LARGE_TEXT)

    def write(self, name: str, text: str) -> str:
        path = os.path.join(self.scratch, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return path

    def write_configuration(self) -> str:
        folder = os.path.dirname(self.write("documents/page.md", DOCUMENT_TEXT))
        configuration = {
            "server": {"name": "interop", "version": "1.0.0"},
            "tools": {"fail": {"description": "Always fails.", "exec": ["ls", "/no/such/folder"]}},
            "files": {"documents": {"root": folder, "uri": "docs:///{+path}", "include": ["**/*.md"]}},
        }
        return self.write("server.jsonc", json.dumps(configuration))

    async def fill_from_sdk(
        self, column: Column, expected: Expected, demo: Any, configured: Any, document: tuple[str, str]
    ) -> None:
        """All operations of one column on two sessions of the SDK's client."""
        try:
            async with contextlib.AsyncExitStack() as stack:
                sessions = []
                async with asyncio.timeout(30):
                    for target, probe in ((demo, True), (configured, False)):
                        opened = sdk_client.session(target, column.era, probe, self.log, self.environment)
                        sessions.append(await stack.enter_async_context(opened))
                peers = sdk_client.Peers(column.era, expected, *sessions, *document)
                for operation in OPERATIONS:
                    action = sdk_client.ACTIONS[operation]
                    await column.fill(operation, lambda action=action: action(peers), limit=12)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            for operation in OPERATIONS:
                if operation not in column.cells:
                    column.cells[operation] = "FAIL"
                    column.notes[operation] = shorten(f"the connection failed: {innermost(error)!r}", 400)

    async def fill_from_cli(
        self, column: Column, target: Any, pinned: bool, served: str, streams: bool
    ) -> None:
        """All operations of one column, each with its own processes of `mcp-client`."""
        cli = cli_client.CLI(
            program=self.options.client,
            target=target,
            era=served if pinned else None,
            served=served,
            expected=expected_of_sdk(served),
            environment=self.environment,
            large_file=self.large_file,
            streams=streams,
        )

        async def one(operation: str) -> None:
            async with self.slots:
                await column.fill(operation, lambda: cli_client.ACTIONS[operation](cli), limit=30)

        await asyncio.gather(*(one(operation) for operation in OPERATIONS))

    async def their_client_our_server(self, columns: list[Column]) -> None:
        columns += [Column(group, era) for group in ("stdio", "http") for era in ERAS]
        configuration = self.write_configuration()
        server = self.options.server
        demo, configured = [server, "--demo"], [server, "-c", configuration]
        document = ("docs:///page.md", DOCUMENT_TEXT)
        async with contextlib.AsyncExitStack() as stack:
            urls = [
                await stack.enter_async_context(self.listening([*command, "--listen", "127.0.0.1:PORT"]))
                for command in (demo, configured)
            ]
            for column in columns:
                targets = urls if column.group == "http" else [[*demo, "--stdio"], [*configured, "--stdio"]]
                await self.fill_from_sdk(column, expected_of_ours(column.era), *targets, document)

    async def our_client_their_server(self, columns: list[Column]) -> None:
        async with contextlib.AsyncExitStack() as stack:
            work = []

            def add(group: str, era: str, target: Any, pinned: bool = True, streams: bool = True) -> None:
                columns.append(Column(group, era))
                work.append(self.fill_from_cli(columns[-1], target, pinned, era, streams))

            async def listen(*flags: str) -> str:
                return await stack.enter_async_context(self.listening([*PEER, "--http", "PORT", *flags]))

            async def program(name: str, *flags: str) -> list[str]:
                path = os.path.join(self.scratch, name)
                command = [*PEER, "--forks", path, *flags]
                await stack.enter_async_context(fork_server(command, path, self.log, self.environment))
                return [sys.executable, "-I", "-S", os.path.join(HERE, "peer_stdio.py"), path]

            stdio, old_stdio = await program("dual"), await program("old", "--legacy")
            sessions, bodies, stateless, legacy = await asyncio.gather(
                listen(), listen("--json"), listen("--stateless"), listen("--legacy")
            )
            for era in ERAS:
                add("stdio", era, stdio, pinned=era != MODERN)
            for era in ERAS:
                add("http", era, sessions)
            add("json", "2025-11-25", bodies, streams=False)
            add("no id", "2025-11-25", stateless, streams=False)
            add("auto", MODERN, sessions, pinned=False)
            add("old stdio", "2025-11-25", old_stdio, pinned=False)
            add("old http", "2025-11-25", legacy, pinned=False)
            await asyncio.gather(*work)

    async def sdk_against_itself(self, columns: list[Column]) -> None:
        columns += [Column(group, era) for group in ("stdio", "http") for era in ERAS]
        document = ("demo:///hello", "Hello, world!\n")
        async with self.listening([*PEER, "--http", "PORT"]) as url:
            for column in columns:
                target = url if column.group == "http" else PEER
                await self.fill_from_sdk(column, expected_of_sdk(column.era), target, target, document)

    def listening(self, command: list[str]) -> contextlib.AbstractAsyncContextManager[str]:
        return http_server(command, self.log, self.environment)


def innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def print_end_of(path: str) -> None:
    with open(path, errors="replace") as text:
        lines = text.readlines()[-20:]
    if lines:
        print("\nthe last lines mcp-server wrote:\n" + "".join(lines))


def version_of(program: str) -> str:
    done = subprocess.run([program, "version"], capture_output=True, text=True, timeout=10, check=False)
    return shorten(done.stdout.splitlines()[0] if done.stdout else os.path.basename(program), 60)


async def print_direction(
    title: str, direction: Callable[[list[Column]], Awaitable[None]], deadline: float
) -> bool:
    """Runs one direction and prints it; what is not reached before the deadline stays empty: a failure."""
    columns: list[Column] = []
    try:
        async with asyncio.timeout_at(deadline):
            await direction(columns)
    except TimeoutError:
        print("\nthe time for the whole matrix is over")
    except CheckFailed as problem:
        print(f"\n{problem}")
    return print_table(title, columns)


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", help="path of mcp-server")
    parser.add_argument("--client", help="path of mcp-client")
    parser.add_argument("--limit", type=float, default=165, help="seconds for everything")
    parser.add_argument("--sdk-only", action="store_true")
    options = parser.parse_args()
    if not options.sdk_only and not (options.server and options.client):
        parser.error("--server and --client are needed")
    deadline = asyncio.get_running_loop().time() + options.limit
    sdk = f"Python SDK {importlib.metadata.version('mcp')}"
    with tempfile.TemporaryDirectory(prefix="mcp-interop-") as scratch, open(f"{scratch}/log", "w") as log:
        logging.basicConfig(stream=log, level=logging.WARNING)
        run = Run(options, scratch, log)
        if options.sdk_only:
            good = await print_direction(f"{sdk} client -> {sdk} server", run.sdk_against_itself, deadline)
        else:
            title = f"{sdk} client -> {version_of(options.server)}"
            good = await print_direction(title, run.their_client_our_server, deadline)
            if not good:
                print_end_of(f"{scratch}/log")
            title = f"{version_of(options.client)} -> {sdk} server\n{COLUMNS_OF_OUR_CLIENT}"
            good = await print_direction(title, run.our_client_their_server, deadline) and good
        return 0 if good else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
