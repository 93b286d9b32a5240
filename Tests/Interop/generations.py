"""Servers of older SDK generations over stdio, each in an environment of its own, called with mcp-client.

The client negotiates without any flag: once by command, once by the name of a configuration, where it remembers what
it found out before. The versions up to 1.8 do not survive `server/discover`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# The name of the environment, the script, and the revision that has to be spoken.
GENERATIONS = [
    ("mcp-1.2", "low_level_server.py", "2024-11-05"),
    ("mcp-1.8", "low_level_server.py", "2024-11-05"),
    ("mcp-1.9", "low_level_server.py", "2025-03-26"),
    ("mcp-1.30", "low_level_server.py", "2025-11-25"),
    ("fastmcp-3", "fastmcp_server.py", "2025-11-25"),
    ("fastmcp-4", "fastmcp_server.py", "2026-07-28"),
]


def run(client, home, words, extra=None):
    environment = {"PATH": os.environ["PATH"], "HOME": home, "NO_COLOR": "1", **(extra or {})}
    start = time.monotonic()
    done = subprocess.run([client, *words], env=environment, capture_output=True, text=True, timeout=100)
    return done, time.monotonic() - start


def check(client, folder, venvs, generation):
    """Returns what went wrong, or the times of the two calls."""
    name, script, revision = generation
    command = [os.path.join(venvs, f"interop-venv-{name}", "bin", "python"), os.path.join(HERE, script)]
    home = os.path.join(folder, name)
    os.mkdir(home)
    file = os.path.join(home, "servers.json")
    with open(file, "w", encoding="utf-8") as out:
        json.dump({"mcpServers": {name: {"command": command[0], "args": command[1:], "cwd": os.getcwd()}}}, out)
    times = []
    for words, extra in [
        (["call", "greet", "who=Ada", "--", *command], None),
        (["call", name, "greet", "who=Ada"], {"MCP_CONFIG": file}),
        (["call", name, "greet", "who=Ada"], {"MCP_CONFIG": file}),
    ]:
        done, seconds = run(client, home, words, extra)
        if done.returncode != 0 or done.stdout.strip() != "Hello, Ada":
            return f"{' '.join(words)}: status {done.returncode}: {done.stdout}{done.stderr}", times
        times.append(seconds)
    done, _ = run(client, home, ["-q", "info", name], {"MCP_CONFIG": file})
    if revision not in done.stdout:
        return f"not {revision}: {done.stdout}{done.stderr}", times
    return None, times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--client", required=True)
    parser.add_argument("--venvs", required=True)
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for generation in GENERATIONS:
            problem, times = check(options.client, folder, options.venvs, generation)
            shown = ", ".join(f"{seconds:.1f} s" for seconds in times)
            print(f"generations: {generation[0]:10} {generation[2]}  {'FAILED' if problem else 'ok'}  {shown}")
            if problem:
                failures += 1
                print(f"  {problem}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
