#!/usr/bin/env python3
"""Instructions and heap allocations that one tools/call costs, against a committed baseline.

Counted by valgrind, so the figures hardly change on a noisy machine: a run with many calls minus a run with few,
divided by the difference. Usage: guard.py MCP-SERVER [--write]
"""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BASELINE = os.path.join(HERE, "baseline.json")
FEW, MANY = 500, 4500
# A different compiler places instructions differently; a new allocation or a second scan costs far more.
TOLERANCE = 1.10

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1.0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def call(number):
    params = {"name": "echo", "arguments": {"text": "hello world"}, "_meta": META}
    return json.dumps(
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}, separators=(",", ":"))


def valgrind(tool, log, server, *arguments):
    options = ["--tool=" + tool, "--log-file=" + log]
    options += ["--leak-check=no"] if tool == "memcheck" else ["--callgrind-out-file=/dev/null"]
    return ["valgrind", *options, server, "--demo", *arguments]


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
        valgrind(tool, log, server, "--stdio"), input=lines, capture_output=True, timeout=300)
    if done.stdout.count(b"\n") != count or b'"error"' in done.stdout:
        sys.exit("the server did not answer every call")


def over_http(tool, log, server, count):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        valgrind(tool, log, server, "--listen", f"127.0.0.1:{port}"), stderr=subprocess.DEVNULL)
    try:
        connection = connect(port)
        headers = {
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo",
        }
        for number in range(count):
            connection.request("POST", "/mcp", call(number), headers)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200 or b'"error"' in body:
                sys.exit(f"HTTP {answer.status}: {body[:300]!r}")
        connection.close()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def connect(port):
    for _ in range(600):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.connect()
            return connection
        except ConnectionRefusedError:
            time.sleep(0.05)
    sys.exit("the server does not listen")


def measure(server):
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        for name, drive in (("stdio", over_stdio), ("http", over_http)):
            for tool, unit in (("callgrind", "instructions"), ("memcheck", "allocations")):
                counts = []
                for count in (FEW, MANY):
                    drive(tool, log, server, count)
                    counts.append(figure(tool, log))
                figures[f"{name} {unit}"] = round((counts[1] - counts[0]) / (MANY - FEW), 2)
    return figures


def main():
    figures = measure(sys.argv[1])
    if "--write" in sys.argv:
        with open(BASELINE, "w") as file:
            json.dump(figures, file, indent=2)
            file.write("\n")
    with open(BASELINE) as file:
        baseline = json.load(file)
    failed = False
    print("per tools/call        now   baseline")
    for name, now in figures.items():
        before = baseline[name]
        # Growing tables allocate now and then: a twentieth of an allocation is none.
        limit = before * TOLERANCE if name.endswith("instructions") else before + 0.05
        verdict = "" if now <= limit else "   TOO MUCH"
        failed |= now > limit
        print(f"{name:18}{now:>8g}{before:>11g}{verdict}")
    sys.exit(1 if failed else 0)


main()
