"""The benchmark of time derivatives refuses to time what is wrong; CasADi's torques are ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compare import TOLERANCE, assert_close

import dtau


@pytest.mark.parametrize("function", ["inverse", "forward"])
@pytest.mark.parametrize("spoilt", [0, 1])
def test_wrong_results_are_not_timed(
    script: Any, function: str, spoilt: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = script("benchmarks/time_cases").Case.of(dtau.robots.aerial_manipulator(), function, 2, 5)
    assert case.check().shape == (5, 3, 12)
    name = f"{function}_dynamics_time_derivatives"
    right = getattr(dtau, name)

    def wrong(*arguments: Any, **options: Any) -> Any:
        result = right(*arguments, **options)
        result[..., spoilt, 3] *= 1.0 + 1e-6
        return result

    monkeypatch.setattr(dtau, name, wrong)
    with pytest.raises(SystemExit, match=f"{function} dynamics, 7 bodies, order 2: "):
        case.check()


def test_exponents_are_fitted(script: Any) -> None:
    curve = script("benchmarks/time_derivatives").Curve
    x = [7, 50, 996]
    assert curve("inverse", "batch", "bodies", 5, x, [0.1 * i for i in x]).exponent == (
        pytest.approx(1.0)
    )
    x = [0, 3, 10]
    assert curve("inverse", "batch", "order", None, x, [(i + 1) ** 2 for i in x]).exponent == (
        pytest.approx(2.0)
    )


def test_ratios_are_to_the_better_quoted_number(script: Any) -> None:
    row = script("benchmarks/time_derivatives").Row
    # built 1.8, printed 2.326; then printed 8.171, built 15.1; then only printed, built, neither
    assert row(7, "inverse", 0, 0.9, 0.1).better == ("built", 1.8)
    assert row(7, "inverse", 5, 2.0, 0.5).better == ("printed", 8.171)
    assert row(7, "forward", 3, 2.0, 0.5).better == ("printed", 6.461)
    assert row(101, "forward", 5, 50.0, 5.0).better == ("built", 342.0)
    assert row(101, "forward", 4, 50.0, 5.0).better is None
    cells = row(7, "inverse", 5, 2.0, 1.0).cells()
    assert cells[5:10] == ["8.171", "15.1", "printed", "4.1x", "8.2x"]
    assert cells[10:] == ["2.5 (1.5)", "ok", "0.76 (0.5)", "MISSED"]  # 6, 10, 20, 30 of built
    assert len(row(101, "forward", 4, 50.0, 5.0).cells()) == len(cells)


@pytest.mark.parametrize("eliminate", [False, True])
@pytest.mark.parametrize(
    ("function", "orders", "tolerance"),
    # Of order k; accelerations solve with those of the orders before.
    [("inverse", 4, lambda k: TOLERANCE["long sums"]), ("forward", 2, lambda k: 1e-11 * 10**k)],
    ids=["torques", "accelerations"],
)
def test_casadi_has_the_same_results(
    script: Any, function: str, orders: int, tolerance: Callable[[int], float], eliminate: bool
) -> None:
    pytest.importorskip("casadi")
    peer = script("benchmarks/casadi_peer")
    model = dtau.robots.aerial_manipulator()
    rng = np.random.default_rng(0)
    q, v, _ = dtau.random_state(model, rng, shape=(3,))
    rest = rng.uniform(-1.0, 1.0, (3, orders + 1, model.nv))
    stack = np.concatenate([v[:, np.newaxis], rest], axis=1)
    if function == "inverse":
        want = dtau.inverse_dynamics_time_derivatives(model, q, stack)
    else:
        want = dtau.forward_dynamics_time_derivatives(model, q, v, rest)
    expression = getattr(peer, f"{function.capitalize()}Dynamics")(
        model, orders, eliminate=eliminate
    )
    for _ in range(orders):
        expression.differentiate()
    got = peer.Called(expression.function(), peer.inputs(model, q, stack)).all()
    for k, result in enumerate(np.moveaxis(got.reshape(want.shape), 1, 0)):
        assert_close(result, want[:, k], tolerance(k), f"order {k}")
