"""The daemon of a soak: how it is started and stopped, and what the system knows of it."""

import asyncio
import collections
import json
import os
import random
import re
import signal
import time

from chaos import Notes


def run(main):
    """Runs a program. SIGTERM ends it as Ctrl-C does: in order, with its daemon."""

    async def interruptible():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
        return await main()

    try:
        return asyncio.run(interruptible())
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("interrupted", flush=True)
        return 130


async def end_others():
    """Ends all other tasks, so that none starts or disturbs the daemon any more."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for one in others:
        one.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class Daemon:
    """The server under test and what the system knows of it."""

    def __init__(self, program, folder, has_census):
        self.program = program
        self.client = f"{os.path.dirname(program)}/mcp-client"
        self.has_census = has_census
        self.folder = folder
        self.socket = f"{folder}/mcp.sock"
        self.providers = f"{folder}/providers.sock"
        self.config = f"{folder}/mcp.jsonc"
        self.log = f"{folder}/log"
        self.notes = Notes(f"{folder}/notes")
        self.port = 0
        self.process = None
        # How often the daemon was started; its commands have this in their environment.
        self.life = 0
        # The other programs with this configuration run commands too, which end with them.
        os.environ["SOAK_LIFE"] = "none"
        # How often the daemon was disturbed, counted at the beginning and at the end of each time.
        self.disturbances = 0
        with open(f"{folder}/state.key", "w") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(random.randbytes(32).hex())
        os.mkdir(f"{folder}/prompts")
        with open(f"{folder}/prompts/say.md", "w") as file:
            file.write("---\nname: say\narguments:\n  text: What is said\n---\n{{text}}\n")
        os.mkdir(f"{folder}/docs")
        for number in range(20):
            with open(f"{folder}/docs/{number}.txt", "w") as file:
                file.write(f"text of {number}")
        with open(self.config, "w") as file:
            json.dump(self.configuration(), file)

    def configuration(self):
        text = {"text": {"type": "string", "maxLength": 200}}
        configuration = {
            "server": {"name": "soak"},
            "state": {"key": f"${{file:{self.folder}/state.key}}"},
            "tools": {
                "echo": {"description": "Says it again.", "input": text, "exec": ["echo", "-n", "{text}"]},
                "note": {"description": "Writes it down.", "input": text, "exec": self.notes.command},
                "rest": {
                    "description": "Takes longer than it may.",
                    "input": text,
                    "exec": ["sleep", "{text}"],
                    "timeout": "5s",
                },
                "held": {
                    "description": "Says that it has begun.",
                    "exec": ["sh", "-c", "echo on; exec sleep 60"],
                    "progress": "lines",
                    "timeout": "60s",
                },
                "loud": {"description": "Writes too much.", "exec": ["yes"], "timeout": "2s"},
            },
            "files": {"docs": {"root": f"{self.folder}/docs", "uri": "docs:///{+path}"}},
            "prompts": {"dir": f"{self.folder}/prompts"},
        }
        for tool in configuration["tools"].values():
            tool["env"] = {"SOAK_LIFE": "${SOAK_LIFE}"}
        return configuration

    async def start(self):
        self.life += 1
        self.stderr = open(self.log, "w")
        self.process = await asyncio.create_subprocess_exec(
            self.program,
            "-c",
            self.config,
            "--listen",
            f"unix://{self.socket}",
            "--listen",
            f"127.0.0.1:{self.port}",
            "--client-tools",
            "--providers-socket",
            self.providers,
            "--log-level",
            "info",
            stdin=asyncio.subprocess.DEVNULL,
            stderr=self.stderr,
            env=self.environment(self.mark),
        )
        self.stderr.close()
        for _ in range(400):
            found = re.search(r"127\.0\.0\.1:(\d+)", self.text())
            if found:
                self.port = int(found.group(1))
                return
            if self.process.returncode is not None:
                break
            await asyncio.sleep(0.05)
        raise SystemExit(f"soak: the server does not start:\n{self.text()}")

    def environment(self, mark):
        """The variables of a server, whose commands have the mark."""
        runtime = f"{self.folder}/run"
        os.makedirs(runtime, 0o700, exist_ok=True)
        return dict(os.environ, XDG_RUNTIME_DIR=runtime, SWIFT_BACKTRACE="enable=no", SOAK_LIFE=mark)

    @property
    def mark(self):
        return f"{self.folder} {self.life}"

    @property
    def pipe_mark(self):
        """The mark of commands of the servers on pipes, which come and go."""
        return f"{self.folder} pipes"

    def text(self):
        with open(self.log, errors="replace") as file:
            return file.read()

    def tail(self):
        """The last lines of the log, without those of the census."""
        return "\n".join([line for line in self.text().splitlines() if "census" not in line][-20:])

    async def census(self):
        """What a debug build counts, from the line that it writes when it is asked."""
        if not self.has_census:
            return {}
        before = len(re.findall(r"census", self.text()))
        os.kill(self.process.pid, signal.SIGUSR1)
        for _ in range(100):
            lines = re.findall(r'census"?[^\n]*?living"?[=:] ?"?([^"\n]*)', self.text())
            if len(lines) > before:
                return dict(pair.split("=") for pair in lines[-1].split())
            if self.process.returncode is not None:
                raise SystemExit(
                    "soak: the server has ended; a debug build is needed, which counts its owners"
                )
            await asyncio.sleep(0.02)
        raise SystemExit("soak: the server does not tell its census")

    async def state(self):
        pid = self.process.pid
        kinds = collections.Counter()
        for number in os.listdir(f"/proc/{pid}/fd"):
            try:
                target = os.readlink(f"/proc/{pid}/fd/{number}")
            except OSError:
                continue
            kinds[re.sub(r":\[\d+\]$", "", target)] += 1
        state = {f"descriptor {kind}": count for kind, count in kinds.items()}
        state.update({f"alive {kind}": int(count) for kind, count in (await self.census()).items()})
        children = self.children()
        state["children"] = len(children)
        state["zombies"] = sum(1 for child in children if self.is_zombie(child))
        return state

    def children(self):
        found = []
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            try:
                with open(f"/proc/{self.process.pid}/task/{thread}/children") as file:
                    found += file.read().split()
            except OSError:
                continue
        return found

    async def survivors(self, mark=None, seconds=5):
        """The commands of this life of the daemon, or with another mark, that still run when it has ended."""
        mark = f"SOAK_LIFE={mark or self.mark}".encode()
        end, found = time.monotonic() + seconds, [None]
        while found and time.monotonic() < end:
            found = []
            for number in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{number}/environ", "rb") as file:
                        if mark in file.read().split(b"\0"):
                            found.append(number)
                except OSError:
                    continue
            if found:
                await asyncio.sleep(0.1)
        return found

    def command(self, *words):
        """The number of the command with these words, which a tool runs."""
        wanted = b"".join(word.encode() + b"\0" for word in words)
        for child in self.children():
            try:
                with open(f"/proc/{child}/cmdline", "rb") as file:
                    if file.read() == wanted:
                        return int(child)
            except OSError:
                continue
        return None

    @staticmethod
    def is_zombie(pid):
        try:
            with open(f"/proc/{pid}/stat") as file:
                return file.read().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            return False

    def status(self, name):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(rf"{name}:\s+(\d+)", file.read()).group(1))

    async def end(self):
        """Ends a daemon that runs. Returns its exit code, or none if it has never been started."""
        await end_others()
        if self.process is None or self.process.returncode is not None:
            return self.process and self.process.returncode
        return await self.stop()

    async def stop(self):
        # One that was stopped for a moment cannot end before it goes on.
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(signal.SIGTERM)
        try:
            code = await asyncio.wait_for(self.process.wait(), 20)
        except asyncio.TimeoutError:
            self.process.kill()
            code = await self.process.wait()
        return code
