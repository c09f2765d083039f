"""The core against [Bos]'s own algorithms, and these against numbers and a misprint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import eidamb
import immamb
import numpy as np
import pytest
from cases import random_state
from compare import TOLERANCE, assert_close, solved
from eidamb import EIDAmb
from files import ORACLES
from state_oracle import STATES, oracle
from trees import Array, Tree, grow, rotation_of

import dtau

KINDS = ("revolute", "prismatic", "helical")
TREES = {
    "bos10": oracle("bos10").tree,
    "branches at the base": grow(["free", *KINDS * 3], [-1, 0, 1, 0, 3, 3, 0, 6, 2, 4], 29).bare(),
    "a chain": grow(["free", *KINDS * 2], range(-1, 6), seed=31).bare(),
    "a lone base": grow(["free"], [-1], seed=37).bare(),
}
PARTS = ("H", "s", "v", "r")


@dataclass(frozen=True)
class Case:
    """A tree's state, in the package's order and in [Bos]'s."""

    tree: Tree
    model: dtau.Model
    q: Array
    v: Array
    a: Array
    order: Array  # where the tree's velocities [base; joints as listed] are in the package's

    @property
    def s(self) -> Array:
        at = [self.model.joint(body.name).q.start for body in self.tree.bodies[1:]]
        return self.q[at]

    @property
    def pose(self) -> tuple[Array, Array]:
        """The base's, in the world."""
        root, joint = self.tree.bodies[0], self.model.joint(self.tree.bodies[0].name)
        q = self.q[joint.q]
        return root.rotation @ rotation_of(q[3:]), root.translation + root.rotation @ q[:3]

    def swept(self) -> EIDAmb:
        v, a = self.v[self.order], self.a[self.order]
        return EIDAmb(self.tree, self.s, v[6:], a[6:], self.pose, v[:6], a[:6])

    def columns(self, part: str) -> Array:
        """The columns of the package's derivative by q or v that belong to H, s, v or r."""
        return self.order[:6] if part in "Hv" else self.order[6:]


def order_of(tree: Tree, model: dtau.Model) -> Array:
    return np.concatenate([np.r_[model.joint(body.name).v] for body in tree.bodies])


@cache
def case(name: str, seed: int = 0) -> Case:
    tree = TREES[name]
    model = tree.model()
    state = random_state(model, 100 + seed)
    return Case(tree, model, state["q"], state["v"], state["a"], order_of(tree, model))


@pytest.mark.parametrize("name", TREES)
def test_inverse_dynamics(name: str) -> None:
    c = case(name)
    want = c.swept()
    got = dtau.inverse_dynamics(c.model, c.q, c.v, c.a)[c.order]
    assert_close(got, want.result, TOLERANCE["independent"], "tau")
    # what the paper computes twice
    assert_close(
        want.short_base_wrench, want.result[:6], TOLERANCE["independent"], "M_0^c a_0 + b_0^c"
    )


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", [name for name in TREES if name != "a lone base"])
def test_derivatives(name: str, part: str) -> None:
    c = case(name)
    algorithm = {
        "H": eidamb.derivative_by_pose,
        "s": eidamb.derivative_by_positions,
        "v": eidamb.derivative_by_twist,
        "r": eidamb.derivative_by_rates,
    }[part]
    d = dtau.inverse_dynamics_derivatives(c.model, c.q, c.v, c.a)
    got = (d.dtau_dq if part in "Hs" else d.dtau_dv)[np.ix_(c.order, c.columns(part))]
    assert_close(got, algorithm(c.swept()), TOLERANCE["independent"], f"by {part}")


@pytest.mark.parametrize("name", TREES)
def test_mass_matrix_inverse(name: str) -> None:
    c = case(name)
    got = dtau.mass_matrix_inverse(c.model, c.q)[np.ix_(c.order, c.order)]
    want = immamb.mass_matrix_inverse(c.tree, c.s)
    assert_close(
        got, want, solved(TOLERANCE["independent"], dtau.mass_matrix(c.model, c.q)), "M^-1"
    )


@pytest.mark.parametrize("name", TREES)
def test_derivatives_by_accelerations(name: str) -> None:
    """eq. 49: they are the mass matrix, column by column of Table 4 itself."""
    c = case(name)
    still = EIDAmb(c.tree, c.s, 0 * c.s, 0 * c.s, c.pose, np.zeros(6), np.zeros(6)).result
    unit = np.eye(c.model.nv)
    want = [
        EIDAmb(c.tree, c.s, 0 * c.s, e[6:], c.pose, np.zeros(6), e[:6]).result - still for e in unit
    ]
    got = dtau.mass_matrix(c.model, c.q)[np.ix_(c.order, c.order)]
    assert_close(got, np.column_stack(want), TOLERANCE["independent"], "M")


