#!/usr/bin/env python3
"""The verdict of a run against an independent reckoning: from steps.csv by other code than talus', and from frames and bodies.csv by
mechanics. One scene of each kind; scenes that are made bad on purpose; limits of the scene; a run that is cut and resumed.

    tests/cli/verdict.py PROGRAM
"""
import csv
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

G = 9.81
END = "render = { width = 64, height = 36, samples = 1 } }\n"

PILE = """
local bodies = { { name = "ground", kind = "static", shape = plane { height = 0 }, friction = 0.5 },
  { name = "paddle", kind = "kinematic", shape = box { size = {0.1, 0.4, 1.0} },
    motion = function(t) return { at = {-0.6 + 0.5 * t, 0.2, 0}, rotation_rad = {0, 0.3 * t, 0} } end } }
for i = 1, 6 do bodies[#bodies + 1] = { name = "box " .. i, shape = box { size = 0.2 }, density = 500, friction = 0.5,
    at = {0.02 * i, 0.11 + 0.24 * (i - 1), 0.01 * (i %% 3)}, rotation_deg = {0, 5 * i, 0} } end
return scene { talus = 1, engine = "grid", duration = 0.4, fps = 50, dt_max = 0.005, bodies = bodies, %s """ + END

LIQUID = """
return scene { talus = 1, engine = "grid", duration = 0.4, fps = 50,
  grid = { cells = {24, 24, 1}, cell = 1/24, periodic = {false, false, true} },
  fill = { { material = liquid { density = 1000 }, shape = box { size = {0.4, 0.6, 1}, center = {0.2, 0.3, 0} } } },
  bodies = { { name = "box", shape = box { size = {0.2, 0.2, 1/24} }, at = {0.7, 0.12, 0.5/24}, density = 500 },
    { name = "paddle", kind = "kinematic", shape = box { size = {%s, 0.5, 1/24} },
      motion = function(t) return { at = {0.9 - 0.2 * t, 0.4, 0.5/24} } end } }, """ + END

SAND = """
return scene { talus = 1, engine = "grid", duration = 0.2, fps = 50,
  grid = { cells = {24, 16, 1}, cell = 1/24, periodic = {false, false, true} },
  fill = { { material = granular { density = 1600, friction_angle_deg = 30 },
    shape = box { size = {0.3, 0.4, 1}, center = {0.5, 0.2, 0} } } }, """ + END

SPH_STACK = """
local bodies = { { name = "ground", kind = "static", shape = box { size = {1, 0.1, 1} }, at = {0, -0.05, 0}, friction = 0.5 } }
for i = 1, 3 do bodies[#bodies + 1] = { name = "box " .. i, shape = box { size = 0.2 }, at = {0.01 * i, 0.11 + 0.22 * (i - 1), 0},
  density = 800, friction = 0.5 } end
return scene { talus = 1, engine = "sph", duration = 0.2, fps = 50, dt_max = 0.002, sph = { spacing = 0.04 }, bodies = bodies, """ + END

SPH_LIQUID = """
return scene { talus = 1, engine = "sph", duration = 0.2, fps = 50, dt_max = 0.002, sph = { spacing = 0.05 },
  domain = { min = {0, 0, 0}, max = {0.6, 0.8, 0.4} },
  fill = { { material = liquid { density = 1000 }, shape = box { size = {0.3, 0.4, 0.4}, center = {0.15, 0.2, 0.2} } } }, """ + END

ELASTIC = """
return scene { talus = 1, engine = "lg", duration = 0.3, fps = 50, dt_max = %s, lg = { iterations = %d },
  bodies = { { name = "floor", kind = "static", shape = plane { height = 0 }, friction = 0.5 },
    { name = "cube", shape = box { size = 0.2 }, at = {0, %s, 0}, velocity = {0.5, 0, 0}, cells = {3, 3, 3},
      material = elastic { density = 1000, young = %s, poisson = 0.4, model = "neo_hookean" } } }, """ + END

