"""Linearize a Runge-Kutta step with its stages: `linearize_stages`."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dtau import _core
from dtau.docstrings import documented
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.model.motor_feedback import feedback_of
from dtau.results import StageLinearization
from dtau.support.arrays import Array
from dtau.support.options import Axes


@documented
def linearize_stages(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    f_ext: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    *,
    f_ext_axes: Axes = "body",
    contacts: Contacts | None = None,
    active: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    regularization: float = 0.0,
    parameters: ArrayLike | None = None,
    out: Sequence[Array] | None = None,
    threads: int | None = None,
) -> StageLinearization:
    """Linearize an RK4 step and the states of its four stages, by state and inputs.

        z_i = A_i z + B_i u      z: at the state before the step, z_i: at stage i

    The method that moves the state also integrates a running cost ``l(q, v, u)``. Its integral over
    the step is ``dt (l_1 + 2 l_2 + 2 l_3 + l_4) / 6``, where ``l_i`` is the cost at stage i.

    Parameters
    ----------
    contacts : Contacts, optional
        Contacts and loops that hold at every stage while state and inputs vary, as in
        `dtau.linearize_discrete`.

    Returns
    -------
    StageLinearization
        ``A``, ``B``, ``q`` and ``v`` equal the arrays of ``dtau.linearize_discrete(..., "rk4")``,
        to the bit.

    Notes
    -----
    The same work as `dtau.linearize_discrete`, O(N d) for each column and stage: the states of the
    stages and their derivatives are intermediate results there, [Derivations] §12.

    Examples
    --------
    The integral of the kinetic energy over a step, and its gradient by the state:

    >>> h, weights = 0.01, np.array([1, 2, 2, 1]) / 6
    >>> lin = dtau.linearize_stages(model, q, v, tau, h)
    >>> energy = dtau.kinetic_energy(model, lin.q_stages, lin.v_stages)
    >>> by_q, by_v = dtau.kinetic_energy_derivatives(model, lin.q_stages, lin.v_stages)
    >>> by_z = np.concatenate([by_q, by_v], axis=-1)
    >>> cost = h * weights @ energy
    >>> gradient = h * np.einsum("i,ij,ijk->k", weights, by_z, lin.A_stages)
    >>> gradient.shape
    (36,)
    """
    law = feedback_of(model, inputs)
    room = out
    if law is not None:
        q, inputs, room = law.states(q), law.torques, law.room(out, 1, 5)
    result = _core.linearize_stages(
        model, q, v, tau, dt, f_ext, inputs, f_ext_axes, contacts, active, positions,
        regularization, parameters, room, threads,
    )  # fmt: skip
    return result if law is None else law.close(result, out)
