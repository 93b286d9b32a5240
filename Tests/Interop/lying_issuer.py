"""An authorization server that lies, as mcp-client meets it: addresses of its login page that are no pages, with a
record of everything that is started. Cases of authorization.py."""

import asyncio
import contextlib
import functools
import http.server
import json
import os
import threading
from collections.abc import Iterator
from typing import Any

from harness import Case, check, check_equal
from world import World

# CVE-2025-6514 and others like it.
PAGES = [
    "javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "vbscript:x", "ssh://a.example/", "search-ms:x",
    "ms-msdt:/id", "http://a.example/authorize", "-x", "--help", "$(touch pwned)", "`touch pwned`",
    "https://a.example/$(touch${IFS}pwned)", "https://a.example/`touch pwned`", "https://a.example/a;touch pwned",
    "https://a.example/a|touch pwned", "https://a.example/a b", "https://a.example/a\nb", "https://a.example/a\0b",
    "https://a.example/\"x\"", "https://a.example/'x'", "https://a.example/<x>", "https://u@a.example/",
    "https://u:p@a.example/", "https://a.example/#x", "https://a.example\\b", "//a.example/", "/authorize", "",
    "https://", "HTTPS:/a", "https://a.example/{x}", "https://a.example/^x", "http://127.0.0.1.a.example/",
]


class Issuer(http.server.BaseHTTPRequestHandler):
    """A protected MCP endpoint and its authorization server."""

    page = ""
    wants: list[str] = []

    def log_message(self, *words: Any) -> None:
        pass

    def say(self, status: int, body: Any, **fields: str) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **fields}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        origin = f"http://127.0.0.1:{self.server.server_address[1]}"
        type(self).wants.append(self.path)
        if "oauth-protected-resource" in self.path:
            return self.say(200, {"resource": f"{origin}/mcp", "authorization_servers": [origin]})
        self.say(200, {
            "issuer": origin, "authorization_endpoint": self.page, "token_endpoint": f"{origin}/token",
            "registration_endpoint": f"{origin}/register", "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"]})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        type(self).wants.append(self.path)
        if self.path == "/register":
            return self.say(201, {"client_id": "c", "token_endpoint_auth_method": "none"})
        self.say(401, {}, WWW_Authenticate="Bearer")


@contextlib.contextmanager
def lying() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Issuer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
        finally:
            server.shutdown()
            thread.join()


class Deceived(World):
    def record(self, *names: str) -> str:
        """Programs in place of those that could open a page, which write down their arguments."""
        folder = os.path.join(self.folder, "programs")
        os.makedirs(folder)
        written = os.path.join(self.folder, "started")
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\nprintf "%s\\0" {name} "$@" >> "{written}"\n')
            os.chmod(path, 0o700)
        self.environment |= {"PATH": f"{folder}:{os.environ['PATH']}", "DISPLAY": ":99", "BROWSER": "xdg-open"}
        return written

    async def pages(self) -> None:
        """No such address is opened, whatever a shell or a browser would make of it."""
        written = self.record("xdg-open", "sh", "bash", "open", "setsid")
        with lying() as url:
            for page in PAGES:
                Issuer.page = page
                Issuer.wants = []
                process = await asyncio.create_subprocess_exec(
                    self.client, "login", "--timeout", "5s", url, stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=self.environment,
                    cwd=self.folder)
                _, errors = await asyncio.wait_for(process.communicate(), 30)
                check(process.returncode in (4, 5), f"{page!r}: the status is {process.returncode}: {errors.decode()}")
                check("/token" not in Issuer.wants, f"{page!r}: a token was requested")
                check(not any(byte < 0x20 and byte != 0x0A for byte in errors), f"{page!r}: control bytes: {errors!r}")
                check(not os.path.exists(written), f"{page!r}: something was started")
        check(not os.path.exists(os.path.join(self.folder, "pwned")), "a shell ran")

    async def argument(self) -> None:
        """A page that may be opened is no argument of any program, where other users could read its state."""
        written = self.record("xdg-open")
        with lying() as url:
            Issuer.page = url.removesuffix("/mcp") + "/authorize?a=b"
            process = await asyncio.create_subprocess_exec(
                self.client, "login", "--timeout", "3s", url, stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=self.environment)
            _, errors = await asyncio.wait_for(process.communicate(), 30)
        check_equal(process.returncode, 6, f"the status ({errors.decode()})")
        with open(written, encoding="utf-8") as file:
            words = file.read().split("\0")
        check(words[0] == "xdg-open" and len(words) == 3, f"the program and one argument: {words}")
        check(words[1].startswith("/") and words[1].endswith(".html"), f"the argument is a file: {words}")


def cases(server: str, client: str, folder: str, log: Any) -> list[Case]:
    async def case(name: str) -> None:
        own = os.path.join(folder, "lying_" + name)
        os.makedirs(own)
        await getattr(Deceived(server, client, own, log), name)()

    return [
        ("a lying issuer: pages that are not opened", functools.partial(case, "pages")),
        ("a lying issuer: a page is no argument", functools.partial(case, "argument")),
    ]
