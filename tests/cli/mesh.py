#!/usr/bin/env python3
"""talus mesh from the outside: exit status, what is printed where, which files appear; every shape that comes with talus at
its suggested size.

    tests/cli/mesh.py PROGRAM SCENES
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BALL = "sphere { radius = 0.5 }"

# arguments, exit status, words on stdout, words on stderr, file that must appear
CASES = [
    (["--help"], 0, ["Usage: talus mesh", "--mesher"], [], None),
    ([], 2, ["Usage: talus mesh"], [], None),
    ([BALL], 2, [], ["--surface or --tet"], None),
    ([BALL, "--surface", "--tet"], 2, [], ["not both"], None),
    ([BALL, "--tett"], 2, [], ["did you mean '--tet'"], None),
    ([BALL, "--tet", "--edge", "0"], 2, [], ["--edge must be a number from", "'0'"], None),
    ([BALL, "--tet", "--edge", "big"], 2, [], ["'big'"], None),
    ([BALL, "--tet", "-o", "ball.obj"], 2, [], ["ball.obj", ".msh or .vtk"], None),
    ([BALL, "--surface", "-o", "ball.vtk"], 2, [], ["ball.vtk", ".obj, .ply or .stl"], None),
    ([BALL, "--tet", "--mesher", "magic"], 2, [], ['"magic"'], None),
    (["sphere { radius = -1 }", "--tet"], 2, [], ["shape:1: sphere.radius must be > 0", "-1"], None),
    (["box { size = {1e6, 1e-6, 1} }", "--tet"], 2, [], ["thinner than the lattice"], None),  # and soon
    (["no_such_shape", "--tet"], 2, [], ["no_such_shape"], None),
    ([BALL, "--tet", "--edge", "0.1", "-o", "none/ball.vtk"], 1, [], ["none/ball.vtk"], None),
    ([BALL, "--tet", "--edge", "0.1"], 0, ["tetrahedra", "dihedral angles", "inverted             0"], [], None),
    ([BALL, "--tet", "--edge", "0.1", "-o", "ball.vtk"], 0, ["volume"], ["wrote ball.vtk"], "ball.vtk"),
    ([BALL, "--tet", "--edge=0.1", "-o", "ball.msh"], 0, ["volume"], ["wrote ball.msh"], "ball.msh"),
    ([BALL, "--surface", "--edge", "0.1", "-o", "ball.stl"], 0, ["closed               yes"], [], "ball.stl"),
    (["ball.stl"], 0, ["ball.stl", "triangles", "closed               yes"], [], None),
    (["ball.vtk"], 0, ["tetrahedra", "dihedral angles"], [], None),
    (["ball.vtk", "-o", "copy.msh"], 0, ["tetrahedra"], [], "copy.msh"),
    (["ball.vtk", "--surface", "-o", "hull.ply"], 0, ["boundary triangles", "surface"], [], "hull.ply"),
    (["hull.ply", "--tet", "--edge", "0.2", "-o", "again.vtk"], 0, ["hull.ply", "tetrahedra"], [], "again.vtk"),
    (["open.obj"], 0, ["closed               no", "note: "], [], None),
    (["open.obj", "--tet"], 2, ["closed               no"], ["talus mesh: "], None),
    (["broken.msh", "--tet"], 2, [], ["broken.msh:1: a gmsh file starts with $MeshFormat"], None),
    (["empty.stl"], 0, ["closed               no\n  area", "no triangles"], [], None),
    (["ball.stl", "--set", "a=1"], 2, [], ["--set a=1: a mesh file has no parameters"], None),
    ([BALL, "--surface", "--set", "a=1"], 2, [], ["--set a=1: 'a' is not a parameter of the shape"], None),
    (["local p = params { length = 1 } return box { size = p.length }", "--surface", "--set", "lenght=2"], 2, [],
     ["did you mean 'length'"], None),
    (["local p = params { length = 1 } return box { size = p.length }", "--surface", "--set", "length=2"], 0,
     ["2 x 2 x 2 m"], [], None),
    ([BALL, "--surface", "--edge", "100"], 2, [], ["finds nothing of the shape; its smallest feature is 1"], None),
    (["missing.ply"], 1, [], ["missing.ply"], None),
]


def run(program, folder, case):
    arguments, status, out, talk, file = case
    done = subprocess.run([program, "mesh", *arguments], cwd=folder, capture_output=True, text=True, timeout=300)
    wrong = []
    if done.returncode != status:
        wrong.append(f"exit status {done.returncode}, expected {status}")
    wrong += [f"stdout lacks '{w}'" for w in out if w not in done.stdout]
    wrong += [f"stderr lacks '{w}'" for w in talk if w not in done.stderr]
    if file and not (folder / file).exists():
        wrong.append(f"no file {file}")
    return [f"talus mesh {' '.join(arguments)}: {w}\n{done.stdout}{done.stderr}" for w in wrong]


def shape(program, scenes, name):
    """Tets of a library shape: none inverted, angles of 8 degrees and more, volume within 1 %."""
    environment = dict(os.environ, TALUS_SCENES=str(scenes))
    done = subprocess.run([program, "mesh", name, "--tet"], env=environment, capture_output=True, text=True, timeout=300)
    angle = re.search(r"dihedral angles +([0-9.]+) to", done.stdout)
    volume = re.search(r"volume .*\(([-+0-9.]+) % against", done.stdout)
    good = (done.returncode == 0 and "inverted             0" in done.stdout and angle and float(angle[1]) >= 8
            and volume and abs(float(volume[1])) <= 1)
    return [] if good else [f"talus mesh {name} --tet: not as it should be\n{done.stdout}{done.stderr}"]


def main():
    program, scenes = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "open.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        (folder / "broken.msh").write_text("solid\n")
        (folder / "empty.stl").write_bytes(bytes(84))
        wrong = [w for case in CASES for w in run(program, folder, case)]
        left = [p.name for p in folder.iterdir() if ".part" in p.name]
    if left:
        wrong.append(f"left behind: {left}")
    shapes = sorted(p.stem for p in (scenes / "shapes").glob("*.lua"))
    wrong += [w for name in shapes for w in shape(program, scenes, name)]
    print("\n".join(wrong) if wrong else f"{len(CASES)} commands and {len(shapes)} shapes did what they should")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
