#!/usr/bin/env python3
"""Instructions and heap allocations that one tools/call costs, in the server and in the client, against a committed
baseline, and the processor time of the client beside that of a client in C.

Instructions and allocations are counted by valgrind, so the figures hardly change on a noisy machine: a run with many
calls minus a run with few, divided by the difference. Usage: guard.py MCP-SERVER BENCHMARK-CLIENT [--write]
"""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import clients

HERE = os.path.dirname(os.path.abspath(__file__))
BASELINE = os.path.join(HERE, "baseline.json")
FEW, MANY = 500, 4500
# A different compiler places instructions differently; a new allocation or a second scan costs far more.
TOLERANCE = 1.10
# The processor time of the client divided by that of the C client, by the number of calls in flight.
MOST = {1: 2.2, 64: 2.0}

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1.0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


HEAD = (
    "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
    "Mcp-Method: tools/call\r\nMcp-Name: echo\r\n{token}Content-Length: {length}\r\n\r\n")


def call(number):
    params = {"name": "echo", "arguments": {"text": "hello world"}, "_meta": META}
    return json.dumps(
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}, separators=(",", ":"))


def valgrind(tool, log, *command):
    options = ["--tool=" + tool, "--log-file=" + log]
    options += ["--leak-check=no"] if tool == "memcheck" else ["--callgrind-out-file=/dev/null"]
    return ["valgrind", *options, *command]


def figure(tool, log):
    with open(log) as file:
        text = file.read()
    pattern = r"total heap usage: ([\d,]+) allocs" if tool == "memcheck" else r"Collected : ([\d,]+)"
    found = re.search(pattern, text)
    if not found:
        sys.exit("valgrind printed no figure:\n" + text[-2000:])
    return int(found.group(1).replace(",", ""))


def over_stdio(tool, log, server, count):
    lines = "".join(call(number) + "\n" for number in range(count)).encode()
    done = subprocess.run(
        valgrind(tool, log, server, "--demo", "--stdio"), input=lines, capture_output=True, timeout=300)
    if done.stdout.count(b"\n") != count or b'"error"' in done.stdout:
        sys.exit("the server did not answer every call")


def over_http(tool, log, server, count, token="", words=()):
    port = clients.free_port()
    process = subprocess.Popen(
        valgrind(tool, log, server, "--demo", "--listen", f"127.0.0.1:{port}", *words), stderr=subprocess.DEVNULL)
    try:
        with connect(port) as connection:
            answers = connection.makefile("rb")
            for number in range(count):
                # Head and body in one segment, as a client that cares sends them.
                body = call(number).encode()
                connection.sendall(HEAD.format(port=port, length=len(body), token=token).encode() + body)
                read_answer(answers)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def with_token(tool, log, server, count):
    """Over HTTP with a token of the server."""
    with tempfile.TemporaryDirectory() as folder:
        tokens, configuration = f"{folder}/tokens.json", f"{folder}/mcp.json"
        with open(configuration, "w") as file:
            json.dump({"auth": {"tokens": tokens}}, file)
        command = [server, "token", "new", "bench", "--allow", "*", "-c", configuration]
        token = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        field = f"Authorization: Bearer {token}\r\n"
        over_http(tool, log, server, count, field, ["--set", f"auth.tokens={tokens}"])


def over_client(tool, log, server, count):
    """`MCPClient.call` on its own executor, eight at a time."""
    with clients.Server(server) as running:
        command = valgrind(tool, log, CLIENT, running.url, str(count), "8", "loop")
        done = subprocess.run(command, capture_output=True, timeout=300)
    if done.returncode:
        sys.exit(f"the client failed:\n{done.stderr.decode()[-2000:]}")


def connect(port):
    for _ in range(600):
        try:
            return socket.create_connection(("127.0.0.1", port), 30)
        except ConnectionRefusedError:
            time.sleep(0.05)
    sys.exit("the server does not listen")


def read_answer(answers):
    status = answers.readline()
    length = 0
    while (line := answers.readline()) not in (b"\r\n", b""):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    body = answers.read(length)
    if b" 200 " not in status or b'"error"' in body:
        sys.exit(f"{status!r} {body[:300]!r}")


def measure(server):
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        for name, drive in (
                ("stdio", over_stdio), ("http", over_http), ("token", with_token), ("client", over_client)):
            for tool, unit in (("callgrind", "instructions"), ("memcheck", "allocations")):
                counts = []
                for count in (FEW, MANY):
                    drive(tool, log, server, count)
                    counts.append(figure(tool, log))
                figures[f"{name} {unit}"] = max(0, round((counts[1] - counts[0]) / (MANY - FEW), 2))
    return figures


def beside_c():
    """Whether the client takes no more than its share beside a client in C."""
    with tempfile.TemporaryDirectory() as folder:
        c_client = clients.compiled(folder)
        if not c_client:
            print("there is no C compiler: the client is not compared")
            return True
        is_good = True
        for concurrency, most in MOST.items():
            factor = clients.against_c(sys.argv[1], CLIENT, c_client, concurrency)[2]
            is_good &= factor <= most
            verdict = "" if factor <= most else "   TOO MUCH"
            print(f"client / C, {concurrency:2} at a time{factor:>8.2f}{most:>11g}{verdict}")
    return is_good


CLIENT = sys.argv[2]


def main():
    figures = measure(sys.argv[1])
    if "--write" in sys.argv:
        with open(BASELINE, "w") as file:
            json.dump(figures, file, indent=2)
            file.write("\n")
    with open(BASELINE) as file:
        baseline = json.load(file)
    failed = False
    print("per tools/call          now   baseline")
    for name, now in figures.items():
        if name not in baseline:
            print(f"{name:20}{now:>8g}          -")
            continue
        before = baseline[name]
        # Growing tables allocate now and then: a twentieth of an allocation is none.
        limit = before * TOLERANCE if name.endswith("instructions") else before + 0.05
        verdict = "" if now <= limit else "   TOO MUCH"
        failed |= now > limit
        print(f"{name:20}{now:>8g}{before:>11g}{verdict}")
    failed |= not beside_c()
    sys.exit(1 if failed else 0)


main()
