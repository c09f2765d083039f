"""Impacts of contacts and loops, and torques for motions in contact."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import ConstrainedInverseDynamics, ImpulseDynamics, ImpulseDynamicsDerivatives


def impulse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Contacts,
    restitution: ArrayLike = 0.0,
    *,
    active: ArrayLike | None = None,
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ImpulseDynamics:
    """Velocity after an impact that contacts and loops catch, and their impulses.

        M (v_after - v) = J^T impulses,    J v_after = -restitution J v

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v : array_like (..., nv)
        Velocity before the impact.
    contacts : Contacts
        What is held afterwards. Gains and placements do not matter.
    restitution : array_like (...)
        How much of their velocities the rows keep, the other way: 0 holds, 1 is elastic.
    active : array_like (..., ncontacts), optional
        Which contacts take part, see `dtau.constrained_dynamics`; by default all.
    damping : float
        For rows that depend on each other, see `dtau.constrained_dynamics`.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the two arrays of the results.

    Returns
    -------
    ImpulseDynamics
        ``v (..., nv)`` after the impact, and ``impulses (..., nrows)`` in N s and N m s, along the
        axes of the contacts as the forces of `dtau.constrained_dynamics`.

    Raises
    ------
    ValueError, TypeError
        As `dtau.constrained_dynamics`.

    Notes
    -----
    [Notes] section 20, with the factors of [RBDA] section 6.5: O(N d^2) for the tree of depth d and
    O(nrows^3) for the contacts.

    Examples
    --------
    Two feet touch down:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> feet = ["LF_FOOT", "RH_FOOT"]
    >>> contacts = dtau.Contacts(model, [dtau.PointContact(foot) for foot in feet])
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> after = dtau.impulse_dynamics(model, q, v, contacts)
    >>> bool(abs(dtau.frame_velocities(model, q, after.v, feet)[:, :3]).max() < 1e-12)
    True
    """
    return _core.impulse_dynamics(model, q, v, contacts, restitution, active, damping, out, threads)


def impulse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Contacts,
    restitution: ArrayLike = 0.0,
    *,
    active: ArrayLike | None = None,
    damping: float = 0.0,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ImpulseDynamicsDerivatives:
    """Derivatives of the velocity after an impact and of impulses by configuration and velocity.

    With ``K = [[M, -J^T], [J, 0]]``, by q and by v:

        [dv_after - dv; dimpulses] = -K^-1 [d(M (v_after - v) - J^T impulses); d(rows)]

    Parameters
    ----------
    model, q, v, contacts, restitution, active, damping
        As `dtau.impulse_dynamics`.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the four arrays of the results.

    Returns
    -------
    ImpulseDynamicsDerivatives
        ``dv_dq``, ``dv_dv``, each ``(..., nv, nv)``, and ``dimpulses_dq``, ``dimpulses_dv``, each
        ``(..., nrows, nv)``: row the result, column the variable, by q (+) dq in the tangent space.

    Raises
    ------
    ValueError, TypeError
        As `dtau.constrained_dynamics`; in a batch such a state has NaN for all derivatives in which
        its contacts take part.

    Notes
    -----
    [Notes] section 20: as `dtau.constrained_dynamics_derivatives`, at rest and without gravity, at
    the acceleration v_after - v; O(N^2 d) for the tree of depth d and O(N nrows (d + nrows)) for
    the contacts. Rows of an impact want J times a velocity: they cannot contradict each other, and
    there is no residual.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> contacts = dtau.Contacts(model, [dtau.PointContact("LF_FOOT")])
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> d = dtau.impulse_dynamics_derivatives(model, q, v, contacts)
    >>> after = dtau.impulse_dynamics(model, q, v, contacts)
    >>> bool(np.allclose(d.dv_dv @ v, after.v))
    True
    """
    return _core.impulse_dynamics_derivatives(
        model, q, v, contacts, restitution, active, damping, out, threads
    )


def constrained_inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    contacts: Contacts,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    active: ArrayLike | None = None,
    inputs: NDArray[np.bool_] | None = None,
    out: Sequence[NDArray[np.float64]] | None = None,
    threads: int | None = None,
) -> ConstrainedInverseDynamics:
    """Torques of the driven joints, and the shortest contact forces, that give ``a``.

        tau + J^T forces = M a + bias - sum of J_ext^T f_ext,    tau = 0 where nothing drives

    Parameters
    ----------
    model : Model
    q : array_like (..., nq)
        Configuration. Batch axes of all arguments broadcast against each other.
    v, a : array_like (..., nv)
        Velocity, and the acceleration that is wanted. That contacts hold in it is not checked.
    contacts : Contacts
        Where forces may act.
    f_ext : array_like (..., nbodies, 6), optional
        Other external wrenches along ``f_ext_axes``, see `dtau.inverse_dynamics`.
    f_ext_axes : {"body", "world", "mixed"}
        Axes of ``f_ext``.
    active : array_like (..., ncontacts), optional
        Which contacts hold, see `dtau.constrained_dynamics`; by default all.
    inputs : ndarray of bool (nv,), optional
        Which torques are driven; by default those of all joints but free roots.
    out, threads
        See `dtau.inverse_dynamics`; ``out`` takes the two arrays of the results.

    Returns
    -------
    ConstrainedInverseDynamics
        ``tau (..., nv)``, 0 but for rounding where nothing drives, and ``forces (..., nrows)``, of
        all that do so those with the least sum of squares.

    Raises
    ------
    ValueError
        If the call holds one state and no forces of its contacts move what is not driven (one
        point cannot hold a base; the joints are named), or as `dtau.constrained_dynamics`. In a
        batch such a state has NaN for its results.
    TypeError
        As `dtau.constrained_dynamics`.

    Notes
    -----
    [Notes] section 20; O(N) for the tree and O(nrows) for each torque that is not driven.

    Examples
    --------
    What holds a robot on its feet:

    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> feet = dtau.robots.QUADRUPED_FEET
    >>> contacts = dtau.Contacts(model, [dtau.PointContact(foot, axes="mixed") for foot in feet])
    >>> q, still = dtau.neutral(model), np.zeros(model.nv)
    >>> result = dtau.constrained_inverse_dynamics(model, q, still, still, contacts)
    >>> weight = result.forces[2::3].sum()
    >>> bool(np.isclose(weight, 9.81 * model.mass) and abs(result.tau[:6]).max() < 1e-9)
    True
    """
    return _core.constrained_inverse_dynamics(
        model, q, v, a, contacts, f_ext, f_ext_axes, active, inputs, out, threads
    )
