#!/usr/bin/env python3
"""Cloth that is curved at rest, from a triangle mesh: a quarter of a ring, held at one end, stays as it is without gravity, and
sags like a curved beam with it.

    tests/cli/curved_cloth.py PROGRAM
"""
import csv
import math
import pathlib
import subprocess
import sys
import tempfile

RADIUS, WIDTH, THICKNESS, YOUNG, DENSITY, GRAVITY = 0.1, 0.05, 0.002, 5e6, 1000, 0.05
ALONG, ACROSS = 24, 8


def write_ring(path):
    """From (R, 0, 0), where its tangent is y, to (0, R, 0); squares of four triangles, and a vertex that nothing uses."""
    point = lambda s, z: (RADIUS * math.cos(0.5 * math.pi * s), RADIUS * math.sin(0.5 * math.pi * s), z)
    lines, corner = ["v 9 9 9"], {}
    for i in range(ALONG + 1):
        for k in range(ACROSS + 1):
            corner[i, k] = len(lines) + 1
            lines.append("v %.17g %.17g %.17g" % point(i / ALONG, WIDTH * (k / ACROSS - 0.5)))
    faces = []
    for i in range(ALONG):
        for k in range(ACROSS):
            lines.append("v %.17g %.17g %.17g" % point((i + 0.5) / ALONG, WIDTH * ((k + 0.5) / ACROSS - 0.5)))
            ring = [corner[i, k], corner[i + 1, k], corner[i + 1, k + 1], corner[i, k + 1]]
            faces += [f"f {ring[j]} {ring[(j + 1) % 4]} {len(lines)}" for j in range(4)]
    path.write_text("\n".join(lines + faces) + "\n")


SCENE = """
return scene {{ talus = 1, engine = "lg", duration = 3, fps = 25, dt_max = 0.01, gravity = {{0, {gravity}, 0}},
    bodies = {{ {{ name = "ring", shape = sheet {{ file = "ring.obj" }}, thickness = {thickness}, bending = "{bending}", at = {{0, 1, 0}},
        anchor = box {{ size = {{1, 0.0135, 1}} }}, anchor_weight = 1e5,
        material = elastic {{ young = {young}, poisson = 0, density = {density} }} }} }} }}
"""


def mean_sag(program, folder, gravity, bending):
    """Mean over the run of how far the strip's centre of mass is below its first place; without gravity its greatest speed."""
    name = f"{bending}{gravity}"
    (folder / f"{name}.lua").write_text(SCENE.format(gravity=-gravity, thickness=THICKNESS, young=YOUNG, density=DENSITY, bending=bending))
    done = subprocess.run([program, "run", f"{name}.lua", "-o", name, "--threads", "1", "--no-pictures", "--quiet"], cwd=folder,
                          capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise SystemExit(done.stderr)
    with open(folder / name / "steps.csv") as f:
        rows = list(csv.DictReader(f))
    if gravity == 0:
        return max(float(row["kinetic_J"]) / float(row["mass_kg"]) for row in rows) ** 0.5
    y = [float(row["potential_J"]) / (gravity * float(row["mass_kg"])) for row in rows]
    return y[0] - sum(y) / len(y)


def expected():
    """Of an inextensible beam, held over its first row of squares: displacement of the centre of mass under its weight, by unit loads."""
    n = 400
    first = 0.5 * math.pi / ALONG
    angle = [first + (0.5 * math.pi - first) * (i + 0.5) / n for i in range(n)]
    arc = RADIUS * (0.5 * math.pi - first) / n
    per_length, bend = DENSITY * THICKNESS * WIDTH * GRAVITY, YOUNG * WIDTH * THICKNESS**3 / 12
    x = [RADIUS * math.cos(a) for a in angle]
    moment = [sum(per_length * arc * (x[i] - x[j]) for j in range(i, n)) for i in range(n)]
    sag = sum(m * m for m in moment) * arc / bend / (per_length * arc * n)
    return sag * n * arc / (0.5 * math.pi * RADIUS)  # of all of the strip, the held part included


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_ring(folder / "ring.obj")
        theory = expected()
        for bending in ("hinge",):
            rest, sag = mean_sag(program, folder, 0, bending), mean_sag(program, folder, GRAVITY, bending)
            print(f"{bending}: sags by {sag:.3e} m, curved beam {theory:.3e}; without gravity {rest:.1e} m/s")
            if rest > 1e-6:  # factors are in single precision: 6e-8 of 0.1 m per step of 10 ms
                wrong.append(f"{bending}: moves at {rest} m/s without gravity")
            if abs(sag - theory) > 0.1 * theory:
                wrong.append(f"{bending}: {sag} m instead of {theory}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
