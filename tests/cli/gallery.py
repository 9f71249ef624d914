#!/usr/bin/env python3
"""Every scene that `talus scenes` lists passes `talus check` and starts: its first step is made.

    tests/cli/gallery.py PROGRAM
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

program = sys.argv[1]


def talus(*words):
    return subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=200,
                          env=dict(os.environ, OMP_NUM_THREADS="1"))


def start(name, folder):
    """Frames are so close together that the first is one short step away."""
    file = next(line.split(None, 1)[1] for line in talus("scenes", name).stdout.splitlines() if line.startswith("  file "))
    told = []
    for done in (talus("check", file, "--quiet"),
                 talus("run", file, "-o", folder / name, "--frames", 1, "--set", "fps=2000", "--no-pictures", "--quiet")):
        if done.returncode != 0:
            told.append(f"FAILED: {' '.join(done.args[1:3])}: status {done.returncode}: {done.stderr.strip()}")
    return told


with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
    names = [line.split()[0] for line in talus("scenes").stdout.splitlines()[1:] if line and not line.startswith(" ")]
    problems = [text for told in pool.map(lambda n: start(n, pathlib.Path(folder)), names) for text in told]
if len(names) < 60:
    problems.append(f"FAILED: {len(names)} scenes are listed, 60 are expected")
print("\n".join(problems + [f"{len(names)} scenes, {len(problems)} problems"]))
sys.exit(1 if problems else 0)
