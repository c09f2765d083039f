"""Products with the first derivatives of constrained dynamics, without forming a matrix."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.results import ConstrainedDynamicsJVP, ConstrainedDynamicsVJP
from dtau.support.arrays import Array
from dtau.support.direct import direct
from dtau.support.options import Axes, Coordinates, Gradients


@direct
def constrained_dynamics_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    contacts: Contacts,
    dq: ArrayLike,
    dv: ArrayLike,
    dtau: ArrayLike,
    f_ext: ArrayLike | None = None,
    df_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    active: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    regularization: float = 0.0,
    dparameters: ArrayLike | None = None,
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ConstrainedDynamicsJVP:
    """Variation of constrained accelerations and contact forces along variations of the arguments.

        da = da_dq dq + da_dv dv + da_dtau (dtau - Y dpi),    dforces likewise

    Parameters
    ----------
    dparameters : array_like (..., nparameters), optional
        Variation dpi of the parameters: as many as ``parameters`` has, and 10 nbodies, in the order
        of ``model.parameters.ravel()``, without it; zero by default. Y is the regressor at the
        acceleration.

    Returns
    -------
    ConstrainedDynamicsJVP
        The matrices of `dtau.constrained_dynamics_derivatives` times the variations.

    Notes
    -----
    [Derivations] section 20: the JVP of inverse dynamics, [Derivations] section 6, and one more
    solve with the factors of `dtau.constrained_dynamics`, whose order of cost it has: O(N d^2) for
    the tree of depth d and O(nrows^3). For rows that contradict each other, with
    ``regularization``, see `dtau.constrained_dynamics_derivatives`.

    Examples
    --------
    >>> feet = [dtau.PointContact("LF_FOOT"), dtau.PointContact("RH_FOOT")]
    >>> contacts = dtau.Contacts(model, feet)
    >>> rng = np.random.default_rng(0)
    >>> q, v, tau = dtau.random_state(model, rng)
    >>> dq, dv, dtorque = rng.standard_normal((3, model.nv))
    >>> x = dtau.constrained_dynamics_jvp(model, q, v, tau, contacts, dq, dv, dtorque)
    >>> d = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts)
    >>> want = d.dforces_dq @ dq + d.dforces_dv @ dv + d.dforces_dtau @ dtorque
    >>> bool(np.allclose(x.dforces, want))
    True
    """


@direct
def constrained_dynamics_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    contacts: Contacts,
    lam: ArrayLike,
    lam_forces: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    active: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    regularization: float = 0.0,
    by: Gradients | None = None,
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> ConstrainedDynamicsVJP:
    """Gradient of ``lam . a + lam_forces . forces`` by the arguments of constrained dynamics.

    Parameters
    ----------
    lam
        Weight of each acceleration, in the order of ``v``.
    by : {"f_ext", "parameters"} or sequence of them, optional
        Further variables: the external wrenches that are given, zeros too, and the inertial
        parameters of the bodies. The gradient by the latter is an attribute of the result, beside
        the tuple. ``out`` must be None.

    Returns
    -------
    ConstrainedDynamicsVJP
        The transposed matrices of `dtau.constrained_dynamics_derivatives` times the weights.

    Notes
    -----
    [Derivations] section 20: one solve with the factors of `dtau.constrained_dynamics`, then the
    VJP of inverse dynamics, [Derivations] section 6, with the solution; the same order of cost, O(N
    d^2) for the tree of depth d and O(nrows^3). For rows that contradict each other, with
    ``regularization``, see `dtau.constrained_dynamics_derivatives`.

    Examples
    --------
    >>> feet = [dtau.PointContact("LF_FOOT"), dtau.PointContact("RH_FOOT")]
    >>> contacts = dtau.Contacts(model, feet)
    >>> rng = np.random.default_rng(0)
    >>> q, v, tau = dtau.random_state(model, rng)
    >>> lam, lam_forces = rng.standard_normal(model.nv), rng.standard_normal(contacts.nrows)
    >>> x = dtau.constrained_dynamics_vjp(model, q, v, tau, contacts, lam, lam_forces)
    >>> d = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts)
    >>> bool(np.allclose(x.by_q, lam @ d.da_dq + lam_forces @ d.dforces_dq))
    True

    How the weighted sum changes with the mass of the trunk:

    >>> weights = contacts, lam, lam_forces
    >>> x = dtau.constrained_dynamics_vjp(model, q, v, tau, *weights, by="parameters")
    >>> lighter = model.parameters.copy()
    >>> lighter[0, 0] -= 1e-6
    >>> less = dtau.constrained_dynamics(model, q, v, tau, contacts, parameters=lighter)
    >>> more = dtau.constrained_dynamics(model, q, v, tau, contacts)
    >>> change = lam @ (more.a - less.a) + lam_forces @ (more.forces - less.forces)
    >>> bool(np.isclose(change, 1e-6 * x.by_parameters[0], rtol=1e-4))
    True
    """
