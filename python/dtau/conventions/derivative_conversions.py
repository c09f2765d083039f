"""Methods of a convention that convert first and second derivatives, and linearizations."""

from __future__ import annotations

from numpy.typing import ArrayLike

from dtau.conventions import derivatives, linearizations, second_derivatives
from dtau.conventions.maps import Maps
from dtau.results import (
    ForwardDynamicsDerivatives,
    ForwardDynamicsHessian,
    ForwardDynamicsSecondDerivatives,
    InverseDynamicsDerivatives,
    InverseDynamicsHessian,
    InverseDynamicsSecondDerivatives,
)


class DerivativeConversions:
    """The methods of `Convention` that convert derivatives."""

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
            Velocity, acceleration and joint torque at q, in dtau's convention, with
            ``tau = inverse_dynamics(model, q, v, a, f_ext)``. Derivatives by q need them if this
            convention's velocities depend on q.
        d : InverseDynamicsDerivatives
            Result of `dtau.inverse_dynamics_derivatives`, each ``(..., nv, nv)``.

        Returns
        -------
        InverseDynamicsDerivatives
            Derivatives of this convention's torque by its q (in its tangent space, at fixed v and a
            of this convention), v and a, each ``(..., nv, nv)``. External wrenches are held
            constant along body axes, as in ``d``.

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
        return derivatives.inverse_from_dtau(self._maps, (q, v, a, tau), d)

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
        return derivatives.inverse_to_dtau(self._maps, (q, v, a, tau), d)

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
        return derivatives.forward_from_dtau(self._maps, (q, v, a, tau), d)

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
        return derivatives.forward_to_dtau(self._maps, (q, v, a, tau), d)

    def inverse_dynamics_second_derivatives_from_dtau(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        tau: ArrayLike,
        d: InverseDynamicsDerivatives,
        d2: InverseDynamicsSecondDerivatives,
    ) -> InverseDynamicsSecondDerivatives:
        """Convert second derivatives of inverse dynamics to this convention.

        Parameters
        ----------
        q, v, a, tau, d
            As in `inverse_dynamics_derivatives_from_dtau`.
        d2 : InverseDynamicsSecondDerivatives
            Result of `dtau.inverse_dynamics_second_derivatives`, dense and without ``symmetric``:
            each ``(..., nv, nv, nv)``.

        Returns
        -------
        InverseDynamicsSecondDerivatives
            Each ``(..., nv, nv, nv)``, with entry [i, j, k] the derivative of torque i of this
            convention by the variable named first along j, then by the second along k, in its
            tangent space. As in ``d2``, second derivatives by q along two velocities of one joint
            depend on their order; the mean of both orders is the second derivative along motions
            with constant velocity in this convention.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
        >>> tau = dtau.inverse_dynamics(model, q, v, a)
        >>> d = dtau.inverse_dynamics_derivatives(model, q, v, a)
        >>> d2 = dtau.inverse_dynamics_second_derivatives(model, q, v, a)
        >>> mixed = dtau.conventions.mixed_twist(model)
        >>> m = mixed.inverse_dynamics_second_derivatives_from_dtau(q, v, a, tau, d, d2)
        >>> bool(np.allclose(m.d2tau_dqdv[:, :3], 0))  # nothing depends on the base's position
        True
        """
        kind = InverseDynamicsSecondDerivatives
        return second_derivatives.tensors_from_dtau(self._maps, kind, (q, v, a, tau), d, d2)

    def forward_dynamics_second_derivatives_from_dtau(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        tau: ArrayLike,
        d: ForwardDynamicsDerivatives,
        d2: ForwardDynamicsSecondDerivatives,
    ) -> ForwardDynamicsSecondDerivatives:
        """Convert second derivatives of forward dynamics to this convention.

        As `inverse_dynamics_second_derivatives_from_dtau`, in all arguments, with
        ``a = forward_dynamics(model, q, v, tau, f_ext)``, with what
        `dtau.forward_dynamics_derivatives` and, without ``symmetric``,
        `dtau.forward_dynamics_second_derivatives` give: derivatives, each ``(..., nv, nv, nv)``, of
        this convention's acceleration.
        """
        kind = ForwardDynamicsSecondDerivatives
        return second_derivatives.tensors_from_dtau(self._maps, kind, (q, v, a, tau), d, d2)

    def inverse_dynamics_hessian_from_dtau(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        tau: ArrayLike,
        lam: ArrayLike,
        d: InverseDynamicsDerivatives,
        h: InverseDynamicsHessian,
    ) -> InverseDynamicsHessian:
        """Convert second derivatives of a weighted sum of torques to this convention.

        Weights of torques transform like velocities. Weights ``there`` of this convention, held
        constant in its derivatives, are ``lam = to_dtau(there_q, there).v`` in dtau's convention.

        Parameters
        ----------
        q, v, a, tau, d
            As in `inverse_dynamics_derivatives_from_dtau`.
        lam : array_like (..., nv)
            Weights of the torques, in dtau's convention.
        h : InverseDynamicsHessian
            Result of `dtau.inverse_dynamics_hessian` for these weights, without ``symmetric``: each
            ``(..., nv, nv)``.

        Returns
        -------
        InverseDynamicsHessian
            Each ``(..., nv, nv)``: the result of `inverse_dynamics_second_derivatives_from_dtau`,
            contracted with the weights of this convention, at the cost of a few matrix products.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
        >>> tau = dtau.inverse_dynamics(model, q, v, a)
        >>> d = dtau.inverse_dynamics_derivatives(model, q, v, a)
        >>> spatial = dtau.conventions.spatial_twist(model)
        >>> weights = np.linspace(-1.0, 1.0, model.nv)  # of the spatial wrench and the joints
        >>> lam = spatial.to_dtau(q, weights).v
        >>> h = dtau.inverse_dynamics_hessian(model, q, v, a, lam)
        >>> there = spatial.inverse_dynamics_hessian_from_dtau(q, v, a, tau, lam, d, h)
        >>> d2 = dtau.inverse_dynamics_second_derivatives(model, q, v, a)
        >>> d2 = spatial.inverse_dynamics_second_derivatives_from_dtau(q, v, a, tau, d, d2)
        >>> bool(np.allclose(there.dqdq, np.einsum("i,ijk->jk", weights, d2.d2tau_dqdq)))
        True
        """
        kind, state = InverseDynamicsHessian, (q, v, a, tau)
        return second_derivatives.hessian_from_dtau(self._maps, kind, state, lam, d, h)

    def forward_dynamics_hessian_from_dtau(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        tau: ArrayLike,
        lam: ArrayLike,
        d: ForwardDynamicsDerivatives,
        h: ForwardDynamicsHessian,
    ) -> ForwardDynamicsHessian:
        """Convert second derivatives of a weighted sum of accelerations to this convention.

        As `inverse_dynamics_hessian_from_dtau`, in all arguments, with
        ``a = forward_dynamics(model, q, v, tau, f_ext)`` and with what
        `dtau.forward_dynamics_derivatives` and, without ``symmetric``,
        `dtau.forward_dynamics_hessian` give. Weights of accelerations transform like torques.
        Weights ``there`` of this convention are ``lam = torque_to_dtau(there_q, there)`` in dtau's
        convention.
        """
        kind, state = ForwardDynamicsHessian, (q, v, a, tau)
        return second_derivatives.hessian_from_dtau(self._maps, kind, state, lam, d, h)

    def linearization_from_dtau(
        self,
        q: ArrayLike,
        v: ArrayLike,
        lin: linearizations.Continuous,
        inputs: ArrayLike | None,
    ) -> linearizations.Continuous:
        """Convert a linearization in continuous time to this convention.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        v : array_like (..., nv)
            Velocity, in dtau's convention.
        lin : Linearization or ConstrainedLinearization
            Result of `dtau.linearize`.
        inputs : array_like or None
            The argument ``inputs`` of that call; None if it had none.

        Returns
        -------
        Linearization or ConstrainedLinearization
            ``A (..., 2 nv, 2 nv)`` and ``B (..., 2 nv, nu)`` for z = [displacement, variation of
            the velocity], both in this convention, and the acceleration ``a (..., nv)`` in it.
            Columns of ``B`` belong to the same inputs: torques (``inputs`` None, or a mask) in the
            order of this convention's velocities, inputs of a matrix in their own order. Inputs,
            and the wrench of a free root, stay along body axes; the ``residual`` of contacts stays
            the same. See `dtau.conventions.linearizations` for the kinematics of the perturbation.

        Examples
        --------
        Along world axes, the base's position error is the integral of its velocity error:

        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
        >>> lin = dtau.linearize(model, q, v, tau)
        >>> mixed = dtau.conventions.mixed_twist(model).linearization_from_dtau(q, v, lin, None)
        >>> bool(np.allclose(mixed.A[:3], np.eye(3, 36, k=18)))
        True
        """
        return linearizations.continuous_from_dtau(self._maps, q, v, lin, inputs)

    def discrete_linearization_from_dtau(
        self,
        q: ArrayLike,
        v: ArrayLike,
        lin: linearizations.Discrete,
        inputs: ArrayLike | None,
    ) -> linearizations.Discrete:
        """Convert the linearization of a time step to this convention.

        As `linearization_from_dtau`, with the state before the step and what
        `dtau.linearize_discrete` gives: ``A (..., 2 nv, 2 nv)`` and ``B (..., 2 nv, nu)``, and the
        state ``q (..., nq)``, ``v (..., nv)`` after the step, all in this convention.
        """
        return linearizations.discrete_from_dtau(self._maps, q, v, lin, inputs)
