#!/usr/bin/env python3
"""talus run --sweep from the outside: every variant with the numbers that it has alone, in processes, whatever happens
to them; sweep.csv; samples.

    tests/cli/sweep.py PROGRAM
"""
import csv
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time

SCENE = """
local p = params { push = 2.0, kind = "ball", fail = 0 }
assert(p.fail ~= 3)
local shape = p.kind == "ball" and sphere { radius = 0.1 } or box { size = 0.2 }
return scene { talus = 1, engine = "grid", duration = 1, fps = 50, dt_max = 0.01, bodies = {
  { name = "ground", kind = "static", shape = plane {} },
  { name = "it", shape = shape, at = {0, 0.1, 0}, velocity = {p.push, 0, 0}, density = 1000 } } }
"""
wrong = []


def check(condition, text):
    if not condition:
        wrong.append(text)
    return condition


class Talus:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def command(self, *arguments):
        return [self.program, "run", "scene.lua", "--no-pictures", *map(str, arguments)]

    def run(self, *arguments, status=0):
        done = subprocess.run(self.command(*arguments), cwd=self.folder, capture_output=True, text=True, timeout=120)
        check(done.returncode == status, f"{arguments}: exit status {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
        return done

    def rows(self, parent):
        with open(self.folder / parent / "sweep.csv", newline="") as f:
            return list(csv.DictReader(f))

    def hash(self, *path):
        return json.loads(self.folder.joinpath(*path, "run.json").read_text())["state_hash"]


def combinations(t):
    columns = "t_s,max:kinetic_J,min:kinetic_J,mean:kinetic_J,it.x_m"
    t.run("-o", "all", "--frames", 5, "--sweep", "push=1:2:0.5", "--sweep", 'kind=ball,box', "--columns", columns, "--jobs", 2)
    rows = t.rows("all")
    names = [f"push={a},kind={b}" for a in ("1", "1.5", "2") for b in ("ball", "box")]
    check([r["folder"] for r in rows] == names, f"folders: {[r['folder'] for r in rows]}")
    check([(r["push"], r["kind"]) for r in rows] == [(a, b) for a in ("1", "1.5", "2") for b in ("ball", "box")], f"values: {rows}")
    check({r["outcome"] for r in rows} == {"finished"} and {r["t_s"] for r in rows} == {"0.10000000000000001"}, f"outcomes: {rows}")
    for row in rows:
        with open(t.folder / "all" / row["folder"] / "steps.csv", newline="") as f:
            kinetic = [float(r["kinetic_J"]) for r in csv.DictReader(f)]
        with open(t.folder / "all" / row["folder"] / "bodies.csv", newline="") as f:
            x = [r["x_m"] for r in csv.DictReader(f) if r["name"] == "it"][-1]
        found = [float(row[k]) for k in columns.split(",")[1:]]
        mean = sum(kinetic) / len(kinetic)
        check(found[0] == max(kinetic) and found[1] == min(kinetic) and abs(found[2] - mean) < 1e-12 * mean and found[3] == float(x),
              f"columns of {row}: {max(kinetic)} {min(kinetic)} {mean} {x}")
    t.run("-o", "alone", "--frames", 5, "--set", "push=1.5", "--set", "kind=box")
    check(t.hash("alone") == t.hash("all", "push=1.5,kind=box"), "a variant has other numbers than the same run alone")

    done = t.run("-o", "some", "--frames", 2, "--sweep", "fail=1:5", "--columns", "t_s,no_such", "--jobs", 3, status=1)
    check([r["outcome"] for r in t.rows("some")] == ["finished"] * 2 + ["refused"] + ["finished"] * 2, f"{t.rows('some')}")
    check("1 of 5 values failed" in done.stderr and "no run has a column 'no_such'" in done.stderr, done.stderr)
    t.run("-o", "none", "--frames", 2, "--sweep", "push={1},{2},{3}", status=3)
    check(t.run("-o", "mute", "--frames", 2, "--sweep", "push=1,2", "--quiet").stderr == "", "--quiet talks")


def samples(t):
    seen = []
    for how, seed, jobs in (("latin:8", 5, 1), ("latin:8", 5, 2), ("latin:8", 6, 2), ("random:8", 5, 2)):
        name = f"{how}-{seed}-{jobs}"
        t.run("-o", name, "--frames", 1, "--sweep", "push=1:3", "--sweep", "kind=ball,box", "--sample", how, "--seed", seed, "--jobs", jobs)
        seen.append([(r["push"], r["kind"], r["kinetic_J"]) for r in t.rows(name)])
    check(seen[0] == seen[1], f"samples or results depend on --jobs: {seen[:2]}")
    check(seen[0] != seen[2] and seen[0] != seen[3], "samples do not depend on the seed or the kind")
    slices = sorted(int((float(push) - 1) * 4) for push, _, _ in seen[0])
    check(slices == list(range(8)), f"latin: slices {slices}")
    check(sorted(kind for _, kind, _ in seen[0]) == ["ball"] * 4 + ["box"] * 4, f"latin: words {seen[0]}")


def stopped(t):
    """Interrupted, and killed with its processes left behind; resumed as a whole; all as if nothing had happened."""
    sweep = ["--sweep", "push=1:6", "--jobs", "2"]
    t.run("-o", "plain", *sweep)
    for number, name in ((signal.SIGINT, "int"), (signal.SIGKILL, "kill")):
        process = subprocess.Popen(t.command("-o", name, *sweep), cwd=t.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not list(t.folder.glob(f"{name}/push=*/checkpoint.h5")) and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(number)
        talk = process.communicate(timeout=60)[1]
        if number == signal.SIGINT:
            check(process.returncode == 130 and "--resume goes on" in talk, f"interrupted: {process.returncode} {talk}")
            check("finished" != t.rows(name)[-1]["outcome"], "interrupted: the table says that all is finished")
        for _ in range(200):  # processes that have lost their display save and end
            done = subprocess.run(t.command("-o", name, *sweep, "--resume"), cwd=t.folder, capture_output=True, text=True, timeout=120)
            if "another run is at work" not in done.stderr:
                break
            time.sleep(0.05)
        check(done.returncode == 0, f"resumed after {name}: {done.returncode} {done.stderr}")
        for i in range(1, 7):
            check(t.hash(name, f"push={i}") == t.hash("plain", f"push={i}"), f"{name}: variant {i} has other numbers")
        check((t.folder / name / "sweep.csv").read_text() == (t.folder / "plain/sweep.csv").read_text(), f"{name}: another table")


def talk(t):
    cases = [
        (["--sweep", "push"], "KEY=VALUE"),
        (["--sweep", "push=1,,2"], "value 2 is empty"),
        (["--sweep", "push=1,1"], "value 2 is there twice"),
        (["--sweep", "push=1:2:-1"], "do not lead"),
        (["--sweep", "push=1:1"], "two different ends"),
        (["--sweep", "push=1:2", "--sweep", "push=3,4"], "swept already"),
        (["--sweep", "push=0:1e9"], "too many"),
        (["--sweep", "push=0:999", "--sweep", "fail=0:999"], "more than 100000 variants"),
        (["--sweep", "push=1:2", "--sample", "sobol:3"], "random:N or latin:N"),
        (["--sweep", "push=1:2", "--sample", "latin:0"], "whole number"),
        (["--sweep", "push=1:2", "--seed", "-3"], "--seed must be"),
        (["--sweep", "push=1:2", "--jobs", "0"], "--jobs must be"),
        (["--sweep", "push=1:2", "--columns", "t_s,,kinetic_J"], "--columns must be"),
        (["--jobs", "2"], "--jobs needs a --sweep"),
    ]
    for arguments, text in cases:
        done = t.run(*arguments, status=2)
        check(text in done.stderr, f"{arguments}: stderr lacks '{text}': {done.stderr}")
    main, side = pty.openpty()
    process = subprocess.Popen(t.command("-o", "live", "--sweep", "push=1:4", "--jobs", "2"), cwd=t.folder, stdout=subprocess.PIPE, stderr=side)
    process.communicate(timeout=60)
    os.close(side)
    check(b"/4 done, 0 failed" in os.read(main, 100000), "no live line on a terminal")
    os.close(main)


def main():
    with tempfile.TemporaryDirectory() as folder:
        t = Talus(sys.argv[1], pathlib.Path(folder))
        (t.folder / "scene.lua").write_text(SCENE)
        for part in (combinations, samples, stopped, talk):
            part(t)
    print("\n".join(wrong) if wrong else "good")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
