"""Derivatives by inertial parameters: the regressor of inverse dynamics, and products.

Torques are linear in the inertial parameters pi of the bodies, `Model.parameters`, and in the
parameters of joints:

    tau = Y pi      pi = model.parameters.ravel(), external wrenches and joints apart

Y is the regressor. With ``joint_parameters=True`` armature, damping, stiffness and friction of the
velocities are parameters too, pi = [parameters, joint_parameters] of ``10 nbodies + 4 nv`` numbers;
else ``Y pi`` is without their torques:

    armature a + damping v + stiffness (q - rest_position) + friction tanh(v / friction_speed)

Rest positions and smoothing speeds are the model's; friction with a speed of zero has no torque.
The spring of a spherical joint acts along the rotation vector from rest; its stiffness is the first
of three numbers, and free and planar joints have none. These numbers are sums over a joint and its
mimic joints, as `Model.armature` has them.

Y does not have full rank: torques determine only some of a body's ten parameters, or sums of them
with parameters of its parent.

The functions of forward dynamics differentiate the acceleration by the same parameters, at the
model's own values or at ``parameters``.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from dtau.model.model import Model
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Axes


@direct
def inverse_dynamics_regressor(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    joint_parameters: bool = False,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Regressor of inverse dynamics: the derivative of the joint torque by inertial parameters.

        tau = Y(q, v, a) pi    without joints' own torques, unless their parameters are among pi

    Parameters
    ----------
    model
        ... Its parameters are not read.

    Returns
    -------
    Y : ndarray (..., nv, nparameters)
        Columns ``10 i`` to ``10 i + 9`` belong to body i, in the order of `Model.parameters`: m, m
        c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz about the origin of the body's frame,
        along its axes. They are zero in the rows of joints that do not carry the body. With
        ``joint_parameters`` the columns of armature, damping, stiffness and friction of the ``nv``
        velocities follow. nparameters is 10 nbodies, or 10 nbodies + 4 nv with them.

    Notes
    -----
    [Derivations] section 18; O(N d) with the depth d of the tree, plus writing the zeros.

    Examples
    --------
    >>> Y = dtau.inverse_dynamics_regressor(model, q, v, a, joint_parameters=True)
    >>> pi = np.concatenate([model.parameters.ravel(), model.joint_parameters.ravel()])
    >>> bool(np.allclose(Y @ pi, dtau.inverse_dynamics(model, q, v, a)))
    True
    """


@direct
def inverse_dynamics_parameter_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    dparameters: ArrayLike,
    *,
    joint_parameters: bool = False,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Variation of the joint torque along a variation of inertial parameters: Y dpi, without Y.

        dtau = Y dpi

    Parameters
    ----------
    model
        ... Its parameters are not read.

    Returns
    -------
    dtau
        ... It is ``Y @ dparameters``.

    Notes
    -----
    [Derivations] section 18; O(N), at about one and a half calls of `dtau.inverse_dynamics`.

    Examples
    --------
    >>> heavier = np.zeros((model.nbodies, 10))
    >>> heavier[0] = dtau.Inertia(1.0, com=(0.2, 0, 0.1)).parameters  # a kilogram on the base
    >>> more = dtau.inverse_dynamics_parameter_jvp(model, q, v, a, heavier.ravel())
    >>> Y = dtau.inverse_dynamics_regressor(model, q, v, a)
    >>> bool(np.allclose(more, Y @ heavier.ravel()))
    True
    """


@direct
def inverse_dynamics_parameter_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    lam: ArrayLike,
    *,
    joint_parameters: bool = False,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Gradient of ``lam . tau`` by inertial parameters: Y^T lam, without Y.

        Y^T lam

    Parameters
    ----------
    model
        ... Its parameters are not read.

    Returns
    -------
    by_parameters
        ... It is ``Y.T @ lam``.

    Notes
    -----
    [Derivations] section 18; O(N), at about one and a half calls of `dtau.inverse_dynamics`.

    Examples
    --------
    >>> lam = rng.standard_normal(model.nv)
    >>> gradient = dtau.inverse_dynamics_parameter_vjp(model, q, v, a, lam)
    >>> Y = dtau.inverse_dynamics_regressor(model, q, v, a)
    >>> bool(np.allclose(gradient, Y.T @ lam))
    True
    """


@direct
def forward_dynamics_parameter_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    joint_parameters: bool = False,
    parameters: ArrayLike | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Derivatives of the joint acceleration by inertial parameters, at the model's own values.

        da/dpi = -M^-1 Y

    Returns
    -------
    da_dparameters : ndarray (..., nv, nparameters)
        Minus the inverse of the mass matrix times the regressor at the acceleration that forward
        dynamics gives; columns as in `dtau.inverse_dynamics_regressor`. nparameters is 10 nbodies,
        or 10 nbodies + 4 nv with ``joint_parameters``.

    Notes
    -----
    [Derivations] section 18: inverse dynamics at this acceleration must stay ``tau`` when
    parameters vary; O(N^2 d) with the depth d of the tree. A singular configuration is not
    detected: see `dtau.forward_dynamics`.

    Examples
    --------
    >>> d = dtau.forward_dynamics_parameter_derivatives(model, q, v, tau)
    >>> Y = dtau.inverse_dynamics_regressor(model, q, v, dtau.forward_dynamics(model, q, v, tau))
    >>> bool(np.allclose(dtau.mass_matrix(model, q) @ d, -Y))
    True
    """


@direct
def forward_dynamics_parameter_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dparameters: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    joint_parameters: bool = False,
    parameters: ArrayLike | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Variation of the joint acceleration along a variation of inertial parameters.

        da = -M^-1 Y dpi

    Returns
    -------
    da
        ... It is `dtau.forward_dynamics_parameter_derivatives` times ``dparameters``.

    Notes
    -----
    [Derivations] section 18, solved by the articulated-body algorithm, [RBDA] section 7.3; O(N), at
    about two calls of `dtau.forward_dynamics`, which see for singular configurations: they are not
    detected. With joints that mimic others it takes O(N d^2).

    Examples
    --------
    >>> dpi = 0.01 * rng.standard_normal(10 * model.nbodies)
    >>> product = dtau.forward_dynamics_parameter_jvp(model, q, v, tau, dpi)
    >>> d = dtau.forward_dynamics_parameter_derivatives(model, q, v, tau)
    >>> bool(np.allclose(product, d @ dpi))
    True
    """


@direct
def forward_dynamics_parameter_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    lam: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    joint_parameters: bool = False,
    parameters: ArrayLike | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Gradient of ``lam . a`` by inertial parameters.

        -Y^T M^-1 lam

    Returns
    -------
    by_parameters
        ... It is the transpose of `dtau.forward_dynamics_parameter_derivatives` times ``lam``.

    Notes
    -----
    [Derivations] section 18, solved by the articulated-body algorithm, [RBDA] section 7.3; O(N), at
    about two calls of `dtau.forward_dynamics`, which see for singular configurations: they are not
    detected. With joints that mimic others it takes O(N d^2).

    Examples
    --------
    >>> lam = rng.standard_normal(model.nv)
    >>> gradient = dtau.forward_dynamics_parameter_vjp(model, q, v, tau, lam)
    >>> d = dtau.forward_dynamics_parameter_derivatives(model, q, v, tau)
    >>> bool(np.allclose(gradient, d.T @ lam))
    True
    """
