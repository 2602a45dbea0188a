#!/usr/bin/env python3
"""Writes docs/conformance.md from requirements.jsonl, or checks it.

    generate.py           writes the page
    generate.py --check   fails if the page is not what would be written

Each requirement of the source documents has an id, a short text and one of
    rules and tests             it is met: the rules that say how, the tests that show it
    rules, departure and tests  it is not met on purpose: why, and the tests of what is done instead
    not_applicable              it demands nothing of a program: why
A note says how a requirement is read, where its text leaves that open. Every rule must stand in
docs/reference/identifiers.md, every test in the source; the test of all vectors shows a requirement only if there is a
vector of one of its rules. Anything else is an error.
"""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "conformance.md"
RULES = ROOT / "docs" / "reference" / "identifiers.md"
VECTORS = ROOT / "crates" / "id" / "tests" / "vectors" / "identifiers.jsonl"
DOCUMENTS = {
    "S000": "000: CORDRA identifiers in URI syntax",
    "S001": "001: CORDRA identifiers as handles",
    "S002": "002: handle syntax",
    "S003": "003: the info URI scheme (draft)",
    "S004": "004: Harvard's namespace urn-3",
}
COUNTS = {"S000": 51, "S001": 35, "S002": 29, "S003": 81, "S004": 49}
HEAD = """\
# Conformance

<!-- Written by tests/conformance/generate.py from tests/conformance/requirements.jsonl: do not edit. -->

This page lists each requirement of the five source documents. A requirement that is *met* has the rule of
[identifiers.md](reference/identifiers.md) that implements it and the tests that show it; words before the tests say how the
requirement is read where its text is open. A *departure* is deliberate: the page gives the reason, and the tests of what Handfast
does instead. A requirement that is *not applicable* demands nothing of a program. `./test conformance` checks that every rule and
every test exists.

"""


def tests_in_source():
    """Test functions and the files they stand in."""
    found = {}
    pattern = re.compile(r"#\[(?:tokio::)?test[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:async )?fn (\w+)\(")
    in_proptest = re.compile(r"#\[test\]\s*fn (\w+)\(")
    for file in sorted((ROOT / "crates").rglob("*.rs")):
        if "target" in file.parts:
            continue
        text = file.read_text(encoding="utf-8")
        for name in pattern.findall(text) + in_proptest.findall(text):
            found.setdefault(name, file.relative_to(ROOT).as_posix())
    return found


def main():
    errors = []
    rules = set(re.findall(r"^- `([A-Z]+-\d+)`", RULES.read_text(encoding="utf-8"), re.M))
    with_vectors = {json.loads(line)["rule"] for line in VECTORS.read_text(encoding="utf-8").splitlines()}
    tests = tests_in_source()
    rows = [json.loads(line) for line in (HERE / "requirements.jsonl").read_text(encoding="utf-8").splitlines()]
    seen = {document: 0 for document in DOCUMENTS}
    counts = {document: [0, 0, 0] for document in DOCUMENTS}
    sections = {document: [] for document in DOCUMENTS}
    used = set()
    for row in rows:
        number, document = row["id"], row["id"].split("-")[0]
        seen[document] += 1
        if number != f"{document}-{seen[document]}":
            errors.append(f"{number} is not where it belongs")
        for rule in row.get("rules", []):
            if rule not in rules:
                errors.append(f"{number}: there is no rule {rule}")
        for test in row.get("tests", []):
            if test not in tests:
                errors.append(f"{number}: there is no test {test}")
        if "all_vectors_pass" in row.get("tests", []) and not with_vectors.intersection(row.get("rules", [])):
            errors.append(f"{number}: no vector is of one of its rules")
        has = "not_applicable" in row, "departure" in row, bool(row.get("rules") and row.get("tests"))
        if has[0] == has[2] or (has[1] and not has[2]):
            errors.append(f"{number} is open: it needs rules and tests, or a reason why it demands nothing")
            continue
        used.update(row.get("tests", []))
        shown = ", ".join(f"`{test}`" for test in row.get("tests", []))
        names = ", ".join(f"`{rule}`" for rule in row.get("rules", []))
        if has[0]:
            counts[document][2] += 1
            verdict, names, shown = "not applicable", "", row["not_applicable"]
        elif has[1]:
            counts[document][1] += 1
            verdict, shown = "**departure**", f"{row['departure']} {shown}"
        else:
            counts[document][0] += 1
            verdict, shown = "met", f"{row['note']} {shown}" if "note" in row else shown
        cells = [cell.replace("|", "\\|") for cell in (number, row["text"], verdict, names, shown)]
        sections[document].append("| " + " | ".join(cells) + " |")
    for document, count in COUNTS.items():
        if seen[document] != count:
            errors.append(f"{document} has {seen[document]} requirements, not {count}")
    if errors:
        print("\n".join(errors), file=sys.stderr)
        return 1
    page = HEAD + "| document | requirements | met | departures | not applicable |\n| --- | --- | --- | --- | --- |\n"
    for document, title in DOCUMENTS.items():
        met, departures, none = counts[document]
        page += f"| {title} | {seen[document]} | {met} | {departures} | {none} |\n"
    total = [sum(counts[document][i] for document in DOCUMENTS) for i in range(3)]
    page += f"| **all** | **{len(rows)}** | **{total[0]}** | **{total[1]}** | **{total[2]}** |\n"
    for document, title in DOCUMENTS.items():
        page += f"\n## {title}\n\n| no. | requirement | verdict | rules | tests, or the reason |\n"
        page += "| --- | --- | --- | --- | --- |\n" + "\n".join(sections[document]) + "\n"
    page += "\n## Where the tests are\n\n| test | file |\n| --- | --- |\n"
    for test in sorted(used):
        page += f"| `{test}` | [{tests[test]}](../{tests[test]}) |\n"
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page:
            print("docs/conformance.md is not up to date: run tests/conformance/generate.py", file=sys.stderr)
            return 1
        print(f"{len(rows)} requirements: {total[0]} met, {total[1]} departures, {total[2]} not applicable")
        return 0
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
