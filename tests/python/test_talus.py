"""The Python package against the library: what it reads, sets and refuses.    test_talus.py MODULE_FOLDER CC INCLUDE"""

import ctypes
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

module_folder, compiler, include = sys.argv[1:4]
sys.path.insert(0, module_folder)

import numpy as np  # noqa: E402

import talus  # noqa: E402
from talus import lua  # noqa: E402
from talus._library import ABI, STRUCTURES  # noqa: E402

SCENE = """
local p = params { speed = 1.5 }
return scene { talus = 1, engine = "grid", duration = 1, dt_max = 0.01, gravity = {0, -10, 0}, bodies = {
  { name = "ground", shape = plane {}, kind = "static" },
  { name = "ball", shape = sphere { radius = 0.1 }, mass = 2, at = {0, 5, 0}, velocity = {p.speed, 0, 0} },
  { name = "hand", shape = sphere { radius = 0.1 }, kind = "kinematic", at = {10, 1, 0} },
} }
"""


class Structures(unittest.TestCase):
    def test_sizes_are_those_of_the_headers(self):
        lines = ["#include <stdio.h>", "#include <talus/program.h>", "#include <talus/run.h>", "int main(void) {"]
        for name, structure in STRUCTURES.items():
            last = structure._fields_[-1][0]
            lines.append(f'printf("{name} %zu %zu\\n", sizeof({name}), offsetof({name}, {last}));')
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder, "sizes.c"), Path(folder, "sizes")
            lines.append(f'_Static_assert(TALUS_ABI == {ABI}, "the package is of another binary interface");')
            source.write_text("\n".join(["#include <stddef.h>", *lines, "return 0; }"]))
            subprocess.run([compiler, "-std=c11", "-I", include, source, "-o", program], check=True)
            told = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        for line in told.splitlines():
            name, size, offset = line.split()
            structure = STRUCTURES[name]
            last = structure._fields_[-1][0]
            self.assertEqual((name, int(size)), (name, ctypes.sizeof(structure)))
            self.assertEqual((name, int(offset)), (name, getattr(structure, last).offset))


