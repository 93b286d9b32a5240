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

    async def plain(self):
        """The body of an answer with a length, as it came; none when there is no room."""
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
            length = LENGTH.search(head)
            body = await self.reader.readexactly(int(length.group(1)) if length else 0)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise Gone from error
        return None if head.startswith(b"HTTP/1.1 503") else body


def modern(method, params, number=1):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params, _meta=META)}


PIPELINE_BODY = json.dumps(modern("prompts/get", {"name": "say", "arguments": {"text": "WORD"}}))


def modern_fields(method, name=None):
    fields = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    if name:
        fields["Mcp-Name"] = name
    return fields


def text_of(message):
    content = ((message or {}).get("result") or {}).get("content") or [{}]
    return content[0].get("text", "")
