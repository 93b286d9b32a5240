#!/usr/bin/env python3
"""Everybody comes and goes: one daemon, many peers, and what is left when the last one has gone.

    soak.py SERVER [--minutes N] [--only providers] [--seed N] [--no-census] [--no-kills]

Starts the daemon (a debug build, which counts its living owners) with client tools, command tools and files,
and lets providers, HTTP clients of two revisions, event streams, programs on a pipe, mcp-client and command
tools come and go: some in good order, some in the middle of a request, and some commands are killed. Each call
carries its own text; an answer with another one is an error. At the end there is nobody left, and descriptors
by kind, children and the census have to be what they were after the warm-up.

For the first three quarters of the time the daemon itself is killed, ended and stopped for a moment, and started
again with the same key (chaos.py). A connection may end without an answer only then.

The system's pool keeps a thread for some seconds after its last work, and makes one again for a timer. So
threads are compared at rest: the fewest within a time in which the pool has ended those without work. A thread
that somebody holds is there all the time.
"""

import argparse
import asyncio
import collections
import contextlib
import json
import os
import random
import re
import signal
import socket
import struct
import sys
import tempfile
import time

from chaos import Chaos, Notes

MODERN, LEGACY = "2026-07-28", "2025-11-25"
CHANNELS = 50
PROVIDERS = 2_000
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
SETTLE_SECONDS = 90
# The pool ends a thread that had nothing to do for 5 s.
REST_SECONDS = 15


class Gone(Exception):
    """The peer, or this side, ended the connection before the answer."""


class Ledger:
    """What was asked and what came back."""

    def __init__(self):
        self.counts = collections.Counter()
        self.errors = []

    def add(self, what, number=1):
        self.counts[what] += number

    def wrong(self, text):
        self.errors.append(text)
        if len(self.errors) <= 20:
            print(f"soak: wrong: {text}", flush=True)

    def judge(self, who, expected, answer):
        self.add("answers judged")
        if expected != answer:
            self.wrong(f"{who}: expected {expected!r}, got {answer!r}")


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
        # How often the daemon was disturbed, counted at the beginning and at the end of each time.
        self.disturbances = 0
        with open(f"{folder}/state.key", "w") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(random.randbytes(32).hex())
        os.mkdir(f"{folder}/docs")
        for number in range(20):
            with open(f"{folder}/docs/{number}.txt", "w") as file:
                file.write(f"text of {number}")
        with open(self.config, "w") as file:
            json.dump(self.configuration(), file)

    def configuration(self):
        text = {"text": {"type": "string", "maxLength": 200}}
        return {
            "server": {"name": "soak"},
            "state": {"key": f"${{file:{self.folder}/state.key}}"},
            "tools": {
                "echo": {"description": "Says it again.", "input": text, "exec": ["echo", "-n", "{text}"]},
                "note": {"description": "Writes it down.", "input": text, "exec": self.notes.command},
                "rest": {
                    "description": "Takes long.", "input": text, "exec": ["sleep", "{text}"], "timeout": "5s"},
                "held": {"description": "Says that it has begun.", "exec": ["sh", "-c", "echo on; exec sleep 60"],
                         "progress": "lines", "timeout": "60s"},
                "loud": {"description": "Writes too much.", "exec": ["yes"], "timeout": "2s"},
            },
            "files": {"docs": {"root": f"{self.folder}/docs", "uri": "docs:///{+path}"}},
        }

    async def start(self):
        runtime = f"{self.folder}/run"
        os.makedirs(runtime, 0o700, exist_ok=True)
        environment = dict(os.environ, XDG_RUNTIME_DIR=runtime, SWIFT_BACKTRACE="enable=no")
        self.stderr = open(self.log, "w")
        self.process = await asyncio.create_subprocess_exec(
            self.program, "-c", self.config, "--listen", f"unix://{self.socket}",
            "--listen", f"127.0.0.1:{self.port}",
            "--client-tools", "--providers-socket", self.providers, "--log-level", "info",
            stdin=asyncio.subprocess.DEVNULL, stderr=self.stderr, env=environment)
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

    def text(self):
        with open(self.log, errors="replace") as file:
            return file.read()

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
                raise SystemExit("soak: the server has ended; a debug build is needed, which counts its owners")
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

    async def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            code = await asyncio.wait_for(self.process.wait(), 20)
        except asyncio.TimeoutError:
            self.process.kill()
            code = await self.process.wait()
        return code


