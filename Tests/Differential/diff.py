#!/usr/bin/env python3
"""Compares our readers, and our server, with others: `make diff`.

    diff.py [--kind json|http|schema|pattern|server] [--cases N] [--seed N]

Cases are made from a seed. The program of `make fuzz` prints our verdicts, and this program judges them:

| kind | ours | the other |
|---|---|---|
| json | JSONValue | Python's json, strict |
| http | RequestParser, ChunkedDecoder | h11 |
| schema | CompiledSchema, tree and bytes | jsonschema |
| pattern | Pattern | regex |
| server | mcp-server | the Python SDK's, of two generations: server.py |

A difference that is meant is listed in LISTED with its reason; any other one fails. What we refuse and the other accepts is
listed by the reason that our program gives, and only where the case shows it. Before each comparison, readers that are
wrong for every case (PLANTED) must be seen.
"""

import argparse
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

import server

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / ".build/fuzz/fuzz"

# Requests that h11 accepts and we refuse, by the name that HTTPError has for it: what shows it in the bytes, and why. Two
# readers of one connection must not disagree about them (SECURITY.md), and MCP needs none of them.
HEAD = rb"(?:(?!\r\n\r\n).)*?"
HTTP_REFUSED = {
    "bareLineFeed": (rb"(?<!\r)\n", "a line ends with CR LF"),
    "controlCharacter": (rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", "RFC 9110, section 5.5: control characters in a value are dangerous"),
    "lineFolding": (rb"\n[ \t]", "RFC 9112, section 5.2: a folded line is refused or replaced"),
    "malformedHost": (rb"host:[ \t]*(?![ \t])(?!(?:[\w.-]+|\[::1?\])(?::\d*)?[ \t]*\r)", "a host that is none"),
    "hostMismatch": (rb" http://([^/ ?]*)" + HEAD + rb"\nhost:[ \t]*(?![ \t])(?!\1[ \t]*\r)", "one authority in the target, another in Host"),
    "malformedRequestLine": (rb"(?:^|\n)\S+ \S*(?:#\S* HTTP/| HTTP/1\.[01]\n)", "a fragment in the target, or LF without CR"),
    "malformedTarget": (rb"(?:^|\n)\S+ (?!/)\S* HTTP/", "a target that is no path"),
    "methodTooLong": (rb"(?:^|\n)\S{17}", "a method that does not exist"),
    "unsupportedVersion": (rb" HTTP/(?!1\.[01])", "a version that does not exist"),
    "malformedContentLength": (rb"content-length:[ \t]*(?![ \t])(?!\d+[ \t]*\r)", "a length that is folded or no number"),
    "malformedTransferEncoding": (rb"transfer-encoding:[ \t]*\r\n[ \t]", "a coding that is folded"),
    "repeatedContentLength": (rb"content-length:" + HEAD + rb"\ncontent-length:", "two lengths, even the same"),
    "transferEncodingInHTTP10": (rb"HTTP/1\.0\r\n" + HEAD + rb"transfer-encoding:", "RFC 9112, section 6.1: faulty framing"),
    "transferEncodingWithContentLength": (
        rb"content-length:" + HEAD + rb"\ntransfer-encoding:|transfer-encoding:" + HEAD + rb"\ncontent-length:", "two lengths"),
    "malformedChunkSize": (
        rb"\n[0-9a-f]+(?:[ \t]+|;[^\r]*[\x00-\x1f\x7f][^\r]*)(?:\r|\Z)", "RFC 9112, section 7.1: no space behind the size, no controls"),
}
# Patterns that we refuse, by what PatternError says.
PATTERN_REFUSED = {
    "back references are not supported": (rb"\\[1-9]", "they cannot be matched in linear time"),
}
# Differences that are meant: the kind and a name that a comparison gives to them, and the reason.
LISTED = {
    ("json", "lone surrogate"): "JSON text with an escaped lone surrogate is refused here: a Swift String cannot hold it.",
    ("http", "empty line"): "RFC 9112, section 2.2: one empty line before a request is ignored; h11 refuses it.",
    ("schema", "endless"): "A $ref that leads only to itself is refused when it is compiled; jsonschema fails when it gets there.",
    **{("http", name): why for name, (_, why) in HTTP_REFUSED.items()},
    **{("pattern", name): why for name, (_, why) in PATTERN_REFUSED.items()},
}
# What readers would say that are wrong for every case.
PLANTED = {
    "json": ["0", "1 6e756c6c"],
    "http": ["", "incomplete", *(f"refused {name}" for name in HTTP_REFUSED)],
    "schema": ["00", "11", "refused", "refused #: the references form a cycle"],
    "pattern": ["0", "1", "too expensive", *(f"refused {name}" for name in PATTERN_REFUSED)],
}


def shown(refused, name, case):
    """The name of a refusal that is listed and that the case shows."""
    evidence = refused.get(name, (rb"(?!)",))[0]
    return name if re.search(evidence, case, re.I | re.S) else f"we refuse it: {name}"


def ours(kind, cases):
    with tempfile.NamedTemporaryFile("w") as file:
        for case in cases:
            file.write("\t".join([kind, *(part.hex() for part in case)]) + "\n")
        file.flush()
        result = subprocess.run([str(PROGRAM)], capture_output=True, text=True, env={
            **os.environ, "FUZZ_CASES": file.name, "ASAN_OPTIONS": "detect_leaks=0", "SWIFT_BACKTRACE": "enable=no"})
    lines = result.stdout.splitlines()
    # One that ends badly behind its last line has answered all cases, too.
    if len(lines) != len(cases) or result.returncode:
        at = cases[len(lines)] if len(lines) < len(cases) else None
        sys.exit(f"diff: our program ended at case {len(lines)} with {result.returncode}: {at!r}\n{result.stderr[-2000:]}")
    return lines


def damaged(data, chance, tokens):
    data = bytearray(data)
    for _ in range(chance.choice([0, 0, 1, 1, 2, 3])):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.randrange(1, 6))
        match chance.randrange(5):
            case 0: data[at:at] = chance.choice(tokens)
            case 1: del data[at:end]
            case 2: data[at:end] = chance.choice(tokens)
            case 3: data[at:at] = data[at:end]
            case 4 if at < len(data): data[at] = chance.randrange(256)
    return bytes(data)


