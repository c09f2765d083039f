"""Writes what computed_torque.c needs of an arm: arm.c for its controller, simulated.c for itself.

python write_arm.py [robot.urdf]
"""

from __future__ import annotations

import sys
from pathlib import Path

import dtau

TORQUE = {"torque_and_rate": ("inverse_dynamics_time_derivatives", {"order": 1})}
STEP = {"step": ("step", {"integrator": "rk4"})}


def main(folder: Path, urdf: str | None = None) -> None:
    """Write the files and their headers."""
    model = dtau.load(urdf) if urdf else dtau.robots.chain(6)
    for functions, file in ((TORQUE, "arm.c"), (STEP, "simulated.c")):
        for name, operations in dtau.generate(model, functions, folder / file).operations.items():
            print(f"{name}: {operations} operations")


if __name__ == "__main__":
    main(Path(__file__).parent, *sys.argv[1:2])
