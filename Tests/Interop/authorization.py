"""Authorization with programs of other people: NanoIDP as the authorization server, the official Python SDK as a client
of our daemon, and mcp-client as the client of a protected daemon. The cases at Glewlwyd are in glewlwyd_cases.py, those
with the Python SDK as the authorization server in sdk_issuer.py."""

import asyncio
import contextlib
import functools
import json
import os
import re
import ssl
import stat
import sys
import urllib.parse
import warnings
from typing import Any

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata

import browser
import glewlwyd_cases
import lying_issuer
import sdk_issuer
import tls_proxy
from harness import Case, check, check_equal, end, free_port, run_cases, until_listening
from world import REDIRECT, World, visit

SCOPES = ["mcp:use", "files:write"]
RESULTS = {"who": "hello", "write": "written"}


class Tokens:
    """The Python SDK's storage."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client: Any) -> None:
        self.client = client


class AtNanoIDP(World):
    # The Python SDK at our daemon.

    async def sdk_calls(self, url: str, auth: Any, *tools: str) -> list[str]:
        async with httpx2.AsyncClient(auth=auth, timeout=20) as http:
            async with Client(streamable_http_client(url, http_client=http)) as session:
                results = [await session.call_tool(tool, {}) for tool in tools]
                return [result.content[0].text.strip() for result in results]

    async def sdk_code(self, tokens: Tokens, *tools: str) -> int:
        """Calls tools as a person's client; returns how often the person logged in."""
        async with self.issuing(), self.serving() as url:
            visited: list[str] = []
            metadata = OAuthClientMetadata(
                redirect_uris=[REDIRECT], client_name="sdk", token_endpoint_auth_method="none",
                grant_types=["authorization_code", "refresh_token"], response_types=["code"],
            )
            if tokens.client:
                tokens.client.issuer = self.issuer

            async def shown(page: str) -> None:
                visited.append(await asyncio.to_thread(visit, page))

            async def redirected() -> AuthorizationCodeResult:
                query = urllib.parse.parse_qs(urllib.parse.urlsplit(visited[-1]).query)
                return AuthorizationCodeResult(code=query["code"][0], state=query["state"][0])

            auth = OAuthClientProvider(url, metadata, tokens, shown, redirected)
            expected = [RESULTS[tool] for tool in tools]
            check_equal(await self.sdk_calls(url, auth, *tools), expected, "the results")
            return len(visited)

    async def sdk_registers(self) -> None:
        check_equal(await self.sdk_code(Tokens(), "who"), 1, "the number of logins")

    async def sdk_steps_up(self) -> None:
        tokens = Tokens()
        tokens.client = OAuthClientInformationFull(
            client_id="person", redirect_uris=[REDIRECT], token_endpoint_auth_method="none",
            grant_types=["authorization_code", "refresh_token"], response_types=["code"],
        )
        check_equal(await self.sdk_code(tokens, "who", "write"), 2, "the number of logins")

    async def sdk_credentials(self) -> None:
        async with self.issuing(), self.serving() as url:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                auth = ClientCredentialsOAuthProvider(
                    url, Tokens(), "machine", "machine-secret", scope=" ".join(SCOPES), issuer=self.issuer
                )
            check_equal(await self.sdk_calls(url, auth, "who", "write"), ["hello", "written"], "the results")

    # mcp-client at our daemon.

    async def cli_code(self) -> None:
        async with self.issuing(), self.serving() as url:
            _, refused = await self.run("call", url, "who", status=4)
            check("mcp-client login" in refused, f"no hint: {refused}")
            said = await self.login(url)
            check(f"logged in to {self.issuer}" in said, f"login said {said}")
            out, _ = await self.run("call", url, "who")
            check_equal(out.strip(), "hello", "the result")
            for name in os.listdir(self.store):
                mode = stat.S_IMODE(os.stat(os.path.join(self.store, name)).st_mode)
                check_equal(mode, 0o600, f"the mode of {name}")
            out, _ = await self.run("auth", "token", url)
            token = out.strip()
            check(await self.introspected(token), "the token is not active")
            _, trace = await self.run("-vv", "call", url, "who")
            check(token not in trace, "the trace shows the token")
            _, refused = await self.run("call", url, "write", status=4)
            check("files:write" in refused, f"no scope in {refused}")
            await self.login(url, "--scope", "mcp:use", "--scope", "files:write")
            out, _ = await self.run("call", url, "write")
            check_equal(out.strip(), "written", "the result with more scopes")
            out, _ = await self.run("auth", "status", url)
            check(self.issuer in out and "files:write" in out, f"status said {out}")
            out, _ = await self.run("auth", "token", url)
            await self.run("logout", url)
            check(not await self.introspected(out.strip()), "the token is active after the logout")
            await self.run("call", url, "who", status=4)

    async def cli_browser(self) -> None:
        async with self.issuing(), self.serving() as url, browser.browsing(self.log) as chromium:
            last: list[str] = []

            async def person(page: str) -> None:
                await chromium.open(page)
                await chromium.type("input[name=username]", "ada")
                await chromium.type("input[name=password]", "lovelace")
                await chromium.click("button[type=submit], input[type=submit]")
                # The redirect is answered by another one, so that the code is in no history.
                while not (address := await chromium.address()).endswith("/done"):
                    await asyncio.sleep(0.05)
                last.extend([address, await chromium.text()])

            said = await self.login(url, person=person)
            check(f"logged in to {self.issuer}" in said, f"login said {said}")
            check("code=" not in last[0] and "state=" not in last[0], f"the last address is {last[0]}")
            check("You can close it now" in last[1], f"the last page says {last[1]}")
            out, _ = await self.run("call", url, "who")
            check_equal(out.strip(), "hello", "the result")

    async def cli_document(self) -> None:
        """A client that is known by its client id metadata document, which NanoIDP fetches over https."""
        certificate = await asyncio.to_thread(tls_proxy.write_certificate, self.folder)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate, f"{self.folder}/key.pem")
        fetched: list[bytes] = []

        async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                fetched.append(await reader.readuntil(b"\r\n\r\n"))
                head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
                # NanoIDP 3.4 asks for `Connection: close`, and cannot read a response that says so.
                writer.write(f"{head}\r\n\r\n".encode() + body)
                await writer.drain()
                await reader.read()
            writer.close()

        site = await asyncio.start_server(answered, "127.0.0.1", 0, ssl=context)
        host = f"localhost:{site.sockets[0].getsockname()[1]}"
        document, port = f"https://{host}/client.json", free_port()
        body = json.dumps({
            "client_id": document, "client_name": "mcp-client", "token_endpoint_auth_method": "none",
            "redirect_uris": [f"http://127.0.0.1:{port}/callback"], "response_types": ["code"],
            "grant_types": ["authorization_code", "refresh_token"]}).encode()
        self.environment["SSL_CERT_FILE"] = certificate
        async with site, self.issuing(document_host=host), self.serving() as url:
            flags = ["--client-metadata-url", document, "--callback-port", str(port)]
            said = await self.login(url, *flags)
            check(f"logged in to {self.issuer}" in said, f"login said {said}")
            check(fetched and fetched[0].startswith(b"GET /client.json "), f"the document was not fetched: {fetched}")
            out, _ = await self.run("call", url, "who")
            check_equal(out.strip(), "hello", "the result")
            out, _ = await self.run("auth", "status", url)
            check(document in out, f"status said {out}")

    async def cli_refuses(self) -> None:
        async with self.issuing_without_pkce(), self.serving() as url:
            _, refused = await self.run("login", "--no-browser", url, status=4)
            check("code_challenge_methods_supported" in refused, f"the member is not named: {refused}")

    async def cli_credentials(self) -> None:
        async with self.issuing(), self.serving() as url:
            self.environment["SECRET"] = "machine-secret"
            flags = ["--auth-grant", "client-credentials", "--client-id", "machine", "--client-secret-env", "SECRET"]
            out, _ = await self.run("call", *flags, url, "who")
            check_equal(out.strip(), "hello", "the result")
            out, _ = await self.run("call", *flags, url, "write")
            check_equal(out.strip(), "written", "the result with more scopes")

    async def upstream(self) -> None:
        """A caller's token does not go to the server behind the daemon, and every byte for that one is looked at."""
        seen: list[bytes] = []

        async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_kept: bool) -> None:
            with contextlib.suppress(ConnectionError):
                while data := await reader.read(1 << 16):
                    seen.extend([data] if is_kept else [])
                    writer.write(data)
                    await writer.drain()
            writer.close()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            there = await asyncio.open_connection("127.0.0.1", behind)
            await asyncio.gather(pump(reader, there[1], True), pump(there[0], writer, False))

        behind = free_port()
        other = await asyncio.create_subprocess_exec(
            self.server, "--demo", "--listen", f"127.0.0.1:{behind}", stdin=asyncio.subprocess.DEVNULL,
            stdout=self.log, stderr=self.log, env=self.environment)
        recorder = await asyncio.start_server(connected, "127.0.0.1", 0)
        try:
            await until_listening(other, behind)
            self.servers = {"up": {"url": f"http://127.0.0.1:{recorder.sockets[0].getsockname()[1]}/mcp"}}
            async with self.issuing(), self.serving(scopes={"mcp:use": {"allow": ["*"]}}) as url:
                self.environment["SECRET"] = "machine-secret"
                flags = ["--auth-grant", "client-credentials", "--client-id", "machine", "--client-secret-env", "SECRET"]
                names, _ = await self.run("tools", "--json", *flags, url)
                tool = next(name for name in re.findall(r'"name": ?"([^"]+)"', names) if name.endswith("echo"))
                out, _ = await self.run("call", *flags, url, tool, "text=through")
                check("through" in out, f"the call was not answered: {out}")
                token, _ = await self.run("auth", "token", *flags, url)
        finally:
            recorder.close()
            await end(other)
        text = b"".join(seen)
        check(b"tools/call" in text, "the call did not go through the recorder")
        for part in (token.strip(), token.strip().split(".")[-1]):
            check(part.encode() not in text, "the upstream got the token of the caller")
        check(b"authorization" not in text.lower(), "the upstream got credentials")


