"""Difference the contact geometry of pairs of geoms that have no formula: `GeometryDifferences`.

Geom 2 of a pair moves by each of its six displacements relative to geom 1, and MuJoCo collides
again: once for all pairs whose geoms 2 touch other geoms alone. The dynamics is not repeated.

MuJoCo's iterative collision ends at `ccd_tolerance`, whose default of 1e-6 is no smaller than the
change of a contact by a displacement of 1e-5. So a copy of the model with a small tolerance
collides. Errors that remain differ between displacements of two sizes. There the curvature of the
geoms gives the derivatives, or the contact is refused.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from dtau.model.rotations import skew
from dtau.mujoco.convex_contacts import CONVEX, Placed, convex_motion
from dtau.mujoco.names import Names
from dtau.mujoco.scope import not_covered
from dtau.mujoco.solved import Contacts, Solver
from dtau.support.arrays import Array, Indices

_STEP = 1e-5  # meters and radians
_OTHER_STEP = 3e-5  # larger: a small step may stay on one face of a polytope in place of a solid
_AGREEMENT = 1e-4  # of the largest derivative: most that the two steps differ


class GeometryDifferences:
    """Centered differences of contact points, normals and distances.

    Parameters
    ----------
    mj_model : mujoco.MjModel
    solver : Solver
        Positions and contacts of its data are overwritten.
    q : ndarray (n, nq)
        Configurations of the states.
    names : Names
    """

    def __init__(self, mj_model: Any, solver: Solver, q: Array, names: Names) -> None:
        self._model, self._solver, self._q, self._names = mj_model, solver, q, names
        self.data, self._colliding = solver.data, mj_model

    def __call__(self, contacts: Contacts) -> Array:
        """Return the changes of points, normals and distances, (n, 7, 12).

        The columns are the twists [linear, angular] of the two bodies at the contact point.
        """
        data, n = self.data, len(contacts.state)
        self._colliding = self._solver.colliding()
        moved, shifted = np.empty((n, 7, 6)), np.tile(np.eye(6), (n, 1, 1))
        for state in np.unique(contacts.state):
            data.qpos[:] = self._q[state]
            mujoco.mj_kinematics(self._model, data)
            mujoco.mj_comPos(self._model, data)
            of_state = contacts.state == state
            for geoms in _apart(contacts.geom[of_state]):
                chosen = np.flatnonzero(of_state & np.isin(contacts.geom[:, 1], geoms))
                places = data.geom_xpos[contacts.geom[chosen, 1]]
                shifted[chosen, :3, 3:] -= skew(places - contacts.pos[chosen])
                moved[chosen] = self._differences(contacts, chosen, geoms)
        relative = moved @ shifted
        out = np.concatenate([-relative, relative], axis=2)
        # Both bodies may move together.
        out[:, :3, :3] += np.eye(3)
        out[:, 3:6, 3:6] -= skew(contacts.frame[:, 0])
        return out

    def _differences(self, contacts: Contacts, chosen: Indices, geoms: Indices) -> Array:
        """Return points, normals, distances by displacements [linear, angular] of geom 2."""
        steps = _STEP, _OTHER_STEP
        found, other = (self._by_step(contacts, chosen, geoms, step) for step in steps)
        allowed = _AGREEMENT * np.maximum(1.0, np.abs(found).max(axis=(1, 2)))
        agree = np.abs(found - other).max(axis=(1, 2)) <= allowed  # not if a contact has jumped
        for k in np.flatnonzero(~agree):
            found[k] = self._by_curvature(contacts, int(chosen[k]), bool(np.isnan(found[k]).any()))
        return found

    def _by_curvature(self, contacts: Contacts, i: int, jumped: bool) -> Array:
        """Return what `_differences` does, of contact `i`, or raise why it has no derivative."""
        data, both = self.data, contacts.geom[i]
        kinds = self._model.geom_type[both]
        found = None
        if np.isin(kinds, CONVEX).all():
            one, other = (
                Placed(
                    int(self._model.geom_type[geom]),
                    self._model.geom_size[geom],
                    data.geom_xpos[geom],
                    data.geom_xmat[geom].reshape(3, 3),
                )
                for geom in both
            )
            normal, distance = contacts.frame[i, 0], float(contacts.dist[i])
            found = convex_motion((one, other), contacts.pos[i], normal, distance)
        if found is not None:
            return found
        names = self._names.kinds(contacts, i)
        raise not_covered(
            f"contacts of {names} that jump when geoms move by 3e-5, or when option/ccd_tolerance "
            "falls to 1e-12"
            if jumped
            else f"contacts of {names} where MuJoCo's collision is not smooth: displacements of "
            "1e-5 and 3e-5 disagree",
            self._names.contact(contacts, i),
        )

    def _by_step(self, contacts: Contacts, chosen: Indices, geoms: Indices, step: float) -> Array:
        """Return the centered differences of one step, of all geoms at once."""
        data = self.data
        arrays = data.geom_xpos, data.geom_xquat, data.geom_xmat
        positions, quaternions, _ = kept = [x[geoms] for x in arrays]
        out = np.empty((len(chosen), 7, 6))
        turn, turned = np.empty(4), np.empty(4)
        for column in range(6):
            found: list[Array] = []
            for change in (step, -step):
                if column < 3:
                    data.geom_xpos[geoms, column] = positions[:, column] + change
                else:
                    mujoco.mju_axisAngle2Quat(turn, np.eye(3)[column - 3], change)
                    for geom, quaternion in zip(geoms, quaternions, strict=True):
                        mujoco.mju_mulQuat(turned, turn, quaternion)
                        data.geom_xquat[geom] = turned
                        mujoco.mju_quat2Mat(data.geom_xmat[geom], turned)
                mujoco.mj_collision(self._colliding, data)
                found.append(self._found(contacts, chosen))
                for array, values in zip(arrays, kept, strict=True):
                    array[geoms] = values
            out[..., column] = (found[0] - found[1]) / (2.0 * step)
        return out

    def _found(self, contacts: Contacts, chosen: Indices) -> Array:
        """Return point, normal, distance of the contacts nearest to these; NaN: one jumped."""
        contact = self.data.contact
        if not len(contact.dist):
            return np.full((len(chosen), 7), np.nan)
        points, normals = contacts.pos[chosen], contacts.frame[chosen, 0]
        apart = ((contact.pos - points[:, np.newaxis]) ** 2).sum(axis=2)
        apart[(contact.geom != contacts.geom[chosen, np.newaxis]).any(axis=2)] = np.inf
        nearest = apart.argmin(axis=1)
        parts = contact.pos[nearest], contact.frame[nearest, :3], contact.dist[nearest, np.newaxis]
        out = np.concatenate(parts, axis=1)
        change = np.abs(out[:, :6] - np.concatenate([points, normals], axis=1)).max(axis=1)
        out[(change >= 1e3 * _STEP) | (apart.min(axis=1) == np.inf)] = np.nan
        return out


def _apart(geoms: NDArray[np.int32]) -> list[Indices]:
    """Return groups of the second geoms of contacts (n, 2), of which no contact has two."""
    seconds = np.unique(geoms[:, 1])
    joined = np.isin(seconds, geoms[:, 0])
    groups = [seconds[~joined], *seconds[joined, np.newaxis]]
    return [group for group in groups if len(group)]
