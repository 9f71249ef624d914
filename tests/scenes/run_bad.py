#!/usr/bin/env python3
"""Runs `talus check` on every scene of a folder and compares with what its first lines expect.

    tests/scenes/run_bad.py TALUS FOLDER [--seconds S] [--least N]

    --! 5: box.size[2] must be > 0 m     a problem at line 5 whose text contains this
    --! box.size must be                 the same at any place
    --! set grid.cell=0                  run with this --set
    --! size paper                       run with this --size
    --! more                             other problems may follow

Each scene must end with status 2 within S seconds of processor time (2 unless said), give every expected problem and no other. For a file
that cannot hold comments, the lines are in FILE.expect.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

NOISE = re.compile(r"#\d+:|0x[0-9a-f]{6,}|_t\d+\b")  # inner names and addresses have no place in a message


def read_header(path):
    beside = path.with_name(path.name + ".expect")
    text = (beside if beside.exists() else path).read_bytes().decode("utf-8", "replace")
    expected, arguments, more = [], [], False
    for line in text.split("\n"):
        if not line.startswith("--!"):
            break
        words = line[3:].strip()
        option = re.match(r"(set|size) (.*)", words)
        place = re.match(r"(\d+): ?(.*)", words)
        if option:
            arguments += ["--" + option[1], option[2]]
        elif words == "more":
            more = True
        elif place:
            expected.append((int(place[1]), place[2]))
        else:
            expected.append((None, words))
    return expected, arguments, more


def matches(line, path, expected):
    number, text = expected
    if text not in line:
        return False
    return number is None or line.startswith(f"{path}:{number}: ")


def run(talus, path, seconds):
    expected, arguments, more = read_header(path)
    limit = int(seconds) + 20  # processor seconds until the system ends it
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([talus, "check", str(path), *arguments], stdout=subprocess.DEVNULL, stderr=out,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        lines = out.read().decode("utf-8", "replace").splitlines()
    took = usage.ru_utime + usage.ru_stime
    summary = re.fullmatch(re.escape(str(path)) + r": \d+ problems?", lines[-1]) if lines else None
    problems = [line for line in lines[: -1 if summary else None] if ": note: " not in line and "again" != line]
    wrong = []
    if child.returncode != 2:
        wrong.append(f"exit status {child.returncode}, expected 2")
    if not expected:
        wrong.append("the scene expects nothing")
    if took > seconds:
        wrong.append(f"took {took:.2f} s, at most {seconds} are allowed")
    if not summary:
        wrong.append("no line that counts the problems")
    wrong += [f"missing: {number or 'any line'}: {text}" for number, text in expected if not any(matches(p, path, (number, text)) for p in problems)]
    wrong += [f"not expected: {p}" for p in problems if not more and not any(matches(p, path, e) for e in expected)]
    wrong += [f"inner name in: {p}" for p in problems if NOISE.search(p.replace(str(path), ""))]
    return f"{path.name}: " + "\n    ".join(wrong) if wrong else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("talus")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--least", type=int, default=1, help="scenes that must be there")
    options = parser.parse_args()
    scenes = sorted(options.folder.glob("*.lua"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        failures = [f for f in pool.map(lambda p: run(options.talus, p, options.seconds), scenes) if f]
    if len(scenes) < options.least:
        failures.append(f"{len(scenes)} scenes in {options.folder}, at least {options.least} were expected")
    print("\n".join(failures + [f"{len(scenes)} scenes, {len(failures)} wrong"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
