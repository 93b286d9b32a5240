"""The official Python SDK as the authorization server: its routes (`mcp.server.auth`), with a provider that keeps
everything in memory, as the SDK's example does. mcp-client logs in there, and our daemon asks it about tokens. Cases of
authorization.py; with a port as its argument, this is the authorization server itself."""

import asyncio
import base64
import contextlib
import functools
import html
import json
import os
import re
import secrets
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator
from typing import Any

from harness import Case, check, check_equal, end, free_port, until_listening
from world import NoRedirect, World

SCOPES = ["mcp:use", "files:write"]
# What the daemon presents when it asks about tokens.
ASKER = base64.b64encode(b"daemon:hush").decode()
LIFETIME = 3  # seconds of an access token


def serve(port: int) -> None:
    """Runs the authorization server."""
    import uvicorn
    from mcp.server.auth.provider import AccessToken, AuthorizationCode, RefreshToken, construct_redirect_uri
    from mcp.server.auth.routes import create_auth_routes
    from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
    from mcp.shared.auth import OAuthToken
    from pydantic import AnyHttpUrl
    from starlette.applications import Starlette
    from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse
    from starlette.routing import Route

    origin = f"http://127.0.0.1:{port}"
    clients: dict[str, Any] = {}
    waiting: dict[str, Any] = {}
    codes: dict[str, Any] = {}
    access: dict[str, Any] = {}
    refresh: dict[str, Any] = {}

    class Provider:
        async def get_client(self, client_id: str) -> Any:
            return clients.get(client_id)

        async def register_client(self, client_info: Any) -> None:
            clients[client_info.client_id] = client_info

        async def authorize(self, client: Any, params: Any) -> str:
            ticket = secrets.token_hex(16)
            waiting[ticket] = (client, params)
            return f"{origin}/login?ticket={ticket}"

        async def load_authorization_code(self, client: Any, authorization_code: str) -> Any:
            return codes.get(authorization_code)

        async def exchange_authorization_code(self, client: Any, authorization_code: Any) -> Any:
            del codes[authorization_code.code]
            return self.issue(client.client_id, authorization_code.scopes, authorization_code.resource)

        async def load_refresh_token(self, client: Any, refresh_token: str) -> Any:
            return refresh.get(refresh_token)

        async def exchange_refresh_token(self, client: Any, refresh_token: Any, scopes: list[str]) -> Any:
            del refresh[refresh_token.token]
            return self.issue(client.client_id, scopes, refresh_token.resource)

        async def load_access_token(self, token: str) -> Any:
            return access.get(token)

        async def revoke_token(self, token: Any) -> None:
            for table in (access, refresh):
                for name in [name for name, kept in table.items() if kept.client_id == token.client_id]:
                    del table[name]

        def issue(self, client_id: str, scopes: list[str], resource: str | None) -> Any:
            token, renewal = f"access-{secrets.token_hex(32)}", f"refresh-{secrets.token_hex(32)}"
            access[token] = AccessToken(
                token=token, client_id=client_id, scopes=scopes, expires_at=int(time.time()) + LIFETIME,
                resource=resource, subject="ada")
            refresh[renewal] = RefreshToken(token=renewal, client_id=client_id, scopes=scopes, resource=resource)
            return OAuthToken(
                access_token=token, token_type="Bearer", expires_in=LIFETIME, scope=" ".join(scopes),
                refresh_token=renewal)

    async def login(request: Any) -> Any:
        """The page of the login, and what it sends."""
        if request.method == "GET":
            ticket = html.escape(request.query_params["ticket"])
            return HTMLResponse(
                f'<form method="post" action="/login"><input type="hidden" name="ticket" value="{ticket}">'
                '<input name="username"><input name="password" type="password"></form>')
        form = await request.form()
        if (form["username"], form["password"]) != ("ada", "lovelace"):
            return HTMLResponse("wrong", 403)
        client, params = waiting.pop(form["ticket"])
        code = secrets.token_hex(20)
        codes[code] = AuthorizationCode(
            code=code, client_id=client.client_id, redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly, expires_at=time.time() + 60,
            scopes=params.scopes or ["mcp:use"], code_challenge=params.code_challenge, resource=params.resource)
        target = construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)
        return RedirectResponse(target, 302, headers={"Cache-Control": "no-store"})

    async def introspect(request: Any) -> Any:
        """RFC 7662, as the SDK's example has it, for its resource server."""
        if request.headers.get("authorization") != f"Basic {ASKER}":
            return JSONResponse({"error": "invalid_client"}, 401)
        found = access.get((await request.form())["token"])
        if found is None or found.expires_at < time.time():
            return JSONResponse({"active": False})
        return JSONResponse({
            "active": True, "client_id": found.client_id, "scope": " ".join(found.scopes), "exp": found.expires_at,
            "token_type": "Bearer", "aud": found.resource, "sub": found.subject})

    routes = create_auth_routes(
        Provider(), AnyHttpUrl(origin),
        client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=SCOPES),
        revocation_options=RevocationOptions(enabled=True))
    routes += [Route("/login", login, methods=["GET", "POST"]), Route("/introspect", introspect, methods=["POST"])]
    uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=port, log_level="warning")


