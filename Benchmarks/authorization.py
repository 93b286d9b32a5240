#!/usr/bin/env python3
"""What a verified token costs: the processor time of `mcp-server` per call with a token beside that of one without
authorization, in short alternating rounds; and that of a token that is seen for the first time.

Usage: authorization.py DIRECTORY-WITH-mcp-server-AND-mcp-client BENCHMARK-SERVER. Linux; JWTs need openssl.
"""
import base64
import contextlib
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import clients

ROUNDS, CALLS, CONCURRENCY, COLD = 15, 10_000, 64, 2_000
ISSUER = "https://id.example.com"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Running:
    """A server, while the block runs."""

    def __init__(self, client, command, tool="echo"):
        self.client, self.tool, self.port = client, tool, clients.free_port()
        self.command = [word.format(port=self.port) if word.endswith("{port}") else word for word in command]
        self.url = f"http://127.0.0.1:{self.port}/mcp"

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        clients.wait_for(self.port, self.process)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=30)

    @property
    def nanoseconds(self):
        """The processor time of all threads so far."""
        total = 0
        folder = f"/proc/{self.process.pid}/task"
        for task in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError), open(f"{folder}/{task}/schedstat") as file:
                total += int(file.read().split()[0])
        return total

    def load(self, token):
        """Nanoseconds of one call, with 64 in flight."""
        command = [self.client, "--json", "bench", "-n", str(CALLS), "-c", str(CONCURRENCY)]
        command += ["--bearer-file", token] if token else []
        before = self.nanoseconds
        done = subprocess.run([*command, self.url, self.tool, "text=hello world"], capture_output=True, timeout=300)
        used = self.nanoseconds - before
        if done.returncode or json.loads(done.stdout)["errors"]:
            sys.exit(f"not every call was answered: {done.stderr.decode()[-500:]}")
        return used / CALLS


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """An ES256 key, its set, and tokens."""

    def __init__(self, folder):
        self.key = f"{folder}/key.pem"
        subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.key], check=True)
        public = subprocess.run(
            ["openssl", "ec", "-in", self.key, "-pubout", "-outform", "DER"], check=True, capture_output=True).stdout
        x, y = public[-64:-32], public[-32:]
        key = {"kty": "EC", "crv": "P-256", "kid": "k", "alg": "ES256", "use": "sig"}
        self.keys = json.dumps({"keys": [{**key, "x": encoded(x), "y": encoded(y)}]})

    def token(self, number):
        header = {"alg": "ES256", "typ": "at+jwt", "kid": "k"}
        claims = {
            "iss": ISSUER, "aud": "http://127.0.0.1/mcp", "sub": "ada", "client_id": "bench", "jti": str(number),
            "exp": int(time.time()) + 3600, "iat": int(time.time()), "scope": "mcp:use files:read",
        }
        text = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
        signed = subprocess.run(
            ["openssl", "dgst", "-sha256", "-sign", self.key], input=text.encode(), check=True, capture_output=True)
        return text + "." + encoded(b"".join(self.numbers(signed.stdout)))

    @staticmethod
    def numbers(der):
        """The two numbers of a signature in DER, 32 bytes each."""
        at = 2
        for _ in range(2):
            length = der[at + 1]
            yield der[at + 2:at + 2 + length].lstrip(b"\0").rjust(32, b"\0")
            at += 2 + length


def private(path, text):
    with open(path, "w") as file:
        os.chmod(path, 0o600)
        file.write(text)
    return path


def with_tokens(folder, directory):
    """By name, the command of the daemon and the file with a token for it."""
    tokens, configuration = f"{folder}/tokens.json", private(f"{folder}/mcp.json", "{}")
    private(configuration, json.dumps({"auth": {"tokens": tokens}}))
    plain = [f"{directory}/mcp-server", "--demo", "--listen", "127.0.0.1:{port}"]
    yield "without authorization", plain, None
    for name, pattern in (("a token of the server", "*"), ("one for some tools", "ec*")):
        new = [f"{directory}/mcp-server", "token", "new", pattern[:2].strip("*") + "x", "--allow", pattern]
        made = subprocess.run([*new, "-c", configuration], check=True, capture_output=True, text=True).stdout
        yield name, [*plain, "--set", f"auth.tokens={tokens}"], private(f"{folder}/{len(pattern)}", made)


def verified(title, daemons):
    print(f"\n{title}, 64 connections: processor time of the server\n{'':34}{'µs per call':>12}{'ratio':>8}")
    rounds = {name: [] for name in daemons}
    for number in range(ROUNDS + 1):
        for name in list(daemons)[:: 1 if number % 2 else -1]:
            daemon, token = daemons[name]
            cost = daemon.load(token)
            if number:
                rounds[name].append(cost)
    first = next(iter(rounds))
    for name, costs in rounds.items():
        ratio = statistics.median(cost / plain for cost, plain in zip(costs, rounds[first]))
        print(f"{name:34}{statistics.median(costs) / 1000:>12.2f}{ratio:>8.3f}", flush=True)


def cold(daemon, tokens):
    """Processor time of a token that was never seen, above that of one that is known, in microseconds."""
    costs = []
    for number in range(2):
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=30)
        before = daemon.nanoseconds
        for token in tokens:
            # The second time, all of them are known, and none is that of the request before.
            fields = {
                "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "raw",
                "Authorization": f"Bearer {token}",
            }
            params = {"name": "raw", "arguments": {"text": "hello world"}, "_meta": META}
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
            connection.request("POST", "/mcp", body, fields)
            with connection.getresponse() as response:
                if response.status != 200:
                    sys.exit(f"a good token was refused: {response.status} {response.read()[:200]!r}")
                response.read()
        costs.append((daemon.nanoseconds - before) / len(tokens) / 1000)
        connection.close()
    print(f"\nES256, processor time of the server\n{'':34}{'µs':>12}")
    print(f"{'call with a token of its own':34}{costs[0]:>12.1f}\n{'the same tokens again':34}{costs[1]:>12.1f}")
    print(f"{'verification of a token':34}{costs[0] - costs[1]:>12.1f}", flush=True)


def compare(directory, benchmark_server):
    if not os.path.exists("/proc/self/schedstat"):
        print("\nThe cost of tokens is measured on Linux only")
        return
    client = os.path.join(os.path.abspath(directory), "mcp-client")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        daemons = {}
        for name, command, token in with_tokens(folder, os.path.abspath(directory)):
            daemons[name] = (stack.enter_context(Running(client, command)), token)
        verified("mcp-server", daemons)
    if not shutil.which("openssl"):
        print("\nopenssl is missing: JWTs are left out")
        return
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        issuer = Issuer(folder)
        plain = [os.path.abspath(benchmark_server), "--listen", "{port}"]
        own = stack.enter_context(Running(client, [*plain, ISSUER, issuer.keys], "raw"))
        token = private(f"{folder}/token", issuer.token(0))
        verified("A server of its own", {
            "without authorization": (stack.enter_context(Running(client, plain, "raw")), None),
            "an access token (ES256)": (own, token)})
        cold(own, [issuer.token(number + 1) for number in range(COLD)])


if __name__ == "__main__":
    compare(sys.argv[1], sys.argv[2])
