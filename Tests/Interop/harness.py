"""What both directions of the matrix share: revisions, expectations, processes, and the printed table."""

import argparse
import asyncio
import contextlib
import os
import random
import signal
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

ERAS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
MODERN = "2026-07-28"

OPERATIONS = [
    "list tools",
    "call",
    "structured call",
    "progress",
    "tool error",
    "unknown tool",
    "invalid arguments",
    "list resources",
    "read",
    "missing resource",
    "list templates",
    "read through template",
    "list prompts",
    "get prompt",
    "missing prompt argument",
    "unknown method",
    "ping or discover",
    "large payload (1 MB)",
    "unicode text",
]

UNICODE_TEXT = 'Ünïcödé "quoted" \\ 日本語 العربية 🙂👩‍👩‍👧 \u2028 \u00ad e\u0301 \U0010fffd end'
LARGE_TEXT = "".join(f"{line:08d} The quick brown fox.\n" for line in range(33_334))[:1_000_000]


class CheckFailed(Exception):
    """A cell found something else than it expected."""


class NotApplicable(Exception):
    """A combination that cannot exist; the message says why."""


def check(condition: object, message: str) -> None:
    if not condition:
        raise CheckFailed(message)


def check_equal(actual: object, expected: object, what: str) -> None:
    if actual != expected:
        raise CheckFailed(f"{what} is {shorten(actual)}, expected {shorten(expected)}")


def shorten(value: object, limit: int = 220) -> str:
    text = value if isinstance(value, str) else repr(value)
    text = text.strip().replace("\n", " ⏎ ")
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


@dataclass(frozen=True)
class Expected:
    """The answers to faulty requests, which depend on the server and on the revision."""

    unknown_tool: int | None  # a JSON-RPC code, or None for a result with isError
    invalid_arguments: int | None
    missing_resource: int
    missing_prompt_argument: int
    drops_newer_members: bool  # outputSchema and others are left out for older revisions


def expected_of_ours(era: str) -> Expected:
    return Expected(
        unknown_tool=-32602,
        invalid_arguments=None if era >= "2025-11-25" else -32602,
        missing_resource=-32602 if era == MODERN else -32002,
        missing_prompt_argument=-32602,
        drops_newer_members=True,
    )


def expected_of_sdk(era: str) -> Expected:
    """The SDK (2.3) answers the same in all legacy revisions, and code 0 for what it did not foresee."""
    return Expected(
        unknown_tool=None,
        invalid_arguments=None,
        missing_resource=-32602,
        missing_prompt_argument=-32603 if era == MODERN else 0,
        drops_newer_members=False,
    )


@dataclass
class Column:
    """One combination of transport, peer and revision with the outcome of every operation."""

    group: str
    era: str
    cells: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    async def fill(self, operation: str, body: Callable[[], Awaitable[None]], limit: float) -> None:
        try:
            async with asyncio.timeout(limit):
                await body()
            self.cells[operation] = "ok"
        except NotApplicable as reason:
            self.cells[operation] = "n/a"
            self.notes[operation] = str(reason)
        except TimeoutError:
            self.cells[operation] = "FAIL"
            self.notes[operation] = f"no answer within {limit:g} s"
        except Exception as error:
            self.cells[operation] = "FAIL"
            name = "" if isinstance(error, CheckFailed) else f"{type(error).__name__}: "
            self.notes[operation] = shorten(f"{name}{error}", 400)


def print_table(title: str, columns: list[Column]) -> bool:
    """Prints one direction; true when every cell is ok or has a reason not to exist."""
    print(f"\n{title}\n")
    groups: list[tuple[str, int]] = []
    for column in columns:
        if groups and groups[-1][0] == column.group:
            groups[-1] = (column.group, groups[-1][1] + 1)
        else:
            groups.append((column.group, 1))
    print(" " * 24 + "".join(f"  {name:<{8 * count}}" for name, count in groups).rstrip())
    labels = [
        "  " + "".join(f"{column.era[:7]:<8}" for column in columns if column.group == g) for g, _ in groups
    ]
    print((" " * 24 + "".join(labels)).rstrip())
    complete = bool(columns)
    for operation in OPERATIONS:
        line = f"{operation:<24}"
        for index, column in enumerate(columns):
            outcome = column.cells.get(operation, "EMPTY")
            complete = complete and outcome in ("ok", "n/a")
            starts_group = index == 0 or columns[index - 1].group != column.group
            line += ("  " if starts_group else "") + f"{outcome:<8}"
        print(line.rstrip())
    print_legend(columns)
    return complete


