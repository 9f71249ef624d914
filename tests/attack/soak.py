#!/usr/bin/env python3
"""Small scenes of every engine with random settings, in a loop: memory, energy, momentum, volume, NaN and time per step are watched.  ./dev soak [hours]

    tests/attack/soak.py PROGRAM HOURS [SEED]

A find is what is wrong and not told: a crash, a run that does not end or fails, memory, NaN, and energy, speed or volume that is wrong while the line of the verdict that
should say so calls it good. It is kept as a scene file that reproduces it (soak-find-SEED-N.lua, its first line is the command). What is wrong and told, by the verdict or by
the guard that ends the run, is counted apart and named.
"""
import csv
import json
import math
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

program = os.path.abspath(sys.argv[1])
end = time.monotonic() + 3600 * float(sys.argv[2])
seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
dice = random.Random(seed)
SECONDS, MEGABYTES = 120, 2000  # of processor time and of memory, for one run
counts = {"runs": 0, "steps": 0, "refused": 0, "told": 0}
finds = []


def between(low, high):
    """Numbers of all sizes."""
    return math.exp(dice.uniform(math.log(low), math.log(high)))


def vector(size):
    return "{" + ", ".join(f"{dice.uniform(-size, size):.4g}" for _ in range(3)) + "}"


def shape(r):
    return dice.choice((f"box {{ size = {{{r:.4g}, {r * between(0.3, 1):.4g}, {r:.4g}}} }}", f"sphere {{ radius = {0.5 * r:.4g} }}",
                        f"cylinder {{ radius = {0.4 * r:.4g}, height = {r:.4g} }}", f"capsule {{ from = {{0, 0, 0}}, to = {{0, {r:.4g}, 0}}, radius = {0.3 * r:.4g} }}"))


def bodies(count, room, lift):
    out = []
    for i in range(count):
        r = room * between(0.1, 0.3)
        at = f"{{{dice.uniform(0.2, 0.8) * room:.4g}, {lift + (0.3 + 0.4 * i) * room:.4g}, {dice.uniform(0.2, 0.8) * room:.4g}}}"
        out.append(f"  {{ shape = {shape(r)}, density = {between(50, 8000):.4g}, at = {at}, velocity = {vector(2 * dice.random())}, "
                   f"friction = {dice.uniform(0, 1):.3g}, restitution = {dice.choice((0, 0, 0.3, 0.8)):.3g} }},")
    return out


def scene():
    """One of the engines' small scenes; returns (engine, text)."""
    engine = dice.choice(("rigid", "liquid", "sand", "sph", "lg"))
    size = between(0.05, 5)
    gravity = dice.choice((9.81, 9.81, between(0.5, 50)))
    text = [f"return scene {{ talus = 1, engine = \"{ {'sph': 'sph', 'lg': 'lg'}.get(engine, 'grid') }\", duration = 10, fps = {between(20, 200):.4g},",
            f"  gravity = {{0, {-gravity:.4g}, 0}}, seed = {dice.randrange(1000)},"]
    if dice.random() < 0.3:
        text.append(f"  dt_max = {between(1e-4, 2e-2):.3g},")
    n = dice.choice((6, 8, 10, 12))
    if engine in ("liquid", "sand"):
        m = (f"liquid {{ density = {between(500, 2000):.4g} }}" if engine == "liquid" else
             f"granular {{ density = {between(1000, 2500):.4g}, friction_angle_deg = {dice.uniform(5, 45):.3g} }}")
        text.append(f"  grid = {{ cells = {{{n}, {n}, {n}}}, cell = {size / n:.6g} }},")
        text.append(f"  fill = {{ {{ material = {m}, shape = box {{ size = {{{0.6 * size:.6g}, {0.4 * size:.6g}, {size:.6g}}}, "
                    f"center = {{{0.3 * size:.6g}, {0.2 * size:.6g}, {0.5 * size:.6g}}} }} }} }},")
        text.append("  bodies = {\n" + "\n".join(bodies(dice.randrange(3), size, 0.4 * size)) + "\n  },")
    elif engine == "sph":
        text.append(f"  sph = {{ spacing = {size / n:.6g} }}, domain = {{ min = {{0, 0, 0}}, max = {{{size:.6g}, {2 * size:.6g}, {size:.6g}}} }},")
        m = dice.choice((f"liquid {{ density = 1000 }}", f"viscous {{ density = 1000, viscosity = {between(1e-2, 50):.3g} }}"))
        text.append(f"  fill = {{ {{ material = {m}, shape = box {{ size = {0.5 * size:.6g}, center = {{{0.5 * size:.6g}, {0.35 * size:.6g}, {0.5 * size:.6g}}} }} }} }},")
        text.append("  bodies = {\n" + "\n".join(bodies(dice.randrange(3), size, 0.8 * size)) + "\n  },")
    elif engine == "lg":
        text.append(f"  lg = {{ iterations = {dice.choice((5, 10, 30))} }}, bodies = {{ {{ kind = \"static\", shape = plane {{}} }},")
        text.append(f"  {{ shape = box {{ size = {size:.4g} }}, cells = {{{dice.randint(1, 4)}, {dice.randint(1, 4)}, {dice.randint(1, 4)}}}, at = {{0, {size:.4g}, 0}}, velocity = {vector(1)}, "
                    f"material = elastic {{ density = {between(100, 5000):.4g}, young = {between(1e3, 1e8):.4g}, poisson = {dice.uniform(0, 0.45):.3g} }} }} }},")
    else:
        text.append("  bodies = { { kind = \"static\", shape = plane {} },\n" + "\n".join(bodies(dice.randint(1, 8), size, 0)) + "\n  },")
    return engine, gravity, size, "\n".join(text) + "\n}\n"


