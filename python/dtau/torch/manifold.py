"""The configuration manifold, on PyTorch's tensors."""

from __future__ import annotations

from torch import Tensor

from dtau.autodiff.results import TangentMap
from dtau.model.model import Model
from dtau.torch.arguments import results


def integrate(model: Model, q: Tensor, dq: Tensor) -> Tensor:
    """Configuration reached from ``q`` by the displacement ``dq``: q (+) dq.

    `dtau.integrate` for PyTorch.

    Parameters
    ----------
    model : Model
    q : Tensor (..., nq)
        Configuration; quaternions need no unit norm.
    dq : Tensor (..., nv)
        Displacement in the tangent space; of a free joint [linear, angular] in the body frame.

    Returns
    -------
    Tensor (..., nq)
        With quaternions of unit norm.

    Raises
    ------
    TypeError, ValueError
        As `dtau.torch.inverse_dynamics`.

    Notes
    -----
    Derivatives of every order exist, by each of the arrays.

    Examples
    --------
    A gradient in the tangent space at q, with nv numbers:

    >>> import dtau, dtau.torch, torch
    >>> model = dtau.robots.quadruped()
    >>> q = torch.from_numpy(dtau.neutral(model))
    >>> def height(xi):
    ...     moved = dtau.torch.integrate(model, q, xi)
    ...     return dtau.torch.center_of_mass(model, moved)[2]
    >>> torch.func.grad(height)(torch.zeros(model.nv, dtype=q.dtype)).shape
    torch.Size([18])
    """
    result: Tensor = results(model, "integrate", q, dq)[0]
    return result


def difference(model: Model, q0: Tensor, q1: Tensor) -> Tensor:
    """Displacement from ``q0`` to ``q1``: a dq with q0 (+) dq = q1: `dtau.difference` for PyTorch.

    Parameters
    ----------
    model : Model
    q0, q1 : Tensor (..., nq)
        Configurations; quaternions need no unit norm.

    Returns
    -------
    Tensor (..., nv)
        Displacement in the tangent space at ``q0``; `dtau.difference` says which of several.

    Raises
    ------
    TypeError, ValueError
        As `dtau.torch.inverse_dynamics`.

    Notes
    -----
    Derivatives of every order exist, by each of the arrays.

    Examples
    --------
    >>> import dtau, dtau.torch, torch
    >>> model = dtau.robots.quadruped()
    >>> q = torch.from_numpy(dtau.neutral(model))
    >>> dq = torch.full((model.nv,), 0.1, dtype=q.dtype)
    >>> moved = dtau.torch.integrate(model, q, dq)
    >>> bool(torch.allclose(dtau.torch.difference(model, q, moved), dq))
    True
    """
    result: Tensor = results(model, "difference", q0, q1)[0]
    return result


def normalize(model: Model, q: Tensor) -> Tensor:
    """Configuration with its quaternions scaled to unit norm: `dtau.normalize` for PyTorch.

    Parameters
    ----------
    model : Model
    q : Tensor (..., nq)
        Configuration; quaternions of zeros give NaN.

    Returns
    -------
    Tensor (..., nq)
        The rest of q is unchanged.

    Raises
    ------
    TypeError, ValueError
        As `dtau.torch.inverse_dynamics`.

    Notes
    -----
    Derivatives by q of every order exist.

    Examples
    --------
    >>> import dtau, dtau.torch, torch
    >>> model = dtau.robots.quadruped()
    >>> q = torch.from_numpy(dtau.neutral(model))
    >>> bool(torch.allclose(dtau.torch.normalize(model, 2 * q), q))
    True
    """
    result: Tensor = results(model, "normalize", q)[0]
    return result


def tangent_map(model: Model, q: Tensor) -> TangentMap[Tensor]:
    """Between the numbers of q and the tangent space: `dtau.tangent_map` for PyTorch.

    Parameters
    ----------
    model : Model
    q : Tensor (..., nq)
        Configuration; quaternions need no unit norm.

    Returns
    -------
    TangentMap
        dq/dt = ``from_tangent`` v, (..., nq, nv), and v = ``to_tangent`` dq/dt, (..., nv, nq).

    Raises
    ------
    TypeError, ValueError
        As `dtau.torch.inverse_dynamics`.

    Notes
    -----
    Both matrices are those at ``normalize(q)``, so along a quaternion they do not change. The
    derivative of f(normalize(q)) by the numbers of a quaternion of norm s is that of f in the
    tangent space, times the columns of ``to_tangent``, over s.

    Derivatives by q of every order exist.

    Examples
    --------
    >>> import dtau, dtau.torch, torch
    >>> model = dtau.robots.quadruped()
    >>> q = torch.from_numpy(dtau.neutral(model))
    >>> T = dtau.torch.tangent_map(model, q)
    >>> bool(torch.allclose(T.to_tangent @ T.from_tangent, torch.eye(model.nv, dtype=q.dtype)))
    True
    """
    return TangentMap(*results(model, "tangent_map", q))
