#!/usr/bin/env python3
"""Checks that no function takes more than 8 parameters: longer lists become a structure with a name in the problem.

    tools/check_parameters.py              check this repository; one line per long list, exit status 1 if any
    tools/check_parameters.py --self-test  prove on a few lines that long lists are found
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX = 8
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
# A function at the start of a line, defined or declared, or a pointer to one anywhere.
FUNCTION = re.compile(r"^[A-Za-z_][\w \t*\n]*?\b(\w+)\(|\(\*(?:const )?(\w+)\)\(", re.M)


def parameters(text, at):
    """Number of parameters of the list that opens before `at`, and where it ends."""
    depth, count = 1, 1
    while depth and at < len(text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[at], 0)
        count += text[at] == "," and depth == 1
        at += 1
    return count, at


def check(text):
    """Name, line and number of parameters of every list that is too long."""
    text = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    found = []
    for m in FUNCTION.finditer(text):
        count, end = parameters(text, m.end())
        if count > MAX and re.match(r"\s*(?:[{;,)]|__attribute__)", text[end:]):
            found.append((m.group(1) or m.group(2), text.count("\n", 0, m.start()) + 1, count))
    return found


def self_test():
    eight, nine = ", ".join(f"int a{i}" for i in range(8)), ", ".join(f"double a{i}" for i in range(9))
    right = [f"static int f({eight})\n{{", f"/*\nint f({nine})\n{{ */", "int f(int (*g)(int a, int b), int x[3], int c)\n{",
             f"struct s {{\n    int (*f)({eight});\n}};", "    call(1, 2, 3, 4, 5, 6, 7, 8, 9);"]
    wrong = [f"static int f({nine})\n{{", f"talus_status f({nine});", f"const double *\nf({nine})\n{{",
             "int f(int a, int b,\n      int (*g)(int, int), int d, int e,\n      int h, int i, int j, int k)\n{",
             f"struct s {{\n    int (*f)({nine});\n}};"]
    bad = [f"wrongly found: {t}" for t in right if check(t)] + [f"not found: {t}" for t in wrong if len(check(t)) != 1]
    print("\n".join(bad) if bad else f"{len(wrong)} long lists found, {len(right)} others passed")
    return 1 if bad else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    files = [f for top in ("include", "src", "cli", "lab") for f in sorted((ROOT / top).rglob("*.[ch]"))]
    found = [(f, *long) for f in files for long in check(f.read_text(encoding="utf-8"))]
    for file, name, line, count in found:
        print(f"{file.relative_to(ROOT)}:{line}: {name} takes {count} parameters, at most {MAX}")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