class Scenes(unittest.TestCase):
    def test_text_and_settings(self):
        scene = talus.Scene(SCENE, settings={"speed": 2.5, "gravity": [0, -1, 0]})
        self.assertEqual(scene.bodies, ["ground", "ball", "hand"])
        self.assertEqual((scene.engine, scene.duration, scene.fps), ("grid", 1, 50))
        sim = talus.Sim(scene)
        self.assertEqual(sim.view("bodies.velocity")[1, 0], 2.5)
        sim.advance(0.5)
        self.assertAlmostEqual(sim.view("bodies.velocity")[1, 1], -0.5, places=12)

    def test_a_text_of_one_line(self):
        self.assertEqual(talus.Scene("return scene { talus = 1, engine = 'grid', duration = 1, bodies = { { name = 'a', "
                                     "shape = sphere { radius = 1 }, density = 1 } } }").bodies, ["a"])

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "scene.lua")
            path.write_text(SCENE)
            self.assertEqual(len(talus.Scene(path).bodies), 3)
            with self.assertRaises(talus.Error):
                talus.Scene(Path(folder, "none.lua"))

    def test_rolling_friction_slows_a_ball_down(self):
        text = """return scene { talus = 1, engine = "grid", duration = 2, gravity = {0, -10, 0}, bodies = {
          { kind = "static", shape = plane {} },
          { shape = sphere { radius = 0.1 }, at = {0, 0.1, 0}, mass = 1, velocity = {1, 0, 0}, spin_rad_per_s = {0, 0, -10} } } }
        """
        for mu in (0, 2e-3):
            sim = talus.Sim(talus.Scene(text, settings={"bodies[2].rolling_friction": mu,
                                                        "bodies[2].spinning_friction": 0.5 * mu}))
            sim.advance(1)
            self.assertAlmostEqual(sim.view("bodies.velocity")[1, 0], 1 - 10 * mu / 0.1 / 1.4, places=4)

    def test_every_problem_is_told(self):
        with self.assertRaises(talus.Error) as told:
            talus.Scene(SCENE.replace("mass = 2", "mass = -2").replace("duration = 1", "duration = 0"))
        self.assertEqual(told.exception.status, "bad input")
        self.assertIn("bodies[2].mass must be > 0", str(told.exception))
        self.assertIn("duration must be from 1e-09 to 1000000 s, got 0", str(told.exception))
        self.assertEqual((told.exception.file, told.exception.line), ("scene", 3))
        self.assertEqual([p.line for p in told.exception.problems], [3, 5])

    def test_dicts_and_dataclasses(self):
        stone = lua.solid(name="stone \"A\"\n", density=2000)

        @dataclasses.dataclass
        class Ball:
            name: str
            at: tuple
            shape: object = dataclasses.field(default_factory=lambda: lua.sphere(radius=0.1))
            material: object = stone
            mass: object = None

        @dataclasses.dataclass
        class World:
            bodies: list
            engine: str = "grid"
            duration: float = 1
            gravity: np.ndarray = dataclasses.field(default_factory=lambda: np.array([0, -1.0, 0]))

        balls = [Ball("a", (0, 5, 0)), Ball("b", (1, 5, 0))]
        for source in (World(balls), dataclasses.asdict(World([{"name": b.name, "at": b.at, "shape": b.shape, "material":
                                                                b.material} for b in balls]))):
            scene = talus.Scene(source)
            self.assertEqual(scene.text.count("solid {"), 1)  # one material, though two bodies have it
            with talus.Sim(scene) as sim:
                sim.advance(0.5)
                self.assertAlmostEqual(sim.view("bodies.velocity")[1, 1], -0.5, places=12)
                mass = sim.view("bodies.mass")
            self.assertAlmostEqual(mass[0], 2000 * 4 / 3 * np.pi * 1e-3, delta=1e-2 * mass[0])
        self.assertEqual(lua.write(lua.capsule(from_=[0, 0, 0], to=[0, 1, 0], radius=0.1)),
                         "capsule { from = { 0, 0, 0 }, to = { 0, 1, 0 }, radius = 0.1 }")
        moved = lua.move(lua.union(lua.box(size=1), lua.box(size=[1, 2, 3], center=(1, 0, 0))), [0, 1, 0])
        self.assertEqual(lua.write(moved), "move(union { box { size = 1 }, box { size = { 1, 2, 3 }, center = "
                                           "{ 1, 0, 0 } } }, { 0, 1, 0 })")
        timed = {"engine": "grid", "duration": 1, "gravity": [0, 0, 0], "bodies": [
            {"shape": moved, "mass": 2, "force": lua.code("function(t) return {4, 0, 0} end")}]}
        with talus.Sim(timed) as sim:
            sim.advance(0.5)
            self.assertAlmostEqual(sim.view("bodies.velocity")[0, 0], 1, places=12)
        with self.assertRaises(talus.Error) as told:
            talus.Scene({"engine": "grid", "duration": 1, "gravty": [0, 0, 0]}, name="here")
        self.assertEqual((told.exception.file, told.exception.line), ("here", 1))
        self.assertIn("gravity", str(told.exception))
        for wrong, kind in ((lambda t: t, TypeError), (float("nan"), ValueError), (object(), TypeError)):
            with self.assertRaises(kind):
                talus.Scene({"engine": "grid", "duration": wrong})

    def test_names_and_units_come_from_the_library(self):
        tables = talus.reference()
        self.assertEqual(tables["body"].keys["density"].unit, "kg/m^3")
        self.assertEqual(tables["scene"].keys["engine"].allowed, "grid, sph, lg")
        self.assertEqual(tables["box"].keys["size"].default, "must be given")
        self.assertEqual((tables["granular"].part, tables["box"].part, tables["grid"].part), ("Materials", "Shapes", "Tables"))
        self.assertIn("full edges along x, y, z", lua.box.__doc__)
        self.assertIn("smooth_union", dir(lua))
        with self.assertRaisesRegex(AttributeError, "did you mean 'sphere'"):
            lua.spher

    def test_the_gallery(self):
        self.assertIn("dam-break", talus.gallery())
        self.assertEqual(talus.Scene("stack").engine, "grid")
        with self.assertRaises(talus.Error):
            talus.Scene("stak")


