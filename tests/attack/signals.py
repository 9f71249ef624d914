#!/usr/bin/env python3
"""Signals at bad moments: inside of a step that does not end, during set-up, with closed descriptors, full devices and readers that have gone.

    tests/attack/signals.py PROGRAM [SLOWER]

A signal has to act within SECONDS of processor time, and the folder has to be good afterwards. SLOWER: how many times as long everything takes with
sanitizers; measured 3.1 to 3.5 on steps of liquid and elastic bodies, so 4.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

SECONDS = 2 * (float(sys.argv[2]) if len(sys.argv) > 2 else 1)  # of processor time between the signal and the end
PATIENCE = 120  # of the clock, on a machine that does other things as well

# Scenes whose first step takes minutes: a tolerance that nothing reaches, and as many iterations as the schema allows.
HEAD = 'return scene { talus = 1, duration = 10, fps = 1, dt_max = 1, dt_min = 1, gravity = {0, -10, 0}, '
ENDLESS = {
    "sand": HEAD + """engine = "grid", grid = { cells = {20, 20, 20}, cell = 0.05 }, solver = { sweeps = 10000, tolerance = 1e-15 },
        fill = { { material = granular { density = 1600, friction_angle_deg = 30 }, shape = box { size = 0.6, center = {0.5, 0.3, 0.5} } } } }""",
    "liquid": HEAD + """engine = "grid", grid = { cells = {40, 40, 40}, cell = 0.025 },
        solver = { scheme = "t-p-n", sweeps = 10000, tolerance = 1e-15, pressure = { method = "cg-mic", iterations = 1000000 } },
        fill = { { material = liquid { density = 1000 }, shape = box { size = {1, 0.6, 1}, center = {0.5, 0.3, 0.5} } } },
        bodies = { { shape = sphere { radius = 0.2 }, density = 500, at = {0.5, 0.6, 0.5} } } }""",
    "sph": HEAD + """engine = "sph", sph = { spacing = 0.05, iterations_least = 100000 }, solver = { pressure = { iterations = 1000000, tolerance = 1e-30 } },
        domain = { min = {0, 0, 0}, max = {1, 2, 1} },
        fill = { { material = liquid { density = 1000 }, shape = box { size = {0.9, 0.6, 0.9}, center = {0.5, 0.4, 0.5} } } } }""",
    "lg": HEAD + """engine = "lg", lg = { iterations = 10000 },
        bodies = { { kind = "static", shape = plane {} },
          { shape = box { size = 1 }, cells = {14, 14, 14}, at = {0, 0.4, 0}, material = elastic { density = 1000, young = 1e5, poisson = 0.3 } } } }""",
}
LONG = """
local bodies = { { kind = "static", shape = plane {} } }
for i = 1, 60 do bodies[#bodies + 1] = { shape = box { size = 0.3 }, density = 500, at = {0.2 * (i % 5), 0.4 * i, 0.1 * (i % 3)} } end
return scene { talus = 1, engine = "grid", duration = 1000, fps = 50, bodies = bodies }
"""
# Meshing the shape takes seconds.
SETUP = """
local parts = {}
for i = 1, 40 do parts[i] = torus { radius = 0.3, tube = 0.02 }:rotate { 7 * i, 13 * i, 3 * i }:move { 0.1 * (i % 7), 0, 0.1 * (i % 3) } end
local b = {}
for i = 1, 12 do b[i] = { shape = union(parts):scale(1 + 0.01 * i), density = 500, at = {0, 2 * i, 0} } end
return scene { talus = 1, engine = "grid", duration = 1, fps = 50, bodies = b }
"""

program = os.path.abspath(sys.argv[1])
problems = []


def check(good, what):
    if not good:
        problems.append(what)
        print("FAILED:", what)


def busy(pid):
    """Seconds of processor time so far."""
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def start(folder, scene, *words, **more):
    (folder / "scene.lua").write_text(scene)
    return subprocess.Popen([program, "run", "scene.lua", "-o", "run", "--no-pictures", *words], cwd=folder,
                            env=dict(os.environ, OMP_NUM_THREADS="1", TALUS_STARTED="1"), **more)


def wait_for(path, process):
    end = time.monotonic() + PATIENCE
    while not path.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    check(path.exists(), f"{path.name} does not appear")


def finish(process, what):
    """Status and seconds of processor time until the end, from now."""
    before = busy(process.pid)
    process.send_signal(what)
    try:
        _, status, usage = wait4(process, PATIENCE)
    except TimeoutError:
        process.kill()
        process.wait()
        return None, PATIENCE
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime - before


def wait4(process, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return pid, status, usage
        time.sleep(0.01)
    raise TimeoutError


def record(folder):
    return json.loads((folder / "run/run.json").read_text())


def inside_of_steps(folder):
    for (name, scene), what in zip(ENDLESS.items(), (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGTERM)):
        hashes = []
        for pause in (0.2, 0.7):
            here = folder / f"{name}-{pause}"
            here.mkdir()
            process = start(here, scene, "--quiet")
            wait_for(here / "run/checkpoint.h5", process)
            time.sleep(pause)
            status, seconds = finish(process, what)
            check(status == 130, f"{name}: status {status} after {what.name}")
            check(seconds < SECONDS, f"{name}: {seconds:.1f} s until the end")
            r = record(here)
            check(r["outcome"] == "interrupted" and r["steps"] == 0 and r["t"] == 0, f"{name}: {r['outcome']}, {r['steps']} steps")
            hashes.append(r["state_hash"])
            done = subprocess.run([program, "export", "run", "--frame", "0"], cwd=here, capture_output=True, text=True, timeout=PATIENCE)
            check(done.returncode == 0, f"{name}: export: {done.stderr}")
        check(hashes[0] == hashes[1], f"{name}: the state changed inside of the step")
    # what was left in the middle goes on: the checkpoint is a good one
    done = subprocess.run([program, "run", "scene.lua", "-o", "run", "--resume", "--frames", "1", "--no-pictures", "--set", "lg.iterations=2"],
                          cwd=folder / "lg-0.2", capture_output=True, text=True, timeout=PATIENCE)
    check(done.returncode == 2 and "settings have changed" in done.stderr, f"resume with other settings: {done.stderr}")


def between(folder):
    """Ctrl-C in a run of short steps, then the same run without: the same state at the end."""
    hashes = []
    for k in range(2):
        here = folder / f"between-{k}"
        here.mkdir()
        if k == 0:
            process = start(here, LONG, "--quiet")
            wait_for(here / "run/frames/bodies-0003.vtp", process)
            status, seconds = finish(process, signal.SIGINT)
            check(status == 130 and seconds < SECONDS, f"short steps: status {status}, {seconds:.1f} s")
            frames = str(int(50 * record(here)["t"]) + 3)  # frames come in milliseconds: how far it got is not known before
        process = start(here, LONG, "--quiet", "--frames", frames, *(["--resume"] if k == 0 else []), stdout=subprocess.DEVNULL)
        check(process.wait(timeout=PATIENCE) == 0, "resumed")
        hashes.append(record(here)["state_hash"])
    check(hashes[0] == hashes[1], f"resumed {hashes[0]}, straight {hashes[1]}")


def set_up(folder):
    process = start(folder, SETUP, stderr=subprocess.PIPE)
    while busy(process.pid) < 0.3 and process.poll() is None:
        time.sleep(0.02)
    status, seconds = finish(process, signal.SIGTERM)
    told = process.stderr.read().decode()
    check(status == 130 and seconds < SECONDS, f"set-up: status {status}, {seconds:.1f} s")
    check("interrupted before the first step" in told, f"set-up: {told}")


def descriptors(folder):
    """Whatever of 0, 1 and 2 is closed, tables hold data alone."""
    for k, closed in enumerate(((0, 1, 2), (2,), (1,), (0, 2))):
        here = folder / f"closed-{k}"
        here.mkdir()
        process = start(here, LONG, "--frames", "3", close_fds=False, preexec_fn=lambda c=closed: [os.close(fd) for fd in c])
        check(process.wait(timeout=PATIENCE) == 0, f"closed {closed}: status {process.returncode}")
        for name in ("steps.csv", "bodies.csv"):
            lines = (here / "run" / name).read_text().splitlines()
            check(len(lines) > 3 and all(line.split(",")[0].isdigit() for line in lines[1:]) and "frame " not in "".join(lines),
                  f"closed {closed}: talk in {name}")


def output(folder):
    """Results that cannot be written, and talk that nobody reads."""
    here = folder / "full"
    here.mkdir()
    with open("/dev/full", "w") as full:
        process = start(here, LONG, "--frames", "2", "--quiet", stdout=full, stderr=subprocess.PIPE)
        told = process.communicate(timeout=PATIENCE)[1].decode()
        check(process.returncode == 1 and "standard output" in told, f"/dev/full: status {process.returncode}: {told}")
        check(record(here)["outcome"] == "finished", "/dev/full: the run itself is finished")
        for words in (["scenes"], ["--version"], ["check", "scene.lua"], ["--help"]):
            done = subprocess.run([program, *words], cwd=here, stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE)
            check(done.returncode == 1, f"talus {words[0]} >/dev/full: status {done.returncode}")
    here = folder / "pipe"
    here.mkdir()
    read, write = os.pipe()
    process = start(here, LONG, "--frames", "40", stdout=write, stderr=write)
    os.close(write)
    wait_for(here / "run/checkpoint.h5", process)
    os.close(read)
    check(process.wait(timeout=PATIENCE) == 1, f"a reader that has gone: status {process.returncode}")
    check(record(here)["outcome"] == "finished", f"a reader that has gone: {record(here)['outcome']}")


with tempfile.TemporaryDirectory() as name:
    for test in (inside_of_steps, between, set_up, descriptors, output):
        began = time.monotonic()
        test(pathlib.Path(name))
        print(f"{test.__name__}: {time.monotonic() - began:.1f} s")
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
