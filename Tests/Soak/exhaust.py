#!/usr/bin/env python3
"""Nothing is left to give: `make exhaust`.

    exhaust.py SERVER [--no-census]

Descriptors: with 256 for the daemon, peers take all of them; a connected client is still served, every
other peer has an answer within some seconds, and after they have gone everything works again.
Memory: peers send bodies that they never end, and more behind a request that is being served; a program
does not read the answers of a server on a pipe. The daemon refuses some of it or stops reading, and serves
the others. Disk: what writes to a full disk, or to a file that has reached its limit, says so in one line
and ends with a code that is not 0.
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import resource
import select
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from daemon import Daemon, run  # noqa: E402
from soak import difference, settled  # noqa: E402
from wire import HTTP, META, modern, modern_fields  # noqa: E402

DESCRIPTORS = 256
PEERS = 400
# What a peer is told that asks for more than there is.
REFUSALS = (408, 413, 429, 503)
SETTLE_SECONDS = 60
# Bodies of 3 MiB: together more than the memory that a daemon may use for them, and than what is tolerated.
BODIES = 300
TOLERATED = 512 << 20
# Requests whose answers are several times the output that a server on a pipe keeps.
UNREAD = 48 << 20
# What a writer says, on a full disk and when its file may have no bytes.
FULL, LIMITED = "No space left on device", "File too large"
failures = []


def report(title, is_right, figures):
    print(f"exhaust: {title}: {figures}: {'as it must be' if is_right else 'WRONG'}", flush=True)
    if not is_right:
        failures.append(title)


def more(before, after):
    """What is left. libdispatch makes a timer for each clock when it is first needed, and keeps it."""
    timer = "descriptor anon_inode:[timerfd]"
    return [one for one in difference(before, after) if one not in (f"{timer} +1", f"{timer} +2")]


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


async def with_daemon(part, program, folder, has_census):
    """Runs a part with a daemon of its own, which ends with it in any case."""
    os.mkdir(folder)
    daemon = Daemon(program, folder, has_census)
    try:
        await part(daemon)
    except Exception as error:
        report(part.__name__, False, f"{error!r}")
    finally:
        await daemon.end()


async def descriptors(daemon):
    # The daemon raises its limit to the highest that it may have.
    await start(daemon, ["prlimit", f"--nofile={DESCRIPTORS}:{DESCRIPTORS}", "--", daemon.program])
    old = await HTTP(daemon).open(True)
    assert (await timed_call(old, 1))[0], "the first request was answered wrongly"
    before = await settled(daemon)
    outcomes = dict.fromkeys(["served", "refused", "evicted", "ended", "waiting", "wrong"], 0)
    peers, slowest = [], 0.0
    for number in range(PEERS):
        peer = HTTP(daemon)
        try:
            await asyncio.wait_for(peer.open(True), 5)
        except (OSError, asyncio.TimeoutError):
            pass
        peers.append(peer)
        await timed_call(old, number)
    worst = 0.0
    for number in range(20):
        is_right, seconds = await timed_call(old, number)
        worst = max(worst, seconds)
        if not is_right:
            worst = 99

    async def outcome(peer, number):
        try:
            ask(peer, number)
            status, _, _ = await asyncio.wait_for(peer.answer(), 10)
            return "served" if status == 200 else "refused" if status in REFUSALS else "wrong"
        except asyncio.TimeoutError:
            return "waiting"
        except Exception:
            return "ended"

    async def one(peer, number):
        started = time.monotonic()
        kind = await outcome(peer, number)
        if kind == "ended":
            # A connection that has waited for a second makes room for others. Who then asks at once has an answer.
            outcomes["evicted"] += 1
            peer.close()
            with contextlib.suppress(OSError):
                await peer.open(True)
            kind = await outcome(peer, number)
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
    while (left := more(before, await daemon.state())) and time.monotonic() < end:
        await asyncio.sleep(0.25)
    old.close()
    code = await daemon.stop()
    report(
        "descriptors",
        worst < 1
        and serves_again
        and not left
        and code == 0
        and outcomes["waiting"] == outcomes["wrong"] == outcomes["ended"] == 0
        # Otherwise no descriptor was short.
        and outcomes["refused"] + outcomes["evicted"] >= PEERS - DESCRIPTORS,
        f"{PEERS} peers, {DESCRIPTORS} descriptors: "
        f"{outcomes['served']} served, {outcomes['refused']} refused, "
        f"{outcomes['evicted']} made room and asked again, {outcomes['ended']} ended, "
        f"{outcomes['waiting']} without an answer, {outcomes['wrong']} with a wrong one, "
        f"the slowest after {slowest:.1f} s; "
        f"a connected client {worst * 1000:.0f} ms at most; afterwards a new one is served: {serves_again}, "
        f"after {again:.1f} s; left: {left or 'nothing'}; "
        f"exit code {code}",
    )


async def start(daemon, command):
    """Starts the daemon by way of another program."""
    wrapper = f"{daemon.folder}/wrapper"
    with open(wrapper, "w") as file:
        file.write("#!/bin/sh\nexec " + " ".join(command) + ' "$@"\n')
    os.chmod(wrapper, 0o700)
    daemon.program = wrapper
    await daemon.start()


async def memory(daemon):
    await daemon.start()
    old = await HTTP(daemon).open(True)
    assert (await timed_call(old, 1))[0], "the first request was answered wrongly"
    before, resident = await settled(daemon), daemon.status("VmRSS")
    peers = [await HTTP(daemon).open(True) for _ in range(BODIES)]
    body = 3 << 20
    highest, refused, taken, wrong = 0, 0, 0, 0
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
            refused += status in REFUSALS
            wrong += status not in REFUSALS
        except asyncio.TimeoutError:
            taken += 1
        except Exception:
            refused += 1
    is_right, seconds = await timed_call(old, 5)
    for peer in peers:
        peer.close(reset=True)
    end = time.monotonic() + SETTLE_SECONDS
    while (left := more(before, await daemon.state())) and time.monotonic() < end:
        await asyncio.sleep(0.25)
    old.close()
    code = await daemon.stop()
    grown = (highest - resident) / 1024
    report(
        "memory",
        is_right
        and seconds < 1
        and not left
        and code == 0
        and grown < TOLERATED >> 20
        # Otherwise no memory was short.
        and refused > 0
        and wrong == 0,
        f"{BODIES} bodies of 3 MiB without an end: {refused} refused, {taken} waited for, {wrong} answered wrongly, {grown:.0f} MiB "
        "more at most; a "
        f"connected client {seconds * 1000:.0f} ms; left: {left or 'nothing'}; exit code {code}",
    )


async def begun(peer):
    """Whether the command of a tool runs, and its request is being served."""
    call = modern("tools/call", {"name": "held", "arguments": {}})
    call["params"]["_meta"] = dict(META, progressToken=1)
    peer.send("POST", modern_fields("tools/call", "held"), call)
    _, fields = await asyncio.wait_for(peer.head(), 10)
    is_stream = fields.get("transfer-encoding") == "chunked"
    event = await asyncio.wait_for(peer.event(), 10) if is_stream else {}
    return event.get("params", {}).get("message") == "on"


async def behind(daemon):
    """More and more bytes behind a request whose answer is still to come: the daemon stops reading."""
    await daemon.start()
    # The first command starts what looks after commands.
    first = await HTTP(daemon).open(True)
    await begun(first)
    first.close()
    before, resident = await settled(daemon), daemon.status("VmRSS")
    peers = [await HTTP(daemon).open(True) for _ in range(8)]
    served = sum([await begun(peer) for peer in peers])
    if served < len(peers):
        return report("memory, behind a request", False, f"{served} of {len(peers)} requests are being served")
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
    while (left := more(before, await daemon.state())) and time.monotonic() < end:
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


async def unread(daemon):
    """A program on a pipe whose answers nobody reads but the first: it stops reading."""
    process = subprocess.Popen(
        [daemon.program, "--stdio", "-c", daemon.config],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    )
    try:
        await flood(process)
    finally:
        process.kill()
        process.wait()


def answers(process):
    """Whether the program answers a request."""
    process.stdin.write(json.dumps(modern("tools/list", {}, "first")).encode() + b"\n")
    is_ready, _, _ = select.select([process.stdout], [], [], 20)
    line = process.stdout.readline() if is_ready else b"{}"
    message = json.loads(line or "{}")
    return message.get("id") == "first" and bool(message.get("result", {}).get("tools"))


async def flood(process):
    has_answered = answers(process)
    os.set_blocking(process.stdin.fileno(), False)
    lines = b"".join(json.dumps(modern("tools/list", {}, number)).encode() + b"\n" for number in range(1000))
    sent, highest, last = 0, 0, time.monotonic()
    while sent < UNREAD and time.monotonic() - last < 3:
        place = sent % len(lines)
        try:
            sent += os.write(process.stdin.fileno(), lines[place : place + (1 << 16)])
            last = time.monotonic()
        except BlockingIOError:
            await asyncio.sleep(0.005)
        except BrokenPipeError:
            break
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
        has_answered and sent < UNREAD and code == 0 and highest < 200 << 10,
        f"{'one answer' if has_answered else 'no answer'}, {sent >> 20} MiB of requests taken, "
        f"{highest >> 10} MiB resident at most; exit code {code}",
    )


def write(command, output, limit=None):
    """Runs a writer. Its file may have `limit` bytes, without the signal that ends whoever reaches the limit."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        restore_signals=False,
        preexec_fn=None if limit is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit,) * 2),
    )


