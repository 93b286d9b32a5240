#!/usr/bin/env python3
"""Fuzzes the library with libFuzzer and AddressSanitizer: `make fuzz`, `make fuzz-control`.

    Tests/Fuzz/fuzz.py run [--seconds N] [--only TARGET] [--corpus DIR] [--seed N]
    Tests/Fuzz/fuzz.py control [--seconds N] [--only NAME]
    Tests/Fuzz/fuzz.py merge [--only TARGET] [--corpus DIR]

`run` gives each target N seconds of one process and ends with 1 after a finding, whose input it keeps in
.build/fuzz/findings. `control` proves that the targets see: each planted mistake (planted.py) is found
within N seconds, by a check that passes without it. `merge` adds the inputs that reach new code to
Tests/Fuzz/Corpus. Linux only: libFuzzer comes with the toolchain there.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from planted import MISTAKES  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "Tests/Fuzz"
BUILD = ROOT / ".build/fuzz"
SWIFTC = os.environ.get("SWIFT", "swift") + "c"
PROGRAM = BUILD / "fuzz"
FEATURES = [
    "ExistentialAny",
    "InternalImportsByDefault",
    "MemberImportVisibility",
    "NonisolatedNonsendingByDefault",
]
MODULES = [("MCPCore", []), ("MCPHarness", []), ("MCPApps", []), ("MCPServerDaemon", ["main.swift"])]
# The largest input that is tried. Longer ones cost time and reach little that shorter ones do not.
MAX_BYTES = 4096
MAX_CORPUS_FILE = 2048
# What the driver, Swift or a sanitizer prints when a check has failed. A process may end for other reasons.
FAULT = re.compile(
    r"^FINDING .*|^.*Fatal error: .*|^.*ERROR: AddressSanitizer: .*"
    r"|^.*ERROR: libFuzzer: (?:deadly signal|timeout|out-of-memory).*",
    re.M,
)

CHOICE = """
#if canImport(Glibc)
import Glibc
#endif
package enum Planted {
    private static let chosen: Int =
        unsafe getenv("FUZZ_PLANTED").flatMap { unsafe Int(String(cString: $0)) } ?? 0
    @inline(never) package static func isChosen(_ number: Int) -> Bool { chosen == number }
}
"""


def targets():
    """The names of all targets, as the driver knows them."""
    names = run([PROGRAM], env={**os.environ, "FUZZ_LIST": "1", "ASAN_OPTIONS": "detect_leaks=0"}).split()
    return names or sys.exit("fuzz: the program has no targets")


def chosen(name, names):
    """All names, or the one that was asked for."""
    if name and name not in names:
        sys.exit(f'fuzz: ONLY="{name}" is not one of: {", ".join(names)}')
    return [name] if name else names


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))[:200]}\n{result.stdout[-3000:]}{result.stderr[-3000:]}")
    return result.stdout


def copy_sources():
    """The sources with the planted mistakes, each behind a number; without FUZZ_PLANTED they do nothing."""
    copies = BUILD / "Sources"
    changed = {}
    for number, mistake in enumerate(MISTAKES, 1):
        path = ROOT / "Sources" / mistake.file
        text = changed.get(path) or path.read_text()
        if text.count(mistake.old) != 1:
            sys.exit(
                f'planted mistake "{mistake.name}": its line is {text.count(mistake.old)} times in '
                f"{mistake.file}; adapt Tests/Fuzz/planted.py"
            )
        changed[path] = text.replace(
            mistake.old, mistake.new.replace("PLANTED", f"Planted.isChosen({number})")
        )
    files = {}
    for module, omitted in MODULES:
        files[module] = []
        for path in sorted((ROOT / "Sources" / module).rglob("*.swift")):
            if path.name in omitted:
                continue
            copy = copies / path.relative_to(ROOT / "Sources")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(changed.get(path) or path.read_text())
            files[module].append(str(copy))
    choice = copies / "MCPCore/Planted.swift"
    choice.write_text(CHOICE)
    files["MCPCore"].append(str(choice))
    return files


def build():
    """Compiles each module whole, unoptimised, with the instruments; some three minutes when all is new."""
    BUILD.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(BUILD / "Sources", ignore_errors=True)
    files = copy_sources()
    common = [
        "-swift-version",
        "6",
        "-package-name",
        "swift_mcp_core",
        "-I",
        str(ROOT / "Sources/CMCPSystem/include"),
        "-I",
        str(BUILD),
        "-sanitize=fuzzer,address",
        "-Onone",
        "-gline-tables-only",
        "-enable-testing",
        "-parse-as-library",
        "-wmo",
        "-num-threads",
        "2",
    ]
    for feature in FEATURES:
        common += ["-enable-upcoming-feature", feature]
    objects, stale = [], False
    # Another compiler, and what is declared in C, make all of it new.
    headers = sorted((ROOT / "Sources/CMCPSystem").rglob("*.[ch]"))
    base = run([SWIFTC, "--version"]) + "".join(path.read_text() for path in headers)
    for module, _ in MODULES:
        folder = BUILD / module
        text = base + "".join(Path(path).read_text() for path in files[module])
        mark = hashlib.sha256((" ".join(common) + text).encode()).hexdigest()
        stamp = folder / "stamp"
        if stale or not stamp.exists() or stamp.read_text() != mark:
            stale = True
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            print(f"fuzz: compiling {module} ...", file=sys.stderr, flush=True)
            run(
                [
                    SWIFTC,
                    *common,
                    "-emit-module",
                    "-emit-module-path",
                    str(BUILD / f"{module}.swiftmodule"),
                    "-module-name",
                    module,
                    "-c",
                    *files[module],
                ],
                cwd=folder,
            )
            stamp.write_text(mark)
        objects += map(str, sorted(folder.glob("*.o")))
    drivers = [
        str(path) for folder in ["Targets", "Driver"] for path in sorted((TESTS / folder).glob("*.swift"))
    ]
    listing = BUILD / "objects"
    listing.write_text("\n".join(objects))
    print("fuzz: linking ...", file=sys.stderr, flush=True)
    run([SWIFTC, *common, "-module-name", "Fuzz", *drivers, f"@{listing}", "-o", str(PROGRAM)], cwd=BUILD)


def dictionary():
    """Words that mean something to a parser, from the strings of the sources and of the corpora."""
    words = {
        "\\x00",
        "\\x0d\\x0a",
        "\\x0d\\x0a\\x0d\\x0a",
        "\\xef\\xbb\\xbf",
        "\\xed\\xa0\\x80",
        "1e-9223372036854775808",
        "-9223372036854775808",
        "18446744073709551616",
        "0.30000000000000004",
        "1e400",
        "\\\\ud800",
        "\\\\u0000",
        # A mark that combines with the character before it, and a joiner.
        "\\xcc\\x81",
        "/\\xcc\\x81",
        "\\xe2\\x80\\x8d",
    }
    pattern = re.compile(r'"([A-Za-z$][A-Za-z0-9$/_.:-]{2,40})"')
    for folder in ["JSONRPC", "HTTP", "Wire", "Schema", "Protocol", "ConfigSyntax", "ClientTools"]:
        for path in sorted((ROOT / "Sources/MCPCore" / folder).rglob("*.swift")):
            words.update(pattern.findall(path.read_text()))
    path = BUILD / "dictionary"
    path.write_text("".join(f'"{word}"\n' for word in sorted(words)))
    return path


def environment(target, planted=0, seed=0):
    options = "detect_leaks=0:allocator_may_return_null=1"
    return {
        **os.environ,
        # The order of dictionaries is part of what coverage sees: with a seed, it is the same each time.
        **({"SWIFT_DETERMINISTIC_HASHING": "1"} if seed else {}),
        "FUZZ_TARGET": target,
        "FUZZ_PLANTED": str(planted),
        "ASAN_OPTIONS": options,
        "SWIFT_BACKTRACE": "enable=no",
    }


def inputs(target):
    """The folders with the committed inputs of a target."""
    folders = [TESTS / "Corpus" / target, TESTS / "Regressions" / target]
    return [str(folder) for folder in folders if folder.is_dir()]


def execute(target, seconds, arguments, planted=0, seed=0):
    """Runs the driver. Returns its status and what it printed."""
    try:
        # Not timeout(1), which keeps Ctrl-C from the driver.
        result = subprocess.run(
            [PROGRAM, "-timeout=25", "-rss_limit_mb=2500", *arguments],
            capture_output=True,
            env=environment(target, planted, seed),
            cwd=BUILD,
            timeout=seconds + 60,
        )
        code, text = result.returncode, result.stdout + result.stderr
    except subprocess.TimeoutExpired as end:
        code, text = 124, (end.stdout or b"") + (end.stderr or b"")
    return code, text.decode(errors="replace")


def fuzz(target, seconds, corpus, findings, planted=0, seed=0):
    """Fuzzes one target. Returns the status, the output, and the inputs that were found."""
    findings = findings / target
    for folder in [corpus / target, findings]:
        folder.mkdir(parents=True, exist_ok=True)
    started = time.time()
    arguments = [
        f"-seed={seed}",
        f"-max_total_time={seconds}",
        f"-max_len={MAX_BYTES}",
        f"-dict={BUILD / 'dictionary'}",
        f"-artifact_prefix={findings}/",
        "-print_final_stats=1",
        str(corpus / target),
        *inputs(target),
    ]
    code, text = execute(target, seconds, arguments, planted, seed)
    # An input that was found before has its file again.
    new = [path for path in sorted(findings.iterdir()) if path.stat().st_mtime >= started - 1]
    return code, text, new


def reason(text):
    lines = [line for line in text.splitlines() if FAULT.match(line) or line.startswith("SUMMARY")]
    return "\n    ".join(lines[:5]) or text[-500:]


def run_targets(options):
    failed, found = [], []
    for target in chosen(options.only, targets()):
        code, text, new = fuzz(
            target, options.seconds, options.corpus, BUILD / "findings", seed=options.seed
        )
        runs = re.search(r"number_of_executed_units: *(\d+)", text)
        coverage = re.findall(r"\bcov: (\d+)", text)
        memory = re.search(r"peak_rss_mb: *(\d+)", text)
        print(
            f"{target:10} {runs.group(1) if runs else '?':>8} runs, "
            f"{coverage[-1] if coverage else '?':>6} edges, "
            f"{memory.group(1) if memory else '?':>4} MiB: {'a finding' if code else 'no finding'}",
            flush=True,
        )
        if code:
            failed.append(target)
            found += new
            print(f"    ended with {code}\n    {reason(text)}")
        elif not runs or runs.group(1) == "0":
            sys.exit(f"fuzz: {target}: nothing was run")
    if failed:
        for path in found:
            print(f"fuzz: repeat it: FUZZ_TARGET={path.parent.name} {PROGRAM} {path}")
        sys.exit(
            f"fuzz: findings of {', '.join(failed)}. Add the input of each to Tests/Fuzz/Regressions/TARGET "
            f"under a name that says what it shows, then repair the cause."
        )


def passes(target, arguments):
    """Ends when these inputs are a finding without any planted mistake: they would prove nothing."""
    code, text = execute(target, 60, arguments)
    if code:
        sys.exit(f"fuzz: {target} ends with {code} without a planted mistake:\n    {reason(text)}")


def find(number, mistake, options):
    """Whether the target sees a mistake, and after how many seconds; otherwise what happened."""
    corpus = BUILD / "control"
    shutil.rmtree(corpus, ignore_errors=True)
    started = time.monotonic()
    # A fixed seed, so that a failure lies in the change that is checked.
    code, text, found = fuzz(
        mistake.target,
        options.seconds,
        corpus / "corpus",
        corpus / "findings",
        planted=number,
        seed=options.seed or 1,
    )
    seconds = time.monotonic() - started
    if not code:
        return "NOT FOUND"
    if not FAULT.search(text) or not found:
        return f"NOT FOUND: it ended with {code}: {text[-300:].strip()}"
    passes(mistake.target, [str(path) for path in found])
    return f"found after {seconds:.1f} s"


def control(options):
    """Each planted mistake must be found by its target, and nothing without it."""
    names, known = [mistake.name for mistake in MISTAKES], targets()
    for mistake in MISTAKES:
        if mistake.target not in known or names.count(mistake.name) > 1:
            sys.exit(f'fuzz: planted mistake "{mistake.name}": its target is unknown, or its name not unique')
    wanted, missed = chosen(options.only, names), []
    for target in sorted({mistake.target for mistake in MISTAKES if mistake.name in wanted}):
        passes(target, ["-runs=0", *inputs(target)])
    for number, mistake in enumerate(MISTAKES, 1):
        if mistake.name in wanted:
            result = find(number, mistake, options)
            print(f"{mistake.name:31} {mistake.target:10} {result}", flush=True)
            if not result.startswith("found"):
                missed.append(mistake.name)
    if missed:
        sys.exit(f"fuzz: {len(missed)} planted mistakes were not found: {', '.join(missed)}")


def merge(options):
    """Adds the inputs that reach new code to the committed corpora."""
    known = chosen(options.only, targets())
    fuzzed = [name for name in known if any((options.corpus / name).glob("*"))]
    if not fuzzed:
        sys.exit(f"fuzz: {options.corpus} has no inputs of {', '.join(known)}: run `make fuzz` first")
    for target in fuzzed:
        kept = TESTS / "Corpus" / target
        kept.mkdir(parents=True, exist_ok=True)
        arguments = ["-merge=1", f"-max_len={MAX_CORPUS_FILE}", str(kept), str(options.corpus / target)]
        run([PROGRAM, *arguments], env=environment(target), cwd=BUILD)
        print(f"{target:10} {len(list(kept.iterdir()))} inputs")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["build", "run", "control", "merge"])
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--only")
    parser.add_argument("--seed", type=int, default=0, help="0: another one each time")
    parser.add_argument("--corpus", type=Path, default=BUILD / "corpus")
    options = parser.parse_args()
    build()
    dictionary()
    if options.what != "build":
        {"run": run_targets, "control": control, "merge": merge}[options.what](options)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
