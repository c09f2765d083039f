"""The configuration manifold, on CasADi's matrices."""

from __future__ import annotations

from typing import Any

from dtau.autodiff.results import TangentMap
from dtau.casadi.arguments import evaluate
from dtau.casadi.builder import function
from dtau.model.model import Model


def integrate(model: Model, q: Any, dq: Any) -> Any:
    """Configuration reached from ``q`` by the displacement ``dq``: q (+) dq.

    `dtau.integrate` for CasADi.

    Parameters
    ----------
    model : Model
    q : casadi.SX, casadi.MX, casadi.DM or array_like (nq, n)
        Configuration; quaternions need no unit norm.
    dq : casadi.SX, casadi.MX, casadi.DM or array_like (nv, n)
        Displacement in the tangent space; of a free joint [linear, angular] in the body frame.

    Returns
    -------
    casadi.SX, casadi.MX or casadi.DM (nq, n)
        With quaternions of unit norm.

    Raises
    ------
    TypeError, ValueError
        As `dtau.casadi.frame_placements`.

    Notes
    -----
    Derivatives of every order exist, by each of the matrices.

    Examples
    --------
    A gradient in the tangent space at q, with nv numbers:

    >>> import casadi as ca, dtau, dtau.casadi, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, xi = dtau.neutral(model), ca.SX.sym("xi", model.nv)
    >>> height = dtau.casadi.center_of_mass(model, dtau.casadi.integrate(model, q, xi))[2]
    >>> slope = ca.Function("slope", [xi], [ca.gradient(height, xi)])
    >>> want = dtau.center_of_mass_jacobian(model, q)[2]
    >>> bool(np.allclose(np.array(slope(0))[:, 0], want))
    True
    """
    return evaluate(function(model, "integrate"), q, dq)


def difference(model: Model, q0: Any, q1: Any) -> Any:
    """Displacement from ``q0`` to ``q1``: a dq with q0 (+) dq = q1: `dtau.difference` for CasADi.

    Parameters
    ----------
    model : Model
    q0, q1 : casadi.SX, casadi.MX, casadi.DM or array_like (nq, n)
        Configurations; quaternions need no unit norm.

    Returns
    -------
    casadi.SX, casadi.MX or casadi.DM (nv, n)
        Displacement in the tangent space at ``q0``; `dtau.difference` says which of several.

    Raises
    ------
    TypeError, ValueError
        As `dtau.casadi.frame_placements`.

    Notes
    -----
    Derivatives of every order exist, by each of the matrices.

    Examples
    --------
    >>> import casadi as ca, dtau, dtau.casadi, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, dq = dtau.neutral(model), ca.DM(model.nv * [0.1])
    >>> moved = dtau.casadi.integrate(model, q, dq)
    >>> bool(np.allclose(dtau.casadi.difference(model, q, moved), dq))
    True
    """
    return evaluate(function(model, "difference"), q0, q1)


def normalize(model: Model, q: Any) -> Any:
    """Configuration with its quaternions scaled to unit norm: `dtau.normalize` for CasADi.

    Parameters
    ----------
    model : Model
    q : casadi.SX, casadi.MX, casadi.DM or array_like (nq, n)
        Configuration; quaternions of zeros give NaN.

    Returns
    -------
    casadi.SX, casadi.MX or casadi.DM (nq, n)
        The rest of q is unchanged.

    Raises
    ------
    TypeError, ValueError
        As `dtau.casadi.frame_placements`.

    Notes
    -----
    Derivatives by q of every order exist.

    Examples
    --------
    >>> import casadi as ca, dtau, dtau.casadi, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q = ca.DM(dtau.neutral(model))
    >>> bool(np.allclose(dtau.casadi.normalize(model, 2 * q), q))
    True
    """
    return evaluate(function(model, "normalize"), q)


def tangent_map(model: Model, q: Any) -> TangentMap[Any]:
    """Between the numbers of q and the tangent space: `dtau.tangent_map` for CasADi.

    Parameters
    ----------
    model : Model
    q : casadi.SX, casadi.MX, casadi.DM or array_like (nq, n)
        Configuration; quaternions need no unit norm.

    Returns
    -------
    TangentMap
        dq/dt = ``from_tangent`` v, (nq, nv n), and v = ``to_tangent`` dq/dt, (nv, nq n): those of
        several states are side by side.

    Raises
    ------
    TypeError, ValueError
        As `dtau.casadi.frame_placements`.

    Notes
    -----
    Both matrices are those at ``normalize(q)``, so along a quaternion they do not change. The
    derivative of f(normalize(q)) by the numbers of a quaternion of norm s is that of f in the
    tangent space, times the columns of ``to_tangent``, over s.

    Derivatives by q of every order exist.

    Examples
    --------
    >>> import dtau, dtau.casadi, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> T = dtau.casadi.tangent_map(model, dtau.neutral(model))
    >>> bool(np.allclose(T.to_tangent @ T.from_tangent, np.eye(model.nv)))
    True
    """
    return TangentMap(*evaluate(function(model, "tangent_map"), q))
