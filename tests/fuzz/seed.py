#!/usr/bin/env python3
"""First inputs for the fuzz targets that read what talus writes: checkpoints, captured problems, run.json and bodies.csv of small runs.

    tests/fuzz/seed.py PROGRAM FOLDER      fills FOLDER/checkpoint, capture, run_json and tables
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

# The scene of tests/fuzz/checkpoint.c, so that its checkpoints belong to it; and a step that can be captured.
BODIES = ("return scene { talus = 1, engine = 'grid', duration = 1, bodies = { { kind = 'static', shape = plane { height = 0 } },"
          " { shape = box { size = 0.2 }, at = {0, 0.1, 0}, density = 500 } } }")
WATER = ("return scene { talus = 1, engine = 'grid', duration = 1, grid = { cells = {3, 3, 3}, cell = 0.1 },"
         " fill = { { material = %s, shape = box { size = 0.2, center = {0.1, 0.1, 0.1} } } },"
         " bodies = { { name = 'a \"box\", =red', shape = box { size = 0.05 }, at = {0.25, 0.03, 0.2}, density = 500 } } }")
PARTICLES = ("return scene { talus = 1, engine = 'sph', duration = 1, fps = 100, sph = { spacing = 0.05 }, domain = { min = {0, 0, 0}, max = {0.2, 1, 0.2} },"
             " fill = { { material = preset 'water', shape = box { size = {0.2, 0.1, 0.2}, center = {0.1, 0.05, 0.1} } } } }")
SOFT = ("return scene { talus = 1, engine = 'grid', duration = 1, bodies = { { kind = 'static', shape = plane { height = 0 } },"
        " { shape = box { size = 0.2 }, at = {0, 0.1, 0}, cells = {1, 1, 1}, material = elastic { density = 1000, young = 1e4, poisson = 0.3 } } } }")
SCENES = {"particles": PARTICLES, "soft": SOFT, "bodies": BODIES, "water": WATER % "liquid { density = 1000 }", "sand": WATER % "granular { density = 1600, friction_angle_deg = 30 }"}

program, folder = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
for name in ("checkpoint", "capture", "run_json", "tables"):
    (folder / name).mkdir(parents=True, exist_ok=True)
with tempfile.TemporaryDirectory() as top:
    for name, text in SCENES.items():
        run = pathlib.Path(top, name)
        pathlib.Path(top, f"{name}.lua").write_text(text)
        words = ["--capture", ",".join(f"{kind}@2" for kind in ("step", "pressure", "stress", "contact", "fixedpoint", "rounds"))]
        subprocess.run([program, "run", f"{name}.lua", "-o", name, "--frames", "2", "--quiet", "--no-pictures", "--threads", "1", *words], cwd=top, check=True,
                       stdout=subprocess.DEVNULL)
        shutil.copy(run / "checkpoint.h5", folder / "checkpoint" / name)
        shutil.copy(run / "run.json", folder / "run_json" / name)
        shutil.copy(run / "bodies.csv", folder / "tables" / name)
        for file in run.glob("*-2*.h5"):
            shutil.copy(file, folder / "capture" / f"{name}-{file.stem}")