class Sims(unittest.TestCase):
    def setUp(self):
        self.sim = talus.Sim(talus.Scene(SCENE))

    def test_time(self):
        self.assertAlmostEqual(self.sim.step(0.01), 0.01, places=15)
        self.sim.advance(0.25)
        self.assertEqual(self.sim.time, 0.25)
        self.assertEqual(self.sim.report["step"], self.sim.steps)
        self.assertAlmostEqual(self.sim.report["momentum"][0], 3.0, places=12)

    def test_views(self):
        for name in self.sim.views:
            rows, group = len(self.sim.view(name)), name.split(".")[0]
            if group == "surface":
                self.assertGreater(rows, 0)
            else:
                self.assertEqual(rows, {"bodies": 3, "energy": 1}.get(group, 0), name)
        kept = self.sim.view("bodies.center")
        inside = self.sim.view("bodies.center", copy=False)
        np.testing.assert_array_equal(kept, inside.array)
        np.testing.assert_array_equal(kept[1], [0, 5, 0])
        with self.assertRaises(ValueError):
            inside.array[0, 0] = 1
        self.sim.step(0.01)
        self.assertEqual(kept[1, 0], 0)
        with self.assertRaises(RuntimeError):
            inside.array
        self.assertGreater(self.sim.view("bodies.center")[1, 0], 0)
        with self.assertRaisesRegex(talus.Error, "did you mean 'bodies.center'"):
            self.sim.view("bodies.centre")
        self.sim.close()
        with self.assertRaises(RuntimeError):
            self.sim.step()

    def test_pushing_nodes(self):
        sim = talus.Sim(talus.Scene("return scene { talus = 1, engine = 'grid', duration = 1, gravity = {0, 0, 0}, "
                                    "bodies = { { name = 'a', shape = box { size = 0.2 }, cells = {2, 2, 2}, material = elastic { "
                                    "density = 1000, young = 1e5, poisson = 0.3 } } } }", text=True))
        force = np.zeros((27, 3))
        force[4] = [0, 0, 2]
        sim.set_node_forces(force)
        np.testing.assert_array_equal(sim.view("nodes.push"), force)
        self.assertAlmostEqual(sim.view("nodes.mass").sum(), 8, places=10)
        sim.step(0.01)
        self.assertAlmostEqual(sim.report["momentum"][2], 2 * sim.time, places=9)
        sim.set_node_forces([[1, 0, 0]], first=26)
        self.assertEqual(sim.view("nodes.push")[26, 0], 1)
        sim.set_node_forces()
        self.assertEqual(abs(sim.view("nodes.push")).max(), 0)
        with self.assertRaisesRegex(ValueError, "shape"):
            sim.set_node_forces([1, 0, 0])
        with self.assertRaisesRegex(talus.Error, "there are 27"):
            sim.set_node_forces(force, first=1)

    def test_pushing(self):
        self.sim.set_force("ball", [0, 24, 0])
        self.sim.set_velocity("ball", velocity=[0, 0, 0])
        self.sim.set_pose("hand", position=[10.1, 1, 0])
        self.sim.step(0.01)
        self.assertAlmostEqual(self.sim.view("bodies.position")[2, 0], 10.1, places=12)
        self.sim.advance(0.5)
        self.assertAlmostEqual(self.sim.view("bodies.velocity")[1, 1], 1.0, places=12)
        with self.assertRaisesRegex(talus.Error, "for free bodies"):
            self.sim.set_force("ground", [0, 1, 0])
        with self.assertRaisesRegex(ValueError, "3 numbers"):
            self.sim.set_force("ball", [0, 1])
        with self.assertRaises(KeyError):
            self.sim.set_force("bell", [0, 1, 0])
        with self.assertRaisesRegex(talus.Error, "must be finite"):
            self.sim.set_velocity("ball", [np.nan, 0, 0])

    def test_driving_and_copies(self):
        with talus.Sim(SCENE) as sim:
            sim.advance(0.2)
            kept, other = sim.save_bytes(), sim.clone()
            sim.set_gravity([0, 0, 0])
            sim.place("ball", [0, 7, 0])
            sim.set_velocity("ball", [0, 0, 0])
            sim.advance(0.4)
            np.testing.assert_allclose(sim.view("bodies.position")[1], [0, 7, 0], atol=1e-12)
            other.advance(0.4)
            sim.restore_bytes(kept)
            self.assertEqual(sim.time, 0.2)
            sim.advance(0.4)
            self.assertEqual(sim.hash, other.hash)
            self.assertEqual(sim.add_body("ball", position=[3, 5, 0]), 3)
            self.assertEqual(len(sim.view("bodies.mass")), 4)
            sim.remove_body(3)
            self.assertEqual(len(sim.view("bodies.mass")), 3)
            sim.set_friction("ball", 0.1)
            with self.assertRaises(talus.Error):
                sim.restore_bytes(kept[:-8])
            with self.assertRaises(KeyError):
                sim.set_material("stone", "friction", 0.1)
            other.close()

    def test_particles_come_and_go(self):
        with talus.Sim({"engine": "sph", "duration": 1, "sph": {"spacing": 0.1}, "domain": {"min": [0, 0, 0], "max": [2, 2, 2]},
                        "fill": [{"material": lua.liquid(name="water", density=1000), "shape": lua.box(size=0.4, center=[0.5, 0.3, 0.5])}]}) as sim:
            count = len(sim.view("particles.id"))
            first = sim.add_particles("water", [[1.5, 1.5, 1.5], [1.5, 1.7, 1.5]], velocity=[[0, 0, 1], [0, 0, 1]])
            self.assertEqual(len(sim.view("particles.id")), count + 2)
            sim.remove_particles([first])
            self.assertNotIn(first, sim.view("particles.id"))
            with self.assertRaisesRegex(ValueError, "shape"):
                sim.add_particles("water", [1, 1, 1])

    def test_views_are_described(self):
        infos = talus.views()
        self.assertEqual(list(infos), self.sim.views)
        self.assertEqual(infos["bodies.velocity"].unit, "m/s")
        for name, info in infos.items():
            array = self.sim.view(name)
            self.assertEqual((name, array.dtype, array.shape[1:]),
                             (name, info.dtype, (info.components,) if info.components > 1 else ()))

    def test_saving(self):
        other = talus.Sim(self.sim.scene)
        with tempfile.TemporaryDirectory() as folder:
            self.sim.advance(0.3)
            self.sim.save(Path(folder, "state.h5"))
            self.sim.advance(0.6)
            other.restore(Path(folder, "state.h5"))
        self.assertEqual(other.time, 0.3)
        other.advance(0.6)
        self.assertEqual(self.sim.hash, other.hash)