# MARK: JSON

NUMBERS = ["0", "-0", "1", "-1", "1.5", "1e5", "1E+05", "1e-7", "9007199254740993", "9223372036854775807",
           "-9223372036854775808", "9223372036854775808", "18446744073709551616", "123456789012345678901234567890",
           "1e308", "1e309", "-1e400", "5e-324", "1e-400", "2.2250738585072011e-308", "0.1", "1e-9223372036854775808",
           "1e99999999999999999999", "0e99999999999999999999", "100000000000000000000000e-23", "1.7976931348623158e308"]


def json_value(chance, depth=0):
    kind = chance.randrange(9 if depth < 4 else 6)
    if kind == 0: return chance.choice(["null", "true", "false"])
    if kind <= 2: return chance.choice(NUMBERS) if chance.random() < 0.6 else repr(chance.uniform(-1e9, 1e9) * 10 ** chance.randrange(-30, 30))
    if kind <= 5: return json_string(chance)
    if kind <= 6: return "[" + ",".join(json_value(chance, depth + 1) for _ in range(chance.randrange(4))) + "]"
    return "{" + ",".join(json_string(chance) + ":" + json_value(chance, depth + 1) for _ in range(chance.randrange(4))) + "}"


def json_string(chance):
    pieces = ["a", "b", "é", "😀", "\\n", "\\\"", "\\\\", "\\/", "\\u0041", "\\u00e9", "\\ud83d\\ude00", "\u2028", "\x7f", "\\u0000", ""]
    return '"' + "".join(chance.choice(pieces) for _ in range(chance.randrange(5))) + '"'


TOKENS = [b",", b":", b"[", b"]", b"{", b"}", b'"', b"\\", b"0", b"-", b".", b"e", b"E+", b" ", b"\n", b"\t", b"\x0b", b"\xa0",
          b"\xc2\xa0", b"\\ud800", b"\\udc00", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf", b"nul", b"NaN",
          b"Infinity", b"\\x", b"\\u12", b"00", b"//", b"\x00", b"\x1f", b"'"]


