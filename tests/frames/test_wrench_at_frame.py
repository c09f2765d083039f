"""Derivatives of wrenches at frames: alone, and in the dynamics' derivatives that they complete."""

from __future__ import annotations

from typing import Any

import cases
import numpy as np
import pytest
from cases import on_robots, random_state, robot
from compare import TOLERANCE, assert_close, cancelled, solved
from complex_step import by_q
from core import complex_core
from function import FRAME_AXES
from hypothesis import given, settings
from trees import SEEDS, Array, Tree, trees

import dtau

FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")


def moving_frames(model: dtau.Model) -> list[str]:
    return [name for name in model.frames if model.frame(name).body >= 0]


def check(model: dtau.Model, seed: int) -> None:
    """Against complex step of `wrench_at_frame`."""
    s = random_state(model, seed)
    for axes in FRAME_AXES:
        for frame in moving_frames(model):
            options: dict[str, Any] = {"frame": frame, "axes": axes}

            def f_ext(q: Any, options: Any = options) -> Any:
                return complex_core("wrench_at_frame", model, q, s["wrench"], **options)

            got = dtau.wrench_at_frame_derivatives(model, s["q"], wrench=s["wrench"], **options)
            size = dtau.wrench_at_frame(model, s["q"], wrench=s["wrench"], **options)
            want = by_q(model, s["q"], f_ext)
            assert_close(
                got, want, TOLERANCE["complex_step"], f"{frame} {axes}", floor=cancelled(size)
            )


@on_robots
def test_against_complex_step(name: str) -> None:
    check(robot(name), 1)


@given(trees(), SEEDS)
@settings(max_examples=30)
def test_against_complex_step_on_trees(tree: Tree, seed: int) -> None:
    check(tree.model(), seed)


def standing() -> tuple[dtau.Model, Array, dtau.results.Equilibrium, Array]:
    """A quadruped on four feet, tilted, and what holds it, with the wrenches at the feet."""
    model = dtau.robots.quadruped()
    tilt = np.zeros(model.nv)
    tilt[:6] = 0.1, -0.2, 0.4, 0.1, -0.15, 0.6
    q = dtau.integrate(model, cases.standing(), tilt)
    contacts = dtau.Contacts(model, [dtau.PointContact(foot, "mixed") for foot in FEET])
    hold = dtau.equilibrium(model, q, contacts=contacts)
    return model, q, hold, np.hstack([hold.forces.reshape(4, 3), np.zeros((4, 3))])


def along_q(model: dtau.Model, q: Array, wrenches: Array) -> Array:
    """Derivatives of `f_ext` of wrenches at the feet that keep to the world."""
    each = (
        dtau.wrench_at_frame_derivatives(model, q, foot, wrenches[..., k, :], "mixed")
        for k, foot in enumerate(FEET)
    )
    return np.asarray(sum(each))


@pytest.mark.parametrize("problem", ["inverse_dynamics", "forward_dynamics"])
def test_a_quadruped_that_stands(problem: str) -> None:
    """All that depends on q, by complex step; and the same term in a linearization."""
    model, q, hold, wrenches = standing()
    v = 0.3 * np.ones(model.nv)
    x = hold.tau if problem == "forward_dynamics" else np.zeros(model.nv)

    def result(y: Any) -> Any:
        f_ext = sum(
            complex_core("wrench_at_frame", model, y, w, frame=foot, axes="mixed")
            for foot, w in zip(FEET, wrenches, strict=True)
        )
        return complex_core(problem, model, y, v, x, f_ext)

    want = by_q(model, q, result)
    lacking = np.einsum(
        "ibc,bck->ik",
        getattr(dtau, f"{problem}_wrench_derivatives")(model, q),
        along_q(model, q, wrenches),
    )
    d = getattr(dtau, f"{problem}_derivatives")(model, q, v, x, hold.f_ext)
    tolerance = solved(TOLERANCE["complex_step"], dtau.mass_matrix(model, q))
    assert_close(d[0] + lacking, want, tolerance, problem)
    assert np.abs(lacking).max() > 0.1 * np.abs(want).max()  # it is no small matter
    if problem == "forward_dynamics":
        A = dtau.linearize(model, q, v, x, hold.f_ext).A[model.nv :, : model.nv]
        assert_close(A + lacking, want, tolerance, "A")


def test_errors() -> None:
    model = dtau.robots.quadruped()
    s = random_state(model, 5)
    call: Any = dtau.wrench_at_frame_derivatives
    with pytest.raises(ValueError, match=r"^no frame named 'LF_FOTO'; close names: 'LF_FOOT'"):
        call(model, s["q"], "LF_FOTO", s["wrench"])
    with pytest.raises(ValueError, match="wrench has shape"):
        call(model, s["q"], FEET[0], s["wrench"][:3])
    with pytest.raises(ValueError, match="axes: expected 'body', 'world' or 'mixed', got"):
        call(model, s["q"], FEET[0], s["wrench"], axes="LOCAL")
