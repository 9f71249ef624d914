#!/usr/bin/env python3
"""Folders, links, pipes, names and limits of others: nothing outside of the run's folder changes, nothing hangs, no message holds a control byte.

    tests/attack/outside.py PROGRAM
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

SCENE = """
return scene { talus = 1, engine = "grid", duration = 0.1, fps = 50, output = { checkpoint_every = 1 }, bodies = {
  { kind = "static", shape = plane {} }, { shape = box { size = 0.2 }, density = 500, at = {0, 0.3, 0} } } }
"""
EVIL = """
print("print \\27[2J\\a")
return scene { talus = 1, engine = "grid", duration = 0.04, fps = 50, title = "title \\27]0;x\\a\\nrun fake", bodies = {
  { name = "=1+1", shape = sphere { radius = 0.1 }, density = 1, at = {0, 1, 0} },
  { name = "two\\nlines,\\27[31m", shape = sphere { radius = 0.1 }, density = 1, at = {1, 1, 0} } } }
"""
SOFT = """
return scene { talus = 1, engine = "lg", duration = 0.1, fps = 50, bodies = {
  { shape = box { size = 1 }, cells = {6, 6, 6}, at = {0, 2, 0}, material = elastic { density = 1000, young = 1e5, poisson = 0.3 } } } }
