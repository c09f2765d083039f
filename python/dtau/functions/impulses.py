"""Impacts of contacts and loops, and torques for motions in contact."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.checks import listing
from dtau.docstrings import documented
from dtau.functions.contacts import active_contacts, are_finite, holds_nan, raise_of_rank
from dtau.functions.control_inputs import driven as driven_by_default
from dtau.functions.row_rank import unreached_joints
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.options import Axes
from dtau.results import ConstrainedInverseDynamics, ImpulseDynamics, ImpulseDynamicsDerivatives


@documented
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
    v
        ... It is the velocity before the impact.
    contacts
        The contacts and loops that hold afterwards, of this model. Gains and placements do not
        matter.

    Returns
    -------
    ImpulseDynamics
    v : ndarray (..., nv)
        Velocity after the impact.

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
    result = _core.impulse_dynamics(
        model, q, v, contacts, restitution, active, damping, out, threads
    )
    if holds_nan(result.v):
        raise_of_rank(model, q, contacts, active, damping, (v, restitution))
    return result


@documented
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
    v
        ... It is the velocity before the impact.
    contacts
        The contacts and loops that hold afterwards, of this model. Gains and placements do not
        matter.

    Notes
    -----
    [Notes] section 20: as `dtau.constrained_dynamics_derivatives`, at rest and without gravity, at
    the acceleration v_after - v; O(N^2 d) for the tree of depth d and O(N nrows (d + nrows)) for
    the contacts. Rows of an impact want J times a velocity: they cannot contradict each other, and
    there is no residual. In a batch, a state whose rows depend on each other has NaN for all
    derivatives in which its contacts take part.

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
    result = _core.impulse_dynamics_derivatives(
        model, q, v, contacts, restitution, active, damping, out, threads
    )
    if holds_nan(result.dimpulses_dv, 2):
        raise_of_rank(model, q, contacts, active, damping, (v, restitution))
    return result


@documented
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
    a
        ... That contacts hold in it is not checked.
    inputs : ndarray of bool (nv,), optional
        Mask of the torques that are driven; by default those of all joints but free roots.

    Returns
    -------
    ConstrainedInverseDynamics
    tau : ndarray (..., nv)
        Joint torque, 0 but for rounding at joints that nothing drives.
    forces : ndarray (..., nrows)
        Forces of the contacts as `dtau.constrained_dynamics` gives them: of all that do so
        those with the least sum of squares.

    Raises
    ------
    ValueError
        ... the call holds one state and no forces of its contacts move what is not driven (one
        point cannot hold a base; the joints are named). In a batch such a state has NaN for its
        results.

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
    result = _core.constrained_inverse_dynamics(
        model, q, v, a, contacts, f_ext, f_ext_axes, active, inputs, out, threads
    )
    if holds_nan(result.tau) and are_finite(q, v, a, active, f_ext):
        on = active_contacts(contacts, active)
        names = listing([contacts.names[k] for k in on])
        why = f"no forces of {names} move all" if names else "none holds, which leaves all"
        driven = driven_by_default(model) if inputs is None else np.flatnonzero(inputs)
        loose = np.delete(np.arange(model.nv), driven)
        joints = listing(unreached_joints(model, q, contacts, on, loose))
        raise ValueError(
            f"contacts: {why} that nothing drives in this state (of joint {joints}); add contacts, "
            "or inputs"
        )
    return result
