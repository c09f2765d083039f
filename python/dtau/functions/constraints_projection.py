"""Project configurations onto configurations in which contacts and closed loops hold: `project`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from dtau import _core
from dtau.docstrings import documented
from dtau.functions.constraints import require_contacts
from dtau.functions.frames import frame_jacobians, frame_placements
from dtau.functions.manifold import integrate
from dtau.model.contact_kinds import AnyContact, FrameContact, Loop, PointContact
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.model.pose import Pose
from dtau.results import Projected
from dtau.support.arrays import Array, Mask
from dtau.support.blocks import BLOCK, blocks
from dtau.support.checks import batch_arrays, integer, real_array, require_memory
from dtau.support.options import ForceAxes

_RANK = 1e-10  # singular values below this, relative to the largest, count as zero
_DEPENDENT = 1e-7  # length of what is left of a row without the rows before it
_FIRST, _SMALLEST, _LARGEST = 1e-4, 1e-9, 1e6  # damping over the largest singular value squared
_UP, _DOWN = 10.0, 0.1


@documented
def project(
    model: Model,
    q: ArrayLike,
    contacts: Contacts,
    *,
    active: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 100,
) -> Projected:
    """Project ``q`` onto the configurations in which contacts and loops hold, by Gauss-Newton.

        q <- q (+) -J^+ e      e: errors of the rows, J: their Jacobian

    The projection closes loops, and moves points and frames to their placements in the world. Each
    step on the manifold is the one of least norm.

    Parameters
    ----------
    q
        Configuration at which the iteration begins. Batch axes of all arguments broadcast against
        each other.
    contacts
        Contacts and loops of this model. A contact with the world without a placement (see the
        argument ``at`` of `dtau.Contacts`) holds anywhere.
    active
        Which contacts must hold in each state: true or 1 if the contact must hold, false or 0 if
        not. Other numbers count as true from 0.5 on. By default all contacts must hold.
    positions
        Where the contacts must hold in each state: positions in the world, in meters, in place of
        the positions of ``contacts``. The rotation of a `FrameContact` stays; without a placement
        it still holds anywhere. Such rows, rows of loops and rows of contacts that need not hold
        have no effect, and may be NaN. By default the positions of ``contacts``.
    tolerance : float
        Largest error, in meters and radians, of a solution.
    max_iterations : int
        Largest number of steps for a state.

    Returns
    -------
    Projected
    q : ndarray (..., nq)
        Configuration. A state whose error is within ``tolerance`` at the beginning is returned
        unchanged. If no solution was found, it is the configuration of least error so far; the
        function does not raise, even for a single state.
    error : ndarray (...)
        Largest error of the active contacts: the distance between two origins, in meters, or the
        angle between two frames, in radians (for a hinge, between its axes). If it is larger than
        ``tolerance``, no solution was found.

    Raises
    ------
    ValueError
        ... a number is out of its range.
    TypeError
        ... an argument is of another type.

    Notes
    -----
    [Derivations] eq. 20.16: a step is the dq of least norm that removes the errors of the rows to
    first order, so convergence near a solution is quadratic. Rows may depend on each other. A step
    that does not reduce the error is damped (Levenberg-Marquardt). Each step costs O(N) for the
    frames and O(nrows^2 nv) for singular values. All states of a batch take their steps together;
    solved states wait. A state that is not finite gives NaN. There may be several solutions, and
    from a singular configuration (bars in line) none may be reachable: begin near the solution you
    want.

    Examples
    --------
    Close a Delta robot from approximate angles of its arms:

    >>> import dtau, numpy as np
    >>> model, contacts, home = dtau.robots.delta()
    >>> q = np.tile(home, (3, 1))
    >>> q[:, model.joint("arm1").q] += [[-0.2], [0.1], [0.3]]
    >>> closed = dtau.project(model, q, contacts)
    >>> bool(closed.error.max() < 1e-10)
    True

    Move a foot back to its placement; a placement out of reach leaves an error:

    >>> model = dtau.robots.quadruped()
    >>> q = dtau.neutral(model)
    >>> contacts = dtau.Contacts(model, [dtau.PointContact("LF_FOOT")], at=q)
    >>> moved = q.copy()
    >>> moved[model.joint("LF_KFE").q] = -0.5
    >>> bool(dtau.project(model, moved, contacts).error < 1e-10)
    True
    >>> leg = model.lock({"root_joint": q[:7]})  # the base does not move
    >>> far = dtau.Contacts(leg, [dtau.PointContact("LF_FOOT", position=(0.44, 0.25, -0.7))])
    >>> print(dtau.project(leg, dtau.neutral(leg), far).error.round(3))
    0.119
    """
    require_contacts(model, contacts)
    most = integer("max_iterations", max_iterations, 1)
    enough = float(real_array("tolerance", tolerance, ()))
    if enough < 0.0:
        raise ValueError(f"tolerance: expected a number of at least 0, got {enough}")
    on = np.ones(len(contacts)) if active is None else active
    arrays: dict[str, tuple[ArrayLike, tuple[int, ...]]] = {
        "q": (q, (model.nq,)),
        "active": (on, (len(contacts),)),
    }
    if positions is not None:
        arrays["positions"] = (positions, (len(contacts), 3))
    batch, (begin, held, *places) = batch_arrays(arrays)
    # Memory: of all states what they reach; of a block the rows' Jacobians three times, two of
    # their factors, the frames' Jacobians and poses.
    rows, frames = contacts.nrows + 3 * len(contacts), 2 * len(contacts)
    of_state = float(5 * rows * model.nv + frames * (6 * model.nv + 12))
    kept = len(begin) * (model.nq + 3.0 * len(contacts) + 8.0)
    require_memory("project", kept + min(len(begin), BLOCK) * of_state)
    frame_placements(model, begin.reshape(*batch, model.nq), ())  # checks quaternions
    failures = _Rows(model, contacts, positions is not None)
    places = [np.where(failures.reads(held), place, 0.0) for place in places]
    finite = [np.isfinite(x).all(axis=tuple(range(1, x.ndim))) for x in (begin, held, *places)]
    left = np.flatnonzero(np.logical_and.reduce(finite))
    reached, error = np.full(begin.shape, np.nan), np.full(len(begin), np.nan)
    reached[left] = begin[left]
    for part in blocks(len(left)):
        some = left[part]
        chosen = places[0][some] if places else None
        reached[some], error[some] = _project(
            failures, begin[some], held[some], chosen, enough, most
        )
    return Projected(reached.reshape(*batch, model.nq), error.reshape(batch))


def dependent_rows(model: Model, contacts: Contacts, q: Array) -> dict[str, list[int]]:
    """Return, by contact, the rows that depend on rows before them in a configuration (nq,).

    These are the placed contacts' rows, counted from 0 in each contact.
    """
    failures = _Rows(model, contacts, False)
    _, jacobian, _ = failures(q[np.newaxis], np.ones((1, len(contacts))), None)
    basis: list[Array] = []
    found: dict[str, list[int]] = {}
    rows = iter(jacobian[0])
    for _, contact in failures.placed:
        for row in range(contact.rows):
            x = next(rows)
            rest = x
            for _ in range(2):  # once more for the rounding errors
                rest = rest - sum((x @ rest * x for x in basis), np.zeros(model.nv))
            if np.linalg.norm(rest) <= _DEPENDENT * max(1.0, float(np.linalg.norm(x))):
                found.setdefault(contact.name, []).append(row)
            else:
                basis.append(rest / np.linalg.norm(rest))
    return found


def _project(
    failures: _Rows,
    reached: Array,
    active: Array,
    positions: Array | None,
    enough: float,
    most: int,
) -> tuple[Array, Array]:
    """Return the configurations that finite ones reach, and the errors left."""
    left = np.arange(len(reached))

    def failed(q: Array) -> tuple[Array, Array, Array]:
        return failures(q, active[left], None if positions is None else positions[left])

    e, jacobian, error = failed(reached)
    kept = error > enough
    left, steps = left[kept], _Steps(e[kept], jacobian[kept])
    for _ in range(most):
        if not len(left):
            break
        tried = integrate(failures.model, reached[left], steps.dq())
        e, jacobian, apart = failed(tried)
        nearer = steps.take(e, jacobian)
        reached[left[nearer]], error[left[nearer]] = tried[nearer], apart[nearer]
        kept = (error[left] > enough) & steps.hopeful
        left = left[kept]
        steps.keep(kept)
    return reached, error


class _Steps:
    """Compute the next damped step of each state of a batch, from the singular values of its rows.

    Attributes
    ----------
    hopeful : ndarray of bool (n,)
        Whether further steps can reduce the error of a state.
    """

    def __init__(self, e: Array, jacobian: Array) -> None:
        self._size = np.sum(e**2, axis=-1)
        self._damping = np.zeros(len(e))
        self._set(*self._factors(e, jacobian))

    def _factors(self, e: Array, jacobian: Array) -> tuple[Array, Array, Array]:
        u, s, vt = np.linalg.svd(jacobian, full_matrices=False)
        return (e[:, None, :] @ u)[:, 0, :], s, vt

    def _set(self, along: Array, s: Array, vt: Array) -> None:
        self._along, self._s, self._vt = along, s, vt

    def dq(self) -> Array:
        """The steps."""
        largest = self._s[:, :1]
        squares = self._s**2 + self._damping[:, None] * largest**2
        sound = self._s > _RANK * largest
        weights = np.where(sound, self._s, 0.0) / np.where(sound, squares, 1.0)
        return -((self._along * weights)[:, None, :] @ self._vt)[:, 0, :]

    def take(self, e: Array, jacobian: Array) -> Mask:
        """Accept the steps that reduced the error, damp the others; return which were accepted."""
        size = np.sum(e**2, axis=-1)
        nearer = size < self._size  # not if NaN
        gained = np.where(nearer, size / self._size, 1.0)
        self._size[nearer] = size[nearer]
        if nearer.any():
            new = self._factors(e[nearer], jacobian[nearer])
            for old, fresh in zip((self._along, self._s, self._vt), new, strict=True):
                old[nearer] = fresh
        less = _DOWN * gained * self._damping  # as the error falls: converges quadratically
        more = np.maximum(_UP * self._damping, _FIRST)
        self._damping = np.where(nearer, np.where(less > _SMALLEST, less, 0.0), more)
        return np.asarray(nearer)

    @property
    def hopeful(self) -> Mask:
        return np.asarray(self._damping < _LARGEST)

    def keep(self, kept: Mask) -> None:
        """Drop the states where `kept` is false."""
        self._size, self._damping = self._size[kept], self._damping[kept]
        self._set(self._along[kept], self._s[kept], self._vt[kept])


Place = tuple[Array, Array, Array]  # axes (..., 3, 3), origin (..., 3), mixed Jacobian (..., 6, nv)


class _Rows:
    """Evaluate the errors of all rows and their Jacobian; [Derivations] eq. 20.16."""

    def __init__(self, model: Model, contacts: Contacts, with_positions: bool) -> None:
        self.model = model
        self.placed = [
            (k, contact)
            for k, contact in enumerate(contacts)
            if _is_placed(contact, with_positions)
        ]
        names = (name for _, contact in self.placed for name in _frames(contact))
        self._frames = list(dict.fromkeys(names))
        self._held = np.zeros(len(contacts), dtype=bool)  # with the world
        self._held[[k for k, contact in self.placed if not isinstance(contact, Loop)]] = True

    def reads(self, active: Array) -> Mask:
        """Tell of which contacts the positions are read, (n, ncontacts, 1)."""
        return np.asarray((self._held & ~(active < 0.5))[..., np.newaxis])

    def __call__(
        self, q: Array, active: Array, positions: Array | None
    ) -> tuple[Array, Array, Array]:
        """Return e (n, rows), its Jacobian (n, rows, nv) and the errors (n,) of states (n, nq)."""
        model, frames = self.model, self._frames
        poses = frame_placements(model, q, frames)
        jacobians = frame_jacobians(model, q, frames, "mixed")
        places = {
            name: (poses.rotation[:, k], poses.translation[:, k], jacobians[:, k])
            for k, name in enumerate(frames)
        }
        e, moving = [np.zeros((len(q), 0))], [np.zeros((len(q), 0, model.nv))]
        error = np.zeros(len(q))
        for k, contact in self.placed:
            off = active[:, k] < 0.5
            a = places[_frames(contact)[0]]
            if isinstance(contact, Loop):
                b = _at(places[contact.frame_b], contact.placement)
            else:
                b = _in_world(contact, None if positions is None else positions[:, k])
            for apart, moves, axes in _failures(contact, a, b):
                apart[off] = 0.0
                e.append((axes @ apart[..., None])[..., 0])
                moving.append(np.where(off[:, None, None], 0.0, axes @ moves))
                error = np.maximum(error, np.linalg.norm(apart, axis=-1))
        return np.concatenate(e, axis=1), np.concatenate(moving, axis=1), error


def _frames(contact: AnyContact) -> tuple[str, ...]:
    if isinstance(contact, Loop):
        return contact.frame_a, contact.frame_b
    return (contact.frame,)


def _is_placed(contact: AnyContact, with_positions: bool) -> bool:
    if isinstance(contact, PointContact):
        return with_positions or contact.position is not None
    return isinstance(contact, Loop) or contact.placement is not None


def _at(frame: Place, pose: Pose) -> Place:
    """Return the place of a frame that is at `pose` in `frame`."""
    rotation, origin, jacobian = frame
    arm = (rotation @ pose.translation[:, None])[..., 0]
    jacobian = jacobian.copy()
    jacobian[:, :3] -= np.cross(arm[:, :, None], jacobian[:, 3:], axis=1)
    return rotation @ pose.rotation, origin + arm, jacobian


def _in_world(contact: PointContact | FrameContact, position: Array | None) -> Place:
    if isinstance(contact, PointContact):
        held = Pose() if contact.position is None else Pose(translation=contact.position)
    else:
        held = contact.placement or Pose()
    origin = held.translation if position is None else position
    return held.rotation, origin, np.zeros((6, 1))


def _failures(contact: AnyContact, a: Place, b: Place) -> Iterator[tuple[Array, Array, Array]]:
    """Yield the translational, then the rotational error of a contact.

    Each is: the error (n, 3) and its Jacobian (n, 3, nv), both along the world's axes, and the axes
    of the rows (..., rows, 3).
    """
    moves = a[2] - b[2]
    if isinstance(contact, PointContact) and contact.direction is not None:
        yield _along(np.array(contact.direction), contact.axes, a, b)
        return
    yield a[1] - b[1], moves[:, :3], np.eye(3)
    if contact.rows == 6:
        turn = _core.rotation_log(_core.rotation_from_matrix(np.swapaxes(b[0], -1, -2) @ a[0]))
        yield (a[0] @ turn[..., None])[..., 0], moves[:, 3:], np.eye(3)
    if isinstance(contact, Loop) and contact.hinge is not None:
        k = "xyz".index(contact.hinge)
        others = [(k + 1) % 3, (k + 2) % 3]
        along = np.swapaxes(a[0][..., others], -1, -2)
        yield _shortest_turn(b[0][..., k], a[0][..., k], along[:, 0]), moves[:, 3:], along


def _along(direction: Array, axes: ForceAxes, a: Place, b: Place) -> tuple[Array, Array, Array]:
    """Return the error of a point along a direction, as `_failures` yields errors."""
    apart, moves = a[1] - b[1], a[2][:, :3]
    along = a[0] @ direction if axes == "body" else np.broadcast_to(direction, apart.shape)
    if axes == "body":  # the direction turns with the frame
        turns = np.cross(along, apart)[:, None, :] @ a[2][:, 3:]
        moves = moves + along[:, :, None] * turns
    size = np.sum(along * apart, axis=-1, keepdims=True)
    return size * along, moves, along[:, None, :]


def _shortest_turn(start: Array, end: Array, across: Array) -> Array:
    """Return the rotation vector between two directions; `across` is the axis of a half turn."""
    x = np.cross(start, end)
    sine = np.linalg.norm(x, axis=-1, keepdims=True)
    cosine = np.sum(start * end, axis=-1, keepdims=True)
    axis = np.where(sine > 0.0, x / np.where(sine > 0.0, sine, 1.0), across)
    return np.asarray(np.arctan2(sine, cosine) * axis)
