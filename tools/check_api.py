#!/usr/bin/env python3
"""The public interface in three places that must agree: the headers, the list of symbols (tests/install/symbols.txt, which
an installed library is held against), and the test that calls every function with wrong arguments
(tests/unit/api_misuse.c). A function that leaves the list, or comes to it, is a decision: see TALUS_ABI.

    tools/check_api.py            compare; exit status 1 with every difference
    tools/check_api.py --write    write the list anew from the headers
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "tests/install/symbols.txt"
MISUSE = ROOT / "tests/unit/api_misuse.c"
# Without an argument that could be wrong, or called on the way by every other test.
NO_ARGUMENTS = re.compile(r"^talus_(abi|version|compiler|blas_core|threads|cancel|build_create|.*_default)$")


def declared():
    names = []
    for header in sorted((ROOT / "include/talus").glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        names += re.findall(r"TALUS_API[^;(]*?\b(talus_\w+)\s*\(", text)
    return sorted(names)


def main():
    names = declared()
    if "--write" in sys.argv:
        LIST.write_text("\n".join(names) + "\n")
        return 0
    listed = LIST.read_text().split()
    problems = [f"{n} is declared, but not in {LIST.name}" for n in names if n not in listed]
    problems += [f"{n} is in {LIST.name}, but no header declares it" for n in listed if n not in names]
    problems += [f"{n} is declared twice" for n in set(names) if names.count(n) > 1]
    tried = MISUSE.read_text()
    problems += [f"{n} is not called with wrong arguments in {MISUSE.name}" for n in names
                 if not NO_ARGUMENTS.match(n) and not re.search(rf"\b{n}\(", tried)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
