#!/usr/bin/env python3
"""The attack suite for as long as you like: kills and signals at random moments, flipped and forged files, random limits.  ./dev attack [minutes]

    tests/attack/long.py PROGRAM MINUTES [SEED]

Every engine is run, killed and resumed with random numbers of threads until it ends; the end must be that of a run that was never stopped. Between
kills, files of the folder are flipped on a copy of it: talus must refuse or go on, never crash or hang. Prints runs and finds; a find keeps its folder.
"""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HEAD = 'return scene { talus = 1, duration = 0.24, fps = 50, gravity = {0, -10, 0}, output = { checkpoint_every = 3 }, '
SCENES = {
    "rigid": HEAD + """engine = "grid", bodies = { { kind = "static", shape = plane {} },
        { shape = box { size = 0.3 }, density = 500, at = {0, 0.16, 0} }, { shape = sphere { radius = 0.15 }, density = 900, at = {0.05, 0.5, 0} } } }""",
    "liquid": HEAD + """engine = "grid", grid = { cells = {12, 12, 12}, cell = 0.1 },
        fill = { { material = liquid { density = 1000 }, shape = box { size = {0.6, 0.8, 1.2}, center = {0.3, 0.4, 0.6} } } },
        bodies = { { shape = box { size = 0.3 }, density = 500, at = {0.8, 0.3, 0.6} } } }""",
    "sand": HEAD + """engine = "grid", grid = { cells = {12, 12, 12}, cell = 0.1 },
        fill = { { material = granular { density = 1600, friction_angle_deg = 30 }, shape = box { size = {0.6, 0.8, 1.2}, center = {0.3, 0.4, 0.6} } } } }""",
    "sph": HEAD + """engine = "sph", sph = { spacing = 0.1 }, domain = { min = {0, 0, 0}, max = {1.2, 1.2, 1.2} },
        fill = { { material = liquid { density = 1000 }, shape = box { size = {0.6, 0.8, 1.1}, center = {0.35, 0.45, 0.6} } } },
        bodies = { { shape = box { size = 0.3 }, density = 500, at = {0.9, 0.3, 0.6} } } }""",
    "lg": HEAD + """engine = "lg", bodies = { { kind = "static", shape = plane {} },
        { shape = box { size = 0.4 }, cells = {3, 3, 3}, at = {0, 0.25, 0}, material = elastic { density = 1000, young = 1e5, poisson = 0.3 } } } }""",
}
PATIENCE = 300

program = os.path.abspath(sys.argv[1])
end = time.monotonic() + 60 * float(sys.argv[2])
seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
dice = random.Random(seed)
counts = {"runs": 0, "kills": 0, "signals": 0, "flips": 0, "commands": 0}
finds = []


def find(what, folder):
    kept = pathlib.Path(f"attack-find-{seed}-{len(finds)}")
    if folder.exists():
        shutil.copytree(folder, kept, symlinks=True)
    finds.append(what)
    print(f"FIND: {what}: kept in {kept}", flush=True)


def start(folder, name, *words):
    environment = dict(os.environ, OMP_NUM_THREADS=str(dice.choice((1, 2, 3))), TALUS_STARTED="1")
    return subprocess.Popen([program, "run", f"{name}.lua", "-o", "run", "--quiet", "--no-pictures", *words], cwd=folder, env=environment,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def wait(process, seconds=PATIENCE):
    try:
        told = process.communicate(timeout=seconds)[1]
        return process.returncode, told
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None, b""


def straight(folder, name):
    folder.mkdir()
    (folder / f"{name}.lua").write_text(SCENES[name])
    status, told = wait(start(folder, name))
    if status != 0:
        find(f"{name}: straight run: status {status}: {told[-200:]!r}", folder)
    return json.loads((folder / "run/run.json").read_text())["state_hash"]


def flip(folder, name):
    """A copy of the folder with one file damaged: any status, but no signal and no hang."""
    copy = folder.with_name(folder.name + "-flip")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    files = [p for p in copy.rglob("*") if p.is_file() and p.suffix != ".lua"]
    victim = dice.choice(files)
    data = bytearray(victim.read_bytes())
    how = dice.randrange(4)
    if how == 0 and data:
        for _ in range(dice.randint(1, 8)):
            data[dice.randrange(len(data))] = dice.randrange(256)
    elif how == 1:
        del data[dice.randrange(len(data) + 1):]
    elif how == 2:
        data += bytes(dice.randrange(256) for _ in range(dice.randint(1, 5000)))
    elif data:
        at = dice.randrange(len(data))
        data[at:at] = data[:dice.randrange(len(data))]
    victim.write_bytes(data)
    counts["flips"] += 1
    commands = [["run", f"{name}.lua", "-o", "run", "--resume", "--quiet", "--no-pictures"], ["render", "run", "--width", "32", "--height", "32", "--samples", "1"],
                ["export", "run"], ["report", "run"]]
    for words in dice.sample(commands, 2):
        counts["commands"] += 1
        done = subprocess.Popen([program, *words], cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, OMP_NUM_THREADS="1"))
        try:
            out, told = done.communicate(timeout=PATIENCE)
            if done.returncode < 0:
                find(f"{name}: talus {words[0]} after a flip in {victim.name}: signal {-done.returncode}", copy)
            if any(b < 0x20 and b not in b"\n\r" for b in told + out):
                find(f"{name}: talus {words[0]}: control bytes: {told[-200:]!r}", copy)
        except subprocess.TimeoutExpired:
            done.kill()
            done.communicate()
            find(f"{name}: talus {words[0]} after a flip in {victim.name}: no end", copy)
    shutil.rmtree(copy, ignore_errors=True)


def stop_and_go(folder, name, want):
    folder.mkdir()
    (folder / f"{name}.lua").write_text(SCENES[name])
    for attempt in range(12):
        process = start(folder, name, *(["--resume"] if attempt else []))
        last = attempt == 11
        what = dice.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        if not last:
            time.sleep(dice.expovariate(3))
            process.send_signal(what)
            counts["kills" if what == signal.SIGKILL else "signals"] += 1
        status, told = wait(process, PATIENCE)
        if status is None:
            find(f"{name}: no end after {what.name}", folder)
            return
        if status == 0:
            break
        if status not in (-9, 130) and not (status < 0 and not last):
            find(f"{name}: attempt {attempt}: status {status}: {told[-200:]!r}", folder)
            return
        if (folder / "run/run.json").exists() and dice.random() < 0.3:
            flip(folder, name)
    got = json.loads((folder / "run/run.json").read_text())["state_hash"]
    if got != want:
        find(f"{name}: {got} after kills, {want} without", folder)


with tempfile.TemporaryDirectory() as top:
    top = pathlib.Path(top)
    want = {name: straight(top / f"{name}-straight", name) for name in SCENES}
    while time.monotonic() < end:
        name = dice.choice(list(SCENES))
        counts["runs"] += 1
        stop_and_go(top / f"run-{counts['runs']}", name, want[name])
        shutil.rmtree(top / f"run-{counts['runs']}", ignore_errors=True)
print(f"seed {seed}: " + ", ".join(f"{n} {what}" for what, n in counts.items()) + f"; {len(finds)} finds")
sys.exit(1 if finds else 0)