def json_cases(chance, count):
    return [(damaged(json_value(chance).encode(), chance, TOKENS),) for _ in range(count)]


def strict_json(data):
    """The value, or None. Python reads NaN and Infinity, and other encodings of bytes; both are switched off."""
    def refuse(word):
        raise ValueError(word)
    text = data.decode("utf-8")
    if text.startswith("\ufeff"):
        raise ValueError("mark")
    return json.loads(text, parse_constant=refuse, parse_int=lambda digits: ("number", digits),
                      parse_float=lambda digits: ("number", digits))


def same_number(ours, theirs):
    """An integer of 64 bits is exact, another number is the nearest double, and one that is none keeps its digits."""
    if re.fullmatch(r"-?\d{1,19}", theirs) and -(1 << 63) <= int(theirs) < 1 << 63: return Fraction(ours) == int(theirs)
    x, y = float(ours), float(theirs)
    return ours == theirs if math.isinf(x) or math.isinf(y) else x == y


def same(a, b):
    if isinstance(a, tuple) or isinstance(b, tuple):
        return isinstance(a, tuple) and isinstance(b, tuple) and same_number(a[1], b[1])
    if type(a) is not type(b): return False
    if isinstance(a, list): return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict): return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return a == b


def has_lone_surrogate(value):
    if isinstance(value, str): return any(0xD800 <= ord(letter) < 0xE000 for letter in value)
    if isinstance(value, list): return any(map(has_lone_surrogate, value))
    if isinstance(value, dict): return any(map(has_lone_surrogate, value)) or any(map(has_lone_surrogate, value.values()))
    return False


def judge_json(case, verdict):
    try:
        value, accepts = strict_json(case[0]), True
    except (ValueError, RecursionError):
        value, accepts = None, False
    if not accepts: return None if verdict == "0" else "we accept, Python refuses"
    if verdict == "0": return "lone surrogate" if has_lone_surrogate(value) else "we refuse, Python accepts"
    return None if same(strict_json(bytes.fromhex(verdict[2:])), value) else "another value"


# MARK: HTTP

def http_case(chance):
    body = chance.choice([b"", b"{}", b"hello", b"x" * chance.randrange(40)])
    lines = [chance.choice([b"POST /mcp HTTP/1.1", b"GET / HTTP/1.1", b"POST /a?b=c HTTP/1.0", b"DELETE /mcp HTTP/1.1",
                            b"POST http://a/mcp HTTP/1.1"]), b"Host: " + chance.choice([b"a", b"127.0.0.1:80", b"[::1]:8"])]
    coding = chance.randrange(4)
    if coding < 2: lines.append(b"Content-Length: %d" % len(body))
    if coding == 1 and chance.random() < 0.3: lines.append(b"Content-Length: %d" % (len(body) + chance.choice([0, 0, 1])))
    if coding == 2 or chance.random() < 0.05:
        lines.append(b"Transfer-Encoding: " + chance.choice([b"chunked", b"Chunked", b"gzip, chunked", b"chunked, chunked", b"identity", b"\tchunked "]))
        chunks = [body[:3], body[3:]] if chance.random() < 0.5 else [body]
        body = b"".join(b"%x%s\r\n%s\r\n" % (len(chunk), chance.choice([b"", b"", b";a=b", b" "]), chunk) for chunk in chunks if chunk)
        body += b"0\r\n" + chance.choice([b"", b"A: b\r\n"]) + b"\r\n"
    for _ in range(chance.randrange(3)):
        lines.append(chance.choice([b"Content-Type: application/json", b"X-A: b\tc", b"X: \xff", b"Connection: close", b"Connection: keep-alive, x",
                                    b"Mcp-Name: a", b"X-Empty:", b" folded", b"X : a", b"X:a\x00", b"Accept: */*",
                                    b"aCCEPT: a, b", b"ORIGIN:\t http://a ", b"Authorization: Bearer a", b"Authorization: Basic b",
                                    b"mcp-protocol-version: 2026-07-28", b"Mcp-Method:x", b"MCP-Session-Id: 1", b"Last-Event-ID:",
                                    b"traceparent: 00-a", b"Content-Encoding: gzip", b"Mcp-Names: b"]))
    fields = lines[1:]
    chance.shuffle(fields)
    request = b"\r\n".join(lines[:1] + fields) + b"\r\n\r\n" + body
    return request + (http_case(chance) if chance.random() < 0.25 else b"")


