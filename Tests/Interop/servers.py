"""Servers of other people from PyPI, as they come, in Go and in Rust; and two small ones on each generation of the
Python SDKs, each in an environment of its own.

Each is called with mcp-client by its command and by its name, where it remembers what it found out before, and is
listed in every revision that it speaks. SDK versions up to 1.8 do not survive `server/discover`.
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FASTMCP = ["python", f"{HERE}/fastmcp_server.py"]
LOW_LEVEL = ["python", f"{HERE}/low_level_server.py"]
GREET = ["greet", "who=Ada"]
# The name of the server, the end of the name of its environment, the program with its arguments, the revision that is
# negotiated, the call, and what that prints. {folder} is a folder of the server.
SERVERS = [
    ("grafana", "-native", ["mcp-grafana"], "2026-07-28", ["search_dashboards", "query=x"], "127.0.0.1:1"),
    ("kglite", "-native", ["kglite-mcp-server", "--graph", "{folder}/g.kgl", "--storage", "memory", "--writable"],
     "2025-11-25", ["cypher_query", "query=RETURN 41 + 1 AS answer"], "42"),
    ("sqlite", "-mcp-1.30", ["mcp-server-sqlite", "--db-path", "{folder}/s.db"], "2025-11-25",
     ["create_table", "query=CREATE TABLE IF NOT EXISTS t (a INT)"], "Table created"),
    ("excel", "", ["excel-mcp-server", "stdio"], "2026-07-28", ["create_workbook", "path={folder}/a.xlsx", "overwrite=true"], "a.xlsx"),
    ("fastmcp-1", "-fastmcp-1", FASTMCP, "2025-11-25", GREET, "Hello, Ada"),
    ("fastmcp-2", "-fastmcp-2", FASTMCP, "2025-11-25", GREET, "Hello, Ada"),
    ("fastmcp-3", "-fastmcp-3", FASTMCP, "2025-11-25", GREET, "Hello, Ada"),
    ("fastmcp-4", "-fastmcp-4", FASTMCP, "2026-07-28", GREET, "Hello, Ada"),
    ("mcp-1.2", "-mcp-1.2", LOW_LEVEL, "2024-11-05", GREET, "Hello, Ada"),
    ("mcp-1.3", "-mcp-1.3", LOW_LEVEL, "2024-11-05", GREET, "Hello, Ada"),
    ("mcp-1.8", "-mcp-1.8", LOW_LEVEL, "2024-11-05", GREET, "Hello, Ada"),
    ("mcp-1.9", "-mcp-1.9", LOW_LEVEL, "2025-03-26", GREET, "Hello, Ada"),
    ("mcp-1.30", "-mcp-1.30", LOW_LEVEL, "2025-11-25", GREET, "Hello, Ada"),
    ("mcp-2.3", "", ["mcp-server-time", "--local-timezone", "Europe/Berlin"], "2026-07-28",
     ["get_current_time", "timezone=Europe/Berlin"], "Europe/Berlin"),
]
REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
SECONDS = 90


class Server:
    def __init__(self, entry, client, venvs, folder):
        self.name, venv, words, self.revision, call, self.printed = entry
        self.client = client
        self.folder = os.path.join(folder, self.name)
        os.mkdir(self.folder)
        program = os.path.join(venvs, f"interop-venv{venv}", "bin", words[0])
        self.words = [program] + [word.format(folder=self.folder) for word in words[1:]]
        self.call = [word.format(folder=self.folder) for word in call]
        self.file = os.path.join(self.folder, "servers.json")
        with open(self.file, "w", encoding="utf-8") as out:
            entry = {"command": self.words[0], "args": self.words[1:], "env": {"GRAFANA_URL": "http://127.0.0.1:1"}}
            json.dump({"mcpServers": {self.name: entry}}, out)

    def run(self, *words):
        environment = {
            "PATH": os.environ["PATH"], "HOME": self.folder, "NO_COLOR": "1", "MCP_CONFIG": self.file,
            "GRAFANA_URL": "http://127.0.0.1:1",
        }
        done = subprocess.run(
            [self.client, *words], env=environment, capture_output=True, text=True, timeout=SECONDS, cwd=self.folder)
        return done.returncode, done.stdout + done.stderr

    def problems(self):
        """Returns what went wrong, and the revisions in which the tools can be listed."""
        found = []
        # The tool of a server without its service fails, and says why.
        for target in [["-e", "GRAFANA_URL=http://127.0.0.1:1", "call", *self.call, "--", *self.words],
                       ["call", self.name, *self.call], ["call", self.name, *self.call]]:
            status, text = self.run(*target)
            if self.printed not in text or status not in (0, 1):
                found.append(f"{' '.join(target)}: status {status}: {text}")
        status, text = self.run("-q", "info", self.name)
        if status != 0 or self.revision not in text:
            found.append(f"not {self.revision}: {text}")
        spoken = []
        for revision in REVISIONS:
            # A server that does not survive being asked for a revision that it does not know never answers.
            status, text = self.run("-q", "--connect-timeout", "30s", "--protocol", revision, "tools", self.name)
            if status == 0 and self.call[0] in text:
                spoken.append(revision)
            elif "Traceback" in text or not text.startswith("error: "):
                found.append(f"--protocol {revision}: status {status}: {text}")
        if self.revision not in spoken:
            found.append(f"{self.revision} was negotiated, and cannot be asked for: {spoken}")
        return found, spoken


def check(server):
    start = time.monotonic()
    try:
        found, spoken = server.problems()
    except subprocess.TimeoutExpired as error:
        found, spoken = [f"no end within {SECONDS} s: {error.cmd}"], []
    return server, found, spoken, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--client", required=True)
    parser.add_argument("--venvs", required=True)
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        paths = [os.path.abspath(path) for path in (options.client, options.venvs)]
        servers = [Server(entry, *paths, folder) for entry in SERVERS]
        for server, found, spoken, seconds in pool.map(check, servers):
            state = "FAILED" if found else "ok"
            print(f"servers: {server.name:10} {server.revision}  {state}  {seconds:.1f} s  ({' '.join(spoken)})")
            for problem in found:
                failures += 1
                print(f"  {problem}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
