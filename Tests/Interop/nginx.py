#!/usr/bin/env python3
"""The nginx configuration that `mcp-server init --nginx` prints, with the real nginx in front of the server.

Usage: nginx.py --server MCP_SERVER
"""

import argparse
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "nginx-test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
NAME = "nginx"
PORT = 28_995


def request(method, params, headers=None, name=None):
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}})
    fields = {
        "Host": "mcp.example.com", "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method, **({"Mcp-Name": name} if name else {}), **(headers or {})}
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
    try:
        connection.request("POST", "/mcp", body, fields)
    except (BrokenPipeError, ConnectionResetError):
        pass  # It is answered before it was read.
    return connection, connection.getresponse()


def call(tool, arguments, headers=None):
    connection, response = request(
        "tools/call", {"name": tool, "arguments": arguments}, headers, name=tool)
    with response:
        text = response.read().decode()
    connection.close()
    return response.status, text


def check(condition, text):
    if not condition:
        raise SystemExit(f"{NAME}: FAILED: {text}")
    print(f"{NAME}: ok: {text}")


def wait(what, condition):
    for _ in range(200):
        if condition():
            return
        time.sleep(0.05)
    raise SystemExit(f"{NAME}: {what} did not happen")


def answers():
    try:
        return call("one", {})[0] == 200
    except OSError:
        return False


def first_event():
    """The time until the first event of a subscription, and the time until a change is reported."""
    params = {"notifications": {"toolsListChanged": True}}
    connection, response = request("subscriptions/listen", params)
    begun = time.monotonic()
    with response:
        line = b""
        while not line.startswith(b"data:"):
            line = response.readline()
            if not line:
                raise SystemExit(f"{NAME}: the stream ended: {response.status}")
    connection.close()
    return time.monotonic() - begun


def checks():
    """What holds through every proxy with a configuration of ours, without auth and with a limit of 4 MiB."""
    wait(f"an answer through {NAME}", answers)
    status, text = call("one", {})
    check(status == 200 and "one" in text, f"a call through {NAME}")
    check(call("slow", {})[0] == 200, f"a slow call through {NAME}")
    status, _ = call("one", {}, {"Origin": "https://evil.example"})
    check(status == 403, "a web page of another origin is refused")
    check(found("/.well-known/oauth-authorization-server") == 404, "what is not forwarded is not found")
    seconds = first_event()
    check(seconds < 2, f"the first event arrives at once ({seconds:.2f} s)")
    status, _ = call("one", {"text": "x" * (5 << 20)})
    check(status == 413, "a message over the limit is refused")


def found(path):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
    connection.request("GET", path, headers={"Host": "mcp.example.com"})
    with connection.getresponse() as response:
        status = response.status
    connection.close()
    return status


def stop(processes):
    for process in processes:
        process.send_signal(signal.SIGTERM)
    for process in processes:
        process.wait(timeout=30)


def write(configuration, folder):
    """The configuration that the checks are for."""
    with open(configuration, "w") as file:
        json.dump({
            "listen": [f"unix://{folder}/mcp.sock?mode=0666"],
            "tools": {"one": {"exec": ["echo", "one"]}, "slow": {"exec": ["sleep", "3"]}},
        }, file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    server = os.path.abspath(parser.parse_args().server)
    with tempfile.TemporaryDirectory() as folder:
        # The workers of nginx are another user than the one of the folder.
        os.chmod(folder, 0o755)
        configuration = f"{folder}/mcp.jsonc"
        write(configuration, folder)
        block = subprocess.run(
            [server, "init", "--nginx", "-c", configuration], capture_output=True, text=True, check=True
        ).stdout.replace("listen 80;", f"listen 127.0.0.1:{PORT};").replace("listen [::]:80;", "")
        with open(f"{folder}/nginx.conf", "w") as file:
            file.write(
                f"daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;\n"
                "events {}\nhttp {\n" + "".join(
                    f"{kind}_temp_path {folder}/{kind};\n"
                    for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
                + block + "}\n")
        processes = [
            subprocess.Popen([server, "-c", configuration], stderr=subprocess.DEVNULL),
            subprocess.Popen(["nginx", "-c", f"{folder}/nginx.conf", "-p", folder, "-e", f"{folder}/error.log"]),
        ]
        try:
            checks()
        finally:
            stop(processes)


if __name__ == "__main__":
    sys.exit(main())
