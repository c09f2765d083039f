"""Rate motions by the condition number of the base regressor: `condition_number`.

With Y_b of all samples stacked, each row divided by the noise of its torque, and the extreme
eigenvalues l_1 and l_r of Y_b^T Y_b with the eigenvectors x_1 and x_r:

    log cond = log(l_1 / l_r) / 2
    d log cond = x_1^T Y_b^T dY_b x_1 / l_1 - x_r^T Y_b^T dY_b x_r / l_r

dY_b x is a variation of the torque of a robot with the parameters x. So the gradient by all states
is two products with the derivatives of inverse dynamics, `Regressor.vjp`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dtau.identification.base import BaseParameters, triangle
from dtau.support.arrays import Array
from dtau.support.checks import batch_arrays, real_array, real_numbers, require


class ConditionNumber(NamedTuple):
    """Condition number of the base regressor with its gradient, of `condition_number`.

    Attributes
    ----------
    value : float
        The condition number, at least 1; infinite if the motion does not tell parameters apart.
    by_q, by_v, by_a : ndarray (..., nv)
        Gradient of its logarithm by configuration, velocity and acceleration of each sample; zeros
        where it is infinite.
    """

    value: float
    by_q: Array
    by_v: Array
    by_a: Array


def condition_number(
    base: BaseParameters,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    noise: ArrayLike | None = None,
    threads: int | None = None,
) -> ConditionNumber:
    """Condition number of a motion's base regressor, and the gradient of its logarithm.

        cond(W Y_b)

    Parameters
    ----------
    base : BaseParameters
        From `base_parameters`.
    q : array_like (..., nq)
        Configurations of all samples.
    v, a : array_like (..., nv)
        Velocities and accelerations.
    noise : array_like (nv,) or float, optional
        Standard deviation of the noise of each torque, by which rows are divided; by default equal.
    threads : int, optional
        As in `Regressor.matrix`.

    Returns
    -------
    ConditionNumber

    Raises
    ------
    ValueError
        If shapes do not fit, numbers are not finite, or the noise is not positive.
    TypeError
        If an argument is of the wrong type.

    Notes
    -----
    Where several extreme singular values are equal, the gradient is one of several. O(S nv r^2) for
    S samples and r base parameters.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> from dtau import identification
    >>> model = dtau.robots.chain(7)
    >>> base = identification.base_parameters(identification.Regressor(model))
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(50,))
    >>> rated = identification.condition_number(base, q, v, a)
    >>> rated.by_q.shape
    (50, 7)
    """
    require("base", base, BaseParameters)
    model = base.regressor.model
    batch, (q, v, a) = batch_arrays(
        {"q": (q, (model.nq,)), "v": (v, (model.nv,)), "a": (a, (model.nv,))}
    )
    for name, states in zip("qva", (q, v, a), strict=True):
        if not np.isfinite(states).all():
            raise ValueError(f"{name}: expected finite numbers")
    weights = 1.0 / read_deviations(model.nv, 1.0 if noise is None else noise)
    matrix = base.matrix(q, v, a, threads=threads) * weights[:, None]
    stacked = matrix.reshape(-1, base.rank)
    _, sizes, ways = np.linalg.svd(triangle(stacked))
    least = sizes[-1] if len(stacked) >= base.rank else 0.0
    if not least > np.finfo(float).eps * base.rank * sizes[0]:
        zeros = (np.zeros((*batch, model.nv)) for _ in range(3))
        return ConditionNumber(np.inf, *zeros)
    gradient = [np.zeros((len(q), model.nv)) for _ in range(3)]
    for sign, way, size in ((1.0, ways[0], sizes[0]), (-1.0, ways[-1], least)):
        parameters = np.zeros(len(base.regressor.names))
        parameters[base.columns] = way
        lam = sign / size**2 * weights * (matrix @ way)
        parts = base.regressor.vjp(parameters, q, v, a, lam, threads=threads)
        gradient = [x + y for x, y in zip(gradient, parts, strict=True)]
    shaped = (x.reshape(*batch, model.nv) for x in gradient)
    return ConditionNumber(float(sizes[0] / least), *shaped)


def read_deviations(nv: int, noise: ArrayLike) -> Array:
    """Read standard deviations of torques, one for all or one each; they are positive."""
    given = real_numbers("noise", noise)
    deviations = real_array("noise", np.full(nv, given) if given.ndim == 0 else given, (nv,))
    if not (deviations > 0).all():
        raise ValueError(f"noise: expected positive numbers, got {deviations.tolist()}")
    return deviations
