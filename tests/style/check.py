#!/usr/bin/env python3
"""Checks that the code uses plain words, that names can be searched, and that lines are short.

    check.py             prints what is wrong, and ends with 1 if anything is
    check.py --count     prints how much is wrong in each file
    check.py PATH…       only these files and folders

See README.md. What it checks:
    prose         words that readers stumble over, in all text
    identifiers   words of a private vocabulary, as a part of an identifier in Rust, Python or Java
    types         two types with the same name in one crate
    lines         Rust lines over 100 columns, Markdown lines over 140
"""

import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MAX_RUST_COLUMNS = 100
MAX_MARKDOWN_COLUMNS = 140

# The rules of other people, data of tests, and this list itself.
EXEMPT = ("docs/reference/", "tests/style/", "fuzz/corpus/")
TEXT = {".rs", ".md", ".py", ".sh", ".toml", ".html", ".css", ".js", ".java", ".snap", ""}
PROSE = re.compile(
    r"\b(doors?|patience|strangers?|whoever|elsewhere|cut short|gone on with|(?:short|long) way|what is kept|told of)\b",
    re.IGNORECASE,
)
# One line each of the table in CONTRIBUTING.md.
IDENTIFIERS = set(
    "door doors brief quick kept held shelf shelves patience patient most longest together room rooms places guest guests "
    "allowance allowances guess guesses stranger strangers whoever somebody turn turns moment moments edition editions "
    "elsewhere refusal refusals".split()
)
# Names of the standard libraries.
FOREIGN = {"most_common"}
PHRASES = re.compile(r"_(short_way|long_way|what_is_kept|cut_short|gone_on_with|told_of)_")
# For the identifiers of these languages: what begins a comment.
COMMENT = {".rs": "//", ".java": "//", ".py": "#"}
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
NOT_CODE = re.compile(r"""//[^\n]*|r(#*)".*?"\1|'(?:\\.|[^\\'])'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
IDENTIFIER = re.compile(r"\b[A-Za-z_][A-Za-z0-9_]*\b")
TYPE = re.compile(r"^\s*(?:pub(?:\([a-z ]+\))? )?(?:struct|enum|trait|union|type) ([A-Z]\w*)")
ASSOCIATED = re.compile(r"^\s+(?:pub(?:\([a-z ]+\))? )?type ")


def tracked():
    """The text files of the project."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    for name in listed.decode().split("\0"):
        path = ROOT / name
        if name and not name.startswith(EXEMPT) and path.suffix in TEXT and path.is_file() and "vectors/" not in name:
            yield name, path


def code_of(line, comment):
    """A line without strings and comments, as far as a line shows it."""
    line = re.sub(r'"(?:\\.|[^"\\])*"', '""', line)
    if comment == "#":
        line = re.sub(r"'(?:\\.|[^'\\])*'", "''", line)
    return "" if line.lstrip().startswith("* ") else line.split(comment, 1)[0]


def banned(identifier):
    """The banned words and phrases in an identifier."""
    if identifier in FOREIGN:
        return set()
    words = [word.lower() for word in WORD.findall(identifier)]
    return IDENTIFIERS.intersection(words).union(PHRASES.findall("_" + "_".join(words) + "_"))


def code_lines(path, text):
    """The lines of a file that are code. Texts of several lines are not."""
    blank = lambda found: "\n" * found.group().count("\n")
    if path.suffix == ".py":
        text = re.sub(r'"""[\s\S]*?"""', blank, text)
    if path.suffix == ".rs":
        text = NOT_CODE.sub(blank, text)
    return text.split("\n")


def check_file(name, path, add):
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        return
    is_rust, is_markdown = path.suffix == ".rs", path.suffix == ".md"
    comment = COMMENT.get(path.suffix)
    for number, line in enumerate(code_lines(path, text) if comment else (), 1):
        for identifier in set(IDENTIFIER.findall(code_of(line, comment))):
            for word in banned(identifier):
                add("identifiers", name, number, f'"{word}" in `{identifier}`')
    for number, line in enumerate(text.split("\n"), 1):
        # The table of these words names them.
        is_the_table = name == "CONTRIBUTING.md" and line.startswith("|")
        for found in () if is_the_table else PROSE.finditer(line):
            add("prose", name, number, f'"{found.group()}" is not a plain word')
        if is_rust:
            if len(line) > MAX_RUST_COLUMNS:
                add("lines", name, number, f"{len(line)} columns, at most {MAX_RUST_COLUMNS}")
        # Tables cannot be broken into lines.
        elif is_markdown and len(line) > MAX_MARKDOWN_COLUMNS and not line.startswith("|"):
            add("lines", name, number, f"{len(line)} columns, at most {MAX_MARKDOWN_COLUMNS}")


def check_types(files, add):
    """A type name stands for one type in a crate; tests of a file have types of their own."""
    crates = collections.defaultdict(lambda: collections.defaultdict(list))
    for name, path in files:
        parts = name.split("/")
        if path.suffix != ".rs" or parts[0] != "crates" or parts[2] != "src":
            continue
        lines = path.read_text().split("\n")
        for number, line in enumerate(lines, 1):
            if line == "#[cfg(test)]" and lines[number].startswith("mod tests"):
                break
            found = TYPE.match(line)
            if found and not ASSOCIATED.match(line):
                crates[parts[1]][found.group(1)].append((name, number))
    for crate, types in crates.items():
        for type_name, places in types.items():
            for name, number in places[1:]:
                add("types", name, number, f"`{type_name}` of {crate} is also in {places[0][0]}:{places[0][1]}")


def main(arguments):
    wanted = [one for one in arguments if not one.startswith("--")]
    files = [(name, path) for name, path in tracked() if not wanted or name.startswith(tuple(wanted))]
    problems = []

    def add(*problem):
        problems.append(problem)

    for name, path in files:
        check_file(name, path, add)
    check_types(files, add)
    if "--count" in arguments:
        for (kind, name), count in collections.Counter((kind, name) for kind, name, *_ in problems).most_common():
            print(f"{count:6} {kind:12} {name}")
    else:
        for kind, name, number, text in problems:
            print(f"{name}:{number}: {kind}: {text}")
    kinds = collections.Counter(kind for kind, *_ in problems)
    print(f"{len(files)} files, {len(problems)} problems", dict(kinds) if kinds else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
