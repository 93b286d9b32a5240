"""Compares our server with the official Python SDK's on one script of messages: `make diff KIND=server`.

Conversations over stdio are made from a seed: valid requests, ids of each kind, wrong parameters, unknown methods, damaged
lines, requests before the handshake, batches, notifications, responses nobody asked for and cancellations. Each line goes to
`mcp-server --demo` and to reference.py; requests behind it prove that it has been read. What came in between is compared:
whether there is an answer, its id, the code of an error, the content of a result: texts, roles, addresses and structured
content. A difference that is meant is a line of server-differences.txt; none describes a server that has ended.
"""

import contextlib
import fnmatch
import itertools
import json
import os
import queue
import random
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OURS = [str(ROOT / ".build/debug/mcp-server"), "--demo", "--stdio"]
LISTED = HERE / "server-differences.txt"
MODERN, LEGACY = "2026-07-28", ["2025-11-25", "2025-06-18", "2025-03-26"]
# The generation of the SDK, and the eras that it speaks.
SDKS = {"sdk2": ["modern", "legacy"], "sdk1": ["legacy"]}
# What the answer to a line may need on a loaded machine, in seconds.
PATIENCE = 20
LINES = 60

META = {"io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "diff", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}


class Case:
    """A line, the name of what is special about it, and whether a server has to answer it."""

    def __init__(self, name, line, answered=False):
        self.name, self.answered = name, answered
        self.line = line if isinstance(line, bytes) else json.dumps(line).encode()


# MARK: Messages

VALID = {
    "tools/list": {}, "resources/list": {}, "resources/templates/list": {}, "prompts/list": {},
    "tools/call": {"name": "echo", "arguments": {"text": "x"}},
    "resources/read": {"uri": "demo:///hello"},
    "resources/read template": {"uri": "demo:///greeting/Ada"},
    "prompts/get": {"name": "summarize", "arguments": {"text": "x", "style": "long"}},
    "prompts/get without style": {"name": "summarize", "arguments": {"text": "x"}},
}
# Valid in one era, or answered differently by design.
ONE_ERA = {"ping": {}, "logging/setLevel": {"level": "info"}, "server/discover": {},
           "resources/subscribe": {"uri": "demo:///hello"}, "resources/unsubscribe": {"uri": "demo:///hello"}}
WRONG = {
    "unknown method": ("no/such", {}), "empty method": ("", {}), "reserved method": ("rpc.x", {}),
    "method of a client": ("roots/list", {}), "notification with an id": ("notifications/initialized", {}),
    "unknown tool": ("tools/call", {"name": "none", "arguments": {}}),
    "tool without name": ("tools/call", {"arguments": {}}), "tool name number": ("tools/call", {"name": 1, "arguments": {}}),
    "missing argument": ("tools/call", {"name": "echo", "arguments": {}}),
    "no arguments": ("tools/call", {"name": "echo"}),
    "wrong argument": ("tools/call", {"name": "echo", "arguments": {"text": {}}}),
    "null argument": ("tools/call", {"name": "echo", "arguments": {"text": None}}),
    "number argument": ("tools/call", {"name": "echo", "arguments": {"text": 5}}),
    "one argument more": ("tools/call", {"name": "echo", "arguments": {"text": "x", "more": 1}}),
    "arguments array": ("tools/call", {"name": "echo", "arguments": ["x"]}),
    "arguments text": ("tools/call", {"name": "echo", "arguments": "x"}),
    "arguments null": ("tools/call", {"name": "echo", "arguments": None}),
    "unknown resource": ("resources/read", {"uri": "demo:///none"}), "uri number": ("resources/read", {"uri": 1}),
    "no uri": ("resources/read", {}), "empty uri": ("resources/read", {"uri": ""}),
    "relative uri": ("resources/read", {"uri": "hello"}),
    "unknown prompt": ("prompts/get", {"name": "none"}), "prompt without name": ("prompts/get", {}),
    "prompt without argument": ("prompts/get", {"name": "summarize", "arguments": {}}),
    "prompt without arguments": ("prompts/get", {"name": "summarize"}),
    "prompt argument number": ("prompts/get", {"name": "summarize", "arguments": {"text": 1}}),
    "wrong cursor": ("tools/list", {"cursor": "none"}), "cursor number": ("tools/list", {"cursor": 1}),
    "completion of nothing": ("completion/complete", {}),
    "completion of an unknown prompt": ("completion/complete", {
        "ref": {"type": "ref/prompt", "name": "none"}, "argument": {"name": "a", "value": ""}}),
    "completion of an unknown kind": ("completion/complete", {
        "ref": {"type": "ref/none"}, "argument": {"name": "a", "value": ""}}),
    "unknown level": ("logging/setLevel", {"level": "none"}), "no level": ("logging/setLevel", {}),
}
IDS = {"zero": 0, "negative": -7, "2^53+1": 2**53 + 1, "int64": 2**63 - 1, "beyond int64": 2**63, "text": "a", "empty text": "",
       "text of digits": "12", "unicode": "ä😀", "long": "x" * 300, "fraction": 1.5, "null": None, "true": True, "array": [1],
       "object": {}, "absent": ...}
NOTICES = {
    "notifications/initialized": {}, "notifications/cancelled": {"requestId": 99999, "reason": "x"},
    "notifications/cancelled of nothing": {}, "notifications/cancelled of an object": {"requestId": {}},
    "notifications/progress": {"progressToken": 1, "progress": 1}, "notifications/progress without a token": {"progress": "x"},
    "notifications/roots/list_changed": {}, "notifications/none": {}, "no/such": {},
}
DAMAGED = {
    "not JSON": b"hello", "truncated": b'{"jsonrpc":"2.0","id":1,"method":"ping"', "comma": b'{"jsonrpc":"2.0","id":1,"method":"ping",}',
    "NaN": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":NaN}}}',
    "single quotes": b"{'jsonrpc':'2.0'}", "invalid UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', "NUL": b"\x00",
    "control character": b'{"jsonrpc":"2.0","id":1,"method":"a\x01"}', "two objects": b"{}{}", "empty line": b"", "spaces": b"   ",
    "empty object": b"{}", "empty array": b"[]", "number": b"1", "text": b'"x"', "null": b"null", "true": b"true",
    "array of a number": b"[1]", "deep": b"[" * 600 + b"]" * 600,
}
ENVELOPES = {
    "no jsonrpc": {"jsonrpc": ...}, "jsonrpc 1.0": {"jsonrpc": "1.0"}, "jsonrpc number": {"jsonrpc": 2.0},
    "jsonrpc null": {"jsonrpc": None}, "no method": {"method": ...}, "method number": {"method": 1}, "method null": {"method": None},
    "params array": {"params": []}, "params text": {"params": "x"}, "params null": {"params": None}, "no params": {"params": ...},
    "one member more": {"more": 1}, "a result too": {"result": {}}, "an error too": {"error": {"code": 1, "message": ""}},
}
RESPONSES = {
    "a result": {"id": 4711, "result": {}}, "an error": {"id": 4711, "error": {"code": -1, "message": "x"}},
    "a result and an error": {"id": 4711, "result": {}, "error": {"code": -1, "message": "x"}},
    "a result without id": {"result": {}}, "an error without id": {"error": {"code": -1, "message": "x"}},
    "a result of null": {"id": None, "result": {}}, "a result with another id": {"id": "4711", "result": 5},
    "an error that is a text": {"id": 4711, "error": "x"},
}
METAS = {
    "no _meta": ..., "_meta text": "x", "_meta null": None, "empty _meta": {},
    "unknown version": {**META, "io.modelcontextprotocol/protocolVersion": "2030-01-01"},
    "legacy version": {**META, "io.modelcontextprotocol/protocolVersion": "2025-11-25"},
    "version number": {**META, "io.modelcontextprotocol/protocolVersion": 1},
    "no version": {key: value for key, value in META.items() if "protocolVersion" not in key},
    "no client": {key: value for key, value in META.items() if "clientInfo" not in key},
    "client text": {**META, "io.modelcontextprotocol/clientInfo": "x"},
    "no capabilities": {key: value for key, value in META.items() if "Capabilities" not in key},
    "capabilities array": {**META, "io.modelcontextprotocol/clientCapabilities": []},
}
HANDSHAKES = {
    "initialize without params": ..., "initialize with nothing": {}, "initialize without client": {
        "protocolVersion": LEGACY[0], "capabilities": {}},
    "initialize with a version number": {"protocolVersion": 1, "capabilities": {}, "clientInfo": {"name": "d", "version": "1"}},
    "initialize with client text": {"protocolVersion": LEGACY[0], "capabilities": {}, "clientInfo": "x"},
}


def without_absent(message):
    return {key: value for key, value in message.items() if value is not ...}


class Script:
    """The lines of one conversation, from a seed."""

    def __init__(self, chance, era):
        self.chance, self.era, self.number = chance, era, 0
        self.version = MODERN if era == "modern" else chance.choice(LEGACY)

    def request(self, method, params, **changes):
        self.number += 1
        if self.era == "modern" and isinstance(params, dict): params = {**params, "_meta": META}
        return without_absent({"jsonrpc": "2.0", "id": self.number, "method": method.split(" ")[0], "params": params, **changes})

    def probe(self, number):
        method = "tools/list" if self.era == "modern" else "ping"
        return self.request(method, {}, id=f"probe-{number}")

    def handshake(self, **changes):
        params = {"protocolVersion": self.version, "capabilities": {}, "clientInfo": {"name": "diff", "version": "1"}}
        return self.request("initialize", params, **changes)

    def opening(self):
        """What comes before the handshake."""
        cases = []
        if self.era == "modern": return cases
        for _ in range(self.chance.randrange(3)):
            kind = self.chance.randrange(4)
            if kind == 0:
                name, params = self.chance.choice(list(HANDSHAKES.items()))
                cases.append(Case(name, self.request("initialize", params)))
            elif kind == 1:
                name, params = self.chance.choice(list(VALID.items()))
                cases.append(Case(f"before initialize: {name.split(' ')[0]}", self.request(name, params)))
            elif kind == 2:
                cases.append(Case("before initialize: notification", {"jsonrpc": "2.0", "method": "notifications/none"}))
            else:
                cases.append(Case("before initialize: ping", self.request("ping", {})))
        return cases

    def case(self):
        choice, pick = self.chance.randrange(20), lambda table: self.chance.choice(list(table.items()))
        method, params = pick(VALID)
        if choice <= 3: return Case(method, self.request(method, params), answered=True)
        if choice == 4:
            method, params = pick(ONE_ERA)
            return Case(method, self.request(method, params), answered=True)
        if choice <= 9:
            name, (method, params) = pick(WRONG)
            return Case(name, self.request(method, params), answered=True)
        if choice == 10:
            name, number = pick(IDS)
            return Case(f"id {name}", self.request("tools/call", VALID["tools/call"], id=number))
        if choice == 11:
            name, params = pick(NOTICES)
            return Case(f"notification {name}", self.request(name, params, id=...))
        if choice <= 13: return self.damaged(*pick(DAMAGED))
        if choice == 14:
            name, changes = pick(ENVELOPES)
            return Case(name, without_absent({**self.request("tools/list", {}), **changes}))
        if choice == 15:
            name, members = pick(RESPONSES)
            return Case(f"response: {name}", {"jsonrpc": "2.0", **members})
        if choice == 16: return self.batch()
        if choice == 17: return self.cancellation()
        if choice == 18: return self.spelling(method, params)
        if self.era == "modern":
            name, meta = pick(METAS)
            self.number += 1
            return Case(name, {"jsonrpc": "2.0", "id": self.number, "method": "tools/list",
                               "params": without_absent({"_meta": meta})})
        return Case("initialize again", self.handshake(), answered=True)

    def damaged(self, name, line):
        return Case(f"line: {name}", line)

    def batch(self):
        one, other = self.request("tools/list", {}), self.request("prompts/list", {})
        notice = {"jsonrpc": "2.0", "method": "notifications/none"}
        name, batch = self.chance.choice([
            ("of one", [one]), ("of two", [one, other]), ("of notifications", [notice, notice]), ("mixed", [one, notice, 1])])
        if self.era == "legacy": name += f" in {self.version}"
        return Case(f"batch {name}", batch)

    def cancellation(self):
        """A call that would last a minute, and its end, in one write."""
        call = self.request("tools/call", {"name": "slow", "arguments": {"seconds": 60}})
        cancel = self.request("notifications/cancelled", {"requestId": call["id"]}, id=...)
        return Case("cancelled call", json.dumps(call).encode() + b"\n" + json.dumps(cancel).encode())

    def spelling(self, method, params):
        """Valid JSON that is written in another way."""
        message = self.request(method, params)
        text = json.dumps(message)
        name, line = self.chance.choice([
            ("reversed", json.dumps(dict(reversed(message.items())))), ("spaces", " \t" + text.replace(":", " : ") + " "),
            ("carriage return", text + "\r"), ("escapes", text.replace("e", "\\u0065")),
            ("escaped slashes", text.replace("/", "\\/")), ("mark", "\ufeff" + text),
            ("duplicate member", text[:-1] + ', "jsonrpc": "2.0"}')])
        return Case(f"written with {name}", line.encode(), answered=name != "mark")


# MARK: Servers

class Server:
    """A server program on a pipe."""

    def __init__(self, command):
        self.command = command
        self.process, self.probes, self.last = None, 0, b""

    def open(self, script, handshake=True):
        self.close()
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env={**os.environ, "SWIFT_BACKTRACE": "enable=no", "MCP_CENSUS": "off"})
        self.lines = queue.SimpleQueue()
        threading.Thread(target=self.read, args=(self.process.stdout, self.lines), daemon=True).start()
        if handshake: self.shake(script)

    @staticmethod
    def read(output, lines):
        for line in output: lines.put(line)
        lines.put(None)

    def shake(self, script):
        if script.era == "modern": return
        self.write(json.dumps(script.handshake(id="open")).encode())
        while (message := self.next()) is not None and message.get("id") != "open": pass
        self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def write(self, line):
        try:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def next(self):
        """The next message, or None when the program has ended."""
        try:
            line = self.lines.get(timeout=PATIENCE)
        except queue.Empty:
            sys.exit(f"diff: {' '.join(self.command)}: no answer within {PATIENCE} s of {self.last[:160]!r}")
        if line is None: return None
        message = json.loads(line)
        return message if isinstance(message, dict) else {"batch": message}

    def answers(self, case, script):
        """The messages that answer a line, or None when the program has ended."""
        found = []
        self.last = case.line
        self.write(case.line)
        # Three requests one after another: a task that an earlier line began has had its turns by then. An answer that
        # has to come is waited for longer.
        probes = 0
        while probes < 3 or (case.answered and not found and probes < 60):
            self.probes += 1
            probes += 1
            self.write(json.dumps(script.probe(self.probes)).encode())
            while True:
                message = self.next()
                if message is None: return None
                if message.get("id") == f"probe-{self.probes}": break
                # Lists and logs may change at any time.
                if "method" not in message: found.append(message)
        return found

    def died(self, case):
        """Says that the program has ended, and at which line."""
        try:
            code = self.process.wait(5)
        except subprocess.TimeoutExpired:
            code = "no code, but without output,"
        print(f"server   {' '.join(self.command)} ended with {code} at {case.name}: {case.line[:160]!r}", flush=True)

    def close(self):
        if self.process is None: return
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(BrokenPipeError): self.process.stdin.close()


