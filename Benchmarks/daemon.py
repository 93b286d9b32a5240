#!/usr/bin/env python3
"""What the daemon itself costs: a command as a tool beside the same `posix_spawn` in C, a call to a server behind it,
and the start with many files. Ratios are medians of alternating rounds.

Usage: daemon.py MCP-SERVER
"""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import clients
import run

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = 5
# A command as a tool, divided by the C program; microseconds of a call to a server behind this one; milliseconds until
# ready with so many files.
MOST_RATIO, MOST_UPSTREAM, MOST_READY, FILES = 1.3, 60, 5, 20_000


class Daemon:
    """`mcp-server` with a configuration, while the block runs."""

    def __init__(self, server, folder, configuration):
        self.port = clients.free_port()
        self.path = os.path.join(folder, "mcp.jsonc")
        with open(self.path, "w") as file:
            json.dump(configuration, file)
        self.command = [server, "-c", self.path, "--listen", f"127.0.0.1:{self.port}", "--log-level", "error"]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not run.wait_for(self.port, self.process):
            sys.exit("the server does not listen")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=30)

    def seconds(self, children=False):
        """The processor time of the daemon, and of the commands that it has waited for."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = [int(text) for text in file.read().rpartition(")")[2].split()[11:15]]
        return sum(fields if children else fields[:2]) / os.sysconf("SC_CLK_TCK")

    def load(self, tool, connections, seconds):
        """Calls per second, and processor seconds of the daemon alone and with its commands for each."""
        wrk = ["wrk", "-t1", f"-c{connections}", "-s", os.path.join(HERE, "call.lua"),
               f"http://127.0.0.1:{self.port}/mcp"]
        environment = {**os.environ, "TOOL": tool}
        subprocess.run([*wrk, "-d1"], capture_output=True, env=environment)
        own, all_ = self.seconds(), self.seconds(children=True)
        text = subprocess.run([*wrk, f"-d{seconds}"], capture_output=True, text=True, env=environment).stdout
        # What the last calls started is waited for, too.
        time.sleep(0.1)
        calls = int(re.search(r"(\d+) requests in", text).group(1))
        if "Non-2xx" in text or "Socket errors" in text:
            sys.exit(f"not every answer was good\n{text}")
        return calls / seconds, (self.seconds() - own) / calls, (self.seconds(children=True) - all_) / calls


def spawner(folder):
    """The C program; None without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        return None
    program = os.path.join(folder, "spawn")
    subprocess.run([compiler, "-O2", "-o", program, os.path.join(HERE, "peers", "spawn.c")], check=True)
    return program


def commands(server, folder):
    program = spawner(folder)
    if not program:
        print("there is no C compiler: commands are not compared")
        return True
    true, count = shutil.which("true"), 2_000
    rates, ours, theirs, speeds = [], [], [], []
    text = {"text": {"type": "string"}}
    with Daemon(server, folder, {"tools": {"run": {"input": text, "exec": [true]}}}) as daemon:
        for _ in range(ROUNDS):
            begun = time.monotonic()
            done = subprocess.run([program, str(count), true], capture_output=True, text=True, check=True)
            speeds.append(count / (time.monotonic() - begun))
            theirs.append(sum(map(float, done.stdout.split())) / count)
            rate, _, cost = daemon.load("run", 1, 3)
            rates.append(rate)
            ours.append(cost)
    ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    print(f"\nA command as a tool, one at a time\n{'':34}{'calls':>12}{'CPU µs':>10}{'ratio':>8}")
    print(f"{'posix_spawn in C':34}{statistics.median(speeds):10.0f}/s{statistics.median(theirs) * 1e6:10.0f}{1:8.2f}")
    print(f"{'mcp-server':34}{statistics.median(rates):10.0f}/s{statistics.median(ours) * 1e6:10.0f}{ratio:8.2f}")
    return report(ratio <= MOST_RATIO, f"a command costs more than {MOST_RATIO} times the C program")


def upstream(server, folder):
    print(f"\nA call to a server behind the daemon, HTTP to stdio\n{'':34}{'calls':>12}{'its CPU µs':>12}")
    behind = {"mcpServers": {"demo": {"command": server, "args": ["--demo", "--stdio"]}}}
    costs = []
    with Daemon(server, folder, behind) as daemon:
        for connections in (1, 64):
            # The median of rounds: others use this machine, too.
            rounds = [daemon.load("echo", connections, 3) for _ in range(3)]
            rate, cost = statistics.median(r[0] for r in rounds), statistics.median(r[1] for r in rounds) * 1e6
            costs.append(cost)
            print(f"{f'{connections} at a time':34}{rate:10.0f}/s{cost:12.1f}", flush=True)
    return report(min(costs) <= MOST_UPSTREAM, f"a call costs the daemon more than {MOST_UPSTREAM} µs")


def ready(server, folder):
    root = os.path.join(folder, "files")
    for number in range(FILES):
        place = os.path.join(root, f"{number // 200:03}")
        if number % 200 == 0:
            os.makedirs(place)
        with open(os.path.join(place, f"{number:05}.md"), "w"):
            pass
    times = []
    path = os.path.join(folder, "files.jsonc")
    with open(path, "w") as file:
        json.dump({"files": {"docs": {"root": root}}}, file)
    for _ in range(2 * ROUNDS):
        process = subprocess.Popen([server, "-c", path, "--listen", f"127.0.0.1:{clients.free_port()}"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in process.stderr:
            if found := re.search(r"ready in (\d+) ms", line):
                times.append(int(found.group(1)))
                break
        process.terminate()
        process.communicate(timeout=30)
    if not times:
        sys.exit("the server does not say when it is ready")
    print(f"\nReady with {FILES:,} files: {min(times)} ms at least, {statistics.median(times):.0f} ms in the middle")
    return report(min(times) <= MOST_READY, f"more than {MOST_READY} ms until ready")


def report(is_good, text):
    if not is_good:
        print(f"missed: {text}")
    return is_good


def compare(server):
    if not shutil.which("wrk"):
        print("\nwrk is missing: the rows about commands and servers behind the daemon are left out")
        return True
    with tempfile.TemporaryDirectory() as folder:
        return all([commands(server, folder), upstream(server, folder), ready(server, folder)])


if __name__ == "__main__":
    sys.exit(0 if compare(os.path.abspath(sys.argv[1])) else 1)
