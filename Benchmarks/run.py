#!/usr/bin/env python3
"""One table: this project's server beside those that a user can install, driven by `mcp-client bench`.

Usage: run.py DIRECTORY-WITH-mcp-server-AND-mcp-client BENCHMARK-SERVER BENCHMARK-CLIENT
Servers that are not installed are left out, with a line that says so. Times never make it fail.
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import authorization
import clients

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = os.path.join(HERE, "peers")
VENV = os.environ.get("MCP_BENCH_VENV", os.path.join(tempfile.gettempdir(), "mcp-bench-venv"))
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def wait_for(port, process):
    for _ in range(300):
        if process.poll() is not None:
            return False
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            return True
        except OSError:
            time.sleep(0.1)
    return False


def bench(client, count, concurrency, target, tail=()):
    command = [client, "--json", "bench", "-n", str(count), "-c", str(concurrency)]
    done = subprocess.run([*command, *target, "echo", "text=hello world", *tail], capture_output=True, timeout=900)
    if done.returncode:
        print("  ", done.stderr.decode().strip())
        return None
    return json.loads(done.stdout)


def row(name, result, base=None):
    if result is None:
        return
    calls = result["ok"] + result["errors"]
    cpu = result.get("serverProcessorSeconds")
    per = f"{cpu / calls * 1e5:8.2f}" if cpu and cpu >= 0.1 else "       ?"
    ratio = ""
    if base and cpu and base.get("serverProcessorSeconds"):
        ours = base["serverProcessorSeconds"] / (base["ok"] + base["errors"])
        ratio = f"{cpu / calls / ours:8.1f}x"
    times = result["milliseconds"]
    print(f"{name:34}{result['perSecond']:10.0f}/s{times['p50']:9.3f}{times['p99']:9.3f}{per}{ratio:>10}", flush=True)


def measure(title, servers, client, drive):
    print(f"\n{title}\n{'':34}{'calls':>12}{'p50 ms':>9}{'p99 ms':>9}{'CPU s':>8}{'CPU ratio':>10}")
    base = None
    for name, counts, command in servers:
        result = drive(client, counts, command)
        row(name, result, base)
        base = base or result


def over_stdio(client, counts, command):
    return bench(client, counts, 1, [], ["--", *command("stdio")])


def over_http(concurrency):
    def drive(client, counts, command):
        port = clients.free_port()
        process = subprocess.Popen(command(str(port)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            if not wait_for(port, process):
                print("   the server does not listen")
                return None
            return bench(client, counts, concurrency, [f"http://127.0.0.1:{port}/mcp"])
        finally:
            process.terminate()
            process.wait(timeout=30)
    return drive


NGINX = """
daemon off; worker_processes 1; pid {folder}/pid; error_log /dev/null crit;
events {{ worker_connections 1024; }}
http {{ access_log off; keepalive_requests 100000000; client_body_temp_path {folder}; proxy_temp_path {folder};
  fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{ listen 127.0.0.1:{port}; location / {{ default_type application/json;
    return 200 '{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"hello world"}}]}}}}'; }} }} }}
