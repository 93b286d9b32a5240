"""nginx with TLS in front of a daemon, with a certificate of its own for `localhost`."""

import os
import subprocess

NGINX = """\
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
{servers}
}}
"""
SERVER = """\
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {folder}/cert.pem;
        ssl_certificate_key {folder}/key.pem;
        location ~ ^/({paths}) {{
            proxy_pass http://127.0.0.1:{backend};
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;
            proxy_buffering off;
            proxy_read_timeout 1h;
            client_max_body_size 4m;
        }}
    }}
"""


def write_certificate(folder: str, host: str = "localhost") -> str:
    """Makes cert.pem and key.pem; returns the path of the certificate."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={host}",
         "-addext", f"subjectAltName=DNS:{host}", "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"],
        check=True, capture_output=True, timeout=60)
    return f"{folder}/cert.pem"


def write_configuration(folder: str, servers: str) -> list[str]:
    """Writes nginx.conf with these server blocks; returns the command that serves them."""
    # The workers must read a folder that belongs to us.
    user = "user root;" if os.geteuid() == 0 else ""
    with open(f"{folder}/nginx.conf", "w", encoding="utf-8") as file:
        file.write(NGINX.format(user=user, folder=folder, servers=servers))
    return ["nginx", "-p", folder, "-c", f"{folder}/nginx.conf", "-e", f"{folder}/error.log", "-g", "daemon off;"]


def server(folder: str, port: int, backend: int, paths: str) -> str:
    """A server block that forwards the paths, a regular expression, from `port` to `backend`."""
    return SERVER.format(folder=folder, port=port, backend=backend, paths=paths)


def printed(program: str, configuration: str, folder: str, port: int) -> str:
    """What `mcp-server init --nginx` prints for a configuration whose clients use https://localhost:PORT, with the
    certificate of this folder in place of the operator's."""
    command = [program, "init", "--nginx", "-c", configuration]
    text = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    for line, own in [
        (f"listen {port} ssl;", f"listen 127.0.0.1:{port} ssl;"),
        (f"listen [::]:{port} ssl;", ""),
        ("/etc/ssl/certs/localhost.pem", f"{folder}/cert.pem"),
        ("/etc/ssl/private/localhost.key", f"{folder}/key.pem"),
    ]:
        if text.count(line) != 1:
            raise AssertionError(f"init --nginx does not print {line} once:\n{text}")
        text = text.replace(line, own)
    return text