class Processes(unittest.TestCase):
    # Enough bodies for loops on two threads.
    LOOPS = """
    return scene { talus = 1, engine = "sph", duration = 1, fps = 100, sph = { spacing = 0.02 }, domain = { min = {0, 0, 0}, max = {1, 1, 1} },
      fill = { { material = liquid { density = 1000 }, shape = box { size = 0.6, center = {0.5, 0.35, 0.5} } } } }
    """

    def test_a_forked_child_is_told(self):
        talus.threads(2)
        sim = talus.Sim(talus.Scene(self.LOOPS))
        sim.step(1e-3)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(100)  # ends a child that hangs
            talus.threads(2)
            refused = ""
            try:
                sim.step(1e-3)
            except talus.Error as error:
                refused = str(error)
            other = talus.Sim(talus.Scene(self.LOOPS))
            other.step(1e-3)
            os.write(write, f"{other.steps} {talus.threads()} {refused}".encode())
            os._exit(0)
        os.close(write)
        told = os.read(read, 1000).decode()
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        sim.step(1e-3)
        self.assertRegex(told, "^1 1 .*fork")

    def test_cancel_from_another_thread(self):
        scene = talus.Scene(self.LOOPS.replace("spacing = 0.02", "spacing = 0.02, iterations_least = 100000"))
        sim = talus.Sim(scene)
        before = sim.hash
        timer = threading.Timer(0.5, talus.cancel)
        timer.start()
        with self.assertRaisesRegex(talus.Error, "stopped as asked"):
            sim.step(1e-3)
        talus.cancel(False)
        self.assertEqual(sim.hash, before)

    def test_a_second_thread_is_told_and_close_waits(self):
        sim = talus.Sim(self.LOOPS.replace("spacing = 0.02", "spacing = 0.02, iterations_least = 100000"))
        begun, ended = threading.Event(), []
        sim.on_step(before=lambda _: begun.set())

        def advance():
            try:
                sim.step(1e-3)
            except talus.Error as error:
                ended.append(error.status)

        thread = threading.Thread(target=advance)
        thread.start()
        begun.wait()
        with self.assertRaisesRegex(talus.Error, "another thread is using"):
            sim.view("particles.position")
        sim.close()
        thread.join()
        self.assertEqual(ended, ["interrupted"])

    def test_callbacks(self):
        with talus.Sim(SCENE) as sim:
            seen = []
            sim.on_step(before=lambda s: s.set_force("ball", [0, 20, 0]), after=lambda s: seen.append(s.time))
            sim.advance(0.05)
            self.assertEqual(len(seen), 5)
            self.assertAlmostEqual(sim.view("bodies.position")[1, 1], 5, places=12)

            def trip(s):
                raise ZeroDivisionError(f"at {s.time:.2f}")

            sim.on_step(before=trip)
            with self.assertRaisesRegex(ZeroDivisionError, "at 0.05"):
                sim.advance(0.1)
            self.assertEqual(sim.steps, 5)
            sim.on_step(before=lambda s: s.step(0.01))
            with self.assertRaisesRegex(talus.Error, "callback"):
                sim.advance(0.1)
            sim.on_step(after=lambda s: s.close())
            with self.assertRaisesRegex(talus.Error, "stopped by the function"):
                sim.advance(0.1)
            with self.assertRaises(RuntimeError):
                sim.time

    def test_a_clone_outlives_the_listener_of_its_original(self):
        told = []
        sim = talus.Sim(SCENE, log=lambda level, text: told.append(text))
        twin = sim.clone()
        self.assertIs(twin._log, sim._log)
        sim.close()
        del sim
        twin.advance(0.5)

    def test_cost(self):
        with talus.Sim(SCENE) as sim:
            before, cost = sim.hash, sim.cost()
            self.assertEqual((cost.bodies, sim.hash), (3, before))
            self.assertAlmostEqual(cost.seconds, cost.steps * cost.seconds_per_step)

    def test_a_body_beyond_all_bodies(self):
        sim = talus.Sim(talus.Scene(SCENE))
        for index in (2**32 + 1, 2**31, -1, 2**64, -2**32 + 1):
            with self.assertRaises(IndexError):
                sim.set_force(index, (1, 0, 0))
        with self.assertRaises(TypeError):
            sim.set_force(1.5, (1, 0, 0))


class Runs(unittest.TestCase):
    def test_run_export_and_stop(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "fall.lua")
            path.write_text(SCENE.replace('kind = "kinematic"', "mass = 1"))
            seen = []
            result = talus.run(path, folder=Path(folder, "out"), frames=3, pictures=False,
                               progress=lambda frame, frames, report: seen.append((frame, frames)))
            self.assertEqual(result.frames, 3)
            self.assertEqual(seen[-1][1], 3)
            talus.export(result.folder, Path(folder, "ply"))
            self.assertEqual(len(list(Path(folder, "ply").iterdir())), 4)

            def stop(frame, frames, report):
                raise KeyboardInterrupt

            with self.assertRaises(KeyboardInterrupt):
                talus.run(path, folder=Path(folder, "other"), pictures=False, progress=stop)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
