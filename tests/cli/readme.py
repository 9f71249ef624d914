#!/usr/bin/env python3
"""The table of engines and materials on the first page says what `talus check` accepts.

    tests/cli/readme.py PROGRAM
"""
import pathlib
import subprocess
import sys
import tempfile

program = sys.argv[1]
FILL = "fill = { { material = %s, shape = box { size = 0.2, center = {0.2, 0.1, 0.2} } } }"
BODIES = "bodies = { %s }"
RIGID = "{ shape = box { size = 0.1 }, at = {0.2, 0.05, 0.2}, density = 500 }"
SOFT = "{ shape = box { size = {0.1, %s, 0.1} }, at = {0.2, 0.25, 0.2}, cells = {2, %s, 2}, %s material = elastic { density = 1000, young = 1e5, poisson = 0.3 } }"
ELASTIC, CLOTH = SOFT % (0.1, 2, ""), SOFT % (0.002, 1, "thickness = 0.002,")
SCENES = {
    "sand": FILL % "granular { density = 1600, friction_angle_deg = 30 }",
    "liquid": FILL % "liquid { density = 1000 }",
    "viscous liquid": FILL % "viscous { density = 1000, viscosity = 1 }",
    "rigid": BODIES % RIGID,
    "elastic": BODIES % ELASTIC,
    "cloth": BODIES % CLOTH,
}
ENGINES = {
    "grid": ("grid = { cells = {8, 8, 8}, cell = 0.05 }", "dt_max = 0.01"),
    "sph": ("sph = { spacing = 0.05 }, domain = { min = {0, 0, 0}, max = {0.4, 0.4, 0.4} }",) * 2,
    "lg": ("dt_max = 0.01",) * 2,
}


def accepted(engine, material):
    with_fill, without = ENGINES[engine]
    text = BODIES % f"{RIGID}, {ELASTIC}" if (engine, material) == ("lg", "rigid") else SCENES[material]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "tiny.lua")
        file.write_text(f"return scene {{ talus = 1, duration = 0.01, engine = '{engine}', "
                        f"{with_fill if text.startswith('fill') else without}, {text} }}")
        done = subprocess.run([program, "check", str(file), "--quiet"], capture_output=True, text=True)
    return done.returncode == 0, (done.stdout + done.stderr).strip()


lines = (pathlib.Path(__file__).parent.parent.parent / "README.md").read_text().splitlines()
first = next(i for i, line in enumerate(lines) if line.strip().startswith("| engine |"))
rows = []
for line in lines[first:]:
    if not line.strip().startswith("|"):
        break
    rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
materials, problems, seen = rows[0][1:], [], 0
for engine, *cells in rows[2:]:
    for material, cell in zip(materials, cells):
        seen += 1
        runs, said = accepted(engine.strip("`"), material)
        if runs != cell.startswith("yes"):
            problems.append(f"FAILED: README says '{cell}' of {material} with {engine}; talus check: {said or 'accepted'}")
if sorted(materials) != sorted(SCENES) or seen != len(ENGINES) * len(SCENES):
    problems.append(f"FAILED: the table has {materials} and {seen} cells")
print("\n".join(problems + [f"{seen} cells, {len(problems)} problems"]))
sys.exit(1 if problems else 0)
