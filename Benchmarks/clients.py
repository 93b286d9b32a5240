"""Clients against one server: the processor time of each per 100,000 calls, side by side in alternating rounds.

Usage: clients.py MCP-SERVER BENCHMARK-CLIENT. The C client is compiled with `cc`; it is left out, with a line that says
so, where there is no compiler.
"""
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = os.path.join(HERE, "peers")
ROUNDS, CALLS, FEW_CALLS = 7, 20_000, 500


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process):
    """Waits until a server listens."""
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.05)
    sys.exit("the server does not listen")


class Server:
    """`mcp-server --demo` on a port of its own, while the block runs."""

    def __init__(self, program):
        self.program, self.port = program, free_port()

    def __enter__(self):
        command = [self.program, "--demo", "--listen", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.port, self.process)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=30)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/mcp"


def compiled(folder):
    """The C client; None without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    program = os.path.join(folder, "client")
    if not compiler or not sys.platform.startswith("linux"):
        return None
    subprocess.run([compiler, "-O2", "-o", program, os.path.join(PEERS, "client.c")], check=True)
    return program


def rounds(server, commands, count):
    """The results of each command, in rounds whose order alternates; the first round does not count."""
    results = {name: [] for name in commands}
    with Server(server) as running:
        for number in range(ROUNDS + 1):
            names = list(commands)[:: 1 if number % 2 else -1]
            for name in names:
                done = subprocess.run(commands[name](running), capture_output=True, text=True, timeout=600)
                if done.returncode:
                    sys.exit(f"{name}: {done.stderr[-2000:]}")
                if number:
                    results[name].append(json.loads(done.stdout))
    return results


def seconds(result):
    return result["user"] + result["system"]


def ratio(ours, theirs):
    """The median of the ratios of the rounds."""
    return statistics.median(seconds(a) / seconds(b) for a, b in zip(ours, theirs))


def against_c(server, client, c_client, concurrency, mode="loop"):
    """The results of the C client and of this project's, and the ratio of their processor times."""
    count = CALLS if concurrency > 1 else CALLS // 2
    commands = {
        "c": lambda running: [c_client, str(running.port), str(count), str(concurrency)],
        "ours": lambda running: [client, running.url, str(count), str(concurrency), mode],
    }
    results = rounds(server, commands, count)
    return results["c"], results["ours"], ratio(results["ours"], results["c"])


def line(name, results, against=""):
    total = statistics.median(map(seconds, results))
    user = statistics.median(result["user"] for result in results)
    speed = statistics.median(result["perSecond"] for result in results)
    print(f"{name:44}{speed:10.0f}/s{total:8.2f}{user:8.2f}{against:>10}", flush=True)


def compare(server, client, python=None):
    """The table; `python` is an interpreter that has the official SDK."""
    with tempfile.TemporaryDirectory() as folder:
        c_client = compiled(folder)
        if not c_client:
            print("\nThere is no C compiler: the comparison of clients is left out")
            return
        for concurrency in (1, 64):
            print(f"\nClients, HTTP, {concurrency} at a time\n{'':44}{'calls':>12}{'CPU s':>8}{'user':>8}{'ratio':>10}")
            theirs, ours, factor = against_c(server, client, c_client, concurrency)
            line("C, epoll", theirs, "1")
            line("MCPClient on its own executor", ours, f"{factor:.2f}")
            theirs, ours, factor = against_c(server, client, c_client, concurrency, "pool")
            line("MCPClient from the executor of the runtime", ours, f"{factor:.2f}")
            if python:
                script = os.path.join(PEERS, "python_client.py")
                with Server(server) as running:
                    command = [python, script, running.url, str(FEW_CALLS), str(concurrency)]
                    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
                if done.returncode:
                    print("official Python SDK: " + done.stderr.strip().splitlines()[-1])
                else:
                    result = json.loads(done.stdout)
                    line("official Python SDK", [result], f"{seconds(result) / seconds(theirs[0]):.0f}")


if __name__ == "__main__":
    compare(sys.argv[1], sys.argv[2])
