#!/usr/bin/env python3
"""talus run in several processes of mpirun, from the outside: the files are those of one process; killed or stopped at any moment it goes on
with the same bits, and in another number of processes with the same physics.

    tests/cluster/run.py MPIRUN PROGRAM
"""
import importlib.util
import json
import os
import pathlib
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

spec = importlib.util.spec_from_file_location("cli_run", pathlib.Path(__file__).parent.parent / "cli/run.py")
cli = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cli)
check, same_files, table = cli.check, cli.same_files, cli.table

# rounding of sums alone: no crowds that part, whose densities are sums of floats
QUIET = """
local water = liquid { density = 1000 }
return scene { talus = 1, engine = "grid", duration = 0.08, fps = 50, solver = { tolerance = 1e-10, pressure = "multigrid-double" },
  grid = { cells = {32, 24, 16}, cell = 1/24, cfl = 2, correct_density = false },
  fill = { { material = water, shape = box { center = {0.25, 0.35, 0.33}, size = {0.5, 0.7, 0.66} } } },
  render = { width = 48, height = 27, samples = 1 } }
"""
BODIES = """
local water = liquid { density = 1000 }
return scene { talus = 1, engine = "grid", duration = 0.12, fps = 50, dt_max = 0.01, grid = { cells = {24, 16, 16}, cell = 1/16, cfl = 2 },
  fill = { { material = water, shape = box { center = {0.35, 0.35, 0.5}, size = {0.7, 0.7, 1} } } },
  emitters = { { material = water, shape = box { center = {0.9, 0.8, 0.5}, size = {0.2, 0.2, 0.2} }, velocity = {0, -1, 0}, rate = 0.02 } },
  bodies = { { name = "crate", shape = box { size = 0.22 }, at = {0.83, 0.11, 0.3}, density = 400, friction = 0.3 },
             { name = "post", kind = "static", shape = box { size = {0.1, 0.5, 0.1} }, at = {1.4, 0.25, 0.5} } },
  output = { checkpoint_every = 2, images_every = 3 }, render = { width = 48, height = 27, samples = 1 } }
"""
SAND = """
return scene { talus = 1, engine = "grid", duration = 0.1, fps = 50, grid = { cells = {16, 16, 16}, cell = 0.1 },
  fill = { { material = %s, shape = box { center = {0.8, 0.4, 0.8}, size = {0.8, 0.8, 0.8} } } } }
"""


