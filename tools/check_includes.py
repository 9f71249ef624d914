#!/usr/bin/env python3
"""Checks every #include of the tree against the tables in docs/architecture.md.

    tools/check_includes.py              check this repository; one line per wrong arrow, exit status 1 if any
    tools/check_includes.py --self-test  prove on a small tree that wrong arrows are found
"""
import fnmatch
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = "docs/architecture.md"
GENERATED = {"talus_version.h"}  # written by CMake; lies below everything, like the public headers
TOP = ("include", "cli", "tests")  # folders of the table outside src/ that nobody includes
BESIDE = ("lab",)  # outside src/, and included

# ISO C11, and the POSIX and Linux headers in use or likely to be.
C_LIBRARY = set("""
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic
stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype
dirent dlfcn fcntl fnmatch ftw getopt glob immintrin libgen malloc poll pthread pwd sched semaphore spawn strings syslog
termios unistd utime
""".split())
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)


class BadPage(Exception):
    pass


def table_rows(page, heading):
    """Cells of the two-column table whose header row is | heading[0] | heading[1] |."""
    lines = iter(page.splitlines())
    for line in lines:
        if [c.strip() for c in line.strip().strip("|").split("|")] == list(heading):
            next(lines, None)
            rows = []
            for row in lines:
                if not row.startswith("|"):
                    return rows
                rows.append([c.strip() for c in row.strip().strip("|").split("|")])
            return rows
    raise BadPage(f"{PAGE}: no table with the columns '{heading[0]}' and '{heading[1]}'")


def read_list(text, everything):
    """`a` `b`, or: everything, or: everything except `a` `b`, or: nothing."""
    names = re.findall(r"`([^`]+)`", text)
    words = re.sub(r"`[^`]+`", " ", text).split()
    if words == [] and names:
        return names
    if words == ["nothing"] and not names:
        return []
    if words == ["everything"] and not names:
        return sorted(everything)
    if words == ["everything", "except"] and names:
        return sorted(everything - set(names))
    raise BadPage(f"{PAGE}: cannot read the list '{text}'")


def read_page(root):
    page = (root / PAGE).read_text(encoding="utf-8")
    rows = table_rows(page, ("folder", "may include"))
    folders = {name.strip("`") for name, _ in rows}
    may = {name.strip("`"): read_list(cell, folders - set(TOP)) for name, cell in rows}
    for name, targets in may.items():
        for target in targets:
            if target.split("/")[0] not in folders:
                raise BadPage(f"{PAGE}: '{name}' may include '{target}', which is no folder of the table")
    foreign = {name.strip("`"): read_list(cell, folders) for name, cell in table_rows(page, ("header", "from"))}
    return may, foreign


def folder_of(path):
    """The table's name for the folder of a file, given relative to the root."""
    parts = path.parts
    if parts[0] != "src":
        return parts[0]
    return parts[1] if len(parts) > 2 else None


def wrong_quoted(root, path, folder, target, may):
    if "/" not in target:
        beside = (root / path).parent / target
        support = folder == "tests" and (root / "tests/support" / target).exists()
        if target in GENERATED or beside.exists() or support:
            return None
        return f'"{target}" has no folder: write "folder/{target}"'
    to = target.split("/")[0]
    if to == "talus":
        return f'"{target}" is a public header: write <{target}>'
    if to not in may:
        return f"'{to}' is no folder of {PAGE}"
    if to == folder or any(target == a or target.startswith(a + "/") or fnmatch.fnmatch(target, a) for a in may[folder]):
        return None
    allowed = " ".join(may[folder]) or "nothing of ours but <talus/...>"
    return f'{folder} may not include "{target}"; it may include: {allowed}'


def wrong_angle(folder, target, foreign):
    if target.startswith("talus/"):
        return None
    if target.startswith(("sys/", "linux/")) or (target.endswith(".h") and target[:-2] in C_LIBRARY):
        return None
    if target not in foreign:
        return f"<{target}> is neither the C library nor a library of {PAGE}"
    if folder not in foreign[target]:
        return f"{folder} may not include <{target}>; only: {' '.join(foreign[target])}"
    return None


