#!/usr/bin/env python3
"""talus export and talus render of a run, from the outside: which files appear, what is in them, what is refused.

    tests/cli/export.py PROGRAM
"""
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

SCENE = """
return scene { talus = 1, engine = "grid", duration = 0.2, fps = 25, dt_max = 0.01, gravity = {0, -10, 0}, bodies = {
  { name = "the ground", shape = plane {}, kind = "static" },
  { name = "big box", shape = box { size = {0.2, 0.1, 0.4} }, density = 500, at = {0, 3, 0}, velocity = {1, 0, 0} },
  { name = "ball, red", shape = sphere { radius = 0.1 }, density = 300, at = {0.6, 3, 0}, spin_rad_per_s = {0, 0, 5} },
} }
"""

# A falling block of jelly with one cube inside that no surface sees, and a cloth.
SOFT = """
local jelly = elastic { density = 1000, young = 1e5, poisson = 0.3, model = "arap" }
return scene { talus = 1, engine = "lg", duration = 0.1, fps = 50, gravity = {0, -10, 0}, bodies = {
  { name = "jelly", shape = box { size = 0.3 }, cells = {3, 3, 3}, at = {0, 2, 0}, velocity = {1, 0, 0}, material = jelly },
  { name = "stone", shape = box { size = 0.1 }, kind = "static" },
  { name = "sheet", shape = box { size = {1, 0.01, 1} }, cells = {2, 1, 2}, thickness = 0.01, at = {0, 4, 0}, material = jelly },
} }
"""

# Matter without a body.
LOOSE = {
    "water": """
return scene { talus = 1, engine = "grid", duration = 0.12, fps = 25, grid = { cells = {12, 8, 4}, cell = 0.1 },
  fill = { { material = liquid { density = 1000 }, shape = box { size = {0.5, 0.6, 0.4}, center = {0.25, 0.3, 0.2} } } } }
""",
    "drop": """
return scene { talus = 1, engine = "sph", duration = 0.12, fps = 25, sph = { spacing = 0.1 }, domain = { min = {0, 0, 0}, max = {1, 1, 1} },
  fill = { { material = liquid { density = 1000 }, shape = box { size = 0.5, center = {0.5, 0.5, 0.5} } } } }
""",
}

program = os.path.abspath(sys.argv[1])
problems = []


def check(good, what):
    if not good:
        problems.append(what)
        print("FAILED:", what)


def talus(*words, status=0, folder=None, env=None):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=120, cwd=folder, env=env)
    check(done.returncode == status, f"talus {' '.join(map(str, words))}: status {done.returncode}: {done.stderr}")
    return done


def refused(words, text, status=2):
    told = talus(*words, status=status).stderr
    check(text in told, f"talus {' '.join(map(str, words))}: '{text}' is not in '{told}'")


def read_ply(path):
    """Vertices (x y z vx vy vz id) and faces (a b c body)."""
    data = path.read_bytes()
    end = data.index(b"end_header\n") + len(b"end_header\n")
    counts = [int(n) for n in re.findall(rb"element \w+ (\d+)", data[:end])]
    vertices = [struct.unpack_from("<3d3fi", data, end + 40 * i) for i in range(counts[0])]
    end += 40 * counts[0]
    faces = [struct.unpack_from("<B4i", data, end + 17 * i)[1:] for i in range(counts[1])]
    check(end + 17 * counts[1] == len(data), f"{path}: {len(data)} bytes")
    return vertices, faces


def ranges(points):
    return [(min(p[k] for p in points), max(p[k] for p in points)) for k in range(3)]


