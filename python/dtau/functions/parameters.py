"""Inertial parameters: the regressor of inverse dynamics, and products with it.

Torques are linear in the inertial parameters pi of the bodies, `Model.parameters`, and in the
joints' armature and damping:

    tau = Y pi      pi = model.parameters.ravel(), external wrenches apart

Y is the regressor. With ``joint_parameters=True`` armature and damping are parameters too, pi =
[parameters, armature, damping] of ``10 nbodies + 2 nv`` numbers; else ``Y pi`` is without them.
Joints that mimic others are felt through the joint that they follow; their armature and damping
are in what `Model.armature` and `Model.damping` have for that joint, and so they are here.

Of a body's ten parameters some, or only sums of some with those of its parent, can be found from
torques: Y has not full rank.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import require
from dtau.model.model import Model


def inverse_dynamics_regressor(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    joint_parameters: bool = False,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Regressor of inverse dynamics: the derivative of the joint torque by inertial parameters.

        tau = Y(q, v, a) pi    without armature and damping, or with these among pi

    Parameters
    ----------
    model : Model
        Its inertias, armature and damping are not read.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.
    a : array_like (..., nv)
        Time derivative of ``v``, component by component.
    joint_parameters : bool, optional
        Whether columns of the armature and of the damping of the ``nv`` velocities follow.
    out, threads
        See `dtau.inverse_dynamics`.

    Returns
    -------
    ndarray (..., nv, 10 nbodies), or (..., nv, 10 nbodies + 2 nv) with ``joint_parameters``
        Y. Columns ``10 i`` to ``10 i + 9`` belong to body i, in the order of `Model.parameters`:
        m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz about the origin of the body's
        frame, along its axes. They are zeros in the rows of joints that do not carry the body.

    Raises
    ------
    ValueError, TypeError
        As `dtau.inverse_dynamics`.

    Notes
    -----
    [Notes] section 18; O(N d) with the depth d of the tree, beside writing zeros.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> Y = dtau.inverse_dynamics_regressor(model, q, v, a, joint_parameters=True)
    >>> pi = np.concatenate([model.parameters.ravel(), model.armature, model.damping])
    >>> bool(np.allclose(Y @ pi, dtau.inverse_dynamics(model, q, v, a)))
    True
    """
    require("joint_parameters", joint_parameters, bool)
    return _core.inverse_dynamics_regressor(model, q, v, a, joint_parameters, out, threads)


def inverse_dynamics_parameter_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    dparameters: ArrayLike,
    *,
    joint_parameters: bool = False,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Variation of the joint torque along a variation of parameters: Y dpi, without Y.

        dtau = Y dpi

    Parameters
    ----------
    model : Model
        Its inertias, armature and damping are not read.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.
    a : array_like (..., nv)
        Time derivative of ``v``, component by component.
    dparameters : array_like (..., 10 nbodies), or (..., 10 nbodies + 2 nv)
        Variation of the parameters, in the order of the columns of
        `dtau.inverse_dynamics_regressor`; any numbers, also no body's. A batch of parameters with
        one state is a batch of models.
    joint_parameters : bool, optional
        Whether armature and damping follow in ``dparameters``.
    out, threads
        See `dtau.inverse_dynamics`.

    Returns
    -------
    ndarray (..., nv)
        ``Y @ dparameters``.

    Raises
    ------
    ValueError, TypeError
        As `dtau.inverse_dynamics`.

    Notes
    -----
    [Notes] section 18; O(N), at about one and a half calls of `dtau.inverse_dynamics`.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> heavier = np.zeros((model.nbodies, 10))
    >>> heavier[0] = dtau.Inertia(1.0, com=(0.2, 0, 0.1)).parameters  # a kilogram on the base
    >>> more = dtau.inverse_dynamics_parameter_jvp(model, q, v, a, heavier.ravel())
    >>> Y = dtau.inverse_dynamics_regressor(model, q, v, a)
    >>> bool(np.allclose(more, Y @ heavier.ravel()))
    True
    """
    require("joint_parameters", joint_parameters, bool)
    return _core.inverse_dynamics_parameter_jvp(
        model, q, v, a, dparameters, joint_parameters, out, threads
    )


def inverse_dynamics_parameter_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    lam: ArrayLike,
    *,
    joint_parameters: bool = False,
    out: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Gradient of ``lam . tau`` by the parameters: Y^T lam, without Y.

        Y^T lam

    Parameters
    ----------
    model : Model
        Its inertias, armature and damping are not read.
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.
    a : array_like (..., nv)
        Time derivative of ``v``, component by component.
    lam : array_like (..., nv)
        Weight of each torque, in the order of ``v``.
    joint_parameters : bool, optional
        Whether the gradients by armature and damping follow.
    out, threads
        See `dtau.inverse_dynamics`.

    Returns
    -------
    ndarray (..., 10 nbodies), or (..., 10 nbodies + 2 nv) with ``joint_parameters``
        ``Y.T @ lam``, in the order of the columns of `dtau.inverse_dynamics_regressor`.

    Raises
    ------
    ValueError, TypeError
        As `dtau.inverse_dynamics`.

    Notes
    -----
    [Notes] section 18; O(N), at about one and a half calls of `dtau.inverse_dynamics`.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = dtau.random_state(model, rng)
    >>> lam = rng.standard_normal(model.nv)
    >>> gradient = dtau.inverse_dynamics_parameter_vjp(model, q, v, a, lam)
    >>> Y = dtau.inverse_dynamics_regressor(model, q, v, a)
    >>> bool(np.allclose(gradient, Y.T @ lam))
    True
    """
    require("joint_parameters", joint_parameters, bool)
    return _core.inverse_dynamics_parameter_vjp(model, q, v, a, lam, joint_parameters, out, threads)
