"""One way to write a robot's states, forces and derivatives down, and the maps from and to dtau's.

Every convention is v' = P A(q) v, with an order P and with A of `dtau.conventions.twists`; so are
displacements, along which derivatives by q are taken. Hence, without P, a' = A (a + N(v)) and
tau' = A^-T tau, and the derivatives follow: `dtau.conventions.derivatives`.
"""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.conventions import derivatives
from dtau.conventions.linearizations import LinearizationMaps
from dtau.conventions.maps import state
from dtau.conventions.time_derivatives import StackMaps
from dtau.results import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    PartialState,
    State,
)

Array = NDArray[np.float64]

_quiet = np.errstate(invalid="ignore", over="ignore", divide="ignore")  # for states with NaN


class Convention(LinearizationMaps, StackMaps):
    """A convention for one model: converts arrays from and to dtau's.

    Made by the functions of `dtau.conventions`; immutable, picklable. A method ``..._from_dtau``
    takes all of its arguments in dtau's convention, and returns this one; a method ``..._to_dtau``
    takes all of its arguments, ``q`` too, in this convention, and returns dtau's. Batch axes of the
    arguments broadcast against each other, and all results have the common batch shape.

    Attributes
    ----------
    name : str
        What the convention is called.
    model : Model
        The model that it was made for.
    nq, nv : int
        Numbers of coordinates and of velocities in this convention.
    nwrenches : int
        Number of external wrenches in this convention: rows of ``f_ext``.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> mixed = dtau.conventions.mixed_twist(model)
    >>> mixed
    <Convention 'mixed twist' of model 'quadruped': nq = 19, nv = 18, nwrenches = 13>
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(256,))
    >>> mq, mv, ma = mixed.from_dtau(q, v, a)
    >>> bool(np.allclose(mixed.to_dtau(mq, mv, ma).a, a))
    True
    """

    @overload
    def from_dtau(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> State: ...
    @overload
    def from_dtau(self, q: ArrayLike, v: ArrayLike | None = None) -> PartialState: ...
    @_quiet
    def from_dtau(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None
    ) -> State | PartialState:
        """Convert states of dtau's to this convention.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        v, a : array_like (..., nv), optional
            Velocity and acceleration, in dtau's convention; ``a`` needs ``v``.

        Returns
        -------
        named tuple (q, v, a)
            Arrays ``(..., nq)`` and ``(..., nv)`` in this convention; None for what was not given.
            In both conventions ``a`` is the time derivative of ``v``, component by component.

        Raises
        ------
        ValueError
            If a shape does not fit, ``a`` comes without ``v``, or a quaternion is further than 1e-6
            from unit norm.
        TypeError
            If an array is complex or holds objects.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> order = dtau.conventions.angular_first(model)
        >>> order.from_dtau(dtau.neutral(model), np.arange(18.0)).v[:8]
        array([3., 4., 5., 0., 1., 2., 6., 7.])
        """
        q, v, a = self._read_state(q, v, a, of_dtau=True)
        forward, _ = self._twists.matrices(q)
        if a is not None and v is not None:
            a = self._twists.apply(forward, a + self._twists.rate(v))[..., self._order]
        if v is not None:
            v = self._twists.apply(forward, v)[..., self._order]
        return state(self._coordinates.from_dtau(q), v, a)

    @overload
    def to_dtau(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> State: ...
    @overload
    def to_dtau(self, q: ArrayLike, v: ArrayLike | None = None) -> PartialState: ...
    @_quiet
    def to_dtau(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None
    ) -> State | PartialState:
        """Convert states of this convention to dtau's.

        Parameters
        ----------
        q : array_like (..., nq)
            Configuration, in this convention.
        v, a : array_like (..., nv), optional
            Velocity and acceleration, in this convention; ``a`` needs ``v``.

        Returns
        -------
        named tuple (q, v, a)
            Arrays ``(..., model.nq)`` and ``(..., nv)`` in dtau's convention; None for what was not
            given. An angle that is a cosine and a sine here comes out in [-pi, pi].

        Raises
        ------
        ValueError, TypeError
            As `from_dtau`.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> order = dtau.conventions.angular_first(model)
        >>> order.to_dtau(dtau.neutral(model), np.arange(18.0)).v[:8]
        array([3., 4., 5., 0., 1., 2., 6., 7.])
        """
        q, v, a = self._read_state(q, v, a, of_dtau=False)
        _, inverse = self._twists.matrices(q)
        if v is not None:
            v = self._twists.apply(inverse, v[..., self._places])
        if a is not None and v is not None:
            a = self._twists.apply(inverse, a[..., self._places]) - self._twists.rate(v)
        return state(q, v, a)

    @_quiet
    def torque_from_dtau(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """Convert joint torques of dtau's to this convention: they do the same work.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        tau : array_like (..., nv)
            Joint torque, in dtau's convention, N and N m.

        Returns
        -------
        ndarray (..., nv)

        Raises
        ------
        ValueError, TypeError
            As `from_dtau`.

        Examples
        --------
        >>> import dtau
        >>> model = dtau.robots.quadruped()
        >>> q = dtau.neutral(model)
        >>> q[3:7] = 1, 0, 0, 0  # on its back
        >>> weight = dtau.gravity_torque(model, q)
        >>> upright = dtau.conventions.mixed_twist(model).torque_from_dtau(q, weight)
        >>> float(weight[2].round(1)), float(upright[2].round(1))
        (-298.2, 298.2)
        """
        q, (tau,) = self._read(q, True, tau=(tau, (self.nv,)))
        _, inverse = self._twists.matrices(q)
        return self._twists.apply(np.swapaxes(inverse, -1, -2), tau)[..., self._order]

    @_quiet
    def torque_to_dtau(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """Convert joint torques of this convention to dtau's.

        Parameters
        ----------
        q : array_like (..., nq)
            Configuration, in this convention.
        tau : array_like (..., nv)
            Joint torque, in this convention, N and N m.

        Returns
        -------
        ndarray (..., nv)

        Raises
        ------
        ValueError, TypeError
            As `from_dtau`.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> order = dtau.conventions.angular_first(model)
        >>> order.torque_to_dtau(dtau.neutral(model), np.arange(18.0))[:6]
        array([3., 4., 5., 0., 1., 2.])
        """
        q, (tau,) = self._read(q, False, tau=(tau, (self.nv,)))
        forward, _ = self._twists.matrices(q)
        return self._twists.apply(np.swapaxes(forward, -1, -2), tau[..., self._places])

    @_quiet
    def wrenches_from_dtau(self, q: ArrayLike, f_ext: ArrayLike) -> Array:
        """Convert external wrenches of dtau's to this convention.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        f_ext : array_like (..., model.nbodies, 6)
            Wrench on each body, [force, moment] in the body frame at its origin, N and N m.

        Returns
        -------
        ndarray (..., nwrenches, 6)
            Rows and frames: see the function that made the convention.

        Raises
        ------
        ValueError, TypeError
            As `from_dtau`; also if a wrench acts on a body that this convention does not have.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> order = dtau.conventions.angular_first(model)
        >>> f_ext = np.tile(np.arange(6.0), (model.nbodies, 1))
        >>> order.wrenches_from_dtau(dtau.neutral(model), f_ext)[0]
        array([3., 4., 5., 0., 1., 2.])
        """
        q, (f_ext,) = self._read(q, True, f_ext=(f_ext, (self.model.nbodies, 6)))
        return self._wrenches.from_dtau(q, f_ext)

    @_quiet
    def wrenches_to_dtau(self, q: ArrayLike, f_ext: ArrayLike) -> Array:
        """Convert external wrenches of this convention to dtau's.

        Parameters
        ----------
        q : array_like (..., nq)
            Configuration, in this convention.
        f_ext : array_like (..., nwrenches, 6)
            External wrenches, in this convention.

        Returns
        -------
        ndarray (..., model.nbodies, 6)
            The sum of what acts on each body; what acts on the world has no effect and is dropped.

        Raises
        ------
        ValueError, TypeError
            As `from_dtau`.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> order = dtau.conventions.angular_first(model)
        >>> f_ext = np.tile(np.arange(6.0), (model.nbodies, 1))
        >>> order.wrenches_to_dtau(dtau.neutral(model), f_ext)[0]
        array([3., 4., 5., 0., 1., 2.])
        """
        q, (f_ext,) = self._read(q, False, f_ext=(f_ext, (self.nwrenches, 6)))
        return self._wrenches.to_dtau(q, f_ext)

    @_quiet
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
            ``tau = inverse_dynamics(model, q, v, a, f_ext)``: where A depends on q, the derivatives
            by q need it.
        d : InverseDynamicsDerivatives
            What `dtau.inverse_dynamics_derivatives` gives.

        Returns
        -------
        InverseDynamicsDerivatives
            Derivatives of this convention's torque by its q (in its tangent space, at fixed v and
            a of its own), v and a. External wrenches are held constant as in ``d``: in body axes.

        Raises
        ------
        ValueError
            If a shape does not fit, or a quaternion is further than 1e-6 from unit norm.
        TypeError
            If ``d`` is of another class, or an array is complex or holds objects.

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
        convert = derivatives.inverse_from_dtau
        return self._derivatives_from_dtau(convert, InverseDynamicsDerivatives, d, q, v, a, tau)

    @_quiet
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
        this convention, and the result in dtau's.
        """
        convert = derivatives.inverse_to_dtau
        return self._derivatives_to_dtau(convert, InverseDynamicsDerivatives, d, q, v, a, tau)

    @_quiet
    def forward_dynamics_derivatives_from_dtau(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        tau: ArrayLike,
        d: ForwardDynamicsDerivatives,
    ) -> ForwardDynamicsDerivatives:
        """Convert derivatives of forward dynamics to this convention.

        As `inverse_dynamics_derivatives_from_dtau`, in all arguments and errors, with
        ``a = forward_dynamics(model, q, v, tau, f_ext)`` and with what
        `dtau.forward_dynamics_derivatives` gives: derivatives of this convention's acceleration by
        its q (at fixed v and tau of its own), v and tau.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, tau = dtau.random_state(model, np.random.default_rng(0))
        >>> a = dtau.forward_dynamics(model, q, v, tau)
        >>> d = dtau.forward_dynamics_derivatives(model, q, v, tau)
        >>> mixed = dtau.conventions.mixed_twist(model)
        >>> m = mixed.forward_dynamics_derivatives_from_dtau(q, v, a, tau, d)
        >>> bool(np.allclose(m.da_dv[:, :3], 0))  # by the linear velocity of the base
        True
        """
        convert = derivatives.forward_from_dtau
        return self._derivatives_from_dtau(convert, ForwardDynamicsDerivatives, d, q, v, a, tau)

    @_quiet
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
        this convention, and the result in dtau's.
        """
        convert = derivatives.forward_to_dtau
        return self._derivatives_to_dtau(convert, ForwardDynamicsDerivatives, d, q, v, a, tau)
