#!/usr/bin/env python3
"""What the audit log and the metrics add to the processor time (user and system) of an echo call over HTTP, with 64
connections: rounds of all variants in turns, each compared with the plain server of its own round.

Usage: observe.py MCP-SERVER [ROUNDS]
"""
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import clients
import run

HERE = os.path.dirname(os.path.abspath(__file__))
# The most that the row with metrics and audit log together may add, as a share of the plain server's time.
GOAL = 0.05
SECONDS = 3


def variants(folder):
    admin = ["--set", f"admin.listen=unix://{folder}/admin.sock"]
    audit = ["--set", f"observe.audit.file={folder}/audit.jsonl"]
    return {
        "plain": [],
        "metrics": admin,
        "metrics, audit log": [*admin, *audit],
        "metrics, chained audit log": [*admin, *audit, "--set", "observe.audit.chain=true"],
    }


def micros(server, options):
    """The processor time of one call in microseconds."""
    port = clients.free_port()
    process = subprocess.Popen(
        [server, "--demo", "--listen", f"127.0.0.1:{port}", *options], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    try:
        if not run.wait_for(port, process):
            sys.exit(f"the server does not listen: {options}")
        wrk = ["wrk", "-t1", "-c64", "-s", os.path.join(HERE, "call.lua"), f"http://127.0.0.1:{port}/mcp"]
        subprocess.run([*wrk, "-d1"], capture_output=True)
        before = run.processor_seconds(process.pid)
        text = subprocess.run([*wrk, f"-d{SECONDS}"], capture_output=True, text=True).stdout
        used = run.processor_seconds(process.pid) - before
        if "Non-2xx" in text or "Socket errors" in text:
            sys.exit(f"not every answer was good\n{text}")
        return used / int(re.search(r"(\d+) requests in", text).group(1)) * 1e6
    finally:
        process.terminate()
        process.wait(timeout=30)


def compare(server, rounds=5):
    if not shutil.which("wrk"):
        print("\nwrk is missing: the row about observation is left out")
        return True
    times = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            for name, options in variants(folder).items():
                times.setdefault(name, []).append(micros(server, options))
                if os.path.exists(f"{folder}/audit.jsonl"):
                    os.remove(f"{folder}/audit.jsonl")
    print(f"\nObservation, 64 connections, {rounds} rounds in turns\n{'':34}{'µs per call':>12}{'added':>9}")
    added = {}
    for name, values in times.items():
        added[name] = statistics.median(value / base for value, base in zip(values, times["plain"])) - 1
        print(f"{name:34}{statistics.median(values):12.2f}{added[name]:>9.1%}", flush=True)
    isGood = added["metrics, audit log"] <= GOAL
    if not isGood:
        print(f"metrics and audit log add more than {GOAL:.0%}")
    return isGood


if __name__ == "__main__":
    sys.exit(0 if compare(os.path.abspath(sys.argv[1]), *map(int, sys.argv[2:3])) else 1)
