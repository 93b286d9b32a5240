#!/usr/bin/env python3
"""Turns the output of the instruments into the table of docs/reliability.md: `make figures`.

    Tools/figures.py [--write] [DIR]

`Tools/record.sh NAME COMMAND…` keeps the output of a command in .build/figures/NAME. This program prints a
row for each; with --write it replaces the row of docs/reliability.md whose command begins with the same
words, or adds one.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reliability.md"


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
    seconds = [float(number) for number in re.findall(r"found after ([\d.]+) s", text)]
    total = len(seconds) + text.count("NOT FOUND")
    return seconds and f"{len(seconds)} of {total} planted mistakes, after {min(seconds)} to {max(seconds)} s"


def diff(text):
    found = re.findall(r"^(\w+) .*?: (\d+) unlisted differences", text, re.M)
    return found and "unlisted differences: " + ", ".join(f"{kind} {number}" for kind, number in found)


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
}


def rows(folder):
    for path in sorted(folder.iterdir()):
        command, _, text = path.read_text(errors="replace").partition("\n")
        what = command.split()[1] if command.startswith("make ") else ""
        figure = READERS[what](text) if what in READERS else None
        if figure:
            yield command, figure.replace("|", "\\|")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / ".build/figures")
    options = parser.parse_args()
    if not options.folder.is_dir():
        sys.exit(f"figures: {options.folder} does not exist: run an instrument with Tools/record.sh first")
    page = PAGE.read_text()
    for command, figure in rows(options.folder):
        row = f"| `{command}` | {figure} |"
        print(row)
        words = [
            word for word in command.split() if not re.match(r"(SECONDS|CASES|SEED|MINUTES|COUNT)=", word)
        ]
        start = re.escape(" ".join(words))
        match = re.search(
            rf"^\| `{start}(?: (?:SECONDS|CASES|SEED|MINUTES|COUNT)=[^`]*)?` \| .*\|$",
            page[page.index("## Figures") :],
            re.M,
        )
        if match:
            page = page.replace(match.group(), row)
        else:
            page = page.replace("\n\n## Found by these tools", f"\n{row}\n\n## Found by these tools")
    if options.write:
        PAGE.write_text(page)


if __name__ == "__main__":
    main()
