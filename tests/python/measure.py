"""What many simulations and the binding cost: the numbers of docs/status.md. Not a test: they want quiet cores.

    PYTHONPATH=python python3 tests/python/measure.py [gripper|vector|sweep|all] [TALUS]
Besides the clock, processor time is told, which a busy machine does not spoil: of the slowest worker against that of all.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import talus
import talus.sim
from talus.worlds import BoxesAndPlate

ROOT = Path(__file__).resolve().parents[2]


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def gripper():
    """1000 control steps of the gripper: processor time inside of talus_sim_step, which a C program pays too, and outside."""
    sys.path.insert(0, str(ROOT / "examples"))
    import gripper as example

    class Timed:
        def __getattr__(self, name):
            return step if name == "talus_sim_step" else getattr(library, name)

    def step(*given):
        begun = time.process_time()
        status = library.talus_sim_step(*given)
        inside.append(time.process_time() - begun)
        return status

    library, inside = talus.sim.lib, []
    talus.threads(1)
    with talus.Sim(ROOT / "examples/gripper.lua", settings={"dt_max": example.DT}) as sim:
        talus.sim.lib = Timed()
        begun = time.process_time()
        example.grip(sim, 1000)
        total = time.process_time() - begun
        talus.sim.lib = library
    outside = total - sum(inside)
    print(f"gripper, 1000 steps: {sum(inside):.2f} s in steps, {outside:.3f} s around them, {100 * outside / sum(inside):.1f} % more than steps alone")


def vector():
    """32 worlds of boxes and a plate, stepped by one worker and by two."""
    actions = talus.generator(3).uniform(-1, 1, (200, 32, 2))
    clock, last, slowest = {}, {}, {}
    for _ in range(3):
        for workers in (1, 2):
            with talus.VectorEnv(BoxesAndPlate, 32, workers=workers) as env:
                env.reset(seed=5)
                env.step(actions[0])
                begun, used = time.perf_counter(), _used(env)
                for action in actions:
                    last[workers] = env.step(action)[0]
                spent = time.perf_counter() - begun
                clock[workers] = min(clock.get(workers, 1e9), spent)
                own = max(b - a for a, b in zip(used, _used(env)))
                slowest[workers] = min(slowest.get(workers, 1e9), own)
    assert (last[1] == last[2]).all(), "other numbers"
    print(f"vector, 200 steps of 32 worlds: one worker {clock[1]:.2f} s, two {clock[2]:.2f} s, {clock[1] / clock[2]:.2f} times "
          f"as fast by the clock; processor time of the slowest worker {slowest[1]:.2f} s and {slowest[2]:.2f} s, "
          f"{slowest[1] / slowest[2]:.2f} times")


def _used(env):
    return [_process_seconds(process.pid) for process in env._crew._processes]


def _process_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sweep(program):
    """100 variants of a small scene, one at a time and two at a time."""
    clock, used = {}, {}
    for jobs in (1, 2, 1, 2):
        with tempfile.TemporaryDirectory() as folder:
            begun, before = time.perf_counter(), children_seconds()
            subprocess.run([program, "run", ROOT / "scenes/stack/stack.lua", "-o", folder + "/out", "--frames", "20", "--no-pictures",
                            "--quiet", "--sweep", "dt_max=0.005:0.0149:0.0001", "--jobs", str(jobs)], check=True, stdout=subprocess.DEVNULL)
            clock[jobs] = min(clock.get(jobs, 1e9), time.perf_counter() - begun)
            used[jobs] = min(used.get(jobs, 1e9), children_seconds() - before)
    print(f"sweep, 100 variants: one job {clock[1]:.1f} s, two {clock[2]:.1f} s, {clock[2] / clock[1]:.2f} of the serial time by the "
          f"clock; processor time of all {used[1]:.1f} s and {used[2]:.1f} s")


def main():
    what, program = sys.argv[1] if len(sys.argv) > 1 else "all", sys.argv[2] if len(sys.argv) > 2 else ROOT / "build/talus"
    if what in ("gripper", "all"):
        gripper()
    if what in ("vector", "all"):
        vector()
    if what in ("sweep", "all"):
        sweep(program)


if __name__ == "__main__":
    main()