class Cluster:
    def __init__(self, mpirun, program, folder):
        self.mpirun, self.program, self.folder = mpirun, program, folder

    def command(self, processes, *words):
        one = [self.program, *map(str, words)]
        return one if processes < 2 else [self.mpirun, "-n", str(processes), "--allow-run-as-root", "--oversubscribe", "--mca",
                                          "mpi_yield_when_idle", "1", *one]

    def run(self, processes, *words, status=0, **more):
        done = subprocess.run(self.command(processes, "run", *words), cwd=self.folder, capture_output=True, text=True, timeout=300, **more)
        check(done.returncode == status, f"{processes} processes, talus run {words}: exit status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
        return done

    def start(self, processes, *words):
        return subprocess.Popen(self.command(processes, "run", *words), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def workers(self, process):
        """The talus processes of a running mpirun, in their order."""
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and f"\nPPid:\t{process.pid}\n" in (entry / "status").read_text() and os.readlink(entry / "exe") == self.program:
                    environment = dict(w.split("=", 1) for w in (entry / "environ").read_text().split("\0") if "=" in w)
                    found[int(environment["OMPI_COMM_WORLD_RANK"])] = int(entry.name)
            except (OSError, KeyError):
                pass
        return [found[k] for k in sorted(found)]


def particles(path):
    """Arrays of a frame: {name: list}, in the order of the file."""
    data = path.read_bytes()
    at = data.index(b'<AppendedData encoding="raw">')
    begin = data.index(b"_", at) + 1
    root = xml.fromstring(data[:at] + b"</VTKFile>")
    kinds = {"Float64": "d", "Float32": "f", "Int32": "i", "Int64": "q"}
    out = {}
    for a in root.iter("DataArray"):
        if a.get("Name") in ("id", "material", "Points", "points", "velocity") or a.get("NumberOfComponents") == "3":
            where = begin + int(a.get("offset"))
            size = struct.unpack_from("<Q", data, where)[0] if root.get("header_type") == "UInt64" else struct.unpack_from("<I", data, where)[0]
            where += 8 if root.get("header_type") == "UInt64" else 4
            kind = kinds[a.get("type")]
            out[a.get("Name") or "points"] = struct.unpack_from(f"<{size // struct.calcsize(kind)}{kind}", data, where)
    return out


def same_frames(a, b, frame, tolerance, what):
    x, y = (particles(f / f"frames/particles-{frame:04d}.vtp") for f in (a, b))
    if not check(x.keys() == y.keys() and x["id"] == y["id"] and x["material"] == y["material"], f"{what}: other particles, or in another order"):
        return
    name = next(n for n in x if n.lower() == "points")
    off = max(abs(p - q) for p, q in zip(x[name], y[name]))
    check(off <= tolerance, f"{what}: frame {frame}: particles are {off:.3g} m apart, allowed {tolerance:.3g}")


def files(t):
    """C13, C16: what one process writes, in the same order."""
    t.run(1, "quiet.lua", "-o", "one")
    for n in (2, 4):
        done = t.run(n, "quiet.lua", "-o", f"many{n}")
        folder = t.folder / f"many{n}"
        check(done.stdout.count("run      ") == 1, f"{n} processes talk at once: {done.stdout}")
        names = [{str(p.relative_to(f)) for p in f.rglob("*") if p.is_file()} for f in (t.folder / "one", folder)]
        check(names[0] == names[1], f"{n} processes write other files: {names[0] ^ names[1]}")
        cli.complete(folder)
        for frame in (0, 4):
            same_frames(t.folder / "one", folder, frame, 1e-8 / 24, f"{n} processes")
        x, y = (table(f / "steps.csv") for f in (t.folder / "one", folder))
        check(x[0] == y[0] and len(x) == len(y), f"{n} processes: steps.csv has other columns or rows")
        record = json.loads((folder / "run.json").read_text())
        check(record["outcome"] == "finished" and record["processes"] == n, f"{n} processes: run.json {record.get('processes')}")


def reruns(t):
    """C4: same bits, for any number of threads."""
    t.run(3, "bodies.lua", "-o", "plain")
    t.run(3, "bodies.lua", "-o", "again", "--threads", 2)
    same_files(t.folder / "plain", t.folder / "again", "2 threads in each process")
    return t.folder / "plain"


def kills(t, plain):
    """C15, C17: one process dies at any moment; all end soon, and the run goes on as if nothing had been."""
    dice = random.Random(7)
    begin = time.monotonic()
    t.run(3, "bodies.lua", "-o", "timed")
    whole = time.monotonic() - begin
    killed = 0
    for attempt in range(20):
        if killed == 3:
            break
        name = f"kill{attempt}"
        process = t.start(3, "bodies.lua", "-o", name, "--quiet")
        time.sleep(dice.uniform(0.3, 0.9) * whole)
        found = t.workers(process)
        if len(found) != 3 or process.poll() is not None:
            process.communicate()
            continue
        os.kill(dice.choice(found), signal.SIGKILL)
        begin = time.monotonic()
        process.communicate(timeout=60)
        check(time.monotonic() - begin < 10 or os.getloadavg()[0] > 4, f"a process was killed: {time.monotonic() - begin:.1f} s until all had ended")
        killed += process.returncode != 0
        cli.complete(t.folder / name)
        t.run(3, "bodies.lua", "-o", name, "--resume", "--quiet")
        same_files(plain, t.folder / name, f"{name}, resumed")
    check(killed == 3, f"only {killed} runs were killed")


def stops(t, plain):
    """Any process is asked to stop: all save and end; then another number of processes goes on, and one, and three again."""
    for number, signal_number in enumerate((signal.SIGUSR1, signal.SIGTERM, signal.SIGINT)):
        name = f"stop{number}"
        process = t.start(3, "bodies.lua", "-o", name)
        table_of = t.folder / name / "steps.csv"
        while process.poll() is None and not (table_of.exists() and table_of.read_text().count("\n") > 4):
            time.sleep(0.01)
        found = t.workers(process)
        if not check(len(found) == 3, f"{len(found)} processes of 3 are there"):
            process.communicate()
            continue
        os.kill(found[number], signal_number)
        out, talk = process.communicate(timeout=120)
        check(process.returncode == 130 and "all is saved" in talk and talk.count("interrupted at frame") == 1, f"stopped: {process.returncode} {out}{talk}")
    t.run(3, "bodies.lua", "-o", "stop0", "--resume", "--quiet")
    same_files(plain, t.folder / "stop0", "stopped by SIGUSR1, resumed")
    done = t.run(2, "bodies.lua", "-o", "stop1", "--resume", "--frames", 4)
    check("was saved by 3 processes and goes on in 2" in done.stderr, f"another number of processes: {done.stderr}")
    t.run(1, "bodies.lua", "-o", "stop1", "--resume", "--frames", 5)
    t.run(4, "bodies.lua", "-o", "stop1", "--resume", "--quiet")
    x, y = (particles(f / "frames/particles-0006.vtp") for f in (plain, t.folder / "stop1"))
    check(x["id"] == y["id"], "3, 2, 1, 4 processes: other particles at the end")
    x, y = (table(f / "steps.csv")[-1] for f in (plain, t.folder / "stop1"))
    column = table(plain / "steps.csv")[0].index("volume_error")
    check(abs(float(x[column]) - float(y[column])) <= 0.002, f"3, 2, 1, 4 processes: volume error {x[column]} and {y[column]}")


def full_disk(t):
    """C17: what the first process alone cannot do ends all, with one message."""
    process = t.start(3, "bodies.lua", "-o", "full", "--quiet")
    table_of = t.folder / "full/steps.csv"
    while process.poll() is None and not (table_of.exists() and table_of.read_text().count("\n") > 3):
        time.sleep(0.01)
    found = t.workers(process)
    if check(len(found) == 3, f"{len(found)} processes of 3 are there"):
        resource.prlimit(found[0], resource.RLIMIT_FSIZE, (60000, 60000))
    begin = time.monotonic()
    out, talk = process.communicate(timeout=120)
    check(process.returncode == 1 and talk.count("talus run: ") == 1 and "full/" in talk, f"a full disk: {process.returncode} {out}{talk}")
    check(time.monotonic() - begin < 10 or os.getloadavg()[0] > 4, f"a full disk: {time.monotonic() - begin:.1f} s until all had ended")
    t.run(3, "bodies.lua", "-o", "full", "--resume", "--quiet")


def refusals(t):
    """C18."""
    for words, status, talk in ((("sand.lua",), 2, "sand runs in one process so far, not in 2"),
                                (("honey.lua",), 2, "viscous liquid runs in one process so far"),
                                (("stack",), 2, "bodies alone run in one process so far"), (("soft-gripper",), 2, "runs in one process so far"),
                                (("lewis-lift",), 2, "engine \"sph\" runs in one process so far"),
                                (("quiet.lua", "--capture", "pressure@1"), 2, "--capture runs in one process"),
                                (("quiet.lua", "--sweep", "dt_max=0.1,0.2"), 2, "a sweep runs its variants in processes of its own"),
                                (("quiet.lua", "--frames", "-1"), 2, "--frames must be"), (("none.lua",), 2, "none.lua")):
        done = t.run(2, *words, "-o", "refused", status=status)
        check(done.stderr.count(talk) == 1, f"talus run {words} in 2 processes: not once '{talk}': {done.stderr}")
    check(not (t.folder / "refused").exists(), "a refused run left a folder")
    done = subprocess.run(t.command(2, "check", "quiet.lua"), cwd=t.folder, capture_output=True, text=True, timeout=60)
    check(done.returncode == 2 and "talus check: runs in one process" in done.stderr, f"talus check in 2 processes: {done.stderr}")


def two_nodes(t):
    """C23, as near as one machine comes: two network namespaces with names of their own, messages over TCP. Takes root."""
    script = pathlib.Path(__file__).parent / "two_nodes.sh"
    if os.geteuid() != 0 or subprocess.run(["ip", "netns", "add", "talus-probe"], capture_output=True).returncode:
        print("no network namespaces for this user: two nodes were not tried")
        return
    subprocess.run(["ip", "netns", "del", "talus-probe"])
    t.run(2, "bodies.lua", "-o", "near", "--frames", 2, "--no-pictures", "--quiet")
    done = subprocess.run([str(script), t.program, "run", "bodies.lua", "-o", "far", "--frames", "2", "--no-pictures", "--quiet"], cwd=t.folder,
                          capture_output=True, text=True, timeout=300, env={**os.environ, "PROCESSES": "2"})
    if check(done.returncode == 0, f"two nodes: exit status {done.returncode}\n{done.stdout}{done.stderr}"):
        same_files(t.folder / "near", t.folder / "far", "two nodes")


def main():
    with tempfile.TemporaryDirectory() as folder:
        t = Cluster(sys.argv[1], os.path.realpath(sys.argv[2]), pathlib.Path(folder))
        for name, text in (("quiet", QUIET), ("bodies", BODIES), ("sand", SAND % 'preset "dry sand"'), ("honey", SAND % "viscous { density = 1000, viscosity = 1 }")):
            (t.folder / f"{name}.lua").write_text(text)
        refusals(t)
        files(t)
        plain = reruns(t)
        full_disk(t)
        stops(t, plain)
        kills(t, plain)
        two_nodes(t)
    for text in cli.wrong:
        print(text)
    return 1 if cli.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
