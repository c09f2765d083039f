"""Impacts of contacts and loops: velocities, impulses, their derivatives and products with them."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.results import (
    ImpulseDynamics,
    ImpulseDynamicsDerivatives,
    ImpulseDynamicsJVP,
    ImpulseDynamicsVJP,
)
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Coordinates, Gradients, Layout


@direct
def impulse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Contacts,
    restitution: ArrayLike = 0.0,
    *,
    active: ArrayLike | None = None,
    regularization: float = 0.0,
    parameters: ArrayLike | None = None,
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ImpulseDynamics:
    """Impact dynamics: the velocity after an impact, and the impulses of contacts and loops.

        M (v_after - v) = J^T impulses,    J v_after = -restitution J v

    Returns
    -------
    ImpulseDynamics
    v : ndarray (..., nv)
        Velocity after the impact.

    Notes
    -----
    [Derivations] section 20, with the factors of [RBDA] section 6.5: O(N d^2) for the tree of depth
    d and O(nrows^3) for the contacts.

    Examples
    --------
    Two feet touch down:

    >>> feet = ["LF_FOOT", "RH_FOOT"]
    >>> contacts = dtau.Contacts(model, [dtau.PointContact(foot) for foot in feet])
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> after = dtau.impulse_dynamics(model, q, v, contacts)
    >>> bool(abs(dtau.frame_velocities(model, q, after.v, feet)[:, :3]).max() < 1e-12)
    True
    """


@direct
def impulse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Contacts,
    restitution: ArrayLike = 0.0,
    *,
    active: ArrayLike | None = None,
    regularization: float = 0.0,
    layout: Layout = "dense",
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ImpulseDynamicsDerivatives:
    """Derivatives of impact dynamics: velocity and impulses by configuration and velocity.

    With ``K = [[M, -J^T], [J, 0]]``, by q and by v:

        [dv_after - dv; dimpulses] = -K^-1 [d(M (v_after - v) - J^T impulses); d(rows)]

    Notes
    -----
    [Derivations] section 20: the same solve as in `dtau.constrained_dynamics_derivatives`, at rest,
    without gravity, and with the acceleration v_after - v; O(N^2 d) for the tree of depth d and O(N
    nrows (d + nrows)) for the contacts. The right-hand side of the rows of an impact is J times a
    velocity, so rows cannot contradict each other, and there is no residual. In a batch, a state
    whose rows depend on each other has NaN for all results.

    Examples
    --------
    >>> contacts = dtau.Contacts(model, [dtau.PointContact("LF_FOOT")])
    >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
    >>> d = dtau.impulse_dynamics_derivatives(model, q, v, contacts)
    >>> after = dtau.impulse_dynamics(model, q, v, contacts)
    >>> bool(np.allclose(d.dv_dv @ v, after.v))
    True
    """


@direct
def impulse_dynamics_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Contacts,
    dq: ArrayLike,
    dv: ArrayLike,
    restitution: ArrayLike = 0.0,
    drestitution: ArrayLike | None = None,
    *,
    active: ArrayLike | None = None,
    regularization: float = 0.0,
    dparameters: ArrayLike | None = None,
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ImpulseDynamicsJVP:
    """Variation of velocities after an impact and of impulses along variations of the arguments.

        dv_after = dv_dq dq + dv_dv dv + (v_after - v) drestitution / (1 + restitution) - W Y dpi

    with ``W = M^-1 - M^-1 J^T (J M^-1 J^T)^-1 J M^-1``; the impulses likewise.

    Parameters
    ----------
    dparameters : array_like (..., nparameters), optional
        Variation dpi of the parameters: as many as ``parameters`` has, and 10 nbodies, in the order
        of ``model.parameters.ravel()``, without it; zero by default. Y is the regressor at rest and
        without gravity, at the acceleration v_after - v.

    Returns
    -------
    ImpulseDynamicsJVP
        The matrices of `dtau.impulse_dynamics_derivatives` times the variations.

    Notes
    -----
    [Derivations] section 20: the algorithm of `dtau.constrained_dynamics_jvp`, at rest, without
    gravity, and with the acceleration v_after - v; O(N d^2) for the tree of depth d and O(nrows^3).

    Examples
    --------
    >>> contacts = dtau.Contacts(model, [dtau.PointContact("LF_FOOT")])
    >>> rng = np.random.default_rng(0)
    >>> q, v, _ = dtau.random_state(model, rng)
    >>> dq, dv = rng.standard_normal((2, model.nv))
    >>> x = dtau.impulse_dynamics_jvp(model, q, v, contacts, dq, dv)
    >>> d = dtau.impulse_dynamics_derivatives(model, q, v, contacts)
    >>> bool(np.allclose(x.dimpulses, d.dimpulses_dq @ dq + d.dimpulses_dv @ dv))
    True
    """


@direct
def impulse_dynamics_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Contacts,
    lam: ArrayLike,
    lam_impulses: ArrayLike,
    restitution: ArrayLike = 0.0,
    *,
    active: ArrayLike | None = None,
    regularization: float = 0.0,
    by: Gradients | None = None,
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ImpulseDynamicsVJP:
    """Gradient of ``lam . v_after + lam_impulses . impulses`` by the arguments of an impact.

    Parameters
    ----------
    lam
        Weight of each velocity after the impact.
    by : "parameters", optional
        Further variables: the parameters. The gradient by them is an attribute of the result,
        beside the tuple. ``out`` must be None.

    Returns
    -------
    ImpulseDynamicsVJP
        The transposed matrices of `dtau.impulse_dynamics_derivatives` times the weights.

    Notes
    -----
    [Derivations] section 20: the algorithm of `dtau.constrained_dynamics_vjp`, at rest, without
    gravity, and with the acceleration v_after - v; O(N d^2) for the tree of depth d and O(nrows^3).

    Examples
    --------
    >>> contacts = dtau.Contacts(model, [dtau.PointContact("LF_FOOT")])
    >>> rng = np.random.default_rng(0)
    >>> q, v, _ = dtau.random_state(model, rng)
    >>> lam, lam_impulses = rng.standard_normal(model.nv), rng.standard_normal(contacts.nrows)
    >>> x = dtau.impulse_dynamics_vjp(model, q, v, contacts, lam, lam_impulses)
    >>> d = dtau.impulse_dynamics_derivatives(model, q, v, contacts)
    >>> bool(np.allclose(x.by_q, lam @ d.dv_dq + lam_impulses @ d.dimpulses_dq))
    True
    """
