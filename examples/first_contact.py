"""First contact: the derivatives of a quadruped's dynamics, read from its URDF."""

from __future__ import annotations

import numpy as np

import dtau

LEG = ("LF_HAA", "LF_HFE", "LF_KFE")
UNITS = {
    "dtau_dq": "N m / rad",
    "dtau_dv": "N m s / rad",
    "dtau_da": "kg m²",
    "da_dq": "1 / s²",
    "da_dv": "1 / s",
    "da_dtau": "1 / (kg m²)",
}


def print_block(model: dtau.Model, matrix: np.ndarray) -> None:
    """Print the leg's rows and columns with the names of their joints."""
    at = [model.joint(name).v.start for name in LEG]
    print(" " * 6, *(f"{name:>9}" for name in LEG))
    for name, row in zip(LEG, matrix[np.ix_(at, at)], strict=True):
        print(name, *(f"{x:9.4f}" for x in row))
    print()


def main() -> None:
    model = dtau.robots.quadruped()
    print(model, "\n")

    rng = np.random.default_rng(0)
    q, v, a = dtau.random_state(model, rng)
    tau = dtau.inverse_dynamics(model, q, v, a)
    inverse = dtau.inverse_dynamics_derivatives(model, q, v, a)
    forward = dtau.forward_dynamics_derivatives(model, q, v, tau)

    print("The left front leg's own block of each; a row is a joint's torque or acceleration, a")
    print("column the angle, velocity, acceleration or torque of a joint.\n")
    for name, matrix in {**inverse._asdict(), **forward._asdict()}.items():
        print(f"{name} ({UNITS[name]}), {matrix.shape[0]} x {matrix.shape[1]}:")
        print_block(model, matrix)

    q, v, a = dtau.random_state(model, rng, shape=(1000,))
    print("1000 states at once:", dtau.inverse_dynamics_derivatives(model, q, v, a).dtau_dq.shape)


if __name__ == "__main__":
    main()
