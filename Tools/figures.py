#!/usr/bin/env python3
"""Turns the output of the instruments into the table of docs/reliability.md: `make figures`.

    Tools/figures.py [--write] [DIR]

`Tools/record.sh NAME COMMAND…` keeps the output of a command in .build/figures/NAME. This program prints a
row for each. With --write it puts them into docs/reliability.md, each in the place of the row of the same
tool with the same KIND, ONLY and FILTER, whatever the other variables, or behind all. A command that failed
has no row: it is named, and with --write the status is 1.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reliability.md"
# The variables that choose what runs. The others say how much of it.
CHOICE = r"(KIND|ONLY|FILTER)="


def fuzz(text):
    found = re.findall(r"^\w+ +(\d+) runs, +(\d+) edges, +(\d+) MiB: (.*)$", text, re.M)
    runs, edges, memory = ([int(row[place]) for row in found] for place in range(3))
    findings = sum(row[3] != "no finding" for row in found)
    return found and (
        f"{len(found)} targets, {min(runs):,} to {max(runs):,} runs each, "
        f"{min(edges):,} to {max(edges):,} edges, "
        f"at most {max(memory)} MiB: {findings or 'no'} finding{'s' if findings > 1 else ''}"
    )


def control(text):
    seconds = [float(number) for number in re.findall(r"found after ([\d.]+) s$", text, re.M)]
    if not seconds or "NOT FOUND" in text:
        return None
    return f"all {len(seconds)} planted mistakes, after {min(seconds)} to {max(seconds)} s"


def diff(text):
    found = re.findall(r"^(\w+) .*?: (\d+) unlisted differences(?:; listed: (.*))?", text, re.M)
    return found and "unlisted differences: " + ", ".join(
        f"{kind} {number}" + (f" ({sum(map(int, re.findall(r'[0-9]+(?= )', listed)))} listed)" if listed else "")
        for kind, number, listed in found
    )


def soak(text):
    figures = {what: number for number, what in re.findall(r"^soak: +([\d,]+) (.+)$", text, re.M)}
    names = [
        "answers judged",
        "restarts of the daemon",
        "kills",
        "sessions continued by another life of the daemon",
        "wrong",
    ]
    end = re.search(r"^soak: (memory .*)$", text, re.M)
    left = re.search(r"^soak: (nothing is left|left: .*)$", text, re.M)
    providers = re.search(r"^[\d,]+ providers came and went.*$", text, re.M)
    return left and (
        "; ".join(
            [f"{figures[name]} {name}" for name in names if name in figures]
            + ([providers.group()] if providers else [])
            + [end.group(1), left.group(1)]
        )
    )


def cycles(text):
    found = re.findall(r"^cycles: +(\d+) (.*): +[\d.]+ s, memory ([+-][\d.]+) MiB, (.*)$", text, re.M)
    if not found:
        return None
    counts = [int(row[0]) for row in found]
    left = [f"{row[1]}: {row[3]}" for row in found if row[3] != "nothing is left"]
    return (
        f"{', '.join(row[1] for row in found)}, {min(counts):,} to {max(counts):,} of each: "
        f"memory {max((row[2] for row in found), key=float)} MiB at most, "
        f"{'; '.join(left) or 'nothing is left'}"
    )


def exhaust(text):
    parts = {
        "descriptors": r"(\d+ peers, \d+ descriptors: \d+ served, \d+ refused).*"
        r"(the slowest after [\d.]+ s); (.* ms) at most;",
        "memory": r"(\d+ bodies of \d+ MiB without an end): .* (\d+ MiB more at most);",
        "memory, behind a request": r"(\d+ MiB offered behind) them: (\d+ MiB more at most);",
        "memory, answers that nobody reads": r"(answers that nobody reads): .*, (\d+ MiB resident at most);",
    }
    found = dict(re.findall(r"^exhaust: ([a-z, ]+): (.*)$", text, re.M))
    figures = [re.search(pattern, f"{name}: {found.get(name, '')}") for name, pattern in parts.items()]
    wrong = re.findall(r"^exhaust: (.*?): .*: WRONG$", text, re.M)
    full = len(re.findall(r"^exhaust: disk, .*: as it must be$", text, re.M))
    return found and "; ".join(
        [", ".join(match.groups()) for match in figures if match]
        + [f"{full} of {len(re.findall('^exhaust: disk, ', text, re.M))} writers end in order on a full disk"]
        + [f"wrong: {name}" for name in wrong]
    )


def sanitize(text):
    found = re.findall(r"^sanitize: \w+: (\S+): (\d+) reports, ended with (\d+)", text, re.M)
    if found:
        reports = [f"{suite} {count}" for suite, count, _ in found if count != "0"]
        failed = [suite for suite, _, code in found if code != "0"]
        return f"control found; {len(found)} processes of suites: {', '.join(reports) or '0 reports'}" + (
            f"; tests of time failed in {', '.join(failed)}" if failed else ""
        )
    loaded = re.search(r"^sanitize: \w+: the loaded daemon: (\d+) reports", text, re.M)
    judged = re.search(r"^soak: +([\d,]+) answers judged", text, re.M)
    left = re.search(r"^soak: (nothing is left|left: .*)$", text, re.M)
    return (
        loaded
        and judged
        and left
        and (
            f"control found; the loaded daemon, {judged.group(1)} answers judged: "
            f"{loaded.group(1)} reports, {left.group(1)}"
        )
    )


def interop(text):
    """The official JSON Schema suite; the other parts of `make interop` pass or fail."""
    found = re.findall(r"^.*: (\d+) passed, (\d+) failed, (\d+) listed exceptions$", text, re.M)
    passed, failed, listed = (sum(int(row[place]) for row in found) for place in range(3))
    return found and f"JSON Schema suite: {passed:,} cases passed, {failed} failed, {listed} listed failures"


def coverage(text):
    """The modules; the folders are in Tests/Coverage/floors.txt."""
    found = re.findall(r"^(\w+) +([\d.]+) % of +([\d,]+) lines, +([\d.]+) % of regions", text, re.M)
    below = re.search(r"^coverage: below the floor: .*$", text, re.M)
    return found and (
        "lines and regions in percent: "
        + ", ".join(f"{name} {lines} and {regions}" for name, lines, _, regions in found)
        + (f"; {below.group()}" if below else "")
    )


READERS = {
    "fuzz": fuzz,
    "fuzz-control": control,
    "diff": diff,
    "soak": soak,
    "cycles": cycles,
    "exhaust": exhaust,
    "sanitize": sanitize,
    "coverage": coverage,
    "interop": interop,
}


def figure(path):
    """The command of a record, its figure, and why there is none."""
    command, _, text = path.read_text(errors="replace").partition("\n")
    ended = re.search(r"^record: ended with (\d+)\n\Z", text, re.M)
    what = command.split()[1] if re.match(r"make \S", command) else ""
    if not ended:
        return command, None, "did not end, or was kept by another version of Tools/record.sh"
    if ended.group(1) != "0":
        return command, None, f"ended with {ended.group(1)}"
    if what not in READERS:
        return command, None, "has no figures"
    found = READERS[what](text)
    return command, found and found.replace("|", "\\|"), "printed no figures" if not found else ""


def key(command):
    """What makes a row another one: the tool, and what was chosen of it."""
    words = command.split()
    return words[:2], sorted(word for word in words[2:] if not re.match(r"[A-Z]+=", word) or re.match(CHOICE, word))


def with_row(table, command, row):
    """The lines of the table with this row instead of that of the same key, or behind all."""
    same = [line for line in table if key(line.split("`")[1]) == key(command)]
    if not same:
        return [*table, row]
    return [row if line is same[0] else line for line in table if line is same[0] or line not in same]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / ".build/figures")
    options = parser.parse_args()
    if not options.folder.is_dir():
        sys.exit(f"figures: {options.folder} does not exist: run an instrument with Tools/record.sh first")
    page = PAGE.read_text()
    old = re.search(r"^## Figures\n.*?^\|---\|---\|\n((?:\| `[^\n]*\n)*)", page, re.M | re.S)
    table, left_out = old.group(1).splitlines(), []
    # The newest record last: of two with the same row, it stays.
    for path in sorted(options.folder.iterdir(), key=lambda path: path.stat().st_mtime):
        command, found, why = figure(path)
        if why:
            left_out.append(path.name)
            print(f"figures: {path.name}: `{command}` {why}: no row", file=sys.stderr)
        else:
            row = f"| `{command}` | {found} |"
            print(row)
            table = with_row(table, command, row)
    if options.write:
        PAGE.write_text(page[: old.start(1)] + "\n".join(table) + "\n" + page[old.end(1) :])
        if left_out:
            sys.exit(f"figures: left out: {', '.join(left_out)}")


if __name__ == "__main__":
    main()
