#!/usr/bin/env python3
"""talus run from the outside: what it leaves behind, and that nothing that happens to it changes the result. Killed at random moments,
interrupted, on a full disk, in a folder that is not its own, with one thread and with two.

    tests/cli/run.py PROGRAM
"""
import csv
import fcntl
import json
import os
import pathlib
import pty
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import xml.etree.ElementTree as xml

KILLS = 20  # the number

SCENE = """
local p = params { push = 2.0 }
local bodies = {
  { name = "ground", kind = "static", shape = plane { height = 0 }, friction = 0.5 },
  { name = "paddle", kind = "kinematic", shape = box { size = {0.1, 0.4, 1.0} },
    motion = function(t) return { at = {-1.2 + 0.5 * t, 0.2, 0}, rotation_rad = {0, 0.3 * t, 0} } end },
  { name = "ball, \\"steel\\"", shape = sphere { radius = 0.1 }, at = {-0.8, 0.1, 0}, velocity = {p.push, 0, 0}, density = 2000, friction = 0.4 },
}
for i = 1, 9 do
  bodies[#bodies + 1] = { name = "box " .. i, shape = box { size = {0.2, 0.2, 0.2} }, density = 500, friction = 0.5,
    at = {0.02 * i, 0.05 + 0.21 * i, 0.01 * (i % 3)}, rotation_deg = {0, 5 * i, 0} }
end
return scene { talus = 1, engine = "grid", title = "Killed often", duration = 0.8, fps = 50, dt_max = 0.005, bodies = bodies,
  output = { checkpoint_every = 10, images_every = 8 }, grid = { cells = {8, 8, 8}, cell = 1, origin = {-4, -1, -4} },
  render = { width = 64, height = 36, samples = 1 } }
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
        return [self.program, "run", *map(str, arguments)]

    def run(self, *arguments, status=0, **more):
        done = subprocess.run(self.command(*arguments), cwd=self.folder, capture_output=True, text=True, timeout=120, **more)
        check(done.returncode == status,
              f"talus run {' '.join(map(str, arguments))}: exit status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
        return done

    def start(self, *arguments, **more):
        return subprocess.Popen(self.command(*arguments), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                **more)


# ---- what a folder must look like ----

def table(path, with_timings=False):
    """Rows of a table, less the columns that may differ from run to run."""
    with open(path, newline="") as f:
        rows = list(csv.reader(f))
    keep = [i for i, name in enumerate(rows[0]) if with_timings or not (name.startswith("seconds_") or name == "peak_bytes")]
    assert all(len(row) == len(rows[0]) for row in rows), f"{path}: rows of different length"
    return [[row[i] for i in keep] for row in rows]


def complete(folder, seen=None):
    """Every file with a name of its own is whole; only *.part-* may be half written. seen: those looked at before."""
    for path in list(folder.rglob("*")):
        if ".part-" in path.name or path.suffix in ("", ".csv"):
            continue
        try:
            if seen is not None:
                stamp = path.stat().st_ino
                if seen.get(path) == stamp:
                    continue
                seen[path] = stamp
            data = path.read_bytes()
        except FileNotFoundError:
            continue
        good = {".vtp": data.endswith(b"</AppendedData>\n</VTKFile>\n"), ".pvd": data.endswith(b"</VTKFile>\n"),
                ".json": data.endswith(b"}\n"), ".png": data.endswith(b"IEND\xaeB`\x82"),
                ".h5": data.startswith(b"talus sealed HDF5 file\n") and int(data[23:].split()[0]) == len(data) - 512}
        check(good.get(path.suffix, True), f"{path} is visible but not whole")


def same_files(a, b, what):
    """Two runs of one scene: equal but for timings."""
    names = [{str(p.relative_to(f)) for p in f.rglob("*") if p.is_file()} for f in (a, b)]
    if not check(names[0] == names[1], f"{what}: files differ: {sorted(names[0] ^ names[1])}"):
        return
    for name in sorted(names[0]):
        if name == "steps.csv":
            check(table(a / name) == table(b / name), f"{what}: {name} differs")
        elif name == "run.json":
            x, y = (json.loads((f / name).read_text()) for f in (a, b))
            for key in ("outcome", "state_hash", "scene_hash", "steps", "frames", "t", "scene_text", "in_force"):
                check(x[key] == y[key], f"{what}: {name}: {key} is {x[key]} and {y[key]}")
        else:
            check((a / name).read_bytes() == (b / name).read_bytes(), f"{what}: {name} differs")


# ---- tests ----

def plain_run(t):
    done = t.run("scene.lua", "-o", "plain")
    folder = t.folder / "plain"
    check("plain/images/frame-0040.png" in done.stdout and "run      plain" in done.stdout, f"stdout: {done.stdout}")
    check(re.search(r"frame 40/40 .* dt .* iterations .* contacts .* left", done.stderr), f"stderr: {done.stderr}")
    check("\r" not in done.stderr and done.stderr.count("\n") < 20, "a live line where there is no terminal")
    complete(folder)
    record = json.loads((folder / "run.json").read_text())
    check(record["outcome"] == "finished" and record["scene_text"] == SCENE and record["frames"] == 40, "run.json")
    for key in ("talus", "compiler", "cpu", "blas_core", "threads", "started", "ended", "settings", "scene_hash", "seconds"):
        check(key in record, f"run.json lacks {key}")
    steps = table(folder / "steps.csv", with_timings=True)
    check(len(steps) == 161 and steps[-1][0] == "160" and float(steps[-1][1]) == 0.8, "steps.csv: rows")
    for name in ("step", "t_s", "dt_s", "retries", "contact_iterations", "contact_outcome", "contact_certificate", "kinetic_J",
                 "potential_J", "elastic_J", "momentum_x_kg_m_s", "penetration_m", "contacts", "liquid_volume_m3", "volume_error", "compression",
                 "escaped", "peak_bytes", "seconds_detect"):
        check(name in steps[0], f"steps.csv has no column {name}")
    bodies = table(folder / "bodies.csv")
    check(len(bodies) == 1 + 41 * 12, "bodies.csv: rows")
    names = {row[bodies[0].index("name")] for row in bodies[1:]}
    check('ball, "steel"' in names and "box 9" in names, f"bodies.csv: names {names}")
    paddle = [row for row in bodies if row[3] == "paddle"][-1]
    check(abs(float(paddle[4]) + 0.8) < 1e-14, f"the paddle is at {paddle[4]}")
    files = [e.get("file") for e in xml.parse(folder / "run.pvd").iter("DataSet")]
    check(len(files) == 82 and all((folder / f).exists() for f in files), "run.pvd names the frames")
    check(sorted(p.name for p in (folder / "images").iterdir()) == [f"frame-{k:04d}.png" for k in range(0, 41, 8)], "pictures")
    check(sorted(p.name for p in (folder / "checkpoints").iterdir()) == [f"frame-{k:04d}.h5" for k in (0, 10, 20, 30, 40)], "kept checkpoints")
    # a finished run is left as it is
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("*")}
    t.run("scene.lua", "-o", "plain", "--resume")
    check(before == {p: p.stat().st_mtime_ns for p in folder.rglob("*")}, "a finished run was changed by --resume")
    return folder


def threads(t, plain):
    for count in (1, 2):
        t.run("scene.lua", "-o", f"threads{count}", "--threads", count)
        same_files(plain, t.folder / f"threads{count}", f"{count} threads")


def watch(folder, stop):
    seen = {}
    while not stop.is_set():
        complete(folder, seen)
        time.sleep(0.01)


def kills(t, plain):
    """Killed at a random moment, then resumed; some are killed again and again."""
    dice = random.Random(4)
    begin = time.monotonic()
    t.run("scene.lua", "-o", "timed", "--threads", 1)
    whole = time.monotonic() - begin
    killed = 0
    for attempt in range(5 * KILLS):
        if killed == KILLS:
            break
        name = f"kill{attempt}"
        folder = t.folder / name
        landed = True
        for again in range(3 if killed % 10 == 9 else 1):
            process = t.start("scene.lua", "-o", name, "--resume", "--quiet", "--threads", 1 + killed % 2)
            stop = threading.Event()
            watcher = threading.Thread(target=watch, args=(folder, stop))
            watcher.start()
            time.sleep(dice.uniform(0.02, 1.0) * whole)
            process.kill()
            process.communicate()
            stop.set()
            watcher.join()
            complete(folder)
            if process.returncode != -signal.SIGKILL:  # it had ended: how long a run takes was measured under load
                whole *= 0.9
                landed = again > 0
                break
        t.run("scene.lua", "-o", name, "--resume", "--quiet", "--threads", 1)
        same_files(plain, folder, f"kill {attempt}")
        shutil.rmtree(folder)
        killed += landed
    check(killed == KILLS, f"only {killed} runs were killed before they ended")


def interrupts(t, plain):
    process = t.start("scene.lua", "-o", "stopped")
    time.sleep(0.2)
    while not list((t.folder / "stopped").glob("frames/bodies-0003.vtp")) and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    out, talk = process.communicate(timeout=60)
    check(process.returncode == 130, f"Ctrl-C: exit status {process.returncode}\n{talk}")
    record = json.loads((t.folder / "stopped/run.json").read_text())
    check(record["outcome"] == "interrupted", f"run.json says {record['outcome']} after Ctrl-C")
    again = re.search(r"go on with: talus (run .*)", talk)
    if check(again, f"Ctrl-C does not say how to go on: {talk}"):
        done = subprocess.run(f"'{t.program}' {again[1]}", shell=True, cwd=t.folder, capture_output=True, text=True, timeout=60)
        check(done.returncode == 0, f"{again[1]}: {done.stderr}")
        same_files(plain, t.folder / "stopped", "after Ctrl-C")

    process = t.start("scene.lua", "-o", "twice")
    while not (t.folder / "twice/checkpoint.h5").exists() and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    check(process.returncode in (-signal.SIGINT, 130), f"Ctrl-C twice: exit status {process.returncode}")
    t.run("scene.lua", "-o", "twice", "--resume")
    same_files(plain, t.folder / "twice", "after Ctrl-C twice")


def mount(size, folder):
    return subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True).returncode == 0


def full_disk(t, plain):
    """The disk fills up at different moments; with more room the run goes on. A limit on the size of files stands in where mounting is
    not allowed, and is tried anyway."""
    disk = t.folder / "disk"
    disk.mkdir()
    for size in ("40k", "100k", "180k", "260k", "400k"):
        if not mount(size, disk):
            break
        try:
            done = t.run("scene.lua", "-o", "disk/run", status=1)
            check(re.search(r"disk/run\S*: cannot .*: No space left on device", done.stderr.splitlines()[-1]), f"{size}: {done.stderr}")
            complete(disk)
            parts = [p for p in disk.rglob("*.part-*")]
            check(not parts, f"{size}: left behind: {parts}")
            subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
            t.run("scene.lua", "-o", "disk/run", "--resume")
            same_files(plain, disk / "run", f"disk of {size}")
        finally:
            subprocess.run(["umount", disk], check=True)
    for most in (9000, 20000, 60000):
        name = f"limit{most}"
        done = t.run("scene.lua", "-o", name, status=1, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
        check(re.search(name + r"/\S+: cannot .*: File too large", done.stderr.splitlines()[-1]), f"{most}: {done.stderr}")
        complete(t.folder / name)
        t.run("scene.lua", "-o", name, "--resume")
        same_files(plain, t.folder / name, f"files of at most {most} bytes")


def refusals(t, plain):
    cases = [
        (["--help"], 0, "Usage: talus run", None),
        ([], 2, "Usage: talus run", None),
        (["scene.lua", "--frame", "3"], 2, None, "did you mean '--frames'"),
        (["stak"], 2, None, "did you mean 'stack'"),
        (["scene.lua", "--frames", "-1"], 2, None, "--frames must be a whole number"),
        (["scene.lua", "--threads", "0"], 2, None, "--threads must be a whole number"),
        (["scene.lua", "--size", "huge"], 2, None, '"small" or "paper"'),
        (["scene.lua", "--set", "fsp=3"], 2, None, "fps"),
        (["scene.lua", "--sweep", "push"], 2, None, "KEY=VALUE"),
        (["scene.lua", "--sweep", "push=1,,2"], 2, None, "empty"),
        (["scene.lua", "--sweep", "push=1,1"], 2, None, "twice"),
        (["no_such_scene"], 2, None, "no_such_scene"),
        (["bad.lua"], 2, None, "bad.lua:1: "),
        (["scene.lua", "-o", "plain"], 2, None, "plain holds a run already"),
        (["scene.lua", "-o", "foreign"], 2, None, "foreign holds other files (thesis.txt)"),
        (["scene.lua", "-o", "foreign", "--resume"], 2, None, "foreign holds other files (thesis.txt)"),
        (["scene.lua", "-o", "plain", "--resume", "--set", "push=1"], 2, None, "another scene, or its files or settings have changed"),
        (["other.lua", "-o", "plain", "--resume"], 2, None, "made from scene.lua"),
        (["scene.lua", "-o", "scene.lua/x"], 1, None, "scene.lua"),
    ]
    (t.folder / "foreign").mkdir()
    (t.folder / "foreign/thesis.txt").write_text("years of work")
    (t.folder / "other.lua").write_text(SCENE + "\n")
    (t.folder / "bad.lua").write_text("return scene { talus = 1, engine = 'grid', duration = -1, fps = 50 }")
    for arguments, status, out, talk in cases:
        done = t.run(*arguments, status=status)
        check(not out or out in done.stdout, f"talus run {arguments}: stdout lacks '{out}'\n{done.stdout}")
        check(not talk or talk in done.stderr, f"talus run {arguments}: stderr lacks '{talk}'\n{done.stderr}")
    for word, status, talk in (("stack", 0, "stack.lua is good"), ("stak", 2, "did you mean 'stack'"), ("no.lua", 2, "cannot read no.lua")):
        done = subprocess.run([t.program, "check", word], cwd=t.folder, capture_output=True, text=True)
        check(done.returncode == status and talk in done.stdout + done.stderr, f"talus check {word}: {done.stdout}{done.stderr}")
    # several processes of one mpirun or srun; not a batch script of Slurm, nor one process alone
    for given, starter, ranks in (({"OMPI_COMM_WORLD_SIZE": "4"}, "mpirun", 4), ({"PMI_SIZE": "3"}, "mpirun", 3), ({"SLURM_STEP_NUM_TASKS": "2"}, "srun", 2),
                                  ({"PMIX_RANK": "5"}, "mpirun", 6), ({"OMPI_COMM_WORLD_SIZE": "2", "SLURM_STEP_NUM_TASKS": "1"}, "mpirun", 2),
                                  ({"OMPI_COMM_WORLD_SIZE": "1", "SLURM_STEP_NUM_TASKS": "4"}, None, 1), ({"SLURM_NTASKS": "4"}, None, 1),
                                  ({"OMPI_COMM_WORLD_SIZE": "many"}, None, 1), ({"PMIX_RANK": "0"}, None, 1)):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI_", "PMIX_", "SLURM_"))}
        done = t.run("scene.lua", "--frames", "-1" if not starter else "3", env={**kept, **given}, status=2)
        said = f"started by {starter} with {ranks} processes, but this talus was built without clusters: ./dev build --cluster" if starter else "--frames must be"
        check(said in done.stderr, f"talus run with {given}: {done.stderr}")
    check([p.name for p in (t.folder / "foreign").iterdir()] == ["thesis.txt"], "a foreign folder was written to")
    check(not (t.folder / "runs").exists(), "a refused run left a folder")

    # one run at a time
    process = t.start("scene.lua", "-o", "busy")
    while not (t.folder / "busy/checkpoint.h5").exists() and process.poll() is None:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGSTOP)
    done = t.run("scene.lua", "-o", "busy", "--resume", status=2)
    os.kill(process.pid, signal.SIGCONT)
    check("another run is at work" in done.stderr, f"two runs in one folder: {done.stderr}")
    process.communicate(timeout=60)
    same_files(plain, t.folder / "busy", "beside a second run")

    # tables that do not reach the checkpoint, a checkpoint that is damaged
    shutil.copytree(t.folder / "busy", t.folder / "hurt")
    record = (t.folder / "hurt/run.json").read_text().replace('"outcome": "finished"', '"outcome": "running"')
    (t.folder / "hurt/run.json").write_text(record)
    steps = (t.folder / "hurt/steps.csv").read_text().splitlines(True)
    (t.folder / "hurt/steps.csv").write_text("".join(steps[:50]))
    done = t.run("scene.lua", "-o", "hurt", "--resume", status=1)
    check("steps.csv ends at 49, before the checkpoint's 160" in done.stderr, done.stderr)
    data = bytearray((t.folder / "hurt/checkpoint.h5").read_bytes())
    data[3000] ^= 1
    (t.folder / "hurt/checkpoint.h5").write_bytes(data)
    done = t.run("scene.lua", "-o", "hurt", "--resume", status=1)
    check("damaged" in done.stderr, done.stderr)


def choices(t):
    """Default folders, more frames, --quiet, --history, --no-pictures, the live line, sweeps."""
    few = ["--frames", "3", "--no-pictures"]
    done = t.run("scene.lua", *few, "--quiet")
    check(done.stderr == "", f"--quiet talks: {done.stderr}")
    t.run("scene.lua", *few)
    t.run("scene.lua", "--frames", "5", "--no-pictures", "--resume")
    names = sorted(p.name for p in (t.folder / "runs").iterdir())
    check(names == ["scene", "scene-2"], f"default folders: {names}")
    check(json.loads((t.folder / "runs/scene-2/run.json").read_text())["frames"] == 5, "--resume without -o takes the last folder, and more frames")
    check(not list((t.folder / "runs/scene/images").iterdir()), "--no-pictures drew")

    t.run("scene.lua", "--frames", "15", "--no-pictures", "--history", "-o", "history")
    rows = table(t.folder / "history/history.csv")
    steps = table(t.folder / "history/steps.csv")
    check(rows[0] == ["step", "solver", "iteration", "products", "residual"] and len(rows) > 1, f"history.csv: {rows[:2]}")
    check({r[1] for r in rows[1:]} == {"contact"} and {int(r[0]) for r in rows[1:]} <= set(range(1, len(steps))), "history.csv: steps")

    main, side = pty.openpty()
    process = subprocess.Popen(t.command("scene.lua", *few, "-o", "live"), cwd=t.folder, stdout=subprocess.PIPE, stderr=side)
    process.communicate(timeout=60)
    os.close(side)
    check(b"\rframe 3/3" in os.read(main, 100000), "no live line on a terminal")
    os.close(main)

    for columns in (20, 200):
        main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen(t.command("scene.lua", *few, "-o", f"live{columns}"), cwd=t.folder, stdout=subprocess.PIPE, stderr=side)
        process.communicate(timeout=60)
        os.close(side)
        lines = [line.rstrip(b"\n") for line in os.read(main, 100000).split(b"\r") if line.startswith(b"frame ")]
        os.close(main)
        check(lines and all(len(line) < columns for line in lines), f"live lines of {[len(line) for line in lines]} letters in {columns} columns")

    done = t.run("scene.lua", *few, "-o", "swept", "--sweep", "push=1,-2,{3}", status=1)  # {3} is no number
    names = sorted(p.name for p in (t.folder / "swept").iterdir() if p.is_dir())
    check(names == ["push=-2", "push=1"], f"sweep: {names}")
    check("1 of 3 values failed" in done.stderr and done.stdout.count("run      swept/push=") == 2, f"sweep: {done.stdout}{done.stderr}")
    hashes = {json.loads((t.folder / "swept" / n / "run.json").read_text())["state_hash"] for n in names}
    check(len(hashes) == 2, "sweep: both values gave the same state")
    t.run("scene.lua", *few, "--sweep", "push=1,2")
    check((t.folder / "runs/scene-sweep-push/push=2/run.json").exists(), "the default folder of a sweep")

    # frames that nobody wants are not written
    t.run("scene.lua", *few, "-o", "bare", "--set", "output.frames=false", "--set", "output.bodies=false")
    names = sorted(p.name for p in (t.folder / "bare").rglob("*") if p.is_file())
    check(names == ["checkpoint.h5", "frame-0000.h5", "run.json", "steps.csv"], f"bare run: {names}")

    # a function of time that fails half way: status 1, the reason last, all saved until then
    (t.folder / "late.lua").write_text("""return scene { talus = 1, engine = "grid", duration = 1, fps = 50,
      grid = { cells = {8, 8, 8}, cell = 1 },
      bodies = { { name = "b", shape = sphere { radius = 1 }, at = {4, 4, 4}, density = 1,
                   force = function(t) return {t > 0.519 and t < 0.521 and 0/0 or 0, 0, 0} end } } }""")
    done = t.run("late.lua", "-o", "late", "--no-pictures", status=1)
    check("force" in done.stderr.splitlines()[-1], f"a failing function: {done.stderr}")
    record = json.loads((t.folder / "late/run.json").read_text())
    check(record["outcome"] == "failed" and "force" in record["message"] and 20 <= record["frames"] <= 30, f"run.json of a failed run: {record['outcome']}")


WATER = """return scene { talus = 1, engine = "sph", duration = 0.04, fps = 50, sph = { spacing = 0.05 }, domain = { min = {0, 0, 0}, max = {0.4, 0.4, 0.4} },
  fill = { { material = liquid { density = 1000 }, shape = box { size = {0.4, 0.2, 0.4}, center = {0.2, 0.1, 0.2} }, sampling = "jitter" } } }"""


def fills(t):
    """A run that goes on reads its particles in place of filling; one that has no checkpoint yet fills."""
    (t.folder / "water.lua").write_text(WATER)
    hashes = set()
    for folder, frames in (("whole", (2,)), ("parts", (1, 2))):
        for count in frames:
            t.run("water.lua", "-o", folder, "--resume", "--no-pictures", "--frames", count)
        hashes.add(json.loads((t.folder / folder / "run.json").read_text())["state_hash"])
    t.run("water.lua", "-o", "straight", "--no-pictures", "--frames", 2)
    record = json.loads((t.folder / "straight/run.json").read_text())
    hashes.add(record["state_hash"])
    check(len(hashes) == 1, f"water gone on with is another: {hashes}")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    # in memory where possible: a killed process leaves the same files there, and nobody waits for a disk to sync
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 1 << 28 else None
    with tempfile.TemporaryDirectory(dir=memory) as name:
        t = Talus(program, pathlib.Path(name))
        (t.folder / "scene.lua").write_text(SCENE)
        plain = plain_run(t)
        for test in (threads, refusals, interrupts, full_disk, kills):
            begin = time.monotonic()
            test(t, plain)
            print(f"{test.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
        choices(t)
        fills(t)
    for text in wrong:
        print(text)
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
