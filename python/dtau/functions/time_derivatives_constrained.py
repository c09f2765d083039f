"""Time derivatives of dynamics with contacts and closed loops."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.results import ConstrainedDynamics, ConstrainedInverseDynamics
from dtau.support.arrays import Array, Mask
from dtau.support.direct import direct
from dtau.support.options import Axes


@direct
def constrained_dynamics_time_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau_derivatives: ArrayLike,
    contacts: Contacts,
    f_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    active: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    regularization: float = 0.0,
    order: int | None = None,
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ConstrainedDynamics:
    """Accelerations and forces of a robot with contacts, with time derivatives up to order r.

        d^k/dt^k (a, forces) of `dtau.constrained_dynamics`    k = 0, 1, ..., r

    along the motion that the contacts and loops allow. So jerk and snap are rows 1 and 2 of ``a``.

    Returns
    -------
    ConstrainedDynamics
        Row k of each array is the time derivative of order k.
    a : ndarray (..., r + 1, nv)
        Accelerations, component by component.
    forces : ndarray (..., r + 1, nrows)
        Along the axes of the rows, also where these turn.
    residual : ndarray (..., r + 1, nrows)
        What is left of the rows: rounding errors, unless ``regularization`` lets rows contradict
        each other.

    Notes
    -----
    [Derivations] section 27. The matrices of order 0 are factorized once, O(N d^2 + nrows^3) for
    the tree of depth d; the orders take O(N r^2) for the tree and O(d r^2) for each contact. Gains
    ``kp`` and ``kd`` act at every order. With ``regularization`` the derivatives exist where the
    rank of J is constant along the motion, and forces of rows that depend on each other have fewer
    digits. Errors of low orders enter the higher ones: about a digit is lost per order.

    Examples
    --------
    The foot of a leg stays where it is, so its jerk is zero too:

    >>> feet = dtau.robots.QUADRUPED_FEET
    >>> contacts = dtau.Contacts(model, [dtau.PointContact(foot) for foot in feet])
    >>> q, v = dtau.neutral(model), np.zeros(model.nv)
    >>> tau = np.zeros((3, model.nv))
    >>> tau[1] = 1.0  # torques that grow by 1 Nm in a second
    >>> result = dtau.constrained_dynamics_time_derivatives(model, q, v, tau, contacts)
    >>> stack = np.vstack([v, result.a[:-1]])
    >>> twist = dtau.frame_kinematics_time_derivatives(model, q, stack, feet, "mixed").twist
    >>> bool(abs(twist[1:, :, :3]).max() < 1e-10)
    True
    """


@direct
def constrained_inverse_dynamics_time_derivatives(
    model: Model,
    q: ArrayLike,
    v_derivatives: ArrayLike,
    contacts: Contacts,
    f_ext_derivatives: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    active: ArrayLike | None = None,
    inputs: Mask | None = None,
    regularization: float = 0.0,
    order: int | None = None,
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ConstrainedInverseDynamics:
    """Joint torques and least-norm contact forces of a motion, with time derivatives up to order r.

        d^k/dt^k (tau, forces) of `dtau.constrained_inverse_dynamics`    k = 0, 1, ..., r

    Parameters
    ----------
    v_derivatives : array_like (..., r + 2, nv)
        ... Row 1 is ``a``. The function does not check that the contacts hold along this motion.
    inputs : ndarray of bool (nv,), optional
        Mask of the driven torques; by default the torques of all joints except free roots.
    regularization : float
        As for `dtau.constrained_inverse_dynamics`: set it if the contact forces may not reach all
        velocities without an input.

    Returns
    -------
    ConstrainedInverseDynamics
        Row k of each array is the time derivative of order k.
    tau : ndarray (..., r + 1, nv)
        Joint torques; 0 up to rounding where no input drives, unless ``regularization`` is given
        and contact forces do not reach these velocities.
    forces : ndarray (..., r + 1, nrows)
        Contact forces along the axes of the rows, also where these turn.

    Raises
    ------
    ValueError
        ... the call has one state and no regularization, and no contact forces can move the joints
        that are not driven. In a batch such a state has NaN for its results.

    Notes
    -----
    [Derivations] section 27; O(N r^2) for the tree and O(d r^2) for each contact at depth d, and
    once O(n^3) for n velocities without an input. With ``regularization`` the derivatives exist
    where the contacts reach as many of these velocities all along the motion.

    Examples
    --------
    The torques that a motion with contacts takes are the torques that drive it:

    >>> feet = [dtau.PointContact(foot) for foot in dtau.robots.QUADRUPED_FEET]
    >>> contacts = dtau.Contacts(model, feet)
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> tau = np.zeros((3, model.nv))
    >>> tau[:, 6:] = np.random.default_rng(1).standard_normal((3, 12))
    >>> driven = dtau.constrained_dynamics_time_derivatives(model, q, v, tau, contacts)
    >>> motion = np.vstack([v, driven.a])
    >>> again = dtau.constrained_inverse_dynamics_time_derivatives(model, q, motion, contacts)
    >>> bool(abs(again.tau[:, :6]).max() < 1e-8 * abs(again.forces).max())
    True
    """
