"""The clients of a soak: each connects, asks, judges what it is answered, and leaves in some way."""

import asyncio
import contextlib
import json
import os
import signal

from wire import HTTP, LEGACY, MODERN, PIPELINE_BODY, Wrong, check, modern, modern_fields, parsed, text_of

# Requests of a pipelining client in one write.
PIPELINED = 40


class Clients:
    # Clients of 2026-07-28.

    async def modern_client(self):
        http = await HTTP(self.daemon).open(self.chance.random() < 0.5)
        self.ledger.add("modern clients")
        try:
            for _ in range(self.chance.randint(1, 6)):
                word = self.word()
                http.send(
                    "POST",
                    modern_fields("tools/call", "echo"),
                    modern("tools/call", {"name": "echo", "arguments": {"text": word}}),
                )
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
                        "POST", modern_fields("resources/read", uri), modern("resources/read", {"uri": uri})
                    )
                    _, _, message = await http.answer()
                    contents = ((message or {}).get("result") or {}).get("contents") or [{}]
                    self.ledger.judge("modern read", f"text of {number}", contents[0].get("text"))
            await http.finish()
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
                http.send(
                    "POST", modern_fields("resources/read", uri), modern("resources/read", {"uri": uri})
                )
                status, _, message = await http.answer()
                if status == 503:
                    return self.ledger.add("refused for want of room")
                contents = ((message or {}).get("result") or {}).get("contents") or [{}]
                self.ledger.judge("hasty read", f"text of {number}", contents[0].get("text"))
            await http.finish()
        finally:
            http.close()

    async def pipelining_client(self):
        """Many requests in one write, each with a text of its own; the answers come in their order."""
        http = await HTTP(self.daemon).open(self.chance.random() < 0.5)
        self.ledger.add("pipelining clients")
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{self.daemon.port}\r\n"
            "Accept: application/json, text/event-stream\r\n"
            f"Content-Type: application/json\r\nMCP-Protocol-Version: {MODERN}\r\nMcp-Method: prompts/get\r\n"
            "Mcp-Name: say\r\nContent-Length: "
        )
        try:
            for _ in range(self.chance.randint(1, 8)):
                words = [self.word() for _ in range(PIPELINED)]
                bodies = [PIPELINE_BODY.replace("WORD", word) for word in words]
                http.writer.write("".join(f"{head}{len(body)}\r\n\r\n{body}" for body in bodies).encode())
                if self.chance.random() < 0.05:
                    return http.close(reset=True)
                for word in words:
                    answer = await http.plain(1)
                    if answer is None:
                        return self.ledger.add("refused for want of room")
                    said = [one["content"]["text"] for one in (answer.get("result") or {}).get("messages", [])]
                    self.ledger.judge("pipelined call", [word], said)
            await http.finish()
        finally:
            http.close(reset=self.chance.random() < 0.3)

    async def noting_client(self):
        """A call that must not be executed twice."""
        http = await HTTP(self.daemon).open(self.chance.random() < 0.5)
        word = self.word()
        try:
            http.send(
                "POST",
                modern_fields("tools/call", "note"),
                modern("tools/call", {"name": "note", "arguments": {"text": word}}),
            )
            status, _, message = await http.answer()
            if status == 503:
                return self.ledger.add("refused for want of room")
            self.ledger.judge("note", word, text_of(message))
            self.daemon.notes.answered.append(word)
            await http.finish()
        finally:
            http.close()

    async def listener(self):
        http = await HTTP(self.daemon).open(self.chance.random() < 0.5)
        self.ledger.add("listeners")
        try:
            http.send(
                "POST",
                modern_fields("subscriptions/listen"),
                modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}}),
            )
            status, _ = await http.head()
            if status == 503:
                return self.ledger.add("refused for want of room")
            self.ledger.judge("event stream", 200, status)
            if status == 200 and self.chance.random() < 0.8:
                first = await http.event()
                expected = "notifications/subscriptions/acknowledged"
                self.ledger.judge("acknowledgement of a stream", expected, first.get("method"))
            await self.pause(0.3)
        finally:
            http.close(reset=self.chance.random() < 0.5)

    async def canceller(self):
        """Goes while its command runs."""
        http = await HTTP(self.daemon).open(self.chance.random() < 0.5)
        self.ledger.add("calls that were given up")
        try:
            tool = self.chance.choice(["rest", "rest", "loud"])
            arguments = {} if tool == "loud" else {"text": "30"}
            http.send(
                "POST",
                modern_fields("tools/call", tool),
                modern("tools/call", {"name": tool, "arguments": arguments}),
            )
            await self.pause(0.4)
        finally:
            http.close(reset=self.chance.random() < 0.5)

    async def killed_command(self):
        """Its command is killed by somebody else: the answer says so."""
        http = await HTTP(self.daemon).open(self.chance.random() < 0.5)
        try:
            self.number += 1
            seconds = f"30.{self.number:06}"
            http.send(
                "POST",
                modern_fields("tools/call", "rest"),
                modern("tools/call", {"name": "rest", "arguments": {"text": seconds}}),
            )
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
            if status == 503:
                return self.ledger.add("refused for want of room")
            self.ledger.judge("killed command", True, ((message or {}).get("result") or {}).get("isError"))
        finally:
            http.close()

    async def unfinished(self):
        """Sends a part of a request."""
        http = await HTTP(self.daemon).open(self.chance.random() < 0.5)
        self.ledger.add("requests that were never finished")
        text = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        text += b"Content-Length: 90\r\n\r\n{"
        http.writer.write(text[: self.chance.randrange(1, len(text) + 1)])
        await self.pause()
        http.close(reset=self.chance.random() < 0.5)

    # Clients of 2025-11-25, with sessions.

    async def session(self, session=None):
        """A connection, and the fields of a session: this one, or a new one; none when there is no room."""
        http = await HTTP(self.daemon).open(self.chance.random() < 0.5)
        if session:
            return http, session
        params = {
            "protocolVersion": LEGACY,
            "capabilities": {},
            "clientInfo": {"name": "soak", "version": "1"},
        }
        http.send("POST", {}, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        status, fields, _ = await http.answer()
        if status == 503:
            self.ledger.add("refused for want of room")
            return http, None
        if "mcp-session-id" not in fields:
            raise Wrong(f"an initialize that opens no session: status {status}")
        session = {"Mcp-Session-Id": fields["mcp-session-id"], "MCP-Protocol-Version": LEGACY}
        http.send("POST", session, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        status, _, _ = await http.answer()
        if status != 503:
            self.ledger.judge("notification", 202, status)
        return http, session

    async def session_call(self, http, session, number):
        """Whether there was room for a call, which is judged."""
        word = self.word()
        call = {"name": "echo", "arguments": {"text": word}}
        http.send("POST", session, {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
        status, _, message = await http.answer()
        if status == 503:
            self.ledger.add("refused for want of room")
        else:
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
                status, _ = await stream.head()
                self.ledger.judge("stream of a session", True, status in (200, 503))
            for number in range(1, self.chance.randint(2, 5)):
                if self.chance.random() < 0.1:
                    call = {"name": "echo", "arguments": {"text": "x"}}
                    return http.send(
                        "POST",
                        session,
                        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call},
                    )
                await self.session_call(http, session, number)
            if self.chance.random() < 0.6:
                http.send("DELETE", session, None)
                status, _, _ = await http.answer()
                self.ledger.judge("end of a session", 204, status)
                self.abandoned.remove(session)
                await http.finish()
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
            self.daemon.program,
            "--stdio",
            "-c",
            self.daemon.config,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=self.daemon.environment(self.daemon.pipe_mark),
        )
        self.ledger.add("programs on a pipe")
        try:
            for number in range(1, 4):
                word = self.word()
                call = modern("tools/call", {"name": "echo", "arguments": {"text": word}}, number)
                process.stdin.write(json.dumps(call).encode() + b"\n")
                if self.chance.random() < 0.1:
                    return
                line = await process.stdout.readline()
                message = parsed(line)
                check(200, number, message)
                self.ledger.judge("call over a pipe", word, text_of(message))
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
        place = self.chance.choice(
            [f"unix://{self.daemon.socket}", f"http://127.0.0.1:{self.daemon.port}/mcp", None]
        )
        arguments = [place, *call] if place else [*call, *own]
        process = await asyncio.create_subprocess_exec(
            self.daemon.client,
            "call",
            "--raw",
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self.daemon.environment(self.daemon.pipe_mark),
        )
        self.ledger.add("runs of mcp-client")
        if is_ended:
            await self.pause(0.4)
            # Whoever kills it leaves its program to end by itself.
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(self.chance.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
        output, errors = await asyncio.wait_for(process.communicate(), 30)
        if is_ended:
            self.ledger.add("kills")
        elif process.returncode == 0 or (b"HTTP 503" not in errors and not self.was_disturbed(disturbances)):
            self.ledger.judge("call of mcp-client", (0, word), (process.returncode, output.decode().strip()))
