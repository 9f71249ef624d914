#!/usr/bin/env python3
"""No engine loses more than its verdict says: mass, volume, momentum and particles are reckoned here from frames, bodies.csv and shapes alone,
in scenes that do lose (outflow, thin paddles, bodies that leave), and held against what steps.csv and the verdict tell.

    tests/attack/losses.py PROGRAM
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

# Half of the box is liquid; it runs out at the right.
OUTFLOW = """
return scene { talus = 1, engine = "grid", duration = 0.6, fps = 50, domain = { x_max = "open" },
  grid = { cells = {20, 20, 1}, cell = 0.05, periodic = {false, false, true} },
  fill = { { material = %s, shape = box { size = {0.6, 0.5, 1}, center = {0.3, 0.25, 0} } } },
  bodies = { %s } }
"""
BOX = '{ name = "box", shape = box { size = {0.2, 0.2, 0.05} }, at = {0.8, 0.15, 0.025}, velocity = {4, 0, 0}, density = 700 }'
WATER, SAND = "liquid { density = 1000 }", "granular { density = 1600, friction_angle_deg = 25 }"

# The same with particles; a ball is thrown out of the ceiling.
SPH_OUTFLOW = """
return scene { talus = 1, engine = "sph", duration = 0.4, fps = 50, sph = { spacing = 0.05 },
  domain = { min = {0, 0, 0}, max = {0.6, 0.8, 0.3}, x_max = "open", y_max = "open" },
  fill = { { material = liquid { density = 1000 }, shape = box { size = {0.4, 0.4, 0.3}, center = {0.2, 0.2, 0.15} } } },
  bodies = { { name = "ball", shape = sphere { radius = 0.08 }, at = {0.3, 0.6, 0.15}, velocity = {0, 6, 0}, density = 500 } } }
"""

PADDLE = """
return scene { talus = 1, engine = "%s", duration = 1.0, fps = 50, %s
  fill = { { material = liquid { density = 1000 }, shape = box { size = {1, 0.4, 0.2}, center = {0.5, 0.2, 0.1} } } },
  bodies = { { name = "paddle", kind = "kinematic", shape = box { size = {%s, 0.6, 0.4} },
    motion = function(t) return { at = {0.5 + 0.3 * math.sin(6 * t), 0.35, 0.1} } end } } }
"""
GRID = "grid = { cells = {20, 20, 4}, cell = 0.05 },"
SPH = "sph = { spacing = 0.05 }, domain = { min = {0, 0, 0}, max = {1, 1, 0.2} },"

# From a table, over its edge, out of an open floor; one stays, and a lid that is moved by a script is never lost.
FALL = """
return scene { talus = 1, engine = "%s", duration = 1.2, fps = 25, domain = { min = {-0.5, -1, -0.5}, max = {0.5, 1, 0.5}, y_min = "open", x_max = "open" },%s
  bodies = { { name = "table", kind = "static", shape = box { size = {0.4, 0.1, 0.4} }, at = {-0.1, -0.05, 0}, friction = 0.05 },
    { name = "lid", kind = "kinematic", shape = box { size = 0.1 }, motion = function(t) return { at = {0, 5 - t, 0} } end },
    { name = "falls", shape = box { size = 0.1 }, at = {0, 0.051, 0}, velocity = {1.5, 0, 0}, friction = 0.05, %s },
    { name = "stays", shape = box { size = 0.1 }, at = {-0.2, 0.051, 0}, friction = 0.05, %s } } }
