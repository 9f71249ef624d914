"""Which friction angle has this sand? A column of it collapsed, and the height of its centre of mass was measured.

Four runs in worker processes, one per angle, and an interpolation.       python3 friction_fit.py
"""

import numpy as np

import talus

SCENE = """
local p = params { angle = 30.0 }
return scene {
  talus = 1, engine = "grid", duration = 2, dt_max = 0.01,
  grid = { cells = {40, 16, 1}, cell = 0.025, periodic = {false, false, true} },
  fill = { { material = granular { density = 1600, friction_angle_deg = p.angle },
             shape = box { size = {0.2, 0.3, 0.025}, center = {0.1, 0.15, 0.0125} } } },
}
"""
SECONDS = 0.8  # until it lies still


def height(sim: talus.Sim) -> float:
    """Of the centre of mass of the sand, m."""
    return float(sim.view("particles.position")[:, 1].mean())


def heights(angles: list[float]) -> np.ndarray:
    """After the collapse, for every angle; all at the same time."""
    with talus.Batch(SCENE, settings=[{"angle": angle} for angle in angles]) as batch:
        batch.advance(SECONDS)
        return np.array(batch.call(height))


def fit(measured: float) -> float:
    """The angle, degrees, whose sand comes to rest at this height."""
    angles = [20.0, 26.0, 32.0, 38.0]
    found = heights(angles)
    assert (np.diff(found) > 0).all(), f"steeper sand stays higher: {found}"
    return float(np.interp(measured, found, angles))


def main() -> None:
    """Measures sand of a known angle, and finds it again."""
    truth = 28.0
    measured = heights([truth])[0]
    angle = fit(measured)
    print(f"centre of mass at {1000 * measured:.1f} mm: {angle:.1f} degrees; the sand was made with {truth:.1f}")
    assert abs(angle - truth) < 1.5


if __name__ == "__main__":
    main()