"""
SECONDS = 100  # of the clock, for any command

program = os.path.abspath(sys.argv[1])
problems = []


def check(good, what):
    if not good:
        problems.append(what)
        print("FAILED:", what)


def plain(data):
    return all(b >= 0x20 or b in b"\n\r" for b in data) and b"\x7f" not in data


def talus(*words, status=None, cwd=None, limit=None, env=None):
    words = [os.fspath(w) if isinstance(w, os.PathLike) else str(w) for w in words]
    try:
        done = subprocess.run([program, *words], capture_output=True, timeout=SECONDS, cwd=cwd, preexec_fn=limit, stdin=subprocess.DEVNULL,
                              env=dict(os.environ, OMP_NUM_THREADS="1", **(env or {})))
    except subprocess.TimeoutExpired:
        check(False, f"talus {words}: more than {SECONDS} s")
        return None
    check(done.returncode >= 0, f"talus {words}: signal {-done.returncode}")
    check(status is None or done.returncode == status, f"talus {words}: status {done.returncode}: {done.stderr[-300:]!r}")
    check(plain(done.stderr) and plain(done.stdout), f"talus {words}: control bytes in {done.stderr!r} {done.stdout!r}")
    return done


def snapshot(folder):
    return {p.relative_to(folder): p.read_bytes() if p.is_file() and not p.is_symlink() else None for p in sorted(folder.rglob("*"))}


def links(folder):
    """Tables and folders of a run that lead elsewhere."""
    (folder / "s.lua").write_text(SCENE)
    away = folder / "away"
    away.mkdir()
    for name in ("frames", "images", "checkpoints"):
        (away / name).mkdir()
        (away / name / "bodies-9999.vtp").write_text("mine")
        (away / name / "frame-9999.png").write_text("mine")
    for name in ("history.csv", "steps.csv", "bodies.csv"):
        (away / name).write_text("step,x\n1,mine\n2,mine\n999,mine\n")
    before = snapshot(away)
    for name in ("frames", "images", "checkpoints", "history.csv", "steps.csv", "bodies.csv"):
        run = folder / f"run-{name}"
        talus("run", "s.lua", "-o", run, "--frames", 2, "--quiet", "--no-pictures", "--history", cwd=folder, status=0)
        target = run / name
        if target.is_dir():
            for p in target.iterdir():
                p.unlink()
            target.rmdir()
        else:
            target.unlink()
        target.symlink_to(away / name)
        (run / "letter.part-1-0").write_text("mine")
        talus("run", "s.lua", "-o", run, "--frames", 4, "--resume", "--quiet", "--no-pictures", "--history", cwd=folder)
        if name == "images":
            talus("render", run, "--width", 32, "--height", 32, "--samples", 1)
        check(snapshot(away) == before, f"--resume through a link to {name} changed what is behind it")
        check((run / "letter.part-1-0").exists(), "a letter of mine was removed")
    # the user's own folders are not a run
    for name in ("images", "frames", "checkpoints"):
        mine = folder / f"mine-{name}"
        (mine / name).mkdir(parents=True)
        (mine / name / "frame-0000.png").write_text("mine")
        before = snapshot(mine)
        for more in ([], ["--resume"]):
            talus("run", "s.lua", "-o", mine, "--quiet", *more, cwd=folder, status=2)
        check(snapshot(mine) == before, f"-o on a folder with {name}/ changed it")


def stale(folder):
    """Frames beyond the checkpoint go, of every kind."""
    (folder / "soft.lua").write_text(SOFT)
    run = folder / "soft"
    talus("run", "soft.lua", "-o", run, "--frames", 1, "--quiet", "--no-pictures", cwd=folder, status=0)
    (run / "frames/nodes-0009.vtp").write_text("old")
    talus("run", "soft.lua", "-o", run, "--frames", 2, "--resume", "--quiet", "--no-pictures", cwd=folder, status=0)
    check(not (run / "frames/nodes-0009.vtp").exists(), "nodes-0009.vtp of an older run is left")
    record = run / "run.json"
    forged = json.loads(record.read_text())
    for value in (2147483647, -2147483648, 1e14, -1e14):
        forged["resumed"] = value
        record.write_text(json.dumps(forged))
        talus("run", "soft.lua", "-o", run, "--frames", 3, "--resume", "--quiet", "--no-pictures", cwd=folder, status=0)
    for text in ("", "{", "[]", '{"outcome": "\x1b[2J", "scene_file": "\x1b[2J.lua", "scene_hash": "x"}', "{" * 100000, '{"a":' * 5000, "\0" * 100):
        record.write_text(text)
        talus("render", run)
        talus("report", run)
        talus("run", "soft.lua", "-o", run, "--resume", "--quiet", "--no-pictures", cwd=folder)


def pipes(folder):
    """Nothing waits for a pipe, and no pipe or device is replaced."""
    run = folder / "pipes"
    (folder / "s.lua").write_text(SCENE)
    talus("run", "s.lua", "-o", run, "--frames", 2, "--quiet", "--no-pictures", cwd=folder, status=0)
    for name in ("run.json", "steps.csv", "bodies.csv", "checkpoint.h5", "frames/bodies-0001.vtp"):
        good = (run / name).read_bytes()
        (run / name).unlink()
        os.mkfifo(run / name)
        talus("run", "s.lua", "-o", run, "--resume", "--frames", 3, "--quiet", "--no-pictures", cwd=folder)
        talus("render", run, "--width", 32, "--height", 32, "--samples", 1)
        talus("report", run)
        (run / name).unlink()
        (run / name).write_bytes(good)
    os.mkfifo(folder / "pipe.lua")
    os.mkfifo(folder / "pipe.png")
    os.mkfifo(folder / "pipe.obj")
    talus("check", "pipe.lua", cwd=folder, status=2)
    talus("mesh", "pipe.obj", cwd=folder)
    talus("render", "s.lua", "-o", "pipe.png", "--width", 32, "--height", 32, "--samples", 1, cwd=folder, status=1)
    talus("render", "s.lua", "-o", "/dev/null", "--width", 32, "--height", 32, "--samples", 1, cwd=folder, status=1)
    check((folder / "pipe.png").is_fifo() and pathlib.Path("/dev/null").is_char_device(), "a pipe or /dev/null was replaced")


def words(folder):
    """Names, titles, prints and paths with control bytes."""
    bad = folder / "evil \x1b[31m\n.lua"
    bad.write_text(EVIL)
    run = folder / "evil \x1b]0;x\x07run"
    talus("check", bad, status=0)
    talus("run", bad, "-o", run, "--no-pictures", status=0)
    talus("export", run, status=0)
    talus("render", run, "--frame", 1, "--width", 32, "--height", 32, "--samples", 1, status=0)
    talus("report", run, status=0)
    lines = (run / "bodies.csv").read_bytes().split(b"\n")
    check(len(lines) == 1 + 3 * 2 + 1 and plain(b"".join(lines)), "a name broke a line of bodies.csv")
    check(b",'=1+1," in lines[1], "a cell that begins with =")
    for command in ("run", "check", "render", "export", "mesh", "scenes", "validate", "bench", "report", "\x1b[2J"):
        talus(command, "no\x1b[2J\nsuch")
        talus(command, "--no\x1b[2J")
        talus(command, "--set", "\x1b[2J=1", "x")
        talus(command, "x", "--frames", "\x1b[2J")


def limits(folder):
    """Memory, files, descriptors: a message and a status, and no hang."""
    (folder / "s.lua").write_text(SCENE)
    (folder / "soft.lua").write_text(SOFT)
    sanitized = b"__asan_init" in pathlib.Path(program).read_bytes()  # wants terabytes of addresses
    for megabytes in (() if sanitized else (60, 100, 200, 260, 300, 340, 400, 460)):
        memory = (lambda m=megabytes << 20: resource.setrlimit(resource.RLIMIT_AS, (m, m)))
        talus("--version", limit=memory)
        talus("run", "soft.lua", "-o", folder / f"m-{megabytes}", "--frames", 1, "--quiet", "--no-pictures", cwd=folder, limit=memory)
    for count in (3, 4, 5, 6, 8, 12):
        files = (lambda n=count: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)))
        talus("run", "s.lua", "-o", folder / f"f-{count}", "--frames", 1, "--quiet", "--no-pictures", cwd=folder, limit=files)
    for size in (0, 100, 5000, 20000):
        grow = (lambda n=size: resource.setrlimit(resource.RLIMIT_FSIZE, (n, n)))
        run = folder / f"z-{size}"
        talus("run", "s.lua", "-o", run, "--frames", 2, "--quiet", "--no-pictures", cwd=folder, limit=grow)
        if run.exists() and size > 100:
            talus("run", "s.lua", "-o", run, "--frames", 2, "--quiet", "--no-pictures", "--resume", cwd=folder, status=0)
    # too fast for any number of steps
    fast = SCENE.replace('bodies = {', 'grid = { cells = {8, 8, 8}, cell = 0.1 }, fill = { { material = liquid { density = 1000 }, velocity = {1e15, 0, 0}, '
                         'shape = box { size = 0.4, center = {0.4, 0.2, 0.4} } } }, bodies = {')
    (folder / "fast.lua").write_text(fast)
    for command in (["check"], ["run", "-o", folder / "fast", "--quiet"]):
        done = talus(command[0], "fast.lua", *command[1:], cwd=folder, status=2)
        check(done and b"more than 1e+10" in done.stderr, "a run that cannot end")


with tempfile.TemporaryDirectory() as name:
    for test in (links, stale, pipes, words, limits):
        here = pathlib.Path(name, test.__name__)
        here.mkdir()
        test(here)
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