def near(a, b, tolerance):
    return abs(a - b) <= tolerance


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    scene, run = folder / "fall.lua", folder / "out"
    scene.write_text(SCENE)
    talus("run", scene, "-o", run, "--quiet", "--no-pictures")

    # Pictures: one of the frames, then all with sheet.
    done = talus("render", run, "--frame", 3, "--width", 64, "--height", 36, "--samples", 1)
    check(done.stdout.strip() == f"{run}/images/frame-0003.png", done.stdout)
    check((run / "images/frame-0003.png").is_file(), "no picture of frame 3")
    check(not (run / "images/sheet.png").exists(), "a sheet of one picture")
    done = talus("render", run, "--every", 2, "--width", 64, "--height", 36, "--samples", 1)
    check(done.stdout.strip() == f"{run}/images/sheet.png", done.stdout)
    for name in ("frame-0000.png", "frame-0002.png", "frame-0004.png", "frame-0005.png", "sheet.png"):
        check((run / "images" / name).is_file(), f"no {name}")
    refused(["render", run, "--frame", 99], "there is no frame 99; the last is 5")
    refused(["render", scene, "--frame", 1], "--frame and --every are for the folder of a run")
    refused(["render", run, "--set", "duration=1"], "a run has its settings")
    refused(["render", run, "--sheet"], "own contact sheet")

    # All frames as ply: the last has fallen by 0.2 m after 0.2 s, up to the scheme's error of half a step's fall.
    check(talus("export", run).stdout.strip() == f"{run}/export", "export prints its folder")
    names = sorted(p.name for p in (run / "export").iterdir())
    check(names == [f"bodies-{i:04d}.ply" for i in range(6)], f"export made {names}")
    vertices, faces = read_ply(run / "export/bodies-0005.ply")
    bodies = {f[3] for f in faces}
    check(bodies == {1, 2}, f"bodies {bodies}")
    box = [vertices[i] for f in faces if f[3] == 1 for i in f[:3]]
    (x0, x1), (y0, y1), (z0, z1) = ranges(box)
    check(near(x0, 0.1, 1e-9) and near(x1, 0.3, 1e-9), f"box along x: {x0} {x1}")
    check(near(0.5 * (y0 + y1), 2.8, 0.011) and near(y1 - y0, 0.1, 1e-9), f"box along y: {y0} {y1}")
    check(all(near(v[3], 1, 1e-6) and near(v[4], -2, 1e-6) for v in box), "the box's velocity")
    ball = [vertices[i] for f in faces if f[3] == 2 for i in f[:3]]
    check(all(near(v[3], -5 * (v[1] - (ranges(ball)[1][0] + ranges(ball)[1][1]) / 2), 0.01) for v in ball),
          "the ball turns")

    talus("export", run, "--format", "obj", "--frame", 2, "-o", folder / "obj")
    text = (folder / "obj/bodies-0002.obj").read_text()
    check("o big_box\n" in text and "o ball,_red\n" in text and "ground" not in text, "objects by name")
    talus("mesh", folder / "obj/bodies-0002.obj")  # our own reader takes both
    talus("mesh", run / "export/bodies-0000.ply")
    talus("export", run, "--format=vtk", "--frame=2", "-o", folder / "vtk")
    check([p.name for p in (folder / "vtk").iterdir()] == ["bodies-0002.vtp"], "one vtp")

    refused(["export", run, "--format", "usda"], "no format 'usda'; there are ply, obj, vtk")
    refused(["export", run, "--frame", 6], "there is no frame 6")
    refused(["export", folder / "none"], "none/run.json", status=1)
    refused(["export", run, "-o", folder / "a/b/c"], "cannot make the folder", status=1)

    # Elastic bodies: where their nodes are, with ids of nodes; nodes inside are left out.
    soft, soft_run = folder / "soft.lua", folder / "soft"
    soft.write_text(SOFT)
    talus("run", soft, "-o", soft_run, "--quiet", "--no-pictures")
    talus("render", soft_run, "--every", 5, "--width", 64, "--height", 36, "--samples", 1)
    check((soft_run / "images/frame-0005.png").is_file(), "no picture of jelly")
    talus("export", soft_run)
    vertices, faces = read_ply(soft_run / "export/bodies-0005.ply")
    jelly = {i for f in faces if f[3] == 0 for i in f[:3]}
    sheet = {i for f in faces if f[3] == 2 for i in f[:3]}
    check(len(jelly) == 64 - 8 and len(sheet) == 13, f"surface nodes: {len(jelly)}, {len(sheet)}")
    ids = [vertices[i][6] for i in sorted(jelly | sheet)]
    check(len(set(ids)) == 69 and min(ids) >= 0 and max(ids) == 76, "ids of nodes")
    check(all(near(vertices[i][3], 1, 1e-5) and near(vertices[i][4], -1, 1e-5) for i in jelly), "the jelly's velocity")
    (x0, x1), (y0, y1), _ = ranges([vertices[i] for i in jelly])
    check(near(x0, -0.05, 1e-6) and near(y1, 2.15 - 0.5 * 10 * 0.1**2, 1e-6), f"the jelly's place: {x0} {y1}")
    talus("export", soft_run, "--format", "obj", "--frame", 5, "-o", folder / "soft-obj")
    talus("mesh", folder / "soft-obj/bodies-0005.obj")
    (soft_run / "frames/nodes-0003.vtp").unlink()
    refused(["render", soft_run, "--frame", 3], "there is no frame 3; the last is 5")

    # A frame that was cut off in the middle is not there; a table of something else is told.
    table = run / "bodies.csv"
    whole = table.read_text()
    table.write_text(whole[:-40])
    refused(["render", run, "--frame", 5], "there is no frame 5; the last is 4")
    table.write_text(whole.replace("rotation_w", "rotation_q"))
    refused(["export", run], "no column rotation_w")
    table.write_text(whole.replace("\n3,", "\n3x,", 1))
    refused(["export", run], "out of order")
    head, rest = whole.split("\n", 1)  # the column of frames comes last, and lines end before it
    table.write_text(head.replace("frame,", "first,", 1) + ",frame\n" + rest)
    refused(["export", run], "too few cells")
    table.write_text(whole)

    # A run is drawn with the scene that ran, from any folder, also when the file has been changed or is gone.
    scene.write_text(SCENE.replace("0.4", "0.5"))
    talus("export", run, "--frame", 5, "-o", folder / "again")
    check((folder / "again/bodies-0005.ply").read_bytes() == (run / "export/bodies-0005.ply").read_bytes(), "the scene that ran")
    scene.unlink()
    talus("render", "out", "--frame", 1, "--width", 64, "--height", 36, "--samples", 1, folder=folder)
    (folder / "ball.lua").write_text("return sphere { radius = 0.1 }")
    (folder / "part.lua").write_text(SCENE.replace("sphere { radius = 0.1 }", 'shape_file "ball"'))
    talus("run", "part.lua", "-o", "part", "--quiet", "--no-pictures", "--frames", 1, folder=folder)
    (folder / "elsewhere").mkdir()
    talus("render", "../part", "--frame", 1, "--width", 64, "--height", 36, "--samples", 1, folder=folder / "elsewhere")
    talus("export", "../part", "-o", "here", folder=folder / "elsewhere")
    check(len(list((folder / "elsewhere/here").iterdir())) == 2, "exported elsewhere")
    (folder / "ball.lua").write_text("return sphere { radius = 0.2 }")
    refused(["render", folder / "part"], "has changed since the run")
    refused(["export", folder / "part"], "has changed since the run")

    # Runs without bodies, of each engine that has particles: pictures in which something moves, points in each format.
    (folder / "bin").mkdir()
    (folder / "bin/ffmpeg").write_text('#!/bin/sh\nfor file; do :; done\nexec cat >"$file"\n')  # the film is the frames as they come
    (folder / "bin/ffmpeg").chmod(0o755)
    filming = dict(os.environ, PATH=f"{folder / 'bin'}:{os.environ['PATH']}")
    for name, text in LOOSE.items():
        (folder / f"{name}.lua").write_text(text)
        loose = folder / name
        talus("run", folder / f"{name}.lua", "-o", loose, "--quiet", "--no-pictures")
        talus("render", loose, "--width", 96, "--height", 54, "--samples", 2, env=filming)
        pictures = [(loose / f"images/frame-{i:04d}.png").read_bytes() for i in range(4)]
        check(len(set(pictures)) == 4, f"{name}: pictures of {len(set(pictures))} different frames")
        check((loose / "images/sheet.png").is_file(), f"{name}: no sheet")
        check((loose / "images/film.mp4").stat().st_size == 4 * 96 * 54 * 3, f"{name}: the film has not got four frames")
        for kind, ending in (("ply", "ply"), ("obj", "obj"), ("vtk", "vtp")):
            talus("export", loose, "--format", kind, "-o", folder / f"{name}-{kind}")
            files = sorted(p.name for p in (folder / f"{name}-{kind}").iterdir())
            check(files == [f"particles-{i:04d}.{ending}" for i in range(4)], f"{name}: {kind}: {files}")
        first = (folder / f"{name}-obj/particles-0000.obj").read_text().splitlines()
        points = [line for line in first if line.startswith("v ")]
        header = (folder / f"{name}-ply/particles-0000.ply").read_bytes().split(b"end_header")[0].decode()
        check(f"element vertex {len(points)}\n" in header and len(first) == 2 * len(points) > 100, f"{name}: {len(points)} points")

    # Nothing but checkpoints: those are drawn. And a frame whose particles are missing is not drawn without them.
    bare = folder / "bare"
    talus("run", folder / "water.lua", "-o", bare, "--quiet", "--no-pictures", "--set", "output.frames=false", "--set", "output.bodies=false",
          "--set", "output.checkpoint_every=2")
    talus("render", bare, "--width", 96, "--height", 54, "--samples", 2)
    check(sorted(p.name for p in (bare / "images").iterdir() if p.suffix == ".png") == ["frame-0000.png", "frame-0002.png", "frame-0003.png", "sheet.png"],
          "pictures of checkpoints")
    check((bare / "images/frame-0003.png").read_bytes() == (folder / "water/images/frame-0003.png").read_bytes(), "the same picture from both")
    talus("export", bare, "--frame", 3, "-o", folder / "bare-ply")
    check((folder / "bare-ply/particles-0003.ply").read_bytes() == (folder / "water-ply/particles-0003.ply").read_bytes(), "the same points from both")
    (folder / "water/frames/particles-0001.vtp").unlink()
    refused(["render", folder / "water", "--frame", 1], "there is no frame 1; the last is 3")
    # ... nor with the bodies alone, which bodies.csv has
    (folder / "wet.lua").write_text(LOOSE["water"].replace("fill =", "bodies = { { shape = sphere { radius = 0.1 }, density = 500, at = {0.9, 0.2, 0.2} } }, fill ="))
    talus("run", folder / "wet.lua", "-o", folder / "wet", "--quiet", "--no-pictures")
    (folder / "wet/frames/particles-0001.vtp").unlink()
    refused(["export", folder / "wet", "--frame", 1], "there is no frame 1; the last is 3")
    refused(["render", folder / "wet", "--frame", 1], "there is no frame 1; the last is 3")

    # Interrupted in the middle of a frame.
    (folder / "long.lua").write_text(LOOSE["water"].replace("duration = 0.12", "duration = 100"))
    process = subprocess.Popen([program, "run", "long.lua", "-o", "long", "--quiet", "--no-pictures"], cwd=folder)
    for _ in range(600):
        time.sleep(0.05)
        if (folder / "long/frames/particles-0002.vtp").exists():
            break
    process.send_signal(signal.SIGINT)
    check(process.wait(timeout=60) == 130, "interrupted")
    talus("render", folder / "long", "--every", 1000, "--width", 64, "--height", 36, "--samples", 1)
    talus("export", "../long", "--frame", 1, "-o", "long", folder=folder / "elsewhere")
    check((folder / "elsewhere/long/particles-0001.ply").is_file(), "export of an interrupted run")

print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