HTTP_TOKENS = [b"\r\n", b"\n", b"\r", b" ", b"\t", b":", b",", b"0", b"\x00", b"\x0b", b"\xff", b";", b"Content-Length: 5\r\n",
               b"Transfer-Encoding: chunked\r\n", b"chunked", b"\"", b"HTTP/1.1", b"+", b"-", b"0x"]


def http_cases(chance, count):
    return [(damaged(http_case(chance), chance, HTTP_TOKENS),) for _ in range(count)]


def h11_verdict(data):
    """The requests that h11 reads from a connection: method, target, fields and body of each.

    The fields that frame a body are left out: it shows them, and h11 writes their values in its own way."""
    import h11
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=65536)
    found, head, body = [], None, b""
    connection.receive_data(data)
    while len(found) < 8:
        try:
            event = connection.next_event()
        except h11.RemoteProtocolError:
            return found + ["refused"]
        if event is h11.NEED_DATA:
            return found + (["incomplete"] if head is not None or connection.trailing_data[0] else [])
        if event is h11.PAUSED:
            if connection.their_state is h11.MUST_CLOSE or connection.their_state is h11.SWITCHED_PROTOCOL:
                return found
            try:
                connection.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
                connection.send(h11.EndOfMessage())
                connection.start_next_cycle()
            except h11.LocalProtocolError:
                return found
        elif isinstance(event, h11.Request):
            fields = b"".join(b"%s:%s\n" % field for field in event.headers if field[0] not in (b"content-length", b"transfer-encoding"))
            head, body = f"{event.method.hex()} {event.target.hex()} {fields.hex()}", b""
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            found.append(f"request {head} {body.hex()}".rstrip())
            head = None
            if connection.their_state is h11.MUST_CLOSE: return found
        else:
            return found
    return found


def judge_http(case, verdict):
    mine = [word.rstrip() for word in verdict.split(",") if word]
    theirs = h11_verdict(case[0])
    for place, (own, other) in enumerate(zip(mine, theirs)):
        if own == other: continue
        if own.startswith("request"):
            if other.startswith("request"): return "understood differently"
            # It is an empty line if h11 understands the rest in the same way without it.
            lines = re.finditer(rb"\r\n(?=\S+ \S+ HTTP/1)", case[0])
            rests = (case[0][: line.start()] + case[0][line.end() :] for line in lines)
            is_empty_line = any(h11_verdict(rest)[place : place + 1] == [own] for rest in rests)
            return "empty line" if is_empty_line else f"we accept, h11 says {other}"
        if other == "incomplete": other = (h11_verdict(case[0] + b"\r\n\r\n")[place:] or [other])[0]
        if other == "refused": return None
        return shown(HTTP_REFUSED, own.removeprefix("refused "), case[0])
    if len(mine) > len(theirs) and mine[len(theirs)].startswith("request"): return "we accept one more"
    if len(mine) < len(theirs) and theirs[len(mine)].startswith("request"): return "h11 accepts one more"
    return None


# MARK: JSON Schema

