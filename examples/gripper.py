"""A soft gripper, driven step by step: cables close its two fingers, handles lift them, a foam block comes along.

The scene is gripper.lua; gripper.c is the same loop in C.        python3 gripper.py [STEPS]
"""

import sys
from pathlib import Path

import numpy as np

import talus

DT = 0.005  # s: one control step
LENGTH = 6 * 0.0165  # m, of a cable at rest
PULL = 0.016  # m
LIFT = 0.05  # m


def ramp(t: float, begin: float, end: float) -> float:
    """From 0 to 1 between two times."""
    return min(1.0, max(0.0, (t - begin) / (end - begin)))


def grip(sim: talus.Sim, steps: int) -> np.ndarray:
    """Closes until 0.4 s, lifts from 0.4 to 0.9 s. Returns the height of the block at every step."""
    block = sim.view("nodes.body") == 0
    heights = np.empty(steps)
    for k in range(steps):
        t = k * DT
        for finger in range(2):
            sim.set_cable(finger, LENGTH - PULL * ramp(t, 0.0, 0.4))
            sim.set_handle(finger, [0, LIFT * ramp(t, 0.4, 0.9), 0])
        sim.step(DT)
        heights[k] = sim.view("nodes.position", copy=False).array[block, 1].mean()
    return heights


def main() -> None:
    """Prints heights and what the cables bear."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with talus.Sim(Path(__file__).with_name("gripper.lua"), settings={"dt_max": DT}) as sim:
        heights = grip(sim, steps)
        kinds, tension = sim.view("holds.kind"), sim.view("holds.tension")
        forces, state = sim.view("holds.force"), sim.hash
    for k in range(steps // 10 - 1, steps, max(1, steps // 10)):
        print(f"{DT * (k + 1):5.2f} s  block at {1000 * heights[k]:6.2f} mm")
    print("cables bear", tension[kinds == 2].round(2), "N; handles", forces[kinds == 1, 1].round(2), "N upwards")
    print(f"block at {1000 * heights[-1]:.3f} mm, state {state:016x}")
    if steps >= 200:
        assert heights[-1] > heights[80] + 0.8 * LIFT, "the block was lost"


if __name__ == "__main__":
    main()
