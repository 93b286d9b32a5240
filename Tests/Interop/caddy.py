#!/usr/bin/env python3
"""The Caddyfile that `mcp-server init --caddy` prints, with the real Caddy in front of the server.

Usage: caddy.py --server MCP_SERVER
"""

import argparse
import os
import subprocess
import sys
import tempfile

import nginx

nginx.NAME = "caddy"
nginx.PORT = 28_996
SITE = "\nmcp.example.com {\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    server = os.path.abspath(parser.parse_args().server)
    with tempfile.TemporaryDirectory() as folder:
        configuration = f"{folder}/mcp.jsonc"
        nginx.write(configuration, folder)
        text = subprocess.run(
            [server, "init", "--caddy", "-c", configuration], capture_output=True, text=True, check=True).stdout
        if text.count(SITE) != 1:
            raise AssertionError(f"init --caddy does not print {SITE} once:\n{text}")
        # Without TLS, and on this machine alone.
        own = f"\nhttp://mcp.example.com:{nginx.PORT} {{\n\tbind 127.0.0.1\n"
        with open(f"{folder}/Caddyfile", "w") as file:
            file.write("{\n\tadmin off\n}\n" + text.replace(SITE, own))
        environment = {**os.environ, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder}
        processes = [
            subprocess.Popen([server, "-c", configuration], stderr=subprocess.DEVNULL),
            subprocess.Popen(
                ["caddy", "run", "--adapter", "caddyfile", "--config", f"{folder}/Caddyfile"],
                env=environment, stderr=subprocess.DEVNULL),
        ]
        try:
            nginx.checks()
        finally:
            nginx.stop(processes)


if __name__ == "__main__":
    sys.exit(main())
