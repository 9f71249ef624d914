#!/usr/bin/env python3
"""Frames of a run as VTK's own reader sees them: counts, names and values, against bodies.csv and steps.csv.

    tests/cli/vtk_read.py PROGRAM

Needs python3-vtk9, which Debian installs for its own Python: another one that is found first starts that.
"""
import csv
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

try:
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader
except ImportError:
    if sys.executable == "/usr/bin/python3" or not os.path.exists("/usr/bin/python3"):
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

SCENE = """
return scene { talus = 1, engine = "grid", duration = 0.5, fps = 20, dt_max = 0.01,
  grid = { cells = {8, 8, 8}, cell = 1, origin = {-4, -1, -4} },
  bodies = {
    { name = "ground", kind = "static", shape = plane { height = 0 }, friction = 0.5 },
    { name = "box <1> & co", shape = box { size = {0.4, 0.2, 0.6} }, at = {0, 0.1, 0}, density = 500, friction = 0.5 },
    { name = "box 2", shape = box { size = {0.2, 0.2, 0.2} }, at = {0.05, 0.3, 0.1}, density = 800, friction = 0.5 },
    { name = "ball", shape = sphere { radius = 0.25 }, at = {2, 1, 0.5}, velocity = {1, 2, -1}, spin_rad_per_s = {3, -2, 1}, density = 1000, friction = 0.3 },
    { name = "torus", kind = "kinematic", shape = torus { radius = 0.4, tube = 0.1 },
      motion = function(t) return { at = {-2, 1, 0}, rotation_rad = {0, 2 * t, 0} } end },
  } }
"""
JOINTS = """
return scene { talus = 1, engine = "%s", duration = 0.5, fps = 20, dt_max = 0.01, %s
  bodies = {
    { name = "arm", shape = box { size = {0.6, 0.2, 0.2} }, density = 500, at = {0.3, 0, 0} },
    { name = "load", shape = box { size = {0.2, 0.2, 0.2} }, density = 500, at = {0.6, -0.5, 0}, force = function(t) return {0, -400 * t, 0} end },
  },
  joints = {
    { name = "pin, <1>", kind = "hinge", a = "arm", at = {0, 0, 0}, axis = {0, 0, 1}, motor = { position = 0 } },
    { name = "rope", kind = "rope", a = "load", b = "arm", at_a = {0, 0, 0}, at_b = {0.3, 0, 0}, breaks_at = 137.24 },
  } }
"""
SPEED_SLACK = 1e-5  # velocities are floats, here of a few m/s

wrong = []


def check(condition, text):
    if not condition:
        wrong.append(text)
    return condition


def read(path):
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    check(reader.GetErrorCode() == 0, f"{path}: VTK's error code {reader.GetErrorCode()}")
    return reader.GetOutput()


def field(data, name):
    a = data.GetFieldData().GetAbstractArray(name)
    return [a.GetVariantValue(i).ToString() for i in range(a.GetNumberOfValues())] if a else None


def array(data, name):
    a = data.GetArray(name)
    return [a.GetTuple(i) for i in range(a.GetNumberOfTuples())] if a else None


def norm(v):
    return math.sqrt(sum(x * x for x in v))


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def turned_back(q, v):
    """The rotation q = (w, x, y, z) undone."""
    w, r = q[0], [-c for c in q[1:]]
    t = [2 * c for c in cross(r, v)]
    return [a + w * b + c for a, b, c in zip(v, t, cross(r, t))]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def on_surface(body, p):
    """How far a point of the body's frame is from its surface, m."""
    if body in (1, 2):
        half = ((0.2, 0.1, 0.3), (0.1, 0.1, 0.1))[body - 1]
        return abs(max(abs(c) - h for c, h in zip(p, half)))
    if body == 3:
        return abs(norm(p) - 0.25)
    return abs(math.hypot(math.hypot(p[0], p[2]) - 0.4, p[1]) - 0.1)


def check_bodies(path, frame, rows):
    d = read(path)
    names = [row["name"] for row in rows]
    check(field(d, "names") == names, f"{path}: names {field(d, 'names')}")
    check(abs(float(field(d, "TimeValue")[0]) - frame / 20) < 1e-12, f"{path}: time")
    body = [int(b[0]) for b in array(d.GetCellData(), "body")]
    velocity = array(d.GetPointData(), "velocity")
    check(d.GetNumberOfPolys() == d.GetNumberOfCells() == len(body), f"{path}: cells")
    check([body.count(1), body.count(2), body.count(3)] == [12, 12, 1280] and body.count(4) > 500 and set(body) == {1, 2, 3, 4},
          f"{path}: triangles of bodies {[body.count(k) for k in range(5)]}")
    for cell in range(0, len(body), 7):
        k = body[cell]
        row = rows[k]
        at = [float(row[c]) for c in ("x_m", "y_m", "z_m")]
        q = [float(row["rotation_" + c]) for c in "wxyz"]
        v = [float(row[f"velocity_{c}_m_s"]) for c in "xyz"]
        w = [float(row[f"spin_{c}_rad_s"]) for c in "xyz"]
        ids = d.GetCell(cell).GetPointIds()
        for i in range(3):
            p = d.GetPoint(ids.GetId(i))
            arm = minus(p, at)
            off = on_surface(k, turned_back(q, arm))
            check(off < 1e-6, f"{path}: a corner of body {k} is {off} m off its surface")
            expected = [a + b for a, b in zip(v, cross(w, arm))]  # frames of these shapes are at their centres of mass
            check(norm(minus(velocity[ids.GetId(i)], expected)) < SPEED_SLACK, f"{path}: velocity of body {k}")