# MARK: Judgement

SHARED = {"tools": ["echo", "slow"], "resources": ["demo:///hello"], "resourceTemplates": ["demo:///greeting/{name}"],
          "prompts": ["summarize"]}


ENDED = "the program ended"


def content(result):
    """What both servers have in common in a result."""
    if not isinstance(result, dict): return repr(result)
    if result.get("isError"): return "tool error"
    for key, names in SHARED.items():
        if key in result:
            offered = [item.get("uriTemplate") or item.get("uri") or item.get("name") for item in result[key]]
            return f"{key} {'all' if all(name in offered for name in names) else offered}"
    parts = result.get("content") or result.get("contents") or [
        {"role": part.get("role"), **part.get("content", {})} for part in result.get("messages", [])]
    if parts: return "texts " + ", ".join(map(said, parts)) + structured(result)
    if "protocolVersion" in result: return f"version {result['protocolVersion']}"
    if "supportedVersions" in result: return "discovered"
    return "result of " + " ".join(sorted(key for key in result if key not in ("resultType", "_meta"))) if any(
        key not in ("resultType", "_meta") for key in result) else "empty result"


def said(part):
    """One part of a result: its text, and what says whose it is."""
    names = ["type", "role", "uri", "mimeType", "text"]
    return "{" + " ".join(f"{name}={part[name]!r}"[:80] for name in names if name in part) + "}"