def print_legend(columns: list[Column]) -> None:
    """Every reason once, with the places it holds for."""
    places: dict[tuple[str, str, str], list[str]] = {}
    for column in columns:
        whole = len(set(column.notes.values())) == 1 and len(column.notes) == len(OPERATIONS)
        for operation, note in column.notes.items():
            where = places.setdefault((column.cells[operation], "" if whole else operation, note), [])
            if f"{column.group} {column.era}" not in where:
                where.append(f"{column.group} {column.era}")
    for (outcome, operation, note), where in places.items():
        columns_meant = "everywhere" if len(where) == len(columns) else ", ".join(where)
        print(f"  {outcome:<5} {operation + ': ' if operation else ''}{note} [{columns_meant}]")


def free_port() -> int:
    """A port that nobody uses: not one that the system may give to any program at any moment (from 32768 on)."""
    for port in random.sample(range(20_000, 30_000), 1_000):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise CheckFailed("no port is free")


@contextlib.asynccontextmanager
async def http_server(command: list[str], log: Any, environment: dict[str, str]) -> AsyncIterator[str]:
    """Starts a server with a free port in the place of PORT, yields its endpoint, ends that one process."""
    for attempt in range(3):
        port = free_port()
        process = await asyncio.create_subprocess_exec(
            *(word.replace("PORT", str(port)) for word in command),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
        )
        try:
            await until_listening(process, port)
            break
        except CheckFailed:
            await end(process)
            if attempt == 2:
                raise
        except BaseException:
            await end(process)
            raise
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        await end(process)


@contextlib.asynccontextmanager
async def fork_server(
    command: list[str], path: str, log: Any, environment: dict[str, str]
) -> AsyncIterator[None]:
    """Starts a server that listens on the unix socket `path`, and ends it."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, env=environment
    )
    try:
        deadline = time.monotonic() + 20
        while not os.path.exists(path):
            check(process.returncode is None and time.monotonic() < deadline, f"nothing listens on {path}")
            await asyncio.sleep(0.05)
        yield
    finally:
        await end(process)


async def until_listening(process: asyncio.subprocess.Process | None, port: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        check(
            process is None or process.returncode is None,
            f"the server ended with status {process and process.returncode} before it listened",
        )
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        except OSError:
            await asyncio.sleep(0.05)
    raise CheckFailed(f"nothing listens on 127.0.0.1:{port} after 20 s")


async def end(process: asyncio.subprocess.Process) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 5)


def quiet_environment(scratch: str) -> dict[str, str]:
    """An environment in which neither side finds settings, sockets or caches of the person who runs this."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    return kept | {
        "HOME": scratch,
        "XDG_CACHE_HOME": f"{scratch}/cache",
        "XDG_CONFIG_HOME": f"{scratch}/config",
        "XDG_STATE_HOME": f"{scratch}/state",
        "NO_COLOR": "1",
        "PYTHONUNBUFFERED": "1",
    }


Case = tuple[str, Callable[[], Awaitable[None]]]


async def run_cases(subject: str, cases: Callable[[str, str, str, Any], list[Case]]) -> int:
    """Runs cases one after the other, with a line for each, and shows what their processes said if one fails.

    `cases` makes them for a server, a client, a folder of their own and the log of their processes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--client", required=True)
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory(prefix="mcp-interop-") as folder:
        path = os.path.join(folder, "log")
        with open(path, "w", encoding="utf-8") as log:
            server, client = os.path.abspath(options.server), os.path.abspath(options.client)
            for name, body in cases(server, client, folder, log):
                try:
                    async with asyncio.timeout(float(os.environ.get("INTEROP_CASE_LIMIT", "60"))):
                        await body()
                    print(f"{subject}, {name}: ok")
                except Exception as error:
                    failures += 1
                    print(f"{subject}, {name}: FAILED: {error!r}")
        if failures:
            with open(path, encoding="utf-8", errors="replace") as log:
                print(log.read()[-4000:])
    return 1 if failures else 0
