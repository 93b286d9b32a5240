#!/usr/bin/env python3
"""Writes the catalogs of docc: one with the pages of docs/, one with the landing page of each library.

The pages are Markdown for people who read the repository. Links between pages and to sections become links of docc, with
the same label. Links to other files of the repository, which the site does not have, become text that names the file."""
import pathlib
import re
import shutil
import sys

DOCS = pathlib.Path("docs")
LIBRARIES = {
    "MCPCore": ("Servers and clients of the Model Context Protocol, over stdio, HTTP and in one process.",
                ["quick-start", "client", "elicitation", "subscriptions", "tasks", "authorization", "tls"]),
    "MCPHarness": ("A model's calls of tools, under the policies and approvals of the user.", ["tool-harness"]),
    "MCPApps": ("Tools with a view, and hosts of views.", ["apps"]),
    "MCPFoundation": ("URLSession, JSONDecoder and SwiftUI with the libraries that do without Foundation.",
                      ["foundation"]),
}


def outside_code(text, change):
    """The text with what is not in a block of code changed."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    return "".join(part if number % 2 else change(part) for number, part in enumerate(parts))


def sections(text):
    """The anchors of the headings of a page as docc has them, by those of GitHub, which links of the pages have."""
    found = {}

    def collect(part):
        for heading in re.findall(r"^##+ (.*)$", part, flags=re.M):
            words = re.sub(r"[^\w\s-]", "", heading)
            # GitHub numbers headings that are repeated, docc does not.
            found.setdefault(words.lower().replace(" ", "-"), "-".join(re.split(r"[\s-]+", words.strip())))
        return part

    outside_code(text, collect)
    return found


def article(name, texts):
    """The text of a page for docc."""
    def link(match):
        label, place = match.group("label"), match.group("place")
        if label is None or re.match(r"[a-z]+:", place):
            return match.group(0)
        file, _, anchor = place.partition("#")
        target = file.removesuffix(".md") if file else name
        if target not in texts:
            file = file.removeprefix("../")
            return label if label.strip("`") in file else f"{label} (`{file}`)"
        if not anchor:
            return f"[{label}](doc:{target})"
        section = sections(texts[target]).get(anchor)
        if section is None:
            sys.exit(f"docs/{name}.md: {place}: there is no such section")
        return f"[{label}](doc:{target}#{section})"

    def change(part):
        part = re.sub(r"!\[([^]]*)\]\(images/([^)]*)\)", r"![\1](\2)", part)
        part = re.sub(r"<!--.*?-->", "", part, flags=re.S)
        return re.sub(r"(?<!!)\[(?P<label>[^]]+)\]\((?P<place>[^)\s]+)\)|`[^`\n]*`", link, part)

    return outside_code(texts[name], change)


def main():
    work = pathlib.Path(sys.argv[1])
    pages = {page.stem: page for page in sorted(DOCS.glob("*.md")) if page.stem != "README"}
    guides = work / "Guides.docc"
    guides.mkdir(parents=True)
    texts = {name: page.read_text() for name, page in pages.items()}
    for name in texts:
        (guides / f"{name}.md").write_text(article(name, texts))
    for image in (DOCS / "images").glob("*"):
        shutil.copy(image, guides)
    # The sections of docs/README.md are those of the landing page.
    topics = []
    for section in re.split(r"^## ", (DOCS / "README.md").read_text(), flags=re.M)[1:]:
        heading, body = section.split("\n", 1)
        links = [name for name in re.findall(r"\(([a-z-]+)\.md\)", body) if name in pages]
        if links:
            topics.append(f"### {heading}\n\n" + "".join(f"- <doc:{name}>\n" for name in links))
    missing = set(pages) - set(re.findall(r"<doc:([a-z-]+)>", "".join(topics)))
    if missing:
        sys.exit(f"docs/README.md has no link to {', '.join(sorted(missing))}")
    (guides / "Guides.md").write_text(
        "# Guides\n\nHow to use and embed swift-mcp-core.\n\n@Metadata {\n    @TechnologyRoot\n}\n\n## Topics\n\n"
        + "\n".join(topics))
    for library, (abstract, _) in LIBRARIES.items():
        folder = work / f"{library}.docc"
        folder.mkdir()
        (folder / f"{library}.md").write_text(f"# ``{library}``\n\n{abstract}\n")


if __name__ == "__main__":
    main()