def structured(result):
    return f" structured {json.dumps(result['structuredContent'], sort_keys=True)}" if "structuredContent" in result else ""


def ids(line):
    """The ids of the requests of a line."""
    try:
        asked = json.loads(line.split(b"\n")[0])
    except (ValueError, UnicodeDecodeError):
        return []
    return [one["id"] for one in (asked if isinstance(asked, list) else [asked]) if isinstance(one, dict) and "id" in one]


def summary(case, answers, open_ids=None):
    """One line that says how a case was answered."""
    if answers is None: return ENDED
    if open_ids is None: open_ids = ids(case.line)
    parts = []
    for message in answers:
        if "batch" in message:
            items = [item for item in message["batch"] if isinstance(item, dict)]
            parts.append("batch [" + summary(case, items, open_ids) + "]")
            continue
        text = f"error {message['error'].get('code')}" if "error" in message else content(message.get("result"))
        number = message.get("id", ...)
        place = next((at for at, one in enumerate(open_ids) if type(one) is type(number) and one == number), None)
        # Up to 2025-06-18 it is null, later absent.
        if number is ... or number is None: text += ", no id"
        # Each is answered once.
        elif place is None: text += ", another id"
        else: del open_ids[place]
        parts.append(text)
    return " + ".join(sorted(parts)) or "nothing"


