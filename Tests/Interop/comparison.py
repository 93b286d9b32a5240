"""The same jobs with mcp-server and with other programs from PyPI that make commands into tools.

Prints a table in Markdown. Run it on a machine with nothing else to do:

    make compare
"""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.error
import urllib.request

from harness import free_port
from mcp_types import PaginatedRequestParams
from sdk_session import session

FLOOD = 50_000_000
FILES = 20_000
SECRET = "hunter2-of-the-server"
COMMANDS = {
    "log": ["git", "-C", "{repo}", "log", "--format=%s", "-n", "3"],
    "search": ["grep", "-c", "{pattern}", "{file}"],
    "backup": ["sh", "-c", "for i in 1 2 3; do echo part $i; sleep 1; done"],
    "own": ["sh", "-c", "tr '\\0' '\\n' </proc/$PPID/environ; env"],
    "flood": ["sh", "-c", f"yes 0123456789 | head -c {FLOOD}"],
    "nap": ["sleep", "{seconds}"],
}
PARAMETERS = {"log": ["repo"], "search": ["pattern", "file"], "nap": ["seconds"]}

SCRIPT = textwrap.dedent('''
    import asyncio, json, os, sys
    from fastmcp import Context, FastMCP

    server = FastMCP("script")
    commands = json.loads(os.environ["COMMANDS"])

    async def run(name, context=None, **values):
        words = [word.format(**values) if "{" in word and name in ("log", "search", "nap") else word
                 for word in commands[name]]
        process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
        if context is None:
            return (await process.communicate())[0].decode()
        lines = []
        async for line in process.stdout:
            lines.append(line.decode())
            await context.report_progress(len(lines), message=lines[-1])
        return "".join(lines)

    @server.tool()
    async def log(repo: str) -> str: return await run("log", repo=repo)
    @server.tool()
    async def search(pattern: str, file: str) -> str: return await run("search", pattern=pattern, file=file)
    @server.tool()
    async def backup(context: Context) -> str: return await run("backup", context)
    @server.tool()
    async def own() -> str: return await run("own")
    @server.tool()
    async def flood() -> str: return await run("flood")
    @server.tool()
    async def nap(seconds: str) -> str: return await run("nap", seconds=seconds)

    @server.resource("docs://{name}")
    def doc(name: str) -> str:
        with open(os.path.join(os.environ["DOCS"], os.path.basename(name)), encoding="utf-8") as file:
            return file.read()

    if sys.argv[1] == "stdio":
        server.run()
    else:
        server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]))
''')


class Program:
    """A program under comparison: how it is started, and where it answers."""

    def __init__(self, title, words, environment=None):
        self.title, self.words, self.environment = title, words, environment or {}


def ours(server, folder, port):
    def tool(name):
        return {"input": {key: {"type": "string"} for key in PARAMETERS.get(name, [])}, "exec": COMMANDS[name],
                "timeout": "20m", "progress": "lines"}

    path = os.path.join(folder, "mcp.jsonc")
    with open(path, "w", encoding="utf-8") as file:
        # The client may be root, and the server somebody else.
        json.dump({"tools": {name: tool(name) for name in COMMANDS}, "limits": {"drain": "2s"},
                   "files": {"docs": {"root": os.path.join(folder, "docs")}},
                   "auth": {"peers": [{"uid": os.geteuid()}]}}, file)
    return Program("mcp-server", [server, "-c", path, "--listen", f"127.0.0.1:{port}"])


def wrapped(venv, folder, port):
    # YAML is a superset of JSON.
    path = os.path.join(folder, "wrap.yml")
    tools = [
        {"name": name, "description": name, "argv": words,
         "params": {key: {"type": "string", "description": key} for key in PARAMETERS.get(name, [])}}
        for name, words in COMMANDS.items()
    ]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"server": {"name": "wrap", "description": "wrap"}, "tools": tools}, file)
    return Program(
        "mcp-proxy + cli-wrap-mcp",
        [f"{venv}/bin/mcp-proxy", "--pass-environment", "--port", str(port), "--", f"{venv}/bin/cli-wrap-mcp",
         "--config", path])


