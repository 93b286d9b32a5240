#!/usr/bin/env python3
"""Checks that each public symbol of a symbol graph is reachable from the landing page of its archive."""
import json
import pathlib
import sys


def main():
    archive, graph = pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text())
    wanted = {symbol["identifier"]["precise"]: ".".join(symbol["pathComponents"])
              for symbol in graph["symbols"]}
    # docc lists the implementation of a requirement with the requirement, which may be the standard library's.
    for relation in graph["relationships"]:
        if relation["kind"] == "defaultImplementationOf" and relation["target"] not in wanted:
            wanted.pop(relation["source"], None)
    pages = {}
    for page in (archive / "data").rglob("*.json"):
        content = json.loads(page.read_text())
        pages[content["identifier"]["url"]] = content
    module = graph["module"]["name"]
    root = next(url for url, page in pages.items()
                if page.get("kind") == "symbol" and page["metadata"].get("symbolKind") == "module")
    seen, waiting = set(), [root]
    while waiting:
        url = waiting.pop()
        if url in seen or url not in pages:
            continue
        seen.add(url)
        for section in pages[url].get("topicSections", []) + pages[url].get("defaultImplementationsSections", []):
            waiting += section["identifiers"]
    reached = {pages[url]["metadata"].get("externalID") for url in seen}
    missing = sorted(name for usr, name in wanted.items() if usr not in reached)
    if missing:
        sys.exit(f"docs-site: {module}: not reachable from the landing page: {', '.join(missing[:20])}")
    print(f"docs-site: {module}: {len(wanted)} public symbols, all reachable from the landing page")


if __name__ == "__main__":
    main()
