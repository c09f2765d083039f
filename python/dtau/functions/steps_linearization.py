"""Linearize the equations of motion on the manifold: `linearize`, `linearize_discrete`.

A state (q, v) is perturbed to (q (+) eps xi, v + eps dv), with xi in the tangent space at q as in
`dtau.integrate`: displacements of free, spherical and planar joints along their own body axes. The
perturbation z = (xi, dv) follows a linear system: in continuous time dz/dt = A z + B u, over a time
step z+ = A z + B u. No coordinates of attitude are involved, so no attitude is singular.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau import _core
from dtau.docstrings import documented
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.model.motor_feedback import feedback_of, refuse_pattern
from dtau.results import DiscreteLinearization, Linearization
from dtau.support.arrays import Array
from dtau.support.options import Axes, Coordinates, Integrator, Layout, Variables


@documented
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
    positions: ArrayLike | None = None,
    regularization: float = 0.0,
    layout: Layout = "dense",
    parameters: ArrayLike | None = None,
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> Linearization:
    """Left-trivialized linearization of the equations of motion: dz/dt = A z + B u.

    The state (q, v) is perturbed to (q (+) eps xi, v + eps dv) with `dtau.integrate`'s (+). The
    perturbation is z = [xi, dv], and u is the perturbation of the inputs.

    Parameters
    ----------
    contacts : Contacts, optional
        Contacts and loops that hold while state and inputs vary: the acceleration is the result of
        `dtau.constrained_dynamics`, and the contact forces vary with it. They act in addition to
        ``f_ext``.

    Returns
    -------
    Linearization
        With z = [xi, dv]: the upper rows are the kinematics, dxi/dt = -ad_v xi + dv, with ad_v = (v
        x) for a free joint, likewise for spherical and planar joints, zero for all others; the
        lower rows are [da_dq, da_dv] and da_dtau times the map of the inputs, from
        `dtau.forward_dynamics_derivatives` or, with contacts, from
        `dtau.constrained_dynamics_derivatives`.

    Raises
    ------
    ValueError
        ... ``layout="pattern"`` is given with motors whose forces depend on the state.

    Notes
    -----
    [Bos] propositions 1 to 3, for every joint type and root; the twist of the base is along body
    axes (`dtau.conventions` converts to others). FDSVA, [IDSVA] eq. 5; O(N^2 d) with the depth d of
    the tree. Contacts: [Derivations] section 20. The contact force on a foot then varies, so that
    the foot stays in place.

    Examples
    --------
    >>> lin = dtau.linearize(model, q, v, tau)
    >>> lin.A.shape, lin.B.shape
    ((36, 36), (36, 12))
    >>> d = dtau.forward_dynamics_derivatives(model, q, v, tau)
    >>> bool(np.allclose(lin.A[18:], np.hstack([d.da_dq, d.da_dv])))
    True

    Another kind of input: one thruster that pushes the trunk along its own z axis.

    >>> thruster = np.zeros((model.nv, 1))
    >>> thruster[2] = 1.0
    >>> dtau.linearize(model, q, v, tau, inputs=thruster).B.shape
    (36, 1)

    Thrusters that swivel: one input matrix for each of three knots at this state.

    >>> swivelled = np.zeros((3, model.nv, 1))
    >>> swivelled[:, 0, 0], swivelled[:, 2, 0] = np.sin([0, 0.1, 0.2]), np.cos([0, 0.1, 0.2])
    >>> dtau.linearize(model, q, v, tau, inputs=swivelled).B.shape
    (3, 36, 1)

    With contacts, the gain kd damps the velocity of the feet:

    >>> feet = [dtau.PointContact(f"{leg}_FOOT", kd=20) for leg in ("LF", "RF", "LH", "RH")]
    >>> contacts = dtau.Contacts(model, feet)
    >>> lin = dtau.linearize(model, q, v, tau, contacts=contacts)
    >>> d = dtau.constrained_dynamics_derivatives(model, q, v, tau, contacts)
    >>> bool(np.allclose(lin.A[18:, 18:], d.da_dv))
    True
    """
    law = feedback_of(model, inputs)
    room = out
    if law is not None:
        refuse_pattern(layout)
        q, inputs, room = law.states(q), law.torques, law.room(out, 1)
    result = _core.linearize(
        model, q, v, tau, f_ext, inputs, f_ext_axes, contacts, active, positions, regularization,
        layout, parameters, room, threads,
    )  # fmt: skip
    return result if law is None else law.close(result, out)


@documented
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
    positions: ArrayLike | None = None,
    regularization: float = 0.0,
    forces: bool = False,
    by: Variables | None = None,
    layout: Layout = "dense",
    parameters: ArrayLike | None = None,
    coordinates: Coordinates = "tangent",
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> DiscreteLinearization:
    """Linearize a time step exactly, by state and inputs: z+ = A z + B u.

    Parameters
    ----------
    contacts : Contacts, optional
        Contacts and loops that hold at every stage while state and inputs vary: the acceleration is
        the result of `dtau.constrained_dynamics`, and the contact forces vary with it. They act in
        addition to ``f_ext``.
    forces
        ... The forces and their derivatives belong to the state before the step, and with
        ``integrator="implicit"`` to the acceleration that the step takes.

    Returns
    -------
    DiscreteLinearization
        z = [xi, dv] is a perturbation of the state before the step, and z+ of the state after it,
        each in its own tangent space. Pass all knots of a trajectory in one call, as a batch.

    Raises
    ------
    ValueError
        ... ``forces`` is given without contacts; ``layout="pattern"`` is given with motors whose
        forces depend on the state.

    Notes
    -----
    The chain rule through all stages and through the exponentials that move free, spherical and
    planar joints, [Sola] appendices B to D; no matrix exponential and no approximation. O(N d) for
    each column and stage. Contacts, with their Baumgarte gains, [Derivations] eq. 20.15, add
    O(nrows d + nrows^2).

    Examples
    --------
    >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0), shape=(50,))
    >>> lin = dtau.linearize_discrete(model, q, v, tau, 0.01, "rk4")
    >>> lin.A.shape, lin.B.shape
    ((50, 36, 36), (50, 36, 12))
    >>> z = 1e-7 * np.ones(36)
    >>> moved = dtau.integrate(model, q, z[:18]), v + z[18:]
    >>> after = dtau.step(model, *moved, tau, 0.01, "rk4")
    >>> bool(np.allclose(dtau.difference(model, lin.q, after.q), lin.A[:, :18] @ z, atol=1e-11))
    True

    A trot, in which two feet hold in each half:

    >>> feet = [dtau.PointContact(f"{leg}_FOOT") for leg in ("LF", "RF", "LH", "RH")]
    >>> contacts = dtau.Contacts(model, feet)
    >>> active = np.repeat([[1, 0, 0, 1], [0, 1, 1, 0]], 25, axis=0)
    >>> trot = dtau.linearize_discrete(model, q, v, tau, 0.01, contacts=contacts, active=active)
    >>> trot.A.shape
    (50, 36, 36)

    Get the forces of the feet and their derivatives by z and u from the same call, for a cost on
    these forces:

    >>> held = dtau.linearize_discrete(model, q, v, tau, 0.01, contacts=contacts, forces=True)
    >>> held.forces.shape, held.dforces_dz.shape, held.dforces_du.shape
    ((50, 12), (50, 12, 36), (50, 12, 12))

    By the length of the step and the wrenches on the bodies too, for minimum-time motion and
    pushes:

    >>> more = dtau.linearize_discrete(model, q, v, tau, 0.01, by=("dt", "f_ext"))
    >>> more.dv_ddt.shape, more.dv_df_ext.shape
    ((50, 18), (50, 18, 13, 6))
    """
    law = feedback_of(model, inputs, coordinates)
    room = out
    if law is not None:
        refuse_pattern(layout)
        q, inputs, room = law.states(q), law.torques, law.room(out, 1, 7)
    result = _core.linearize_discrete(
        model, q, v, tau, dt, integrator, f_ext, inputs, f_ext_axes, contacts, active, positions,
        regularization, forces, by, layout, parameters, coordinates, room, threads,
    )  # fmt: skip
    return result if law is None else law.close(result, out)
