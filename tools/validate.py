#!/usr/bin/env python3
"""Runs every case of `talus validate`, and the gallery's checks, and says in one table what missed.

    tools/validate.py BUILD [GROUP [CASE]] [--quick] [--again] [--jobs N]
    tools/validate.py --self-test               prove the reading of answers on made-up ones

GROUP is an engine's (grid, sph, lg, elasto) or `gallery`: every scene of `talus scenes` is checked and starts. Answers
are kept in BUILD/validate until the program changes: a run that was stopped goes on where it was, and a second one
only prints the table (--again asks anew). --quick leaves the long cases out. Progress goes to stderr; the last line is
`N cases, N numbers, N missed, N could not run`. Exit status 0: all of them were run and none missed.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from self_test import compare

CASE = re.compile(r"^  (\w+) +(\S+) +(.*?)( \(long\))?$")
ROW = re.compile(r"  (pass|FAIL)$")
LIMIT = 3 * 3600  # seconds of one case; the longest take minutes


def fingerprint(program):
    """Of the program and of the library that it loads."""
    files = [program] + sorted(path for path in program.parent.glob("libtalus.so*") if not path.is_symlink())
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def cases_of(text):
    """[(group, name, about, long)] from the help of talus validate."""
    lines = text.split("\nCases:\n", 1)[1].splitlines()
    return [(m[1], m[2], m[3], bool(m[4])) for m in map(CASE.match, lines) if m]


def judge(output, status):
    """What one case said: (numbers, lines that missed, why it could not run)."""
    rows = [line for line in output.splitlines() if ROW.search(line)]
    missed = [line for line in rows if line.endswith("FAIL")]
    broken = ""
    if status not in (0, 1) or (status == 1 and not missed) or "could not run" in output:
        broken = f"exit status {status}"
    elif not rows:
        broken = "it printed no number"
    return len(rows), missed, broken


def judge_gallery(output, status):
    lines = output.splitlines()
    missed = [line for line in lines if line.startswith("FAILED")]
    last = re.match(r"(\d+) scenes,", lines[-1]) if lines else None
    broken = "" if last and (status == 0) == (not missed) else f"exit status {status}"
    return int(last[1]) if last else 0, missed, broken


def run(program, group, name):
    if group == "gallery":
        command = [sys.executable, str(pathlib.Path(__file__).parent.parent / "tests/cli/gallery.py"), str(program)]
    else:
        command = [str(program), "validate", group, name, "--threads", "1"]
    began = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT)
        numbers, missed, broken = (judge_gallery if group == "gallery" else judge)(done.stdout, done.returncode)
        if broken:
            broken += ": " + (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
    except subprocess.TimeoutExpired:
        numbers, missed, broken = 0, [], f"not ended after {LIMIT} s"
    return {"numbers": numbers, "missed": missed, "broken": broken, "seconds": time.monotonic() - began}


def table(done):
    """done: {(group, name): answer}, in order. Lines of the table, and whether all is good."""
    lines, total = [], [0, 0, 0, 0, 0.0]
    for (group, name), answer in done.items():
        lines += [f"missed       {re.sub(' +', ' ', row)}" for row in answer["missed"]]
        if answer["broken"]:
            lines.append(f"did not run  {group} {name}: {answer['broken']}")
    if lines:
        lines.append("")
    lines.append(f"{'group':<10}{'cases':>7}{'numbers':>9}{'missed':>8}{'did not run':>13}{'minutes':>9}")
    for group in dict.fromkeys(group for group, _ in done):
        mine = [answer for (g, _), answer in done.items() if g == group]
        row = [len(mine), sum(a["numbers"] for a in mine), sum(len(a["missed"]) for a in mine),
               sum(bool(a["broken"]) for a in mine), sum(a["seconds"] for a in mine) / 60]
        total = [a + b for a, b in zip(total, row)]
        lines.append(f"{group:<10}{row[0]:>7}{row[1]:>9}{row[2]:>8}{row[3]:>13}{row[4]:>9.1f}")
    lines.append(f"{total[0]} cases, {total[1]} numbers, {total[2]} missed, {total[3]} could not run")
    return lines, not total[2] and not total[3]


def self_test():
    answers = [
        ("lg V1 height 1 1 +- 0.1  pass\n1 cases, 1 numbers, 0 missed\n", 0, (1, 0, False)),
        ("lg V1 height 2 1 +- 0.1  FAIL\nlg V1 depth 1 at most 2  pass\n1 cases, 2 numbers, 1 missed\n", 1, (2, 1, False)),
        ("lg V1 height 1 1 +- 0.1  pass\n", -11, (1, 0, True)),
        ("1 cases, 0 numbers, 0 missed, some cases could not run\n", 1, (0, 0, True)),
        ("1 cases, 0 numbers, 0 missed\n", 0, (0, 0, True)),
        ("lg V1 height 2 1 +- 0.1  FAIL\n1 cases, 1 numbers, 1 missed, some cases could not run\n", 1, (1, 1, True)),
    ]

    def read(output, status=None):
        if status is None:
            return cases_of(output)
        numbers, missed, broken = judge(output, status)
        return numbers, len(missed), bool(broken)

    text = "usage\n\nCases:\n  grid   V1     rigid motions\n  elasto cantilever tip of a beam (long)\n"
    listed = [("grid", "V1", "rigid motions", False), ("elasto", "cantilever", "tip of a beam", True)]
    return compare([((output, status), right) for output, status, right in answers] + [((text,), listed)], read, "read")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("group", nargs="?")
    parser.add_argument("case", nargs="?")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    args = parser.parse_intermixed_args()

    program = (args.build / "talus").resolve()
    known = cases_of(subprocess.run([str(program), "validate", "--help"], capture_output=True, text=True, check=True).stdout)
    known.append(("gallery", "starts", "every scene is checked and starts", True))
    wanted = [(group, name) for group, name, _, long in known
              if args.group in (None, group) and args.case in (None, name) and not (args.quick and long)]
    if not wanted:
        groups = ", ".join(dict.fromkeys(group for group, *_ in known))
        print(f"no case '{' '.join(filter(None, (args.group, args.case)))}'; groups are {groups}; `talus validate --help` lists the cases")
        return 2

    kept = args.build / "validate" / fingerprint(program)
    kept.mkdir(parents=True, exist_ok=True)
    done = {}

    def answer(key):
        file = kept / f"{key[0]}-{key[1]}.json"
        if file.exists() and not args.again:
            return key, json.loads(file.read_text()), True
        result = run(program, *key)
        part = file.with_suffix(".part")
        part.write_text(json.dumps(result))
        part.replace(file)
        return key, result, False

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        futures = [pool.submit(answer, key) for key in wanted]
        try:
            for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
                key, result, old = future.result()
                done[key] = result
                story = "as before" if old else f"{result['seconds']:.1f} s"
                verdict = result["broken"] or (f"{len(result['missed'])} of {result['numbers']} missed" if result["missed"] else "")
                print(f"  {number:>3}/{len(wanted)}  {' '.join(key):<22} {story:>10}  {verdict}", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            for future in futures:
                future.cancel()
            print("stopped; what is done is kept, the same command goes on", file=sys.stderr)
            return 130
    lines, good = table({key: done[key] for key in wanted})
    print("\n".join(lines))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