def check_contacts(path, rows, expected):
    d = read(path)
    count = d.GetNumberOfPoints()
    check(count == expected, f"{path}: {count} contacts, steps.csv says {expected}")
    check(d.GetNumberOfVerts() == (1 if count else 0), f"{path}: cells")
    normal, force, gap, pair = (array(d.GetPointData(), n) for n in ("normal", "force", "gap", "bodies"))
    if not check(None not in (normal, force, gap, pair), f"{path}: arrays"):
        return
    total = {k: [0.0] * 3 for k in range(len(rows))}
    for i in range(count):
        check(abs(norm(normal[i]) - 1) < 1e-9 and abs(gap[i][0]) < 0.1 and 0 <= pair[i][0] < pair[i][1], f"{path}: point {i}")
        for k, sign in ((int(pair[i][0]), 1), (int(pair[i][1]), -1)):
            if k in total:
                total[k] = [a + sign * b for a, b in zip(total[k], force[i])]
    for k, row in enumerate(rows):
        f = [float(row[f"contact_force_{c}_N"]) for c in "xyz"]
        check(norm(minus(f, total[k])) <= 1e-9 * max(1, norm(f)), f"{path}: forces on {row['name']} add up to {total[k]}, bodies.csv says {f}")


def check_joints(path, rows):
    d = read(path)
    if not check(d.GetNumberOfPoints() == len(rows) == 2, f"{path}: {d.GetNumberOfPoints()} joints"):
        return
    check(field(d, "names") == [row["name"] for row in rows], f"{path}: names {field(d, 'names')}")
    data = d.GetPointData()
    check([v[0] for v in array(data, "kind")] == [2, 8], f"{path}: kinds")
    check([tuple(v) for v in array(data, "bodies")] == [(0, -1), (1, 0)], f"{path}: bodies")
    for i, row in enumerate(rows):
        expected = {"force": [f"force_{c}_N" for c in "xyz"], "torque": [f"torque_{c}_N_m" for c in "xyz"],
                    "coordinate": ["coordinate"], "speed": ["speed"], "motor": ["motor"], "broken": ["broken"]}
        for name, columns in expected.items():
            check(list(array(data, name)[i]) == [float(row[c]) for c in columns], f"{path}: {name} of joint {i}")
        check(list(d.GetPoint(i)) == [float(row[f"{c}_m"]) for c in "xyz"], f"{path}: place of joint {i}")


def run_joints(program, name, engine, keys):
    """The load of 4 kg pulls by 39.24 N and 400 N per second: the rope breaks at 0.25 s, in the sixth frame."""
    folder = pathlib.Path(name) / engine
    (pathlib.Path(name) / "joints.lua").write_text(JOINTS % (engine, keys))
    subprocess.run([program, "run", "joints.lua", "-o", folder, "--quiet", "--no-pictures"], cwd=name, check=True, timeout=60,
                   stdout=subprocess.DEVNULL)
    with open(folder / "joints.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    entries = [e for e in xml.parse(folder / "run.pvd").iter("DataSet") if e.get("name") == "joints"]
    check(len(entries) == 11, f"{engine}: {len(entries)} files of joints, expected 11")
    for e in entries:
        frame = round(float(e.get("timestep")) * 20)
        check_joints(folder / e.get("file"), [row for row in rows if int(row["frame"]) == frame])
    broken = [int(row["broken"]) for row in rows if row["name"] == "rope"]
    check(broken == [0] * 6 + [1] * 5, f"{engine}: the rope is broken in frames {broken}")
    motor = float([row for row in rows if row["name"] == "pin, <1>"][3]["motor"])
    force = 39.24 + 400 * 0.14
    expected = 12 * 9.81 * 0.3 + 0.6 * force
    check(abs(motor - expected) < 1e-3 * expected, f"{engine}: the motor holds by {motor} N m, expected {expected}")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "run"
        (pathlib.Path(name) / "scene.lua").write_text(SCENE)
        subprocess.run([program, "run", "scene.lua", "-o", folder, "--quiet", "--no-pictures"], cwd=name, check=True, timeout=60,
                       stdout=subprocess.DEVNULL)
        with open(folder / "bodies.csv", newline="") as f:
            bodies = list(csv.DictReader(f))
        with open(folder / "steps.csv", newline="") as f:
            contacts = {round(float(row["t_s"]) * 20, 9): int(row["contacts"]) for row in csv.DictReader(f)}
        entries = list(xml.parse(folder / "run.pvd").iter("DataSet"))
        check(len(entries) == 22, f"run.pvd: {len(entries)} files, expected 2 x 11")
        for e in entries:
            frame = round(float(e.get("timestep")) * 20)
            rows = [row for row in bodies if int(row["frame"]) == frame]
            if e.get("name") == "bodies":
                check_bodies(folder / e.get("file"), frame, rows)
            else:
                check_contacts(folder / e.get("file"), rows, contacts.get(frame, 0))
        run_joints(program, name, "grid", "grid = { cells = {8, 8, 8}, cell = 1, origin = {-4, -4, -4} },")
        run_joints(program, name, "sph", "sph = { spacing = 0.1 },")
        weight = 0.4 * 0.2 * 0.6 * 500 * 9.81 + 0.2**3 * 800 * 9.81
        down = float([row for row in bodies if row["name"] == "ground"][-1]["contact_force_y_N"])
        check(abs(down + weight) < 1e-3 * weight, f"the ground carries {-down} N, expected {weight}")
    for text in wrong[:20]:
        print(text)
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