def check(root):
    """All wrong arrows as 'file:line: message'."""
    may, foreign = read_page(root)
    wrong = []
    files = [f for top in ("src",) + TOP + BESIDE for ext in ("*.c", "*.h") for f in (root / top).rglob(ext)]
    for file in sorted(files):
        path = file.relative_to(root)
        folder = folder_of(path)
        if folder is None or folder not in may:
            wrong.append(f"{path}:1: '{path.parent}' is no folder of {PAGE}")
            continue
        text = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), file.read_text(encoding="utf-8"))
        for m in INCLUDE.finditer(text):
            quoted, angle = m.groups()
            says = wrong_quoted(root, path, folder, quoted, may) if quoted else wrong_angle(folder, angle, foreign)
            if says:
                line = text.count("\n", 0, m.start(1) if quoted else m.start(2)) + 1
                wrong.append(f"{path}:{line}: {says}")
    return wrong


def self_test():
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    right = {
        "include/talus/a.h": "#include <stddef.h>\n#include <talus/b.h>\n",
        "src/base/a.h": "#include <talus/a.h>\n#include <sys/mman.h>\n",
        "src/math/a.c": '#include "base/a.h"\n#include <cholmod.h>\n#include "talus_version.h"\n',
        "src/model/granular/a.c": '#include "model/grid/a.h"\n#include "solve/boxqp/problem.h"\n',
        "src/solve/boxqp/a.c": '#include "solve/boxqp/problem.h"\n/* #include "model/a.h" */\n',
        "lab/bench/a.c": '#include "step/a.h"\n#include "lab/validate/a.h"\n',
        "cli/a.c": "#include <stdio.h>\n#include <talus/a.h>\n",
        "tests/support/check.h": "#include <cmocka.h>\n",
        "tests/unit/a.c": '#include "check.h"\n#include "api/a.h"\n#include <lapacke.h>\n',
    }
    wrong = {
        "src/base/up.c": '#include "math/a.h"\n',
        "src/solve/physics.c": '#include "base/a.h"\n\n# include "model/a.h"\n',
        "src/model/method.c": '#include "solve/boxqp/method.h"\n',
        "lab/bench/api.c": '#include "api/a.h"\n',
        "src/step/render.c": '#include "render/a.h"\n',
        "src/solve/blas.c": "#include <cblas.h>\n",
        "src/math/foreign.c": "#include <gsl/gsl_math.h>\n",
        "src/math/quoted.c": '#include "talus/a.h"\n',
        "src/math/bare.c": '#include "csr.h"\n',
        "src/gpu/a.c": "#include <stdio.h>\n",
        "src/loose.c": "#include <stdio.h>\n",
        "cli/inside.c": '#include "base/a.h"\n',
        "include/talus/up.h": '#include "base/a.h"\n',
    }
    lines = {"src/solve/physics.c": 3}
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in {PAGE: page, **right, **wrong}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        found = {":".join(w.split(":")[:2]) for w in check(root)}
        expected = {f"{path}:{lines.get(path, 1)}" for path in wrong}
        bad = [f"not found: {w}" for w in sorted(expected - found)] + [f"wrongly found: {w}" for w in sorted(found - expected)]

        # A page that says something unreadable must not pass as an empty table.
        for old, new in (("| `math` | `base` |", "| `math` | base |"), ("| `geom` | `base` `math` |", "| `geom` | `bass` |"),
                         ("| folder | may include |", "| folder | includes |")):
            (root / PAGE).write_text(page.replace(old, new), encoding="utf-8")
            try:
                check(root)
                bad.append(f"accepted a page with '{new}'")
            except BadPage:
                pass
    print("\n".join(bad) if bad else f"{len(expected)} wrong arrows and 3 bad pages found, {len(right)} right files passed")
    return 1 if bad else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        wrong = check(ROOT)
    except BadPage as problem:
        wrong = [str(problem)]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
