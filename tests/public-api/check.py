#!/usr/bin/env python3
"""Compares the public API of the library crates with the text files beside this script.

    check.py            prints the differences, and ends with 1 if there is one
    check.py --write    writes the files

The items come from rustdoc's pages of the crate, with all features: one line for each public item, method, field, variant,
constant and implemented trait. If a line disappears or changes, programs of users may break: add it to CHANGELOG.md under
"Breaking". The pages are made with the toolchain of `rust-version` where rustup has it, because another rustdoc may write
other pages.
"""

import difflib
import html
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CRATES = ("client", "id", "log", "wire")
DOC = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "doc"
# A declaration of an item, of a method or associated item, of a field, of a variant.
DECLARATION = re.compile(
    r'<pre class="rust item-decl"><code>(?P<item>.*?)</code></pre>'
    r'|<h4 class="code-header">(?P<method>.*?)</h4>'
    r'|<span id="structfield\.[^"]*"[^>]*>.*?<code>(?P<field>.*?)</code></span>'
    r'|<section id="variant\.[^"]*"[^>]*>.*?<h3 class="code-header">(?P<variant>.*?)</h3>',
    re.DOTALL,
)
IMPLEMENTED = re.compile(r'<h3 class="code-header">(impl.*?)</h3>', re.DOTALL)


def toolchain():
    wanted = re.search(r'^rust-version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    try:
        listed = subprocess.run(["rustup", "toolchain", "list"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    found = re.search(rf"^{re.escape(wanted)}(?:\.\d+)?-\S*", listed, re.MULTILINE)
    return [f"+{found[0]}"] if found else []


def text_of(markup):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", markup)).split())


def items(crate):
    """The public items of a crate, sorted, one a line."""
    pages = DOC / f"handfast_{crate}"
    lines = set()
    for page in pages.rglob("*.html"):
        name = str(page.relative_to(pages).with_suffix("")).replace(os.sep, "::")
        if name == "all" or name.endswith(("index", "sidebar-items")):
            continue
        own, _, traits = page.read_text(encoding="utf-8").partition('<h2 id="trait-implementations"')
        for found in DECLARATION.finditer(own):
            line = text_of(found[found.lastgroup])
            if found.lastgroup == "item" and not line.startswith("pub trait"):
                # The body of a declaration repeats its fields and variants.
                line = re.split(r" \{ | \{$", line)[0]
            lines.add(f"{name}: {line}")
        # Every type has the traits that follow, without our doing.
        traits = re.split(r'<h2 id="(?:synthetic|blanket)-implementations"', traits)[0]
        lines.update(f"{name}: {text_of(line)}" for line in IMPLEMENTED.findall(traits))
    return sorted(lines)


def main():
    # As the step "documentation" does it, so that nothing is built twice. Cargo removes the pages of a crate that it builds anew.
    command = ["cargo", *toolchain(), "doc", "--quiet", "--workspace", "--all-features", "--no-deps"]
    subprocess.run(command, cwd=ROOT, check=True, env=dict(os.environ, RUSTDOCFLAGS="-D warnings"))
    differs = False
    for crate in CRATES:
        file, new = HERE / f"{crate}.txt", items(crate)
        old = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        if "--write" in sys.argv:
            file.write_text("".join(f"{line}\n" for line in new), encoding="utf-8")
        elif old != new:
            differs = True
            for line in difflib.unified_diff(old, new, f"tests/public-api/{crate}.txt", f"handfast-{crate}", n=0, lineterm=""):
                print(line)
        print(f"handfast-{crate}: {len(new)} public items")
        if not new:
            differs = True
    if differs:
        print("the public API has changed: if that is intended, run tests/public-api/check.py --write", file=sys.stderr)
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