def says(result, message):
    """Whether a writer that failed has said why."""
    lines = result.stderr.strip().splitlines()
    return 0 < result.returncode < 128 and 1 <= len(lines) <= 3 and message in result.stderr


async def disk(daemon):
    """Each writer of its output: to a pipe, to /dev/full, and to a file with a limit of 0 bytes."""
    program, client = daemon.program, daemon.client
    cases = [
        ("the client's output", [client, "call", "echo", "text=x", "--", program, "--demo"]),
        ("the client's help", [client, "help"]),
        ("the schema", [program, "schema"]),
        ("the server's version", [program, "version"]),
    ]
    for title, command in cases:
        # Ctrl-C ends the run here.
        await asyncio.sleep(0)
        good = write(command, subprocess.PIPE)
        with open("/dev/full", "w") as full, open(f"{daemon.folder}/output", "w") as file:
            results = [write(command, full), write(command, file, limit=0)]
        report(
            f"disk, {title}",
            good.returncode == 0
            and len(good.stdout) > 0
            and says(results[0], FULL)
            and says(results[1], LIMITED),
            f"exit code {good.returncode} with {len(good.stdout)} characters, then "
            + ", ".join(f"{one.returncode} {one.stderr.strip()[:160]!r}" for one in results),
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
        for part in [descriptors, memory, behind, unread, disk]:
            await with_daemon(part, program, f"{folder}/{part.__name__}", not options.no_census)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(run(main))
