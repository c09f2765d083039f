"""Difference the contact geometry of pairs of geoms that have no formula: `GeometryDifferences`.

Geom 2 of a pair moves by each of its six displacements relative to geom 1, and MuJoCo collides
again. The dynamics is not repeated.

MuJoCo's iterative collision ends at `ccd_tolerance`, whose default of 1e-6 is no smaller than the
change of a contact by a displacement of 1e-5. So a copy of the model with a small tolerance
collides. Errors that remain differ between displacements of two sizes. There the curvature of the
geoms gives the derivatives, or the contact is refused.
"""

from __future__ import annotations

import copy
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from dtau.mujoco.convex_contacts import CONVEX, Placed, convex_motion
from dtau.mujoco.names import Names
from dtau.mujoco.scope import not_covered
from dtau.mujoco.solved import Contacts
from dtau.mujoco.vectors import skew

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_STEP = 1e-5  # meters and radians
_OTHER_STEP = 3e-5  # larger: a small step may stay on one face of a polytope in place of a solid
_AGREEMENT = 1e-4  # of the largest derivative: most that the two steps differ
_CCD_TOLERANCE, _CCD_ITERATIONS = 1e-12, 200


class GeometryDifferences:
    """Centered differences of contact points, normals and distances.

    Parameters
    ----------
    mj_model : mujoco.MjModel
    data : mujoco.MjData
        Its positions and contacts are overwritten.
    q : ndarray (n, nq)
        Configurations of the states.
    names : Names
    """

    def __init__(self, mj_model: Any, data: Any, q: Array, names: Names) -> None:
        self._model, self.data, self._q, self._names = mj_model, data, q, names
        self._colliding: Any = None

    def __call__(self, contacts: Contacts) -> Array:
        """Return the changes of points, normals and distances, (n, 7, 12).

        The columns are the twists [linear, angular] of the two bodies at the contact point.
        """
        data, n = self.data, len(contacts.state)
        if self._colliding is None:
            self._colliding = _with_exact_collision(self._model)
        moved, shifted = np.empty((n, 7, 6)), np.tile(np.eye(6), (n, 1, 1))
        for state in np.unique(contacts.state):
            data.qpos[:] = self._q[state]
            mujoco.mj_kinematics(self._model, data)
            mujoco.mj_comPos(self._model, data)
            of_state = contacts.state == state
            for geom in np.unique(contacts.geom[of_state, 1]):
                chosen = np.flatnonzero(of_state & (contacts.geom[:, 1] == geom))
                shifted[chosen, :3, 3:] -= skew(data.geom_xpos[geom] - contacts.pos[chosen])
                moved[chosen] = self._differences(contacts, chosen, int(geom))
        relative = moved @ shifted
        out = np.concatenate([-relative, relative], axis=2)
        # Both bodies may move together.
        out[:, :3, :3] += np.eye(3)
        out[:, 3:6, 3:6] -= skew(contacts.frame[:, 0])
        return out

    def _differences(self, contacts: Contacts, chosen: Indices, geom: int) -> Array:
        """Return points, normals, distances by displacements [linear, angular] of a geom."""
        steps = _STEP, _OTHER_STEP
        found, other = (self._by_step(contacts, chosen, geom, step) for step in steps)
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

    def _by_step(self, contacts: Contacts, chosen: Indices, geom: int, step: float) -> Array:
        """Return the centered differences of one step."""
        data = self.data
        position, quaternion = data.geom_xpos[geom].copy(), data.geom_xquat[geom].copy()
        matrix = data.geom_xmat[geom].copy()
        out = np.empty((len(chosen), 7, 6))
        turn, turned = np.empty(4), np.empty(4)
        for column in range(6):
            found: list[Array] = []
            for change in (step, -step):
                if column < 3:
                    data.geom_xpos[geom, column] = position[column] + change
                else:
                    mujoco.mju_axisAngle2Quat(turn, np.eye(3)[column - 3], change)
                    mujoco.mju_mulQuat(turned, turn, quaternion)
                    data.geom_xquat[geom] = turned
                    mujoco.mju_quat2Mat(data.geom_xmat[geom], turned)
                mujoco.mj_collision(self._colliding, data)
                found.append(np.array([self._found(contacts, i) for i in chosen]))
                data.geom_xpos[geom], data.geom_xquat[geom] = position, quaternion
                data.geom_xmat[geom] = matrix
            out[..., column] = (found[0] - found[1]) / (2.0 * step)
        return out

    def _found(self, contacts: Contacts, i: int) -> Array:
        """Return point, normal, distance of the contact nearest to contact `i`; NaN: it jumped."""
        contact = self.data.contact
        same = np.flatnonzero((contact.geom == contacts.geom[i]).all(axis=1))
        if len(same):
            points = contact.pos[same]
            nearest = np.argmin(((points - contacts.pos[i]) ** 2).sum(axis=1))
            normal = contact.frame[same[nearest], :3]
            near = np.abs(points[nearest] - contacts.pos[i]).max() < 1e3 * _STEP
            if near and np.abs(normal - contacts.frame[i, 0]).max() < 1e3 * _STEP:
                return np.concatenate(
                    [points[nearest], normal, contact.dist[same[nearest], np.newaxis]]
                )
        return np.full(7, np.nan)


def _with_exact_collision(mj_model: Any) -> Any:
    """Return the model, or a copy whose iterative collision goes on to a smaller error."""
    opt = mj_model.opt
    if opt.ccd_tolerance <= _CCD_TOLERANCE and opt.ccd_iterations >= _CCD_ITERATIONS:
        return mj_model
    colliding = copy.copy(mj_model)
    colliding.opt.ccd_tolerance = min(opt.ccd_tolerance, _CCD_TOLERANCE)
    colliding.opt.ccd_iterations = max(opt.ccd_iterations, _CCD_ITERATIONS)
    return colliding
