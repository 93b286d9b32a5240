#!/usr/bin/env python3
"""Starts and stops, many times: `make cycles COUNT=…`.

    cycles.py SERVER [--count N] [--no-census]

Against one daemon: connections over TCP and a unix socket, event streams, sessions, providers, commands
that tools run and commands that are killed, each COUNT times; and programs on a pipe and one-shot clients,
COUNT / 10 times, since each is a process. After each kind, descriptors, children, zombies and the census
must be what they were before it, and memory may not grow with the count.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from daemon import Daemon, run  # noqa: E402
from soak import CHANNELS, Ledger, Soak, difference, settled  # noqa: E402
from wire import HTTP, META, modern, modern_fields, text_of  # noqa: E402

# What the allocator may keep for the next peers, in KiB, and what each peer may add.
MEMORY = 1 << 10
MEMORY_PER_PEER = 1
# The allocator grows now and then for what happened to coincide. A leak grows in each round.
ROUNDS = 6
SETTLE_SECONDS = 60
# What one start and stop may take on a loaded machine.
LONGEST_SECONDS = 60


async def call(daemon, tcp, number):
    http = await HTTP(daemon).open(tcp)
    http.send(
        "POST",
        modern_fields("tools/call", "echo"),
        modern("tools/call", {"name": "echo", "arguments": {"text": f"n{number}"}}),
    )
    _, _, message = await http.answer()
    http.close()
    assert text_of(message) == f"n{number}", message


async def kill(daemon, tcp, number):
    """A command that has begun, and is ended because nobody waits for it."""
    http = await HTTP(daemon).open(tcp)
    message = modern("tools/call", {"name": "held", "arguments": {}})
    message["params"]["_meta"] = dict(META, progressToken=number)
    http.send("POST", modern_fields("tools/call", "held"), message)
    status, _ = await http.head()
    assert status == 200, status
    seen = b""
    while b'"on"' not in seen:
        seen += await http.chunk()
    http.close(reset=number % 2 == 0)


async def connect_only(daemon, tcp, number):
    http = await HTTP(daemon).open(tcp)
    http.close(reset=number % 2 == 0)


async def stream(daemon, tcp, number):
    http = await HTTP(daemon).open(tcp)
    http.send(
        "POST",
        modern_fields("subscriptions/listen"),
        modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}}),
    )
    status, _ = await http.head()
    assert status == 200, status
    http.close(reset=number % 2 == 0)


async def session(daemon, tcp, number):
    """A session of 2025-11-25, some with a stream, which its client ends."""
    soak = Soak(daemon, number, Ledger())
    http, fields = await soak.session()
    assert await soak.session_call(http, fields, 1)
    listening = await HTTP(daemon).open(tcp) if number % 2 else None
    if listening:
        listening.send("GET", fields, None)
        await listening.head()
    http.send("DELETE", fields, None)
    await http.answer()
    for one in [http, listening]:
        if one:
            one.close()
    assert not soak.ledger.errors


async def provider(daemon, _, number):
    """A program that brings a tool, and goes."""
    soak = Soak(daemon, number, Ledger())
    await soak.provider(f"c{number % CHANNELS}", calls=False)
    assert not soak.ledger.errors


async def program(daemon, _, number):
    """A server on a pipe: it runs a command, answers, and ends when its input ends."""
    process = await asyncio.create_subprocess_exec(
        daemon.program,
        "--stdio",
        "-c",
        daemon.config,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=daemon.environment(daemon.pipe_mark),
    )
    message = modern("tools/call", {"name": "echo", "arguments": {"text": f"n{number}"}}, 1)
    out, _ = await process.communicate(json.dumps(message).encode() + b"\n" if number % 2 else b"")
    said = text_of(json.loads(out)) if out else None
    assert process.returncode == 0 and said == (f"n{number}" if number % 2 else None), (process.returncode, out)


async def client(daemon, tcp, number):
    url = f"http://127.0.0.1:{daemon.port}/mcp" if tcp else f"unix://{daemon.socket}"
    process = await asyncio.create_subprocess_exec(
        daemon.client,
        "call",
        url,
        "echo",
        f"text=n{number}",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0 and f"n{number}".encode() in out, (process.returncode, out, err)


class Failed(Exception):
    """A start or stop that did not go as it must."""


KINDS = [
    ("connections without a request", connect_only, 1),
    ("calls that run a command", call, 1),
    ("commands that are killed", kill, 1),
    ("event streams", stream, 1),
    ("sessions", session, 1),
    ("providers", provider, 1),
    ("programs on a pipe", program, 10),
    ("one-shot clients", client, 10),
]


async def cycle(daemon, title, kind, count, at_once=8):
    waiting = asyncio.Semaphore(at_once)

    async def one(number):
        async with waiting:
            try:
                await asyncio.wait_for(kind(daemon, number % 3 > 0, number), LONGEST_SECONDS)
            except Exception as error:
                raise Failed(f"{title}, number {number}: {error!r}") from error

    await asyncio.gather(*(one(number) for number in range(count)))


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--no-census", action="store_true", help="for a release build, which counts nothing")
    options = parser.parse_args()
    if options.count < 1:
        parser.error("--count: at least 1")
    failed = False
    with tempfile.TemporaryDirectory(prefix="mcp-cycles-") as folder:
        daemon = Daemon(os.path.abspath(options.server), folder, not options.no_census)
        try:
            await daemon.start()
            for title, kind, share in KINDS:
                count = max(1, options.count // share)
                limit = MEMORY + MEMORY_PER_PEER * count
                await cycle(daemon, title, kind, min(count, 50))
                before, memory = await settled(daemon), daemon.status("VmRSS")
                started = time.monotonic()
                await cycle(daemon, title, kind, count)
                seconds = time.monotonic() - started
                end = time.monotonic() + SETTLE_SECONDS
                while (left := difference(before, await daemon.state())) and time.monotonic() < end:
                    await asyncio.sleep(0.25)
                growth = daemon.status("VmRSS") - memory
                for _ in range(ROUNDS - 1):
                    if growth <= limit or left:
                        break
                    memory = daemon.status("VmRSS")
                    await cycle(daemon, title, kind, count)
                    await settled(daemon)
                    growth = daemon.status("VmRSS") - memory
                if growth > limit:
                    left.append(f"memory {growth:+} KiB")
                failed = failed or bool(left)
                print(
                    f"cycles: {count:6} {title}: {seconds:5.1f} s, memory {growth / 1024:+.1f} MiB, "
                    f"{'left: ' + ', '.join(left) if left else 'nothing is left'}",
                    flush=True,
                )
        except Failed as error:
            print(f"cycles: {error}; the log of the server ends with:\n{daemon.tail()}", flush=True)
            failed = True
        finally:
            code = await daemon.end()
        if code != 0:
            print(f"cycles: the server ended with {code}\n{daemon.tail()}")
        survivors = await daemon.survivors() + await daemon.survivors(daemon.pipe_mark)
        if survivors:
            print(f"cycles: {len(survivors)} commands outlive their server")
    return 1 if failed or survivors or code != 0 else 0


if __name__ == "__main__":
    sys.exit(run(main))
