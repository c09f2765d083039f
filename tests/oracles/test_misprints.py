"""A line of [IDSVA-SO] that is misprinted, as printed and put right; more are in `test_eidamb` and
`test_coriolis_matrix`. docs/papers.md lists all."""

from __future__ import annotations

import numpy as np
import pytest
from cases import random_state
from closed_form import ClosedForm
from compare import TOLERANCE, assert_close
from trees import Array, cross, grow

import dtau


def swapped_cross(f: Array) -> Array:
    """The matrix of f xbar*: times a motion m it is m x* f."""
    return np.stack([-cross(m).T @ f for m in np.eye(6)], axis=1)


def operator(twist: Array, inertia: Array) -> Array:
    """2 B of eq. 6."""
    return -cross(twist).T @ inertia - inertia @ cross(twist) + swapped_cross(inertia @ twist)


@pytest.mark.parametrize("seed", range(5))
def test_cross_derivative_by_a_rate_and_a_later_position(seed: int) -> None:
    """Appendix B, tau_i by the rate of k and by q_j, k before j, j before i or i itself.

    The last term is (Psi'_k + S'_k) . ((I_i^C S_i) xbar* S_j), as line 55 of Algorithm 1; printed
    is Psi'_j for S_j, which makes the term quadratic in velocities where all others are linear.
    """
    n = 5
    tree = grow(["revolute"] * n, range(-1, n - 1), seed, armature=False, damping=False)
    model = tree.model()
    s = random_state(model, seed)
    paper = ClosedForm(tree, model, s["q"], s["v"])
    S = [paper.S[6 * i : 6 * i + 6, i] for i in range(n)]
    Psi = [cross(V) @ x for V, x in zip([np.zeros(6), *paper.twists], S, strict=False)]
    both = [x + cross(V) @ y for x, V, y in zip(Psi, paper.twists, S, strict=True)]
    tensor = dtau.inverse_dynamics_second_derivatives(model, s["q"], s["v"], s["a"]).d2tau_dqdv
    got, right, printed = [], [], []
    for i in range(n):
        composite = sum(paper.inertias[i:])
        B = sum(operator(V, m) for V, m in zip(paper.twists[i:], paper.inertias[i:], strict=True))
        B_of_S = sum(operator(S[i], inertia) for inertia in paper.inertias[i:])
        A0 = swapped_cross(composite @ S[i])
        for j in range(i + 1):
            rest = (2.0 * A0 - B_of_S) @ Psi[j] + swapped_cross(B.T @ S[i]) @ S[j]
            for k in range(j):
                got.append(tensor[i, j, k])
                right.append(S[k] @ rest + both[k] @ A0 @ S[j])
                printed.append(S[k] @ rest + both[k] @ A0 @ Psi[j])
    assert_close(got, right, TOLERANCE["independent"], "Appendix B, put right")
    assert np.abs(np.array(printed) - got).max() > 0.05 * np.abs(right).max()
