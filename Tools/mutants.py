#!/usr/bin/env python3
"""Changes the library in small ways and runs the tests that should notice: `make mutants`.

A sample of changes is drawn with a seed from Sources/MCPCore/{Wire,JSONRPC,HTTP}: a condition is negated, a bound
is moved by one, "and" becomes "or", a statement is removed. All of them are built into one set of tests, each behind a
number, and MCP_MUTANT chooses one for a run. A change is killed when a test fails, crashes or hangs; it survives when
all pass, and then the program ends with 1. The tree must be clean, and is restored at the end. This takes a long
time and is not part of CI.

    Tools/mutants.py [--count N] [--seed S] [--near] [--list]
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ["Wire", "JSONRPC", "HTTP"]
SWIFT = os.environ.get("SWIFT", "swift")
FLAGS = ["-Xswiftc", "-warnings-as-errors"]
# The tests that exercise these folders from outside, used when the folders' own tests noticed nothing.
FAR = ["Tests/MCPCoreTests/Transport", "Tests/MCPCoreTests/Server", "Tests/MCPCoreTests/Interaction",
       "Tests/MCPCoreTests/Client", "Tests/FaultTests"]

# The file that is added to the library for the run.
CHOICE = ROOT / "Sources/MCPCore/Bytes/Mutants.swift"
CHOICE_TEXT = """
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

enum Mutants {
    static let chosen: Int = unsafe getenv("MCP_MUTANT").flatMap { unsafe Int(String(cString: $0)) } ?? 0
    @inline(never) static func isChosen(_ number: Int) -> Bool { chosen == number }
    static func pick(_ number: Int, _ now: @autoclosure () -> Bool, _ changed: @autoclosure () -> Bool) -> Bool {
        isChosen(number) ? changed() : now()
    }
}
"""

CONDITION = re.compile(r"^(\s*(?:\} else )?(?:if|guard|while) )(.+?)( else \{.*| \{.*)$")
RETURN = re.compile(r"^(\s*return )(.+)()$")
STATEMENT = re.compile(r"^(\s+)((?!return\b|throw\b|let\b|var\b|case\b|guard\b|if\b|else\b|self\.|try\b|break\b)"
                       r"[a-z]\w*(?:\.\w+|\[[^\]]*\])*(?: [-+&|]?= [^,({\[]+|\([^{]*\)))$")
BOUNDS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > "}
OPAQUE = re.compile(r"\b(let|var|case|unsafe|try|await|inout)\b|[#{}&]\w|\"")


def clauses(text):
    """The parts of a condition between commas outside brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append((start, place))
            start = place + 1
    return parts + [(start, len(text))] if depth == 0 else []


def candidates():
    """Every possible change: (file, line number, description, function that makes the changed line)."""
    found = []
    for folder in FOLDERS:
        for path in sorted((ROOT / "Sources/MCPCore" / folder).glob("*.swift")):
            for number, line in enumerate(path.read_text().split("\n"), 1):
                code = line.split("  //")[0].rstrip()
                if code.lstrip().startswith(("//", "@")):
                    continue
                if hit := STATEMENT.match(code):
                    if "(" not in hit.group(2) or code.count("(") == code.count(")"):
                        found.append((path, number, f"{hit.group(2)}  →  nothing",
                                      lambda n, h=hit: f"{h.group(1)}if !Mutants.isChosen({n}) {{ {h.group(2)} }}"))
                hit = CONDITION.match(code) or RETURN.match(code)
                if not hit:
                    continue
                for start, end in clauses(hit.group(2)):
                    now = hit.group(2)[start:end].strip()
                    isReturn = hit.re is RETURN
                    if not now or OPAQUE.search(now) or " ? " in now or " as " in now:
                        continue
                    if isReturn and not re.search(r" (==|!=|<|<=|>|>=|&&|\|\|) ", now):
                        continue
                    changes = [f"!({now})"]
                    changes += [now.replace(a, b) for a, b in BOUNDS.items() if now.count(a) == 1]
                    if " && " in now:
                        changes.append(now.replace(" && ", " || "))
                    elif " || " in now:
                        changes.append(now.replace(" || ", " && "))
                    for other in changes:
                        text = hit.group(2)
                        head, tail = hit.group(1) + text[:start], text[end:] + hit.group(3)
                        space = " " if text[start:end].startswith(" ") else ""
                        found.append((path, number, f"{now}  →  {other}",
                                      lambda n, a=head, z=tail, s=space, x=now, y=other:
                                      f"{a}{s}Mutants.pick({n}, {x}, {y}){z}"))
    return found


