"""Second derivatives with contacts, by complex step of first ones; forces of the same call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import ROBOTS, random_state, robot
from compare import assert_close, assert_same_results
from complex_step import by_q, by_vector
from contact_oracle import random_contacts
from core import complex_core
from function import INTEGRATORS
from hypothesis import given, settings
from test_contradictions import contradicting, flat_feet
from trees import SEEDS, Array, Tree, trees

import dtau
from dtau.registry import arrays_of

BOUND = 1e-11


def gradients(
    name: str, model: dtau.Model, state: tuple[Array, ...], *arrays: Any, **options: Any
) -> list[list[Array]]:
    """Derivatives of the gradient by q, v (and tau), each by each: [first][second]."""
    results = []
    for second, x in enumerate(state):

        def value(y: Any, second: int = second) -> Any:
            at = [*state[:second], y, *state[second + 1 :]]
            return np.stack(complex_core(name, model, *at, *arrays, **options)[: len(state)], -2)

        step = by_q(model, x, value) if second == 0 else by_vector(x, value)
        results.append(list(step))
    return [[results[second][first] for second in range(len(state))] for first in range(len(state))]


def filled(count: int, n: int) -> list[Array]:
    return [np.full((n, n), np.nan) for _ in range(count)]


def compare(
    contacts: dtau.Contacts,
    state: tuple[Array, Array, Array],
    weights: tuple[Array, Array],
    f_ext: Array | None,
    bound: float = BOUND,
    **options: Any,
) -> None:
    model = contacts.model
    active = options.pop("active", None)
    want = gradients(
        "constrained_dynamics_vjp",
        model,
        state,
        *weights,
        f_ext,
        active,
        contacts=contacts,
        **options,
    )
    held = {"active": active, **options}
    got = dtau.constrained_dynamics_hessian(
        model, *state, contacts, *weights, f_ext, **held, out=filled(4, model.nv)
    )
    what = f"of {contacts.contacts}"
    assert_close(got.dqdq, want[0][0], bound, f"qq {what}", floor=1.0)
    assert_close(got.dqdv, want[0][1], bound, f"qv {what}", floor=1.0)
    assert_close(got.dvdv, want[1][1], bound, f"vv {what}", floor=1.0)
    assert_close(got.dtaudq, want[2][0], bound, f"tau q {what}", floor=1.0)
    even = dtau.constrained_dynamics_hessian(
        model, *state, contacts, *weights, f_ext, symmetric=True, **held
    )
    assert_close(even.dqdq, (got.dqdq + got.dqdq.T) / 2.0, bound, "symmetric", floor=1.0)


def check(model: dtau.Model, seed: int, f_ext_axes: str = "body") -> None:
    s = random_state(model, seed)
    contacts = random_contacts(model, [s], seed)
    rng = np.random.default_rng(seed)
    active = rng.integers(0, 4, len(contacts)) > 0
    weights = s["lam"], rng.uniform(-1.0, 1.0, contacts.nrows)
    state = s["q"], s["v"], s["tau"]
    compare(contacts, state, weights, s["f_ext"], active=active, f_ext_axes=f_ext_axes)


@pytest.mark.parametrize("name", ROBOTS)
def test_complex_step(name: str) -> None:
    for seed in range(4):
        check(robot(name), seed)


@pytest.mark.parametrize("axes", ["mixed", "world"])
def test_complex_step_of_wrenches_along_the_world(axes: str) -> None:
    for name in ("free root, branches", "forest"):
        check(robot(name), 3, axes)


@given(trees(), SEEDS)
@settings(max_examples=40)
def test_complex_step_on_trees(tree: Tree, seed: int) -> None:
    check(tree.model(), seed)


# ---------------------------------------------------------------- rows that depend on each other


def check_contradicting(model: dtau.Model, seed: int) -> None:
    s = random_state(model, seed)
    contacts, active, regularization = contradicting(model, s, seed)
    rng = np.random.default_rng(seed)
    weights = s["lam"], rng.uniform(-1.0, 1.0, contacts.nrows)
    state = s["q"], s["v"], s["tau"]
    held = {"active": active, "regularization": regularization}
    compare(contacts, state, weights, s["f_ext"], 1e-6, **held)


@pytest.mark.parametrize("name", ROBOTS)
def test_complex_step_of_contradicting_rows(name: str) -> None:
    for seed in range(4):
        check_contradicting(robot(name), seed)


@given(trees(), SEEDS)
@settings(max_examples=30)
def test_complex_step_of_contradicting_rows_on_trees(tree: Tree, seed: int) -> None:
    check_contradicting(tree.model(), seed)


@pytest.mark.parametrize("axes", ["body", "mixed"])
def test_four_flat_feet(axes: str) -> None:
    """24 rows for 18 velocities, which want what the robot cannot do."""
    model = robot("quadruped")
    s = random_state(model, 2)
    contacts = flat_feet(model, axes)
    weights = s["lam"], np.random.default_rng(1).uniform(-1.0, 1.0, contacts.nrows)
    state = s["q"], s["v"], s["tau"]
    compare(contacts, state, weights, s["f_ext"], 1e-7, regularization=1e-3)


def test_rows_that_depend_on_each_other_are_named() -> None:
    model = robot("quadruped")
    s = random_state(model, 1)
    contacts = dtau.Contacts(
        model, [dtau.PointContact("LF_FOOT"), dtau.PointContact("LF_FOOT", name="again")]
    )
    state = s["q"], s["v"], s["tau"]
    weights = s["lam"], np.ones(6)
    with pytest.raises(ValueError, match="again"):
        dtau.constrained_dynamics_hessian(model, *state, contacts, *weights)
    with pytest.raises(ValueError, match="again"):
        dtau.step_hessian(model, *state, 0.01, s["lam_q"], s["lam_v"], contacts=contacts)
    q, v, tau, *lam = (np.tile(x, (2, 1)) for x in (*state, *weights))
    q[1] = random_state(model, 2)["q"]
    many = dtau.constrained_dynamics_hessian(model, q, v, tau, contacts, *lam)
    assert np.isnan(many.dqdq).all()


# ---------------------------------------------------------------- impacts


def compare_impulses(
    contacts: dtau.Contacts, seed: int, bound: float = BOUND, **options: Any
) -> None:
    """Against complex step of the first derivatives, times weights."""
    model = contacts.model
    s = random_state(model, seed)
    q, v, restitution, n = s["q"], s["v"], 0.3, model.nv
    rng = np.random.default_rng(seed)
    weights = s["lam"], rng.uniform(-1.0, 1.0, contacts.nrows)
    active = options.pop("active", None)

    def gradient(y: Any, w: Any) -> Any:
        d = complex_core(
            "impulse_dynamics_derivatives",
            model,
            y,
            w,
            restitution,
            active,
            contacts=contacts,
            **options,
        )
        return np.einsum("i,...ij->...j", weights[0], d[0]) + np.einsum(
            "i,...ij->...j", weights[1], d[2]
        )

    qq = by_q(model, q, lambda y: gradient(y, v))
    qv = by_vector(v, lambda w: gradient(q, w))
    got = dtau.impulse_dynamics_hessian(
        model, q, v, contacts, *weights, restitution, active=active, **options, out=filled(2, n)
    )
    what = f"of {contacts.contacts}"
    assert_close(got.dqdq, qq, bound, f"qq {what}", floor=1.0)
    assert_close(got.dqdv, qv, bound, f"qv {what}", floor=1.0)


@pytest.mark.parametrize("name", ROBOTS)
def test_complex_step_of_impulses(name: str) -> None:
    model = robot(name)
    for seed in range(4):
        contacts = random_contacts(model, [random_state(model, seed)], seed)
        active = np.random.default_rng(seed).integers(0, 4, len(contacts)) > 0
        compare_impulses(contacts, seed, active=active)
        s = random_state(model, seed)
        contacts, active, regularization = contradicting(model, s, seed)
        compare_impulses(contacts, seed, 1e-6, active=active, regularization=regularization)


@given(trees(), SEEDS)
@settings(max_examples=30)
def test_complex_step_of_impulses_on_trees(tree: Tree, seed: int) -> None:
    model = tree.model()
    compare_impulses(random_contacts(model, [random_state(model, seed)], seed), seed)


# ---------------------------------------------------------------- forces of the same call


@pytest.mark.parametrize("axes", ["body", "mixed"])
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("regularization", [0.0, 1e-3])
def test_forces_of_the_same_call(integrator: Any, axes: Any, regularization: float) -> None:
    """Against the functions that give them alone; the other results keep their bits."""
    model = robot("quadruped")
    rng = np.random.default_rng(3)
    q, v, tau = dtau.random_state(model, rng, shape=(11,))
    kept: list[Any] = [
        dtau.FrameContact("LF_FOOT", axes, kd=2.0),
        dtau.PointContact("RH_FOOT", axes, kp=3.0, position=(0, 0, 0)),
    ]
    loop = dtau.Loop("RF_FOOT", "LH_FOOT", 3, axes=axes)
    again = [dtau.PointContact("LF_FOOT", axes, name="again")] if regularization else []
    contacts = dtau.Contacts(model, [*kept, loop, *again])
    active = rng.integers(0, 4, (11, len(contacts))) > 0
    held: dict[str, Any] = {"active": active, "regularization": regularization}
    d = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts, **held)
    both = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts, forces=True, **held)
    assert_same_results(both, d)
    value = dtau.constrained_dynamics(model, q, v, tau, contacts, **held)
    assert_close(both.a, value.a, 1e-12, "a", floor=1.0)
    assert_close(both.forces, value.forces, 1e-11, "forces", floor=1.0)
    inputs = rng.standard_normal((model.nv, 2))
    for driven in (None, inputs):
        arguments = (model, q, v, tau, 0.02, integrator, None, driven)
        lin = dtau.linearize_discrete(*arguments, contacts=contacts, **held)
        more = dtau.linearize_discrete(*arguments, contacts=contacts, forces=True, **held)
        assert_same_results(arrays_of(more)[:5], arrays_of(lin))
        assert_close(more.forces, value.forces, 1e-11, "forces", floor=1.0)
        by_z = np.concatenate([d.dforces_dq, d.dforces_dv], axis=-1)
        assert_close(more.dforces_dz, by_z, 1e-9, "by z", floor=1.0)
        by_u = d.dforces_dtau[..., 6:] if driven is None else d.dforces_dtau @ driven
        assert_close(more.dforces_du, by_u, 1e-9, "by u", floor=1.0)
        out = [np.full_like(x, np.nan) for x in arrays_of(more)]
        dtau.linearize_discrete(*arguments, contacts=contacts, forces=True, out=out, **held)
        assert_same_results(out, arrays_of(more))
        alone = dtau.linearize_discrete(
            *(x[4] if i in (1, 2, 3) else x for i, x in enumerate(arguments)),
            contacts=contacts,
            forces=True,
            active=active[4],
            regularization=regularization,
        )
        assert_same_results(arrays_of(alone), [x[4] for x in arrays_of(more)])


def test_forces_go_with_contacts() -> None:
    model = robot("quadruped")
    s = random_state(model, 1)
    with pytest.raises(ValueError, match="forces: goes with contacts="):
        dtau.linearize_discrete(model, s["q"], s["v"], s["tau"], 0.01, forces=True)


def test_a_refused_state_leaves_nothing_for_the_next() -> None:
    """Two states are computed one after the other in the same memory."""
    model = robot("quadruped")
    twice = [dtau.FrameContact("LF_FOOT", name="frame"), dtau.PointContact("LF_FOOT", name="point")]
    contacts = dtau.Contacts(model, twice)
    q, v, tau = dtau.random_state(model, np.random.default_rng(0), shape=(2,))
    lam, lam_forces = np.ones((2, model.nv)), np.ones((2, contacts.nrows))
    active = np.array([[1.0, 1.0], [1.0, 0.0]])  # rows of the first depend on each other

    def call(k: slice) -> dtau.ConstrainedDynamicsHessian:
        return dtau.constrained_dynamics_hessian(
            model, q[k], v[k], tau[k], contacts, lam[k], lam_forces[k], active=active[k]
        )

    both, second = call(slice(2)), call(slice(1, 2))
    for x, y in zip(both, second, strict=True):
        if isinstance(x, np.ndarray):
            assert np.isnan(x[0]).all()
            assert np.isfinite(x[1]).all()
            np.testing.assert_array_equal(x[1], y[0])


def check_tensors(
    contacts: dtau.Contacts, s: Any, seed: int, bound: float = 1e-12, **options: Any
) -> None:
    """Contracted with weights, tensors are the Hessians."""
    model, rng = contacts.model, np.random.default_rng(seed)
    weights = rng.standard_normal(model.nv), rng.standard_normal(contacts.nrows)
    state = model, s["q"], s["v"], s["tau"], contacts
    wrenches = {"f_ext": s["f_ext"], "f_ext_axes": ("body", "mixed", "world")[seed % 3]}
    impact = model, s["q"], s["v"], contacts
    for tensors, hessian in (
        (
            dtau.constrained_dynamics_second_derivatives(*state, **wrenches, **options),
            dtau.constrained_dynamics_hessian(*state, *weights, **wrenches, **options),
        ),
        (
            dtau.impulse_dynamics_second_derivatives(*impact, 0.4, **options),
            dtau.impulse_dynamics_hessian(*impact, *weights, 0.4, **options),
        ),
    ):
        half = len(tensors) // 2
        for first, second, expected in zip(tensors[:half], tensors[half:], hessian, strict=True):
            found = np.tensordot(weights[0], first, 1) + np.tensordot(weights[1], second, 1)
            assert_close(found, expected, bound)


@settings(max_examples=40)
@given(tree=trees(), seed=SEEDS)
def test_tensors_contracted_are_hessians(tree: Tree, seed: int) -> None:
    model = tree.model()
    s = random_state(model, seed)
    contacts = random_contacts(model, [s], seed)
    active = (np.random.default_rng(seed).random(len(contacts)) < 0.7).astype(float)
    check_tensors(contacts, s, seed, active=active, symmetric=bool(seed % 2))


@pytest.mark.parametrize("name", ["quadruped", "joints that mimic others"])
@pytest.mark.parametrize("coordinates", ["tangent", "numbers"])
def test_tensors_where_rows_contradict_each_other(name: str, coordinates: Any) -> None:
    model = robot(name)
    s = random_state(model, 5)
    contacts, active, regularization = contradicting(model, s, 5)
    check_tensors(
        contacts,
        s,
        5,
        1e-9,
        active=active,
        regularization=regularization,
        coordinates=coordinates,
    )


@pytest.mark.parametrize("name", ["constrained_dynamics", "impulse_dynamics"])
@pytest.mark.parametrize("kind", ["second_derivatives", "hessian"])
def test_symmetric_is_a_bool(name: str, kind: str) -> None:
    model = robot("quadruped")
    s = random_state(model, 1)
    contacts = dtau.Contacts(model, [dtau.PointContact("LF_FOOT")])
    inputs = [s["q"], s["v"], *([s["tau"]] if name.startswith("constrained") else [])]
    weights = [np.ones(model.nv), np.ones(3)] if kind == "hessian" else []
    function = getattr(dtau, f"{name}_{kind}")
    for wrong in (1, None, "yes"):
        with pytest.raises(TypeError, match="symmetric: expected bool, got"):
            function(model, *inputs, contacts, *weights, symmetric=wrong)
