"""Regularizations so small that the forces of contradicting rows are lost in rounding errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import assert_same_bits

import dtau
from dtau.registry import arrays_of

MODEL = dtau.robots.quadruped()
FEET = dtau.robots.QUADRUPED_FEET
FLAT = dtau.Contacts(MODEL, [dtau.FrameContact(foot) for foot in FEET])
Q, V, TAU = dtau.random_state(MODEL, np.random.default_rng(20261128))
VALUES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)


def exact() -> tuple[np.ndarray, np.ndarray]:
    """The forces by NumPy's pseudo-inverse, and the accelerations."""
    J = dtau.frame_jacobians(MODEL, Q, FEET, axes="body").reshape(24, MODEL.nv)
    inverse = np.linalg.inv(dtau.mass_matrix(MODEL, Q))
    a = dtau.forward_dynamics(MODEL, Q, V, TAU)
    free = dtau.frame_accelerations(MODEL, Q, V, a, FEET, "body", kind="classical").reshape(24)
    forces = np.linalg.pinv(J @ inverse @ J.T, rcond=1e-9, hermitian=True) @ -free
    return forces, a + inverse @ J.T @ forces


@pytest.mark.parametrize("value", VALUES)
def test_lost_forces_are_refused_and_never_returned(value: float) -> None:
    """The eigenvalues of J M^-1 J^T are 0.06 to 150, so 1e-6 of the largest is 1e-4."""
    forces, a = exact()
    if value <= 1e-8:
        said = (
            f"rows contradict each other in this state, and regularization={value:g} is too small"
        )
        if value < 1e-9:  # below the rounding errors of pivots
            said = "rows of '.H_FOOT' depend on .*give a larger regularization="
        with pytest.raises(ValueError, match=f"^contacts: {said}"):
            dtau.constrained_dynamics(MODEL, Q, V, TAU, FLAT, regularization=value)
        return
    found = dtau.constrained_dynamics(MODEL, Q, V, TAU, FLAT, regularization=value)
    np.testing.assert_allclose(found.forces, forces, rtol=0, atol=1e-4 * np.abs(forces).max())
    np.testing.assert_allclose(found.a, a, rtol=0, atol=1e-8 * np.abs(a).max())


