#!/usr/bin/env python3
"""Bodies of tetrahedra from files, with a material by region: a bar of two halves hangs by its upper end, in both engines
with elastic bodies and from both kinds of files. Its mean length is that of two springs in a row.

    tests/cli/regions.py PROGRAM
"""
import csv
import itertools
import pathlib
import subprocess
import sys
import tempfile

G, SIDE, LENGTH, CELLS = 9.81, 0.1, 0.4, (2, 8, 2)
YOUNG, DENSITY = (1e6, 4e5), (1000, 2500)  # of the upper half, region 7, and of the lower one, region 3


def bar():
    """Nodes, tetrahedra (six per cell) and regions."""
    size = [SIDE, LENGTH, SIDE]
    counts = [c + 1 for c in CELLS]
    number = lambda i: i[0] + counts[0] * (i[1] + counts[1] * i[2])
    nodes = [None] * (counts[0] * counts[1] * counts[2])
    for i in itertools.product(*map(range, counts)):
        nodes[number(i)] = [size[k] * (i[k] / CELLS[k] - (0.5 if k != 1 else 1)) for k in range(3)]
    tets, regions = [], []
    for c in itertools.product(*map(range, CELLS)):
        for axes in itertools.permutations(range(3)):
            at, corners = list(c), [number(c)]
            for a in axes:
                at[a] += 1
                corners.append(number(at))
            tets.append(corners)
            regions.append(7 if 2 * c[1] >= CELLS[1] else 3)
    return nodes, tets, regions


def write_msh(path, nodes, tets, regions):
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", str(len(nodes))]
    lines += [f"{k + 1} {x[0]!r} {x[1]!r} {x[2]!r}" for k, x in enumerate(nodes)]
    lines += ["$EndNodes", "$Elements", str(len(tets))]
    lines += [f"{k + 1} 4 2 {r} 1 " + " ".join(str(v + 1) for v in t) for k, (t, r) in enumerate(zip(tets, regions))]
    path.write_text("\n".join(lines + ["$EndElements", ""]))


def write_vtk(path, nodes, tets, regions):
    lines = ["# vtk DataFile Version 3.0", "bar", "ASCII", "DATASET UNSTRUCTURED_GRID", f"POINTS {len(nodes)} double"]
    lines += [f"{x[0]!r} {x[1]!r} {x[2]!r}" for x in nodes]
    lines += [f"CELLS {len(tets)} {5 * len(tets)}"] + ["4 " + " ".join(map(str, t)) for t in tets]
    lines += [f"CELL_TYPES {len(tets)}"] + ["10"] * len(tets)
    lines += [f"CELL_DATA {len(tets)}", "SCALARS region int 1", "LOOKUP_TABLE default"] + [str(r) for r in regions]
    path.write_text("\n".join(lines + [""]))


SCENE = """
return scene {{ talus = 1, engine = "{engine}", duration = {seconds}, fps = 50, dt_max = 0.004, {more}
    bodies = {{ {{ name = "bar", shape = mesh {{ file = "{file}" }}, anchor = box {{ size = {{1, 0.001, 1}} }},
                   material = elastic {{ young = {young[0]}, poisson = {poisson[0]}, density = {density[0]} }} }} }},
    regions = {{ {{ body = "bar", region = {region}, material = elastic {{ young = {young[1]}, poisson = {poisson[1]}, density = {density[1]} }} }} }} }}
"""


def run(program, folder, name, engine, file, region=3, poisson=(0, 0), seconds=2.4):
    more = "lg = { iterations = 40 }," if engine == "lg" else 'fem = { elements = "tets" },'
    (folder / f"{name}.lua").write_text(SCENE.format(engine=engine, file=file, young=YOUNG, density=DENSITY, region=region,
                                                     poisson=poisson, seconds=seconds, more=more))
    return subprocess.run([program, "run", f"{name}.lua", "-o", name, "--threads", "1", "--no-pictures", "--quiet"],
                          cwd=folder, capture_output=True, text=True, timeout=300)


def centre(folder, name):
    """Mean height of the centre of mass over the run."""
    with open(folder / name / "bodies.csv") as f:
        rows = list(csv.DictReader(f))
    y = [float(row[next(k for k in row if k in ("y", "position_y", "y_m", "at_y"))]) for row in rows]
    return sum(y) / len(y), y[0]


def expected():
    """How far the centre of mass of the hanging bar is below where it starts, Hooke's law, and the mass."""
    half, area, n = LENGTH / 2, SIDE * SIDE, 20000
    sink = total = shift = 0
    for k in range(n):  # slices from the top down; each is stretched by what hangs below its middle
        part = 0 if 2 * k < n else 1
        below = DENSITY[1] * half if part == 0 else DENSITY[1] * (LENGTH - (k + 0.5) * LENGTH / n)
        if part == 0:
            below += DENSITY[0] * (half - (k + 0.5) * LENGTH / n)
        stretch = below * G / YOUNG[part] * LENGTH / n
        mass = DENSITY[part] * area * LENGTH / n
        sink += mass * (shift + 0.5 * stretch)
        shift += stretch
        total += mass
    return sink / total, total


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        mesh = bar()
        write_msh(folder / "bar.msh", *mesh)
        write_vtk(folder / "bar.vtk", *mesh)
        down, mass = expected()
        for engine, file in (("lg", "bar.msh"), ("lg", "bar.vtk"), ("grid", "bar.msh")):
            name = f"{engine}-{file[-3:]}"
            done = run(program, folder, name, engine, file)
            if done.returncode:
                wrong.append(f"{name}: {done.stderr[-300:]}")
                continue
            mean, first = centre(folder, name)
            print(f"{name}: centre of mass {first - mean:.5f} m lower in the mean, Hooke {down:.5f}")
            if abs(first - mean - down) > 0.04 * down:
                wrong.append(f"{name}: {first - mean} m instead of {down}")
        for name, kwargs, words in (("none", {"region": 4}, "region 4 has none of its elements"),
                                    ("poisson", {"poisson": (0, 0.1)}, "Poisson's ratio 0, got 0.1")):
            done = run(program, folder, name, "lg", "bar.msh", **kwargs)
            if done.returncode != 2 or words not in done.stderr:
                wrong.append(f"{name}: status {done.returncode}, {done.stderr[-300:]}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
