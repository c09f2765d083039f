"""The examples do what they say, on a small scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from compare import TOLERANCE, assert_close

import dtau


def test_first_contact(script: Callable[[str], Any], capsys: pytest.CaptureFixture[str]) -> None:
    script("examples/first_contact").main()
    assert "(1000, 18, 18)" in capsys.readouterr().out


def test_attitude_sweep_blows_up_in_euler_angles_only(script: Callable[[str], Any]) -> None:
    sweep = script("examples/attitude_sweep")
    pitch = np.pi / 2 - np.array([1e-1, 1e-3, 1e-5])
    largest = sweep.largest_entries(np.full(3, 0.35), pitch)
    for name in ("A, Euler", "B, Euler"):
        growth = largest[name][1:] / largest[name][:-1]
        assert growth[-1] == pytest.approx(100.0, rel=0.05), name
    for name in ("A", "B"):
        assert np.ptp(largest[name]) < 0.1 * largest[name].max(), name


def test_the_regulator_holds_flights_that_begin_upside_down(
    script: Callable[[str], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    lqr = script("examples/hover_lqr")
    flights = lqr.fly(20, seed=1)
    assert flights.tilt[0].max() > np.deg2rad(170)
    assert np.abs(flights.pitch).max() > np.deg2rad(89.9)
    assert lqr.report(flights)
    assert "held:                  20 of 20" in capsys.readouterr().out


def test_the_payload_is_found_within_its_standard_errors(
    script: Callable[[str], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    identification = script("examples/payload_identification")
    _, _, _, found = identification.identify(seed=1)
    assert identification.report(found)
    body, errors = identification.payload(found)
    assert body[0] == pytest.approx(identification.PAYLOAD.mass, rel=0.01)
    assert np.all(errors[4:] < 0.1 * identification.PAYLOAD.tensor.max())
    assert "largest error" in capsys.readouterr().out


def test_six_propellers_push_every_way(script: Callable[[str], Any]) -> None:
    propellers = script("examples/propellers")
    base = propellers.inputs(dtau.robots.aerial_manipulator())[:6, :6]
    assert np.linalg.cond(base) < 10


@pytest.mark.parametrize("robot", ["arm", "quadruped"])
def test_the_expansion_of_exact_ddp_drops_nothing(script: Callable[[str], Any], robot: str) -> None:
    """Against differences of the simulated cost along a random change of the inputs."""
    ddp, task = script("examples/ddp"), getattr(script("examples/ddp_tasks"), robot)()
    rng = np.random.default_rng(0)
    n = task.model.nv
    task = replace(task, way_cost=rng.uniform(0, 1, 2 * n), end_cost=rng.uniform(1, 20, 2 * n))
    u = task.guess[:15] + rng.standard_normal(task.guess[:15].shape)
    change = rng.standard_normal(u.shape)
    at = ddp.simulate(task, u)
    expansion = ddp.expand(task, at)

    steps = 3e-3 * np.arange(-2, 3)[:, None, None]
    cost = ddp.simulate(task, u + steps * change).cost
    first = np.array([1, -8, 0, 8, -1]) @ cost / (12 * 3e-3)
    second = np.array([-1, 16, -30, 16, -1]) @ cost / (12 * 3e-3**2)

    def quadratic_form(hessians: np.ndarray) -> float:
        x, total = np.zeros(2 * n), 0.0
        for jacobian, hessian, du in zip(expansion.jacobians, hessians, change, strict=False):
            z = np.concatenate([x, du])
            x, total = jacobian @ z, total + z @ hessian @ z
        return float(total + x @ hessians[-1, : 2 * n, : 2 * n] @ x)

    exact = ddp.exact_hessians(task, at, expansion)
    assert_close(np.swapaxes(exact, -1, -2), exact, TOLERANCE["identity"], "symmetry")
    # What differences of fourth order over steps of 3e-3 give; dropped terms are a thousandth.
    assert first == pytest.approx((expansion.gradient * change).sum(), rel=1e-8)
    assert second == pytest.approx(quadratic_form(exact), rel=1e-6)
    assert second != pytest.approx(quadratic_form(expansion.hessians), rel=1e-3)


def test_exact_ddp_converges_quadratically_where_ilqr_does_not(
    script: Callable[[str], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    ddp, convergence = script("examples/ddp"), script("examples/ddp_convergence")
    task = script("examples/ddp_tasks").arm()
    task = replace(task, guess=task.guess[:30], start=0.3 * task.start)
    exact = ddp.solve(task, True, 40)
    ilqr = ddp.solve(task, False, len(exact.cost))
    assert exact.gradient[-1] < ddp.CONVERGED
    assert exact.gradient[-2] < 1e-2 * exact.gradient[-3]
    assert ilqr.gradient[-1] > 1e3 * exact.gradient[-2]
    assert exact.cost[-1] <= min(ilqr.cost)
    convergence.report(task, {False: ilqr, True: exact})
    assert "exact DDP" in capsys.readouterr().out
