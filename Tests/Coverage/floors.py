#!/usr/bin/env python3
"""Prints the coverage of each folder and compares it with its floor: Tests/Coverage/coverage.sh."""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLOORS = Path(__file__).with_name("floors.txt")
HEADER = """# The share of lines and of regions that tests execute, in percent, by folder of Sources.
# `make coverage WRITE=1` raises them; a folder without a line has no floor.
"""


def measured(summary):
    """Lines and regions of each folder and of all, each with how many of them are executed."""
    found = defaultdict(lambda: [0, 0, 0, 0])
    for file in json.loads(Path(summary).read_text())["data"][0]["files"]:
        path = Path(file["filename"])
        if not path.is_relative_to(ROOT / "Sources"):
            continue
        parts = path.relative_to(ROOT / "Sources").parts
        for name in {"Sources", parts[0], "/".join(parts[:2]) if len(parts) > 2 else parts[0]}:
            for place, kind in enumerate(["lines", "regions"]):
                found[name][2 * place] += file["summary"][kind]["covered"]
                found[name][2 * place + 1] += file["summary"][kind]["count"]
    return {name: (100 * a / max(b, 1), 100 * c / max(d, 1), b) for name, (a, b, c, d) in found.items()}


def floors():
    lines = FLOORS.read_text().splitlines() if FLOORS.exists() else []
    parts = [line.split() for line in lines if line and not line.startswith("#")]
    return {name: (float(lines), float(regions)) for name, lines, regions in parts}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("summary")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--no-floors", action="store_true")
    options = parser.parse_args()
    found, known, below = measured(options.summary), floors(), []
    for name, (lines, regions, count) in sorted(found.items()):
        floor = known.get(name, (0, 0))
        # Races decide about single lines.
        is_below = lines < floor[0] - 0.2 or regions < floor[1] - 0.2
        print(
            f"{name:36} {lines:5.1f} % of {count:6,} lines, {regions:5.1f} % of regions; "
            f"floor {floor[0]:.1f} and {floor[1]:.1f}"
            f"{'  BELOW' if is_below else ''}"
        )
        if is_below:
            below.append(name)
    below += [f"{name} (gone: remove its line of floors.txt)" for name in known if name not in found]
    if options.no_floors:
        return
    if options.write:
        raised = {
            name: [
                max(known.get(name, (0, 0))[place], found[name][place] - 0.05 if name in found else 0)
                for place in (0, 1)
            ]
            for name in {*known, *found}
        }
        FLOORS.write_text(
            HEADER
            + "".join(
                f"{name} {lines:.1f} {regions:.1f}\n" for name, (lines, regions) in sorted(raised.items())
            )
        )
    if below:
        sys.exit(f"coverage: below the floor: {', '.join(below)}. Add tests for what is not executed.")


if __name__ == "__main__":
    main()
