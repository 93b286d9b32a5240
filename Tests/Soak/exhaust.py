#!/usr/bin/env python3
"""Nothing is left to give: `make exhaust`.

    exhaust.py SERVER [--no-census]

Descriptors: with 256 for the daemon, peers take all of them; a connected client is still served, every
other peer has an answer or an end within some seconds, and after they have gone everything works again.
Memory: peers send bodies that they never end, and more behind a request that is being served; a program
does not read the answers of a server on a pipe. The daemon refuses some of it or stops reading, and serves
the others. Disk: what writes to a full disk says so in one line and ends with a code that is not 0.
"""

import argparse
import asyncio
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from daemon import Daemon  # noqa: E402
from soak import difference, settled  # noqa: E402
from wire import HTTP, modern, modern_fields  # noqa: E402

DESCRIPTORS = 256
PEERS = 400
SETTLE_SECONDS = 60
# Bodies of 3 MiB: together more than the memory that a daemon may use for them, and than what is tolerated.
BODIES = 300
TOLERATED = 512 << 20
# Requests whose answers are several times the output that a server on a pipe keeps.
UNREAD = 48 << 20
failures = []


def report(title, is_right, figures):
    print(f"exhaust: {title}: {figures}: {'as it must be' if is_right else 'WRONG'}", flush=True)
    if not is_right:
        failures.append(title)


def ask(http, number):
    http.send(
        "POST",
        modern_fields("resources/read", f"docs:///{number % 20}.txt"),
        modern("resources/read", {"uri": f"docs:///{number % 20}.txt"}),
    )


async def timed_call(http, number):
    started = time.monotonic()
    ask(http, number)
    _, _, message = await asyncio.wait_for(http.answer(), 30)
    contents = ((message or {}).get("result") or {}).get("contents") or [{}]
    return contents[0].get("text") == f"text of {number % 20}", time.monotonic() - started


async def serves(http):
    try:
        return (await timed_call(http, 3))[0]
    except Exception:
        return False


async def descriptors(program, folder, has_census):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    os.mkdir(folder)
    daemon = Daemon(program, folder, has_census)
    # The daemon raises its limit to the highest that it may have.
    daemon.program = ["prlimit", f"--nofile={DESCRIPTORS}:{DESCRIPTORS}", "--", program]
    daemon.start_program, daemon.program = daemon.program, program
    await start(daemon)
    old = await HTTP(daemon).open(True)
    assert (await timed_call(old, 1))[0]
    before = await settled(daemon)
    peers, outcomes, slowest = [], {"served": 0, "refused": 0, "ended": 0, "waiting": 0}, 0.0
    for number in range(PEERS):
        peer = HTTP(daemon)
        try:
            await asyncio.wait_for(peer.open(True), 5)
            peers.append(peer)
        except (OSError, asyncio.TimeoutError):
            outcomes["ended"] += 1
        # One that has waited for a second makes room for others, as it should.
        await timed_call(old, number)
    worst = 0.0
    for number in range(20):
        is_right, seconds = await timed_call(old, number)
        worst = max(worst, seconds)
        if not is_right:
            worst = 99

    async def one(peer, number):
        started = time.monotonic()
        try:
            ask(peer, number)
            status, _, _ = await asyncio.wait_for(peer.answer(), 10)
            kind = "served" if status == 200 else "refused"
        except asyncio.TimeoutError:
            kind = "waiting"
        except Exception:
            kind = "ended"
        outcomes[kind] += 1
        return time.monotonic() - started if kind != "waiting" else 0

    slowest = max(await asyncio.gather(*(one(peer, number) for number, peer in enumerate(peers))))
    for peer in peers:
        peer.close()
    serves_again, again = False, time.monotonic()
    while not serves_again and time.monotonic() - again < 10:
        new = await HTTP(daemon).open(True)
        serves_again = await serves(new) and (await timed_call(old, 4))[0]
        new.close()
    again = time.monotonic() - again
    end = time.monotonic() + SETTLE_SECONDS
    while (left := difference(before, await daemon.state())) and time.monotonic() < end:
        await asyncio.sleep(0.25)
    old.close()
    code = await daemon.stop()
    report(
        "descriptors",
        worst < 1 and serves_again and not left and code == 0 and outcomes["waiting"] == 0,
        f"{PEERS} peers, {DESCRIPTORS} descriptors: "
        f"{outcomes['served']} served, {outcomes['refused']} refused, "
        f"{outcomes['ended']} ended, {outcomes['waiting']} without an answer, "
        f"the slowest after {slowest:.1f} s; "
        f"a connected client {worst * 1000:.0f} ms at most; afterwards a new one is served: {serves_again}, "
        f"after {again:.1f} s; left: {left or 'nothing'}; "
        f"exit code {code}",
    )


async def start(daemon):
    """Starts the daemon by way of another program."""
    wrapper = f"{daemon.folder}/wrapper"
    with open(wrapper, "w") as file:
        file.write("#!/bin/sh\nexec " + " ".join(daemon.start_program) + ' "$@"\n')
    os.chmod(wrapper, 0o700)
    daemon.program = wrapper
    await daemon.start()


