"""A real browser: Chromium, driven by chromedriver (W3C WebDriver) with the standard library alone."""

import asyncio
import contextlib
import json
import os
import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from typing import Any

from harness import end, free_port, until_listening

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def is_installed() -> bool:
    return bool(shutil.which("chromedriver") and shutil.which("chromium"))


class Browser:
    """One window."""

    def __init__(self, driver: str, session: str) -> None:
        self.base = f"{driver}/session/{session}"

    @staticmethod
    def send(method: str, url: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.loads(answer.read())["value"]
        except urllib.error.HTTPError as answer:
            raise AssertionError(f"chromedriver: {answer.read().decode()[:500]}") from None

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        return await asyncio.to_thread(self.send, method, self.base + path, body)

    async def open(self, url: str) -> None:
        await self.ask("POST", "/url", {"url": url})

    async def element(self, selector: str) -> str:
        found = await self.ask("POST", "/element", {"using": "css selector", "value": selector})
        return f"/element/{found[ELEMENT]}"

    async def type(self, selector: str, text: str) -> None:
        await self.ask("POST", await self.element(selector) + "/value", {"text": text})

    async def click(self, selector: str) -> None:
        await self.ask("POST", await self.element(selector) + "/click", {})

    async def address(self) -> str:
        return await self.ask("GET", "/url")

    async def run(self, script: str, *arguments: Any) -> Any:
        return await self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    async def text(self) -> str:
        return await self.ask("GET", await self.element("body") + "/text")


@contextlib.asynccontextmanager
async def browsing(log: Any, *flags: str) -> AsyncIterator[Browser]:
    port = free_port()
    driver = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as profile:
        process = await asyncio.create_subprocess_exec(
            "chromedriver", f"--port={port}", stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
            env={**os.environ, "HOME": profile},
        )
        try:
            await until_listening(process, port)
            arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}/data", *flags]
            wanted = {"alwaysMatch": {"goog:chromeOptions": {"args": arguments}}}
            made = await asyncio.to_thread(Browser.send, "POST", f"{driver}/session", {"capabilities": wanted})
            browser = Browser(driver, made["sessionId"])
            try:
                yield browser
            finally:
                await browser.ask("DELETE", "")
        finally:
            await end(process)
