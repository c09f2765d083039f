"""Linear-quadratic optimal control along trajectories: `lqr`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.docstrings import documented
from dtau.results import LQR
from dtau.support.arrays import Array
from dtau.support.checks import common_batch, real_array, real_numbers

_FINAL = ("Q_final", "q_final")  # without an axis of knots
# The axes of a knot, of states and inputs, in the core's order.
_AXES = {
    **{"A": "xx", "B": "xu", "Q": "xx", "R": "uu", "S": "ux", "c": "x", "q": "x", "r": "u"},
    **{"Q_final": "xx", "q_final": "x"},
}


@documented
def lqr(
    A: ArrayLike,
    B: ArrayLike,
    Q: ArrayLike,
    R: ArrayLike,
    Q_final: ArrayLike,
    *,
    S: ArrayLike | None = None,
    c: ArrayLike | None = None,
    q: ArrayLike | None = None,
    r: ArrayLike | None = None,
    q_final: ArrayLike | None = None,
    regularization: float = 0.0,
    threads: int | None = None,
) -> LQR:
    """Solve a time-varying linear-quadratic regulator (Riccati recursion): gains and value.

    The feedback ``u_k = -(gains[k] @ x_k + feedforward[k])`` minimizes the cost

        sum over k < N of  1/2 x'Q x + u'S x + 1/2 u'R u + q'x + r'u    of knot k
        + 1/2 x_N'Q_final x_N + q_final'x_N

    from every initial state, where ``x_(k+1) = A_k x_k + B_k u_k + c_k``. This recursion is the
    backward pass of iLQR and of Newton's method. There, x and u are deviations from the trajectory,
    A and B come from `dtau.linearize_discrete`, Q, R and S are the second derivatives of the cost,
    plus `dtau.step_hessian`'s for Newton's method, and q and r are its first derivatives.

    Parameters
    ----------
    A : array_like (..., N, nx, nx)
        Derivative of the next state by the state, at each of the N knots.
    B : array_like (..., N, nx, nu)
        Derivative of the next state by the inputs.
    Q : array_like (..., N, nx, nx)
        Symmetric weight of the state. Only its upper triangle is read.
    R : array_like (..., N, nu, nu)
        Symmetric weight of the inputs. Only its upper triangle is read.
    Q_final : array_like (..., nx, nx)
        Symmetric weight of the last state, without an axis of knots.
    S : array_like (..., N, nu, nx), optional
        Cross weight of inputs and states; zero by default.
    c : array_like (..., N, nx), optional
        Next state at zero state and zero inputs, such as the gaps of multiple shooting; zero by
        default.
    q : array_like (..., N, nx), optional
        Linear cost of the state; zero by default.
    r : array_like (..., N, nu), optional
        Linear cost of the inputs; zero by default.
    q_final : array_like (..., nx), optional
        Linear cost of the last state; zero by default.
    regularization : float
        Number added to the diagonal of ``R``.
    threads : int, optional
        Number of threads for the problems of a batch; by default it depends on the amount of work.
        One problem runs on one thread.

    Returns
    -------
    LQR
    gains : ndarray (..., N, nu, nx)
        Feedback gain K of ``u = -(K x + feedforward)``.
    feedforward : ndarray (..., N, nu)
        Negative of the inputs at zero state.
    P : ndarray (..., N + 1, nx, nx)
        Second derivative of the cost from each knot to the end.
    p : ndarray (..., N + 1, nx)
        First derivative of the cost from each knot to the end, at zero state.
    s : ndarray (..., N + 1)
        Cost from each knot to the end, at zero state.

    Raises
    ------
    TypeError
        If an argument does not consist of real numbers.
    ValueError
        If the shapes do not match, if no argument has an axis of knots, or if the weight of the
        inputs ``R + B'P B`` is not positive definite at a knot. The message names the knot.
    MemoryError
        If there is not enough memory for the results.

    Notes
    -----
    The leading axes ``...`` are a batch of problems. They broadcast, and so does the axis N: a
    matrix without that axis is the same at all knots. All problems have the same N, nx and nu. The
    results have the units of the arguments; with `dtau.linearize_discrete`, x is ``[dq, dv]`` in
    the tangent space. A problem gives the same bits alone and in a batch. A problem with NaN or
    infinity in any of the numbers that are read has NaN in all of its results, without an error,
    and does not affect the others; so does a problem whose value overflows. States and inputs are
    not bounded. O(N (nx + nu)^3) for each problem; [Bertsekas] section 4.1.

    Examples
    --------
    Hold an arm against gravity, starting from a small error:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.chain(3)
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> v, tau = 0 * v, dtau.gravity_torque(model, q)
    >>> A, B, *_ = dtau.linearize_discrete(model, q, v, tau, 0.01)
    >>> knots = np.broadcast_to(A, (1000, *A.shape))
    >>> plan = dtau.lqr(knots, B, np.eye(6), 1e-2 * np.eye(3), np.eye(6))
    >>> x = np.array([0.1, 0.1, 0.1, 0.0, 0.0, 0.0])
    >>> for K in plan.gains:
    ...     x = A @ x - B @ K @ x
    >>> bool(abs(x).max() < 1e-3)
    True
    """
    given = {"A": A, "B": B, "Q": Q, "R": R, "Q_final": Q_final}
    optional = {"S": S, "c": c, "q": q, "r": r, "q_final": q_final}
    given |= {name: value for name, value in optional.items() if value is not None}
    arrays = {
        name: _contiguous(real_numbers(name, value), len(_AXES[name]))
        for name, value in given.items()
    }
    sizes = _sizes(arrays)
    cores = {name: tuple(sizes[x] for x in axes) for name, axes in _AXES.items()}
    for name, array in arrays.items():
        if array.shape[array.ndim - len(cores[name]) :] != cores[name]:
            axes = ["...", *([] if name in _FINAL else ["N"]), *map(str, cores[name])]
            raise ValueError(f"{name} has shape {array.shape}, expected ({', '.join(axes)})")
    added = float(real_array("regularization", regularization, ()))
    batch, count = _batch(arrays, cores)
    inputs = [arrays.get(name) for name in _AXES]
    *results, failed = _core.lqr(inputs, batch, count, sizes["x"], sizes["u"], added, threads)
    if failed >= 0:
        problem, knot = divmod(failed, count)
        where = f" of problem {tuple(map(int, np.unravel_index(problem, batch)))}" if batch else ""
        raise ValueError(
            f"lqr: expected R + B'P B to be positive definite, got a pivot that is not positive "
            f"at knot {knot}{where}; increase regularization or R"
        )
    return LQR(*results)


def _contiguous(array: NDArray[np.generic], core: int) -> Array:
    """Return the array with each matrix or vector contiguous, copied only if necessary."""
    whole = array.astype(np.float64, copy=False)
    strides, step = whole.strides[whole.ndim - core :], 8
    for size, stride in zip(whole.shape[::-1][:core], strides[::-1], strict=False):
        if size != 1 and stride != step:
            return np.ascontiguousarray(whole)
        step *= size
    return whole if whole.flags.aligned else whole.copy()


def _sizes(arrays: dict[str, Array]) -> dict[str, int]:
    """Return nx and nu, as A and B have them."""
    for name in ("A", "B"):
        if arrays[name].ndim < 2:
            raise ValueError(
                f"{name} has shape {arrays[name].shape}, expected matrices (..., N, nx, n)"
            )
    return {"x": arrays["A"].shape[-1], "u": arrays["B"].shape[-1]}


def _batch(
    arrays: dict[str, Array], cores: dict[str, tuple[int, ...]]
) -> tuple[tuple[int, ...], int]:
    """Return the shape of the batch and the number of knots."""
    leading = {name: x.shape[: x.ndim - len(cores[name])] for name, x in arrays.items()}
    final = {name: leading.pop(name) for name in _FINAL if name in leading}
    if not any(leading.values()):
        raise ValueError(
            "lqr: expected an axis of knots before the axes of a matrix, got none; A of N equal "
            "knots is np.broadcast_to(A, (N, nx, nx))"
        )
    knots = {name: shape[-1] for name, shape in leading.items() if shape}
    count = max(knots.values(), key=lambda n: n != 1)
    for name, n in knots.items():
        if n not in (1, count):
            raise ValueError(f"{name} has {n} knots, expected {count} or 1")
    return common_batch({name: x[:-1] for name, x in leading.items()} | final), count
