"""Parametrize bodies that can exist: `parameters_from_log_cholesky`, with its derivatives.

The pseudo-inertia J of a body collects its ten inertial parameters in a symmetric matrix. A body
with this mass distribution exists exactly if J is positive definite, or on the boundary
semidefinite ([Pseudo-inertia]). [Log-Cholesky] takes any ten numbers to such a matrix, one to one:

    J = [[Sigma, m c], [m c^T, m]] = U U^T    Sigma = tr(I) / 2 - I, I the tensor at the origin

        U = e^alpha [[e^d1, s12,  s13,  t1],
                     [0,    e^d2, s23,  t2],
                     [0,    0,    e^d3, t3],
                     [0,    0,    0,    1 ]]

    theta = [alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtau.model.parameters import of_pseudo_inertias, pseudo_inertias
from dtau.support.arrays import Array
from dtau.support.checks import batch_arrays

_ROW = np.array([0, 1, 2, 0, 1, 0, 0, 1, 2])  # of the entries of U for theta[1:]
_COLUMN = np.array([0, 1, 2, 1, 2, 2, 3, 3, 3])
_FLIP = slice(None, None, -1)


UNITS = pseudo_inertias(np.eye(10))  # of parameters that are 1, one at a time
_ENTRIES = np.eye(16).reshape(16, 4, 4)
# The linear map (10, 4, 4) from a pseudo-inertia to its parameters, symmetric.
_PARAMETERS = of_pseudo_inertias(0.5 * (_ENTRIES + np.swapaxes(_ENTRIES, 1, 2))).T.reshape(10, 4, 4)


def pseudo_inertia(parameters: ArrayLike) -> Array:
    """Pseudo-inertias of bodies: positive definite exactly if a body with a volume exists.

        J = [[Sigma, m c], [m c^T, m]]    Sigma = tr(I) / 2 - I

    Parameters
    ----------
    parameters : array_like (..., 10)
        Inertial parameters in the order of `dtau.Model.parameters`.

    Returns
    -------
    J : ndarray (..., 4, 4)

    Raises
    ------
    ValueError
        If the last axis does not have ten entries.
    TypeError
        If the numbers are not real.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> from dtau import identification
    >>> model = dtau.robots.chain(7)
    >>> J = identification.pseudo_inertia(model.parameters)
    >>> bool((np.linalg.eigvalsh(J) > 0).all())
    True
    """
    batch, (rows,) = batch_arrays({"parameters": (parameters, (10,))})
    return pseudo_inertias(rows).reshape(*batch, 4, 4)


def parameters_from_log_cholesky(theta: ArrayLike) -> Array:
    """Inertial parameters of bodies that exist, from any ten numbers each.

        pi = pi(U U^T)    U upper triangular, from theta

    Parameters
    ----------
    theta : array_like (..., 10)
        [alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3], the order of Pinocchio's
        ``LogCholeskyParameters``. The mass is ``exp(2 alpha)``, the center of mass is t.

    Returns
    -------
    parameters : ndarray (..., 10)
        In the order of `dtau.Model.parameters`.

    Raises
    ------
    ValueError
        If the last axis does not have ten entries.
    TypeError
        If the numbers are not real.

    Examples
    --------
    >>> import numpy as np
    >>> from dtau import identification
    >>> theta = np.random.default_rng(0).standard_normal((7, 10))
    >>> parameters = identification.parameters_from_log_cholesky(theta)
    >>> back = identification.log_cholesky_from_parameters(parameters)
    >>> bool(np.allclose(back, theta))
    True
    """
    batch, (rows,) = batch_arrays({"theta": (theta, (10,))})
    factor = _factor(rows)
    parameters: Array = np.einsum("nij,nlj,kil->nk", factor, factor, _PARAMETERS, optimize=True)
    return parameters.reshape(*batch, 10)


def log_cholesky_from_parameters(parameters: ArrayLike) -> Array:
    """Log-Cholesky parameters of bodies, the inverse of `parameters_from_log_cholesky`.

        theta = theta(pi)

    Parameters
    ----------
    parameters : array_like (..., 10)
        Inertial parameters in the order of `dtau.Model.parameters`.

    Returns
    -------
    theta : ndarray (..., 10)

    Raises
    ------
    ValueError
        If the last axis does not have ten entries, or a pseudo-inertia is not positive definite: no
        body with a volume has these parameters.
    TypeError
        If the numbers are not real.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> from dtau import identification
    >>> model = dtau.robots.chain(7)
    >>> theta = identification.log_cholesky_from_parameters(model.parameters)
    >>> bool(np.allclose(np.exp(2 * theta[:, 0]), model.parameters[:, 0]))
    True
    """
    batch, (rows,) = batch_arrays({"parameters": (parameters, (10,))})
    matrices = pseudo_inertias(rows)
    least = np.linalg.eigvalsh(matrices)[:, 0]
    bad = np.flatnonzero(~(least > 0))
    if bad.size:
        at = [int(i) for i in np.unravel_index(bad[0], batch)]
        where = f"parameters{at}" if at else "parameters"
        raise ValueError(
            f"{where}: expected a positive definite pseudo-inertia, got one with the eigenvalue "
            f"{least[bad[0]]:.6g}; no body with a volume has these parameters"
        )
    factor = np.linalg.cholesky(matrices[:, _FLIP, _FLIP])[:, _FLIP, _FLIP]
    size = factor[:, 3, 3]
    theta = np.empty_like(rows)
    theta[:, 0] = np.log(size)
    theta[:, 1:] = factor[:, _ROW, _COLUMN] / size[:, None]
    theta[:, 1:4] = np.log(theta[:, 1:4])
    return theta.reshape(*batch, 10)


def log_cholesky_jacobian(theta: ArrayLike) -> Array:
    """Jacobian of the inertial parameters by log-Cholesky parameters.

        dpi/dtheta

    Parameters
    ----------
    theta : array_like (..., 10)
        As in `parameters_from_log_cholesky`.

    Returns
    -------
    jacobian : ndarray (..., 10, 10)
        Rows are parameters of `dtau.Model.parameters`.

    Raises
    ------
    ValueError
        If the last axis does not have ten entries.
    TypeError
        If the numbers are not real.

    Examples
    --------
    >>> import numpy as np
    >>> from dtau import identification
    >>> theta = np.random.default_rng(0).standard_normal((7, 10))
    >>> jacobian = identification.log_cholesky_jacobian(theta)
    >>> bool(np.allclose(jacobian[:, 0, 0], 2 * np.exp(2 * theta[:, 0])))  # of the mass
    True
    """
    batch, (rows,) = batch_arrays({"theta": (theta, (10,))})
    factor = _factor(rows)
    moved = np.einsum("nkij,nlj->nkil", _tangents(factor), factor)
    jacobian: Array = 2.0 * np.einsum("nkil,pil->npk", moved, _PARAMETERS)
    return jacobian.reshape(*batch, 10, 10)


def log_cholesky_jvp(theta: ArrayLike, dtheta: ArrayLike) -> Array:
    """Variation of the inertial parameters along a variation of log-Cholesky parameters.

        dpi = dpi/dtheta dtheta

    Parameters
    ----------
    theta : array_like (..., 10)
        As in `parameters_from_log_cholesky`.
    dtheta : array_like (..., 10)
        The variation.

    Returns
    -------
    dparameters : ndarray (..., 10)

    Raises
    ------
    ValueError
        If a last axis does not have ten entries, or batches do not broadcast.
    TypeError
        If the numbers are not real.

    Examples
    --------
    >>> import numpy as np
    >>> from dtau import identification
    >>> theta, dtheta = np.random.default_rng(0).standard_normal((2, 7, 10))
    >>> product = identification.log_cholesky_jvp(theta, dtheta)
    >>> jacobian = identification.log_cholesky_jacobian(theta)
    >>> bool(np.allclose(product, np.einsum("bij,bj->bi", jacobian, dtheta)))
    True
    """
    batch, (rows, ways) = batch_arrays({"theta": (theta, (10,)), "dtheta": (dtheta, (10,))})
    factor = _factor(rows)
    moved = np.einsum("nk,nkij,nlj->nil", ways, _tangents(factor), factor, optimize=True)
    product: Array = 2.0 * np.einsum("nil,pil->np", moved, _PARAMETERS)
    return product.reshape(*batch, 10)


def log_cholesky_vjp(theta: ArrayLike, lam: ArrayLike) -> Array:
    """Gradient of ``lam . pi`` by log-Cholesky parameters.

        by_theta = (dpi/dtheta)^T lam

    Parameters
    ----------
    theta : array_like (..., 10)
        As in `parameters_from_log_cholesky`.
    lam : array_like (..., 10)
        Weight of each inertial parameter, for example from `dtau.inverse_dynamics_parameter_vjp`.

    Returns
    -------
    by_theta : ndarray (..., 10)

    Raises
    ------
    ValueError
        If a last axis does not have ten entries, or batches do not broadcast.
    TypeError
        If the numbers are not real.

    Examples
    --------
    The gradient of a cost of torques by log-Cholesky parameters of all bodies:

    >>> import dtau, numpy as np
    >>> from dtau import identification
    >>> model = dtau.robots.chain(7)
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> theta = identification.log_cholesky_from_parameters(model.parameters)
    >>> by_parameters = dtau.inverse_dynamics_parameter_vjp(model, q, v, a, np.ones(7))
    >>> identification.log_cholesky_vjp(theta, by_parameters.reshape(7, 10)).shape
    (7, 10)
    """
    batch, (rows, weights) = batch_arrays({"theta": (theta, (10,)), "lam": (lam, (10,))})
    factor = _factor(rows)
    pull = np.einsum("np,pil,nlj->nij", weights, _PARAMETERS, factor, optimize=True)
    gradient: Array = 2.0 * np.einsum("nkij,nij->nk", _tangents(factor), pull)
    return gradient.reshape(*batch, 10)


def log_cholesky_hessian(theta: ArrayLike, lam: ArrayLike) -> Array:
    """Second derivatives of ``lam . pi`` by log-Cholesky parameters.

        d2(lam . pi)/dtheta2

    Parameters
    ----------
    theta, lam : array_like (..., 10)
        As in `log_cholesky_vjp`.

    Returns
    -------
    hessian : ndarray (..., 10, 10)
        Symmetric.

    Raises
    ------
    ValueError
        If a last axis does not have ten entries, or batches do not broadcast.
    TypeError
        If the numbers are not real.

    Examples
    --------
    >>> import numpy as np
    >>> from dtau import identification
    >>> theta, lam = np.random.default_rng(0).standard_normal((2, 7, 10))
    >>> identification.log_cholesky_hessian(theta, lam).shape
    (7, 10, 10)
    """
    batch, (rows, weights) = batch_arrays({"theta": (theta, (10,)), "lam": (lam, (10,))})
    factor = _factor(rows)
    tangents = _tangents(factor)
    symmetric = np.einsum("np,pij->nij", weights, _PARAMETERS)
    half: Array = np.einsum("nkij,nil,nmlj->nkm", tangents, symmetric, tangents, optimize=True)
    # the second derivatives of U: by alpha and any other, and twice by the same d
    slope = np.einsum("nkij,nij->nk", tangents, symmetric @ factor)
    half[:, 0, :] += slope
    half[:, 1:, 0] += slope[:, 1:]
    half[:, range(1, 4), range(1, 4)] += slope[:, 1:4]
    return (2.0 * half).reshape(*batch, 10, 10)


def _factor(theta: Array) -> Array:
    """Return the triangular factors U (n, 4, 4)."""
    factor = np.zeros((len(theta), 4, 4))
    factor[:, _ROW, _COLUMN] = theta[:, 1:]
    factor[:, range(3), range(3)] = np.exp(theta[:, 1:4])
    factor[:, 3, 3] = 1.0
    factor *= np.exp(theta[:, :1, None])
    return factor


def _tangents(factor: Array) -> Array:
    """Return the derivatives of U by the ten parameters (n, 10, 4, 4)."""
    tangents = np.zeros((len(factor), 10, 4, 4))
    tangents[:, 0] = factor
    tangents[:, range(1, 10), _ROW, _COLUMN] = factor[:, 3, 3, None]
    tangents[:, range(1, 4), range(3), range(3)] = factor[:, range(3), range(3)]
    return tangents
