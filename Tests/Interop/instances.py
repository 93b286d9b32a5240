#!/usr/bin/env python3
"""Two instances of the server behind the real nginx, with the real Redis: one is killed, both are restarted, the
store goes away and comes back. Every call is answered or fails visibly, and none runs twice.

Usage: instances.py --server MCP_SERVER [--calls COUNT | --measure]
"""

import argparse
import asyncio
import contextlib
import http.client
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

OLD = "2025-06-18"
NEW = "2026-07-28"
PROXY = 28_985
STICKY = 28_984
ALONE = 28_983
PORTS = (28_986, 28_987)
STORE = 28_988


def check(condition, text):
    if not condition:
        raise SystemExit(f"instances: FAILED: {text}")
    print(f"instances: ok: {text}", flush=True)


def wait(what, condition, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise SystemExit(f"instances: FAILED: {what} did not happen within {seconds} s")


def is_open(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


class Failed(Exception):
    """A call that its client can see has failed."""


class Client:
    """A client of one revision, on one connection that is opened again whenever it was lost."""

    def __init__(self, era, port=PROXY, session=None):
        self.era, self.port, self.session = era, port, session
        self.connection = None
        self.number = 0
        if era == OLD and session is None:
            self.open()

    def open(self):
        status, headers, _ = self.post(
            "initialize",
            {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}})
        self.session = headers.get("Mcp-Session-Id")
        if status != 200 or not self.session:
            raise Failed(f"initialize: {status}")
        self.post("notifications/initialized", None)

    def send(self, verb, body, headers):
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            self.connection.request(verb, "/mcp", body, headers)
            with self.connection.getresponse() as response:
                text = response.read().decode()
            return response.status, response.headers, text
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Failed(repr(error)) from error

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def post(self, method, params, name=None, capabilities=None):
        message = {"jsonrpc": "2.0", "method": method}
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if params is not None:
            self.number += 1
            message |= {"id": self.number, "params": dict(params)}
        if self.era == NEW:
            headers |= {"MCP-Protocol-Version": NEW, "Mcp-Method": method} | ({"Mcp-Name": name} if name else {})
            message["params"]["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": NEW,
                "io.modelcontextprotocol/clientInfo": {"name": "new", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": capabilities or {},
            }
        elif self.session:
            headers |= {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": OLD}
        return self.send("POST", json.dumps(message), headers)

    def call(self, tool, arguments, more=None, capabilities=None):
        """Returns the result of a tool; throws Failed for everything else, except the end of a session."""
        status, _, text = self.post(
            "tools/call", {"name": tool, "arguments": arguments, **(more or {})}, tool, capabilities)
        if status == 404:
            raise SystemExit(f"instances: FAILED: a session was lost: {text}")
        if text.startswith((":", "event:", "data:", "id:")):
            text = next((line[5:] for line in reversed(text.splitlines()) if line.startswith("data:")), "")
        try:
            answer = json.loads(text)
        except ValueError as error:
            raise Failed(f"{status}: {text[:100]}") from error
        if "result" not in answer or answer["result"].get("isError"):
            raise Failed(f"{status}: {json.dumps(answer)[:300]}")
        return answer["result"]

    def end(self):
        status, _, _ = self.send(
            "DELETE", None, {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": OLD})
        return status


class Place:
    """The processes of one run, and the folder that they share."""

    def __init__(self, folder, server):
        self.folder, self.server = folder, server
        self.ledger = f"{folder}/ledger"
        self.daemons = [None, None]
        self.store = None
        self.proxy = None
        open(self.ledger, "w").close()
        self.secrets = {name: secrets.token_urlsafe(48) for name in ("state.key", "store.password")}
        for name, secret in self.secrets.items():
            with open(f"{folder}/{name}", "w") as file:
                file.write(secret)
            os.chmod(f"{folder}/{name}", 0o600)

    def configure(self, store):
        tee = {"exec": ["tee", "-a", self.ledger], "stdin": "{id}\n", "input": {"id": {"type": "string"}}}
        state = {"key": f"${{file:{self.folder}/state.key}}"}
        if store:
            state |= {
                "store": f"redis://127.0.0.1:{STORE}/1", "password": f"${{file:{self.folder}/store.password}}"}
        for number, port in enumerate(PORTS):
            with open(f"{self.folder}/mcp{number}.jsonc", "w") as file:
                json.dump({
                    "server": {"name": "instances"}, "listen": [f"127.0.0.1:{port}", f"unix://{self.folder}/mcp{number}.sock?mode=0666"],
                    "limits": {"drain": "20s"}, "state": state,
                    "admin": {"listen": f"unix://{self.folder}/admin{number}.sock"},
                    "tools": {
                        "note": tee, "danger": {**tee, "confirm": "Really {id}?"},
                        "job": {**tee, "task": "required"},
                        "steps": {
                            "exec": ["sh", "-c", "for n in 1 2 3 4 5; do echo $n; sleep 0.2; done"],
                            "progress": "lines"},
                        "endless": {"exec": ["sleep", "86411"], "timeout": "2h", "task": "required"},
                    },
                }, file)

    def start_daemon(self, number):
        log = open(f"{self.folder}/daemon{number}.log", "a")
        self.daemons[number] = subprocess.Popen(
            [self.server, "-c", f"{self.folder}/mcp{number}.jsonc"], stderr=log)
        log.close()
        wait("the start of an instance", lambda: is_open(PORTS[number]))

    def end_daemon(self, number, how=signal.SIGTERM):
        self.daemons[number].send_signal(how)
        return self.daemons[number].wait(timeout=60)

    def start_proxy(self):
        # Its workers are another user than the one of the server, which only a socket lets in. Without max_fails=0,
        # an instance that was just restarted would not be used for a while, and the other one is next.
        servers = "".join(
            f"server unix:{self.folder}/mcp{number}.sock max_fails=0;\n" for number in range(2))
        temporary = "".join(
            f"{kind}_temp_path {self.folder}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(f"{self.folder}/nginx.conf", "w") as file:
            file.write(f"""
daemon off; pid {self.folder}/nginx.pid; error_log {self.folder}/error.log; worker_processes 1;
events {{ worker_connections 1024; }}
http {{
    {temporary}
    access_log off;
    upstream mcp {{ {servers} }}
    # Requests of one session go to the same instance, as long as it lives.
    map $http_mcp_session_id $mcp_instance {{ "" $request_id; default $http_mcp_session_id; }}
    upstream sticky {{ hash $mcp_instance consistent; {servers} }}
    upstream alone {{ server unix:{self.folder}/mcp0.sock; }}
    {self.block(ALONE, "alone")}
    {self.block(PROXY, "mcp")}
    {self.block(STICKY, "sticky")}
}}
""")
        self.proxy = subprocess.Popen(
            ["nginx", "-c", f"{self.folder}/nginx.conf", "-p", self.folder, "-e", f"{self.folder}/error.log"])
        wait("the start of nginx", lambda: is_open(PROXY))

    @staticmethod
    def block(port, upstream):
        return f"""
    server {{
        listen 127.0.0.1:{port};
        keepalive_requests 100000;
        location /mcp {{
            proxy_pass http://{upstream};
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host 127.0.0.1;
            proxy_buffering off;
        }}
    }}"""

    def start_store(self):
        self.store = subprocess.Popen(
            ["redis-server", "--port", str(STORE), "--bind", "127.0.0.1", "--dir", self.folder, "--save", "",
             "--appendonly", "yes", "--appendfsync", "always", "--requirepass", self.secrets["store.password"]], stdout=subprocess.DEVNULL)
        wait("the start of Redis", lambda: is_open(STORE))

    def state(self, number):
        text = subprocess.run(
            [self.server, "status", "--json", "-c", f"{self.folder}/mcp{number}.jsonc"],
            capture_output=True, text=True, check=True).stdout
        return json.loads(text)["stateStore"]

    def are_connected(self):
        return all(self.state(number)["connected"] for number in range(2))

    def log(self):
        return "".join(open(f"{self.folder}/daemon{number}.log").read() for number in range(2))

    def noted(self):
        counts = {}
        with open(self.ledger) as file:
            for line in file.read().split():
                counts[line] = counts.get(line, 0) + 1
        return counts

    def end(self):
        for process in [*self.daemons, self.proxy, self.store]:
            if process and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in [*self.daemons, self.proxy, self.store]:
            if process:
                process.wait(timeout=60)


class Load:
    """Clients of both eras that call until they have made their calls."""

    def __init__(self, place, calls, name, threads=12):
        self.place, self.name = place, name
        self.left = calls
        self.lock = threading.Lock()
        self.answered, self.failed, self.problems = set(), {}, []
        self.slowest = 0.0
        self.threads = [
            threading.Thread(target=self.run, args=(OLD if index % 2 else NEW,), daemon=True)
            for index in range(threads)]
        for thread in self.threads:
            thread.start()

    @property
    def done(self):
        return len(self.answered) + len(self.failed)

    def next(self):
        with self.lock:
            if self.left <= 0:
                return None
            self.left -= 1
            return f"{self.name}-{self.left}"

    def run(self, era):
        try:
            client = Client(era)
            while (id := self.next()) is not None:
                begun = time.monotonic()
                try:
                    result = client.call("note", {"id": id})
                    if id not in json.dumps(result):
                        raise SystemExit(f"instances: FAILED: {id} received {result}")
                    with self.lock:
                        self.answered.add(id)
                except Failed as failure:
                    with self.lock:
                        self.failed[id] = str(failure)
                self.slowest = max(self.slowest, time.monotonic() - begun)
            client.close()
        except BaseException as error:  # noqa: BLE001 - reported by the main thread
            with self.lock:
                self.problems.append(f"{type(error).__name__}: {error}")
                self.left = 0

    def stop(self):
        with self.lock:
            self.left = 0
        return self.finish()

    def finish(self):
        for thread in self.threads:
            thread.join(timeout=300)
        if self.problems:
            raise SystemExit("\n".join(self.problems))
        noted = self.place.noted()
        twice = [id for id, count in noted.items() if count > 1]
        lost = [id for id in self.answered if noted.get(id) != 1]
        check(not twice, f"{self.name}: none of {self.done} calls ran twice {twice[:5]}")
        check(not lost, f"{self.name}: each of {len(self.answered)} answered calls ran once {lost[:5]}")
        print(f"instances: {self.name}: {len(self.failed)} failed visibly, the slowest took {self.slowest:.1f} s "
              f"{sorted(set(self.failed.values()))[:3]}", flush=True)
        return self


def one_is_killed(place, calls):
    load = Load(place, calls, "killed")
    wait("a third of the calls", lambda: load.done > calls // 3 or load.problems, 300)
    place.end_daemon(0, signal.SIGKILL)
    wait("half of the calls", lambda: load.done > calls // 2 or load.problems, 300)
    place.start_daemon(0)
    load.finish()
    check(len(load.answered) + len(load.failed) == calls, f"killed: every one of {calls} calls has an outcome")
    # What was in flight on the one that was killed, and what nginx sent to it before it noticed.
    check(len(load.failed) <= 60, f"killed: only calls on that instance failed ({len(load.failed)})")


async def sdk_sessions(place, restart):
    """Sessions of the official SDK, which live on while both instances are restarted one after the other."""
    from mcp.client.session import ClientSession
    from mcp.client.streamable_http import streamable_http_client
    import mcp_types as types

    async def live(name, begun, stop):
        count = 0
        async with (
            streamable_http_client(f"http://127.0.0.1:{PROXY}/mcp") as (incoming, outgoing),
            ClientSession(incoming, outgoing, read_timeout_seconds=30) as session,
        ):
            proposal = types.InitializeRequestParams(
                protocol_version=OLD, capabilities=types.ClientCapabilities(),
                client_info=types.Implementation(name="sdk", version="1"))
            result = await session.send_request(types.InitializeRequest(params=proposal), types.InitializeResult)
            assert result.protocol_version == OLD
            await session.send_notification(types.InitializedNotification())
            while not stop.is_set():
                result = await session.call_tool("note", {"id": f"sdk-{name}-{count}"})
                assert not result.is_error, result
                count += 1
                if count == 5:
                    begun.release()
                await asyncio.sleep(0.01)
        return count

    begun, stop = asyncio.Semaphore(0), asyncio.Event()
    tasks = [asyncio.create_task(live(name, begun, stop)) for name in range(4)]
    try:
        for _ in tasks:
            await asyncio.wait_for(begun.acquire(), 60)
        await asyncio.to_thread(restart)
    finally:
        stop.set()
    return await asyncio.gather(*tasks)


def rolling_restart(place):
    def restart():
        for number in range(2):
            check(place.end_daemon(number) == 0, f"restart: instance {number} ends on its own")
            place.start_daemon(number)

    load = Load(place, 1 << 30, "restart", threads=6)
    counts = asyncio.run(sdk_sessions(place, restart))
    load.stop()
    check(all(count > 5 for count in counts), f"restart: sessions of the SDK lived on ({sum(counts)} calls)")
    check(not load.failed, f"restart: none of {load.done} calls failed {list(load.failed.values())[:3]}")


def ended_sessions(place, with_store):
    client = Client(OLD, PORTS[0])
    other = Client(OLD, PORTS[1], client.session)
    other.call("note", {"id": f"other-{with_store}"})
    check(client.end() == 204, "ended: the client ends its session")
    status, _, _ = client.post("tools/list", {})
    check(status == 404, "ended: the instance refuses it")
    status, _, _ = other.post("tools/list", {})
    if with_store:
        check(status == 404 and other.end() == 404, "ended: so does the other, through the store")
    else:
        check(status == 200, "ended: without a store, the other does not know")


CAPABILITIES = {"elicitation": {"form": {}}}


def ask(client, id):
    result = client.call("danger", {"id": id}, capabilities=CAPABILITIES)
    key, question = next(iter(result["inputRequests"].items()))
    fields = question["params"]["requestedSchema"]["properties"]
    content = {name: True for name, field in fields.items() if field.get("type") == "boolean"}
    return {"requestState": result["requestState"],
            "inputResponses": {key: {"action": "accept", "content": content}}}


def rounds(place, with_store):
    clients = [Client(NEW, port) for port in PORTS]
    name = f"rounds-{'store' if with_store else 'key'}"
    answer = ask(clients[0], name)
    result = clients[1].call("danger", {"id": name}, answer, CAPABILITIES)
    check(name in json.dumps(result), "rounds: a question of one instance is answered at the other")
    if not with_store:
        return
    for client in clients:
        try:
            client.call("danger", {"id": name}, answer, CAPABILITIES)
            raise SystemExit("instances: FAILED: an answer was used twice")
        except Failed as failure:
            check("already used" in str(failure), "rounds: an answer counts once, on all instances")
    # At the same moment.
    for number in range(20):
        id = f"{name}-{number}"
        answer, outcomes = ask(clients[0], id), []

        def race(client):
            with contextlib.suppress(Failed):
                outcomes.append(client.call("danger", {"id": id}, answer, CAPABILITIES))

        threads = [threading.Thread(target=race, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(outcomes) != 1 or place.noted().get(id) != 1:
            raise SystemExit(f"instances: FAILED: {id} ran {place.noted().get(id)} times: {outcomes}")
    check(True, "rounds: of two at the same moment, one runs, 20 times")


def old_questions(place):
    """A client of a handshake revision answers a question with a request of its own, which has to find the call."""
    from mcp.client.session import ClientSession
    from mcp.client.streamable_http import streamable_http_client
    import mcp_types as types

    async def one(name):
        async def answer(context, params):
            return types.ElicitResult(action="accept", content={
                name: True for name, field in params.requested_schema["properties"].items()
                if field.get("type") == "boolean"})

        async with (
            streamable_http_client(f"http://127.0.0.1:{STICKY}/mcp") as (incoming, outgoing),
            ClientSession(incoming, outgoing, read_timeout_seconds=30, elicitation_callback=answer) as session,
        ):
            proposal = types.InitializeRequestParams(
                protocol_version=OLD, client_info=types.Implementation(name="sdk", version="1"),
                capabilities=types.ClientCapabilities(elicitation=types.ElicitationCapability()))
            await session.send_request(types.InitializeRequest(params=proposal), types.InitializeResult)
            await session.send_notification(types.InitializedNotification())
            result = await session.call_tool("danger", {"id": name})
            assert not result.is_error, result

    async def all():
        await asyncio.gather(*(one(f"old-{number}") for number in range(10)))

    asyncio.run(all())
    noted = place.noted()
    check(all_once(noted, "old-", 10), "questions: answers of old clients find their calls, with a hash of the session")


def all_once(noted, prefix, count):
    return all(noted.get(f"{prefix}{number}") == 1 for number in range(count))


TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}


def begin_task(client, tool, arguments):
    result = client.call(tool, arguments, capabilities=TASKS)
    check(result.get("resultType") == "task", f"tasks: a call of {tool} becomes a task")
    return result["taskId"]


def about_task(client, method, id):
    """The answer to a request about a task: a result, or an error."""
    _, _, text = client.post(method, {"taskId": id}, id, TASKS)
    return json.loads(text)


def state_of(client, id):
    return about_task(client, "tasks/get", id).get("result", {}).get("status")


def sleeps():
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
            count += file.read().split(b"\0")[:2] == [b"sleep", b"86411"]
    return count


def tasks(place, with_store):
    one, other = (Client(NEW, port) for port in PORTS)
    id = begin_task(one, "job", {"id": f"task-{with_store}"})
    wait("the end of a task", lambda: state_of(one, id) == "completed")
    if not with_store:
        check(about_task(other, "tasks/get", id)["error"]["code"] == -32602,
              "tasks: without a store, the other does not know a task")
        return
    wait("the end of a task at the other instance", lambda: state_of(other, id) == "completed")
    result = about_task(other, "tasks/get", id)["result"]["result"]
    check(f"task-{with_store}" in json.dumps(result), "tasks: the other instance has the result of a task")
    check(place.noted().get(f"task-{with_store}") == 1, "tasks: it ran once")

    id = begin_task(one, "endless", {})
    check(state_of(other, id) == "working", "tasks: the other instance sees a task that runs")
    wait("the command", lambda: sleeps() == 1)
    check("result" in about_task(other, "tasks/cancel", id), "tasks: the other instance cancels it")
    wait("the end of the command", lambda: sleeps() == 0)
    check(state_of(one, id) == state_of(other, id) == "cancelled", "tasks: both say that it was cancelled")

    id = begin_task(one, "endless", {})
    wait("the command", lambda: sleeps() == 1)
    place.end_daemon(0, signal.SIGKILL)
    wait("the end of the command", lambda: sleeps() == 0)
    wait("the end of the task", lambda: state_of(other, id) == "failed")
    check("has ended" in json.dumps(about_task(other, "tasks/get", id)),
          "tasks: a task of an instance that was killed has failed")
    place.start_daemon(0)
    check(state_of(Client(NEW, PORTS[0]), id) == "failed", "tasks: also for the one that took its place")
    wait("a connection to the store", place.are_connected)


def events(session, port, verb, body=None, after=None, most=1 << 30):
    """The status of a response, and the (id, message) of the first events of its stream."""
    headers = {"Accept": "application/json, text/event-stream", "Mcp-Session-Id": session,
               "MCP-Protocol-Version": OLD} | ({"Content-Type": "application/json"} if body else {})
    if after:
        headers["Last-Event-ID"] = after
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    heard, id = [], None
    try:
        connection.request(verb, "/mcp", body and json.dumps(body), headers)
        response = connection.getresponse()
        if response.status != 200:
            return response.status, []
        while len(heard) < most and (line := response.readline().decode()):
            if line.startswith("id:"):
                id = line[3:].strip()
            if line.startswith("data:") and line[5:].strip():
                heard.append((id, json.loads(line[5:])))
        return 200, heard
    finally:
        connection.close()


def begin_steps(port):
    """Begins a call that reports progress, and goes after its first event."""
    session = Client(OLD, port).session
    call = {"jsonrpc": "2.0", "id": 77, "method": "tools/call",
            "params": {"name": "steps", "arguments": {}, "_meta": {"progressToken": "p"}}}
    _, heard = events(session, port, "POST", call, most=1)
    return session, heard


def streams(place, with_store):
    """A client loses its connection during a call and comes back to the other instance."""
    session, heard = begin_steps(PORTS[0])
    if not with_store:
        status, _ = events(session, PORTS[1], "GET", after=heard[-1][0])
        check(status == 400, "streams: without a store, the other instance says that the events are gone")
        return

    def has_ended():
        status, more = events(session, PORTS[1], "GET", after=heard[-1][0])
        if status != 200:
            raise SystemExit(f"instances: FAILED: a stream was not resumed: {status}")
        heard.extend(more)
        return "result" in heard[-1][1]

    wait("the end of a call at the other instance", has_ended)
    steps = [message["params"]["progress"] for _, message in heard if "params" in message]
    check(steps == sorted(set(steps)) and len(steps) == 5 and heard[-1][1]["id"] == 77,
          f"streams: the other instance has the rest of a call, each event once {steps}")
    session, heard = begin_steps(PORTS[0])
    time.sleep(0.1)
    place.end_daemon(0, signal.SIGKILL)
    wait("the end of the stream", lambda: events(session, PORTS[1], "GET", after=heard[-1][0])[0] == 400)
    check(True, "streams: the stream of an instance that was killed ends with 400")
    place.start_daemon(0)
    wait("a connection to the store", place.are_connected)


def store_is_away(place, how):
    """The store is killed, or stopped as by a debugger: it accepts connections and answers nothing."""
    ended = Client(OLD, PORTS[0])
    waiting = ask(Client(NEW), f"away-{how.name}")
    client = Client(OLD, PORTS[0])
    load = Load(place, 1 << 30, f"away-{how.name}", threads=6)
    wait("some calls", lambda: load.done > 20)
    check(ended.end() == 204, f"{how.name}: a session ends while the store is there")
    place.store.send_signal(how)
    if how == signal.SIGKILL:
        place.store.wait()
    wait("that the store is missed", lambda: not any(place.state(number)["connected"] for number in range(2)))
    before = load.done
    wait("some calls", lambda: load.done > before + 50)
    check(client.end() == 503, f"{how.name}: a session is not ended without the store")
    try:
        Client(NEW).call("danger", {"id": f"away-{how.name}"}, waiting, CAPABILITIES)
        raise SystemExit("instances: FAILED: a question was answered without the store")
    except Failed as failure:
        check("try again later" in str(failure), f"{how.name}: an answer is refused without the store")
    if how == signal.SIGKILL:
        place.start_store()
    else:
        place.store.send_signal(signal.SIGCONT)
    wait("that the store is back", place.are_connected)
    load.stop()
    check(not load.failed, f"{how.name}: none of {load.done} calls failed {list(load.failed.values())[:3]}")
    check(load.slowest < 5, f"{how.name}: none waited for long ({load.slowest:.1f} s)")
    result = Client(NEW).call("danger", {"id": f"away-{how.name}"}, waiting, CAPABILITIES)
    check("away" in json.dumps(result), f"{how.name}: the answer counts once the store is back")
    status, _, _ = Client(OLD, PORTS[1], ended.session).post("tools/list", {})
    check(status == 404, f"{how.name}: the session that was ended stays ended")
    check(client.end() == 204, f"{how.name}: the other one can be ended now")


def rate(port, headers, message, seconds):
    """Requests per second of 32 connections (wrk)."""
    fields = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(f"wrk.method = 'POST'\nwrk.body = [[{json.dumps(message)}]]\n")
        script.writelines(f"wrk.headers['{name}'] = '{value}'\n" for name, value in fields.items())
        script.flush()
        text = subprocess.run(
            ["wrk", "-t1", "-c32", f"-d{seconds}s", "-s", script.name, f"http://127.0.0.1:{port}/mcp"],
            capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in text:
        raise SystemExit(f"instances: FAILED: {text}")
    return float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])


def measure(place, seconds=3, turns=5):
    """What two instances give, and what a store costs: in turns, because other work on the machine changes."""
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in {
        "protocolVersion": NEW, "clientInfo": {"name": "new", "version": "1"}, "clientCapabilities": {}}.items()}
    new = ({"MCP-Protocol-Version": NEW, "Mcp-Method": "tools/list"}, listing | {"params": {"_meta": meta}})

    def old(port):
        return {"Mcp-Session-Id": Client(OLD, port).session, "MCP-Protocol-Version": OLD}, listing

    # Instance 0 without a store, instance 1 with one.
    place.configure(store=False)
    place.start_daemon(0)
    place.start_store()
    place.configure(store=True)
    place.start_daemon(1)
    wait("a connection to the store", lambda: place.state(1)["connected"])
    cases = {
        "one instance": (PORTS[0], *new), "one instance behind nginx": (ALONE, *new),
        "two instances behind nginx": (PROXY, *new), "old session": (PORTS[0], *old(PORTS[0])),
        "old session, with a store": (PORTS[1], *old(PORTS[1])),
    }
    figures = {name: [] for name in cases}
    for _ in range(turns):
        for name, case in cases.items():
            figures[name].append(rate(*case, seconds))
    for name, values in figures.items():
        print(f"{name:30} {sorted(values)[len(values) // 2]:8.0f} requests/s  {[round(value) for value in values]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--measure", action="store_true", help="print figures instead (needs wrk)")
    options = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin"
    for program in ("nginx", "redis-server"):
        if not shutil.which(program):
            raise SystemExit(f"instances: {program} is needed")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        place = Place(folder, os.path.abspath(options.server))
        try:
            place.start_proxy()
            if options.measure:
                return measure(place)
            place.configure(store=False)
            for number in range(2):
                place.start_daemon(number)
            one_is_killed(place, options.calls)
            rolling_restart(place)
            ended_sessions(place, with_store=False)
            rounds(place, with_store=False)
            tasks(place, with_store=False)
            old_questions(place)
            streams(place, with_store=False)
            place.start_store()
            place.configure(store=True)
            for number in range(2):
                place.end_daemon(number)
                place.start_daemon(number)
            wait("a connection to the store", place.are_connected)
            ended_sessions(place, with_store=True)
            rounds(place, with_store=True)
            tasks(place, with_store=True)
            streams(place, with_store=True)
            store_is_away(place, signal.SIGKILL)
            store_is_away(place, signal.SIGSTOP)
            log = place.log()
            reasons = re.findall(r"store at .* cannot be used \((.*?)\)", log)
            check(len(reasons) >= 4, "the log says that the store is away")
            check(len(reasons) <= 4 * len(set(reasons)), "the log says so once for each reason")
            check(len(re.findall("answers again", log)) == 4, "the log says once that it is back")
            check(not any(secret in log for secret in place.secrets.values()), "no secret is in the log")
        except BaseException:
            for name in ("error.log", "daemon0.log", "daemon1.log"):
                with contextlib.suppress(OSError), open(f"{folder}/{name}") as file:
                    print(f"--- {name}", *file.readlines()[-20:], sep="\n", file=sys.stderr)
            raise
        finally:
            place.end()


if __name__ == "__main__":
    sys.exit(main())