"""
SOFT = "cells = {2, 2, 2}, material = elastic { density = 1000, young = 1e5, poisson = 0.3 }"

wrong = []


def check(condition, text):
    if not condition:
        wrong.append(text)
    return condition


def arrays(path):
    """Arrays of a frame by name."""
    data = path.read_bytes()
    at = data.index(b'<AppendedData encoding="raw">\n_') + len(b'<AppendedData encoding="raw">\n_')
    found = {}
    for word in re.findall(rb"<DataArray [^>]*>", data[:at]):
        name, kind, offset = (re.search(rb'%s="([^"]*)"' % key, word) for key in (b"Name", b"type", b"offset"))
        form = kind and {b"Float64": "d", b"Float32": "f", b"Int32": "i", b"Int64": "q", b"UInt8": "B"}.get(kind.group(1))
        if not (name and form and offset):
            continue
        begin = at + int(offset.group(1))
        size = struct.unpack_from("<Q", data, begin)[0]
        found[name.group(1).decode()] = struct.unpack_from(f"<{size // struct.calcsize(form)}{form}", data, begin + 8)
    return found


class Frame:
    def __init__(self, folder, number):
        path = folder / "frames" / f"particles-{number:04d}.vtp"
        a = arrays(path) if path.exists() else {"points": (), "velocity": (), "id": (), "volume": ()}
        self.id, self.volume = a["id"], a["volume"]
        self.x = [a["points"][3 * i:3 * i + 3] for i in range(len(self.id))]
        self.v = [a["velocity"][3 * i:3 * i + 3] for i in range(len(self.id))]
        path = folder / "frames" / f"nodes-{number:04d}.vtp"
        n = arrays(path) if path.exists() else {"points": ()}
        self.nodes = [n["points"][3 * i:3 * i + 3] for i in range(len(n["points"]) // 3)]
        self.node_body = n.get("body", ())[:len(self.nodes)]

    def momentum(self, density):
        return [density * sum(m * v[k] for m, v in zip(self.volume, self.v)) for k in range(3)]


class Run:
    def __init__(self, program, top, name, text):
        self.name, self.folder = name, pathlib.Path(top, name)
        pathlib.Path(top, name + ".lua").write_text(text)
        done = subprocess.run([program, "run", f"{name}.lua", "-o", name, "--threads", "1", "--no-pictures"], cwd=top, capture_output=True,
                              text=True, timeout=300)
        check(done.returncode == 0, f"{name}: exit status {done.returncode}: {done.stderr[-500:]}")
        self.verdict = json.loads((self.folder / "run.json").read_text())["verdict"]
        with open(self.folder / "steps.csv", newline="") as f:
            self.steps = [{k: v if k.endswith(("_outcome", "_method")) else float(v) for k, v in row.items()} for row in csv.DictReader(f)]
        with open(self.folder / "bodies.csv", newline="") as f:
            self.bodies = list(csv.DictReader(f))
        self.last = max(int(path.stem[-4:]) for path in (self.folder / "frames").glob("*.vtp"))
        self.frames = [Frame(self.folder, k) for k in range(self.last + 1)]

    def column(self, name):
        return [row[name] for row in self.steps]

    def told(self, line):
        return self.verdict[line]["value"]


def outside(x, low, high, reach):
    return any(x[k] + reach < low[k] or x[k] - reach > high[k] for k in range(3))


def particles(run, density, due_volume=False):
    """What frames no longer show is what was counted, and the verdict's share is not less than that of count and of volume."""
    seen = {i: v for f in run.frames for i, v in zip(f.id, f.volume)}
    there = set(run.frames[-1].id)
    gone = {i: v for i, v in seen.items() if i not in there}
    last = run.steps[-1]
    check(last["escaped"] - last["bodies_escaped"] == len(gone), f"{run.name}: {len(gone)} particles are gone, told {last['escaped'] - last['bodies_escaped']}")
    check(last["particles"] == len(there), f"{run.name}: {len(there)} particles in the last frame, told {last['particles']}")
    for what, share in (("particles", len(gone) / len(seen)), ("volume", sum(gone.values()) / sum(seen.values()))):
        check(run.told("escaped") >= share * (1 - 1e-6), f"{run.name}: {100 * share:.3g} % of the {what} is gone, told {100 * run.told('escaped'):.3g} %")
    mass = density * sum(run.frames[-1].volume)
    check(abs(mass - density * last["particle_volume_m3"]) <= 1e-5 * mass, f"{run.name}: {mass} kg in the last frame, told {density * last['particle_volume_m3']}")
    if due_volume:  # of what is there: neither missing nor excused by what left
        error = last["liquid_volume_m3"] / sum(run.frames[-1].volume) - 1
        check(abs(error - last["volume_error"]) <= 1e-5, f"{run.name}: volume_error is {error}, told {last['volume_error']}")
    for before, after in zip(run.frames, run.frames[1:]):
        was = dict(zip(before.id, before.volume))
        for i, v in zip(after.id, after.volume):
            if i in was and not abs(was[i] - v) <= 1e-6 * v:
                check(False, f"{run.name}: particle {i} had {was[i]} m3 and has {v}")
                return len(gone)
    return len(gone)


def momentum(run, density, masses, tolerance=1e-5):
    """Momentum of frames changes by the impulses that are told and by what is told as unexplained; that in turn is not more than the verdict says."""
    def total(k):
        p = run.frames[k].momentum(density)
        for row in run.bodies:
            if int(row["frame"]) == k and row["name"] in masses:
                p = [p[a] + masses[row["name"]] * float(row[f"velocity_{axis}_m_s"]) for a, axis in enumerate("xyz")]
        return p
    begin, end = total(0), total(run.last)
    scale = max(math.sqrt(2 * r["mass_kg"] * r["kinetic_J"]) for r in run.steps) + sum(math.hypot(*(r[f"impulse_gravity_{a}_N_s"] for a in "xyz")) for r in run.steps)
    left = []
    for a, axis in enumerate("xyz"):
        given = sum(r[f"impulse_{s}_{axis}_N_s"] for r in run.steps for s in ("gravity", "forces", "fixed", "matter"))
        left.append(end[a] - begin[a] - given)
    told = run.told("momentum") * scale
    check(math.hypot(*left) <= told * (1 + 1e-6) + tolerance * scale, f"{run.name}: {math.hypot(*left):.4g} kg m/s that nothing explains, told {told:.4g} of {scale:.4g}")


