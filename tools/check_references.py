#!/usr/bin/env python3
"""Checks that every citation [Key2005 sec. 3] in the sources has its key in docs/references.md."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CITATION = re.compile(r"\[([A-Z][A-Za-z]+\d{2,4})\b[^\]\n]*\]")


def main():
    page = (ROOT / "docs/references.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^\| ([A-Za-z]+\d+) \|", page, re.M))
    unknown = []
    for top in ("include", "src", "cli", "tests", "docs"):
        for file in sorted((ROOT / top).rglob("*")):
            if file.suffix not in (".c", ".h", ".md"):
                continue
            text = file.read_text(encoding="utf-8")
            for m in CITATION.finditer(text):
                if m.group(1) not in known:
                    unknown.append(f"{file.relative_to(ROOT)}:{text.count(chr(10), 0, m.start()) + 1}: [{m.group(1)}] is not in docs/references.md")
    print("\n".join(unknown) if unknown else f"{len(known)} keys known, every citation has one")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