async def memory(program, folder, has_census):
    os.mkdir(folder)
    daemon = Daemon(program, folder, has_census)
    await daemon.start()
    old = await HTTP(daemon).open(True)
    assert (await timed_call(old, 1))[0]
    before, resident = await settled(daemon), daemon.status("VmRSS")
    peers = [await HTTP(daemon).open(True) for _ in range(BODIES)]
    body = 3 << 20
    highest, refused, taken = 0, 0, 0
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\nContent-Type: application/json\r\n"
        f"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n"
        f"Content-Length: {body + 1}\r\n\r\n"
    )
    for peer in peers:
        peer.writer.write(head.encode() + b" " * body)
    for _ in range(20):
        await asyncio.sleep(0.1)
        highest = max(highest, daemon.status("VmRSS"))
    for peer in peers:
        try:
            status, _ = await asyncio.wait_for(peer.head(), 0.05)
            refused += status in (408, 413, 429, 503)
        except asyncio.TimeoutError:
            taken += 1
        except Exception:
            refused += 1
    is_right, seconds = await timed_call(old, 5)
    for peer in peers:
        peer.close(reset=True)
    end = time.monotonic() + SETTLE_SECONDS
    while (left := difference(before, await daemon.state())) and time.monotonic() < end:
        await asyncio.sleep(0.25)
    old.close()
    code = await daemon.stop()
    grown = (highest - resident) / 1024
    report(
        "memory",
        is_right and seconds < 1 and not left and code == 0 and grown < TOLERATED >> 20,
        f"{BODIES} bodies of 3 MiB without an end: {refused} refused, {taken} waited for, {grown:.0f} MiB "
        "more at most; a "
        f"connected client {seconds * 1000:.0f} ms; left: {left or 'nothing'}; exit code {code}",
    )


async def behind(program, folder, has_census):
    """More and more bytes behind a request whose answer is still to come: the daemon stops reading."""
    os.mkdir(folder)
    daemon = Daemon(program, folder, has_census)
    await daemon.start()
    # The first command starts what looks after commands.
    first = await HTTP(daemon).open(True)
    first.send(
        "POST",
        modern_fields("tools/call", "echo"),
        modern("tools/call", {"name": "echo", "arguments": {"text": "x"}}),
    )
    await first.answer()
    first.close()
    before, resident = await settled(daemon), daemon.status("VmRSS")
    peers = [await HTTP(daemon).open(True) for _ in range(8)]
    for peer in peers:
        peer.send(
            "POST",
            modern_fields("tools/call", "held"),
            modern("tools/call", {"name": "held", "arguments": {}}),
        )
    await asyncio.sleep(0.5)
    highest, sent = 0, 0
    for _ in range(256):
        for peer in peers:
            if peer.writer.transport.get_write_buffer_size() < 1 << 20:
                peer.writer.write(b"x" * (1 << 20))
                sent += 1
        await asyncio.sleep(0.01)
        highest = max(highest, daemon.status("VmRSS"))
    for peer in peers:
        peer.close(reset=True)
    end = time.monotonic() + SETTLE_SECONDS
    while (left := difference(before, await daemon.state())) and time.monotonic() < end:
        await asyncio.sleep(0.25)
    code = await daemon.stop()
    grown = (highest - resident) / 1024
    report(
        "memory, behind a request",
        not left and code == 0 and grown < 32,
        f"{len(peers)} requests that take long, {sent} MiB offered behind them: {grown:.0f} MiB more "
        "at most; left: "
        f"{left or 'nothing'}; exit code {code}",
    )


def unread(program, folder):
    """A program on a pipe whose answers nobody reads: it stops reading."""
    os.mkdir(folder)
    daemon = Daemon(program, folder, False)
    process = subprocess.Popen(
        [program, "--stdio", "-c", daemon.config],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    os.set_blocking(process.stdin.fileno(), False)
    lines = b"".join(json.dumps(modern("tools/list", {}, number)).encode() + b"\n" for number in range(1000))
    sent, highest, last = 0, 0, time.monotonic()
    while sent < UNREAD and time.monotonic() - last < 3:
        place = sent % len(lines)
        try:
            sent += os.write(process.stdin.fileno(), lines[place : place + (1 << 16)])
            last = time.monotonic()
        except BlockingIOError:
            time.sleep(0.005)
        with open(f"/proc/{process.pid}/status") as file:
            highest = max(highest, int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)))
    process.stdout.close()
    process.stdin.close()
    try:
        code = process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    report(
        "memory, answers that nobody reads",
        sent < UNREAD and code == 0 and highest < 200 << 10,
        f"{sent >> 20} MiB of requests taken, {highest >> 10} MiB resident at most; exit code {code}",
    )


def disk(client, program, folder):
    """Each writer of a file or of its output, with /dev/full and with a limit of 0 bytes per file."""
    os.mkdir(folder)
    full = open("/dev/full", "w")
    cases = [
        ("the client's output", [client, "call", "echo", "text=x", "--", program, "--demo"]),
        ("the client's help", [client, "help"]),
        ("the schema", [program, "schema"]),
        ("the server's version", [program, "version"]),
    ]
    for title, command in cases:
        result = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
        lines = result.stderr.strip().splitlines()
        report(
            f"disk, {title}",
            0 < result.returncode < 128 and 1 <= len(lines) <= 3,
            f"exit code {result.returncode}, {' / '.join(lines)[:160]!r}",
        )


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("--no-census", action="store_true", help="for a release build, which counts nothing")
    options = parser.parse_args()
    program = os.path.abspath(options.server)
    resource.setrlimit(
        resource.RLIMIT_NOFILE, (min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2
    )
    with tempfile.TemporaryDirectory(prefix="mcp-exhaust-") as folder:
        await descriptors(program, f"{folder}/d", not options.no_census)
        await memory(program, f"{folder}/m", not options.no_census)
        await behind(program, f"{folder}/b", not options.no_census)
        unread(program, f"{folder}/u")
        disk(f"{os.path.dirname(program)}/mcp-client", program, f"{folder}/f")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
