"""Methods of a convention that convert derivatives: first and second ones, and linearizations."""

from __future__ import annotations

from numpy.typing import ArrayLike

from dtau.conventions import derivatives, linearizations
from dtau.conventions.maps import Maps
from dtau.immutable import Immutable
from dtau.results import (
    DiscreteLinearization,
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    Linearization,
)


class DerivativeConversions(Immutable):
    """The part of a `Convention` that converts derivatives."""

    _maps: Maps

    def inverse_dynamics_derivatives_from_dtau(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        tau: ArrayLike,
        d: InverseDynamicsDerivatives,
    ) -> InverseDynamicsDerivatives:
        """Convert derivatives of inverse dynamics to this convention.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        v, a, tau : array_like (..., nv)
            Velocity, acceleration and joint torque there, in dtau's convention, with
            ``tau = inverse_dynamics(model, q, v, a, f_ext)``: where velocities here depend on q,
            the derivatives by q need it.
        d : InverseDynamicsDerivatives
            What `dtau.inverse_dynamics_derivatives` gives, each ``(..., nv, nv)``.

        Returns
        -------
        InverseDynamicsDerivatives
            Each ``(..., nv, nv)``: of this convention's torque by its q (in its tangent space, at
            fixed v and a of its own), v and a. External wrenches are held constant as in ``d``: in
            body axes.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
        >>> tau = dtau.inverse_dynamics(model, q, v, a)
        >>> d = dtau.inverse_dynamics_derivatives(model, q, v, a)
        >>> mixed = dtau.conventions.mixed_twist(model)
        >>> m = mixed.inverse_dynamics_derivatives_from_dtau(q, v, a, tau, d)
        >>> bool(np.allclose(m.dtau_dq[:, :3], 0))  # by the position of the base, at fixed v
        True
        """
        return derivatives.inverse_from_dtau(self._maps, q, v, a, tau, d)

    def inverse_dynamics_derivatives_to_dtau(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        tau: ArrayLike,
        d: InverseDynamicsDerivatives,
    ) -> InverseDynamicsDerivatives:
        """Convert derivatives of inverse dynamics in this convention to dtau's.

        As `inverse_dynamics_derivatives_from_dtau`, with q ``(..., nq)`` and all other arguments in
        this convention, and the result, each ``(..., nv, nv)``, in dtau's.
        """
        return derivatives.inverse_to_dtau(self._maps, q, v, a, tau, d)

    def forward_dynamics_derivatives_from_dtau(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        tau: ArrayLike,
        d: ForwardDynamicsDerivatives,
    ) -> ForwardDynamicsDerivatives:
        """Convert derivatives of forward dynamics to this convention.

        As `inverse_dynamics_derivatives_from_dtau`, in all arguments, with
        ``a = forward_dynamics(model, q, v, tau, f_ext)`` and with what
        `dtau.forward_dynamics_derivatives` gives: derivatives, each ``(..., nv, nv)``, of this
        convention's acceleration by its q (at fixed v and tau of its own), v and tau.
        """
        return derivatives.forward_from_dtau(self._maps, q, v, a, tau, d)

    def forward_dynamics_derivatives_to_dtau(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        tau: ArrayLike,
        d: ForwardDynamicsDerivatives,
    ) -> ForwardDynamicsDerivatives:
        """Convert derivatives of forward dynamics in this convention to dtau's.

        As `forward_dynamics_derivatives_from_dtau`, with q ``(..., nq)`` and all other arguments in
        this convention, and the result, each ``(..., nv, nv)``, in dtau's.
        """
        return derivatives.forward_to_dtau(self._maps, q, v, a, tau, d)

    def linearization_from_dtau(
        self, q: ArrayLike, v: ArrayLike, lin: Linearization
    ) -> Linearization:
        """Convert a linearization in continuous time to this convention.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        v : array_like (..., nv)
            Velocity there, in dtau's convention.
        lin : Linearization
            What `dtau.linearize` gives.

        Returns
        -------
        Linearization
            ``A (..., 2 nv, 2 nv)`` and ``B (..., 2 nv, nu)`` for z = [displacement, variation of
            the velocity], both in this convention, and the acceleration ``a (..., nv)`` in it.
            Columns of ``B`` are the same inputs, in the same order; inputs, and the wrench of a
            free root, stay along body axes. See `dtau.conventions.linearizations` for the
            kinematics of the perturbation.

        Examples
        --------
        The error of the base along world axes: its position only integrates its velocity.

        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
        >>> lin = dtau.linearize(model, q, v, tau)
        >>> mixed = dtau.conventions.mixed_twist(model).linearization_from_dtau(q, v, lin)
        >>> bool(np.allclose(mixed.A[:3], np.eye(3, 36, k=18)))
        True
        """
        return linearizations.continuous_from_dtau(self._maps, q, v, lin)

    def discrete_linearization_from_dtau(
        self, q: ArrayLike, v: ArrayLike, lin: DiscreteLinearization
    ) -> DiscreteLinearization:
        """Convert the linearization of a time step to this convention.

        As `linearization_from_dtau`, with the state before the step and what
        `dtau.linearize_discrete` gives: ``A (..., 2 nv, 2 nv)`` and ``B (..., 2 nv, nu)``, and the
        state ``q (..., nq)``, ``v (..., nv)`` after the step, all in this convention.
        """
        return linearizations.discrete_from_dtau(self._maps, q, v, lin)