def cases(server: str, client: str, folder: str, log: Any) -> list[Case]:
    async def case(name: str) -> None:
        own = os.path.join(folder, name)
        os.makedirs(own)
        await getattr(AtNanoIDP(server, client, own, log), name)()

    in_browser = [("mcp-client: login in Chromium", functools.partial(case, "cli_browser"))]
    if not browser.is_installed():
        check(os.environ.get("CI") != "true", "chromium or chromedriver is missing")
        print("skipped: chromium or chromedriver is missing, so nobody logs in with a browser")
        in_browser = []
    return in_browser + glewlwyd_cases.cases(server, client, folder, log) + lying_issuer.cases(
        server, client, folder, log) + sdk_issuer.cases(server, client, folder, log) + [
        ("Python SDK: registration and login", functools.partial(case, "sdk_registers")),
        ("Python SDK: a registered client that needs more scopes", functools.partial(case, "sdk_steps_up")),
        ("Python SDK: client credentials", functools.partial(case, "sdk_credentials")),
        ("mcp-client: login, call, logout", functools.partial(case, "cli_code")),
        ("mcp-client: a client id metadata document", functools.partial(case, "cli_document")),
        ("mcp-client: a provider without S256", functools.partial(case, "cli_refuses")),
        ("mcp-client: client credentials", functools.partial(case, "cli_credentials")),
        ("mcp-server: an upstream gets no token of a caller", functools.partial(case, "upstream")),
    ]


if __name__ == "__main__":
    sys.exit(asyncio.run(run_cases("authorization", cases)))
