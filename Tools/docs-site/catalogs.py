#!/usr/bin/env python3
"""Writes the catalogs of docc: one with the pages of docs/, one with the landing page of each library.

The pages are Markdown for people who read the repository; links between them become links of docc, and links to
other files of the repository become text."""
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


def title(page):
    return page.read_text().split("\n", 1)[0].removeprefix("# ")


def article(text, pages):
    """The text of a page for docc."""
    def link(match):
        label, place = match.group(1), match.group(2)
        if re.match(r"[a-z]+:", place):
            return match.group(0)
        name = place.split("#")[0]
        if name.endswith(".md") and name.removesuffix(".md") in pages:
            return f"<doc:{name.removesuffix('.md')}>"
        return label

    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    for number in range(0, len(parts), 2):
        plain = re.sub(r"!\[([^]]*)\]\(images/([^)]*)\)", r"![\1](\2)", parts[number])
        plain = re.sub(r"<!--.*?-->", "", plain, flags=re.S)
        parts[number] = re.sub(r"(?<!!)\[([^]]+)\]\(([^)\s]+)\)", link, plain)
    return "".join(parts)


def main():
    work = pathlib.Path(sys.argv[1])
    pages = {page.stem: page for page in sorted(DOCS.glob("*.md")) if page.stem != "README"}
    guides = work / "Guides.docc"
    guides.mkdir(parents=True)
    for name, page in pages.items():
        (guides / f"{name}.md").write_text(article(page.read_text(), pages))
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
