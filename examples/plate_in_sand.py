"""A plate is pressed into sand by the program, and the force of the sand on it is read: a curve of force and depth.

                                                            python3 plate_in_sand.py [FILE.csv]
"""

import sys

import numpy as np

import talus
from talus import lua

WIDE, BED, THICK, EDGE = 0.6, 0.2, 0.12, 0.15  # m
CELL = 1 / 20  # m
SPEED = 0.2  # m/s
SCENE = {
    "engine": "grid", "duration": 10, "dt_max": 0.01,
    "grid": {"cells": [12, 8, 12], "cell": CELL},
    "fill": [{"material": lua.granular(density=1600, friction_angle_deg=30),
              "shape": lua.box(size=[WIDE, BED, WIDE], center=[WIDE / 2, BED / 2, WIDE / 2])}],
    "bodies": [{"name": "plate", "kind": "kinematic", "shape": lua.box(size=[EDGE, THICK, EDGE]),
                "at": [WIDE / 2, BED + THICK / 2 + 0.005, WIDE / 2]}],
}


def press(depth: float) -> np.ndarray:
    """Rows of depth (m) and upward force on the plate (N), one per step, from the surface down."""
    rows = []
    with talus.Sim(SCENE) as sim:
        sim.advance(0.1)  # the bed settles
        plate = sim.body("plate")
        while (low := sim.view("bodies.position")[plate, 1] - THICK / 2) > BED - depth:
            sim.set_pose(plate, [WIDE / 2, low + THICK / 2 - SPEED * 0.01, WIDE / 2])
            sim.step(0.01)
            rows.append([BED - low, sim.view("bodies.fluid_force")[plate, 1]])
    return np.array(rows)


def main() -> None:
    """Prints the curve, and writes it when a file is named."""
    curve = press(0.06)
    if len(sys.argv) > 1:
        np.savetxt(sys.argv[1], curve, delimiter=",", header="depth_m,force_N", comments="")
    for depth in np.arange(0.01, 0.06, 0.01):
        near = abs(curve[:, 0] - depth) < 0.005
        print(f"{1000 * depth:3.0f} mm  {curve[near, 1].mean():6.0f} N")
    shallow, deep = (curve[part, 1].mean() for part in (curve[:, 0] < 0.02, curve[:, 0] > 0.04))
    assert deep > 1.5 * shallow > 0, "sand that is deeper bears more"


if __name__ == "__main__":
    main()
