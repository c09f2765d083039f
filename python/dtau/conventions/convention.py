"""A convention for a robot's states, forces and derivatives: `Convention`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from numpy.typing import ArrayLike

from dtau.conventions import conversion, states
from dtau.conventions.conversion import At
from dtau.conventions.coordinates import CoordinateMap
from dtau.conventions.maps import Maps
from dtau.conventions.twists import TwistMap
from dtau.conventions.wrenches import WrenchMap
from dtau.model.model import Model
from dtau.results import PartialState, State
from dtau.support.arrays import Array, Indices
from dtau.support.immutable import Immutable, checking

T = TypeVar("T", bound=tuple[Any, ...])  # a named tuple


class Convention(Immutable):
    """A convention for one model: converts arrays from and to dtau's convention.

    The functions of `dtau.conventions` make conventions, which are immutable and picklable. Batch
    axes of the arguments of a method broadcast against each other, and all results have the common
    batch shape.

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
    >>> stack = spatial.convert(stack, of="v_derivatives", at={"q": q})
    >>> bool(np.allclose(stack[:, 1], there.a))
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
        velocities: Indices | None = None,
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

    @overload
    def convert(self, result: T, *, at: At, to_dtau: bool = False) -> T: ...
    @overload
    def convert(
        self, result: ArrayLike, *, of: Callable[..., Any] | str, at: At, to_dtau: bool = False
    ) -> Array: ...
    def convert(
        self,
        result: Any,
        *,
        of: Callable[..., Any] | str | None = None,
        at: At,
        to_dtau: bool = False,
    ) -> Any:
        """Convert what a function of dtau returned, or takes, to this convention.

        TypeError is also raised if ``at`` lacks a value, which the message names, or if there is no
        conversion for the result. ValueError is also raised if a stack of the state has too few
        rows, or a wrench acts on a body that this convention does not have.

        Parameters
        ----------
        result : array_like or named tuple
            What a function returned, for any batch. Second derivatives must be dense and not
            ``symmetric``. There is no conversion for derivatives by the numbers of q, for products
            with derivatives, or for stacks of time derivatives in a named tuple.
        of : function or str, optional
            For an array, the function of dtau that returned it, such as `dtau.mass_matrix`, or the
            argument that it is: ``"v"``, ``"a"``, ``"tau"``, ``"f_ext"``, ``"v_derivatives"``,
            ``"tau_derivatives"``, ``"f_ext_derivatives"``. ``"J"`` is any matrix ``(..., rows,
            nv)`` that multiplies velocities. The class of a named tuple tells its function.
        at : dict or named tuple (q, v, a)
            The state where the result was taken: values by name, see below. Further values do no
            harm.
        to_dtau : bool
            False: from dtau's convention, in which are ``result`` and all values of ``at``. True:
            from this convention to dtau's, with all of these in this convention. Second
            derivatives, Hessians and linearizations convert from dtau's alone.

        Returns
        -------
        ndarray or named tuple
            The same kind of result in the other convention, for the common batch shape.

        Notes
        -----
        All results need ``q (..., nq)``; these need more:

        - ``"a"``, and functions that return accelerations: ``v (..., nv)``.
        - First derivatives: the values ``v``, ``a``, ``tau (..., nv)`` that they are by, and the
          acceleration or torque that they are of; derivatives of an impact also ``v_after``. The
          result is by this convention's variables: by q in its tangent space, at fixed v, a or tau
          of its own. External wrenches stay constant along the axes in which they were given.
        - Second derivatives: ``v``, ``a``, ``tau``, and ``d``, the first derivatives there. As in
          dtau, second derivatives by q along two velocities of one joint depend on their order; the
          mean of both orders is along motions with constant velocity in this convention.
        - Hessians: also ``lam (..., nv)``, the weights in dtau's convention, held constant in this
          one. Weights of torques convert as ``"v"``, weights of accelerations as ``"tau"``.
        - Linearizations: ``v``, and ``inputs``, the argument of that call, None if it had none.
          Columns of B belong to the same inputs: torques in the order of this convention's
          velocities, inputs of a matrix in their own. Inputs, and the wrench of a free root, stay
          along body axes. See `dtau.conventions.linearizations` for the kinematics.
        - The Coriolis matrix, and the bias torque, at which this convention's acceleration
          vanishes: ``v`` and the mass matrix ``M (..., nv, nv)``.
        - Stacks of time derivatives: ``v_derivatives (..., n, nv)`` in place of ``v``, and
          ``M_derivatives``; the error names the least number of rows, more are ignored. A stack of
          the velocity needs q alone, one of accelerations ``v``.

        Rows of Jacobians, momenta, and forces and residuals of contacts stay as they are.

        Examples
        --------
        >>> import dtau, numpy as np
        >>> model = dtau.robots.quadruped()
        >>> q, v, a = dtau.random_state(model, np.random.default_rng(0))
        >>> tau = dtau.inverse_dynamics(model, q, v, a)
        >>> at = {"q": q, "v": v, "a": a, "tau": tau}
        >>> mixed = dtau.conventions.mixed_twist(model)
        >>> d = dtau.inverse_dynamics_derivatives(model, q, v, a)
        >>> there = mixed.convert(d, at=at)
        >>> bool(np.allclose(there.dtau_dq[:, :3], 0))  # by the position of the base, at fixed v
        True
        >>> wrench = mixed.convert(tau, of=dtau.inverse_dynamics, at=at)
        >>> state = mixed.from_dtau(q, v, a)._asdict() | {"tau": wrench}
        >>> back = mixed.convert(there, at=state, to_dtau=True)
        >>> bool(np.allclose(back.dtau_dq, d.dtau_dq))
        True
        >>> J = dtau.frame_jacobians(model, q, "base", "mixed")
        >>> J = mixed.convert(J, of=dtau.frame_jacobians, at={"q": q})
        >>> bool(np.allclose(J[:, :6], np.eye(6)))
        True
        """
        return conversion.convert(self._maps, result, of, at, to_dtau)