class HTTP:
    """One HTTP connection."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.writer = None

    async def open(self, tcp):
        if tcp:
            pair = await asyncio.open_connection("127.0.0.1", self.daemon.port)
        else:
            pair = await asyncio.open_unix_connection(self.daemon.socket)
        self.reader, self.writer = pair
        return self

    def close(self, reset=False):
        if self.writer is None:
            return
        sock = self.writer.get_extra_info("socket")
        if reset and sock is not None and sock.family != socket.AF_UNIX:
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort() if reset else self.writer.close()

    def send(self, method, headers, body, path="/mcp"):
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.daemon.port}\r\n"
        head += "Accept: application/json, text/event-stream\r\n"
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.writer.write(head.encode() + b"\r\n" + data)

    async def head(self):
        try:
            text = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise Gone from error
        lines = text.split("\r\n")
        pairs = [line.split(": ", 1) for line in lines[1:] if ": " in line]
        return int(lines[0].split()[1]), {name.lower(): value for name, value in pairs}

    async def chunk(self):
        try:
            size = int((await self.reader.readline()).strip(), 16)
            data = await self.reader.readexactly(size)
            await self.reader.readline()
            return data
        except (asyncio.IncompleteReadError, ConnectionError, ValueError) as error:
            raise Gone from error

    async def answer(self):
        """The status, the fields, and the message that answers."""
        status, fields = await self.head()
        if fields.get("transfer-encoding") == "chunked":
            text = b""
            while data := await self.chunk():
                text += data
            events = [e for e in text.decode().split("\n\n") if "data:" in e]
            last = events[-1] if events else ""
            lines = [line[5:].strip() for line in last.split("\n") if line.startswith("data:")]
            return status, fields, json.loads("\n".join(lines)) if lines else None
        try:
            body = await self.reader.readexactly(int(fields.get("content-length", "0")))
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise Gone from error
        is_json = "json" in fields.get("content-type", "")
        return status, fields, json.loads(body) if body and is_json else None


def modern(method, params, number=1):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params, _meta=META)}


def modern_fields(method, name=None):
    fields = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    if name:
        fields["Mcp-Name"] = name
    return fields


def text_of(message):
    content = ((message or {}).get("result") or {}).get("content") or [{}]
    return content[0].get("text", "")


class Soak:
    Gone = Gone

    def __init__(self, daemon, chance, ledger):
        self.daemon, self.chance, self.ledger = daemon, chance, ledger
        self.number = 0
        self.abandoned = []
        self.chaos = Chaos(self)

    def word(self):
        self.number += 1
        return f"word-{self.number}-{self.chance.getrandbits(32):08x}"

    async def pause(self, longest=0.05):
        await asyncio.sleep(self.chance.random() * longest)

    # Clients of 2026-07-28.

    async def modern_client(self):
        http = await HTTP(self.daemon).open(self.chance.random() < 0.5)
        self.ledger.add("modern clients")
        try:
            for _ in range(self.chance.randint(1, 6)):
                word = self.word()
                http.send(
                    "POST", modern_fields("tools/call", "echo"),
                    modern("tools/call", {"name": "echo", "arguments": {"text": word}}))
                if self.chance.random() < 0.15:
                    await self.pause()
                    return http.close(reset=True)
                status, _, message = await http.answer()
                if status == 503:
                    self.ledger.add("refused for want of room")
                    continue
                self.ledger.judge("modern call", word, text_of(message))
                if self.chance.random() < 0.3:
                    number = self.chance.randrange(20)
                    uri = f"docs:///{number}.txt"
                    http.send(
                        "POST", modern_fields("resources/read", uri), modern("resources/read", {"uri": uri}))
                    _, _, message = await http.answer()
                    contents = ((message or {}).get("result") or {}).get("contents") or [{}]
                    self.ledger.judge("modern read", f"text of {number}", contents[0].get("text"))
        finally:
            http.close(reset=self.chance.random() < 0.3)

    async def hasty_client(self):
        """One request after the other."""
        http = await HTTP(self.daemon).open(self.chance.random() < 0.5)
        self.ledger.add("hasty clients")
        try:
            for _ in range(100):
                number = self.chance.randrange(20)
                uri = f"docs:///{number}.txt"
                http.send("POST", modern_fields("resources/read", uri), modern("resources/read", {"uri": uri}))
                status, _, message = await http.answer()
                if status == 503:
                    return self.ledger.add("refused for want of room")
                contents = ((message or {}).get("result") or {}).get("contents") or [{}]
                self.ledger.judge("hasty read", f"text of {number}", contents[0].get("text"))
        finally:
            http.close()

    async def noting_client(self):
        """A call that must not be executed twice."""
        http = await HTTP(self.daemon).open(self.chance.random() < 0.5)
        word = self.word()
        try:
            http.send(
                "POST", modern_fields("tools/call", "note"),
                modern("tools/call", {"name": "note", "arguments": {"text": word}}))
            status, _, message = await http.answer()
            if status == 503:
                return self.ledger.add("refused for want of room")
            self.ledger.judge("note", word, text_of(message))
            self.daemon.notes.answered.append(word)
        finally:
            http.close()

    async def listener(self):
        http = await HTTP(self.daemon).open(self.chance.random() < 0.5)
        self.ledger.add("listeners")
        try:
            http.send(
                "POST", modern_fields("subscriptions/listen"),
                modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
            status, _ = await http.head()
            if status == 200 and self.chance.random() < 0.8:
                await http.chunk()
            await self.pause(0.3)
        finally:
            http.close(reset=self.chance.random() < 0.5)

    async def canceller(self):
        """Goes while its command runs."""
        http = await HTTP(self.daemon).open(self.chance.random() < 0.5)
        self.ledger.add("calls that were given up")
        try:
            tool = self.chance.choice(["rest", "rest", "loud"])
            arguments = {} if tool == "loud" else {"text": "4"}
            http.send(
                "POST", modern_fields("tools/call", tool),
                modern("tools/call", {"name": tool, "arguments": arguments}))
            await self.pause(0.4)
        finally:
            http.close(reset=self.chance.random() < 0.5)

    async def killed_command(self):
        """Its command is killed by somebody else: the answer says so."""
        http = await HTTP(self.daemon).open(self.chance.random() < 0.5)
        try:
            self.number += 1
            seconds = f"4.{self.number:06}"
            http.send(
                "POST", modern_fields("tools/call", "rest"),
                modern("tools/call", {"name": "rest", "arguments": {"text": seconds}}))
            answer = asyncio.create_task(http.answer())
            # Its end is not awaited when the daemon, and with it the list of its children, has gone.
            answer.add_done_callback(lambda one: one.cancelled() or one.exception())
            while not answer.done():
                pid = self.daemon.command("sleep", seconds)
                if pid:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                    self.ledger.add("kills")
                    break
                await asyncio.sleep(0.02)
            status, _, message = await answer
            if status != 503:
                self.ledger.judge("killed command", True, ((message or {}).get("result") or {}).get("isError"))
        finally:
            http.close()

    async def unfinished(self):
        """Sends a part of a request."""
        http = await HTTP(self.daemon).open(self.chance.random() < 0.5)
        self.ledger.add("requests that were never finished")
        text = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{"
        http.writer.write(text[: self.chance.randrange(1, len(text) + 1)])
        await self.pause()
        http.close(reset=self.chance.random() < 0.5)

    # Clients of 2025-11-25, with sessions.

    async def session(self, session=None):
        """A connection, and the fields of a session: this one, or a new one; none when there is no room."""
        http = await HTTP(self.daemon).open(self.chance.random() < 0.5)
        if session:
            return http, session
        params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
        http.send("POST", {}, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        status, fields, _ = await http.answer()
        if status == 503:
            self.ledger.add("refused for want of room")
            return http, None
        session = {"Mcp-Session-Id": fields["mcp-session-id"], "MCP-Protocol-Version": LEGACY}
        http.send("POST", session, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        await http.answer()
        return http, session

    async def session_call(self, http, session, number):
        """Whether there was room for a call, which is judged."""
        word = self.word()
        call = {"name": "echo", "arguments": {"text": word}}
        http.send("POST", session, {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
        status, _, message = await http.answer()
        if status != 503:
            self.ledger.judge("legacy call", word, text_of(message))
        return status != 503

    async def legacy_client(self):
        self.ledger.add("legacy sessions")
        http, session = await self.session()
        if not session:
            return http.close()
        self.abandoned.append(session)
        stream = None
        try:
            if self.chance.random() < 0.6:
                stream = await HTTP(self.daemon).open(self.chance.random() < 0.5)
                stream.send("GET", session, None)
                await stream.head()
            for number in range(1, self.chance.randint(2, 5)):
                if self.chance.random() < 0.1:
                    call = {"name": "echo", "arguments": {"text": "x"}}
                    return http.send(
                        "POST", session, {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
                await self.session_call(http, session, number)
            if self.chance.random() < 0.6:
                http.send("DELETE", session, None)
                await http.answer()
                self.abandoned.remove(session)
        finally:
            for one in [http, stream]:
                if one:
                    one.close(reset=self.chance.random() < 0.3)

    async def come_back(self):
        """Those who left their sessions behind come back for a moment and end them."""
        while self.abandoned:
            http = await HTTP(self.daemon).open(False)
            http.send("DELETE", self.abandoned.pop(), None)
            await http.answer()
            http.close()

    # Programs on a pipe.

    async def stdio_client(self):
        process = await asyncio.create_subprocess_exec(
            self.daemon.program, "--stdio", "-c", self.daemon.config, stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL)
        self.ledger.add("programs on a pipe")
        try:
            for number in range(1, 4):
                word = self.word()
                call = modern("tools/call", {"name": "echo", "arguments": {"text": word}}, number)
                process.stdin.write(json.dumps(call).encode() + b"\n")
                if self.chance.random() < 0.1:
                    return
                line = await process.stdout.readline()
                self.ledger.judge("call over a pipe", word, text_of(json.loads(line) if line else None))
        finally:
            if self.chance.random() < 0.3:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                self.ledger.add("kills")
            process.stdin.close()
            code = await asyncio.wait_for(process.wait(), 30)
            if code not in (0, -signal.SIGKILL):
                self.ledger.wrong(f"a program on a pipe ended with {code}")

    async def client_program(self):
        """mcp-client, over HTTP or with a program of its own; some are ended while a command runs."""
        word = self.word()
        is_ended = self.chance.random() < 0.3
        call = ["rest", "text=4"] if is_ended else [self.chance.choice(["echo", "note"]), f"text={word}"]
        disturbances = self.daemon.disturbances
        own = ["--", self.daemon.program, "--stdio", "-c", self.daemon.config]
        place = self.chance.choice([f"unix://{self.daemon.socket}", f"http://127.0.0.1:{self.daemon.port}/mcp", None])
        arguments = [place, *call] if place else [*call, *own]
        process = await asyncio.create_subprocess_exec(
            self.daemon.client, "call", "--raw", *arguments, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        self.ledger.add("runs of mcp-client")
        if is_ended:
            await self.pause(0.4)
            # Whoever kills it leaves its program to end by itself.
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(self.chance.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
        output, errors = await asyncio.wait_for(process.communicate(), 30)
        if is_ended:
            self.ledger.add("kills")
        elif process.returncode == 0 or (b"503" not in errors and not self.was_disturbed(disturbances)):
            self.ledger.judge("call of mcp-client", (0, word), (process.returncode, output.decode().strip()))

    # Providers.

    async def provider(self, channel, calls=True):
        """A program that brings a tool, and goes at some point of the conversation."""
        self.ledger.add("providers")
        name = f"p{self.word()}"
        http = HTTP(self.daemon)
        http.reader, http.writer = await asyncio.open_unix_connection(self.daemon.providers)
        patience = self.chance.choice([0, 1, 2, 3, 4, 4, 4, 4])
        try:
            http.send(
                "POST", {"Connection": "Upgrade", "Upgrade": "mcp"}, {},
                f"/providers?channel={channel}&client={name}")
            if patience == 0:
                return
            status, _ = await http.head()
            if status != 101:
                return self.ledger.wrong(f"a provider was answered {status}")
            agent = None
            era = self.chance.choice([MODERN, LEGACY])
            while line := await asyncio.wait_for(http.reader.readline(), 5):
                message = json.loads(line)
                for answer in self.provided(message, name, era):
                    http.writer.write(json.dumps(answer).encode() + b"\n")
                patience -= 1
                if message.get("method") != "tools/list" and patience > 0 or agent is not None:
                    continue
                if not calls or self.chance.random() < 0.7:
                    await self.pause()
                    return
                agent = asyncio.create_task(self.agent(channel, f"t-{name}"))
                agent.add_done_callback(lambda _: http.writer.close())
        except asyncio.TimeoutError:
            self.ledger.wrong("nothing was asked of a provider for 5 s")
        except Gone:
            pass
        finally:
            http.close(reset=self.chance.random() < 0.5)

    def provided(self, message, name, era):
        """What a provider says to a message."""
        number, method = message.get("id"), message.get("method")
        if number is None or method is None:
            return []
        server = {"serverInfo": {"name": name, "version": "1"}, "capabilities": {"tools": {"listChanged": True}}}
        base = {"jsonrpc": "2.0", "id": number}
        if method == "server/discover" and era == MODERN:
            return [dict(base, result=dict(server, resultType="complete", supportedVersions=[MODERN]))]
        if method == "initialize":
            return [dict(base, result=dict(server, protocolVersion=LEGACY))]
        if method == "tools/list":
            tool = {"name": f"t-{name}", "description": "x", "inputSchema": {"type": "object"}}
            result = {"tools": [tool], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
            return [dict(base, result=result)]
        if method == "tools/call":
            text = message["params"]["arguments"].get("text", "")
            content = [{"type": "text", "text": text}]
            return [dict(base, result={"content": content, "resultType": "complete"})]
        if method == "subscriptions/listen":
            params = {
                "notifications": {"toolsListChanged": True},
                "_meta": {"io.modelcontextprotocol/subscriptionId": number}}
            return [{"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params}]
        return [dict(base, error={"code": -32601, "message": "Method not found"})]

    async def agent(self, channel, tool):
        """Calls what a provider has brought, when it is there already."""
        http = HTTP(self.daemon)
        try:
            await http.open(False)
            for _ in range(20):
                word = self.word()
                http.send(
                    "POST", modern_fields("tools/call", tool),
                    modern("tools/call", {"name": tool, "arguments": {"text": word}}), f"/mcp/channels/{channel}")
                _, _, message = await http.answer()
                if (message or {}).get("result") and not message["result"].get("isError"):
                    return self.ledger.judge("call of a provider", word, text_of(message))
                await asyncio.sleep(0.02)
        except (Gone, OSError):
            pass
        finally:
            http.close()

    # All together.

    def was_disturbed(self, since):
        return self.daemon.disturbances != since or since % 2 == 1

    async def guarded(self, one):
        disturbances = self.daemon.disturbances
        try:
            await asyncio.wait_for(one, 60)
        except (Gone, ConnectionError, FileNotFoundError, asyncio.IncompleteReadError) as error:
            self.ledger.add("ended by the other side")
            if not self.was_disturbed(disturbances):
                self.ledger.wrong(f"{one.__qualname__} ended with {error!r} although the daemon lived")
        except asyncio.TimeoutError:
            self.ledger.wrong(f"{one.__qualname__} did not end within 60 s")

    def draw(self):
        kind = self.chance.choices(
            [self.modern_client, self.hasty_client, self.noting_client, self.listener, self.canceller,
             self.killed_command, self.unfinished, self.legacy_client, self.stdio_client, self.client_program, None],
            [30, 10, 10, 10, 6, 4, 8, 20, 3, 4, 20])[0]
        if kind:
            return kind()
        return self.provider(f"c{self.chance.randrange(CHANNELS)}")

    async def run(self, seconds, at_once=16):
        end = time.monotonic() + seconds
        running = set()
        while time.monotonic() < end:
            while len(running) < at_once:
                running.add(asyncio.create_task(self.guarded(self.draw())))
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
                await self.guarded(self.provider(f"c{number % CHANNELS}", calls=False))

        await asyncio.gather(*(one(number) for number in range(count)))


async def warm_up(soak, only_providers):
    """Everything that is made once and stays: channels, threads, what is loaded when it is needed."""
    for number in range(CHANNELS):
        http = await HTTP(soak.daemon).open(False)
        http.send(
            "POST", modern_fields("server/discover"), modern("server/discover", {}), f"/mcp/channels/c{number}")
        await http.answer()
        http.close()
    if only_providers:
        await soak.run_providers(CHANNELS)
    else:
        await soak.run(5)
        await soak.come_back()


def difference(before, after):
    names = sorted(set(before) | set(after))
    return [f"{name} {after.get(name, 0) - before.get(name, 0):+}"
            for name in names if after.get(name, 0) != before.get(name, 0)]


async def settled(daemon):
    """The state when it has not changed for two seconds."""
    last, since = await daemon.state(), time.monotonic()
    while time.monotonic() - since < 2:
        await asyncio.sleep(0.25)
        state = await daemon.state()
        if state != last:
            last, since = state, time.monotonic()
    return last


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
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--only", choices=["", "providers"], default="")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--no-kills", action="store_true", help="the daemon itself is not disturbed")
    parser.add_argument("--no-census", action="store_true", help="for a release build, which counts nothing")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().getrandbits(32)
    print(f"soak: seed {seed}", flush=True)
    ledger = Ledger()
    with tempfile.TemporaryDirectory(prefix="mcp-soak-") as folder:
        daemon = Daemon(os.path.abspath(options.server), folder, not options.no_census)
        await daemon.start()
        soak = Soak(daemon, random.Random(seed), ledger)
        is_equal = False
        seconds = options.minutes * 60
        try:
            if not options.only and not options.no_kills:
                await soak.chaos.run(seconds * 3 / 4)
                seconds /= 4
                await soak.chaos.replace(daemon.process, signal.SIGTERM)
            await warm_up(soak, options.only)
            # Registrations of providers that are gone are remembered for 60 s; none of them holds anything.
            before = await settled(daemon)
            threads, memory = await resting_threads(daemon, REST_SECONDS), daemon.status("VmRSS")
            if options.only:
                await soak.run_providers(PROVIDERS)
            else:
                await soak.run(seconds)
                await soak.come_back()
                daemon.notes.judge(ledger)
            end = time.monotonic() + SETTLE_SECONDS
            after = await daemon.state()
            while difference(before, after) and time.monotonic() < end:
                await asyncio.sleep(0.5)
                after = await daemon.state()
            # Fewer is no leak.
            before["threads"] = threads
            after["threads"] = max(threads, await resting_threads(daemon, SETTLE_SECONDS, threads))
            report(options, daemon, ledger, before, after, memory)
            if soak.chaos.slowest:
                print(f"soak: the daemon ended within {soak.chaos.slowest:.1f} s")
            is_equal = not difference(before, after)
        finally:
            code = await daemon.stop() if daemon.process.returncode is None else daemon.process.returncode
        if code != 0:
            ledger.wrong(f"the server ended with {code}")
            print(daemon.text()[-2_000:])
    return 0 if is_equal and not ledger.errors else 1


def report(options, daemon, ledger, before, after, memory):
    for what, count in sorted(ledger.counts.items()):
        print(f"soak: {count:>9,} {what}")
    print(f"soak: {len(ledger.errors):>9,} wrong")
    print(f"soak: memory {memory / 1024:.1f} → {daemon.status('VmRSS') / 1024:.1f} MiB, "
          f"threads at rest {before['threads']} → {after['threads']}")
    if options.only:
        descriptors = sum(count for name, count in after.items() if name.startswith("descriptor "))
        descriptors -= sum(count for name, count in before.items() if name.startswith("descriptor "))
        alive = "not counted" if options.no_census else f"{after.get('alive clientConnection', 0):,}"
        print(f"{PROVIDERS:,} providers came and went: descriptors {descriptors:+,}, conversations alive {alive}")
    left = difference(before, after)
    print("soak: nothing is left" if not left else "soak: left: " + ", ".join(left))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