def suites(folder):
    """The filter that runs the suites whose files are in `folder`."""
    names = []
    for path in sorted((ROOT / folder).rglob("*.swift")):
        names += re.findall(r"@Suite[^\n]*?\n?\s*struct (\w+)", path.read_text())
    return rf"^{folder.split('/')[1]}\.({'|'.join(names)})/"


def run(arguments, seconds, mutant=0):
    """Returns the exit status and the output; None when it took too long, and the whole process group is killed."""
    process = subprocess.Popen(
        arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        env={**os.environ, "SWIFT_BACKTRACE": "enable=no", "MCP_MUTANT": str(mutant)})
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output.decode(errors="replace")
    except BaseException as problem:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if isinstance(problem, subprocess.TimeoutExpired):
            return None, ""
        raise


def write(sample, originals):
    """Writes the library with all changes of the sample."""
    CHOICE.write_text(CHOICE_TEXT)
    for path, text in originals.items():
        lines = text.split("\n")
        for number, (file, line, _, change) in sample.items():
            if file == path:
                lines[line - 1] = change(number)
        if (now := "\n".join(lines)) != path.read_text():
            path.write_text(now)


def build(sample, originals):
    """Builds the tests. Changes that the compiler rejects are removed from the sample."""
    while sample:
        write(sample, originals)
        code, output = run([SWIFT, "build", "--build-tests", *FLAGS], 3600)
        if code == 0:
            return
        wrong = set()
        for name, line in re.findall(r"/(\w[\w+]*\.swift):(\d+):\d+: error:", output):
            near = [n for n, (file, at, _, _) in sample.items() if file.name == name and at <= int(line)]
            if near:
                wrong.add(max(near, key=lambda n: sample[n][1]))
        if not wrong:
            sys.exit(f"the tests do not build:\n{output[-3000:]}")
        for number in wrong:
            print(f"refused  {place(sample.pop(number))}", flush=True)


def place(one):
    return f"{one[0].relative_to(ROOT)}:{one[1]}: {one[2]}"


def verdict(folders, number):
    """Returns the test of these folders that kills a change; None when none does."""
    for looked in folders:
        chosen = suites(looked)
        code, output = run([SWIFT, "test", "--skip-build", *FLAGS, "--filter", chosen], 300, number)
        if code is None:
            return f"{looked} hangs"
        if code != 0:
            failed = re.search(r"✘ Test (?!run)([^\n]{0,60})", output)
            return f"{looked}: {failed.group(1) if failed else f'ends with {code}'}"
        if not re.search(r"Test run with [1-9]", output):
            sys.exit(f"{chosen} selected no test")
    return None


def near(folder):
    return f"Tests/MCPCoreTests/{folder}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=30, help="how many changes are drawn (30)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--near", action="store_true", help="run the tests of the changed folder only")
    parser.add_argument("--list", action="store_true", help="print the sample and do nothing")
    options = parser.parse_args()
    everything = candidates()
    random.Random(options.seed).shuffle(everything)
    sample, lines = {}, set()
    for one in everything:
        # One change per line, so that each can be chosen on its own.
        if len(sample) < options.count and one[:2] not in lines:
            lines.add(one[:2])
            sample[len(sample) + 1] = one
    if options.list:
        for one in sample.values():
            print(place(one))
        print(f"{len(sample)} of {len(everything)} changes")
        return 0
    if subprocess.check_output(["git", "status", "--porcelain", "--untracked-files", "Sources", "Tests"], cwd=ROOT):
        sys.exit("Sources or Tests have changes that are not committed; nothing was done")
    originals = {one[0]: one[0].read_text() for one in sample.values()}
    far = [] if options.near else FAR
    survivors, started = [], time.monotonic()
    try:
        build(sample, originals)
        if not sample:
            sys.exit("the compiler has refused all changes: nothing was tried")
        # A test that fails without a change would kill each of them.
        if found := verdict([near(folder) for folder in FOLDERS] + far, 0):
            sys.exit(f"without any change: {found}")
        for number, one in sample.items():
            killer = verdict([near(one[0].parent.name), *far], number)
            print(f"{'killed  ' if killer else 'SURVIVED'} {place(one)}" + (f"  ({killer})" if killer else ""),
                  flush=True)
            if not killer:
                survivors.append(one)
    finally:
        CHOICE.unlink(missing_ok=True)
        for path, text in originals.items():
            path.write_text(text)
    print(f"\nseed {options.seed}: {len(sample)} of {len(everything)} possible changes, "
          f"{len(sample) - len(survivors)} killed, {len(survivors)} survived, {time.monotonic() - started:.0f} s")
    for one in survivors:
        print(f"survived {place(one)}")
    return 1 if survivors else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    sys.exit(main())
