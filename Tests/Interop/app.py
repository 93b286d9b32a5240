#!/usr/bin/env python3
"""An app that brings tools to a daemon behind nginx with TLS, and a model that uses them: a page in Chromium
(Examples/BrowserTools) and a Swift program (Examples/ClientTools), whose requests URLSession carries.

Usage: app.py --server MCP_SERVER --client MCP_CLIENT --example EXAMPLE_CLIENT_TOOLS
"""

import argparse
import asyncio
import base64
import functools
import hashlib
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

import browser
from devices import World, check, wait

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# A model that is a program: it calls the tools that it was told to use, and repeats what they said.
MODEL = """\
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    last = request["messages"][-1]
    if last["role"] == "user":
        with open(sys.argv[1], "w") as file:
            json.dump(request, file)
        calls = [("greetUser", {}), ("write_note", {"text": "Tea at five"}), ("read_note", {})]
        for number, (name, arguments) in enumerate(calls):
            print(json.dumps({"type": "tool_call", "id": f"c{number}", "name": name, "arguments": arguments}))
        print(json.dumps({"type": "stop", "reason": "tool_calls"}), flush=True)
    else:
        said = " / ".join(result["text"] for result in last["results"])
        print(json.dumps({"type": "text", "delta": f"Done: {said}"}))
        print(json.dumps({"type": "stop", "reason": "stop"}), flush=True)
"""


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


def serve():
    """Serves the page as a web server of its own would, on another origin than the daemon's."""
    handler = functools.partial(Files, directory=f"{ROOT}/Examples/BrowserTools")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def trusting(folder):
    """The words that run a program which trusts the certificate of the test. On Linux, URLSession trusts the
    certificates of the system and no variable adds to them, so the program sees another file in their place."""
    system = "/etc/ssl/certs/ca-certificates.crt"
    if not os.path.exists(system):
        raise SystemExit(f"app: {system} is needed (apt-get install ca-certificates)")
    script = f'mount --bind "{folder}/cert.pem" {system} && exec "$@"'
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    # What it prints is read while it runs.
    return ["unshare", "--mount", *user, "sh", "-c", script, "sh", "stdbuf", "-oL"]


def fingerprint(folder):
    """The hash of the certificate's key, as Chromium wants it."""
    key = subprocess.run(["openssl", "x509", "-in", f"{folder}/cert.pem", "-noout", "-pubkey"],
                         check=True, capture_output=True).stdout
    der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], input=key,
                         check=True, capture_output=True).stdout
    return base64.b64encode(hashlib.sha256(der).digest()).decode()


def offered(world):
    listing = subprocess.run(
        [world.client, "tools", "--json", f"{world.url}/mcp/channels/general"],
        env=world.environment, capture_output=True, text=True, timeout=60)
    if listing.returncode != 0:
        return []
    return [tool["name"] for tool in json.loads(listing.stdout)["tools"]]


def ask_the_model(world):
    with open(f"{world.folder}/model.py", "w", encoding="utf-8") as file:
        file.write(MODEL)
    model = f"{sys.executable} {world.folder}/model.py {world.folder}/request.json"
    return subprocess.run(
        [world.client, "agent", "--model-command", model, "--allow", "greetUser", "--allow", "write_note",
         "--allow", "read_note", "Greet me, and note that there is tea at five.",
         f"{world.url}/mcp/channels/general"],
        env=world.environment, capture_output=True, text=True, timeout=60)


async def run(world, page, token, alerts):
    log = asyncio.subprocess.DEVNULL
    trust = f"--ignore-certificate-errors-spki-list={fingerprint(world.folder)}"
    async with browser.browsing(log, trust) as window:
        await window.open(page + "/")
        for name, value in [("daemon", world.url), ("token", token)]:
            await window.run(f"document.querySelector('[name={name}]').value = arguments[0]", value)
        await window.click("button")
        for _ in range(300):
            text = await window.text()
            if "Offered: write_note, read_note" in text:
                break
            await asyncio.sleep(0.1)
        check("Offered: write_note, read_note" in text, "a page in Chromium offers its tools through nginx with TLS")
        wait("the Swift program", lambda: "greetUser" in offered(world))
        check(set(offered(world)) >= {"own", "greetUser", "write_note", "read_note"},
              "the tools of the page, of the Swift program over URLSession, and of the server in one list")
        outcome = ask_the_model(world)
        check(outcome.returncode == 0, f"a turn of the model: {outcome.stderr.strip()[-600:]}")
        answer = "Done: greetUser: done / The note is shown. / Tea at five"
        check(answer in outcome.stdout, f"the model used the tools of both: {outcome.stdout.strip()}")
        check("Tea at five" in await window.text(), "the page shows the note")
        with open(alerts, encoding="utf-8") as file:
            check("Greetings! The assistant asked me to greet you." in file.read(), "the Swift program greets")
        with open(f"{world.folder}/request.json", encoding="utf-8") as file:
            request = json.load(file)
        check("greetUser (client example): Use the greetUser tool when the user asks to be greeted."
              in request["system"], "the model was told what the tool is for, and by whom")
        # A phone and a page whose daemon is gone for a moment return by themselves.
        world.end(world.running)
        world.running = world.daemon()
        wait("the return of both", lambda: {"greetUser", "write_note"} <= set(offered(world)), 60)
        check(answer in ask_the_model(world).stdout, "both return after a restart of the daemon")
        await window.open("about:blank")
        wait("the end of the page's tools", lambda: "write_note" not in offered(world))
        check("greetUser" in offered(world), "a page that is left takes its tools with it, and no others")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--client", required=True)
    parser.add_argument("--example", required=True)
    words = parser.parse_args()
    missing = [name for name, found in [
        ("chromium and chromedriver", browser.is_installed()), ("unshare", shutil.which("unshare")),
        (words.example, os.path.exists(words.example))] if not found]
    if missing:
        print(f"app: skipped: {', '.join(missing)} are missing", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else 0
    files = serve()
    page = f"http://localhost:{files.server_address[1]}"
    with tempfile.TemporaryDirectory() as folder:
        world = World(os.path.abspath(words.server), os.path.abspath(words.client), folder, [page])
        world.prepare()
        with world.processes:
            world.running = world.daemon()
            world.start("nginx", "-p", folder, "-c", f"{folder}/nginx.conf", "-e", f"{folder}/error.log",
                        "-g", "daemon off;")
            wait("the daemon", lambda: world.call("general", "own").returncode == 0)
            with open(world.token_file, encoding="ascii") as file:
                token = file.read().strip()
            with open(f"{folder}/alerts", "w", encoding="utf-8") as alerts:
                world.start(*trusting(folder), os.path.abspath(words.example), world.url, "general", token,
                            output=alerts)
            asyncio.run(run(world, page, token, f"{folder}/alerts"))
    files.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
