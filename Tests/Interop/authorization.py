"""Authorization with programs of other people: NanoIDP and Glewlwyd as authorization servers, the official Python
SDK as a client of our daemon, and mcp-client as the client of a protected daemon."""

import asyncio
import base64
import contextlib
import functools
import html
import http.cookiejar
import json
import os
import random
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
import glewlwyd
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
    async def glewlwyd(
        self, lifetime: int = 3600, rotates: bool = True, public: int = 0, **auth: Any
    ) -> AsyncIterator[tuple[str, glewlwyd.Person]]:
        """Glewlwyd and a daemon that trusts it; yields the daemon's URL and a person with a session."""
        port = free_port()
        resource = f"http://127.0.0.1:{port}/mcp"
        async with glewlwyd.issuing(self.folder, resource, self.log, lifetime, rotates, public) as found:
            self.issuer, place = found
            person = await asyncio.to_thread(glewlwyd.Person, place, "ada", "lovelace")
            if "introspection" in auth:
                auth["introspection"]["issuer"] = self.issuer
            async with self.serving(port, **auth) as url:
                yield url, person

    @contextlib.asynccontextmanager
    async def serving(self, port: int = 0, **auth: Any) -> AsyncIterator[str]:
        port = port or free_port()
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
                        **auth,
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

    async def login(self, url: str, *flags: str, person: Any = None, visitor: Any = visit) -> str:
        """Runs `mcp-client login`, and logs in at the page that it names: `person` does that in a browser, or
        `visitor`, which returns the address of the redirect."""
        process = await asyncio.create_subprocess_exec(
            self.client, "login", "--no-browser", *flags, url, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, env=self.environment,
        )
        text = ""
        try:
            async with asyncio.timeout(30):
                while not (page := re.search(r"http://127\.0\.0\.1:\d+/\S*auth(?:orize)?\?\S+", text)):
                    line = (await process.stdout.readline()).decode()
                    check(line, f"mcp-client login ended: {text}")
                    text += line
                if person:
                    await person(page[0])
                else:
                    target = await asyncio.to_thread(visitor, page[0])
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

    # mcp-client and our daemon at Glewlwyd.

    @staticmethod
    def claims(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """The header and the claims of a JWT."""
        parts = [part + "=" * (-len(part) % 4) for part in token.split(".")[:2]]
        header, claims = (json.loads(base64.urlsafe_b64decode(part)) for part in parts)
        return header, claims

    async def glewlwyd_registered(self) -> None:
        redirects: list[str] = []
        async with self.glewlwyd() as (url, person):

            def visitor(page: str) -> str:
                redirects.append(person.visit(page))
                return redirects[-1]

            port = str(urllib.parse.urlsplit(glewlwyd.REDIRECT).port)
            flags = ["--client-id", "person", "--callback-port", port]
            said = await self.login(url, *flags, visitor=visitor)
            check(f"logged in to {self.issuer}" in said, f"login said {said}")
            answer = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(redirects[0]).query))
            check_equal(answer.get("iss"), self.issuer, "iss of the answer")
            out, _ = await self.run("call", "--client-id", "person", url, "who")
            check_equal(out.strip(), "hello", "the result")
            out, _ = await self.run("auth", "token", "--client-id", "person", url)
            header, claims = self.claims(out.strip())
            check_equal(header.get("typ"), "at+jwt", "typ of the token")
            check_equal(claims.get("aud"), url, "aud of the token")
            await self.run("logout", "--client-id", "person", url)
            await self.run("call", "--client-id", "person", url, "who", status=4)

    def refresh_token(self) -> str:
        """The refresh token in the only login of the store."""
        texts = []
        for folder, _, names in os.walk(self.store):
            for name in names:
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    texts += re.findall(r'"refreshToken":\s*"([^"]+)"', file.read())
        check_equal(len(texts), 1, "the number of refresh tokens in the store")
        return texts[0]

    def posted(self, path: str, fields: dict[str, str], user: str = "") -> tuple[int, dict[str, Any]]:
        """Posts a form to the authorization server, with a client's credentials; returns the answer."""
        request = urllib.request.Request(self.issuer + path, urllib.parse.urlencode(fields).encode())
        if user:
            request.add_header("Authorization", "Basic " + base64.b64encode(user.encode()).decode())
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as answer:
            return answer.code, json.loads(answer.read() or b"{}")

    async def glewlwyd_registers(self) -> None:
        """Dynamic registration, rotation of refresh tokens, detection of their reuse, revocation."""
        async with self.glewlwyd(lifetime=3) as (url, person):
            await self.login(url, visitor=person.visit)
            out, _ = await self.run("call", url, "who")
            check_equal(out.strip(), "hello", "the result")
            tokens, refreshers = [], [self.refresh_token()]
            for _ in range(2):
                await asyncio.sleep(3)
                out, _ = await self.run("auth", "token", url)
                tokens.append(out.strip())
                refreshers.append(self.refresh_token())
            check_equal(len(set(tokens)), 2, "the number of access tokens")
            check_equal(len(set(refreshers)), 3, "the number of refresh tokens")
            _, claims = self.claims(tokens[-1])
            check_equal(claims.get("aud"), url, "aud of a renewed token")
            out, _ = await self.run("logout", "--json", url)
            check_equal(json.loads(out)["loggedOut"][0]["revoked"], True, "the revocation")
            await self.run("call", url, "who", status=4)

    async def glewlwyd_reuse(self) -> None:
        """After somebody else has used a refresh token, the login is over, and the message says so."""
        async with self.glewlwyd(lifetime=3) as (url, person):
            await self.login(url, "--client-id", "person", "--callback-port", "41998", visitor=person.visit)
            stolen = {"client_id": "person", "grant_type": "refresh_token"}
            stolen["refresh_token"] = self.refresh_token()
            status, _ = await asyncio.to_thread(self.posted, "/token", stolen)
            check_equal(status, 200, "the status for the thief")
            await asyncio.sleep(3)
            _, refused = await self.run("call", "--client-id", "person", url, "who", status=4)
            check("mcp-client login --client-id person" in refused, f"no hint: {refused}")

    async def glewlwyd_introspection(self) -> None:
        own, user = {"clientId": "machine", "clientSecret": "machine-secret"}, "machine:machine-secret"
        async with self.glewlwyd(introspection=own) as (url, _):
            self.environment["SECRET"] = "machine-secret"
            flags = ["--auth-grant", "client-credentials", "--client-id", "machine"]
            flags += ["--client-secret-env", "SECRET"]
            out, _ = await self.run("call", *flags, url, "who")
            check_equal(out.strip(), "hello", "the result")
            out, _ = await self.run("auth", "token", *flags, url)
            fields = {"token": out.strip()}
            status, answer = await asyncio.to_thread(self.posted, "/introspect", fields, user)
            check_equal((status, answer.get("active")), (200, True), "the introspection")
            await self.run("logout", *flags, url)
            status, answer = await asyncio.to_thread(self.posted, "/introspect", fields, user)
            check_equal((status, answer.get("active")), (200, False), "the introspection after the logout")

    def expire(self) -> None:
        """Lets the access tokens of the store expire."""
        for name in os.listdir(self.store):
            path = os.path.join(self.store, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            changed = re.sub(r'("expiresAt":\s*)\d+', r"\g<1>1", text)
            if changed != text:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(changed)

    async def glewlwyd_processes(self) -> None:
        """Eight processes whose token expires at the same time refresh it once, and no login is lost."""
        rounds = int(os.environ.get("INTEROP_EXPIRIES", "3"))
        async with self.glewlwyd() as (url, person):
            await self.login(url, visitor=person.visit)
            for number in range(rounds):
                before = await asyncio.to_thread(glewlwyd.count_access_tokens, self.folder)
                self.expire()
                outputs = await asyncio.gather(*(self.run("auth", "token", url) for _ in range(8)))
                after = await asyncio.to_thread(glewlwyd.count_access_tokens, self.folder)
                check_equal(len({out for out, _ in outputs}), 1, f"the number of tokens in round {number}")
                check_equal(after - before, 1, f"the number of refreshes in round {number}")
            out, _ = await self.run("call", url, "who")
            check_equal(out.strip(), "hello", "the result after all rounds")

    async def glewlwyd_killed(self) -> None:
        """A client that is killed when the answer with its tokens has arrived is still logged in."""
        rounds = int(os.environ.get("INTEROP_EXPIRIES", "3"))
        public, place, victims, answers, lost = free_port(), [0], [], [], 0

        async def forward(reader: Any, writer: Any, of: bytes | None) -> None:
            with contextlib.suppress(ConnectionError):
                while data := await reader.read(1 << 16):
                    is_answer = of is not None and b'"access_token":' in data
                    writer.write(data)
                    await writer.drain()
                    if is_answer:
                        answers.append(len(data))
                    if is_answer and victims:
                        await asyncio.sleep(random.choice([0, 0, 0.002, 0.01]))
                        with contextlib.suppress(ProcessLookupError):
                            victims.pop().kill()
            writer.close()

        async def connected(reader: Any, writer: Any) -> None:
            with contextlib.suppress(OSError):
                inner, outer = await asyncio.open_connection("127.0.0.1", place[0])
                await asyncio.gather(forward(reader, outer, None), forward(inner, writer, b"answer"))

        proxy = await asyncio.start_server(connected, "127.0.0.1", public)
        try:
            async with self.glewlwyd(rotates=False, public=public) as (url, person):
                place[0] = int(urllib.parse.urlsplit(person.root).port or 0)
                page = functools.partial(self.at, place)
                await self.login(url, visitor=lambda at: person.visit(page(at)))
                for _ in range(rounds):
                    self.expire()
                    process = await asyncio.create_subprocess_exec(
                        self.client, "auth", "token", url, stdin=asyncio.subprocess.DEVNULL,
                        stdout=self.log, stderr=self.log, env=self.environment)
                    victims.append(process)
                    await asyncio.wait_for(process.wait(), 30)
                    before = await asyncio.to_thread(glewlwyd.count_access_tokens, self.folder)
                    await self.run("auth", "token", url)
                    after = await asyncio.to_thread(glewlwyd.count_access_tokens, self.folder)
                    lost += after - before
                check_equal(len(answers), 1 + rounds + lost, "the number of answers")
                print(f"{rounds} clients killed, {lost} of them before they had stored the tokens")
                out, _ = await self.run("call", url, "who")
                check_equal(out.strip(), "hello", "the result after all rounds")
        finally:
            proxy.close()

    @staticmethod
    def at(place: list[int], page: str) -> str:
        """A page of the proxy at the port behind it."""
        parts = urllib.parse.urlsplit(page)
        return parts._replace(netloc=f"127.0.0.1:{place[0]}").geturl()


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
    at_glewlwyd = [
        ("Glewlwyd: a registered client", functools.partial(case, "glewlwyd_registered")),
        ("Glewlwyd: registration, rotation, revocation", functools.partial(case, "glewlwyd_registers")),
        ("Glewlwyd: a stolen refresh token", functools.partial(case, "glewlwyd_reuse")),
        ("Glewlwyd: introspection", functools.partial(case, "glewlwyd_introspection")),
        ("Glewlwyd: eight processes, one refresh", functools.partial(case, "glewlwyd_processes")),
        ("Glewlwyd: clients that are killed", functools.partial(case, "glewlwyd_killed")),
    ]
    if not glewlwyd.is_installed():
        check(os.environ.get("CI") != "true", "glewlwyd or openssl is missing")
        print("skipped: glewlwyd or openssl is missing, so nobody logs in there (apt-get install glewlwyd)")
        at_glewlwyd = []
    return in_browser + at_glewlwyd + [
        ("Python SDK: registration and login", functools.partial(case, "sdk_registers")),
        ("Python SDK: a registered client that needs more scopes", functools.partial(case, "sdk_steps_up")),
        ("Python SDK: client credentials", functools.partial(case, "sdk_credentials")),
        ("mcp-client: login, call, logout", functools.partial(case, "cli_code")),
        ("mcp-client: a provider without S256", functools.partial(case, "cli_refuses")),
        ("mcp-client: client credentials", functools.partial(case, "cli_credentials")),
    ]


if __name__ == "__main__":
    sys.exit(asyncio.run(run_cases("authorization", cases)))
