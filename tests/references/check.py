#!/usr/bin/env python3
"""Checks that every section, rule and file that the project cites exists.

    check.py    prints each citation that leads nowhere, and ends with 1 if there is one

It reads the comments of the code and all Markdown pages, and looks for
    sections     `handle-protocol.md` §7.4, `http-interfaces.md` A.5, `info-registry.md` §1, `handle-protocol.md` Appendix B
    rules        `CID-12`: an id that docs/reference/identifiers.md must define
    links        [text](page.md#heading): the file must exist, and have that heading
    paths        `crates/id/src`, in Markdown: the file or folder must exist
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
REFERENCE = ROOT / "docs" / "reference"
DOCUMENTS = ("handle-protocol", "http-interfaces", "identifiers", "info-registry")
READ = {".rs", ".md", ".py", ".java", ".toml", ".json", ""}
SECTION = r"(?:§ ?\d+(?:\.\d+)*|Appendix [A-Z]|[A-G](?:\.\d+)?)"
CITATION = re.compile(rf"\b({'|'.join(DOCUMENTS)})\.md`?(?:\]\([^)]*\))?,? ({SECTION}\b(?:(?:,| and| to|, and) {SECTION}\b)*)")
HEADING = re.compile(r"^#+ (?:(Appendix [A-Z])\b|(\d+(?:\.\d+)*|[A-Z](?:\.\d+)*)\.? )", re.MULTILINE)
DEFINED_RULE = re.compile(r"^- `([A-Z]+)-(\d+)`", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
PATH = re.compile(r"`((?:bench|crates|docs|etc|fuzz|tests)/[\w./-]+)`")
# A citation may be broken over two lines of a comment or of a paragraph.
LINE_BREAK = re.compile(r"\n[ \t]*(?://[/!]?|#|\*)?[ \t]*")


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    for name in listed.decode().split("\0"):
        path = ROOT / name
        if name and not name.startswith("fuzz/corpus/") and path.suffix in READ and path.is_file():
            try:
                yield name, path, path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def sections():
    """The numbers of the sections of each document: "7.4", "A.5", "Appendix B"."""
    found = {}
    for document in DOCUMENTS:
        text = (REFERENCE / f"{document}.md").read_text(encoding="utf-8")
        found[document] = {one or other for one, other in HEADING.findall(text)}
    return found


def anchors(path):
    """The anchors of a page, as web hosts of repositories make them from its headings."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def main():
    known_sections = sections()
    rules = set(DEFINED_RULE.findall((REFERENCE / "identifiers.md").read_text(encoding="utf-8")))
    families = "|".join(sorted({family for family, _ in rules}))
    rule = re.compile(rf"(?<![\w/:.-])({families})-(\d+)\b(?![-.])")
    counts = {"sections": 0, "rules": 0, "links": 0, "paths": 0}
    problems = []

    def add(kind, is_known, name, text, at, what):
        counts[kind] += 1
        if not is_known:
            problems.append(f"{name}:{text.count(chr(10), 0, at) + 1}: {what}")

    for name, path, text in tracked():
        if not name.startswith("docs/reference/"):
            # Line breaks become one character, so that a place in the flat text is found again below.
            breaks = [found.span() for found in LINE_BREAK.finditer(text)]
            flat = LINE_BREAK.sub(" ", text)

            def place(at):
                for begin, end in breaks:
                    if begin >= at:
                        break
                    at += end - begin - 1
                return at

            for found in CITATION.finditer(flat):
                for section in re.findall(SECTION, found[2]):
                    number = section.removeprefix("§").strip()
                    is_known = number in known_sections[found[1]]
                    add("sections", is_known, name, text, place(found.start()), f"{found[1]}.md has no {section}")
            for found in rule.finditer(text):
                add("rules", found.groups() in rules, name, text, found.start(), f"there is no rule {found[0]}")
        if path.suffix == ".md":
            for found in LINK.finditer(re.sub(r"`[^`\n]*`", lambda code: "`" * len(code[0]), text)):
                target, anchor = found.groups()
                if "://" in target or target.startswith("mailto:"):
                    continue
                file = (path.parent / target).resolve() if target else path
                is_known = file.exists() and (not anchor or file.suffix != ".md" or anchor in anchors(file))
                add("links", is_known, name, text, found.start(), f"{text[found.start():found.end()]} leads nowhere")

            if not name.startswith(("docs/reference/", "bench/runs/")):
                for found in PATH.finditer(text):
                    add("paths", (ROOT / found[1]).exists(), name, text, found.start(), f"there is no {found[1]}")

    print(*problems, sep="\n", end="\n" if problems else "")
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()), f"checked, {len(problems)} wrong")
    # Finding none at all would be a mistake in this script.
    return 1 if problems or not all(counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
