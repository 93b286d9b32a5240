"""Glewlwyd, an authorization server of Debian, with an OpenID Connect plugin, a user and two clients."""

import asyncio
import contextlib
import http.cookiejar
import json
import os
import shutil
import sqlite3
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator
from typing import Any

from harness import check, check_equal, end, free_port, until_listening

MODULES = "/usr/lib/glewlwyd"
SCHEMA = "/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3"
REDIRECT = "http://127.0.0.1:41998/callback"

CONFIGURATION = """\
port={port}
bind_address="127.0.0.1"
external_url="http://127.0.0.1:{public}"
login_url="login.html"
api_prefix="api"
log_mode="console"
log_level="WARNING"
cookie_domain="127.0.0.1"
cookie_secure=0
admin_scope="g_admin"
profile_scope="g_profile"
user_module_path="{modules}/user"
client_module_path="{modules}/client"
user_auth_scheme_module_path="{modules}/scheme"
plugin_module_path="{modules}/plugin"
hash_algorithm="SHA512"
database = {{ type = "sqlite3"; path = "{database}"; }};
"""


def is_installed() -> bool:
    programs = shutil.which("glewlwyd") and shutil.which("openssl")
    return bool(programs) and os.path.exists(MODULES) and os.path.exists(SCHEMA)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *words: Any) -> None:
        return None


class Person:
    """Somebody with a session at Glewlwyd, by its API: its login page is a program in the browser."""

    def __init__(self, port: int, name: str, password: str) -> None:
        self.root = f"http://127.0.0.1:{port}/api"
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.browser = urllib.request.build_opener(cookies, NoRedirect)
        self.send("POST", "/auth/", {"username": name, "password": password})

    def send(self, method: str, path: str, body: Any) -> None:
        data = json.dumps(body).encode()
        request = urllib.request.Request(
            self.root + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            self.browser.open(request, timeout=10).read()
        except urllib.error.HTTPError as answer:
            raise AssertionError(f"{method} {path}: {answer.code} {answer.read().decode()}") from None

    def visit(self, page: str) -> str:
        """Allows what a page asks for; returns the address of the redirect to the client."""
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page).query))
        # Glewlwyd's page leads back with the proof of the consent.
        self.send("PUT", f"/auth/grant/{query['client_id']}/", {"scope": query["scope"]})
        try:
            answer = self.browser.open(page + "&g_continue", timeout=10)
        except urllib.error.HTTPError as found:
            answer = found
        check_equal(answer.status, 302, "the status of the login")
        return answer.headers["Location"]


def key_pair() -> tuple[str, str]:
    """Makes a private and a public key for ES256."""
    def openssl(*words: str, given: str = "") -> str:
        return subprocess.run(
            ["openssl", *words], input=given, check=True, capture_output=True, text=True).stdout

    private = openssl("ecparam", "-genkey", "-name", "prime256v1", "-noout")
    return private, openssl("ec", "-pubout", given=private)


def settings(issuer: str, resources: list[str], lifetime: int, rotates: bool) -> dict[str, Any]:
    private, public = key_pair()
    scopes = ["openid", "mcp:use", "files:write"]
    return {
        "iss": issuer, "jwt-type": "ecdsa", "jwt-key-size": "256", "key": private, "cert": public,
        "jwks-show": True,
        "access-token-duration": lifetime, "refresh-token-duration": 3600, "code-duration": 60,
        "refresh-token-rolling": True, "refresh-token-one-use": "always" if rotates else "never",
        "allow-non-oidc": True,
        "auth-type-code-enabled": True, "auth-type-code-revoke-replayed": True,
        "auth-type-token-enabled": False, "auth-type-password-enabled": False,
        "auth-type-client-enabled": True, "auth-type-device-enabled": True,
        "auth-type-refresh-enabled": True, "allowed-scope": scopes,
        "device-authorization-expiration": 60, "device-authorization-interval": 1,
        "pkce-allowed": True, "pkce-method-plain-allowed": False, "pkce-required-public-client": True,
        "introspection-revocation-allowed": True, "introspection-revocation-allow-target-client": True,
        "register-client-allowed": True, "register-client-auth-scope": [],
        "register-client-credentials-scope": [], "register-resource-specify-allowed": False,
        "register-resource-default": resources, "oauth-as-iss-id": True,
        "oauth-dpop-allowed": True, "oauth-dpop-iat-duration": 300,
        "resource-allowed": True, "resource-client-property": "resource",
        "resource-scope": {scope: resources for scope in scopes},
        "resource-scope-and-client-property": False,
    }


def install(folder: str) -> str:
    """Makes a database; returns its path."""
    path = os.path.join(folder, "glewlwyd.db")
    with open(SCHEMA, encoding="utf-8") as file:
        schema = file.read()
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript(schema)
    return path


def count_access_tokens(folder: str) -> int:
    """How many access tokens were issued."""
    with contextlib.closing(sqlite3.connect(os.path.join(folder, "glewlwyd.db"), timeout=10)) as database:
        return database.execute("SELECT COUNT(*) FROM gpo_access_token").fetchone()[0]


def set_up(port: int, issuer: str, resource: str, lifetime: int, rotates: bool) -> None:
    admin = Person(port, "admin", "password")
    admin.send("POST", "/mod/plugin/", {
        "module": "oidc", "name": "mcp", "display_name": "MCP", "order_rank": 0, "readonly": False,
        "parameters": settings(issuer, [resource], lifetime, rotates)})
    for scope in ("mcp:use", "files:write"):
        admin.send("POST", "/scope/", {"name": scope, "display_name": scope, "password_required": True})
    admin.send("POST", "/user/", {
        "username": "ada", "name": "Ada", "password": "lovelace",
        "scope": ["g_profile", "openid", "mcp:use", "files:write"]})
    admin.send("POST", "/client/", {
        "client_id": "person", "name": "A person's client", "confidential": False, "enabled": True,
        "redirect_uri": [REDIRECT], "authorization_type": ["code", "refresh_token"],
        "token_endpoint_auth_method": ["none"], "scope": []})
    admin.send("POST", "/client/", {
        "client_id": "machine", "name": "A machine", "confidential": True, "enabled": True,
        "password": "machine-secret", "authorization_type": ["client_credentials"],
        "token_endpoint_auth_method": ["client_secret_basic"], "scope": ["mcp:use"], "redirect_uri": []})


@contextlib.asynccontextmanager
async def issuing(
    folder: str, resource: str, log: Any, lifetime: int = 3600, rotates: bool = True, public: int = 0
) -> AsyncIterator[tuple[str, int]]:
    """Starts Glewlwyd with its data in a folder; yields the issuer and the port.

    `public` is the port of a proxy that clients use; `rotates`: a refresh token is good only once."""
    port = free_port()
    issuer = f"http://127.0.0.1:{public or port}/api/mcp"
    configuration = os.path.join(folder, "glewlwyd.conf")
    database = install(folder)
    with open(configuration, "w", encoding="utf-8") as file:
        file.write(
            CONFIGURATION.format(port=port, public=public or port, modules=MODULES, database=database))
    process = await asyncio.create_subprocess_exec(
        "glewlwyd", "--config-file", configuration, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
        cwd=folder)
    try:
        await until_listening(process, port)
        await asyncio.to_thread(set_up, port, issuer, resource, lifetime, rotates)
        yield issuer, port
    finally:
        await end(process)