# The ten-body tree of [Bos] against numbers of another program


@cache
def oracle_case(state: str) -> tuple[Case, dict[str, Array]]:
    """The oracle's state with its free acceleration: no wrench on the base."""
    with np.load(ORACLES / "bosA_bos10.npz") as file:
        numbers = {key: file[f"{state}_bos_{key}"] for key in ("A", "B", "tau", "nu", "nudot")}
    o = oracle("bos10")
    order = order_of(o.tree, o.model)
    a = np.empty(o.model.nv)
    a[order] = numbers["nudot"]
    return Case(o.tree, o.model, o.q(state), o.vector(state, "qd"), a, order), numbers


@pytest.mark.parametrize("state", STATES)
def test_state_matrix_of_the_oracle(state: str) -> None:
    c, numbers = oracle_case(state)
    assert_close(c.v[c.order], numbers["nu"], TOLERANCE["rounding"], "nu")
    swept = c.swept()
    assert_close(swept.result[6:], numbers["tau"], TOLERANCE["oracle"], "tau")
    assert np.abs(swept.result[:6]).max() < TOLERANCE["oracle"]
    inverse = immamb.mass_matrix_inverse(c.tree, c.s)
    assert_close(eidamb.state_matrix(swept, inverse), numbers["A"], TOLERANCE["oracle"], "A")
    assert_close(np.vstack([0.0 * inverse, inverse])[:, 6:], numbers["B"], TOLERANCE["oracle"], "B")


@pytest.mark.parametrize("state", STATES)
def test_state_matrix_of_the_core(state: str) -> None:
    c, numbers = oracle_case(state)
    tau = np.zeros(c.model.nv)
    tau[c.order[6:]] = numbers["tau"]
    lin = dtau.linearize(c.model, c.q, c.v, tau)
    n = c.model.nv
    rows = np.concatenate([c.order, n + c.order])
    assert_close(lin.A[np.ix_(rows, rows)], numbers["A"], TOLERANCE["oracle"], "A")
    assert_close(lin.B[np.ix_(rows, c.order[6:] - 6)], numbers["B"], TOLERANCE["oracle"], "B")
    assert_close(lin.a[c.order], numbers["nudot"], TOLERANCE["oracle"], "a")


# The misprint


@pytest.mark.parametrize("state", STATES)
def test_printed_table_5_is_not_the_derivative_of_eq_42(state: str) -> None:
    """Line 1 as printed holds the twist fixed in the world, eq. 42 needs it fixed in the body.

    What the printed table gives is D_1 ID + D_3 ID (v_0 x), which is far from D_1 ID.
    """
    c, _ = oracle_case(state)
    swept = c.swept()
    right = eidamb.derivative_by_pose(swept)
    printed = eidamb.derivative_by_pose(swept, as_printed=True)
    by_twist = eidamb.derivative_by_twist(swept)
    assert_close(
        printed, right + by_twist @ eidamb.cross(swept.v[0]), TOLERANCE["independent"], "printed"
    )
    assert np.abs(printed - right).max() > 0.05 * np.abs(right).max()
    d = dtau.inverse_dynamics_derivatives(c.model, c.q, c.v, c.a)
    assert_close(d.dtau_dq[np.ix_(c.order, c.order[:6])], right, TOLERANCE["independent"], "D_1 ID")


def test_printed_table_5_differentiates_at_a_fixed_twist_of_the_world() -> None:
    """The same by differences: the base moves, its twist in the world stays."""
    c, _ = oracle_case("s0")
    printed = eidamb.derivative_by_pose(c.swept(), as_printed=True)
    v_world = c.swept().v_A

    def torque(z: Array) -> Array:
        dq = np.zeros(c.model.nv)
        dq[c.order[:6]] = z
        q = dtau.integrate(c.model, c.q, dq)
        moved = Case(c.tree, c.model, q, c.v, c.a, c.order)
        v = c.v.copy()
        v[c.order[:6]] = eidamb.twist_transform(*moved.pose) @ v_world
        return dtau.inverse_dynamics(c.model, q, v, c.a)[c.order]

    step = 1e-5
    differences = [(torque(step * e) - torque(-step * e)) / (2 * step) for e in np.eye(6)]
    # Central differences: the step squared and the rounding over the step.
    assert_close(np.column_stack(differences), printed, 1e-8, "by H at a fixed world twist")
