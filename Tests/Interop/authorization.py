"""Authorization with programs of other people: NanoIDP as the authorization server, the official Python SDK as a
client of our daemon, and mcp-client as the client of a protected daemon. A person logs in at NanoIDP's page."""

import asyncio
import contextlib
import functools
import html
import http.cookiejar
import json
import os
import re
import stat
import sys
import urllib.error
import urllib.parse
import urllib.request
import warnings
from collections.abc import AsyncIterator
from typing import Any

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata

import browser
from harness import Case, check, check_equal, end, free_port, quiet_environment, run_cases, until_listening

REDIRECT = "http://127.0.0.1:41999/callback"
SCOPES = ["mcp:use", "files:write"]
RESULTS = {"who": "hello", "write": "written"}

SETTINGS = """\
config_version: 1
server: {{host: 127.0.0.1, port: {port}}}
oauth:
  issuer: {issuer}
  audience: other
  token_expiry_minutes: {minutes}
  scopes_supported: [openid, profile, email, offline_access, "mcp:use", "files:write"]
  dynamic_registration: {{enabled: true}}
  clients:
    - {{client_id: machine, client_secret: "machine-secret"}}
    - {{client_id: person, token_endpoint_auth_method: none, redirect_uris: ["%s"]}}
    - {{client_id: posted, client_secret: hush, token_endpoint_auth_method: client_secret_post}}
""" % REDIRECT
USERS = """\
config_version: 1
users:
  ada: {password: lovelace, email: ada@example.org, roles: [USER]}
"""


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *words: Any) -> None:
        return None


def visit(page: str) -> str:
    """Logs in at a page as a person with a browser does; returns the address of the redirect."""
    cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    browser = urllib.request.build_opener(cookies, NoRedirect)
    try:
        form = browser.open(page, timeout=10).read().decode()
    except urllib.error.HTTPError as answer:
        raise AssertionError(f"no login: {answer.code}, {answer.headers['Location']}") from None
    hidden = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form)
    fields = {name: html.unescape(value) for name, value in hidden}
    data = urllib.parse.urlencode({**fields, "username": "ada", "password": "lovelace"}).encode()
    try:
        answer = browser.open(page, data, timeout=10)
        raise AssertionError(f"the login was not accepted: {answer.status}")
    except urllib.error.HTTPError as answer:
        check_equal(answer.code, 302, "the status of the login")
        return answer.headers["Location"]


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


