"""Forward and inverse dynamics with contacts and closed loops: `constrained_dynamics`."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.results import (
    ConstrainedDynamics,
    ConstrainedDynamicsDerivatives,
    ConstrainedInverseDynamics,
)
from dtau.support.arrays import Array, Mask
from dtau.support.checks import require
from dtau.support.direct import direct
from dtau.support.options import Axes, Coordinates, Layout


@direct
def constrained_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    contacts: Contacts,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    active: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    regularization: float = 0.0,
    parameters: ArrayLike | None = None,
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ConstrainedDynamics:
    """Constrained forward dynamics: the acceleration under ``tau``, and the constraint forces.

        M a - J^T forces = tau - bias + sum of J_ext^T f_ext
        J a + dJ/dt v = -kd (velocities of the rows) - kp (errors of the rows)

    J is the Jacobian of the constraint rows, J_ext the Jacobian of a body, and bias the Coriolis,
    damping, friction, spring and gravity torques.

    Notes
    -----
    [Derivations] section 20, with the factors of [RBDA] section 6.5: O(N d^2) for the tree of depth
    d and O(nrows^3) for the contacts. The constraints act on accelerations: errors of velocities
    and positions stay, unless the Baumgarte gains ``kd`` and ``kp`` remove them.

    Examples
    --------
    The feet of a robot do not accelerate:

    >>> feet = dtau.robots.QUADRUPED_FEET
    >>> contacts = dtau.Contacts(model, [dtau.PointContact(foot, axes="mixed") for foot in feet])
    >>> q, still = dtau.neutral(model), np.zeros(model.nv)
    >>> result = dtau.constrained_dynamics(model, q, still, still, contacts)
    >>> feet_a = dtau.frame_accelerations(model, q, still, result.a, feet, "mixed")[:, :3]
    >>> bool(abs(feet_a).max() < 1e-12)
    True
    """


@direct
def constrained_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    contacts: Contacts,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    active: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    regularization: float = 0.0,
    forces: bool = False,
    layout: Layout = "dense",
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ConstrainedDynamicsDerivatives:
    """Derivatives of constrained accelerations and forces by configuration, velocity and torque.

    With ``K = [[M, -J^T], [J, 0]]``, by q and by v:

        [da; dforces] = -K^-1 [d(inverse dynamics); d(rows)]

    Parameters
    ----------
    forces
        True: also return the acceleration and the constraint forces themselves.

    Returns
    -------
    ConstrainedDynamicsDerivatives
        The derivatives include the Baumgarte gains. Rows of inactive contacts are 0.

    Notes
    -----
    [Derivations] section 20: one solve for the derivatives of inverse dynamics with the contact
    wrenches, [IDSVA] algorithm 1, and the derivatives of the constraint rows; O(N^2 d) for the tree
    of depth d and O(N nrows (d + nrows)) for the contacts. With ``regularization`` the results are
    the derivatives of the forces G^+ b of `dtau.constrained_dynamics`, and of the acceleration
    under them, for any ``residual``: the full derivative of the pseudo-inverse, [Golub-Pereyra]. It
    exists where the rank of J is constant near q. In a batch, a state whose rows depend on each
    other has NaN for all results.

    Examples
    --------
    >>> feet = [dtau.PointContact(foot) for foot in dtau.robots.QUADRUPED_FEET]
    >>> contacts = dtau.Contacts(model, feet)
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0), shape=(256,))
    >>> d = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts)
    >>> d.dforces_dq.shape
    (256, 12, 18)

    Get the acceleration and the forces from the same call:

    >>> both = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts, forces=True)
    >>> value = dtau.constrained_dynamics(model, q, v, tau, contacts)
    >>> bool(np.allclose(both.a, value.a) and np.allclose(both.forces, value.forces))
    True
    """


@direct
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
    inputs: Mask | None = None,
    regularization: float = 0.0,
    parameters: ArrayLike | None = None,
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ConstrainedInverseDynamics:
    """Constrained inverse dynamics: joint torques and least-norm contact forces that give ``a``.

        tau + J^T forces = M a + bias - sum of J_ext^T f_ext,    tau = 0 where no input drives

    Parameters
    ----------
    a
        ... The function does not check that the contacts hold with this acceleration.
    inputs : ndarray of bool (nv,), optional
        Mask of the driven torques; by default the torques of all joints except free roots.
    regularization : float
        Set it if the contact forces may not reach all velocities without an input, as the forces
        of two point feet. The torques that these velocities would need then are the least possible.
        Choose it small compared with 1 and with the squares of the contacts' distances in meters:
        1e-6 of these works. The result does not depend on its value.

    Returns
    -------
    ConstrainedInverseDynamics
    tau : ndarray (..., nv)
        Joint torque; 0 up to rounding where no input drives, unless ``regularization`` is given and
        contact forces do not reach these velocities.
    forces : ndarray (..., nrows)
        Contact forces in the format of `dtau.constrained_dynamics`: of all forces that give ``a``,
        those with the least sum of squares.

    Raises
    ------
    ValueError
        ... the call has one state and no regularization, and no contact forces can move the joints
        that are not driven (one point contact cannot hold a base; the message names the joints). In
        a batch such a state has NaN for its results.

    Notes
    -----
    [Derivations] section 20; O(N) for the tree and O(nrows) for each torque without an input.

    Examples
    --------
    Torques and contact forces of a standing robot:

    >>> feet = dtau.robots.QUADRUPED_FEET
    >>> contacts = dtau.Contacts(model, [dtau.PointContact(foot, axes="mixed") for foot in feet])
    >>> q, still = dtau.neutral(model), np.zeros(model.nv)
    >>> result = dtau.constrained_inverse_dynamics(model, q, still, still, contacts)
    >>> weight = result.forces[2::3].sum()
    >>> bool(np.isclose(weight, 9.81 * model.mass) and abs(result.tau[:6]).max() < 1e-9)
    True
    """


def require_contacts(model: Model, contacts: Contacts) -> None:
    """Raise unless these are contacts of this model or an equal one; the core checks the same."""
    require("model", model, Model)
    require("contacts", contacts, Contacts)
    if not contacts._is_of(model):
        raise ValueError("contacts: expected those of this model, got another model's")
