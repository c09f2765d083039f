"""Inverse, forward and hybrid dynamics: torques and accelerations, without derivatives.

Hybrid dynamics takes the motion of some joints and the torque of the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dtau import _core
from dtau.docstrings import documented
from dtau.model.model import Model
from dtau.results import HybridDynamics
from dtau.support.arrays import Array, Mask
from dtau.support.checks import require, tuple_of, unknown_name
from dtau.support.direct import direct
from dtau.support.options import Axes


@direct
def inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    parameters: ArrayLike | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Inverse dynamics: the joint torque that gives the acceleration ``a``.

        tau = M a + C v + D v + g - sum of J^T f_ext

    M is the mass matrix with armature, C the Coriolis matrix, D viscous damping, g the torque of
    gravity and of the joints' springs, and J the Jacobian of a body. Coulomb friction, where joints
    have it, adds ``friction * tanh(v / friction_speed)`` to D v.

    Returns
    -------
    tau

    Notes
    -----
    Recursive Newton-Euler algorithm, [RBDA] section 5.3; O(N). A NaN or infinite
    number in a state makes the results of this state NaN, and of no other state.

    Examples
    --------
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(256,))
    >>> dtau.inverse_dynamics(model, q, v, a).shape
    (256, 18)

    A force that is constant in the world lifts the trunk at its origin:

    >>> f_ext = np.zeros((model.nbodies, 6))
    >>> f_ext[model.bodies.index("base"), 2] = 200.0
    >>> tau = dtau.inverse_dynamics(model, q, v, a, f_ext, f_ext_axes="mixed")

    The ground pushes a foot upwards:

    >>> f_ext = dtau.wrench_at_frame(model, q, "LF_FOOT", [0, 0, 200, 0, 0, 0], axes="mixed")
    >>> tau = dtau.inverse_dynamics(model, q, v, a, f_ext)

    The same states of 256 robots with heavier and lighter bodies:

    >>> factors = np.random.default_rng(1).uniform(0.8, 1.2, (256, model.nbodies, 1))
    >>> parameters = factors * model.parameters
    >>> tau = dtau.inverse_dynamics(model, q, v, a, parameters=parameters)
    >>> other = model.replace(parameters=parameters[7])
    >>> bool(np.allclose(tau[7], dtau.inverse_dynamics(other, q[7], v[7], a[7])))
    True
    """


@direct
def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    parameters: ArrayLike | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Forward dynamics: the joint acceleration under the torque ``tau``.

        a = M^-1 (tau - C v - D v - g + sum of J^T f_ext)

    M is the mass matrix with armature, C the Coriolis matrix, D viscous damping, g the torque of
    gravity and of the joints' springs, and J the Jacobian of a body. Coulomb friction, where joints
    have it, adds ``friction * tanh(v / friction_speed)`` to D v.

    Returns
    -------
    a

    Notes
    -----
    Articulated-body algorithm, [RBDA] section 7.3; O(N).

    A joint that moves no mass in any configuration raises ValueError; this includes mimic joints
    that cancel each other's motion. A model can also be singular in single configurations,
    for example where the axes of two joints without inertia of their own align. This is not
    detected: the results of this state are huge, infinite or NaN, and other states of the batch are
    not affected.

    Examples
    --------
    A released robot falls:

    >>> still = np.zeros(model.nv)
    >>> a = dtau.forward_dynamics(model, dtau.neutral(model), still, still)
    >>> print(a[:3].round(3) + 0.0)
    [ 0.    0.   -9.81]

    Three robots with other masses, in one call:

    >>> masses = np.array([[0.5], [1.0], [2.0]]) * model.parameters.ravel()
    >>> tau = np.eye(model.nv)[2] * model.mass  # a force at the base
    >>> a = dtau.forward_dynamics(model, dtau.neutral(model), still, tau, parameters=masses)
    >>> bool(a[0, 2] > a[1, 2] > a[2, 2])
    True
    """


@documented
def hybrid_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau: ArrayLike,
    prescribed: Sequence[str] | Mask,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> HybridDynamics:
    """Hybrid dynamics: acceleration and torque of all joints, one of the two given for each joint.

        M a + C v + D v + g = tau + sum of J^T f_ext    solved for a where tau is given, else for
        tau

    Parameters
    ----------
    a
        ... Only the entries of joints in ``prescribed`` matter; the others must be finite.
    tau
        ... Only the entries of joints that are not in ``prescribed`` matter; the others must be
        finite.

    Returns
    -------
    HybridDynamics
        Both arrays are complete: the given entries are copied.

    Notes
    -----
    Articulated-body algorithm in which prescribed joints stay rigid, [RBDA] section 9.2; O(N). With
    every joint prescribed the result equals `dtau.inverse_dynamics`, with none it equals
    `dtau.forward_dynamics`.

    Examples
    --------
    The legs move as planned, and no torque acts on the base:

    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
    >>> legs = [joint.name for joint in model.joints if joint.name != model.joints[0].name]
    >>> result = dtau.hybrid_dynamics(model, q, v, a, np.zeros(model.nv), legs)
    >>> tau = dtau.inverse_dynamics(model, q, v, result.a)
    >>> bool(np.allclose(tau, result.tau) and abs(tau[:6]).max() < 1e-10)
    True
    """
    mask = prescribed_mask(model, prescribed)
    return _core.hybrid_dynamics(model, q, v, a, tau, mask, f_ext, f_ext_axes, out, threads)


def prescribed_mask(model: Model, prescribed: Sequence[str] | Mask) -> Mask:
    """Return the mask of the prescribed degrees of freedom; it never splits a joint."""
    require("model", model, Model)
    expected = "names of joints or a boolean array"
    if not isinstance(prescribed, np.ndarray):
        chosen = [False] * model.nv
        known = {joint.name: joint.v for joint in model.joints}
        for name in tuple_of("prescribed", prescribed, str, expected):
            if name not in known:
                raise ValueError(f"prescribed: {unknown_name('joint', name, known)}")
            dofs = known[name]
            chosen[dofs] = [True] * (dofs.stop - dofs.start)
        return np.array(chosen)
    if prescribed.dtype != np.bool_:
        raise TypeError(f"prescribed: expected {expected}, got dtype {prescribed.dtype}")
    if prescribed.shape != (model.nv,):
        raise ValueError(f"prescribed: expected shape ({model.nv},), got {prescribed.shape}")
    chosen = prescribed.tolist()
    for joint in model.joints:
        if joint.v.stop - joint.v.start > 1 and len(set(chosen[joint.v])) > 1:
            raise ValueError(
                f"prescribed: expected the same for all degrees of freedom of joint "
                f"{joint.name!r}, got {chosen[joint.v]}"
            )
    return np.ascontiguousarray(prescribed)
