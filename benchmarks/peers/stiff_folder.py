"""Step the MuJoCo scenes in a folder by "semi_implicit" and "implicit", at their own time steps.

    python -m benchmarks.peers.stiff_folder mujoco_menagerie

Each robot moves freely for 300 steps, without contacts, limits and motors, from its first keyframe
if it has one, else from its neutral configuration. Velocities are random and small. The columns
are the file's time step, `Model.stable_step`, and the largest velocity of each integrator. A motion
ends where a velocity reaches 1e6.

The step is "too long" if `Model.stable_step` is shorter, and semi-implicit steps "diverge" if their
largest velocity is ten times as large as with implicit ones. A robot has both words, or none, if
the estimate is right.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import mujoco
import numpy as np

import dtau
from benchmarks.checks import Array
from benchmarks.peers.mujoco_folder import print_rows

STEPS = 300
HEADER = ("scene", "nv", "step", "stable step", "semi_implicit", "implicit", "verdict")


def largest_velocity(
    model: dtau.Model, q: Array, dt: float, integrator: Literal["semi_implicit", "implicit"]
) -> float:
    """Return the largest velocity of a motion without torques."""
    v = 1e-2 * np.random.default_rng(0).standard_normal(model.nv)
    largest = 0.0
    for _ in range(STEPS):
        q, v = dtau.step(model, q, v, np.zeros(model.nv), dt, integrator)
        largest = np.maximum(largest, np.abs(v).max())  # NaN stays
        if not largest < 1e6:
            break
    return float(largest)


def row(file: Path, name: str) -> tuple[str, ...]:
    """Return the cells of a scene, or its name and why it has none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dtau.ModelWarning)
            model = dtau.load(file)
        dt = mujoco.MjModel.from_xml_path(str(file)).opt.timestep
    except ValueError as problem:
        return name, f"not loaded: {problem}".splitlines()[0]
    q = next(iter(model.postures.values()), dtau.neutral(model))
    stable = model.stable_step(q)
    explicit = largest_velocity(model, q, dt, "semi_implicit")
    implicit = largest_velocity(model, q, dt, "implicit")
    words = (["too long"] if stable < dt else []) + (
        [] if explicit < 10.0 * implicit else ["diverges"]
    )
    return (
        *(name, str(model.nv), f"{dt:g}", f"{stable:.2g}"),
        *(f"{explicit:.2g}", f"{implicit:.2g}", ", ".join(words)),
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Print a row for each scene."""
    print_rows(argv, __doc__, HEADER, row)


if __name__ == "__main__":
    main()
