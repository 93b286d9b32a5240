#!/usr/bin/env python3
"""One call from a command line: mcp-client beside other clients, against one warm server over HTTP.

Usage: cli.py MCP-CLIENT MCP-SERVER [--install DIR]

The other clients come from PyPI: mcp-call (mcp-cli-skill), mcp2cli and fastmcp, as found in PATH or in the virtual
environment DIR, which --install creates. Those that are missing, or fail, are left out with a line that says so.
Prints the wall time and the processor time of one call: the least and the median.
"""
import argparse
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

PACKAGES = ["mcp-cli-skill", "mcp2cli", "fastmcp"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_server(program, port):
    server = subprocess.Popen(
        [program, "--demo", "--listen", f"127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return server
        except OSError:
            time.sleep(0.05)
    server.kill()
    sys.exit("cli.py: the server does not listen")


def measure(command, environment, rounds):
    """The wall and processor times of the command in milliseconds; the last output if it fails."""
    walls, processors = [], []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        run = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=120,
        )
        walls.append((time.perf_counter() - start) * 1000)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processors.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000)
        if run.returncode != 0 or "5" not in run.stdout:
            return None, run.stdout.strip().splitlines()[-1:] or ["no output"]
    return (walls, processors), None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("client")
    parser.add_argument("server")
    parser.add_argument("--install", metavar="DIR", help="create a virtual environment with the other clients")
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    paths = os.environ["PATH"]
    if options.install:
        if not os.path.exists(os.path.join(options.install, "bin", "pip")):
            subprocess.run([sys.executable, "-m", "venv", options.install], check=True)
            subprocess.run([os.path.join(options.install, "bin", "pip"), "install", "-q", *PACKAGES], check=False)
        paths = os.path.join(options.install, "bin") + os.pathsep + paths
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp"
    server = start_server(options.server, port)
    try:
        with tempfile.TemporaryDirectory() as home:
            environment = {"HOME": home, "PATH": paths, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
            compare(options, url, environment)
    finally:
        server.terminate()
        server.wait(timeout=30)


def compare(options, url, environment):
    few = max(3, options.rounds // 20)
    rows = [
        ("mcp-client", [options.client, "call", url, "add", "a=2", "b=3"], options.rounds),
        ("mcp-client --no-cache", [options.client, "--no-cache", "call", url, "add", "a=2", "b=3"], options.rounds),
        ("(starting a shell)", ["/bin/sh", "-c", "exec echo 5"], options.rounds),
        ("mcp-call", ["mcp-call", "demo", "add", "--a", "2", "--b", "3"], few),
        ("mcp2cli", ["mcp2cli", "--mcp", url, "add", "--a", "2", "--b", "3"], few),
        ("fastmcp", ["fastmcp", "call", url, "add", "a=2", "b=3"], few),
    ]
    print(f"{'client':<24}{'wall, least':>13}{'median':>10}{'processor':>12}")
    for name, command, rounds in rows:
        program = shutil.which(command[0], path=environment["PATH"])
        if not program:
            print(f"{name:<24}skipped: not installed")
            continue
        if name == "mcp-call":
            subprocess.run(
                [program, "--add-http", "demo", url], env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False,
            )
        command = [program, *command[1:]]
        measure(command, environment, 1)
        found, problem = measure(command, environment, rounds)
        if not found:
            print(f"{name:<24}skipped: {problem[0][:100]}")
            continue
        walls, processors = found
        print(
            f"{name:<24}{min(walls):>10.1f} ms"
            f"{statistics.median(walls):>7.1f} ms{statistics.median(processors):>9.1f} ms"
        )


main()
