"""Linear systems along trajectories: perturbations of a state, without coordinates of attitude.

A state (q, v) is perturbed to (q (+) eps xi, v + eps dv), with xi in the tangent space at q as in
`dtau.integrate`: displacements of free, spherical and planar joints along their own body axes. What
becomes of z = (xi, dv) is linear: in continuous time dz/dt = A z + B u, over a time step
z+ = A z + B u. There is no singularity, whatever the attitude.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.options import Axes, Integrator
from dtau.results import (
    ConstrainedDiscreteLinearization,
    ConstrainedLinearization,
    DiscreteLinearization,
    Linearization,
)


@overload
def linearize(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: None = None,
    active: None = None,
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> Linearization: ...
@overload
def linearize(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: Contacts,
    active: ArrayLike | None = None,
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ConstrainedLinearization: ...
def linearize(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: Contacts | None = None,
    active: ArrayLike | None = None,
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> Linearization | ConstrainedLinearization:
    """Left-trivialized linearization of the equations of motion: dz/dt = A z + B u.

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity; of a free joint [linear, angular] in the body frame.
    tau : array_like (..., nv)
        Joint torque; of a free joint the wrench [force, moment] in the body frame.
    f_ext : array_like (..., nbodies, 6), optional
        External wrench on each body, [force, moment] in the axes ``f_ext_axes``, N and N m.
    inputs : array_like (nv,) of bool, or (..., nv, nu), optional
        What u varies: the torques that a mask selects, or nu inputs of which each varies the torque
        along a column of a map, N or N m per unit of the input: one map, or one a state. By default
        the torques of all joints but free roots.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``, see `dtau.inverse_dynamics`. Its components along them are held constant:
        with ``"body"`` wrenches turn with their bodies, with the others they keep to the world.
    contacts : Contacts, optional
        What is held while state and inputs vary: accelerations are those of
        `dtau.constrained_dynamics`, whose forces vary with them.
    active, damping
        See there.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the three arrays of the results, or four with
        ``contacts``.

    Returns
    -------
    Linearization
        ``A (..., 2 nv, 2 nv)``, ``B (..., 2 nv, nu)`` and the acceleration ``a (..., nv)``, with
        z = [xi, dv]. The upper rows are the kinematics, dxi/dt = -ad_v xi + dv, with ad_v = (v x)
        for a free joint, likewise for spherical and planar ones, zero for all others; the lower
        ones [da_dq, da_dv] and da_dtau, those of `dtau.forward_dynamics_derivatives`, with contacts
        of `dtau.constrained_dynamics_derivatives`.
    ConstrainedLinearization
        Where ``contacts`` are given: also ``residual (..., nrows)``, by how much their rows are not
        held, see `dtau.constrained_dynamics`.

    Raises
    ------
    ValueError, TypeError
        As `dtau.forward_dynamics`, with contacts as `dtau.constrained_dynamics`; also if ``active``
        or ``damping`` are given without contacts.

    Notes
    -----
    [Bos] propositions 1 to 3, for every joint type and root; the base's twist is that in body axes
    (`dtau.conventions` converts to others). FDSVA, [IDSVA] eq. 5; O(N^2 d) with the depth d of the
    tree. Contacts: [Notes] section 20. The wrench of a foot on the ground is then not one that is
    held constant: it is what keeps the foot there.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
    >>> lin = dtau.linearize(model, q, v, tau)
    >>> lin.A.shape, lin.B.shape
    ((36, 36), (36, 12))
    >>> d = dtau.forward_dynamics_derivatives(model, q, v, tau)
    >>> bool(np.allclose(lin.A[18:], np.hstack([d.da_dq, d.da_dv])))
    True

    Inputs of another kind: one thruster that pushes the trunk upwards along its own z.

    >>> thruster = np.zeros((model.nv, 1))
    >>> thruster[2] = 1.0
    >>> dtau.linearize(model, q, v, tau, inputs=thruster).B.shape
    (36, 1)

    Thrusters that swivel: a map for each of three knots at this state.

    >>> swivelled = np.zeros((3, model.nv, 1))
    >>> swivelled[:, 0, 0], swivelled[:, 2, 0] = np.sin([0, 0.1, 0.2]), np.cos([0, 0.1, 0.2])
    >>> dtau.linearize(model, q, v, tau, inputs=swivelled).B.shape
    (3, 36, 1)

    On its feet: what of a velocity would move them is braked.

    >>> feet = [dtau.PointContact(f"{leg}_FOOT", kd=20) for leg in ("LF", "RF", "LH", "RH")]
    >>> contacts = dtau.Contacts(model, feet)
    >>> lin = dtau.linearize(model, q, v, tau, contacts=contacts)
    >>> d = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts)
    >>> bool(np.allclose(lin.A[18:, 18:], d.da_dv))
    True
    """
    return _core.linearize(
        model, q, v, tau, f_ext, inputs, f_ext_axes, contacts, active, damping, out, threads
    )


@overload
def linearize_discrete(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    integrator: Integrator = "euler",
    f_ext: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: None = None,
    active: None = None,
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> DiscreteLinearization: ...
@overload
def linearize_discrete(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    integrator: Integrator = "euler",
    f_ext: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: Contacts,
    active: ArrayLike | None = None,
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ConstrainedDiscreteLinearization: ...
def linearize_discrete(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    integrator: Integrator = "euler",
    f_ext: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: Contacts | None = None,
    active: ArrayLike | None = None,
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> DiscreteLinearization | ConstrainedDiscreteLinearization:
    """Exact derivative of a time step by state and inputs: z+ = A z + B u.

    Parameters
    ----------
    model : Model
    q, v, tau
        See `dtau.linearize`. The knots of a trajectory are a batch: one call does them all.
    dt : array_like (...)
        Length of the step in seconds.
    integrator : {"euler", "semi_implicit", "rk4"}
        See `dtau.step`.
    f_ext, inputs, f_ext_axes, contacts, active, damping
        See `dtau.linearize`.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the four arrays of the results, or five with
        ``contacts``.

    Returns
    -------
    DiscreteLinearization
        ``A (..., 2 nv, 2 nv)``, ``B (..., 2 nv, nu)``, and the state after the step,
        ``q (..., nq)`` and ``v (..., nv)``. z = [xi, dv] are perturbations of the state before the
        step, and z+ of that after it, each in its own tangent space.
    ConstrainedDiscreteLinearization
        Where ``contacts`` are given: also ``residual (..., nrows)``, by how much their rows are not
        held in the state before the step, see `dtau.constrained_dynamics`.

    Raises
    ------
    ValueError, TypeError
        As `dtau.linearize`; also if the integrator is unknown.

    Notes
    -----
    The chain rule through all stages and through the exponentials that move free, spherical and
    planar joints, [Sola] appendices B to D; no matrix exponential and no approximation. O(N d) a
    column and stage; contacts, whose gains are part of it, [Notes] eq. 20.15, O(nrows d + nrows^2)
    more.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0), shape=(50,))
    >>> lin = dtau.linearize_discrete(model, q, v, tau, 0.01, "rk4")
    >>> lin.A.shape, lin.B.shape
    ((50, 36, 36), (50, 36, 12))
    >>> z = 1e-7 * np.ones(36)
    >>> moved = dtau.integrate(model, q, z[:18]), v + z[18:]
    >>> after = dtau.step(model, *moved, tau, 0.01, "rk4")
    >>> bool(np.allclose(dtau.difference(model, lin.q, after.q), lin.A[:, :18] @ z, atol=1e-11))
    True

    A trot, whose feet take turns: two of them hold in each half.

    >>> feet = [dtau.PointContact(f"{leg}_FOOT") for leg in ("LF", "RF", "LH", "RH")]
    >>> contacts = dtau.Contacts(model, feet)
    >>> active = np.repeat([[1, 0, 0, 1], [0, 1, 1, 0]], 25, axis=0)
    >>> trot = dtau.linearize_discrete(model, q, v, tau, 0.01, contacts=contacts, active=active)
    >>> trot.A.shape
    (50, 36, 36)
    """
    return _core.linearize_discrete(
        model,
        q,
        v,
        tau,
        dt,
        integrator,
        f_ext,
        inputs,
        f_ext_axes,
        contacts,
        active,
        damping,
        out,
        threads,
    )
