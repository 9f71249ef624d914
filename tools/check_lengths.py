#!/usr/bin/env python3
"""Checks that no file has grown beyond what one sitting reads: 500 lines in src/step and src/phase, where reading
starts, 1000 elsewhere. A longer one has two jobs by then.

    tools/check_lengths.py              check this repository; one line per long file, exit status 1 if any
    tools/check_lengths.py --self-test  prove on a few names that long files are found
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOPS = ("include", "src", "cli", "lab")


def most(name):
    """Lines that the file of this name may have."""
    return 500 if name.startswith(("src/step/", "src/phase/")) else 1000


def self_test():
    right = [("src/step/grid.c", 500), ("src/phase/grid/wet.c", 499), ("src/geom/shape.c", 1000), ("src/stepper.c", 600)]
    wrong = [("src/step/grid.c", 501), ("src/phase/grid/wet.c", 510), ("lab/bench.c", 1001)]
    bad = [f"wrongly found: {n} {k}" for n, k in right if k > most(n)] + [f"not found: {n} {k}" for n, k in wrong if k <= most(n)]
    print("\n".join(bad) if bad else f"{len(wrong)} long files found, {len(right)} others passed")
    return 1 if bad else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    files = [f.relative_to(ROOT).as_posix() for top in TOPS for f in sorted((ROOT / top).rglob("*.[ch]"))]
    lines = {name: (ROOT / name).read_text(encoding="utf-8").count("\n") for name in files}
    found = [name for name in files if lines[name] > most(name)]
    for name in found:
        print(f"{name}: {lines[name]} lines, at most {most(name)}")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
