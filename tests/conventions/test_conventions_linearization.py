"""Linearizations in other conventions: against complex step of the maps by their definitions."""

from __future__ import annotations

import complex_step
import numpy as np
import pytest
from cases import ROBOTS, actuated, random_state, robot
from compare import TOLERANCE, assert_close, assert_same_results, solved
from complex_step import STEP
from core import complex_core
from function import INTEGRATORS
from hypothesis import given
from textbook import CONVENTIONS, Textbook, each_convention, kinematic_block
from trees import SEEDS, Array, Tree, skew, trees

import dtau


def kinematics(book: Textbook, q: Array, v: Array) -> Array:
    """What displacements of the convention do to their own rates, as documented."""
    out = kinematic_block(book.model, v)
    for joint in book.roots() if book.kind != "angular first" else []:
        u, w = (book.matrix(q) @ v)[joint.v].reshape(2, 3)
        none = np.zeros((3, 3))
        out[joint.v, joint.v] = {
            "half mixed": np.block([[none, none], [none, -skew(w)]]),
            "mixed": np.block([[none, none], [none, skew(w)]]),
            "spatial": np.block([[skew(w), skew(u)], [none, skew(w)]]),
        }[book.kind]
    return out[np.ix_(book.order(), book.order())]


def driven(book: Textbook) -> list[int]:
    """Torques of all joints but free roots, as the convention's velocities stand."""
    ours = set(actuated(book.model))
    return [int(k) for k in book.order() if int(k) in ours]


def check(kind: str, model: dtau.Model, seed: int) -> None:
    """Rows of the velocity: rows of the dynamics, where z' is varied and tau is held."""
    convention, book, s = CONVENTIONS[kind](model), Textbook(kind, model), random_state(model, seed)
    q, v, tau, f_ext, n = s["q"], s["v"], s["tau"], s["f_ext"], model.nv
    lin = dtau.linearize(model, q, v, tau, f_ext)
    got = convention.convert(lin, at={"q": q, "v": v, "inputs": None})
    theirs = convention.from_dtau(q, v, lin.a)

    def acceleration(x: Array, velocity: Array, torque: Array) -> Array:
        ours = np.linalg.solve(book.matrix(x), velocity)
        a = complex_core("forward_dynamics", model, x, ours, torque, f_ext)
        out: Array = book.matrix(x) @ a + book.rate(x, ours)
        return out

    unit = np.eye(n)
    steps = [
        [acceleration(book.moved(q, e), theirs.v, tau) for e in unit],
        [acceleration(q, theirs.v + 1j * STEP * e, tau) for e in unit],
        [acceleration(q, theirs.v, tau + 1j * STEP * e) for e in unit],
    ]
    by_q, by_v, by_tau = (np.stack(columns, axis=-1).imag / STEP for columns in steps)
    tolerance = 10 * solved(TOLERANCE["complex_step"], dtau.mass_matrix(model, q))
    floor = max(float(np.abs(lin.A).max()), float(np.abs(lin.a).max()))
    assert_close(got.a, theirs.a, tolerance, "a", floor=floor)
    assert_close(got.A[:n, :n], kinematics(book, q, v), tolerance, "kinematics", floor=floor)
    assert_close(got.A[:n, n:], unit, tolerance, "dv", floor=floor)
    assert_close(got.A[n:, :n], by_q, tolerance, "by_q", floor=floor)
    assert_close(got.A[n:, n:], by_v, tolerance, "by_v", floor=floor)
    np.testing.assert_array_equal(got.B[:n], 0.0)
    assert_close(got.B[n:], by_tau[:, driven(book)], tolerance, "B", floor=floor)


@each_convention
@pytest.mark.parametrize("name", ROBOTS)
def test_robots(name: str, kind: str) -> None:
    check(kind, robot(name), 1)


@each_convention
@given(trees(max_bodies=5), SEEDS)
def test_trees(kind: str, tree: Tree, seed: int) -> None:
    check(kind, tree.model(), seed)


