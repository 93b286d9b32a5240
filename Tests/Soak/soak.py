#!/usr/bin/env python3
"""Everybody comes and goes: one daemon, many peers, and what is left when the last one has gone.

    soak.py SERVER [--minutes N] [--only providers] [--seed N] [--no-census] [--no-kills]

Starts the daemon (a debug build, which counts its living owners) with client tools, command tools and
files, and lets providers, HTTP clients of two revisions, event streams, programs on a pipe, mcp-client and
command tools come and go: some in good order, some in the middle of a request, and some commands are
killed. Each call carries its own text; an answer with another one is an error. At the end there is nobody
left, and descriptors by kind, children and the census have to be what they were after the warm-up.

Each peer has a number and, from it and the seed, a source of chance of its own: with the same seed, peer N is
of the same kind and draws the same. How the peers coincide, what the daemon does meanwhile, and so the words
and the number of peers, do not repeat.

For the first three quarters of the time the daemon itself is killed, ended and stopped for a moment, and
started again with the same key (chaos.py). A connection may end without an answer only then.

The system's pool keeps a thread for some seconds after its last work, and makes one again for a timer. So
threads are compared at rest: the fewest within a time in which the pool has ended those without work. A
thread that somebody holds is there all the time.
"""

import argparse
import asyncio
import collections
import contextvars
import os
import random
import signal
import sys
import tempfile
import time

from chaos import Chaos
from clients import Clients
from daemon import Daemon, run
from providers import Providers
from wire import HTTP, Gone, Wrong, modern, modern_fields

CHANNELS = 50
PROVIDERS = 2_000
SETTLE_SECONDS = 90
# What the warm-up, and all who come back, may take on a loaded machine.
LONGEST_SECONDS = 300
# What the allocator may keep more, in KiB, when the same work was done once more.
MEMORY = 2 << 10
# How often it is done once more before growth counts as a leak.
REPETITIONS = 3
# The pool ends a thread that had nothing to do for 5 s.
REST_SECONDS = 15
# The source of chance of the task that draws.
CHANCE = contextvars.ContextVar("chance")
# What peers of each kind have to reach, on average, once there were enough of them: of those that the other side left,
# none, and of the others at least this share.
SHARE = 0.5
WORK = {
    "modern_client": "modern call",
    "hasty_client": "hasty read",
    "pipelining_client": "pipelined call",
    "noting_client": "note",
    "listener": "acknowledgement of a stream",
    "killed_command": "killed command",
    "legacy_client": "legacy call",
    "stdio_client": "call over a pipe",
    "client_program": "call of mcp-client",
    "provider": "question of a provider",
    "agent": "call of a provider",
}
ENOUGH = 20
# What the other side's end of a connection is to a peer.
ENDS = (Gone, ConnectionError, FileNotFoundError, asyncio.IncompleteReadError)
# The share of requests that may be refused because too many others are served.
REFUSED = 0.05


class Ledger:
    """What was asked and what came back."""

    def __init__(self, daemon=None):
        self.daemon = daemon
        self.counts = collections.Counter()
        self.errors = []
        # The answers that were judged, by kind; the peers that began, and those that the other side left, by kind.
        self.judged = collections.Counter()
        self.begun = collections.Counter()
        self.left = collections.Counter()

    def add(self, what, number=1):
        self.counts[what] += number

    def wrong(self, text):
        self.errors.append(text)
        if len(self.errors) <= 20:
            print(f"soak: wrong: {text}", flush=True)
        if len(self.errors) == 1 and self.daemon:
            print(f"soak: the log of the server ends with:\n{self.daemon.tail()}", flush=True)

    def count(self, who):
        """Something of this kind has come to its end."""
        self.judged[who] += 1

    def judge(self, who, expected, answer):
        self.add("answers judged")
        self.count(who)
        if expected != answer:
            self.wrong(f"{who}: expected {expected!r}, got {answer!r}")

    def close(self):
        """Work that was never done, or was refused, proves nothing."""
        for kind, what in WORK.items():
            peers, judged = self.begun[kind] - self.left[kind], self.judged[what]
            if self.begun[kind]:
                print(f"soak: {judged:>9,} of the kind: {what}, by {peers:,} peers")
            if self.begun[kind] >= ENOUGH and judged < max(1, SHARE * peers):
                self.wrong(f"{peers} times {kind}, but {what} only {judged} times")
        refused, judged = self.counts["refused for want of room"], self.counts["answers judged"]
        if refused > REFUSED * (refused + judged):
            self.wrong(f"{refused:,} requests were refused for want of room, and {judged:,} answers judged")


