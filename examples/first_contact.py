"""First contact: the derivatives of a quadruped's dynamics, read from its URDF."""

from __future__ import annotations

import numpy as np

import dtau


def main() -> None:
    np.set_printoptions(precision=3, suppress=True, linewidth=150)
    model = dtau.robots.quadruped()
    print(model, "\n")

    rng = np.random.default_rng(0)
    q, v, a = dtau.random_state(model, rng)
    tau = dtau.inverse_dynamics(model, q, v, a)
    inverse = dtau.inverse_dynamics_derivatives(model, q, v, a)
    forward = dtau.forward_dynamics_derivatives(model, q, v, tau)

    leg = model.joint("LF_HAA").v.start, model.joint("LF_KFE").v.stop
    block = (slice(*leg), slice(*leg))
    print("The left front leg's own block (rows and columns LF_HAA, LF_HFE, LF_KFE):\n")
    for name, matrix in {**inverse._asdict(), **forward._asdict()}.items():
        print(f"{name}, {matrix.shape[0]} x {matrix.shape[1]}:\n{matrix[block]}\n")

    q, v, a = dtau.random_state(model, rng, shape=(1000,))
    print("1000 states at once:", dtau.inverse_dynamics_derivatives(model, q, v, a).dtau_dq.shape)


if __name__ == "__main__":
    main()
