#!/usr/bin/env python3
"""Checks that an archive of docc has each link of the pages of docs/ with its label, its page and its section.

What is wanted is read from docs/ as GitHub reads it, and not from what catalogs.py made of it."""
import collections
import json
import pathlib
import re
import sys

DOCS = pathlib.Path("docs")


def wanted(text, page):
    """The links of a page: label, page, section."""
    text = re.sub(r"^```.*?^```$|<!--.*?-->", "", text, flags=re.M | re.S)
    for label, place in re.findall(r"(?<!!)\[([^]]+)\]\(([^)\s]+)\)|`[^`\n]*`", text):
        file, _, section = place.partition("#")
        if place and (not file or re.fullmatch(r"[a-z-]+\.md", file)):
            yield label.replace("`", ""), file.removesuffix(".md") or page, section
        elif place and not re.match(r"[a-z]+:", place):
            yield label.replace("`", ""), None, file.removeprefix("../")


def references(value, urls):
    """The links in the content of docc: label, page, section in lower case."""
    if isinstance(value, dict):
        if value.get("type") == "reference" and value.get("isActive") and value["identifier"] in urls:
            page, _, section = urls[value["identifier"]].rpartition("/")[2].partition("#")
            yield value.get("overridingTitle"), page, section.lower()
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from references(item, urls)


def words(value):
    """All text of the content of docc."""
    if isinstance(value, dict):
        return "".join(value[key] if isinstance(value.get(key), str) else words(value.get(key))
                       for key in ("text", "code", "content", "items", "rows", "inlineContent"))
    return " ".join(map(words, value)) if isinstance(value, list) else ""


def main():
    pages = pathlib.Path(sys.argv[1]) / "data/documentation/guides"
    missing, count = [], 0
    for file in sorted(DOCS.glob("*.md")):
        if file.stem == "README":
            continue
        page = json.loads((pages / f"{file.stem}.json").read_text())
        urls = {key: item["url"] for key, item in page["references"].items() if "url" in item}
        content = page["primaryContentSections"] + page.get("abstract", [])
        found = collections.Counter(references(content, urls))
        text = words(content)
        for link in wanted(file.read_text(), file.stem):
            label, target, section = link
            if target is None:  # a file that the site does not have: its name is in the text
                if label not in text or section not in text and label not in section:
                    missing.append(f"{file}: {label} ({section})")
                continue
            count += 1
            # docc has one dash for any number of them.
            link = (label, target, re.sub("-+", "-", section))
            if found[link] == 0:
                missing.append(f"{file}: [{label}]({target}#{section})")
            found[link] -= 1
    if missing or not count:
        sys.exit("docs-site: links of docs/ that the site does not have:\n" + "\n".join(missing))
    print(f"docs-site: {count} links between the pages, with their labels and sections")


if __name__ == "__main__":
    main()
