"""Writes arm.c and arm.h: what computed_torque.c needs of an arm of six joints.

python write_arm.py [robot.urdf]
"""

from __future__ import annotations

import sys
from pathlib import Path

import dtau


def main(folder: Path, urdf: str | None = None) -> None:
    """Write the two files."""
    model = dtau.load(urdf) if urdf else dtau.robots.chain(6)
    code = dtau.generate(
        model,
        {
            "torque_and_rate": ("inverse_dynamics_time_derivatives", {"order": 1}),
            "step": ("step", {"integrator": "rk4"}),
        },
        folder / "arm.c",
    )
    for name, operations in code.operations.items():
        print(f"{name}: {operations} operations")


if __name__ == "__main__":
    main(Path(__file__).parent, *sys.argv[1:2])
