"""Which of the admissible Coriolis matrices the package has, and which one [HO-FBS] Lemma 1.

Both give the Coriolis torque, and dM/dt = C + C^T. Ours, of [Echeandia], has one property more,

    C(v) w - C(w) v = M0 [v, w]      for all v and w,                             [Derivations] eq.
    3.8

M0 without armature and [v, w] the bracket joint by joint: (S v) x (S w) = S [v, w]. It vanishes
for joints of one degree of freedom, cylindrical and universal ones, where displacements add; there
C holds the Christoffel symbols. It is v x w for spherical and free joints, and a turn of the
translations for planar ones. Only one matrix that is linear in v has both properties.
"""

from __future__ import annotations

import numpy as np
import pytest
from cases import TREES, random_state
from closed_form import ClosedForm
from compare import TOLERANCE, assert_close, cancelled
from hypothesis import given
from hypothesis import strategies as st
from trees import KINDS, SEEDS, Array, Tree, cross, grow, trees

import dtau

ONE_DOF = ("revolute", "prismatic", "helical", "fixed")
DISPLACEMENTS_ADD = (*ONE_DOF, "cylindrical", "universal")


@st.composite
def paper_trees(draw: st.DrawFn) -> Tree:
    """The trees of [HO-FBS]: a free base, or the world, with joints of one degree of freedom."""
    free = draw(st.booleans())
    kinds = draw(st.lists(st.sampled_from(ONE_DOF), min_size=1, max_size=6))
    kinds = ["free", *kinds] if free else ["revolute", *kinds]
    parents = [-1] + [draw(st.integers(0 if free else -1, i - 1)) for i in range(1, len(kinds))]
    return grow(kinds, parents, draw(SEEDS))


def rates(tree: Tree, seed: int) -> tuple[dtau.Model, Array, Array, Array]:
    """The model without armature and damping, a configuration and two velocities."""
    model = tree.bare().model()
    state = random_state(model, seed)
    return model, state["q"], state["v"], state["dv"]


@given(paper_trees(), SEEDS)
def test_lemma_1(tree: Tree, seed: int) -> None:
    """Eq. 21 in the paper's own coordinates: C nu = h, and dM/dt - 2 C is skew-symmetric."""
    model, q, v, _ = rates(tree, seed)
    paper = ClosedForm(tree, model, q, v)
    back, C = np.linalg.inv(paper.T), paper.coriolis()
    mass, rate = dtau.mass_matrix_time_derivatives(model, q, [v])
    floor = cancelled(paper.M)  # about the world's origin, all is larger
    assert_close(paper.mass, back.T @ mass @ back, TOLERANCE["independent"], "M", floor=floor)

    # nu' = T v' + T' v, and T' v = Ad (v x v) = 0: no acceleration here is none there.
    h = dtau.bias_torque(model, q, v) - dtau.gravity_torque(model, q)
    assert_close(C @ paper.T @ v, back.T @ h, TOLERANCE["independent"], "C nu", floor=floor)
    # d/dt of T^-T M T^-1, with (T^-1)' = -T^-1 T' T^-1
    turn = paper.Tdot @ back
    rate = back.T @ rate @ back - turn.T @ paper.mass - paper.mass @ turn
    assert_close(C + C.T, rate, TOLERANCE["independent"], "C + C^T", floor=floor)


@given(paper_trees(), SEEDS)
def test_both_matrices_differ_by_what_the_notes_say(tree: Tree, seed: int) -> None:
    """[Derivations] section 3: (v x* I + I v x - (I v) xbar*) / 2 of every body, antisymmetric."""
    model, q, v, _ = rates(tree, seed)
    paper = ClosedForm(tree, model, q, v)
    jacobian = paper.Gp @ paper.S @ paper.T
    want = np.zeros((model.nv, model.nv))
    for i, (inertia, twist) in enumerate(zip(paper.inertias, paper.twists, strict=True)):
        J, momentum = jacobian[6 * i : 6 * i + 6], inertia @ twist
        swapped = np.stack([-cross(m).T @ momentum for m in np.eye(6)], axis=1)
        body = 0.5 * (inertia @ cross(twist) - cross(twist).T @ inertia - swapped)
        want += J.T @ body @ J
    got = paper.coriolis_in_dtau() - dtau.coriolis_matrix(model, q, v)
    floor = cancelled(paper.M)
    assert_close(got, want, TOLERANCE["independent"], "difference", floor=floor)
    assert_close(want, -want.T, TOLERANCE["independent"], "antisymmetric", floor=floor)


def bracket(tree: Tree, model: dtau.Model, v: Array, w: Array) -> Array:
    """[v, w] of every joint: S [v, w] = (S v) x (S w) in body axes."""
    out = np.zeros(model.nv)
    for body in tree.bodies:
        kind = KINDS[body.kind]
        if kind.nv == 0 or kind.subspace is None:  # universal: two joints, nothing between
            continue
        at, S = model.joint(body.name).v, kind.subspace(body.axis, body.pitch)
        out[at] = np.linalg.lstsq(S, cross(S @ v[at]) @ S @ w[at], rcond=None)[0]
    return out