class World:
    """One authorization server and one daemon that trusts it."""

    def __init__(self, server: str, client: str, folder: str, log: Any) -> None:
        self.server, self.client, self.folder, self.log = server, client, folder, log
        self.environment = {**quiet_environment(folder), "XDG_STATE_HOME": os.path.join(folder, "state")}
        self.store = os.path.join(folder, "state", "mcpcore", "auth")
        self.issuer = ""

    @contextlib.asynccontextmanager
    async def issuing(self, minutes: int = 60) -> AsyncIterator[str]:
        port = free_port()
        self.issuer = f"http://127.0.0.1:{port}"
        config = os.path.join(self.folder, "idp")
        os.makedirs(config, exist_ok=True)
        with open(os.path.join(config, "settings.yaml"), "w", encoding="utf-8") as file:
            file.write(SETTINGS.format(port=port, issuer=self.issuer, minutes=minutes))
        with open(os.path.join(config, "users.yaml"), "w", encoding="utf-8") as file:
            file.write(USERS)
        program = os.path.join(os.environ["PROVIDERS"], "nanoidp")
        process = await asyncio.create_subprocess_exec(
            program, "--config", config, "--port", str(port), stdin=asyncio.subprocess.DEVNULL,
            stdout=self.log, stderr=self.log, cwd=self.folder, env={**os.environ, "HOME": self.folder},
        )
        try:
            await until_listening(process, port)
            yield self.issuer
        finally:
            await end(process)

    @contextlib.asynccontextmanager
    async def issuing_without_pkce(self) -> AsyncIterator[str]:
        """An OpenID provider that does not say that it supports S256."""
        port = free_port()
        self.issuer = f"http://127.0.0.1:{port}"
        process = await asyncio.create_subprocess_exec(
            os.path.join(os.environ["PROVIDERS"], "oidc-provider-mock"), "--port", str(port),
            stdin=asyncio.subprocess.DEVNULL, stdout=self.log, stderr=self.log,
        )
        try:
            await until_listening(process, port)
            yield self.issuer
        finally:
            await end(process)

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        port = free_port()
        url = f"http://127.0.0.1:{port}/mcp"
        config = os.path.join(self.folder, "mcp-server.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump(
                {
                    "auth": {
                        "resource": url,
                        "required": ["mcp:use"],
                        "scopes": {"mcp:use": {"allow": ["who"]}, "files:write": {"allow": ["write"]}},
                        "authorizationServers": [self.issuer],
                    },
                    "tools": {
                        "who": {"description": "Says hello", "exec": ["echo", "hello"]},
                        "write": {"description": "Writes", "exec": ["echo", "written"]},
                    },
                },
                file,
            )
        os.chmod(config, 0o600)
        process = await asyncio.create_subprocess_exec(
            self.server, "--config", config, "--listen", f"127.0.0.1:{port}", stdin=asyncio.subprocess.DEVNULL,
            stdout=self.log, stderr=self.log, env=self.environment,
        )
        try:
            await until_listening(process, port)
            yield url
        finally:
            await end(process)

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

    async def run(self, *words: str, status: int = 0) -> tuple[str, str]:
        process = await asyncio.create_subprocess_exec(
            self.client, *words, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE, env=self.environment,
        )
        out, errors = await asyncio.wait_for(process.communicate(), 30)
        check_equal(process.returncode, status, f"the status of {' '.join(words)} ({errors.decode()})")
        return out.decode(), errors.decode()

    async def login(self, url: str, *flags: str, person: Any = None) -> str:
        """Runs `mcp-client login`, and logs in at the page that it names: `person` does that, or `visit`."""
        process = await asyncio.create_subprocess_exec(
            self.client, "login", "--no-browser", *flags, url, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, env=self.environment,
        )
        text = ""
        try:
            async with asyncio.timeout(30):
                while not (page := re.search(r"http://127\.0\.0\.1:\d+/authorize\?\S+", text)):
                    line = (await process.stdout.readline()).decode()
                    check(line, f"mcp-client login ended: {text}")
                    text += line
                if person:
                    await person(page[0])
                else:
                    target = await asyncio.to_thread(visit, page[0])
                    # The browser goes where the authorization server sends it.
                    body = (await asyncio.to_thread(urllib.request.urlopen, target, None, 10)).read().decode()
                    check("error" not in body.lower(), f"the last page is {body}")
                text += (await process.stdout.read()).decode()
                check_equal(await process.wait(), 0, f"the status of login ({text})")
        finally:
            await end(process)
        return text

    async def introspected(self, token: str) -> bool:
        data = urllib.parse.urlencode({"token": token, "client_id": "posted", "client_secret": "hush"}).encode()

        def ask() -> bool:
            with urllib.request.urlopen(f"{self.issuer}/introspect", data, timeout=10) as answer:
                return json.loads(answer.read())["active"]

        return await asyncio.to_thread(ask)

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


def cases(server: str, client: str, folder: str, log: Any) -> list[Case]:
    def world(name: str) -> World:
        own = os.path.join(folder, name)
        os.makedirs(own)
        return World(server, client, own, log)

    async def case(name: str) -> None:
        await getattr(world(name), name)()

    in_browser = [("mcp-client: login in Chromium", functools.partial(case, "cli_browser"))]
    if not browser.is_installed():
        check(os.environ.get("CI") != "true", "chromium or chromedriver is missing")
        print("skipped: chromium or chromedriver is missing, so nobody logs in with a browser")
        in_browser = []
    return in_browser + [
        ("Python SDK: registration and login", functools.partial(case, "sdk_registers")),
        ("Python SDK: a registered client that needs more scopes", functools.partial(case, "sdk_steps_up")),
        ("Python SDK: client credentials", functools.partial(case, "sdk_credentials")),
        ("mcp-client: login, call, logout", functools.partial(case, "cli_code")),
        ("mcp-client: a provider without S256", functools.partial(case, "cli_refuses")),
        ("mcp-client: client credentials", functools.partial(case, "cli_credentials")),
    ]


if __name__ == "__main__":
    sys.exit(asyncio.run(run_cases("authorization", cases)))
