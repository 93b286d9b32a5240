"""What a client of the soak sends and reads: HTTP connections, and messages of 2026-07-28."""

import asyncio
import contextlib
import json
import re
import socket
import struct

MODERN, LEGACY = "2026-07-28", "2025-11-25"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.I)


class Gone(Exception):
    """The peer, or this side, ended the connection before the answer."""


class Wrong(Exception):
    """The peer has answered, but not as it must."""


def parsed(text):
    try:
        return json.loads(text)
    except ValueError as error:
        raise Wrong(f"an answer that is not JSON: {bytes(text)[:200]!r}") from error


def check(status, asked, message):
    """What every answer owes to the request with the id `asked`; none to a notification, and to GET and DELETE.
    A refusal of HTTP may have no message."""
    if asked is None or status in (429, 503) or status >= 400 and message is None:
        return
    what = f"status {status}, {json.dumps(message)[:200]}"
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Wrong(f"not a response of JSON-RPC: {what}")
    if ("result" in message) == ("error" in message):
        raise Wrong(f"not one of result and error: {what}")
    if status != 200 and "result" in message:
        raise Wrong(f"a result that is not 200: {what}")
    # What was wrong before the message was read is told without its id.
    if status >= 400 and message.get("id") is None:
        return
    if message.get("id") != asked or isinstance(message["id"], bool):
        raise Wrong(f"the id of another request than {asked}: {what}")


class HTTP:
    """One HTTP connection."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.writer = None
        # The id of the last request.
        self.asked = None

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
        self.asked = (body or {}).get("id")
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
        if not re.fullmatch(r"HTTP/1\.1 \d{3} ?.*", lines[0]):
            raise Wrong(f"not a status line: {lines[0][:200]!r}")
        return int(lines[0].split()[1]), {name.lower(): value for name, value in pairs}

    async def chunk(self):
        try:
            line = await self.reader.readuntil(b"\r\n")
            if not re.fullmatch(rb"[0-9A-Fa-f]+\r\n", line):
                raise Wrong(f"not the size of a chunk: {line[:200]!r}")
            data = await self.reader.readexactly(int(line, 16))
            await self.reader.readexactly(2)
            return data
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise Gone from error

    async def event(self):
        """The next message of an event stream."""
        text = b""
        while b"data:" not in text or not text.endswith(b"\n\n"):
            data = await self.chunk()
            if not data:
                raise Gone
            text += data
        return parsed(data_of(text.split(b"\n\n")[-2]))

    async def answer(self):
        """The status, the fields, and the message that answers."""
        status, fields = await self.head()
        if fields.get("transfer-encoding") == "chunked":
            text = b""
            while data := await self.chunk():
                text += data
            messages = [parsed(data_of(event)) for event in text.split(b"\n\n") if b"data:" in event]
            if any(is_response(message) for message in messages[:-1]):
                raise Wrong(f"something behind a response: {text[:200]!r}")
            message = messages[-1] if messages else None
            check(status, self.asked, message)
            return status, fields, message
        try:
            body = await self.reader.readexactly(int(fields.get("content-length", "0")))
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise Gone from error
        is_json = "json" in fields.get("content-type", "")
        message = parsed(body) if body and is_json else None
        check(status, self.asked, message)
        return status, fields, message

    async def finish(self):
        """Ends its side, after the last answer: nothing else may come."""
        try:
            self.writer.write_eof()
            rest = await self.reader.read()
        except ConnectionError as error:
            raise Gone from error
        if rest:
            raise Wrong(f"something behind the last answer: {rest[:200]!r}")

    async def plain(self, asked):
        """The answer with a length to a request with this id; none when there is no room."""
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
            length = LENGTH.search(head)
            body = await self.reader.readexactly(int(length.group(1)) if length else 0)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise Gone from error
        if head.startswith(b"HTTP/1.1 503"):
            return None
        message = parsed(body)
        check(int(head[9:12]), asked, message)
        return message


def is_response(message):
    return isinstance(message, dict) and ("result" in message or "error" in message)


def data_of(event):
    lines = event.splitlines()
    return b"\n".join(line[5:].strip() for line in lines if line.startswith(b"data:"))


def modern(method, params, number=1):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params, _meta=META)}


PIPELINE_BODY = json.dumps(modern("prompts/get", {"name": "say", "arguments": {"text": "WORD"}}))


def modern_fields(method, name=None):
    fields = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    if name:
        fields["Mcp-Name"] = name
    return fields


def text_of(message):
    """The text of a result, which is none of an error."""
    result = (message or {}).get("result") or {}
    content = result.get("content") or [{}]
    return "" if result.get("isError") else content[0].get("text", "")
