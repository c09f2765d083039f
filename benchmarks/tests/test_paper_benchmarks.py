"""The papers' experiments refuse to time what is wrong; the peers' results are ours."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from benchmarks import robots
from benchmarks.baselines.curves import Key
from benchmarks.checks import WrongResultError
from benchmarks.experiments import (
    paper_001_chains,
    paper_002_frames,
    paper_004_forward,
    quoted_times,
    second_contenders,
    time_cases,
)
from benchmarks.experiments.frames_of_time import Tally
from benchmarks.experiments.paper_002_cost import power
from benchmarks.harness import Spread
from benchmarks.limits import Limit, within
from compare import TOLERANCE, assert_close

import dtau

pytestmark = pytest.mark.benchmarks


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
    function: str, spoilt: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = time_cases.Case.of(dtau.robots.aerial_manipulator(), function, 2, 5)
    assert case.check().shape[:3] == (5, 3, 12)
    name = time_cases.FUNCTIONS[function]
    right = getattr(dtau, name)

    @functools.wraps(right)  # whose signature calls are written from
    def wrong(*arguments: Any, **options: Any) -> Any:
        results = right(*arguments, **options)
        (results[0] if isinstance(results, tuple) else results)[..., spoilt, 3:5] *= 1.0 + 1e-6
        return results

    monkeypatch.setattr(dtau, name, wrong)
    with pytest.raises(WrongResultError, match=function):
        case.check()


@pytest.mark.parametrize("frame", paper_002_frames.FRAMES)
def test_recursions_of_all_axes_agree_and_count(frame: paper_002_frames.Frame) -> None:
    rng = np.random.default_rng(0)
    counts = []
    for links in (2, 3, 4):
        model = dtau.robots.aerial_manipulator(3, links)
        q, v, _ = dtau.random_state(model, rng)
        stack = np.concatenate([v[np.newaxis], rng.uniform(-1.0, 1.0, (4, model.nv))])
        tally = Tally()
        got, want = paper_002_frames.both(model, frame, q, stack, tally)
        for k in range(4):
            assert_close(got[k], want[k], TOLERANCE["long sums"], f"order {k}")
        counts.append(tally.products + tally.sums)
    assert counts[2] - counts[1] == counts[1] - counts[0] > 0  # linear in the bodies


def test_arithmetic_counts_itself() -> None:
    tally = Tally()
    matrix, x = np.arange(9.0).reshape(3, 3), np.array([1.0, 2.0, 3.0])
    assert tally.dot(matrix, x).tolist() == (matrix @ x).tolist()
    assert (tally.products, tally.sums) == (9, 6)
    assert tally.dot(matrix, matrix).tolist() == (matrix @ matrix).tolist()
    assert (tally.products, tally.sums) == (36, 24)
    assert tally.cross(x, matrix[0]).tolist() == np.cross(x, matrix[0]).tolist()
    assert (tally.products, tally.sums) == (42, 27)


@pytest.mark.parametrize(
    ("bodies", "holds", "why"),
    [
        (30, False, paper_004_forward.EARLIER),
        (450, True, ""),
        (900, False, paper_004_forward.LATER),
    ],
)
def test_table_3_is_decided_with_its_reason(bodies: int, holds: bool, why: str) -> None:
    sizes = (10, 100, 1000, 2000)
    found = {n: {"fdsva_aza": np.ones(3), "fdsva_dmm": np.full(3, n / bodies)} for n in sizes}
    key = Key("g++", 1, "alone")
    (claim,) = paper_004_forward.table_3({key: found, Key("g++", 2, "alone"): found}, {})
    assert (claim.holds, claim.why) == (holds, why)
    assert claim.measured == str(bodies)
    (claim,) = paper_004_forward.table_3({}, {key: dict(list(found.items())[:2])})
    assert "AVX off" in claim.text
    assert claim.holds is None


@pytest.mark.parametrize(
    ("ratios", "holds", "measured"),
    [
        ({30: 2.0, 70: 0.9, 100: 0.5}, True, "70"),
        ({30: 0.9, 70: 0.8}, False, "30"),
        ({30: 100.0, 70: 90.0, 100: 80.0}, False, "none to 100"),
        ({30: 0.5}, None, "30 bodies were the most within the limits"),
        ({}, None, "no branched chain was made within the limits"),
    ],
)
def test_the_crossover_with_casadi_is_decided(
    ratios: dict[int, float], holds: bool | None, measured: str
) -> None:
    peers = [
        {"branching": 2, "way": "plain", "bodies": n, "called ratio": Spread(x, x, x)}
        for n, x in ratios.items()
    ]
    claim = paper_001_chains._crossover(peers)
    assert (claim.holds, claim.measured) == (holds, measured)


def test_grown_trees_are_those_of_the_package() -> None:
    for branching in (1, 2, 3):
        ours = dtau.robots.chain(9, branching=branching)
        theirs = robots.grown(9, branching).model
        assert [x.parent for x in theirs.joints] == [x.parent for x in ours.joints]


def test_exponents_are_fitted() -> None:
    x = [7, 50, 996]
    assert power("bodies", x, [0.1 * i for i in x]) == pytest.approx(1.0)
    x = [0, 3, 10]
    assert power("order", x, [(i + 1) ** 2 for i in x]) == pytest.approx(2.0)


def test_ratios_are_to_the_better_quoted_number() -> None:
    # built 1.8, printed 2.326; then printed 8.171, built 15.1; then only printed, built, neither
    assert quoted_times.beside(7, "inverse", 0, 0.9, 0.1)["better"] == "built"
    right = quoted_times.beside(7, "inverse", 5, 2.0, 1.0)
    assert (right["printed"], right["built"], right["better"]) == ("8.171", "15.1", "printed")
    assert (right["alone times"], right["batch times"]) == ("4.1x", "8.2x")
    assert quoted_times.beside(7, "forward", 3, 2.0, 0.5)["better"] == "printed"
    assert quoted_times.beside(101, "forward", 5, 50.0, 5.0)["better"] == "built"
    neither = quoted_times.beside(101, "forward", 4, 50.0, 5.0)
    assert "better" not in neither
    claims = list(quoted_times.claims([right, neither]))
    assert [claim.holds for claim in claims] == [True, False]  # 6 and 20 times, of built


@pytest.mark.parametrize("eliminate", [False, True])
@pytest.mark.parametrize(
    ("function", "orders", "tolerance"),
    # Of order k; accelerations solve with accelerations of the orders before.
    [("inverse", 4, lambda k: TOLERANCE["long sums"]), ("forward", 2, lambda k: 1e-11 * 10**k)],
    ids=["torques", "accelerations"],
)
def test_casadi_has_the_same_time_derivatives(
    function: str, orders: int, tolerance: Callable[[int], float], eliminate: bool
) -> None:
    pytest.importorskip("casadi")
    from benchmarks.peers import casadi_code as calls
    from benchmarks.peers import casadi_time as peer

    model = dtau.robots.aerial_manipulator()
    rng = np.random.default_rng(0)
    q, v, _ = dtau.random_state(model, rng, shape=(3,))
    rest = rng.uniform(-1.0, 1.0, (3, orders + 1, model.nv))
    stack = np.concatenate([v[:, np.newaxis], rest], axis=1)
    if function == "inverse":
        want = dtau.inverse_dynamics_time_derivatives(model, q, stack)
    else:
        want = dtau.forward_dynamics_time_derivatives(model, q, v, rest)
    expression = peer.Derivatives(model, function, orders, eliminate=eliminate)
    for _ in range(orders):
        expression.differentiate()
    got = calls.Called(expression.function(), peer.inputs(model, q, stack)).all()
    for k, result in enumerate(np.moveaxis(got.reshape(want.shape), 1, 0)):
        assert_close(result, want[:, k], tolerance(k), f"order {k}")


@pytest.mark.parametrize("branching", [1, 2])
def test_casadi_and_differences_have_the_same_tensors(branching: int) -> None:
    call = second_contenders.chain(5, branching, 2)
    model, states = call.model, tuple(call.arrays.values())
    want = second_contenders.tensors(model, *states)
    for x, y in zip(second_contenders.Differences(model, *states).tensors(), want, strict=True):
        assert_close(x, y[-1], 1e-8, "differences")
    pytest.importorskip("casadi")
    from benchmarks.peers import casadi_code as calls
    from benchmarks.peers import casadi_second as second

    peer = second.SecondDerivatives(model, eliminate=False)
    got = peer.dense(calls.Called(peer.function, second.inputs(*states)).all())
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


def lack_memory_of_threads() -> Iterator[int]:
    yield 1
    os._exit(127)  # as glibc


def test_limits_end_what_takes_too_long_or_too_much() -> None:
    limit = Limit(20.0, 1.5)
    assert within(limit, count_slowly, 3, 0.0) == ([0, 1, 2], "")
    assert within(limit, take_memory) == ([1], "1.5 GB")
    assert within(limit, lack_memory_of_threads) == ([1], "1.5 GB")
    with pytest.raises(RuntimeError, match="ended with 127"):
        within(Limit(20.0), lack_memory_of_threads)
    items, end = within(Limit(2.0, 1.5), count_slowly, 3, 60.0)
    assert (items, end) == ([], "2 s")
    with pytest.raises(LookupError, match="of the child's"):
        within(limit, fail)
    with pytest.raises(RuntimeError, match="ended with 3"):
        within(limit, vanish)