CALLS: dict[str, Any] = {
    "constrained_dynamics": (Q, V, TAU, FLAT),
    "constrained_dynamics_derivatives": (Q, V, TAU, FLAT),
    "step": (Q, V, TAU, 0.01),
    "linearize": (Q, V, TAU),
    "linearize_discrete": (Q, V, TAU, 0.01),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_function_refuses_alone_and_gives_nan_in_a_batch(name: str) -> None:
    """A state whose contacts do not contradict each other has the same bits beside it."""
    call = getattr(dtau, name)
    options: dict[str, Any] = {"regularization": 3e-9}
    if name in ("step", "linearize", "linearize_discrete"):
        options["contacts"] = FLAT
    with pytest.raises(ValueError, match=r"^contacts: rows contradict each other in this state"):
        call(MODEL, *CALLS[name], **options)
    arrays = [np.tile(x, (5, 1)) if np.ndim(x) == 1 else x for x in CALLS[name]]
    active = np.ones((5, 4))
    active[[1, 3, 4], 1:] = 0
    results = call(MODEL, *arrays, **options, active=active)
    lone = call(MODEL, *CALLS[name], **options, active=active[1])
    for key, x in results._asdict().items():
        alone = getattr(lone, key)
        kept = {"q": x.size // 5, "A": 18 * 36, "B": 18 * 12}.get(key, 0)  # do not depend on forces
        assert np.isnan(x[[0, 2]].reshape(2, -1)[:, kept:]).all(), key
        assert np.isfinite(x[[1, 3, 4]]).all(), key
        for k in (1, 3, 4):
            assert_same_bits(x[k], alone, key)


@pytest.mark.parametrize("value", VALUES[2:6])
def test_products_of_a_state_at_rest_are_those_of_its_matrices(value: float) -> None:
    """Its forces contradict nothing, so they are not lost, whatever directions and weights are."""
    still = np.zeros(MODEL.nv)
    at, options = (MODEL, Q, still, TAU), {"regularization": value}
    d = dtau.constrained_dynamics_derivatives(*at, FLAT, **options)
    rng = np.random.default_rng(8)
    dq, dv, dtau_, lam = rng.standard_normal((4, MODEL.nv))
    weights = rng.standard_normal(24)

    def near(got: np.ndarray, want: np.ndarray, bound: float = 1e-4) -> None:
        np.testing.assert_allclose(got, want, rtol=0, atol=bound * max(1.0, np.abs(want).max()))

    got = dtau.constrained_dynamics_jvp(*at, FLAT, dq, dv, dtau_, **options)
    near(got[0], d.da_dq @ dq + d.da_dv @ dv + d.da_dtau @ dtau_)
    near(got[1], d.dforces_dq @ dq + d.dforces_dv @ dv + d.dforces_dtau @ dtau_)
    products = dtau.constrained_dynamics_vjp(*at, FLAT, lam, weights, **options)
    for by, product in {"dq": products.by_q, "dv": products.by_v, "dtau": products.by_tau}.items():
        near(product, lam @ getattr(d, f"da_{by}") + weights @ getattr(d, f"dforces_{by}"))
    hessian = dtau.constrained_dynamics_hessian(*at, FLAT, lam, weights, **options)
    exact = dtau.constrained_dynamics_hessian(*at, FLAT, lam, weights, regularization=1e-4)
    for block, want in zip(arrays_of(hessian), arrays_of(exact), strict=True):
        near(block, want, 1e-3)


def four_bar() -> tuple[dtau.Model, dtau.Contacts, np.ndarray]:
    """A planar loop of four bars: rows out of its plane vanish, and no row contradicts others."""
    builder = dtau.ModelBuilder("four bars")
    bar = dtau.Inertia(1.0, (0.5, 0.0, 0.0), np.diag([0.01, 0.1, 0.1]))
    first = builder.add(dtau.Revolute((0, 0, 1)), name="a", inertia=bar)
    place = dtau.Pose(translation=(1.0, 0.0, 0.0))
    second = builder.add(
        dtau.Revolute((0, 0, 1)), name="b", parent=first, placement=place, inertia=bar
    )
    builder.add(dtau.Revolute((0, 0, 1)), name="c", parent=second, placement=place, inertia=bar)
    model = builder.build()
    q = np.array([np.pi / 2, -np.pi / 2, -np.pi / 2])
    model = model.add_frame("end", "c", place)
    end = dtau.PointContact("end", position=(1.0, 0.0, 0.0))
    return model, dtau.Contacts(model, [end]), q


@pytest.mark.parametrize("value", VALUES)
def test_planar_linkages_are_exact_at_any_value(value: float) -> None:
    model, contacts, q = four_bar()
    rng = np.random.default_rng(3)
    for _ in range(20):
        v, tau = np.array([1.0, -1.0, 1.0]) * rng.standard_normal(), rng.standard_normal(3)
        found = dtau.constrained_dynamics(model, q, v, tau, contacts, regularization=value)
        want = dtau.constrained_dynamics(model, q, v, tau, contacts, regularization=1e-4)
        np.testing.assert_allclose(found.a, want.a, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(found.forces, want.forces, rtol=1e-7, atol=1e-8)
        assert found.forces[2] == 0.0


def test_impulses_do_not_contradict_each_other() -> None:
    """Velocities of contacts are velocities of the robot."""
    forces = [
        dtau.impulse_dynamics(MODEL, Q, V, FLAT, regularization=x).impulses for x in VALUES[:6]
    ]
    for x in forces[1:]:
        np.testing.assert_allclose(x, forces[0], rtol=0, atol=1e-7 * np.abs(forces[0]).max())


def test_no_forces_are_not_lost_forces() -> None:
    """A robot at rest without gravity has no forces, and impacts without velocity no impulses."""
    model = MODEL.replace(gravity=(0.0, 0.0, 0.0))
    contacts = dtau.Contacts(model, [dtau.FrameContact(foot) for foot in FEET])
    still = np.zeros(model.nv)
    found = dtau.constrained_dynamics(model, Q, still, still, contacts, regularization=3e-9)
    assert not found.forces.any()
    hit = dtau.impulse_dynamics(model, Q, still, contacts, regularization=3e-9)
    assert not hit.impulses.any()
