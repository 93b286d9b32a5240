"""A protected daemon behind nginx with TLS, with the configuration that `mcp-server init --nginx` prints: metadata,
challenges, a login by mcp-client, the addresses of clients; and tokens that NanoIDP is asked about."""

import asyncio
import contextlib
import functools
import json
import os
import ssl
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from typing import Any

import tls_proxy
from harness import Case, check, check_equal, end, free_port, run_cases, until_listening
from world import World

CALL = {
    "jsonrpc": "2.0", "id": 1, "method": "tools/call",
    "params": {
        "name": "who", "arguments": {},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    },
}


class Proxied(World):
    """A daemon on the loopback interface that clients reach through nginx only."""

    url = ""
    auth: dict[str, Any] = {}
    forwarded = "$proxy_add_x_forwarded_for"

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        backend, port = free_port(), free_port()
        self.environment["SSL_CERT_FILE"] = tls_proxy.write_certificate(self.folder)
        self.url = f"https://localhost:{port}/mcp"
        daemon = os.path.join(self.folder, "mcp-server.json")
        with open(daemon, "w", encoding="utf-8") as file:
            json.dump(
                {
                    "listen": [f"127.0.0.1:{backend}"], "trustedProxies": ["127.0.0.1"],
                    "auth": {
                        "resource": self.url, "required": ["mcp:use"], "authorizationServers": [self.issuer],
                        "scopes": {"mcp:use": {"allow": ["who"]}, "files:write": {"allow": ["write"]}}, **self.auth,
                    },
                    "tools": {"who": {"exec": ["echo", "hello"]}, "write": {"exec": ["echo", "written"]}},
                },
                file,
            )
        os.chmod(daemon, 0o600)
        block = await asyncio.to_thread(tls_proxy.printed, self.server, daemon, self.folder, port)
        check("$proxy_add_x_forwarded_for;" in block, "the address of the client is forwarded")
        nginx = tls_proxy.write_configuration(
            self.folder, block.replace("$proxy_add_x_forwarded_for", self.forwarded))
        quiet = {"stdin": asyncio.subprocess.DEVNULL, "stdout": self.log, "stderr": self.log}
        processes = []
        try:
            processes.append(await asyncio.create_subprocess_exec(
                self.server, "--config", daemon, env=self.environment, **quiet))
            await until_listening(processes[-1], backend)
            processes.append(await asyncio.create_subprocess_exec(*nginx, **quiet))
            await until_listening(processes[-1], port)
            yield self.url
        finally:
            for process in reversed(processes):
                await end(process)

    async def ask(self, path: str, body: Any = None, **fields: str) -> tuple[int, dict[str, str], str]:
        """Sends a request with curl's trust: the proxy's own certificate."""
        headers = {
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "who",
            **{name.replace("_", "-"): value for name, value in fields.items()},
        }
        url = self.url.removesuffix("/mcp") + path
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, headers if data else {})
        context = ssl.create_default_context(cafile=f"{self.folder}/cert.pem")

        def send() -> tuple[int, dict[str, str], str]:
            try:
                with urllib.request.urlopen(request, timeout=20, context=context) as answer:
                    return answer.status, dict(answer.headers), answer.read().decode()
            except urllib.error.HTTPError as answer:
                return answer.code, dict(answer.headers), answer.read().decode()

        return await asyncio.to_thread(send)

    # Cases

    async def metadata(self) -> None:
        async with self.issuing(), self.serving() as url:
            origin = url.removesuffix("/mcp")
            status, fields, _ = await self.ask("/mcp", CALL)
            check_equal(status, 401, "the status without a token")
            document = f'resource_metadata="{origin}/.well-known/oauth-protected-resource/mcp"'
            check(document in fields["WWW-Authenticate"], f"the challenge is {fields['WWW-Authenticate']}")
            for path in ["/mcp", ""]:
                status, _, text = await self.ask(f"/.well-known/oauth-protected-resource{path}")
                check_equal(status, 200, f"the status of the metadata at {path}")
                check_equal(json.loads(text)["resource"], url, "the resource")
                check_equal(json.loads(text)["authorization_servers"], [self.issuer], "the issuers")
            # The host of a proxy that forwards what is not for it.
            status, _, _ = await self.ask("/mcp", CALL, Host="evil.example")
            check_equal(status, 403, "the status for another host")

    async def login_through_it(self) -> None:
        async with self.issuing(), self.serving() as url:
            said = await self.login(url)
            check(f"logged in to {self.issuer}" in said, f"login said {said}")
            out, _ = await self.run("call", url, "who")
            check_equal(out.strip(), "hello", "the result")

    async def addresses(self) -> None:
        """Wrong tokens of one client do not keep another one out: nginx says which is which."""
        self.forwarded = "$http_x_test_client"
        async with self.issuing(), self.serving():
            bad = {"Authorization": "Bearer wrong", "X_Test_Client": "203.0.113.1"}
            statuses = set()
            for _ in range(300):
                statuses.add((await self.ask("/mcp", CALL, **bad))[0])
                if 429 in statuses:
                    break
            check_equal(statuses, {401, 429}, "the statuses of a client with wrong tokens")
            status, _, _ = await self.ask(
                "/mcp", CALL, Authorization="Bearer other", X_Test_Client="203.0.113.2")
            check_equal(status, 401, "the status of another client")

    async def introspection(self) -> None:
        """Tokens that NanoIDP is asked about: active, then revoked; and `check --online`."""
        async with self.issuing():
            self.auth = {"introspection": {"clientId": "machine", "clientSecret": "machine-secret"}}
            async with self.serving() as url:
                config = os.path.join(self.folder, "mcp-server.json")
                process = await asyncio.create_subprocess_exec(
                    self.server, "check", config, "--online", stdout=asyncio.subprocess.PIPE, stderr=self.log,
                    env=self.environment)
                out, _ = await asyncio.wait_for(process.communicate(), 30)
                check(f"{self.issuer}: ok (introspection)" in out.decode(), f"check said {out.decode()}")
                said = await self.login(url)
                check("logged in" in said, f"login said {said}")
                out_text, _ = await self.run("call", url, "who")
                check_equal(out_text.strip(), "hello", "the result")
                status, _, _ = await self.ask("/mcp", CALL, Authorization="Bearer unknown-token")
                check_equal(status, 401, "the status of an unknown token")
            self.auth["introspection"]["clientSecret"] = "wrong"
            async with self.serving():
                status, _, _ = await self.ask("/mcp", CALL, Authorization="Bearer any")
                check_equal(status, 503, "the status with wrong credentials")
                process = await asyncio.create_subprocess_exec(
                    self.server, "check", config, "--online", stdout=asyncio.subprocess.PIPE, stderr=self.log,
                    env=self.environment)
                out, _ = await asyncio.wait_for(process.communicate(), 30)
                check_equal(process.returncode, 8, "the status of check")
                check("check the credentials of this server there" in out.decode(), f"check said {out.decode()}")


def cases(server: str, client: str, folder: str, log: Any) -> list[Case]:
    async def case(name: str) -> None:
        own = os.path.join(folder, name)
        os.makedirs(own)
        await getattr(Proxied(server, client, own, log), name)()

    return [
        ("nginx: metadata and challenges", functools.partial(case, "metadata")),
        ("nginx: login by mcp-client", functools.partial(case, "login_through_it")),
        ("nginx: addresses of clients", functools.partial(case, "addresses")),
        ("NanoIDP: introspection", functools.partial(case, "introspection")),
    ]


if __name__ == "__main__":
    sys.exit(asyncio.run(run_cases("proxy", cases)))
