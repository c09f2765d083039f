"""A model in crocoddyl's coordinates: `Robot`."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import crocoddyl
import numpy as np
import pinocchio

import dtau
from dtau.crocoddyl.batch import Batch, Linearize
from dtau.crocoddyl.state import State
from dtau.model.joints import Free
from dtau.model.links import Joint
from dtau.model.model import Model
from dtau.support.arrays import Array, Indices
from dtau.support.checks import class_name, listing, require
from dtau.support.errors import without_model_warnings

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class Robot:
    """A model and the state of a problem in crocoddyl; its action models linearize together.

    With a ``crocoddyl.StateMultibody``, states, torques and forces are in Pinocchio's order, and
    every cost of crocoddyl is possible. Without, they are in dtau's, by `State`.

    Parameters
    ----------
    model : Model
    state : crocoddyl.StateMultibody, optional
        The state of Pinocchio's model of the same robot.

    Attributes
    ----------
    model : Model
    state : crocoddyl.StateMultibody or State
    nq, nv : int
        Numbers of coordinates and of velocities of the state.

    Raises
    ------
    ValueError
        If the two models have other joints, or other dynamics. The message names the difference:
        crocoddyl's dynamics have no damping, friction and springs of joints.
    TypeError
        If an argument is of another class.

    Examples
    --------
    >>> import dtau, dtau.crocoddyl
    >>> robot = dtau.crocoddyl.Robot(dtau.robots.quadruped())
    >>> robot.state.nx
    37
    """

    def __init__(self, model: Model, state: crocoddyl.StateMultibody | None = None) -> None:
        require("model", model, Model)
        self.model = model
        self.state = State(model) if state is None else state
        self.nq, self.nv = int(self.state.nq), int(self.state.nv)
        self._batches: WeakValueDictionary[Hashable, Batch] = WeakValueDictionary()
        self._parts: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
        self._lock = threading.RLock()  # of the batches and parts, which knots share
        self.pinocchio: Any = None  # its model, or None
        self._convention: dtau.conventions.Convention | None = None
        self._order: Indices | None = None  # our velocities, as the state orders them
        self._from: Indices | None = None  # the state's velocities, in our order
        if state is not None:
            require("state", state, crocoddyl.StateMultibody)
            self._compare(state.pinocchio)

    def _compare(self, theirs: Any) -> None:
        """Find how Pinocchio's coordinates differ from ours, and check that the robots do not."""
        model = self.model
        self.pinocchio, convention = theirs, dtau.conventions.pinocchio(model, theirs)
        q, v, a = dtau.random_state(model, np.random.default_rng(0))
        their = convention.from_dtau(q, v, a)
        still = np.zeros(model.nv)
        order = convention.from_dtau(q, np.arange(float(model.nv)), still).v.astype(np.intp)
        if not np.array_equal(order, np.arange(model.nv)):
            self._order, self._from = order, np.argsort(order)
        if self._order is not None or not np.array_equal(their.q, q):
            self._convention = convention
        tau = dtau.inverse_dynamics(model, q, v, a)[..., order]
        expected = pinocchio.rnea(theirs, theirs.createData(), *their)
        if not np.allclose(tau, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max()):
            found = [*_ignored_there(model), *_other_numbers(model, theirs)]
            raise ValueError(
                "model: expected the dynamics of state.pinocchio, got torques that differ by "
                f"{np.abs(tau - expected).max():.2g}, by {'; '.join(found) or 'axes of joints'}"
            )

    def to_dtau(self, x: Array) -> tuple[Array, Array]:
        """Return q and v in dtau's convention.

        Parameters
        ----------
        x : ndarray (..., nx)
            States of crocoddyl.
        """
        q, v = x[..., : self.nq], x[..., self.nq :]
        if self._convention is None:
            return q, v
        state = self._convention.to_dtau(q, v)
        assert state.v is not None
        return state.q, state.v

    def torque_to_dtau(self, tau: Array) -> Array:
        """Return joint torques (..., nv) of crocoddyl in dtau's order."""
        return tau if self._from is None else tau[..., self._from]

    def vectors_from_dtau(self, vectors: Array) -> Array:
        """Return accelerations or velocities (..., nv) in the state's order."""
        return vectors if self._order is None else vectors[..., self._order]

    def columns_from_dtau(self, matrices: Array) -> Array:
        """Return matrices (..., nv) with their columns in the state's order."""
        return matrices if self._order is None else matrices[..., self._order]

    def matrices_from_dtau(self, matrices: Array) -> Array:
        """Return matrices (..., nv, nv) with rows and columns in the state's order."""
        if self._order is None:
            return matrices
        return matrices[..., self._order[:, None], self._order]

    def batch(self, key: Hashable, linearize: Linearize) -> Batch:
        """Return the batch of all knots with equal dynamics."""
        return self._batches.setdefault(key, Batch(linearize, self.nq + self.nv, self.nv))

    def parts(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the data that all knots of equal structure use in turn."""
        found: T | None = self._parts.get(key)
        if found is None:
            found = self._parts[key] = make()
        return found


def in_turn(method: F) -> F:
    """Let one thread at a time call such methods of action models of a robot."""

    @functools.wraps(method)
    def locked(self: Any, *arguments: Any, **named: Any) -> Any:
        with self.robot._lock:
            return method(self, *arguments, **named)

    return locked  # type: ignore[return-value]


def require_robot(value: object) -> None:
    """Raise TypeError unless this is a `Robot`: crocoddyl's classes take the state here."""
    if not isinstance(value, Robot):
        raise TypeError(
            f"robot: expected dtau.crocoddyl.Robot(model, state), got {class_name(value)}"
        )


def _ignored_there(model: Model) -> Iterator[str]:
    """Name forces of joints that Pinocchio's dynamics do not have, and how to leave them out."""
    for what in ("damping", "friction", "stiffness"):
        values = getattr(model, what)
        joints = [joint for joint in model.joints if joint.mimic is None and values[joint.v].any()]
        if not joints:
            continue
        roots = [joint.name for joint in joints if _is_free_root(joint)]
        ways = [f"model.replace({what}={{{name!r}: 0.0}})" for name in roots]
        if len(roots) < len(joints):
            ways.insert(0, f"model.replace({what}=0.0)")
        yield (
            f"{what} of joints {listing([joint.name for joint in joints])}, which Pinocchio's "
            f"dynamics ignore: {' and '.join(ways)} leaves it out"
        )


def _other_numbers(model: Model, theirs: Any) -> Iterator[str]:
    """Name what is another number in Pinocchio's model, and how to set it."""
    with without_model_warnings():  # of joints without inertia
        other = dtau.from_pinocchio(theirs)
    if not _alike(model.gravity, other.gravity):
        wanted = tuple(other.gravity.tolist())
        yield f"gravity {model.gravity.tolist()}: model.replace(gravity={wanted}) sets theirs"
    # free roots match under any name
    known = {None if _is_free_root(joint) else joint.name: joint for joint in other.joints}
    names = [None if _is_free_root(joint) else joint.name for joint in model.joints]
    pairs = [(a, known[x]) for a, x in zip(model.joints, names, strict=True) if x in known]
    armature = [a.name for a, b in pairs if not _alike(model.armature[a.v], other.armature[b.v])]
    if armature:
        yield f"armature of joints {listing(armature)}: model.replace(armature=...) sets it"
    inertias = [
        model.bodies[a.body]
        for a, b in pairs
        if not _alike(model.parameters[a.body], other.parameters[b.body])
    ]
    if inertias:
        yield f"inertias of bodies {listing(inertias)}"
    placements = [
        a.name for a, b in pairs if not _alike(a.placement.matrix(), b.placement.matrix())
    ]
    if placements:
        yield f"placements of joints {listing(placements)}"


def _is_free_root(joint: Joint) -> bool:
    return joint.parent < 0 and isinstance(joint.type, Free)


def _alike(ours: Array, theirs: Array) -> bool:
    return ours.shape == theirs.shape and np.allclose(ours, theirs, rtol=1e-6, atol=1e-9)
