"""The daemon is killed, ended and stopped for a moment, and started again, while everybody goes on
(soak.py)."""

import asyncio
import collections
import os
import signal
import time

from wire import Gone, Wrong

# What is done to the daemon, and how often.
DEEDS = {signal.SIGKILL: 6, signal.SIGTERM: 3, signal.SIGSTOP: 2}
PAUSE_SECONDS = (1.0, 4.0)
STOPPED_SECONDS = 0.7


class Notes:
    """What the tool `note` has written: no call was executed twice, and each that was answered was."""

    def __init__(self, path):
        self.path = path
        self.answered = []
        # One write of a line is not mixed with another one.
        self.command = ["sh", "-c", f'echo "$1" >>{path} && printf %s "$1"', "sh", "{text}"]

    def judge(self, ledger):
        if not os.path.exists(self.path):
            return ledger.wrong("no note was written")
        with open(self.path) as file:
            written = collections.Counter(file.read().split())
        ledger.add("notes written", len(written))
        for word, count in written.items():
            if count > 1:
                ledger.wrong(f"the note {word} was written {count} times")
        for word in self.answered:
            ledger.judge("a note that was answered", 1, written[word])


class Chaos:
    """Disturbs the daemon of a soak, and keeps sessions through it."""

    def __init__(self, soak):
        self.soak, self.daemon, self.ledger = soak, soak.daemon, soak.ledger
        # The longest that an end of the daemon took, in seconds.
        self.slowest = 0.0

    async def run(self, seconds):
        self.end = time.monotonic() + seconds
        keepers = [asyncio.create_task(self.keeper(number)) for number in range(4)]
        disturber = asyncio.create_task(self.disturb())
        await self.soak.run(seconds)
        await disturber
        await asyncio.gather(*keepers)

    async def disturb(self):
        self.soak.draw_as("disturber")
        chance = self.soak.chance
        while time.monotonic() < self.end:
            await asyncio.sleep(chance.uniform(*PAUSE_SECONDS))
            deed = chance.choices(list(DEEDS), list(DEEDS.values()))[0]
            self.daemon.disturbances += 1
            self.ledger.add(f"daemon: {deed.name}")
            if deed == signal.SIGKILL:
                self.ledger.add("kills")
            process = self.daemon.process
            if deed == signal.SIGSTOP:
                process.send_signal(signal.SIGSTOP)
                await asyncio.sleep(STOPPED_SECONDS)
                process.send_signal(signal.SIGCONT)
            else:
                await self.replace(process, deed)
            self.daemon.disturbances += 1

    async def replace(self, process, deed):
        process.send_signal(deed)
        started = time.monotonic()
        try:
            code = await asyncio.wait_for(process.wait(), 20)
        except asyncio.TimeoutError:
            self.ledger.wrong(f"the server did not end within 20 s of {deed.name}")
            process.kill()
            code = await process.wait()
        self.slowest = max(self.slowest, time.monotonic() - started)
        self.ledger.add("restarts of the daemon")
        if code not in ((0,) if deed == signal.SIGTERM else (-deed,)):
            self.ledger.wrong(f"after {deed.name} the server ended with {code}: {self.daemon.tail()}")
        if left := await self.daemon.survivors():
            self.ledger.wrong(f"after {deed.name} {len(left)} commands outlive the server")
        await self.daemon.start()

    async def keeper(self, number):
        """One client of 2025-11-25 whose session outlives the daemon."""
        self.soak.draw_as(f"keeper {number}")
        session, life, number = None, None, 0
        while time.monotonic() < self.end:
            disturbances = self.daemon.disturbances
            try:
                http, session = await self.soak.session(session)
                if not session:
                    continue
                if life not in (None, self.daemon.process.pid):
                    self.ledger.add("sessions continued by another life of the daemon")
                life = self.daemon.process.pid
                while time.monotonic() < self.end:
                    number += 1
                    if not await self.soak.session_call(http, session, number):
                        break
                    await self.soak.pause()
                http.close()
            except (Gone, OSError, asyncio.IncompleteReadError) as error:
                self.soak.ended("keeper", error, disturbances)
                await asyncio.sleep(0.02)
            except Wrong as error:
                self.ledger.wrong(f"keeper: {error}")
        if session:
            self.soak.abandoned.append(session)
