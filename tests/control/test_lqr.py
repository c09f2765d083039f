"""Linear-quadratic regulators: the recursion in NumPy, SciPy, and inputs beside the best ones."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import dtau
from dtau.results import LQR

Problem = dict[str, NDArray[np.float64]]

SIZES = [(1, 1, 3), (2, 1, 5), (4, 2, 7), (7, 7, 4), (8, 8, 3), (9, 3, 4), (36, 12, 6), (15, 17, 3)]


def problem(nx: int, nu: int, knots: int, batch: tuple[int, ...] = ()) -> Problem:
    rng = np.random.default_rng([nx, nu, knots, *batch])

    def positive(n: int, *leading: int) -> NDArray[np.float64]:
        x = rng.normal(size=(*batch, *leading, n, n))
        return np.eye(n) + x @ np.swapaxes(x, -1, -2) / n

    def any_array(*shape: int) -> NDArray[np.float64]:
        return rng.normal(size=batch + shape)

    return {
        "A": np.eye(nx) + 0.1 * any_array(knots, nx, nx),
        "B": 0.3 * any_array(knots, nx, nu),
        "Q": positive(nx, knots),
        "R": positive(nu, knots),
        "Q_final": positive(nx),
        "S": 0.1 * any_array(knots, nu, nx),
        "c": any_array(knots, nx),
        "q": any_array(knots, nx),
        "r": any_array(knots, nu),
        "q_final": any_array(nx),
    }


def cost(x: NDArray[np.float64], u: NDArray[np.float64], p: Problem) -> float:
    """Cost of inputs (N, nu) from the state x on."""
    total = 0.0
    for k, w in enumerate(u):
        Q, S, R = p["Q"][k], p["S"][k], p["R"][k]
        total += 0.5 * x @ Q @ x + w @ S @ x + 0.5 * w @ R @ w + p["q"][k] @ x + p["r"][k] @ w
        x = p["A"][k] @ x + p["B"][k] @ w + p["c"][k]
    return float(total + 0.5 * x @ p["Q_final"] @ x + p["q_final"] @ x)


def riccati(p: Problem) -> LQR:
    """Textbook recursion."""
    P, y, s = p["Q_final"], p["q_final"], 0.0
    rows: list[Any] = [(None, None, P, y, s)]
    for k in reversed(range(len(p["A"]))):
        A, B, c = p["A"][k], p["B"][k], p["c"][k]
        H_uu, H_ux = p["R"][k] + B.T @ P @ B, p["S"][k] + B.T @ P @ A
        h_u, h_x = p["r"][k] + B.T @ (P @ c + y), p["q"][k] + A.T @ (P @ c + y)
        K, kappa = np.linalg.solve(H_uu, H_ux), np.linalg.solve(H_uu, h_u)
        s = s + 0.5 * c @ P @ c + y @ c - 0.5 * h_u @ kappa
        P, y = p["Q"][k] + A.T @ P @ A - H_ux.T @ K, h_x - H_ux.T @ kappa
        rows.append((K, kappa, P, y, s))
    K, kappa, P, y, s = zip(*rows[::-1], strict=True)
    return LQR(*map(np.array, (K[:-1], kappa[:-1], P, y, s)))


def assert_close(plan: LQR, expected: LQR) -> None:
    for name, x, y in zip(plan._fields, plan, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-12 * abs(y).max(initial=1.0), err_msg=name)


@pytest.mark.parametrize(("nx", "nu", "knots"), SIZES)
def test_lqr_is_the_textbook_recursion(nx: int, nu: int, knots: int) -> None:
    p = problem(nx, nu, knots)
    assert_close(dtau.lqr(**p), riccati(p))


def test_lqr_minimizes_the_cost() -> None:
    p, x = problem(4, 2, 5), np.array([1.0, -2.0, 0.5, 3.0])
    plan = dtau.lqr(**p)
    u, at = [], x
    for k in range(5):
        u.append(-(plan.gains[k] @ at + plan.feedforward[k]))
        at = p["A"][k] @ at + p["B"][k] @ u[-1] + p["c"][k]
    best = cost(x, np.array(u), p)
    assert best == pytest.approx(0.5 * x @ plan.P[0] @ x + plan.p[0] @ x + plan.s[0], rel=1e-12)
    for du in 1e-3 * np.random.default_rng(0).normal(size=(50, 5, 2)):
        assert cost(x, np.array(u) + du, p) > best


def test_long_horizons_reach_the_solution_of_scipy() -> None:
    linalg = pytest.importorskip("scipy.linalg")
    p = {name: x[0] if name != "Q_final" else x for name, x in problem(6, 2, 1).items()}
    expected = linalg.solve_discrete_are(p["A"], p["B"], p["Q"], p["R"], s=p["S"].T)
    A = np.broadcast_to(p["A"], (400, 6, 6))
    plan = dtau.lqr(A, p["B"], p["Q"], p["R"], p["Q_final"], S=p["S"])
    np.testing.assert_allclose(plan.P[0], expected, rtol=1e-10)


def test_only_upper_triangles_of_weights_are_read() -> None:
    p = problem(4, 3, 3)
    upper = p | {name: np.triu(p[name]) for name in ("Q", "R", "Q_final")}
    for x, y in zip(dtau.lqr(**upper), dtau.lqr(**p), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(
    ("batch", "nx", "nu", "knots"), [((0,), 3, 2, 4), ((2,), 3, 0, 4), ((2,), 3, 2, 0)]
)
def test_empty_problems(batch: tuple[int, ...], nx: int, nu: int, knots: int) -> None:
    p = problem(nx, nu, knots, batch)
    plan = dtau.lqr(**p)
    assert plan.gains.shape == (*batch, knots, nu, nx)
    assert plan.P.shape == (*batch, knots + 1, nx, nx)
    np.testing.assert_array_equal(plan.P[..., knots, :, :], p["Q_final"])
    if batch == (2,) and knots:
        assert_close(LQR(*(x[1] for x in plan)), riccati({k: x[1] for k, x in p.items()}))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("knot", [0, 1, 2])
@pytest.mark.parametrize("name", ["A", "B", "Q", "R", "S", "c", "q", "r", "Q_final", "q_final"])
def test_a_problem_that_is_not_finite_has_nan_in_all_of_its_results(
    name: str, knot: int, number: float
) -> None:
    p = problem(5, 2, 3, (4,))
    expected = dtau.lqr(**p)
    state = p[name][2] if name.endswith("_final") else p[name][2, knot]
    for at in np.ndindex(state.shape):
        if name[0] in "QR" and at[0] > at[1]:
            continue  # only upper triangles are read
        before, state[at] = state[at], number
        plan = dtau.lqr(**p, threads=1)
        for x, y in zip(plan, expected, strict=True):
            assert np.isnan(x[2]).all()
            np.testing.assert_array_equal(x[[0, 1, 3]], y[[0, 1, 3]])
        state[at] = before


def test_a_problem_whose_value_overflows_has_nan_in_all_of_its_results() -> None:
    p = problem(3, 1, 40, (2,))
    p["A"][1] *= 1e20
    p["B"][1] = 0.0
    plan = dtau.lqr(**p)
    for x in plan:
        assert np.isnan(x[1]).all()
        assert np.isfinite(x[0]).all()


def test_regularization_is_added_to_the_weight_of_inputs() -> None:
    p = problem(5, 3, 4)
    expected = dtau.lqr(**(p | {"R": p["R"] + 0.5 * np.eye(3)}))
    for x, y in zip(dtau.lqr(**p, regularization=0.5), expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-14 * abs(y).max())


def test_errors_say_what_was_expected() -> None:
    p = problem(4, 2, 3, (2, 2))
    indefinite = p | {"R": p["R"].copy()}
    indefinite["R"][1, 0, 1] -= 1e4 * np.eye(2)
    with pytest.raises(ValueError, match=r"at knot 1 of problem \(1, 0\); increase"):
        dtau.lqr(**indefinite)
    with pytest.raises(ValueError, match=r"B has shape \(2, 2, 3, 5, 2\), expected \(..., N, 4"):
        dtau.lqr(**(p | {"B": np.ones((2, 2, 3, 5, 2))}))
    with pytest.raises(ValueError, match=r"Q_final has shape \(4,\), expected \(..., 4, 4\)"):
        dtau.lqr(**(p | {"Q_final": np.ones(4)}))
    with pytest.raises(ValueError, match=r"R has 5 knots, expected 3 or 1"):
        dtau.lqr(**(p | {"R": np.broadcast_to(np.eye(2), (5, 2, 2))}))
    with pytest.raises(ValueError, match="expected an axis of knots"):
        dtau.lqr(np.eye(2), np.eye(2), np.eye(2), np.eye(2), np.eye(2))
    with pytest.raises(ValueError, match="A has shape"):
        dtau.lqr(1.0, np.eye(2), np.eye(2), np.eye(2), np.eye(2))
    with pytest.raises(TypeError, match="A: expected real numbers"):
        dtau.lqr(**(p | {"A": 1j * p["A"]}))
    for name in ("A", "B", "Q", "R", "Q_final"):
        with pytest.raises(TypeError, match=f"^{name}: expected real numbers, got None"):
            dtau.lqr(**(p | {name: None}))
    with pytest.raises(ValueError, match="do not broadcast"):
        dtau.lqr(**(p | {"q_final": np.ones((3, 4))}))
    for value, kind, said in (
        ("x", TypeError, "expected real numbers, got 'x'"),
        (None, TypeError, "expected real numbers, got None"),
        (1j, TypeError, "expected real numbers, got 1j"),
        ([1.0, 2.0], ValueError, r"expected shape \(\), got \(2,\)"),
        (np.nan, ValueError, "expected finite numbers, got nan"),
    ):
        with pytest.raises(kind, match=f"^regularization: {said}"):
            dtau.lqr(**p, regularization=value)


def test_batches_that_numpy_cannot_hold_are_refused_by_name() -> None:
    one = np.eye(2)
    for axes in (33, 40, 61):
        with pytest.raises(ValueError, match=f"^A has {axes} batch axes, expected at most 32$"):
            dtau.lqr(np.ones((1,) * axes + (1, 2, 2)), one, one, one, one)
        with pytest.raises(ValueError, match=f"^q_final has {axes} batch axes, expected at most"):
            dtau.lqr(one[None], one, one, one, one, q_final=np.ones((1,) * axes + (2,)))
    assert dtau.lqr(np.ones((1,) * 33 + (2, 2)), one, one, one, one).P.ndim == 35
    down, across = (np.broadcast_to(one, (*many, 1, 2, 2)) for many in ((2**31, 1), (2**31,)))
    with pytest.raises(MemoryError, match=r"^lqr: the arrays take"):
        dtau.lqr(down, across, one, one, one)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX")
def test_a_handler_of_signals_solves_another_problem() -> None:
    """It runs between two knots, on the same thread."""
    p = {name: np.broadcast_to(x[0], (1000, *x[0].shape)) for name, x in problem(60, 6, 1).items()}
    p["Q_final"], p["q_final"] = p["Q"][0], np.zeros(60)
    smaller, wanted, handled = problem(59, 6, 1), dtau.lqr(**p), []
    before = signal.signal(signal.SIGALRM, lambda *_: handled.append(dtau.lqr(**smaller)))
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    try:
        got = dtau.lqr(**p)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert handled
    for x, y in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(x, y)