def schema_value(chance, depth=0):
    """A schema without $schema, of keywords that jsonschema implements."""
    if chance.random() < 0.05: return chance.choice([True, False])
    schema = {}
    for _ in range(chance.randrange(1, 4)):
        deep = (lambda: schema_value(chance, depth + 1)) if depth < 3 else (lambda: chance.choice([True, {"type": "integer"}]))
        key = chance.choice(["type", "enum", "const", "minimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
                             "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties",
                             "items", "prefixItems", "contains", "uniqueItems", "maxItems", "allOf", "anyOf", "oneOf", "not", "if",
                             "dependentRequired", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems", "$ref", "minContains"])
        schema[key] = {
            "type": lambda: chance.choice(["string", "integer", "number", "object", "array", "null", "boolean", ["string", "null"]]),
            "enum": lambda: [instance(chance, 2) for _ in range(3)], "const": lambda: instance(chance, 2),
            "minimum": lambda: chance.choice([0, 1, -1.5]), "exclusiveMaximum": lambda: chance.choice([1, 2.5, 10]),
            "multipleOf": lambda: chance.choice([1, 2, 0.5, 0.01]), "minLength": lambda: chance.randrange(3),
            "maxLength": lambda: chance.randrange(4), "pattern": lambda: chance.choice(["^a", "b$", "[0-9]+", "^(a|b)*$"]),
            "properties": lambda: {name: deep() for name in chance.sample("abc", 2)}, "required": lambda: chance.sample("abc", chance.randrange(3)),
            "additionalProperties": deep, "patternProperties": lambda: {chance.choice(["^a", "b"]): deep()}, "propertyNames": lambda: {"maxLength": chance.randrange(3)},
            "minProperties": lambda: chance.randrange(3), "items": deep, "prefixItems": lambda: [deep(), deep()], "contains": deep,
            "uniqueItems": lambda: chance.choice([True, False]), "maxItems": lambda: chance.randrange(4), "allOf": lambda: [deep(), deep()],
            "anyOf": lambda: [deep(), deep()], "oneOf": lambda: [deep(), deep()], "not": deep, "if": deep,
            "dependentRequired": lambda: {"a": ["b"]}, "dependentSchemas": lambda: {"a": deep()}, "unevaluatedProperties": lambda: chance.choice([False, {"type": "integer"}]),
            "unevaluatedItems": lambda: chance.choice([False, {"type": "integer"}]), "$ref": lambda: chance.choice(["#/$defs/x", "#/$defs/y"]),
            "minContains": lambda: chance.randrange(3)}[key]()
        if key == "if":
            schema["then"], schema["else"] = deep(), deep()
    if depth == 0: schema["$defs"] = {"x": schema_value(chance, 2), "y": {"type": ["integer", "string"]}}
    return schema


def instance(chance, depth=0):
    kind = chance.randrange(8 if depth < 3 else 5)
    if kind == 0: return chance.choice([None, True, False])
    if kind <= 2: return chance.choice([0, 1, 2, -1, 1.0, 1.5, 0.07, 10, 1e20, 3])
    if kind <= 4: return chance.choice(["", "a", "b", "ab", "abc", "1", "é"])
    if kind == 5: return [instance(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {name: instance(chance, depth + 1) for name in chance.sample("abc", chance.randrange(4))}


def schema_cases(chance, count):
    return [(json.dumps(schema_value(chance)).encode(), json.dumps(instance(chance)).encode()) for _ in range(count)]


def is_endless(schema):
    """Whether the only definition that refers to others leads to itself at the same place of the instance."""
    def leads(node):
        if not isinstance(node, dict): return False
        parts = [node.get(key) for key in ["not", "if", "then", "else"]] + list(node.get("dependentSchemas", {}).values())
        parts += [part for key in ["allOf", "anyOf", "oneOf"] for part in node.get(key, [])]
        return node.get("$ref") == "#/$defs/x" or any(map(leads, parts))
    return isinstance(schema, dict) and leads(schema["$defs"]["x"])


def exact_multiple(validator, factor, value, schema):
    """multipleOf in decimals: jsonschema divides floating-point numbers."""
    import jsonschema
    if validator.is_type(value, "number") and Fraction(repr(value)) % Fraction(repr(factor)):
        yield jsonschema.ValidationError("not a multiple")


def judge_schema(case, verdict):
    import jsonschema
    schema, value = json.loads(case[0]), json.loads(case[1])
    if verdict.startswith("refused"):
        return "endless" if "form a cycle" in verdict and is_endless(schema) else "we refuse the schema"
    if verdict not in ("00", "11"): return "tree and bytes disagree"
    reader = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"multipleOf": exact_multiple})
    try:
        expected = reader(schema).is_valid(value)
    except RecursionError:
        return None if verdict == "00" else "an endless reference is valid"
    return None if (verdict == "11") == expected else "another verdict"


# MARK: Patterns

def pattern_text(chance, depth=0):
    atoms = ["a", "b", "c", "1", ".", "[ab]", "[^a]", "[a-c1]", "\\d", "\\w", "\\s", "\\D", "\\.", "\\b", "^", "$", "é"]
    if chance.random() < 0.003: atoms = ["([ab])\\1"]
    parts = []
    for _ in range(chance.randrange(1, 5)):
        atom = chance.choice(atoms)
        if depth < 3 and chance.random() < 0.3:
            atom = chance.choice(["(", "(?:", "(?=", "(?!"]) + pattern_text(chance, depth + 1) + ")"
        if chance.random() < 0.35 and atom not in ("^", "$", "\\b") and not atom.startswith(("(?=", "(?!")):
            atom += chance.choice(["*", "+", "?", "{2}", "{1,3}", "{0,}", "*?", "+?"])
        parts.append(atom)
    text = "".join(parts)
    return text + "|" + pattern_text(chance, depth + 1) if depth < 3 and chance.random() < 0.15 else text


def pattern_cases(chance, count):
    return [(pattern_text(chance).encode(), "".join(chance.choice("aabbc1. é") for _ in range(chance.randrange(10))).encode())
            for _ in range(count)]


def judge_pattern(case, verdict):
    import regex
    if verdict not in ("0", "1"): return shown(PATTERN_REFUSED, verdict.removeprefix("refused "), case[0])
    # ECMA-262: \\d, \\w and \\b know ASCII, and $ is the end only.
    expression = regex.compile(case[0].decode().replace("$", "\\Z"), regex.ASCII | regex.V0)
    return None if (verdict == "1") == bool(expression.search(case[1].decode())) else "another verdict"


KINDS = {"json": (json_cases, judge_json), "http": (http_cases, judge_http), "schema": (schema_cases, judge_schema),
         "pattern": (pattern_cases, judge_pattern)}


def control(kind):
    """Ends when a reader that is wrong for every case is not seen."""
    make, judge = KINDS[kind]
    cases = make(random.Random(f"{kind} control"), 500)
    for verdict in PLANTED[kind]:
        if all(found is None or (kind, found) in LISTED for found in (judge(case, verdict) for case in cases)):
            sys.exit(f'diff: {kind}: a reader that always says "{verdict}" is not seen')


def compare(kind, count, seed):
    """Prints the figures of one kind. Returns the number of differences that are not listed."""
    control(kind)
    make, judge = KINDS[kind]
    cases = make(random.Random(f"{kind} {seed}"), count)
    found, unlisted = Counter(), []
    for case, verdict in zip(cases, ours(kind, cases)):
        difference = judge(case, verdict)
        if difference is None: continue
        found[difference] += 1
        if (kind, difference) not in LISTED: unlisted.append((difference, case, verdict))
    listed = ", ".join(f"{number} {name}" for name, number in sorted(found.items()) if (kind, name) in LISTED)
    print(f"{kind:8} {len(cases)} cases, seed {seed}: {len(unlisted)} unlisted differences; listed: {listed or 'none'}", flush=True)
    for difference, case, verdict in unlisted[:10]:
        print(f"    {difference}: {case!r}, ours: {verdict[:120]}")
    return len(unlisted)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=[*KINDS, "server"])
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    if options.cases < 1: parser.error("--cases: at least 1")
    kinds = [options.kind] if options.kind else [*KINDS, "server"]
    if not PROGRAM.exists() and kinds != ["server"]:
        sys.exit("diff: build the program first: Tests/Fuzz/fuzz.py build")
    if sum(server.compare(options.cases, options.seed) if kind == "server" else compare(kind, options.cases, options.seed)
           for kind in kinds):
        sys.exit("diff: list a difference that is meant with its reason, in Tests/Differential/diff.py or "
                 "server-differences.txt; repair any other one")


if __name__ == "__main__":
    main()
