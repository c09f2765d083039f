"""A convention for a robot's states, forces and derivatives: `Convention`."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.conventions import states
from dtau.conventions.coordinates import CoordinateMap
from dtau.conventions.derivative_conversions import DerivativeConversions
from dtau.conventions.maps import Array, Maps
from dtau.conventions.stack_conversions import StackConversions
from dtau.conventions.twists import TwistMap
from dtau.conventions.wrenches import WrenchMap
from dtau.immutable import Immutable, checking
from dtau.model.model import Model
from dtau.results import PartialState, State


class Convention(DerivativeConversions, StackConversions, Immutable):
    """A convention for one model: converts arrays from and to dtau's convention.

    The functions of `dtau.conventions` make conventions, which are immutable and picklable. A
    method ``..._from_dtau`` takes all arguments in dtau's convention and returns results in this
    one. A method ``..._to_dtau`` takes all arguments, ``q`` too, in this convention and returns
    results in dtau's. Batch axes of the arguments broadcast against each other, and all results
    have the common batch shape.

    Every method raises ValueError if a shape does not fit or a quaternion is further than 1e-6 from
    unit norm, and TypeError if an array is complex or holds objects, or a named tuple is of another
    class.

    Attributes
    ----------
    name : str
        Name of the convention.
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
    >>> spatial = dtau.conventions.spatial_twist(model)
    >>> spatial
    <Convention 'spatial twist' of model 'quadruped': nq = 19, nv = 18, nwrenches = 13>
    >>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(256,))
    >>> there = spatial.from_dtau(q, v, a)
    >>> bool(np.allclose(spatial.to_dtau(*there).a, a))
    True
    >>> stack = np.stack([v, a], axis=1)
    >>> bool(np.allclose(spatial.time_derivatives_from_dtau(q, stack)[:, 1], there.a))
    True
    """

    name: str
    model: Model
    nq: int
    nv: int
    nwrenches: int
    _maps: Maps

    def __init__(
        self,
        name: str,
        model: Model,
        *,
        coordinates: CoordinateMap | None = None,
        velocities: NDArray[np.intp] | None = None,
        twists: TwistMap | None = None,
        wrenches: WrenchMap | None = None,
    ) -> None:
        self._require_new()
        maps = Maps(model, coordinates, velocities, twists, wrenches)
        vars(self).update(name=name, model=model, nv=model.nv, _maps=maps)
        vars(self).update(nq=maps.coordinates.nq, nwrenches=maps.wrenches.nrows)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        with checking(state, state):  # its parts may not fit each other
            states.try_out(self._maps, self.model, self.nq, self.nv, self.nwrenches)

    def __repr__(self) -> str:
        return (
            f"<Convention {self.name!r} of model {self.model.name!r}: nq = {self.nq}, "
            f"nv = {self.nv}, nwrenches = {self.nwrenches}>"
        )

    @overload
    def from_dtau(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> State: ...
    @overload
    def from_dtau(self, q: ArrayLike, v: ArrayLike | None = None) -> PartialState: ...
    def from_dtau(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None
    ) -> State | PartialState:
        """Convert states from dtau's convention to this one.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        v, a : array_like (..., nv), optional
            Velocity and acceleration, in dtau's convention; ``a`` needs ``v``.

        Returns
        -------
        named tuple (q, v, a)
            Arrays ``(..., nq)`` and ``(..., nv)`` in this convention; None for omitted arguments.
            In both conventions ``a`` is the time derivative of ``v``, component by component.
        """
        return states.state_from_dtau(self._maps, q, v, a)

    @overload
    def to_dtau(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> State: ...
    @overload
    def to_dtau(self, q: ArrayLike, v: ArrayLike | None = None) -> PartialState: ...
    def to_dtau(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None
    ) -> State | PartialState:
        """Convert states from this convention to dtau's.

        An angle that this convention writes as cosine and sine is returned in [-pi, pi].

        Parameters
        ----------
        q : array_like (..., nq)
            Configuration in this convention.
        v, a : array_like (..., nv), optional
            Velocity and acceleration in this convention.

        Returns
        -------
        State, or PartialState if ``v`` or ``a`` is not given
            ``q (..., model.nq)``, ``v`` and ``a (..., model.nv)`` in dtau's convention, as in
            `from_dtau`.
        """
        return states.state_to_dtau(self._maps, q, v, a)

    def torque_from_dtau(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """Convert joint torques from dtau's convention to this one; they do the same work.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        tau : array_like (..., nv)
            Joint torque, in dtau's convention, N and N m.

        Returns
        -------
        ndarray (..., nv)

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
        return states.torque_from_dtau(self._maps, q, tau)

    def torque_to_dtau(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """Convert joint torques from this convention to dtau's.

        Parameters
        ----------
        q : array_like (..., nq)
            Configuration in this convention.
        tau : array_like (..., nv)
            Torque in this convention, N and N m.

        Returns
        -------
        ndarray (..., model.nv)
            Torque in dtau's convention.
        """
        return states.torque_to_dtau(self._maps, q, tau)

    def jacobian_from_dtau(self, q: ArrayLike, jacobian: ArrayLike) -> Array:
        """Convert the columns of Jacobians from dtau's convention to this one.

        Parameters
        ----------
        q : array_like (..., model.nq)
            Configuration, in dtau's convention.
        jacobian : array_like (..., nrows, nv)
            Any matrix that multiplies velocities: Jacobians of frames, of the center of mass or of
            contacts, rows of gradients. For several frames of one call, insert an axis into a
            batch: ``q[:, None]``.

        Returns
        -------
        ndarray (..., nrows, nv)
            The matrix for velocities of this convention. Rows stay as they are: [linear, angular]
            along the ``axes`` of `dtau.frame_jacobians`, of which ``"body"``, ``"mixed"`` and
            ``"world"`` are Pinocchio's LOCAL, LOCAL_WORLD_ALIGNED and WORLD.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, _ = dtau.random_state(model, np.random.default_rng(0))
        >>> mixed = dtau.conventions.mixed_twist(model)
        >>> J = mixed.jacobian_from_dtau(q, dtau.frame_jacobians(model, q, "base", "mixed"))
        >>> bool(np.allclose(J[:, :6], np.eye(6)))
        True
        """
        return states.jacobian_from_dtau(self._maps, q, jacobian)

    def jacobian_to_dtau(self, q: ArrayLike, jacobian: ArrayLike) -> Array:
        """Convert the columns of Jacobians from this convention to dtau's.

        Parameters
        ----------
        q : array_like (..., nq)
            Configuration in this convention.
        jacobian : array_like (..., nrows, nv)
            Any matrix that multiplies velocities of this convention.

        Returns
        -------
        ndarray (..., nrows, model.nv)
            The matrix for dtau's velocities; rows stay as they are.
        """
        return states.jacobian_to_dtau(self._maps, q, jacobian)

    def wrenches_from_dtau(self, q: ArrayLike, f_ext: ArrayLike) -> Array:
        """Convert external wrenches from dtau's convention to this one.

        ValueError is also raised if a wrench acts on a body that this convention does not have.

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
        """
        return states.wrenches_from_dtau(self._maps, q, f_ext)

    def wrenches_to_dtau(self, q: ArrayLike, f_ext: ArrayLike) -> Array:
        """Convert external wrenches from this convention to dtau's.

        Parameters
        ----------
        q : array_like (..., nq)
            Configuration in this convention.
        f_ext : array_like (..., nwrenches, 6)
            Wrenches in this convention.

        Returns
        -------
        ndarray (..., model.nbodies, 6)
            The sum of the wrenches on each body, [force, moment] in the body frame at its origin.
            Wrenches on the world have no effect and are dropped.
        """
        return states.wrenches_to_dtau(self._maps, q, f_ext)