class Soak(Clients, Providers):
    def __init__(self, daemon, seed, ledger):
        self.daemon, self.seed, self.ledger = daemon, seed, ledger
        self.number = self.peers = 0
        self.draw_as("")
        self.abandoned = []
        self.chaos = Chaos(self)

    @property
    def chance(self):
        return CHANCE.get()

    def draw_as(self, who):
        """Gives this task, and those that it starts, a source of chance of its own."""
        CHANCE.set(random.Random(f"{self.seed} {who}"))

    def word(self):
        self.number += 1
        return f"word-{self.number}-{self.chance.getrandbits(32):08x}"

    async def pause(self, longest=0.05):
        await asyncio.sleep(self.chance.random() * longest)

    # All together.

    def was_disturbed(self, since):
        return self.daemon.disturbances != since or since % 2 == 1

    def ended(self, who, error, since):
        """The other side has ended the connection of somebody: only when the daemon was disturbed meanwhile."""
        self.ledger.add("ended by the other side")
        if not self.was_disturbed(since):
            self.ledger.wrong(f"{who} ended with {error!r} although the daemon lived")

    async def peer(self, draw):
        """The next peer, in a task of its own."""
        self.peers += 1
        who = f"peer {self.peers}"
        self.draw_as(who)
        one = draw()
        who = f"{one.__qualname__}, {who},"
        disturbances = self.daemon.disturbances
        self.ledger.begun[one.__name__] += 1
        try:
            await asyncio.wait_for(one, 60)
        except ENDS as error:
            self.ledger.left[one.__name__] += 1
            self.ended(who, error, disturbances)
        except asyncio.TimeoutError:
            self.ledger.wrong(f"{who} did not end within 60 s")
        except Exception as error:
            self.ledger.wrong(f"{who} failed: {error if isinstance(error, Wrong) else repr(error)}")

    def draw(self):
        kind = self.chance.choices(
            [
                self.modern_client,
                self.hasty_client,
                self.pipelining_client,
                self.noting_client,
                self.listener,
                self.canceller,
                self.killed_command,
                self.unfinished,
                self.legacy_client,
                self.stdio_client,
                self.client_program,
                None,
            ],
            [30, 10, 30, 10, 10, 6, 4, 8, 20, 3, 4, 20],
        )[0]
        if kind:
            return kind()
        return self.provider(f"c{self.chance.randrange(CHANNELS)}")

    async def run(self, seconds, at_once=16):
        end = time.monotonic() + seconds
        running = set()
        while time.monotonic() < end:
            while len(running) < at_once:
                running.add(asyncio.create_task(self.peer(self.draw)))
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                one.result()
        for one in await asyncio.gather(*running, return_exceptions=True):
            if isinstance(one, BaseException):
                raise one

    async def run_providers(self, count, at_once=16):
        waiting = asyncio.Semaphore(at_once)

        async def one(number):
            async with waiting:
                await self.peer(lambda: self.provider(f"c{number % CHANNELS}", calls=False))

        await asyncio.gather(*(one(number) for number in range(count)))


async def warm_up(soak, only_providers):
    """Everything that is made once and stays: channels, threads, what is loaded when it is needed."""
    for number in range(CHANNELS):
        http = await HTTP(soak.daemon).open(False)
        http.send(
            "POST",
            modern_fields("server/discover"),
            modern("server/discover", {}),
            f"/mcp/channels/c{number}",
        )
        await http.answer()
        http.close()
    if only_providers:
        await soak.run_providers(CHANNELS)
    else:
        await soak.run(5)
        await soak.come_back()


def difference(before, after):
    names = sorted(set(before) | set(after))
    return [
        f"{name} {after.get(name, 0) - before.get(name, 0):+}"
        for name in names
        if after.get(name, 0) != before.get(name, 0)
    ]


async def settled(daemon):
    """The state when it has not changed for two seconds."""
    last, since = await daemon.state(), time.monotonic()
    while time.monotonic() - since < 2:
        await asyncio.sleep(0.25)
        state = await daemon.state()
        if state != last:
            last, since = state, time.monotonic()
    return last


async def resting_memory(soak):
    """The memory when nobody is there, in KiB."""
    await asyncio.wait_for(soak.come_back(), LONGEST_SECONDS)
    await settled(soak.daemon)
    return soak.daemon.status("VmRSS")


