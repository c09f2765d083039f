"""adam's expressions of CasADi's, from which CasADi writes C: the mass matrix and bias forces.

They are of a robot with a free root, which is held here; robots that have one are left out.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import casadi
import numpy as np

from benchmarks.checks import UnavailableError
from benchmarks.optional import optional
from benchmarks.robots import Robot


def function(robot: Robot, name: str) -> Any:
    """A function of the package: of q, v and u in a column, its results row by row."""
    if optional("adam") is None:
        raise UnavailableError("adam is missing: python -m pip install adam-robotics[casadi]")
    from adam.casadi import KinDynComputations

    if robot.root == "free" or name not in ("inverse_dynamics", "inverse_dynamics_derivatives"):
        raise UnavailableError("of fixed roots, inverse dynamics and its derivatives are taken")
    joints = [joint.name for joint in sorted(robot.model.joints, key=lambda joint: joint.v.start)]
    gravity = np.concatenate([robot.model.gravity, np.zeros(3)])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "robot.urdf"
        file.write_text(robot.urdf, encoding="utf-8")
        made = KinDynComputations(str(file), joints, gravity=gravity)
    n, base, still = len(joints), casadi.SX.eye(4), casadi.SX.zeros(6)
    x = casadi.SX.sym("x", 3 * n)
    q, v, a = casadi.vertsplit(x, n)
    mass_matrix = casadi.SX(made.mass_matrix(base, q))[6:, 6:]
    tau = mass_matrix @ a + casadi.SX(made.bias_force(base, q, still, v))[6:]
    results = [tau]
    if name != "inverse_dynamics":
        results = [casadi.jacobian(tau, q), casadi.jacobian(tau, v), mass_matrix]
    rows = [casadi.reshape(casadi.densify(y.T), -1, 1) for y in results]
    return casadi.Function("function", [x], casadi.cse([casadi.vertcat(*rows)]))
