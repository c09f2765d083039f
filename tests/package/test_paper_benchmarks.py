"""The papers' experiments refuse to time what is wrong; the peers' results are ours."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import TOLERANCE, assert_close
from files import ROOT

import dtau


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Import a module of the benchmarks by its name in the package."""
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: importlib.import_module(f"benchmarks.{name}")


@pytest.mark.parametrize(
    ("function", "spoilt"),
    [
        *(("inverse", k) for k in (0, 1)),
        *((name, k) for name in ("forward", "hybrid") for k in (0, 1)),
        *(
            (name, k)
            for name in ("mass matrix", "Coriolis matrix", "bias", "gravity")
            for k in (0, 2)
        ),
    ],
)
def test_wrong_results_are_not_timed(
    benchmark: Any, function: str, spoilt: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases, wrong_result = benchmark("experiments.time_cases"), benchmark("experiment")
    case = cases.Case.of(dtau.robots.aerial_manipulator(), function, 2, 5)
    assert case.check().shape[:3] == (5, 3, 12)
    right = cases.FUNCTIONS[function]

    def wrong(*arguments: Any, **options: Any) -> Any:
        results = right(*arguments, **options)
        (results[0] if isinstance(results, tuple) else results)[..., spoilt, 3:5] *= 1.0 + 1e-6
        return results

    monkeypatch.setitem(cases.FUNCTIONS, function, wrong)
    with pytest.raises(wrong_result.WrongResultError, match=f"^{function}|dtau: {function}"):
        case.check()


def test_exponents_are_fitted(benchmark: Any) -> None:
    cost = benchmark("experiments.paper_002_cost").Cost
    x = [7, 50, 996]
    assert cost("inverse", "batch", "bodies", 5, x, [0.1 * i for i in x]).exponent == (
        pytest.approx(1.0)
    )
    x = [0, 3, 10]
    assert cost("inverse", "batch", "order", None, x, [(i + 1) ** 2 for i in x]).exponent == (
        pytest.approx(2.0)
    )


def test_ratios_are_to_the_better_quoted_number(benchmark: Any) -> None:
    row = benchmark("experiments.quoted_times").Row
    # built 1.8, printed 2.326; then printed 8.171, built 15.1; then only printed, built, neither
    assert row(7, "inverse", 0, 0.9, 0.1).better == ("built", 1.8)
    assert row(7, "inverse", 5, 2.0, 0.5).better == ("printed", 8.171)
    assert row(7, "forward", 3, 2.0, 0.5).better == ("printed", 6.461)
    assert row(101, "forward", 5, 50.0, 5.0).better == ("built", 342.0)
    assert row(101, "forward", 4, 50.0, 5.0).better is None
    right = row(7, "inverse", 5, 2.0, 1.0)
    assert right.cells()[4:] == ["8.171", "15.1", "printed", "4.1x", "8.2x"]
    assert [claim.holds for claim in right.claims()] == [True, False]  # 6 and 20 times, of built
    assert not row(101, "forward", 4, 50.0, 5.0).claims()
    assert len(row(101, "forward", 4, 50.0, 5.0).cells()) == len(right.cells())


@pytest.mark.parametrize("eliminate", [False, True])
@pytest.mark.parametrize(
    ("function", "orders", "tolerance"),
    # Of order k; accelerations solve with those of the orders before.
    [("inverse", 4, lambda k: TOLERANCE["long sums"]), ("forward", 2, lambda k: 1e-11 * 10**k)],
    ids=["torques", "accelerations"],
)
def test_casadi_has_the_same_time_derivatives(
    benchmark: Any, function: str, orders: int, tolerance: Callable[[int], float], eliminate: bool
) -> None:
    pytest.importorskip("casadi")
    peer, calls = benchmark("casadi_time"), benchmark("casadi_calls")
    model = dtau.robots.aerial_manipulator()
    rng = np.random.default_rng(0)
    q, v, _ = dtau.random_state(model, rng, shape=(3,))
    rest = rng.uniform(-1.0, 1.0, (3, orders + 1, model.nv))
    stack = np.concatenate([v[:, np.newaxis], rest], axis=1)
    if function == "inverse":
        want = dtau.inverse_dynamics_time_derivatives(model, q, stack)
    else:
        want = dtau.forward_dynamics_time_derivatives(model, q, v, rest)
    expression = peer.KINDS[function](model, orders, eliminate=eliminate)
    for _ in range(orders):
        expression.differentiate()
    got = calls.Called(expression.function(), peer.inputs(model, q, stack)).all()
    for k, result in enumerate(np.moveaxis(got.reshape(want.shape), 1, 0)):
        assert_close(result, want[:, k], tolerance(k), f"order {k}")


@pytest.mark.parametrize("branching", [1, 2])
def test_casadi_and_differences_have_the_same_tensors(benchmark: Any, branching: int) -> None:
    contenders, trees = benchmark("experiments.second_contenders"), benchmark("revolute")
    model, states = contenders.chain_states(5, branching, 2)
    want = contenders.tensors(model, *states)
    for x, y in zip(contenders.Differences(model, *states).tensors(), want, strict=True):
        assert_close(x, y[-1], 1e-8, "differences")
    pytest.importorskip("casadi")
    peer = benchmark("casadi_second").SecondDerivatives(
        trees.RevoluteTree.of(model), eliminate=False
    )
    calls, inputs = benchmark("casadi_calls"), benchmark("casadi_second").inputs
    got = peer.dense(calls.Called(peer.function, inputs(*states)).all())
    assert peer.function.nnz_out(0) < 4 * 5**3
    for x, y in zip(got, want, strict=True):
        assert_close(x, y, TOLERANCE["long sums"], "CasADi")


def count_slowly(items: int, seconds: float) -> Iterator[int]:
    for i in range(items):
        time.sleep(seconds)
        yield i


def take_memory() -> Iterator[int]:
    yield 1
    yield len(bytearray(2**31))


def fail() -> Iterator[int]:
    yield 1
    raise LookupError("of the child's")


def vanish() -> Iterator[int]:
    yield 1
    os._exit(3)


def test_limits_end_what_takes_too_long_or_too_much(benchmark: Any, tmp_path: Path) -> None:
    limits = benchmark("limits")
    limit = limits.Limit(20.0, 1.5)
    assert limits.within(limit, count_slowly, 3, 0.0) == ([0, 1, 2], "")
    assert limits.within(limit, take_memory) == ([1], "1.5 GB")
    items, end = limits.within(limits.Limit(2.0, 1.5), count_slowly, 3, 60.0)
    assert (items, end) == ([], "2 s")
    with pytest.raises(LookupError, match="of the child's"):
        limits.within(limit, fail)
    with pytest.raises(RuntimeError, match="ended with 3"):
        limits.within(limit, vanish)
