#!/usr/bin/env python3
"""Resident memory for each idle stream and each idle connection of mcp-server.

streams.py PROGRAM [STREAMS [CONNECTIONS]]: opens subscriptions of 2026-07-28, GET streams of 2025-11-25 and
keep-alive connections that were answered once, and divides what the process has grown by."""
import json
import re
import resource
import socket
import subprocess
import sys
import time

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def resident(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) * 1024


def start(program, port):
    # As many connections as the machine lets one process have.
    return spawn([program, "--demo", "--listen", f"127.0.0.1:{port}", "--set", "limits.connections=100000"], port)


def spawn(command, port):
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    for _ in range(500):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return server
        except OSError:
            time.sleep(0.01)
    raise SystemExit("the server did not start")


def ask(sock, port, head, body, wanted):
    text = json.dumps(body) if body else ""
    lines = [head, f"Host: 127.0.0.1:{port}", "Accept: application/json, text/event-stream"]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(text)}"]
    sock.sendall(("\r\n".join(lines) + "\r\n\r\n" + text).encode())
    got = b""
    while wanted not in got:
        piece = sock.recv(65536)
        if not piece:
            raise SystemExit(f"closed: {got[:300]}")
        got += piece
    return got


def listen(sock, port, number):
    body = {"jsonrpc": "2.0", "id": number, "method": "subscriptions/listen",
            "params": {"notifications": {"toolsListChanged": True}, "_meta": META}}
    head = "POST /mcp HTTP/1.1\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen"
    ask(sock, port, head, body, b"acknowledged")


def session(sock, port, number):
    body = {"jsonrpc": "2.0", "id": number, "method": "initialize",
            "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}}
    opened = ask(sock, port, "POST /mcp HTTP/1.1", body, b"serverInfo")
    name = re.search(rb"(?i)mcp-session-id: (\S+)", opened).group(1).decode()
    ask(sock, port, f"GET /mcp HTTP/1.1\r\nMcp-Session-Id: {name}", None, b"id: ")


def call(sock, port, number, tool="echo", arguments={"text": "hello"}, wanted=b"hello"):
    body = {"jsonrpc": "2.0", "id": number, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments, "_meta": META}}
    head = f"POST /mcp HTTP/1.1\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}"
    ask(sock, port, head, body, wanted)


def measure(program, title, open_one, count, port):
    server = start(program, port)
    try:
        sockets = []

        def grow(number):
            for index in range(number):
                sock = socket.create_connection(("127.0.0.1", port), 20)
                open_one(sock, port, index)
                sockets.append(sock)
            # Buffers are given back after two seconds of rest, and to the system a second later.
            time.sleep(5)
            return resident(server.pid)

        before = grow(100)
        after = grow(count)
        print(f"{title:28} {count:6}  {(after - before) / count / 1024:6.2f} KiB each, {after / 2**20:.1f} MiB in all")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    streams = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    connections = min(int(sys.argv[3]) if len(sys.argv) > 3 else 9_800, hard - 1000)
    measure(sys.argv[1], "subscriptions (2026-07-28)", listen, streams, 18901)
    measure(sys.argv[1], "GET streams (2025-11-25)", session, streams, 18902)
    measure(sys.argv[1], "idle connections", call, connections, 18903)
