"""mcp-client and our daemon at Glewlwyd, an authorization server in C: tokens, rotation, revocation, and clients that
renew at the same time or are killed. Cases of authorization.py."""

import asyncio
import base64
import contextlib
import functools
import json
import os
import random
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator
from typing import Any

import glewlwyd
from harness import Case, check, check_equal, free_port
from world import World


class AtGlewlwyd(World):
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

    @staticmethod
    def claims(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """The header and the claims of a JWT."""
        parts = [part + "=" * (-len(part) % 4) for part in token.split(".")[:2]]
        header, claims = (json.loads(base64.urlsafe_b64decode(part)) for part in parts)
        return header, claims

    async def registered(self) -> None:
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

    async def registers(self) -> None:
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

    async def reuse(self) -> None:
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

    async def introspection(self) -> None:
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

    async def processes(self) -> None:
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

    async def killed(self) -> None:
        """A client that is killed when the answer with its tokens has arrived is still logged in."""
        rounds = int(os.environ.get("INTEROP_EXPIRIES", "3"))
        public, place, victims, answers, lost = free_port(), [0], [], [], 0

        async def forward(reader: Any, writer: Any, of: bytes | None) -> None:
            with contextlib.suppress(ConnectionError):
                while data := await reader.read(1 << 16):
                    is_answer = of is not None and b'"access_token":' in data
                    victim = victims.pop() if is_answer and victims else None
                    answers.extend([len(data)] if is_answer else [])
                    writer.write(data)
                    await writer.drain()
                    if victim:
                        await asyncio.sleep(random.choice([0, 0, 0.002, 0.01]))
                        with contextlib.suppress(ProcessLookupError):
                            (await victim).kill()
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
                    # The answer may come before the process is known here, and belongs to this one alone.
                    victims.append(asyncio.get_running_loop().create_future())
                    victim = victims[-1]
                    process = await asyncio.create_subprocess_exec(
                        self.client, "auth", "token", url, stdin=asyncio.subprocess.DEVNULL,
                        stdout=self.log, stderr=self.log, env=self.environment)
                    victim.set_result(process)
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
    """The cases; none where Glewlwyd is not installed."""
    if not glewlwyd.is_installed():
        check(os.environ.get("CI") != "true", "glewlwyd or openssl is missing")
        print("skipped: glewlwyd or openssl is missing, so nobody logs in there (apt-get install glewlwyd)")
        return []

    async def case(name: str) -> None:
        own = os.path.join(folder, name)
        os.makedirs(own)
        await getattr(AtGlewlwyd(server, client, own, log), name)()

    return [
        ("Glewlwyd: a registered client", functools.partial(case, "registered")),
        ("Glewlwyd: registration, rotation, revocation", functools.partial(case, "registers")),
        ("Glewlwyd: a stolen refresh token", functools.partial(case, "reuse")),
        ("Glewlwyd: introspection", functools.partial(case, "introspection")),
        ("Glewlwyd: eight processes, one refresh", functools.partial(case, "processes")),
        ("Glewlwyd: clients that are killed", functools.partial(case, "killed")),
    ]
