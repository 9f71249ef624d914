#!/usr/bin/env python3
"""`talus check` and `talus run` agree on what can be run, in status and words: all presets, kinds of matter, engines, schemes and methods.

    tests/cli/check_run.py PROGRAM
"""
import concurrent.futures
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

program = sys.argv[1]

ENGINES = {
    "grid": "grid = { cells = {8, 8, 8}, cell = 0.1 }",
    "sph": "sph = { spacing = 0.1 }, domain = { min = {0, 0, 0}, max = {0.8, 0.8, 0.8} }",
    "lg": "lg = { iterations = 2 }",
}
PRESETS = ["water", "honey", "dry sand", "gravel", "rubber", "wood", "steel", "ice"]
MATERIALS = {f"preset {p}": f'preset "{p}"' for p in PRESETS} | {
    "granular": "granular { density = 1600, friction_angle_deg = 30 }",
    "liquid": "liquid { density = 1000 }",
    "tense": "liquid { density = 1000, surface_tension = 0.07 }",
    "viscous": "viscous { density = 1000, viscosity = 1 }",
    "elastic": "elastic { density = 1000, young = 1e5, poisson = 0.3 }",
    "solid": "solid { density = 1000 }",
}
ROLES = {
    "fill": "fill = { { material = m, shape = box { size = 0.4, center = {0.4, 0.2, 0.4} } } }",
    "emitter": "emitters = { { material = m, shape = box { size = 0.3, center = {0.4, 0.4, 0.4} }, velocity = {0, -1, 0}, rate = 1e-3 } }",
    "body": "bodies = { { material = m, shape = box { size = 0.3 }, at = {0.4, 0.4, 0.4} } }",
    "both": "fill = { { material = m, shape = box { size = 0.4, center = {0.4, 0.2, 0.4} } } },\n"
            "bodies = { { density = 500, shape = box { size = 0.3 }, at = {0.4, 0.6, 0.4} } }",
}
SCHEMES = ["p-c", "c-p", "t-pn", "t-p-n", "p-tn", "tn-pn", "pf-c", "c-pf", "t-f-pn", "t-f-p-n", "f-p-c"]
PRESSURE = ["multigrid", "mic", "multigrid-double", "cg-multigrid", "cg-mic", "nncg", "jacobi", "mprgp"]
FRICTION = ["apgd", "pgs", "auglag-ipn", "primal-dual", "jcsp", "jcsp-pyramid", "narain", "narain-printed", "box"]
CONTACT = ["newton-shift", "newton-convex", "apgd-shift", "apgd-convex", "admm", "pgs", "pgs-pyramid", "staggered"]


def cases():
    """(name, engine, material, role, solver)"""
    for e, m, r in itertools.product(ENGINES, MATERIALS, ROLES):
        yield e, m, r, ""
    for e, s, m in itertools.product(("grid", "sph"), SCHEMES, ("liquid", "granular")):
        yield e, m, "both", f'scheme = "{s}"'
    for e, p, m in itertools.product(("grid", "sph"), PRESSURE, ("liquid", "granular")):
        yield e, m, "fill", f'pressure = "{p}"'
    for f, s in itertools.product(FRICTION, ("colocated", "staggered")):
        yield "grid", "granular", "fill", f'friction = "{f}", stress = "{s}"'
        yield "grid", "granular", "fill", f'friction = {{ method = "{f}", precond = "ssor" }}, stress = "{s}"'
    for c, e in itertools.product(CONTACT, ENGINES):
        yield e, "elastic" if e == "lg" else "solid", "body", f'contact = "{c}"'
    for c, m in itertools.product(("odd", "even"), ("liquid", "granular")):
        yield c, m, "fill", ""


def text(case):
    engine, material, role, solver = case
    grid = {"odd": "grid = { cells = {7, 8, 7}, cell = 0.1, periodic = {true, false, true} }",
            "even": "grid = { cells = {8, 8, 8}, cell = 0.1, periodic = {true, false, true} }"}.get(engine)
    return (f"local m = {MATERIALS[material]}\nreturn scene {{ talus = 1, engine = \"{'grid' if grid else engine}\", duration = 1, fps = 1000,\n"
            f"{grid or ENGINES[engine]},\n{ROLES[role]},\nsolver = {{ {solver} }}, }}\n")


def words(done):
    """Problems and refusals, without who says them and without the words for where a run was."""
    lines = [re.sub(r"^talus (check|run): ", "", line) for line in done.stderr.splitlines()]
    return sorted(line for line in lines if line and "note: " not in line and not line.startswith("warning: ") and "thin" not in line)


def ask(number_and_case):
    number, case = number_and_case
    scene, run = folder / f"{number}.lua", folder / f"run-{number}"
    scene.write_text(text(case))
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    check, start = (subprocess.run([program, *command], capture_output=True, text=True, timeout=60, env=environment) for command in
                    (["check", str(scene), "--quiet"], ["run", str(scene), "-o", str(run), "--frames", "1", "--no-pictures"]))
    refused = start.returncode == 2
    if check.returncode not in (0, 2) or start.returncode not in (0, 2) or (check.returncode == 2) != refused:
        return f"FAILED: {case}: check {check.returncode} {check.stderr.strip()!r}, run {start.returncode} {start.stderr.strip()!r}", refused
    if refused and words(check) != words(start):
        return f"FAILED: {case}: check says {words(check)}, run says {words(start)}", refused
    return None, refused


with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
    folder = pathlib.Path(name)
    answers = list(pool.map(ask, enumerate(cases())))
problems = [text for text, _ in answers if text]
refusals = sum(refused for _, refused in answers)
if not 100 < refusals < len(answers) - 60:
    problems.append(f"FAILED: {refusals} of {len(answers)} scenes are refused: the walk has lost one of its sides")
print("\n".join(problems + [f"{len(answers)} scenes, {refusals} refused by both, {len(problems)} problems"]))
sys.exit(1 if problems else 0)