@each_convention
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", ["one free", "free root, branches", "forest"])
def test_steps(name: str, integrator: str, kind: str) -> None:
    """z' before and after a step."""
    model = robot(name)
    convention, book, s = CONVENTIONS[kind](model), Textbook(kind, model), random_state(model, 2)
    q, v, tau, dt, n = s["q"], s["v"], s["tau"], 0.03, model.nv
    lin = dtau.linearize_discrete(model, q, v, tau, dt, integrator)
    got = convention.convert(lin, at={"q": q, "v": v, "inputs": None})
    theirs = convention.from_dtau(q, v)

    def variation(x: Array, velocity: Array, torque: Array) -> Array:
        ours = np.linalg.solve(book.matrix(x), velocity)
        q_after, v_after = complex_core("step", model, x, ours, torque, dt, integrator=integrator)
        xi = complex_step.tangent(model, lin.q, q_after.imag / STEP)
        change = (book.matrix(q_after) @ v_after).imag / STEP
        return np.r_[book.matrix(lin.q) @ xi, change]

    unit = 1j * STEP * np.eye(n)
    A = [variation(book.moved(q, e), theirs.v, tau) for e in np.eye(n)]
    A += [variation(q, theirs.v + e, tau) for e in unit]
    B = [variation(q, theirs.v, tau + unit[k]) for k in driven(book)]
    assert_close(got.A, np.stack(A, axis=-1), TOLERANCE["step"], "A")
    assert_close(got.B, np.reshape(B, (-1, 2 * n)).T, TOLERANCE["step"], "B", floor=1e-3)  # dt^2
    after = convention.from_dtau(lin.q, lin.v)
    assert_same_results((got.q, got.v), (after.q, after.v))


def test_errors() -> None:
    model = robot("quadruped")
    s = random_state(model, 3, (4,))
    q, v, tau = s["q"], s["v"], s["tau"]
    spatial = dtau.conventions.spatial_twist(model)
    lin = dtau.linearize(model, q, v, tau)
    d = dtau.forward_dynamics_derivatives(model, q, v, tau)
    at = {"q": q, "v": v, "inputs": None}
    with pytest.raises(TypeError, match=r"^at: expected .*, got no 'a', 'tau'"):
        spatial.convert(d, at=at)
    with pytest.raises(ValueError, match=r"^result\.A has shape"):
        spatial.convert(lin._replace(A=lin.A[..., :-1]), at=at)
    with pytest.raises(ValueError, match=r"^to_dtau: expected False, for Linearization convert"):
        spatial.convert(lin, at=at, to_dtau=True)
    # Without inputs, B could be another's.
    with pytest.raises(TypeError, match=r"^at: expected 'q', 'v', 'inputs' to convert Lineariz"):
        spatial.convert(lin, at={"q": q, "v": v})
    some = dtau.linearize(model, q, v, tau, inputs=np.ones((model.nv, 3)))
    with pytest.raises(ValueError, match=r"^result\.B has 3 columns, expected 12, as in `inputs`"):
        spatial.convert(some, at=at)
    with pytest.raises(ValueError, match="inputs: expected a mask"):
        spatial.convert(some, at=at | {"inputs": np.ones((3, model.nv))})


def test_torques_stand_in_the_order_of_velocities() -> None:
    """By default and by a mask; inputs of a map stay where they are."""
    model = robot("forest")
    s = random_state(model, 4)
    point = s["q"], s["v"], s["tau"]
    angular = dtau.conventions.angular_first(model)
    order = Textbook("angular first", model).order()
    mask = np.ones(model.nv, dtype=bool)
    mask[[1, 7]] = False
    for inputs in (mask, np.eye(model.nv)):
        lin = dtau.linearize(model, *point, inputs=inputs)
        step = dtau.linearize_discrete(model, *point, 0.01, inputs=inputs)
        at = {"q": point[0], "v": point[1], "inputs": inputs}
        got = angular.convert(lin, at=at), angular.convert(step, at=at)
        rows = np.concatenate([order, model.nv + order])
        kept = [k for k in order if mask[k]] if inputs is mask else range(model.nv)
        ours = np.flatnonzero(mask) if inputs is mask else np.arange(model.nv)
        columns = [int(np.flatnonzero(ours == k)[0]) for k in kept]
        for x, y in zip(got, (lin, step), strict=True):
            assert_close(x.B, y.B[rows][:, columns], TOLERANCE["short sums"], "B")