def torsion(tree: Tree, model: dtau.Model, q: Array, v: Array, w: Array) -> tuple[Array, Array]:
    """C(v) w - C(w) v, and M0 [v, w]."""
    got = dtau.coriolis_matrix(model, q, v) @ w - dtau.coriolis_matrix(model, q, w) @ v
    return got, dtau.mass_matrix(model, q) @ bracket(tree, model, v, w)


def check_torsion(tree: Tree, seed: int) -> None:
    model, q, v, w = rates(tree, seed)
    got, want = torsion(tree, model, q, v, w)
    floor = cancelled(dtau.mass_matrix(model, q))
    assert_close(got, want, TOLERANCE["identity"], "C(v) w - C(w) v", floor=floor)


@pytest.mark.parametrize("name", TREES)
def test_two_velocities_swapped_for_robots(name: str) -> None:
    check_torsion(TREES[name], seed=3)


@given(trees(), SEEDS)
def test_two_velocities_swapped(tree: Tree, seed: int) -> None:
    check_torsion(tree, seed)


@pytest.mark.parametrize("kind", ["spherical", "planar", "free"])
def test_brackets_matter(kind: str) -> None:
    """C(v) w is not C(w) v where displacements do not add."""
    tree = TREES[f"one {kind}"]
    model, q, v, w = rates(tree, seed=3)
    got, _ = torsion(tree, model, q, v, w)
    size = float(np.abs(dtau.coriolis_matrix(model, q, v) @ w).max())
    assert np.abs(got).max() > 0.1 * size


@given(trees(among=DISPLACEMENTS_ADD), SEEDS)
def test_christoffel_symbols(tree: Tree, seed: int) -> None:
    """Where displacements add: C_ij = sum_k (d_k M_ij + d_j M_ik - d_i M_jk) v_k / 2."""
    model, q, v, w = rates(tree, seed)
    dM = dtau.inverse_dynamics_second_derivatives(model, q, v, 0.0 * v).d2tau_dadq
    symbols = 0.5 * (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1))
    floor = cancelled(dtau.mass_matrix(model, q))
    for x in (v, w):
        got = dtau.coriolis_matrix(model, q, x)
        assert_close(got, symbols @ x, TOLERANCE["identity"], "Christoffel", floor=floor)


@pytest.mark.parametrize("root", ["revolute", "free"])
def test_lemma_1_has_not_this_property(root: str) -> None:
    tree = grow([root, "revolute", "helical", "revolute", "prismatic"], [-1, 0, 1, 0, 3], seed=2)
    model, q, v, w = rates(tree, seed=2)
    at_v, at_w = (ClosedForm(tree, model, q, x).coriolis_in_dtau() for x in (v, w))
    off = at_v @ w - at_w @ v - dtau.mass_matrix(model, q) @ bracket(tree, model, v, w)
    assert np.abs(off).max() > 0.05 * np.abs(at_v @ w).max()


@pytest.mark.parametrize("zero_block", [True, False])
def test_proposition_1(zero_block: bool) -> None:
    """Orders 0 and 1, and what the printed Sdot = ad S does to them where the base is free."""
    tree = grow(["free", "revolute", "helical", "prismatic"], [-1, 0, 1, 1], seed=2).bare()
    model = tree.model()
    s = random_state(model, 2)
    q, v, a, jerk = s["q"], s["v"], s["a"], s["dq"]
    paper = ClosedForm(tree, model, q, v, zero_block=zero_block)
    # V' = Ad a, as Ad v x v = 0, and V'' = ad_V Ad a + Ad a'
    nu, rate = paper.T @ v, paper.T @ a
    order_0, order_1 = paper.torques(nu, rate, paper.T @ jerk + paper.Tdot @ a, tree.gravity)
    tau = dtau.inverse_dynamics_time_derivatives(model, q, [v, a, jerk])
    back = np.linalg.inv(paper.T).T  # the wrench on the base: W = Ad^-T w, W' = Ad^-T w' - ad_V^T W
    assert_close(order_0, back @ tau[0], TOLERANCE["independent"], "order 0")
    want = back @ (tau[1] - paper.Tdot.T @ back @ tau[0])
    if zero_block:
        assert_close(order_1, want, TOLERANCE["independent"], "order 1")
        return
    size = np.abs(want).max()
    assert np.abs(order_1 - want)[:6].max() > 0.1 * size
    assert np.abs(order_1 - want)[6:].max() > 1e-3 * size
    # Lemma 1 goes, too.
    C, M = paper.coriolis(), dtau.mass_matrix_time_derivatives(model, q, [v])
    turn = paper.Tdot @ back.T
    exact = back @ M[1] @ back.T - turn.T @ paper.mass - paper.mass @ turn
    assert np.abs(C + C.T - exact).max() > 0.1 * np.abs(exact).max()
