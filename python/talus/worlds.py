"""Ready-made environments."""

from __future__ import annotations

import numpy as np

from . import lua
from .env import Box, Env, Floats
from .sim import Sim

_BOXES = 6
_EDGE = 0.1
_REACH = 0.8  # m: the plate stays within


class BoxesAndPlate(Env):
    """Boxes on the ground and a plate that pushes them: bring them to the middle.

    action: velocity of the plate along x and z, m/s. observation: place of the plate (x, z), then place (x, y, z) and
    velocity of every box. reward: less the mean distance of the boxes from the middle, m.
    """

    action_space = Box(-1, 1, (2,))
    observation_space = Box(-np.inf, np.inf, (2 + 6 * _BOXES,))
    control_dt = 0.01
    max_time = 5.0
    scene = {
        "engine": "grid", "duration": 1000, "dt_max": 0.01,
        "bodies": [
            {"name": "ground", "kind": "static", "shape": lua.plane(), "friction": 0.4},
            {"name": "plate", "kind": "kinematic", "shape": lua.box(size=[0.04, 0.2, 0.4]), "at": [-0.6, 0.105, 0]},
            *({"name": f"box {i + 1}", "shape": lua.box(size=_EDGE), "density": 500, "friction": 0.4,
               "at": [0.3 * (i % 3) - 0.3, _EDGE / 2, 0.3 * (i // 3) - 0.15]} for i in range(_BOXES)),
        ],
    }

    def begin(self, sim: Sim, rng: np.random.Generator) -> None:
        """Every box gets a small push."""
        for i in range(_BOXES):
            x, z = rng.uniform(-0.3, 0.3, 2)
            sim.set_velocity(2 + i, [x, 0, z])

    def act(self, sim: Sim, action: Floats) -> None:
        """The plate moves at this velocity until the next action."""
        at = sim._array("bodies.position")[1].copy()
        at[::2] = np.clip(at[::2] + self.control_dt * np.clip(action, -1, 1), -_REACH, _REACH)
        sim.set_pose(1, at)

    def observe(self, sim: Sim) -> Floats:
        """See the class."""
        at = sim._array("bodies.position")
        return np.concatenate([at[1, ::2], at[2:].ravel(), sim._array("bodies.velocity")[2:].ravel()])

    def reward(self, sim: Sim, action: Floats) -> float:
        """See the class."""
        return -float(np.linalg.norm(sim._array("bodies.position")[2:, ::2], axis=1).mean())