"""


def processor_seconds(pid):
    """Of a process and its children."""
    total = 0.0
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(entry) == pid or int(fields[1]) == pid:
                total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def against_nginx(server):
    """Both under the same load generator: nginx answers a constant, mcp-server calls a tool."""
    if not shutil.which("nginx") or not shutil.which("wrk"):
        print("\nnginx or wrk is missing: the row with a constant answer is left out")
        return
    print(f"\nThe same load from wrk, 64 connections\n{'':34}{'calls':>12}{'CPU s per 100k':>16}")
    with tempfile.TemporaryDirectory() as folder:
        port = clients.free_port()
        config = os.path.join(folder, "nginx.conf")
        with open(config, "w") as file:
            file.write(NGINX.format(folder=folder, port=port))
        constant = ["nginx", "-c", config, "-p", folder, "-e", "/dev/null"]
        loads("nginx, a constant answer", constant, port)
        port = clients.free_port()
        loads("mcp-server", [server, "--demo", "--listen", f"127.0.0.1:{port}"], port)


def loads(name, command, port, tool="echo"):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        if not wait_for(port, process):
            print(f"{name}: does not listen")
            return
        wrk = ["wrk", "-t1", "-c64", "-s", os.path.join(HERE, "call.lua"), f"http://127.0.0.1:{port}/mcp"]
        environment = {**os.environ, "TOOL": tool}
        subprocess.run([*wrk, "-d1"], capture_output=True, env=environment)
        before = processor_seconds(process.pid)
        text = subprocess.run([*wrk, "-d4"], capture_output=True, text=True, env=environment).stdout
        used = processor_seconds(process.pid) - before
        calls = int(re.search(r"(\d+) requests in", text).group(1))
        if "Non-2xx" in text or "Socket errors" in text:
            print(f"{name}: not every answer was good\n{text}")
        print(f"{name:34}{calls / 4:10.0f}/s{used / calls * 1e5:16.2f}", flush=True)
    finally:
        process.terminate()
        process.wait(timeout=30)


def pipelined(command, tool, count):
    """Server processor seconds for so many calls that are all written at once."""
    def line(number):
        params = {"name": tool, "arguments": {"text": "hello world"}, "_meta": META}
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}) + "\n"
    data = "".join(map(line, range(count))).encode()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    writer = threading.Thread(target=lambda: (process.stdin.write(data), process.stdin.close()))
    writer.start()
    answers = 0
    while chunk := process.stdout.read1(1 << 20):
        answers += chunk.count(b"\n")
    writer.join()
    _, _, usage = os.wait4(process.pid, 0)
    if answers != count:
        sys.exit(f"{count} calls, {answers} answers")
    return usage.ru_utime + usage.ru_stime


def forms(server):
    """What a typed and an asynchronous tool cost beside a raw one."""
    print(f"\nForms of a tool (stdio, pipelined)\n{'':34}{'CPU s per 100k':>16}{'added µs':>10}")
    count = 200_000
    raw = None
    for name in ("raw", "wordy", "typed", "async"):
        seconds = sorted(pipelined([server], name, count) for _ in range(3))[1]
        raw = raw or seconds
        text = {"wordy": "typed, text result", "typed": "typed, structured result"}.get(name, name)
        print(f"{text:34}{seconds / count * 1e5:16.3f}{(seconds - raw) / count * 1e6:10.2f}", flush=True)


def growth(server):
    """The time of one echo from 1 kB to 10 MB, over one connection."""
    print(f"\nEcho over HTTP by size\n{'':34}{'p50 ms':>10}{'MB/s':>10}{'peak MB':>10}")
    port = clients.free_port()
    command = [server, "--demo", "--listen", f"127.0.0.1:{port}", "--set", "limits.body=32MiB"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_for(port, process)
        for size in (1_000, 10_000, 100_000, 1_000_000, 10_000_000):
            params = {"name": "echo", "arguments": {"text": "x" * size}, "_meta": META}
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
            headers = {
                "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo",
            }
            times = []
            for _ in range(20):
                request = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", body, headers)
                start = time.perf_counter()
                with urllib.request.urlopen(request) as answer:
                    if len(answer.read()) < size:
                        sys.exit("the answer is too short")
                times.append(time.perf_counter() - start)
            middle = sorted(times)[len(times) // 2]
            with open(f"/proc/{process.pid}/status") as file:
                peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
            print(f"{size:>34,}{middle * 1000:10.2f}{size * 2 / middle / 1e6:10.0f}{peak / 1000:10.0f}", flush=True)
    finally:
        process.terminate()
        process.wait()


def peers():
    python = os.path.join(VENV, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    for module in ("mcp", "fastmcp"):
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode:
            subprocess.run([python, "-m", "pip", "install", "-q", module], capture_output=True)
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode:
            print(f"{module} cannot be installed from PyPI here and is left out")
            continue
        name, file = {
            "mcp": ("official Python SDK", "python_sdk.py"), "fastmcp": ("FastMCP", "fastmcp_server.py"),
        }[module]
        yield name, lambda argument, file=file: [python, os.path.join(PEERS, file), argument]


def main():
    directory, forms_server, benchmark_client = sys.argv[1:4]
    client, server = os.path.join(directory, "mcp-client"), os.path.join(directory, "mcp-server")

    def ours(argument):
        return [server, "--demo", *(["--stdio"] if argument == "stdio" else ["--listen", "127.0.0.1:" + argument])]
    others = list(peers())
    measure("stdio, one call at a time", [("mcp-server", 100_000, ours)]
            + [(name, 2_000, command) for name, command in others], client, over_stdio)
    for concurrency in (1, 64):
        measure(f"HTTP, {concurrency} at a time", [("mcp-server", 50_000, ours)]
                + [(name, 2_000, command) for name, command in others], client, over_http(concurrency))
    against_nginx(server)
    # Both use this module.
    import daemon
    import observe
    observe.compare(server)
    daemon.compare(server)
    authorization.compare(directory, forms_server)
    python = os.path.join(VENV, "bin", "python") if others else None
    clients.compare(server, benchmark_client, python)
    forms(forms_server)
    growth(server)


if __name__ == "__main__":
    main()
