"""A person, authorization servers of other people, a daemon that trusts them, and mcp-client: what the cases of
authorization.py, glewlwyd_cases.py and proxy.py have in common."""

import asyncio
import contextlib
import html
import http.cookiejar
import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator
from typing import Any

from harness import check, check_equal, end, free_port, quiet_environment, until_listening

REDIRECT = "http://127.0.0.1:41999/callback"

SETTINGS = """\
config_version: 1
server: {{host: 127.0.0.1, port: {port}}}
oauth:
  issuer: {issuer}
  audience: other
  token_expiry_minutes: {minutes}
  scopes_supported: [openid, profile, email, offline_access, "mcp:use", "files:write"]
  dynamic_registration: {{enabled: true}}
  client_id_metadata_documents: {{enabled: true, allow_loopback: true, allowed_hosts: {hosts}}}
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


class World:
    """One authorization server and one daemon that trusts it."""

    def __init__(self, server: str, client: str, folder: str, log: Any) -> None:
        self.server, self.client, self.folder, self.log = server, client, folder, log
        self.environment = {**quiet_environment(folder), "XDG_STATE_HOME": os.path.join(folder, "state")}
        self.store = os.path.join(folder, "state", "mcpcore", "auth")
        self.issuer = ""
        self.servers: dict[str, Any] = {}

    @contextlib.asynccontextmanager
    async def issuing(self, minutes: int = 60, document_host: str = "") -> AsyncIterator[str]:
        """NanoIDP; `document_host` is the one host whose client id metadata documents it fetches, in the loopback
        network, with the certificates of SSL_CERT_FILE."""
        port = free_port()
        self.issuer = f"http://127.0.0.1:{port}"
        config = os.path.join(self.folder, "idp")
        os.makedirs(config, exist_ok=True)
        with open(os.path.join(config, "settings.yaml"), "w", encoding="utf-8") as file:
            hosts = json.dumps([document_host] if document_host else [])
            file.write(SETTINGS.format(port=port, issuer=self.issuer, minutes=minutes, hosts=hosts))
        with open(os.path.join(config, "users.yaml"), "w", encoding="utf-8") as file:
            file.write(USERS)
        program = os.path.join(os.environ["PROVIDERS"], "nanoidp")
        process = await asyncio.create_subprocess_exec(
            program, "--config", config, "--port", str(port), stdin=asyncio.subprocess.DEVNULL,
            stdout=self.log, stderr=self.log, cwd=self.folder,
            env={**os.environ, "HOME": self.folder, "SSL_CERT_FILE": self.environment.get("SSL_CERT_FILE", "")},
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
                    "mcpServers": self.servers,
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