def script(folder):
    path = os.path.join(folder, "script.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SCRIPT)
    return path, {"COMMANDS": json.dumps(COMMANDS), "DOCS": os.path.join(folder, "docs")}


def scripted(venv, folder, port):
    path, environment = script(folder)
    return Program("fastmcp script", [f"{venv}/bin/python", path, str(port)], environment)


def bridged(venvs, folder, port):
    others, venv = venvs.split(":")
    path, environment = script(folder)
    return Program(
        "mcp-proxy + fastmcp script",
        [f"{others}/bin/mcp-proxy", "--pass-environment", "--port", str(port), "--", f"{venv}/bin/python", path,
         "stdio"],
        environment)


# MARK: Processes


def tree(pid):
    """The process and everything beneath it."""
    found, parents = [pid], {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, ValueError):
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                parents.setdefault(int(file.read().rpartition(")")[2].split()[1]), []).append(int(name))
    for process in found:
        found += parents.get(process, [])
    return found


def resident(pid):
    total = 0
    for process in tree(pid):
        with contextlib.suppress(OSError, IndexError, ValueError):
            with open(f"/proc/{process}/statm", encoding="utf-8") as file:
                total += int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return total / 1e6


def naps(seconds):
    """The running commands that sleep for this time."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if file.read().split(b"\0")[:2] == [b"sleep", seconds.encode()]:
                    found.append(int(name))
    return found


async def until(condition, limit):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if condition():
            return True
        await asyncio.sleep(0.05)
    return bool(condition())


def text(result):
    return "".join(getattr(block, "text", "") for block in result.content)


# MARK: Jobs


class Comparison:
    def __init__(self, program, port, folder):
        self.program, self.folder = program, folder
        self.url = f"http://127.0.0.1:{port}/mcp"
        self.process = None
        self.cells = {}
        # Root may read everything, so a server of root has no secrets from its commands.
        self.user = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        try:
            subprocess.run([*program.words[:1], "--version"], capture_output=True, check=False, **self.user)
            if self.user:
                subprocess.run(["chown", "-R", "65534:65534", folder], check=True)
        except PermissionError:  # A Python in the home directory of root.
            self.user = {}

    async def start(self):
        environment = {"PATH": os.environ["PATH"], "HOME": self.folder, "SERVER_SECRET": SECRET}
        began = time.monotonic()
        self.process = subprocess.Popen(
            self.program.words, env={**environment, **self.program.environment}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **self.user)
        while time.monotonic() - began < 60:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(10), session(self.url, patience=60) as client:
                    await client.list_tools()
                    return time.monotonic() - began
            await asyncio.sleep(0.02)
        raise RuntimeError("it never answered")

    async def stop(self):
        for process in tree(self.process.pid):
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        self.process.wait()

    async def call(self, name, arguments=None, **options):
        async with session(self.url, patience=60) as client:
            return await client.call_tool(name, arguments or {}, **options)

    async def job(self, title, body, limit=90):
        try:
            self.cells[title] = await asyncio.wait_for(body(), limit)
        except (Exception, asyncio.CancelledError) as error:  # What went wrong is the outcome.
            self.cells[title] = "timed out" if isinstance(error, TimeoutError) else f"failed: {type(error).__name__}"

    async def run(self):
        self.cells["ready"] = f"{await self.start():.2f} s"
        self.cells["memory"] = f"{resident(self.process.pid):.0f} MB"
        try:
            for title, body in [
                ("git log", self.log), (f"{FILES:,} files", self.files),
                ("a pattern that is an option", self.option), ("progress", self.progress),
                ("secrets of the server", self.secret), ("foreign Host", self.host), ("50 MB of output", self.flood),
                ("a call after that", self.after), ("client gone: command", self.client_gone),
            ]:
                await self.job(title, body)
        finally:
            await self.stop()
        for title, number in [("SIGTERM: command", signal.SIGTERM), ("SIGKILL: command", signal.SIGKILL)]:
            await self.job(title, lambda number=number: self.ended(number))

    async def log(self):
        return "✔" if "first" in text(await self.call("log", {"repo": self.folder})) else "✘"

    async def files(self):
        """Whether all of them are listed, and the last one can be read."""
        found, cursor = [], None
        async with session(self.url, patience=60) as client:
            while True:
                page = await client.list_resources(params=PaginatedRequestParams(cursor=cursor))
                found += [str(resource.uri) for resource in page.resources]
                cursor = page.next_cursor
                if not cursor:
                    break
            if not found:
                return "template only" if (await client.list_resource_templates()).resource_templates else "–"
            begun = time.monotonic()
            contents = (await client.read_resource(max(found))).contents
            return (f"{'✔' if len(found) == FILES and contents else '✘'} {len(found):,} listed, "
                    f"read in {(time.monotonic() - begun) * 1000:.0f} ms")

    async def option(self):
        file = os.path.join(self.folder, "lines.txt")
        result = text(await self.call("search", {"pattern": "--version", "file": file}))
        return "✘ obeyed" if "GNU grep" in result else "✔ refused"

    async def progress(self):
        reports = []

        async def report(_progress, _total, message):
            reports.append(message)

        await self.call("backup", progress_callback=report)
        return f"✔ {len(reports)} reports" if reports else "✘ none"

    async def secret(self):
        if os.geteuid() == 0 and not self.user:
            return "not measured as root"
        return "✘ visible to commands" if SECRET in text(await self.call("own")) else "✔ hidden"

    async def host(self):
        request = urllib.request.Request(
            self.url, data=b"{}", headers={"Host": "evil.example", "Content-Type": "application/json"})
        try:
            status = (await asyncio.to_thread(urllib.request.urlopen, request, timeout=10)).status
        except urllib.error.HTTPError as error:
            status = error.code
        return f"✔ {status}" if status in (403, 421) else f"✘ {status}"

    async def flood(self):
        most = 0.0

        async def watch():
            nonlocal most
            while True:
                most = max(most, resident(self.process.pid))
                await asyncio.sleep(0.05)

        watcher = asyncio.create_task(watch())
        try:
            result = await self.call("flood")
            size = len(text(result))
            outcome = f"all {size // 1_000_000} MB" if size >= FLOOD else f"stopped, {size // 1000} kB"
        except (Exception, asyncio.CancelledError) as error:
            outcome = f"failed: {type(error).__name__}"
        finally:
            watcher.cancel()
        return f"{outcome}; {most:.0f} MB of memory"

    async def after(self):
        return "✔" if "first" in text(await self.call("log", {"repo": self.folder})) else "✘"

    async def client_gone(self):
        seconds = "3601"
        task = asyncio.create_task(self.call("nap", {"seconds": seconds}))
        if not await until(lambda: naps(seconds), 20):
            return "never ran"
        task.cancel()
        with contextlib.suppress(BaseException):
            await task
        return "✔ ended" if await until(lambda: not naps(seconds), 10) else "✘ left"

    async def ended(self, number):
        seconds = str(3602 + number)
        await self.start()
        task = asyncio.create_task(self.call("nap", {"seconds": seconds}))
        try:
            if not await until(lambda: naps(seconds), 20):
                return "never ran"
            os.kill(self.process.pid, number)
            isGone = await until(lambda: self.process.poll() is not None, 15)
            isEnded = await until(lambda: not naps(seconds), 5)
            return ("✔ ended" if isEnded else "✘ left") + ("" if isGone else "; the server does not end")
        finally:
            await self.stop()
            for process in naps(seconds):
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL)
            task.cancel()
            with contextlib.suppress(BaseException):
                await task


def prepare(folder):
    for words in (["init", "-q"], ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q",
                                   "--allow-empty", "-m", "first"]):
        subprocess.run(["git", "-C", folder, *words], check=True)
    os.mkdir(os.path.join(folder, "docs"))
    for number in range(FILES):
        with open(os.path.join(folder, "docs", f"{number:05}.md"), "w", encoding="utf-8") as file:
            file.write(f"text of {number}")
    with open(os.path.join(folder, "lines.txt"), "w", encoding="utf-8") as file:
        file.write("one\ntwo\n")


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--others", required=True, help="a virtual environment with mcp-proxy and cli-wrap-mcp")
    parser.add_argument("--fastmcp", required=True, help="a virtual environment with fastmcp")
    options = parser.parse_args()
    columns = []
    for make, place in [(ours, options.server), (wrapped, options.others), (scripted, options.fastmcp),
                        (bridged, f"{options.others}:{options.fastmcp}")]:
        with tempfile.TemporaryDirectory() as folder:
            prepare(folder)
            port = free_port()
            place = ":".join(map(os.path.abspath, place.split(":")))
            comparison = Comparison(make(place, folder, port), port, folder)
            try:
                await comparison.run()
            except RuntimeError as error:
                comparison.cells["ready"] = str(error)
            columns.append(comparison)
    print("| |", " | ".join(column.program.title for column in columns), "|")
    print("|---" * (len(columns) + 1) + "|")
    for title in max((column.cells for column in columns), key=len):
        print("|", title, "|", " | ".join(column.cells.get(title, "–") for column in columns), "|")
    wrong = [title for title, cell in columns[0].cells.items() if "✘" in cell or cell.startswith("failed")]
    if wrong:
        print(f"comparison: mcp-server fails at: {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
