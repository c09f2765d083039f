"""Frames, centre of mass and momentum, on CasADi's matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dtau.autodiff.results import Placements
from dtau.casadi.arguments import evaluate
from dtau.casadi.builder import function
from dtau.model.model import Model
from dtau.options import Axes


def frame_placements(model: Model, q: Any, frames: str | Sequence[str]) -> Placements[Any]:
    """Poses of frames in the world: `dtau.frame_placements` for CasADi.

    Parameters
    ----------
    model : Model
    q : casadi.SX, casadi.MX, casadi.DM or array_like (nq, n)
        Configuration; quaternions need no unit norm. Columns are states; a single one may be (nq,)
        too, or a row.
    frames : str or sequence of str
        Names from ``model.frames``.

    Returns
    -------
    Placements
        ``rotation`` (3 nframes, 3 n), the frames one below the other and the states side by side,
        and ``translation`` (nframes, 3 n) in metres, of a single name (3, n). SX or MX where q is
        one, of numbers DM.

    Raises
    ------
    TypeError
        If the model is none, an argument is neither SX, MX nor of real numbers, SX and MX are
        mixed, or ``frames`` are no names.
    ValueError
        If a shape or a number of states does not fit, or a name is unknown.

    Notes
    -----
    Derivatives by q of every order exist.

    Examples
    --------
    How fast a foot rises with each of the numbers of q:

    >>> import casadi as ca, dtau, dtau.casadi
    >>> model = dtau.robots.quadruped()
    >>> q = ca.SX.sym("q", model.nq)
    >>> height = dtau.casadi.frame_placements(model, q, "LF_FOOT").translation[2]
    >>> slope = ca.Function("slope", [q], [ca.gradient(height, q)])
    >>> slope(dtau.neutral(model)).shape
    (19, 1)
    """
    return Placements(*evaluate(function(model, "frame_placements", frames=frames), q))


def frame_jacobians(model: Model, q: Any, frames: str | Sequence[str], axes: Axes = "body") -> Any:
    """Jacobians of frames, whose twists are ``J @ v``: `dtau.frame_jacobians` for CasADi.

    Parameters
    ----------
    model : Model
    q : casadi.SX, casadi.MX, casadi.DM or array_like (nq, n)
        Configuration; quaternions need no unit norm.
    frames : str or sequence of str
        Names from ``model.frames``.
    axes : {"body", "world", "mixed"}
        Axes and point of the twist, as `dtau.frame_velocities` has them.

    Returns
    -------
    casadi.SX, casadi.MX or casadi.DM (6 nframes, nv n)
        Rows [linear, angular], the frames one below the other and the states side by side. A frame
        of the world has zeros.

    Raises
    ------
    TypeError, ValueError
        As `dtau.casadi.frame_placements`; also ValueError if ``axes`` is unknown.

    Notes
    -----
    Derivatives by q of every order exist.

    Examples
    --------
    >>> import casadi as ca, dtau, dtau.casadi, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v = dtau.neutral(model), ca.DM(range(18))
    >>> J = dtau.casadi.frame_jacobians(model, q, "LF_FOOT")
    >>> twist = dtau.casadi.frame_velocities(model, q, v, "LF_FOOT")
    >>> bool(np.allclose(J @ v, twist))
    True
    >>> dtau.casadi.frame_jacobians(model, q, ["LF_FOOT", "RH_FOOT"]).shape
    (12, 18)
    """
    return evaluate(function(model, "frame_jacobians", frames=frames, axes=axes), q)


def frame_velocities(
    model: Model, q: Any, v: Any, frames: str | Sequence[str], axes: Axes = "body"
) -> Any:
    """Twists of frames: `dtau.frame_velocities` for CasADi.

    Parameters
    ----------
    model : Model
    q : casadi.SX, casadi.MX, casadi.DM or array_like (nq, n)
        Configuration; quaternions need no unit norm.
    v : casadi.SX, casadi.MX, casadi.DM or array_like (nv, n)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.
    frames : str or sequence of str
        Names from ``model.frames``.
    axes : {"body", "world", "mixed"}
        Axes and point of the twist, as `dtau.frame_velocities` has them.

    Returns
    -------
    casadi.SX, casadi.MX or casadi.DM (nframes, 6 n)
        [linear, angular] in m/s and rad/s, a row a frame, the states side by side; of a single name
        (6, n). A frame of the world has zeros.

    Raises
    ------
    TypeError, ValueError
        As `dtau.casadi.frame_placements`; also ValueError if ``axes`` is unknown.

    Notes
    -----
    Derivatives of every order exist, by each of the matrices.

    Examples
    --------
    >>> import casadi as ca, dtau, dtau.casadi
    >>> model = dtau.robots.quadruped()
    >>> q, v = dtau.neutral(model), ca.DM(range(18))
    >>> dtau.casadi.frame_velocities(model, q, v, "LF_FOOT").shape
    (6, 1)
    >>> dtau.casadi.frame_velocities(model, q, v, ["LF_FOOT", "RF_FOOT"], "mixed").shape
    (2, 6)
    """
    return evaluate(function(model, "frame_velocities", frames=frames, axes=axes), q, v)


def center_of_mass(model: Model, q: Any) -> Any:
    """Centre of mass of all moving bodies: `dtau.center_of_mass` for CasADi.

    Parameters
    ----------
    model : Model
    q : casadi.SX, casadi.MX, casadi.DM or array_like (nq, n)
        Configuration; quaternions need no unit norm.

    Returns
    -------
    casadi.SX, casadi.MX or casadi.DM (3, n)
        Along the world's axes, in metres.

    Raises
    ------
    TypeError, ValueError
        As `dtau.casadi.frame_placements`.

    Notes
    -----
    Derivatives by q of every order exist.

    Examples
    --------
    >>> import casadi as ca, dtau, dtau.casadi
    >>> model = dtau.robots.quadruped()
    >>> q = ca.SX.sym("q", model.nq)
    >>> ca.jacobian(dtau.casadi.center_of_mass(model, q), q).shape
    (3, 19)
    """
    return evaluate(function(model, "center_of_mass"), q)


def center_of_mass_velocity(model: Model, q: Any, v: Any) -> Any:
    """Velocity of the centre of mass: `dtau.center_of_mass_velocity` for CasADi.

    Parameters
    ----------
    model : Model
    q : casadi.SX, casadi.MX, casadi.DM or array_like (nq, n)
        Configuration; quaternions need no unit norm.
    v : casadi.SX, casadi.MX, casadi.DM or array_like (nv, n)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.

    Returns
    -------
    casadi.SX, casadi.MX or casadi.DM (3, n)
        Along the world's axes, in m/s.

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
    >>> q, v = dtau.neutral(model), ca.DM(range(18))
    >>> velocity = dtau.casadi.center_of_mass_velocity(model, q, v)
    >>> bool(np.allclose(model.mass * velocity, dtau.casadi.momentum(model, q, v)[:3]))
    True
    """
    return evaluate(function(model, "center_of_mass_velocity"), q, v)


def momentum(model: Model, q: Any, v: Any) -> Any:
    """Momentum about the world's origin: `dtau.momentum` for CasADi.

    Parameters
    ----------
    model : Model
    q : casadi.SX, casadi.MX, casadi.DM or array_like (nq, n)
        Configuration; quaternions need no unit norm.
    v : casadi.SX, casadi.MX, casadi.DM or array_like (nv, n)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.

    Returns
    -------
    casadi.SX, casadi.MX or casadi.DM (6, n)
        [linear, angular] along the world's axes, in kg m/s and kg m²/s.

    Raises
    ------
    TypeError, ValueError
        As `dtau.casadi.frame_placements`.

    Notes
    -----
    Derivatives of every order exist, by each of the matrices.

    Examples
    --------
    >>> import casadi as ca, dtau, dtau.casadi
    >>> model = dtau.robots.quadruped()
    >>> q, v = dtau.neutral(model), ca.SX.sym("v", model.nv)
    >>> ca.jacobian(dtau.casadi.momentum(model, q, v), v).shape
    (6, 18)
    """
    return evaluate(function(model, "momentum"), q, v)


def centroidal_momentum(model: Model, q: Any, v: Any) -> Any:
    """Momentum about the centre of mass: `dtau.centroidal_momentum` for CasADi.

    Parameters
    ----------
    model : Model
    q : casadi.SX, casadi.MX, casadi.DM or array_like (nq, n)
        Configuration; quaternions need no unit norm.
    v : casadi.SX, casadi.MX, casadi.DM or array_like (nv, n)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.

    Returns
    -------
    casadi.SX, casadi.MX or casadi.DM (6, n)
        [linear, angular] along the world's axes, in kg m/s and kg m²/s.

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
    >>> q, v = dtau.neutral(model), ca.DM(range(18))
    >>> h = dtau.casadi.centroidal_momentum(model, q, v)
    >>> bool(np.allclose(h[:3], dtau.casadi.momentum(model, q, v)[:3]))
    True
    """
    return evaluate(function(model, "centroidal_momentum"), q, v)
