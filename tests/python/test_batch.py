"""Many simulations in processes: the numbers of one, for any number of workers.   test_batch.py MODULE_FOLDER"""

import sys
import unittest

module_folder = sys.argv[1]
sys.path.insert(0, module_folder)

import numpy as np  # noqa: E402

import talus  # noqa: E402
from talus.worlds import BoxesAndPlate  # noqa: E402

SCENE = """
local p = params { speed = 1.5 }
return scene { talus = 1, engine = "grid", duration = 1, dt_max = 0.01, bodies = {
  { name = "ground", shape = plane {}, kind = "static" },
  { name = "ball", shape = sphere { radius = 0.1 }, mass = 2, at = {0, 0.1, 0}, velocity = {p.speed, 0, 0} } } }
"""


def far(sim, factor):
    return factor * sim.view("bodies.position")[1, 0]


class Batches(unittest.TestCase):
    def test_numbers_of_one(self):
        settings = [{"speed": v} for v in (0.5, 1.0, 1.5)]
        push = np.array([[0, 0, 1], [0, 0, 2], [0, 0, 3.0]])
        seen = []
        for workers in (1, 2):
            with talus.Batch(SCENE, settings=settings, workers=workers) as batch:
                batch.set_force("ball", push)
                times = batch.step(0.01)
                np.testing.assert_array_equal(times, batch.time)
                batch.advance([0.2, 0.3, 0.4])
                np.testing.assert_array_equal(batch.time, [0.2, 0.3, 0.4])
                batch.advance(0.5)
                seen.append((batch.hash, batch.view("bodies.velocity"), batch.call(far, 2.0)))
                self.assertEqual(len(batch.report), 3)
                kept, before = batch.save_bytes(), batch.hash
                batch.step(0.01)
                batch.restore_bytes(kept)
                self.assertEqual(batch.hash, before)
                with self.assertRaisesRegex(talus.Error, "did you mean 'bodies.center'"):
                    batch.view("bodies.centre")
                self.assertEqual(batch.view("bodies.mass").shape, (3, 2))  # and it goes on after an error
        self.assertEqual(seen[0][0], seen[1][0])
        np.testing.assert_array_equal(seen[0][1], seen[1][1])
        for i, chosen in enumerate(settings):
            with talus.Sim(SCENE, settings=chosen) as sim:
                sim.set_force("ball", push[i])
                sim.step(0.01)
                for t in (0.2 + 0.1 * i, 0.5):
                    sim.advance([0.2, 0.3, 0.4][i] if t != 0.5 else 0.5)
                self.assertEqual(sim.hash, seen[0][0][i])
                np.testing.assert_array_equal(sim.view("bodies.velocity"), seen[0][1][i])
                self.assertEqual(far(sim, 2.0), seen[1][2][i])

    def test_seeds(self):
        a, b = talus.generator(7, 3).uniform(size=4), talus.generator(7, 4).uniform(size=4)
        np.testing.assert_array_equal(a, talus.generator(7, 3).uniform(size=4))
        self.assertTrue((a != b).all())

    def test_wrong_use(self):
        with self.assertRaises(talus.Error) as told:
            talus.Batch(SCENE.replace("mass = 2", "mass = -2"), count=2, workers=2)
        self.assertIn("bodies[2].mass must be > 0", str(told.exception))
        self.assertEqual(told.exception.line, 5)
        with self.assertRaises(ValueError):
            talus.Batch(SCENE, count=3, settings=[{}, {}])

    def test_samples(self):
        ranges = {"a": (0.0, 1.0), "b": (-2.0, 2.0)}
        latin = talus.samples(ranges, 50, seed=3)
        self.assertEqual(sorted(int(50 * s["a"]) for s in latin), list(range(50)))
        self.assertEqual(sorted(int(50 * (s["b"] + 2) / 4) for s in latin), list(range(50)))
        self.assertEqual(latin, talus.samples(ranges, 50, seed=3))
        self.assertNotEqual(latin, talus.samples(ranges, 50, seed=4))
        a, b = (np.array([s[k] for s in latin]) for k in "ab")
        self.assertLess(abs(np.corrcoef(a, b)[0, 1]), 0.4)
        random = np.array([s["b"] for s in talus.samples(ranges, 1000, "random")])
        self.assertAlmostEqual(random.mean(), 0, delta=4 * 4 / np.sqrt(12 * 1000))


class Environments(unittest.TestCase):
    def test_one(self):
        with BoxesAndPlate() as env:
            first, info = env.reset(seed=3)
            self.assertEqual((first.shape, info), (env.observation_space.shape, {}))
            path = [env.step([1, 0])[0] for _ in range(20)]
            again, _ = env.reset(seed=3)
            np.testing.assert_array_equal(first, again)
            np.testing.assert_array_equal(path, [env.step([1, 0])[0] for _ in range(20)])
            self.assertAlmostEqual(path[-1][0], -0.6 + 0.2, places=9)  # the plate went at 1 m/s
            self.assertFalse(np.array_equal(first, env.reset()[0]))
            with self.assertRaisesRegex(ValueError, "shape"):
                env.step([1, 0, 0])

    def test_many_are_the_same_as_one_for_any_number_of_workers(self):
        actions = talus.generator(1).uniform(-1, 1, (12, 5, 2))
        seen = []
        for workers in (1, 2):
            with talus.VectorEnv(Short, 5, workers=workers) as env:
                self.assertEqual(env.action_space.shape, (5, 2))
                rows = [env.reset(seed=10)[0]]
                for action in actions:
                    observation, reward, terminated, truncated, _ = env.step(action)
                    rows.append(np.column_stack([observation, reward, terminated, truncated]))
                seen.append(rows)
        for a, b in zip(*seen):
            np.testing.assert_array_equal(a, b)
        with Short() as env:
            np.testing.assert_array_equal(env.reset(seed=12)[0], seen[0][0][2])
            for k, action in enumerate(actions[:8]):
                observation, reward, terminated, truncated, _ = env.step(action[2])
                np.testing.assert_array_equal([*observation, reward, terminated, truncated], seen[0][1 + k][2])
                self.assertEqual(truncated, k == 7)
            np.testing.assert_array_equal(env.reset()[0], seen[0][9][2][:-3])  # the next episode, reward 0
            self.assertEqual(seen[0][9][2][-3], 0)


class Short(BoxesAndPlate):
    max_time = 0.075


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
