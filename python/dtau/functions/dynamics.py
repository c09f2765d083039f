"""Inverse and forward dynamics: the values of the table in docs/functions.md."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.docstrings import documented
from dtau.model.model import Model
from dtau.options import Axes


@documented
def inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Joint torque that gives the acceleration ``a``.

        tau = M a + C v + D v + g - sum of J^T f_ext

    Returns
    -------
    tau

    Notes
    -----
    Recursive Newton-Euler algorithm, [RBDA] section 5.3; O(N). A state with a number that is not
    finite gives NaN in its own results only.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(256,))
    >>> dtau.inverse_dynamics(model, q, v, a).shape
    (256, 18)

    Something lifts the trunk at its origin, wherever the robot turns:

    >>> f_ext = np.zeros((model.nbodies, 6))
    >>> f_ext[model.bodies.index("base"), 2] = 200.0
    >>> tau = dtau.inverse_dynamics(model, q, v, a, f_ext, f_ext_axes="mixed")

    The ground pushes a foot upwards:

    >>> f_ext = dtau.wrench_at_frame(model, q, "LF_FOOT", [0, 0, 200, 0, 0, 0], axes="mixed")
    >>> tau = dtau.inverse_dynamics(model, q, v, a, f_ext)
    """
    return _core.inverse_dynamics(model, q, v, a, f_ext, f_ext_axes, out, threads)


@documented
def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Joint acceleration under the torque ``tau``.

        a = M^-1 (tau - C v - D v - g + sum of J^T f_ext)

    Returns
    -------
    a

    Notes
    -----
    Articulated-body algorithm, [RBDA] section 7.3; O(N).

    Massless joints are found where they are massless in every configuration, among them joints that
    mimic others and take back what these move. A configuration that is singular by itself (two
    joints without inertia of their own whose axes align, for example) is not detected: it gives
    huge numbers, infinite ones or NaN, for its own state alone.

    Examples
    --------
    A released robot falls:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> still = np.zeros(model.nv)
    >>> a = dtau.forward_dynamics(model, dtau.neutral(model), still, still)
    >>> print(a[:3].round(3) + 0.0)
    [ 0.    0.   -9.81]
    """
    return _core.forward_dynamics(model, q, v, tau, f_ext, f_ext_axes, out, threads)