def listed():
    """The differences that are meant, in order: patterns of (name, version, SDK, ours, theirs), and a reason."""
    found = []
    for number, line in enumerate(LISTED.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"): continue
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 6 or not parts[5]: sys.exit(f"diff: {LISTED.name}:{number}: six parts are needed, the last one a reason")
        found.append(parts[:5])
    return found


def reason_for(difference, known):
    """The number of the first listed line that describes a difference."""
    return next((number for number, patterns in enumerate(known) if fits(difference, patterns)), None)


def fits(difference, patterns):
    """Whether a line describes a difference: not the end of a program, and no answer of ours only in so many words."""
    ours = 3
    if ENDED in difference or difference[ours] == "nothing" != patterns[ours]: return False
    return all(map(fnmatch.fnmatchcase, difference, patterns))


def control(asked, known):
    """Ends when a server that always answers alike is not seen. `asked`: name, version, SDK and the SDK's answer of each line."""
    for answer in ["nothing", "the program ended", "empty result", "error -32600", "error -32600, no id", "error -32602"]:
        if all(answer == theirs or reason_for((*line, answer, theirs), known) is not None for *line, theirs in asked):
            sys.exit(f'diff: server: one that always answers "{answer}" is not seen')


def compare(count, seed):
    """Prints the figures. Returns the number of differences that are not listed."""
    if count < 1: sys.exit("diff: CASES is at least 1")
    known, used, unlisted, names, asked = listed(), set(), Counter(), set(), set()
    examples = {}
    for sdk, eras in SDKS.items():
        theirs = Server([str(ROOT / f".build/diff-{sdk}/bin/python"), str(HERE / "reference.py")])
        ours = Server(OURS)
        chance = random.Random(f"server {sdk} {seed}")
        done = differences = 0
        while done < -(-count // len(SDKS)):
            era = eras[done // LINES % len(eras)]
            script = Script(chance, era)
            opening = script.opening()
            for server in (ours, theirs): server.open(script, handshake=not opening)
            for index, case in enumerate(itertools.chain(opening, (script.case() for _ in range(LINES)))):
                if opening and index == len(opening):
                    for server in (ours, theirs): server.shake(script)
                answers = [server.answers(case, script) for server in (ours, theirs)]
                done += 1
                names.add((era, case.name))
                mine, other = (summary(case, one) for one in answers)
                for server, one in zip((ours, theirs), answers):
                    if one is None: server.died(case)
                    if one is None: server.open(script)
                # An opening without a version that is taken all the same: the rest is said in the version that was answered.
                if mine.startswith("version "): script.version = mine.removeprefix("version ")
                asked.add((case.name, script.version, sdk, other))
                if mine == other: continue
                differences += 1
                difference = (case.name, script.version, sdk, mine, other)
                number = reason_for(difference, known)
                if number is not None:
                    used.add(number)
                    continue
                unlisted[difference] += 1
                examples.setdefault(difference, case.line)
        for server in (ours, theirs): server.close()
        print(f"server   {done} lines, {sdk}, seed {seed}: {differences} answered differently", flush=True)
    control(asked, known)
    print(f"server   {len(names)} kinds of lines: {sum(unlisted.values())} unlisted differences; "
          f"{len(used)} of {len(known)} listed ones seen", flush=True)
    for key, number in sorted(unlisted.items()):
        print(f"    {' | '.join(key)} | {number} times: {examples[key][:160]!r}")
    return sum(unlisted.values())