def in_mebibytes(sizes):
    return " → ".join(f"{size / 1024:.1f}" for size in sizes) + " MiB"


async def resting_threads(daemon, seconds, most=0):
    """The fewest threads within this time, which ends when there are no more than `most`."""
    end = time.monotonic() + seconds
    fewest = daemon.status("Threads")
    while fewest > most and time.monotonic() < end:
        await asyncio.sleep(0.1)
        fewest = min(fewest, daemon.status("Threads"))
    return fewest


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("--minutes", type=float, default=2, help="not with --only, which has a number")
    parser.add_argument("--only", choices=["", "providers"], default="")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--no-kills", action="store_true", help="the daemon itself is not disturbed")
    parser.add_argument("--no-census", action="store_true", help="for a release build, which counts nothing")
    options = parser.parse_args()
    if options.minutes <= 0:
        parser.error("--minutes: more than 0")
    seed = options.seed if options.seed is not None else random.SystemRandom().getrandbits(32)
    print(f"soak: seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="mcp-soak-") as folder:
        daemon = Daemon(os.path.abspath(options.server), folder, not options.no_census)
        ledger = Ledger(daemon)
        soak = Soak(daemon, seed, ledger)
        is_equal = False
        seconds = options.minutes * 60
        try:
            await daemon.start()
            if not options.only and not options.no_kills:
                await soak.chaos.run(seconds * 3 / 4)
                seconds /= 4
                await soak.chaos.replace(daemon.process, signal.SIGTERM)
            await asyncio.wait_for(warm_up(soak, options.only), LONGEST_SECONDS)
            # Registrations of providers that are gone are remembered for 60 s; none of them holds anything.
            before = await settled(daemon)
            threads = await resting_threads(daemon, REST_SECONDS)
            memory = [daemon.status("VmRSS")]
            if options.only:
                print(f"soak: {PROVIDERS:,} providers, however long that takes", flush=True)
                await soak.run_providers(PROVIDERS)
            else:
                # The same load twice. The allocator grows for what happens to coincide, less and less often;
                # a leak grows each time.
                await soak.run(seconds / 2)
                for _ in range(REPETITIONS):
                    memory.append(await resting_memory(soak))
                    await soak.run(seconds / 2)
                    memory.append(await resting_memory(soak))
                    if memory[-1] - memory[-2] <= MEMORY:
                        break
                else:
                    ledger.wrong("memory grows each time: " + in_mebibytes(memory))
                daemon.notes.judge(ledger)
            end = time.monotonic() + SETTLE_SECONDS
            after = await daemon.state()
            while difference(before, after) and time.monotonic() < end:
                await asyncio.sleep(0.5)
                after = await daemon.state()
            # Fewer is no leak.
            before["threads"] = threads
            after["threads"] = max(threads, await resting_threads(daemon, SETTLE_SECONDS, threads))
            ledger.close()
            report(options, daemon, ledger, before, after, memory + [daemon.status("VmRSS")])
            if soak.chaos.slowest:
                print(f"soak: the daemon ended within {soak.chaos.slowest:.1f} s")
            is_equal = not difference(before, after)
        finally:
            code = await daemon.end()
        if code != 0:
            ledger.wrong(f"the server ended with {code}")
            print(daemon.tail())
        if left := await daemon.survivors() + await daemon.survivors(daemon.pipe_mark):
            ledger.wrong(f"{len(left)} commands outlive their server")
    return 0 if is_equal and not ledger.errors else 1


def report(options, daemon, ledger, before, after, memory):
    for what, count in sorted(ledger.counts.items()):
        print(f"soak: {count:>9,} {what}")
    print(f"soak: {len(ledger.errors):>9,} wrong")
    print(f"soak: memory {in_mebibytes(memory)}, threads at rest {before['threads']} → {after['threads']}")
    if options.only:
        descriptors = sum(count for name, count in after.items() if name.startswith("descriptor "))
        descriptors -= sum(count for name, count in before.items() if name.startswith("descriptor "))
        alive = "not counted" if options.no_census else f"{after.get('alive clientConnection', 0):,}"
        print(
            f"{PROVIDERS:,} providers came and went: descriptors {descriptors:+,}, "
            f"conversations alive {alive}"
        )
    left = difference(before, after)
    print("soak: nothing is left" if not left else "soak: left: " + ", ".join(left))


if __name__ == "__main__":
    sys.exit(run(main))