def visit(page: str) -> str:
    """Logs in as a person with a browser does; returns the address of the redirect."""
    browser = urllib.request.build_opener(NoRedirect)

    def location(address: str, data: bytes | None = None) -> str:
        try:
            answer = browser.open(address, data, timeout=10)
        except urllib.error.HTTPError as found:
            check_equal(found.code, 302, f"the status of {address}")
            return found.headers["Location"]
        raise AssertionError(f"no redirect from {address}: {answer.status}")

    form = location(page)
    with urllib.request.urlopen(form, timeout=10) as answer:
        ticket = re.findall(r'name="ticket" value="([0-9a-f]+)"', answer.read().decode())[0]
    data = urllib.parse.urlencode({"ticket": ticket, "username": "ada", "password": "lovelace"}).encode()
    return location(form.partition("?")[0], data)


class AtTheSDK(World):
    @contextlib.asynccontextmanager
    async def issuing(self) -> AsyncIterator[str]:
        port = free_port()
        process = await asyncio.create_subprocess_exec(
            sys.executable, os.path.abspath(__file__), str(port), stdin=asyncio.subprocess.DEVNULL, stdout=self.log,
            stderr=self.log)
        try:
            await until_listening(process, port)
            origin = f"http://127.0.0.1:{port}"
            with urllib.request.urlopen(f"{origin}/.well-known/oauth-authorization-server", timeout=10) as answer:
                # As it spells it: with a slash at its end or without.
                self.issuer = json.load(answer)["issuer"]
            yield origin
        finally:
            await end(process)

    @contextlib.asynccontextmanager
    async def asking(self, origin: str, port: int = 0) -> AsyncIterator[str]:
        """Our daemon, which asks the authorization server about each token."""
        introspection = {
            "issuer": self.issuer, "endpoint": f"{origin}/introspect", "clientId": "daemon", "clientSecret": "hush"}
        async with self.serving(port, introspection=introspection) as url:
            yield url

    async def login_and_renewal(self) -> None:
        async with self.issuing() as origin, self.asking(origin) as url:
            said = await self.login(url, "--scope", "mcp:use", visitor=visit)
            check(f"logged in to {self.issuer} · mcp:use" in said, f"login said {said}")
            first, _ = await self.run("auth", "token", url)
            out, _ = await self.run("call", url, "who")
            check_equal(out.strip(), "hello", "the result")
            _, refused = await self.run("call", url, "write", status=4)
            check("files:write" in refused, f"no scope in {refused}")
            await asyncio.sleep(LIFETIME)
            out, _ = await self.run("call", url, "who")
            check_equal(out.strip(), "hello", "the result with a renewed token")
            second, _ = await self.run("auth", "token", url)
            check(first != second, "the token was not renewed")
            await self.login(url, "--scope", "mcp:use files:write", visitor=visit)
            out, _ = await self.run("call", url, "write")
            check_equal(out.strip(), "written", "the result with more scopes")
            # The SDK (2.3) requires the secret in the form of a revocation, also from clients that were registered for
            # Basic authentication.
            _, said = await self.run("logout", url)
            check_equal(said.count("did not revoke the "), 0, f"the failures in {said}")
            await self.run("auth", "status", url, status=4)

    async def another_port(self) -> None:
        """It compares redirect URIs byte for byte, so another port is another registration."""
        async with self.issuing() as origin, self.asking(origin) as url:
            for port in (free_port(), free_port()):
                said = await self.login(url, "--callback-port", str(port), visitor=visit)
                check("logged in" in said, f"login said {said}")
                out, _ = await self.run("call", url, "who")
                check_equal(out.strip(), "hello", "the result")

    async def away(self) -> None:
        """While the authorization server does not answer, nobody knows whether a token is good: 503, not 401."""
        port = free_port()
        async with self.issuing() as origin:
            async with self.asking(origin, port) as url:
                await self.login(url, visitor=visit)
                token = (await self.run("auth", "token", url))[0].strip()
        path = os.path.join(self.folder, "token")
        with open(path, "w", encoding="utf-8", opener=functools.partial(os.open, mode=0o600)) as file:
            file.write(token)
        async with self.asking(origin, port) as url:
            process = await asyncio.create_subprocess_exec(
                self.client, "call", "--bearer-file", path, url, "who", stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=self.environment)
            _, errors = await asyncio.wait_for(process.communicate(), 60)
            check("503" in errors.decode(), f"the error is {errors.decode()}")
            check(token not in errors.decode(), "the error shows the token")


def cases(server: str, client: str, folder: str, log: Any) -> list[Case]:
    async def case(name: str) -> None:
        own = os.path.join(folder, "sdk_" + name)
        os.makedirs(own)
        await getattr(AtTheSDK(server, client, own, log), name)()

    return [
        ("SDK as the authorization server: login, renewal, scopes, logout",
         functools.partial(case, "login_and_renewal")),
        ("SDK as the authorization server: another port", functools.partial(case, "another_port")),
        ("SDK as the authorization server: away", functools.partial(case, "away")),
    ]


if __name__ == "__main__":
    serve(int(sys.argv[1]))
