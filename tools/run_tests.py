#!/usr/bin/env python3
"""Runs the tests of a build folder through ctest and counts single test cases.

    tools/run_tests.py [--jobs N] BUILD [FILTER]
    tools/run_tests.py --self-test              prove the counting on made-up results

FILTER is a regular expression on the names of ctest (unit/sum). Progress goes to stderr, failures to stdout;
the last line is `N passed, N failed, N skipped`. A cmocka executable counts case by case; the cases that it did
not reach (crash, time limit) count as failed, and so does an exit status that no case explains.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

from self_test import compare

PLAN = re.compile(r"^1\.\.(\d+)\s*$")
CASE = re.compile(r"(?P<not>not )?ok (?P<number>\d+) (?P<mark>-|# SKIP) ?(?P<name>.*)$")
PROGRESS = re.compile(r"^\s*(\d+/\d+) Test\s+#\d+: (\S+) \.*\s*(.*?)\s*([\d.]+) sec")


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.stories = []  # (name, text) of what failed or was skipped

    def fail(self, name, text, count=1):
        self.failed += count
        self.stories.append((f"FAILED {name}", text))

    def skip(self, name, text):
        self.skipped += 1
        self.stories.append((f"skipped {name}", text))


def count_cmocka(tally, test, lines, good, how):
    """Adds the cases of one executable, from its TAP lines. good: exit status 0."""
    planned = reached = failed = 0
    talk = []  # what was printed since the last verdict: cmocka prints a case's messages on either side of it
    stories = []
    for line in lines:
        plan, case = PLAN.match(line), CASE.search(line)
        if plan:
            planned += int(plan.group(1))
        elif case:
            reached += 1
            name = f"{test}: {case.group('name')}"
            if case.group("mark") == "# SKIP":
                tally.skip(name, "")
                talk = []
            elif case.group("not"):
                failed += 1
                stories.append((name, talk))
                talk = stories[-1][1]
            else:
                tally.passed += 1
                talk = []
        else:
            talk.append(line)
    for name, story in stories:
        tally.fail(name, "\n".join(story))
    if reached < planned:
        tally.fail(f"{test}: {planned - reached} of {planned} cases not reached ({how})", "\n".join(talk), planned - reached)
    elif (not good and not failed) or any("ERROR: LeakSanitizer" in line for line in talk):
        tally.fail(f"{test}: the program did not end well after its last case ({how})", "\n".join(talk))


def count_test(tally, element, verdict):
    test, good = element.get("name"), element.get("status") == "run"
    lines = (element.findtext("system-out") or "").splitlines()
    if any(PLAN.match(line) for line in lines):
        count_cmocka(tally, test, lines, good, verdict)
    elif good:
        tally.passed += 1
    elif verdict == "Skipped":
        tally.skip(test, "\n".join(lines))
    else:
        tally.fail(f"{test} ({verdict})", "\n".join(lines))


def run_ctest(build, jobs, pattern, results):
    """What ctest printed, and its verdict for each test: Passed, Failed, Timeout, ..."""
    command = ["ctest", "--test-dir", str(build), "-j", str(jobs), "--output-junit", str(results), "--no-tests=ignore",
               "--test-output-size-passed", "4000000", "--test-output-size-failed", "4000000"]
    if pattern:
        command += ["-R", pattern]
    environment = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="tap")
    ctest = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, errors="replace", env=environment)
    talk, verdicts = [], {}
    for line in ctest.stdout:
        talk.append(line)
        m = PROGRESS.match(line)
        if m:
            index, name, verdict, seconds = m.groups()
            verdicts[name] = verdict.replace("***", " ").strip(": ")
            mark = "" if verdict == "Passed" else "  " + verdicts[name]
            print(f"  {index:>7}  {name:<32} {seconds:>7} s{mark}", file=sys.stderr, flush=True)
    ctest.wait()
    return "".join(talk), verdicts


def self_test():
    """(output, ctest's verdict) -> passed, failed, skipped"""
    cases = [
        ("1..2\nok 1 - a\nok 2 - b\n", "Passed", (2, 0, 0)),
        ("1..2\ntalk without line endok 1 - a\nok 2 - b\n", "Passed", (2, 0, 0)),
        ("1..3\nok 1 - a\nnot ok 2 - b\n# why\nok 3 - c\n", "Failed", (2, 1, 0)),
        ("1..2\nok 1 - a\nnot ok 2 # SKIP b\n", "Passed", (1, 0, 1)),
        ("1..4\nok 1 - a\n", "Subprocess aborted", (1, 3, 0)),
        ("1..1\nok 1 - a\n==1==ERROR: LeakSanitizer: detected memory leaks\n", "Failed", (1, 1, 0)),
        ("1..2\nok 1 - a\nnot ok 2 - b\n==1==ERROR: LeakSanitizer: detected memory leaks\n", "Failed", (1, 2, 0)),
        ("1..1\nok 1 - a\n1..2\nok 1 - b\nok 2 - c\n", "Passed", (3, 0, 0)),
        ("", "Timeout", (0, 1, 0)),
        ("", "not run", (0, 1, 0)),
        ("talk\n", "Passed", (1, 0, 0)),
        ("no display\n", "Skipped", (0, 0, 1)),
    ]

    def read(output, verdict):
        tally = Tally()
        element = xml.Element("testcase", name="t", status="run" if verdict == "Passed" else "fail")
        xml.SubElement(element, "system-out").text = output
        count_test(tally, element, verdict)
        return tally.passed, tally.failed, tally.skipped

    return compare([((output, verdict), right) for output, verdict, right in cases], read, "counted")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("filter", nargs="?")
    args = parser.parse_args()

    build = args.build.resolve()
    results = build / "tests.xml"
    results.unlink(missing_ok=True)
    talk, verdicts = run_ctest(build, args.jobs, args.filter, results)
    if not results.exists():
        print(talk, end="")
        print("ctest left no results")
        return 1

    tally = Tally()
    tests = list(xml.parse(results).getroot().iter("testcase"))
    for element in tests:
        count_test(tally, element, verdicts.get(element.get("name"), "not run"))
    if not tests:
        print(f"no test matches '{args.filter}'; `ctest --test-dir {args.build} -N` lists the names")
    for name, text in tally.stories:
        print(f"\n{name}")
        if text.strip():
            print("\n".join("    " + line for line in text.strip("\n").splitlines()))
    if tally.stories:
        print()
    print(f"{tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped", flush=True)
    return 1 if tally.failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
