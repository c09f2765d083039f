"""Conventions of spatial vectors: `mixed_twist`, `spatial_twist` and `angular_first`."""

from __future__ import annotations

import numpy as np

from dtau.conventions.convention import Convention
from dtau.conventions.twists import TwistMap
from dtau.conventions.wrenches import WrenchMap
from dtau.model.joints import Free
from dtau.model.model import Model
from dtau.support.checks import require
from dtau.support.options import Axes, require_option

_ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]


def mixed_twist(model: Model, *, wrenches: Axes = "body") -> Convention:
    """Mixed twists: velocities of free root joints along world axes, at the body's origin.

    The velocity of every free joint at a root is [linear velocity of the body's origin, angular
    velocity], both along the world's axes; Its torque is the [force, moment] at the body's origin
    along these axes, and a displacement is a translation and a rotation along them. Everything else
    stays the same, including external wrenches unless ``wrenches`` requests other axes.

    Parameters
    ----------
    model : Model
    wrenches : {"body", "mixed", "world"}
        External wrenches, one per body: [force, moment] in the body frame at its origin (as in
        dtau), along world axes at the body's origin, or along world axes with the moment about the
        world's origin.

    Returns
    -------
    Convention

    Raises
    ------
    ValueError
        If ``wrenches`` is none of these words.
    TypeError
        If ``model`` is not a model.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    >>> mixed = dtau.conventions.mixed_twist(model)
    >>> J = dtau.frame_jacobians(model, q, "base", axes="mixed")
    >>> bool(np.allclose(mixed.from_dtau(q, v).v[:6], J @ v))
    True

    The acceleration does not depend on the linear velocity of the base:

    >>> a = dtau.forward_dynamics(model, q, v, tau)
    >>> d = dtau.forward_dynamics_derivatives(model, q, v, tau)
    >>> d = mixed.convert(d, at={"q": q, "v": v, "a": a, "tau": tau})
    >>> bool(np.allclose(d.da_dv[:, :3], 0))
    True

    A push along the world's x axis:

    >>> pushed = dtau.conventions.mixed_twist(model, wrenches="mixed")
    >>> f_ext = np.zeros((model.nbodies, 6))
    >>> f_ext[0, 0] = 50.0
    >>> f_ext = pushed.convert(f_ext, of="f_ext", at={"q": q}, to_dtau=True)
    >>> tau = dtau.inverse_dynamics(model, q, v, a, f_ext)
    """
    require("model", model, Model)
    return _along_world("mixed twist", TwistMap(model, angular_in_world=True), model, wrenches)


def spatial_twist(model: Model, *, wrenches: Axes = "body") -> Convention:
    """Spatial twists: velocities of free root joints along world axes, at the world's origin.

    The velocity of every free joint at a root is its spatial twist, [linear velocity of the point
    of the body that is at the world's origin, angular velocity], both along the world's axes; Its
    torque is the [force, moment] about the world's origin, and a displacement d moves the body's
    pose T to exp(d) T. Everything else stays the same, including external wrenches unless
    ``wrenches`` requests other axes. Digits are lost with the distance from the world's origin.

    Parameters
    ----------
    model : Model
    wrenches : {"body", "mixed", "world"}
        External wrenches, one per body: see `mixed_twist`. [HO-FBS] uses "world".

    Returns
    -------
    Convention

    Raises
    ------
    ValueError
        If ``wrenches`` is none of these words.
    TypeError
        If ``model`` is not a model.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    >>> spatial = dtau.conventions.spatial_twist(model)
    >>> J = dtau.frame_jacobians(model, q, "base", axes="world")
    >>> bool(np.allclose(spatial.from_dtau(q, v).v[:6], J @ v))
    True
    >>> lin = dtau.linearize_discrete(model, q, v, tau, 0.01, "rk4")
    >>> spatial.convert(lin, at={"q": q, "v": v, "inputs": None}).A.shape
    (36, 36)
    """
    require("model", model, Model)
    twists = TwistMap(model, angular_in_world=True, at_world_origin=True)
    return _along_world("spatial twist", twists, model, wrenches)


def angular_first(model: Model) -> Convention:
    """Angular part first in 6-vectors of free joints and of external wrenches.

    Frames and configurations stay the same. This convention only reorders numbers, so it can also
    follow another one: first `mixed_twist`, then `angular_first`.

    Parameters
    ----------
    model : Model

    Returns
    -------
    Convention

    Raises
    ------
    TypeError
        If ``model`` is not a model.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> order, q = dtau.conventions.angular_first(model), dtau.neutral(model)
    >>> order.from_dtau(q, np.arange(18.0)).v[:8]
    array([3., 4., 5., 0., 1., 2., 6., 7.])
    >>> order.convert(np.arange(18.0), of="tau", at={"q": q}, to_dtau=True)[:6]
    array([3., 4., 5., 0., 1., 2.])
    >>> f_ext = np.tile(np.arange(6.0), (model.nbodies, 1))
    >>> order.convert(f_ext, of="f_ext", at={"q": q})[0]
    array([3., 4., 5., 0., 1., 2.])
    """
    require("model", model, Model)
    velocities = np.arange(model.nv)
    for joint in model.joints:
        if isinstance(joint.type, Free):
            velocities[joint.v] = velocities[joint.v][_ANGULAR_FIRST]
    wrenches = WrenchMap(model, order=_ANGULAR_FIRST)
    return Convention("angular first", model, velocities=velocities, wrenches=wrenches)


def _along_world(name: str, twists: TwistMap, model: Model, wrenches: Axes) -> Convention:
    require_option("wrenches", wrenches, Axes)
    if wrenches != "body":
        name = f"{name}, {wrenches} wrenches"
    return Convention(name, model, twists=twists, wrenches=WrenchMap(model, axes=wrenches))