def rows(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def number(row, key):
    try:
        return float(row.get(key, "nan"))
    except ValueError:
        return math.nan


def look(engine, gravity, size, table):
    """What is wrong with a table of steps, and the line of the verdict that has to say so (None: no line can); nothing wrong: None."""
    must = ("t_s", "dt_s", "kinetic_J", "potential_J", "fastest_m_s", "momentum_x_kg_m_s", "momentum_y_kg_m_s", "momentum_z_kg_m_s")
    for row in table:
        for key in must:
            if not math.isfinite(number(row, key)):
                return f"{key} is {row.get(key)} in step {row['step']}", None
    # Nothing adds energy here: what it rises by is held against all that moves. Twice the verdict's limits, which are reckoned from other columns.
    total = [number(r, "kinetic_J") + number(r, "potential_J") + number(r, "elastic_J") for r in table]
    potential = [number(r, "potential_J") for r in table]
    scale = max(max(number(r, "kinetic_J") + abs(number(r, "elastic_J")) for r in table) + max(potential) - min(potential), 1e-12)
    # Steps of second order (lg) know two steps: after an impact the velocity that they show is a mean of before and after, of which a third is left per step.
    # What such a step seems to have lost for less than five steps was not lost.
    span = 5 if engine == "lg" else 1
    lasting = [max(total[i:i + span]) for i in range(len(total))]
    rise = max(lasting[i] - min(lasting[:i + 1]) for i in range(len(lasting)))
    if rise > 0.1 * scale and rise > 1e-9:
        return f"energy rose by {rise:.3g} J of {scale:.3g} J", "energy"
    speed = max(number(r, "fastest_m_s") for r in table)
    if speed > 20 * (math.sqrt(gravity * size) + gravity * number(table[-1], "t_s") + 4):
        return f"{speed:.3g} m/s", "energy"
    if engine == "liquid":
        worst = max(abs(number(r, "volume_error")) for r in table if math.isfinite(number(r, "volume_error")))
        if worst > 0.06:
            return f"volume_error {worst:.3g}", "volume"
    return None


def keep(what, text, words):
    path = pathlib.Path(f"soak-find-{seed}-{len(finds)}.lua")
    path.write_text(f"-- talus run {path} {' '.join(words)}\n-- {what}\n{text}")
    finds.append(what)
    print(f"FIND: {what}: {path}", flush=True)


def tells(run, line):
    """Whether the verdict calls this line bad."""
    try:
        verdict = json.loads((run / "run.json").read_text())["verdict"]
    except (OSError, ValueError, KeyError):
        return False
    return line is not None and not verdict[line]["good"]


def tell(what, text, words):
    counts["told"] += 1
    print(f"told: {what}", flush=True)


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


with tempfile.TemporaryDirectory() as top:
    while time.monotonic() < end:
        engine, gravity, size, text = scene()
        run = pathlib.Path(top, "run")
        shutil.rmtree(run, ignore_errors=True)
        file = pathlib.Path(top, "scene.lua")
        file.write_text(text)
        words = ["--frames", str(dice.choice((3, 6, 12))), "--no-pictures", "--threads", str(dice.choice((1, 2)))]
        began = time.monotonic()
        process = subprocess.Popen([program, "run", str(file), "-o", str(run), "--quiet", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limit)
        told = process.stderr.read().decode(errors="replace").strip()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status = os.waitstatus_to_exitcode(status)
        counts["runs"] += 1
        if status == 2:
            counts["refused"] += 1
            continue
        table = rows(run / "steps.csv") if (run / "steps.csv").exists() else []
        counts["steps"] += len(table)
        if status < 0:
            keep(f"{engine}: signal {-status}" + (" (more than its time)" if -status in (24, 9) else ""), text, words)
        elif status != 0:
            last = told.splitlines()[-1] if told else str(status)
            (tell if "that nothing explains" in last else keep)(f"{engine}: {last}", text, words)
        elif usage.ru_maxrss > MEGABYTES * 1024:
            keep(f"{engine}: {usage.ru_maxrss // 1024} MB", text, words)
        elif len(table) > 1 and (found := look(engine, gravity, size, table)):
            what, line = found
            (tell if tells(run, line) else keep)(f"{engine}: {what}", text, words)
print(f"seed {seed}: " + ", ".join(f"{n} {what}" for what, n in counts.items()) + f"; {len(finds)} finds")
sys.exit(1 if finds else 0)
