#!/usr/bin/env python3
"""Providers of client-side tools behind nginx with TLS, as phones and web pages reach a daemon: `mcp-client provide`
over https, with a program too, the tickets of pages, and a daemon that is restarted.

Usage: devices.py --server MCP_SERVER --client MCP_CLIENT
"""

import argparse
import contextlib
import http.client
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import tls_proxy
from harness import free_port

PAGE = "https://app.example"
NAME = os.path.basename(sys.argv[0]).removesuffix(".py")


def check(condition, text):
    if not condition:
        raise SystemExit(f"{NAME}: FAILED: {text}")
    print(f"{NAME}: ok: {text}")


def wait(what, condition, seconds=30):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.1)
    raise SystemExit(f"{NAME}: {what} did not happen within {seconds} s")


class World:
    def __init__(self, server, client, folder, origins=(PAGE,)):
        self.server, self.client, self.folder, self.origins = server, client, folder, list(origins)
        self.backend, self.port = free_port(), free_port()
        self.url = f"https://localhost:{self.port}"
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": folder, "XDG_STATE_HOME": f"{folder}/state",
            "SSL_CERT_FILE": f"{folder}/cert.pem", "NO_COLOR": "1"}
        self.token_file = f"{folder}/state/mcpcore/providers.token"
        self.processes = contextlib.ExitStack()

    def start(self, *words, output=None, errors=None):
        process = subprocess.Popen(
            words, env=self.environment, stdin=subprocess.DEVNULL, stdout=output or subprocess.DEVNULL,
            stderr=errors or subprocess.DEVNULL)
        self.processes.callback(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def daemon(self):
        return self.start(self.server, "-c", f"{self.folder}/mcp.json", "--listen", f"127.0.0.1:{self.backend}")

    def call(self, channel, tool, *words):
        return subprocess.run(
            [self.client, "call", f"http://127.0.0.1:{self.backend}/mcp/channels/{channel}", tool, *words],
            env=self.environment, capture_output=True, text=True, timeout=60)

    def ask(self, method, path, body=None, **fields):
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        request = urllib.request.Request(
            self.url + path, None if body is None else body.encode(), headers, method=method)
        context = ssl.create_default_context(cafile=f"{self.folder}/cert.pem")
        try:
            with urllib.request.urlopen(request, timeout=20, context=context) as answer:
                return answer.status, dict(answer.headers), answer.read().decode()
        except urllib.error.HTTPError as answer:
            return answer.code, dict(answer.headers), answer.read().decode()

    def prepare(self):
        tls_proxy.write_certificate(self.folder)
        with open(f"{self.folder}/mcp.json", "w", encoding="utf-8") as file:
            json.dump({"clientTools": {"origins": self.origins}, "tools": {"own": {"exec": ["echo", "own"]}}}, file)
        self.nginx = tls_proxy.write_configuration(
            self.folder,
            tls_proxy.server(self.folder, self.port, self.backend, "(mcp|providers|client-tools)(/|$)"))


def providers(world):
    with open(f"{world.folder}/provide.log", "w", encoding="utf-8") as log:
        world.start(
            world.client, "provide", "--channel", "a", "--client", "phone", "--token-file", world.token_file,
            "--tool", "greet", "--tool", "location", world.url, errors=log)
        world.start(
            world.client, "provide", "--channel", "b", "--client", "program", "--token-file", world.token_file,
            world.url, "--", world.server, "--demo", "--stdio", errors=log)
    wait("the provider", lambda: world.call("a", "greet", "name=Ann").returncode == 0)
    check("Hello, Ann!" in world.call("a", "greet", "name=Ann").stdout, "a tool of `provide` through nginx with TLS")
    wait("the program", lambda: world.call("b", "echo", "text=x").returncode == 0)
    check("through" in world.call("b", "echo", "text=through").stdout, "a program of `provide` through nginx")

    def told():
        with open(f"{world.folder}/provide.log", encoding="utf-8") as log:
            return log.read()

    text = f"offering tools in a of {world.url}: "
    wait("the report", lambda: text in told())
    line = next(line for line in told().splitlines() if text in line)
    check("greet" in line and "location" in line, f"the names of the accepted tools: {line}")
    stranger = subprocess.run(
        [world.client, "provide", "--channel", "a", "--tool", "greet", world.url],
        env=world.environment, capture_output=True, text=True, timeout=60)
    check(stranger.returncode == 4 and "401" in stranger.stderr, "a provider without the token is refused")


def pages(world):
    with open(world.token_file, encoding="ascii") as file:
        token = f"Bearer {file.read().strip()}"
    asked = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "authorization"}
    status, fields, _ = world.ask("OPTIONS", "/client-tools/ticket?channel=a", Origin=PAGE, **asked)
    check(status == 204 and fields["Access-Control-Allow-Origin"] == PAGE, "the preflight of a page")
    status, fields, _ = world.ask("OPTIONS", "/client-tools/ticket?channel=a", Origin="https://evil.example", **asked)
    check(status == 403 and "Access-Control-Allow-Origin" not in fields, "a page of another origin is refused")
    status, _, text = world.ask(
        "POST", "/client-tools/ticket?channel=a", "{}", Origin=PAGE, Authorization=token,
        Content_Type="application/json")
    ticket = json.loads(text)["ticket"]
    target = f"/providers?channel=a&client=page&ticket={ticket}"
    context = ssl.create_default_context(cafile=f"{world.folder}/cert.pem")
    connection = http.client.HTTPSConnection("localhost", world.port, timeout=20, context=context)
    connection.request("GET", target, headers={"Origin": PAGE, "Accept": "text/event-stream"})
    begun = time.monotonic()
    with connection.getresponse() as stream:
        check(stream.status == 200, "a stream with a ticket")
        lines = [stream.readline().decode().strip() for _ in range(2)]
        check(time.monotonic() - begun < 5, f"its first event arrives at once: {lines}")
        check("event: endpoint" in lines and any("data: providers/messages?link=" in line for line in lines),
              "the place for messages")
        status, _, _ = world.ask("GET", target, Origin=PAGE)
        check(status == 401, "the ticket is void after its use")
    connection.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--client", required=True)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        world = World(os.path.abspath(words.server), os.path.abspath(words.client), folder)
        world.prepare()
        with world.processes:
            daemon = world.daemon()
            world.start(*world.nginx)
            wait("the daemon", lambda: world.call("a", "own").returncode == 0)
            providers(world)
            pages(world)
            world.end(daemon)
            world.daemon()
            wait("the return of the provider", lambda: "Hello, Bob!" in world.call("a", "greet", "name=Bob").stdout)
            check(True, "a provider returns after a restart of the daemon")


if __name__ == "__main__":
    sys.exit(main())
