"""A rod stands on a hand, and the hand moves so that it does not fall: a controller in the loop of a simulation.

The rod is a pendulum upside down, held by contact and friction alone. For a lean q (rad) of a uniform rod of length L on
a hand that moves by x: q'' = 3/2 (g q - x'') / L. The gains put all four poles of the loop at -3 1/s.

                                                                            python3 balance.py
"""

import numpy as np

import talus
from talus import lua

DT, LONG, RADIUS, THICK, G = 0.005, 1.0, 0.02, 0.02, 9.81
SCENE = {
    "engine": "grid", "duration": 100, "dt_max": DT, "gravity": [0, -G, 0],
    "bodies": [
        {"name": "hand", "kind": "kinematic", "shape": lua.box(size=[0.3, THICK, 0.3]), "friction": 1.0},
        {"name": "rod", "shape": lua.capsule(from_=[0, 0, 0], to=[0, LONG - 2 * RADIUS, 0], radius=RADIUS), "mass": 0.5,
         "friction": 1.0, "at": [0, THICK / 2 + RADIUS, 0], "rotation_deg": [2, 0, 3]},
    ],
}
POLE = 3.0
K = 1.5 * G / LONG
GAIN_X, GAIN_V = POLE**4 / K, 4 * POLE**3 / K
GAIN_Q, GAIN_W = (6 * POLE**2 + K + GAIN_X) / 1.5 * LONG, (4 * POLE + GAIN_V) / 1.5 * LONG


def balance(sim: talus.Sim, seconds: float, push_at: float) -> np.ndarray:
    """Runs the loop; at push_at the rod gets a knock. Returns the lean at every step, rad."""
    place, speed, leans = np.zeros(2), np.zeros(2), []
    while sim.time < seconds:
        top = sim.view("bodies.center")[1] - sim.view("bodies.position")[1]  # from the foot to the centre of mass
        spin = sim.view("bodies.spin")[1]
        lean = top[[0, 2]] / top[1]
        rate = np.array([-spin[2], spin[0]])
        speed += DT * (GAIN_Q * lean + GAIN_W * rate + GAIN_X * place + GAIN_V * speed)
        place += DT * speed
        sim.set_pose("hand", [place[0], 0, place[1]])
        sim.set_force("rod", [2.0 if push_at <= sim.time < push_at + 0.05 else 0.0, 0, 0])
        sim.step(DT)
        leans.append(np.hypot(*lean))
    return np.array(leans)


def main() -> None:
    """Prints how far the rod leans; without a controller it would lie after a second."""
    with talus.Sim(SCENE) as sim:
        leans = balance(sim, 5.0, push_at=2.5)
    for t in (0.0, 0.5, 1.0, 2.0, 2.7, 3.5, 4.9):
        print(f"{t:4.1f} s  leans {np.degrees(leans[int(t / DT)]):6.3f} degrees")
    assert leans[-1] < np.radians(1) and leans.max() < np.radians(15), "it fell"


if __name__ == "__main__":
    main()