THIN = """
return scene { talus = 1, engine = "grid", duration = 0.6, fps = 50, accept = { volume = 0.01 },
  grid = { cells = {24, 24, 1}, cell = 1/24, periodic = {false, false, true} },
  fill = { { material = liquid { density = 1000 }, shape = box { size = {1, 0.4, 1}, center = {0.5, 0.2, 0} } } },
  bodies = { { name = "piston", kind = "kinematic", shape = box { size = {0.004, 2, 0.2} },
    motion = function(t) return { at = {0.05 + 1.2 * t, 0.5, 0.5/24} } end } }, """ + END

wrong = []


def check(condition, text):
    if not condition:
        wrong.append(text)
    return condition


def near(a, b, tolerance, text):
    check(abs(a - b) <= tolerance * max(1e-12, abs(a), abs(b)), f"{text}: {a!r} and {b!r}")


class Talus:
    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)

    def call(self, *words, status=0):
        done = subprocess.run([self.program, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=120)
        check(done.returncode == status, f"talus {' '.join(map(str, words))}: exit status {done.returncode}, expected {status}\n"
              f"{done.stdout}{done.stderr}")
        return done

    def run(self, name, text, *more, status=0):
        (self.folder / f"{name}.lua").write_text(text)
        self.done = self.call("run", f"{name}.lua", "-o", name, "--threads", 1, "--no-pictures", *more, status=status)
        return json.loads((self.folder / name / "run.json").read_text()).get("verdict")

    def steps(self, name):
        with open(self.folder / name / "steps.csv", newline="") as f:
            rows = list(csv.DictReader(f))
        return [{k: v if k.endswith(("_outcome", "_method")) else float(v) for k, v in row.items()} for row in rows]


def length(row, name, unit):
    return math.sqrt(sum(row[f"{name}_{a}_{unit}"] ** 2 for a in "xyz"))


def zero(x):
    return x if math.isfinite(x) else 0


# ---- the same six values by other code ----

def reckon(rows):
    n, out = len(rows), {}
    solves = [k[:-8] for k in rows[0] if k.endswith("_outcome")]
    shares = [0]
    for s in solves:
        if any(r[s + "_outcome"] == "budget spent" for r in rows):
            speed = lambda r: r["fastest_m_s"] + length(r, "impulse_gravity", "N_s") / r["mass_kg"]
            shares.append(sum((r[s + "_certificate"] / (1 if s == "elastic" else speed(r))) for r in rows
                              if r[s + "_outcome"] == "budget spent") / n)
        else:
            shares.append(sum(r[s + "_outcome"] not in ("converged", "") for r in rows) / n)
    out["solves"] = max(shares)

    def largest_sum(name, unit):
        total, most = [0, 0, 0], 0
        for r in rows:
            total = [t + zero(r[f"{name}_{a}_{unit}"]) for t, a in zip(total, "xyz")]
            most = max(most, math.hypot(*total))
        return most

    moving = [math.sqrt(2 * r["mass_kg"] * r["kinetic_J"]) for r in rows]
    gravity = [length(r, "impulse_gravity", "N_s") for r in rows]
    p = largest_sum("momentum_unexplained", "kg_m_s") / (max(moving) + sum(gravity) +
                                                         sum(length(r, "impulse_forces", "N_s") for r in rows))
    turning = max(length(r, "angular_momentum", "kg_m2_s") + m * r["gyration_m"] for r, m in zip(rows, moving))
    L = largest_sum("angular_unexplained", "kg_m2_s") / (
        turning + sum(length(r, "angular_impulse", "N_m_s") + r["gyration_m"] * g for r, g in zip(rows, gravity)))
    out["momentum"] = max(p, L)

    so_far, low, rise, work, fall = 0, 0, 0, 0, 0
    for r, g in zip(rows, gravity):
        so_far += r["energy_unexplained_J"] + zero(r["energy_corrections_J"])
        rise, low = max(rise, so_far - low), min(low, so_far)
        fall = max(fall, 0.5 * g * g / r["mass_kg"])
        work += min(abs(zero(r["energy_forces_J"])) + abs(zero(r["energy_scripted_J"])),
                    r["kinetic_J"] + abs(zero(r["elastic_J"])) + fall)
    potential = [r["potential_J"] for r in rows]
    scale = max(r["kinetic_J"] + abs(zero(r["elastic_J"])) for r in rows) + max(potential) - min(potential) + work + fall
    out["energy"] = rise / scale
    out["volume"] = max([max(abs(r["volume_error"]), zero(r["compression"])) for r in rows if r["particles"] > 0], default=0)
    out["penetration"] = max([r["penetration_m"] / r["smallest_extent_m"] for r in rows if r["smallest_extent_m"] > 0], default=0)
    particles, bodies = max(r["particles"] for r in rows), max(r["bodies"] for r in rows)
    escaped, outside = max(r["escaped"] - r["bodies_escaped"] for r in rows), max(r["bodies_escaped"] for r in rows)
    out["escaped"] = max(escaped / max(escaped, particles, 1), outside / max(bodies, 1))
    return out


# ---- totals from what a frame shows ----

def vtk_arrays(path):
    data = path.read_bytes()
    at = data.index(b'<AppendedData encoding="raw">\n_') + len(b'<AppendedData encoding="raw">\n_')
    found = {}
    for word in re.findall(rb"<DataArray [^>]*>", data[:at]):
        name = re.search(rb'Name="([^"]*)"', word)
        kind, offset = re.search(rb'type="([^"]*)"', word), re.search(rb'offset="(\d+)"', word)
        form = {b"Float64": "d", b"Float32": "f", b"Int32": "i"}.get(kind.group(1))
        if not name or not form or not offset:
            continue
        begin = at + int(offset.group(1))
        size = struct.unpack_from("<Q", data, begin)[0]
        found[name.group(1).decode()] = struct.unpack_from(f"<{size // struct.calcsize(form)}{form}", data, begin + 8)
    return found


def frame_totals(folder, frame, density, body_mass, elastic_mass):
    """Momentum and potential energy (gravity along -y) of particles, boxes and elastic nodes."""
    p, potential = [0, 0, 0], 0
    for group, mass in (("particles", density), ("nodes", elastic_mass)):
        path = folder / "frames" / f"{group}-{frame:04d}.vtp"
        if not path.exists() or not mass:
            continue
        a = vtk_arrays(path)
        count = len(a["points"]) // 3
        each = [mass * v for v in a["volume"]] if group == "particles" else [mass(count)] * count
        for i in range(count):
            for k in range(3):
                p[k] += each[i] * a["velocity"][3 * i + k]
            potential += each[i] * G * a["points"][3 * i + 1]
    with open(folder / "bodies.csv", newline="") as f:
        for r in csv.DictReader(f):
            if int(r["frame"]) != frame or not r["name"].startswith("box"):
                continue
            for k, axis in enumerate("xyz"):
                p[k] += body_mass * float(r[f"velocity_{axis}_m_s"])
            potential += body_mass * G * float(r["y_m"])
    return p, potential


def lattice_potential(folder, mass, cells):
    """Of a cube of elastic cells, each with an eighth of its mass at each corner; places at rest are those of the first frame."""
    frames = sorted((folder / "frames").glob("nodes-*.vtp"))
    rest, now = vtk_arrays(frames[0])["points"], vtk_arrays(frames[-1])["points"]
    ends = [(min(rest[k::3]), max(rest[k::3])) for k in range(3)]
    potential = 0
    for i in range(len(rest) // 3):
        share = mass / (8 * cells**3)
        for k, (low, high) in enumerate(ends):
            share *= 1 if min(rest[3 * i + k] - low, high - rest[3 * i + k]) < 1e-6 else 2
        potential += share * G * now[3 * i + 1]
    return potential


def compare_frame(t, name, density=None, body_mass=0, elastic_mass=None, tolerance=1e-6):
    rows = t.steps(name)
    if density or body_mass or elastic_mass:
        compare_last_frame(t, name, rows, density, body_mass, elastic_mass, tolerance)
    compare_accounts(name, rows)


def compare_last_frame(t, name, rows, density, body_mass, elastic_mass, tolerance):
    frame = max(int(p.stem[-4:]) for p in (t.folder / name / "frames").glob("bodies-*.vtp"))
    p, potential = frame_totals(t.folder / name, frame, density, body_mass, elastic_mass)
    size = math.sqrt(2 * rows[-1]["mass_kg"] * rows[-1]["kinetic_J"])
    for k, axis in enumerate("xyz"):
        check(abs(p[k] - rows[-1][f"momentum_{axis}_kg_m_s"]) <= tolerance * size + 1e-9,
              f"{name}: momentum {axis} of the last frame {p[k]}, of the last step {rows[-1][f'momentum_{axis}_kg_m_s']}")
    near(potential, rows[-1]["potential_J"], tolerance, f"{name}: potential energy of the last frame and step")


def compare_accounts(name, rows):
    """What the whole run gave: all impulses together, and all energies, are the change since the first step."""
    size = math.sqrt(2 * rows[-1]["mass_kg"] * rows[-1]["kinetic_J"])
    for axis in "xyz":
        given = sum(r[f"impulse_{s}_{axis}_N_s"] for r in rows[1:] for s in ("gravity", "forces", "fixed", "matter"))
        left = sum(r[f"momentum_unexplained_{axis}_kg_m_s"] for r in rows[1:])
        change = rows[-1][f"momentum_{axis}_kg_m_s"] - rows[0][f"momentum_{axis}_kg_m_s"]
        check(abs(change - given - left) <= 1e-9 * (size + sum(length(r, "impulse_gravity", "N_s") for r in rows)),
              f"{name}: momentum {axis} changed by {change}, given {given}, unexplained {left}")
    sources = [k for k in rows[0] if re.match("energy_.*_J$", k) and k != "energy_gravity_J"]
    energy = lambda r: r["kinetic_J"] + r["potential_J"] + r["elastic_J"]
    given = sum(zero(r[k]) for r in rows[1:] for k in sources)
    check(abs(energy(rows[-1]) - energy(rows[0]) - given) <= 1e-9 * max(map(energy, rows)) + 1e-9,
          f"{name}: energy changed by {energy(rows[-1]) - energy(rows[0])}, accounts have {given}")


def compare_verdict(t, name, verdict, momentum=None):
    rows = t.steps(name)
    for line, value in reckon(rows).items():
        near(verdict[line]["value"], value, 1e-9, f"{name}: {line} of the verdict and reckoned anew")
    check(verdict["steps"] == len(rows), f"{name}: steps of the verdict")
    said = t.call("report", name, "--text").stdout
    for line in ("solves", "momentum", "energy", "volume", "penetration", "escaped"):
        text = verdict[line]["text"]
        check(re.search(rf"^{line} +{re.escape(text)}$", t.done.stdout, re.M), f"{name}: {line} is not what the run printed")
        check(re.search(rf"^{line} +{re.escape(text)}$", said, re.M), f"{name}: {line} is not what the report prints")
        check(verdict[line]["good"] == (verdict[line]["value"] <= verdict[line]["limit"]), f"{name}: {line} is judged wrongly")
        check(("remedy" in verdict[line]) == (not verdict[line]["good"]), f"{name}: {line} and its remedy")
    if momentum is not None:
        check(verdict["momentum"]["value"] <= momentum, f"{name}: momentum {verdict['momentum']['value']}")


# ---- cases ----

def kinds(t):
    v = t.run("pile", PILE % "")
    compare_verdict(t, "pile", v, 0.02)
    compare_frame(t, "pile", body_mass=500 * 0.2**3, tolerance=1e-9)
    v = t.run("liquid", LIQUID % "0.1")
    compare_verdict(t, "liquid", v)
    compare_frame(t, "liquid", density=1000, body_mass=500 * 0.04 / 24)
    v = t.run("sand", SAND)
    compare_verdict(t, "sand", v)
    compare_frame(t, "sand", density=1600)
    v = t.run("sph-stack", SPH_STACK)
    compare_verdict(t, "sph-stack", v, 1e-9)
    compare_frame(t, "sph-stack", body_mass=800 * 0.2**3, tolerance=1e-9)
    v = t.run("sph-liquid", SPH_LIQUID)
    compare_verdict(t, "sph-liquid", v, 0.01)
    compare_frame(t, "sph-liquid", density=1000)
    v = t.run("elastic", ELASTIC % ("0.005", 10, "0.12", "1e5"))
    compare_verdict(t, "elastic", v, 0.02)
    rows = t.steps("elastic")
    near(rows[-1]["mass_kg"], 1000 * 0.2**3, 1e-9, "elastic: mass")
    # velocities are not compared: the momentum that steps of second order keep is that of two steps
    near(lattice_potential(t.folder / "elastic", 1000 * 0.2**3, 3), rows[-1]["potential_J"], 1e-9,
         "elastic: potential energy of the last frame and step")


def bad(t, name, text, line, words, *more):
    v = t.run(name, text, *more)
    if not check(v and not v[line]["good"] and not v["good"], f"{name}: {line} should be bad: {v and v[line]}"):
        return
    check(words in v[line]["remedy"], f"{name}: the remedy of {line} is {v[line]['remedy']!r}, expected {words!r} in it")
    last = t.done.stderr.strip().splitlines()[-1]
    check("warning: do not trust this answer" in last and line in last, f"{name}: the last line is {last!r}")


def made_bad(t):
    hasty = 'solver = { contact = { method = "pgs", iterations = 2 } },'
    bad(t, "hasty", PILE % hasty, "solves", "solver.contact.iterations")
    bad(t, "few-rounds", ELASTIC % ("0.02", 2, "0.12", "1e7"), "solves", "lg.iterations", "--set", "lg.corrections=0")
    huge = (LIQUID % "0.09").replace("fps = 50", "fps = 5").replace("duration = 0.4", "duration = 2").replace("24, 24, 1", "8, 8, 1").replace("1/24", "1/8")
    bad(t, "huge-steps", huge, "volume", "shorter steps", "--set", "grid.cfl=20")
    bad(t, "huge-steps-2", huge, "energy", "shorter steps", "--set", "grid.cfl=20")
    v = t.run("thin-walls", THIN, status=1)
    check(v["refused"] and "at least two cells thick" in v["volume"].get("remedy", ""), f"thin walls: {v['volume']}")
    # a body that starts inside of another is pushed out with energy that nothing explains
    bad(t, "inside", ELASTIC % ("0.001", 5, "0.06", "1e6"), "energy", "shorter steps")


def limits(t):
    t.run("accepted", PILE % "accept = { missed = 1, penetration = 1, momentum = 1, energy = 1 },")
    v = t.run("refused", PILE % "accept = { penetration = 1e-12 },", status=1)
    check(v["refused"] and not v["penetration"]["good"], "refused: the verdict does not say so")
    check("worse than the scene accepts: " in t.done.stderr.strip().splitlines()[-1], t.done.stderr)
    t.call("report", "refused", status=1)


def resumed(t):
    whole = t.run("whole", PILE % "")
    t.run("parts", PILE % "", "--frames", "7")
    parts = t.run("parts", PILE % "", "--resume")
    check(whole == parts, "the verdict of a run that was resumed differs")


def main():
    with tempfile.TemporaryDirectory() as folder:
        t = Talus(str(pathlib.Path(sys.argv[1]).resolve()), folder)
        for case in (kinds, made_bad, limits, resumed):
            case(t)
    for text in wrong:
        print("wrong:", text)
    print("passed" if not wrong else f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
