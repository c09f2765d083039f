"""Map configurations to other conventions: order, offsets, poses, angles as cosine and sine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from dtau import _core
from dtau.model.joints import Free, Spherical
from dtau.model.links import Joint
from dtau.model.model import Model
from dtau.support.arrays import Array, Indices
from dtau.support.immutable import Immutable

_UNIT = 1e-6  # how far from 1 the norm of a quaternion may be


class CoordinateMap(Immutable):
    """The map between configurations of a model and configurations of another convention.

    Parameters
    ----------
    model : Model
    nq : int
        Number of coordinates in the other convention.
    copies : iterable of (int, int)
        For each number that both conventions share, its index in dtau and in the other convention.
    offsets : array_like (number of copies,)
        Numbers to add for the other convention.
    angles : iterable of (int, int, int)
        Index of an angle in dtau, and of its cosine and its sine in the other convention.
    placed : sequence of Joint
        Free joints whose pose is relative to the world in the other convention, not to the joint's
        frame.
    """

    nq: int
    _copied: Indices
    _copied_to: Indices
    _offsets: Array
    _angles: Indices
    _cosines: Indices
    _sines: Indices
    _quaternions: Indices  # (nquaternions, 4)
    _owners: tuple[str, ...]  # the joints that the quaternions belong to
    _placed: Indices  # (nplaced, 7)
    _rotation: Array  # (nplaced, 3, 3)
    _translation: Array  # (nplaced, 3)
    _rotation_quaternion: Array  # (nplaced, 4)

    def __init__(
        self,
        model: Model,
        nq: int,
        copies: Iterable[tuple[int, int]],
        *,
        offsets: ArrayLike = 0.0,
        angles: Iterable[tuple[int, int, int]] = (),
        placed: Sequence[Joint] = (),
    ) -> None:
        self._require_new()
        copied = np.array(list(copies), dtype=np.intp).reshape(-1, 2)
        angular = np.array(list(angles), dtype=np.intp).reshape(-1, 3)
        balls = [joint for joint in model.joints if isinstance(joint.type, Free | Spherical)]
        n = len(placed)
        rotation = np.array([joint.placement.rotation for joint in placed]).reshape(n, 3, 3)
        vars(self).update(
            nq=nq,
            _copied=copied[:, 0],
            _copied_to=copied[:, 1],
            _offsets=np.broadcast_to(np.asarray(offsets, dtype=np.float64), len(copied)).copy(),
            _angles=angular[:, 0],
            _cosines=angular[:, 1],
            _sines=angular[:, 2],
            _quaternions=np.array([np.r_[j.q][-4:] for j in balls], dtype=np.intp).reshape(-1, 4),
            _owners=tuple(joint.name for joint in balls),
            _placed=np.array([np.r_[j.q] for j in placed], dtype=np.intp).reshape(n, 7),
            _rotation=rotation,
            _translation=np.array([j.placement.translation for j in placed]).reshape(n, 3),
            _rotation_quaternion=_core.rotation_from_matrix(rotation),
        )

    def from_dtau(self, q: Array) -> Array:
        """Convert configurations ``(..., nq)``."""
        q = self._moved(q, self._rotation, self._translation, self._rotation_quaternion)
        out = np.empty((*q.shape[:-1], self.nq))
        out[..., self._copied_to] = q[..., self._copied] + self._offsets
        out[..., self._cosines] = np.cos(q[..., self._angles])
        out[..., self._sines] = np.sin(q[..., self._angles])
        return out

    def to_dtau(self, q: Array) -> Array:
        """Convert configurations to dtau's; an angle is returned in [-pi, pi]."""
        out = np.empty((*q.shape[:-1], len(self._copied) + len(self._angles)))
        out[..., self._copied] = q[..., self._copied_to] - self._offsets
        out[..., self._angles] = np.arctan2(q[..., self._sines], q[..., self._cosines])
        back = np.swapaxes(self._rotation, -1, -2)
        origin = -(back @ self._translation[..., np.newaxis])[..., 0]
        return self._moved(out, back, origin, self._rotation_quaternion * (-1.0, -1.0, -1.0, 1.0))

    def check_quaternions(self, q: Array, batch: tuple[int, ...]) -> None:
        """Raise ValueError unless quaternions have unit norm; `batch` is the shape of q's rows."""
        x = q[..., self._quaternions]
        norm = np.linalg.norm(x, axis=-1)
        bad = ~(np.abs(norm - 1.0) <= _UNIT) & np.isfinite(x).all(axis=-1)
        if bad.any():
            row, k = np.argwhere(bad)[0].tolist()
            state = tuple(int(i) for i in np.unravel_index(row, batch))
            where = f" at batch index {state}" if state else ""
            raise ValueError(
                f"q: the quaternion of joint {self._owners[k]!r}{where} has norm "
                f"{norm[bad][0]!s}, expected 1 within {_UNIT:g}"
            )

    def _moved(self, q: Array, rotation: Array, translation: Array, quaternion: Array) -> Array:
        """Transform the poses of the placed joints into another frame."""
        if not len(self._placed):
            return q
        q = q.copy()
        pose = q[..., self._placed]
        q[..., self._placed[:, :3]] = (rotation @ pose[..., :3, np.newaxis])[..., 0] + translation
        u, w = pose[..., 3:6], pose[..., 6:]
        u0, w0 = quaternion[:, :3], quaternion[:, 3:]
        q[..., self._placed[:, 3:6]] = w0 * u + w * u0 + np.cross(u0, u)
        q[..., self._placed[:, 6:]] = w0 * w - (u0 * u).sum(axis=-1, keepdims=True)
        return q