def filled(frame, cell, size):
    """Volume of liquid as a heap of particles shows it: no part of space holds more than itself. Each particle's volume is spread over the cells around it, and a
    cell holds its own volume at most; boxes of two cells, so that single particles that are close do not count."""
    parts, wide = {}, 2 * cell
    for x, v in zip(frame.x, frame.volume):
        at = [x[k] / wide - 0.5 for k in range(3)]
        low = [math.floor(a) for a in at]
        for corner in range(8):
            key, weight = [], 1
            for k in range(3):
                bit = corner >> k & 1
                t = at[k] - low[k]
                weight *= t if bit else 1 - t
                key.append(min(max(low[k] + bit, 0), math.ceil(size[k] / wide) - 1))
            parts[tuple(key)] = parts.get(tuple(key), 0) + weight * v
    room = 1
    for k in range(3):
        room *= min(wide, size[k])
    return sum(min(v, room) for v in parts.values())


def volume(run, cell, size, resolution):
    """Liquid that is packed closer than it can be is lost for the eye: not more than the verdict says, within what the measure resolves."""
    begin = filled(run.frames[0], cell, size) / sum(run.frames[0].volume)
    worst = max(1 - filled(f, cell, size) / sum(f.volume) / begin for f in run.frames if f.id)
    check(worst <= run.told("volume") + resolution, f"{run.name}: {100 * worst:.3g} % of the volume is squeezed away, told {100 * run.told('volume'):.3g} %")
    return worst


def bodies(run, low, high, reach, names):
    """Free bodies outside of the domain are told, scripted and static ones are not."""
    count = sum(int(row["frame"]) == run.last and row["name"] in names and
                outside([float(row[f"{a}_m"]) for a in "xyz"], low, high, reach) for row in run.bodies)
    last = run.steps[-1]
    check(last["bodies_escaped"] == count and last["bodies"] == len(names), f"{run.name}: {count} of {len(names)} bodies are outside, told "
          f"{last['bodies_escaped']:.0f} of {last['bodies']:.0f}")
    check(run.told("escaped") >= count / len(names), f"{run.name}: {count} of {len(names)} bodies are outside, told {run.told('escaped')}")
    return count


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as top:
        for name, what, density, body in (("outflow", WATER, 1000, ""), ("outflow-box", WATER, 1000, BOX), ("sand-outflow", SAND, 1600, BOX)):
            r = Run(program, top, name, OUTFLOW % (what, body))
            gone = particles(r, density, due_volume=True)
            check(gone > (5 if what == SAND else 50), f"{name}: only {gone} particles left, the scene should lose")
            if body:
                check(bodies(r, (0, 0, 0), (1, 1, 0.05), 0.15, {"box"}) == 1, f"{name}: the box should have left")
            else:
                check(abs(r.told("escaped") - gone / len(r.frames[0].id)) < 1e-9, f"{name}: {gone} of {len(r.frames[0].id)} are gone, told {r.told('escaped')}")
            momentum(r, density, {"box": 700 * 0.2 * 0.2 * 0.05})
        r = Run(program, top, "sph-outflow", SPH_OUTFLOW)
        check((gone := particles(r, 1000)) > 50, f"sph-outflow: only {gone} particles left, the scene should lose")
        check(bodies(r, (0, 0, 0), (0.6, 0.8, 0.3), 0.08, {"ball"}) == 1, "sph-outflow: the ball should have left")
        momentum(r, 1000, {"ball": 500 * 4 / 3 * math.pi * 0.08**3})
        for thick in ("0.01", "0.15"):
            for engine, setup in (("grid", GRID), ("sph", SPH)):
                r = Run(program, top, f"paddle-{engine}-{thick}", PADDLE % (engine, setup, thick))
                particles(r, 1000, due_volume=engine == "grid")
                momentum(r, 1000, {})
                volume(r, 0.05, (1, 1, 0.2), 0.03)
        for engine, setup, material in (("grid", "", "density = 1000"), ("sph", " sph = { spacing = 0.025 },", "density = 1000"), ("lg", "", SOFT),
                                        ("grid", "", SOFT)):
            r = Run(program, top, f"fall-{engine}-{'soft' if material == SOFT else 'rigid'}", FALL % (engine, setup, material, material))
            check(bodies(r, (-0.5, -1, -0.5), (0.5, 1, 0.5), 0.0867, {"falls", "stays"}) == 1, f"{r.name}: one body should have left")
    for text in wrong:
        print("wrong:", text)
    print("passed" if not wrong else f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
