"""Find joints without inertia to accelerate, which forward dynamics refuses: `massless_joints`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from dtau._core import JointKind
from dtau.model.compile import BodyArrays, CoreBody, concatenate
from dtau.model.joint_type import JointType
from dtau.model.spatial import Inertia
from dtau.support.arrays import Array
from dtau.support.errors import warn_of_model

_SINGULAR = 1e-13  # relative to the inertia that the joint carries
_CLEAR = 1e-9  # above this, the joint is regular in spite of all rounding
_TRAVEL = np.array(  # by kinds of joints; of helical joints the pitch is added
    [0.0 if kind in (JointKind.revolute, JointKind.spherical) else 2.0 for kind in JointKind]
)
_Y, _Z = [1, 2, 0], [2, 0, 1]  # components of a cross product
_MOST_GROUPS = 100  # most groups that are open at once
_IDENTITY = np.eye(3)


@np.errstate(over="ignore", invalid="ignore")
def massless_joints(bodies: Sequence[CoreBody], arrays: BodyArrays) -> tuple[str, ...]:
    """Name the joints whose articulated-body inertia D = Sᵀ Iᴬ S + armature is singular.

    D is computed at one generic configuration (drawn with a fixed seed) and compared with the D of
    a rigid subtree. A joint found here counts as rigid for its ancestors, so that only the joints
    that cause the problem are named. A joint and its mimics have one D, and the result names the
    mimicked joint. 6-vectors are linear first, in body axes.
    """
    if _own_inertias_suffice(bodies, arrays):
        return ()
    rng = np.random.default_rng(20)
    subtrees = [_Subtree(_spatial_inertia(each.body.inertia)) for each in bodies]
    world = _Subtree(np.zeros((6, 6)))
    mimics = Counter(each.mimicked for each in bodies if each.mimicked >= 0)
    singular: list[int] = []
    for i in reversed(range(len(bodies))):
        core_body, body, subtree = bodies[i], bodies[i].body, subtrees[i]
        singular += subtree.release_groups()
        if not np.isfinite(subtree.matrix[:6, :6] + subtree.rigid).all():
            raise ValueError(f"inertias of {body.link.name!r} and its subtree: too large to add")
        joint = body.link.joint
        subspace = joint.motion_subspace()
        armature = np.asarray(body.link.armature)
        mimicked = i if core_body.mimicked < 0 else core_body.mimicked
        if mimicked in mimics:
            group = subtree.open_group(mimicked, 1 + mimics[mimicked])
            if not subtree.add_member(group, core_body.multiplier, subspace, armature):
                raise ValueError(
                    f"joint {bodies[mimicked].body.link.joint_name!r} and joints that mimic it: "
                    "inertias too large to add"
                )
            singular += subtree.release_groups()
        elif not subtree.release(subspace, armature):
            singular.append(i)
        moved = joint._placement(_generic_coordinates(joint, rng))
        rotation, translation = body.placement.rotation, body.placement.translation
        motion = _motion_to_child(
            rotation @ moved.rotation, rotation @ moved.translation + translation
        )
        parent = subtrees[body.parent] if body.parent >= 0 else world
        parent.add(subtree, motion)
        subtrees[i] = world  # its arrays are not needed any more
    singular += world.release_groups()
    names = [bodies[i].body.link.joint_name for i in sorted(singular)]
    return tuple(dict.fromkeys(names))  # a universal joint is two joints of the core


def _own_inertias_suffice(bodies: Sequence[CoreBody], arrays: BodyArrays) -> bool:
    """Whether the body of each joint alone has enough inertia along it; False means unknown.

    Without mimics, D is at least Sᵀ I S + armature with the inertia I of the joint's own body. The
    mass and the moments of its subtree have bounds in all configurations. So most models need no
    articulated-body inertias, which take longer.
    """
    if any(each.mimicked >= 0 for each in bodies):
        return False
    mass, moment = _subtree_bounds(arrays)
    if not np.isfinite(mass + moment).all():
        return False
    links = [each.body.link for each in bodies]
    several = [i for i, link in enumerate(links) if link.joint.nv > 1]
    slides = arrays.kind == JointKind.prismatic
    advance, angular = arrays.pitch + slides, arrays.axis * ~slides[:, None]
    moved = arrays.axis * advance[:, None]  # velocity of the center of mass
    moved += angular[:, _Y] * arrays.com[:, _Z] - angular[:, _Z] * arrays.com[:, _Y]
    armature = concatenate(link.armature[:1] for link in links)  # type: ignore[index]
    own = arrays.mass * np.einsum("ni,ni->n", moved, moved) + armature
    own += np.einsum("ni,nij,nj->n", angular, arrays.tensor, angular)
    clear = own > _CLEAR * (mass * advance**2 + moment * ~slides + armature)
    clear[several] = True
    if not clear.all():
        return False
    for i in several:
        link = links[i]
        subspace, armature = link.joint.motion_subspace(), np.asarray(link.armature)
        d = subspace.T @ _spatial_inertia(bodies[i].body.inertia) @ subspace + np.diag(armature)
        if _is_singular(d, _largest(mass[i], moment[i], subspace, armature), _CLEAR):
            return False
    return True


def _subtree_bounds(arrays: BodyArrays) -> tuple[Array, Array]:
    """Return bounds on the mass and the trace of the rotational inertia that each joint carries.

    They hold for the configurations of `_generic_coordinates`: translations are at most 2 m.
    """
    distance = np.sqrt(np.einsum("ni,ni->n", arrays.com, arrays.com))
    reach = np.sqrt(np.einsum("ni,ni->n", arrays.translation, arrays.translation))
    reach += _TRAVEL[arrays.kind]
    # sums of m, m r, m r² and of traces, with r at most the distance from the joint
    m, first = arrays.mass.tolist(), (arrays.mass * distance).tolist()
    second = (arrays.mass * distance**2).tolist()
    traces = np.einsum("nii->n", arrays.tensor).tolist()
    steps = zip(arrays.parent.tolist(), (reach + np.abs(arrays.pitch)).tolist(), strict=True)
    for i, (parent, far) in reversed(list(enumerate(steps))):
        if parent >= 0:
            m[parent] += m[i]
            first[parent] += first[i] + far * m[i]
            second[parent] += second[i] + far * (2.0 * first[i] + far * m[i])
            traces[parent] += traces[i]
    return np.array(m), np.array(traces) + 2.0 * np.array(second)


@dataclass
class _Group:
    """A joint and its mimics, which move with one velocity: the members within a subtree."""

    mimicked: int
    row: int
    size: int
    missing: int  # members outside the subtree
    scale: float = 0.0


class _Subtree:
    """The inertia that a joint carries, with the joints below it released or rigid.

    Rows and columns of its matrix belong to the twist of the subtree's root and to the velocities
    of open groups, which have members elsewhere and cannot be released yet. At most 100 groups are
    open at once, so that time is linear in the number of bodies; joints of other groups count as
    rigid.
    """

    def __init__(self, inertia: Array) -> None:
        self.matrix = inertia
        self.rigid = inertia.copy()
        self.groups: dict[int, _Group] = {}  # open groups, by the mimicked joint
        self.complete: list[_Group] = []
        self.free_rows: list[int] = []  # zeros

    def open_group(self, mimicked: int, size: int) -> _Group | None:
        """Return the group of a mimicked joint, opened if necessary; None if too many are open."""
        if mimicked not in self.groups and len(self.groups) < _MOST_GROUPS:
            if not self.free_rows:
                self.free_rows.append(len(self.matrix))
                self.matrix = np.pad(self.matrix, (0, 1))
            self.groups[mimicked] = _Group(mimicked, self.free_rows.pop(), size, size)
        return self.groups.get(mimicked)

    def add_member(
        self, group: _Group | None, multiplier: float, subspace: Array, armature: Array
    ) -> bool:
        """Add the root's joint to a group; False if numbers become too large."""
        if group is None:
            return True
        row, matrix, motion = group.row, self.matrix, multiplier * subspace[:, 0]
        matrix[:, row] += matrix[:, :6] @ motion
        matrix[row] += motion @ matrix[:6]
        matrix[row, row] += multiplier**2 * armature[0]
        self._has(group, 1, multiplier**2 * float(self._scale(subspace, armature)[0]))
        return bool(np.isfinite(matrix[row]).all() and np.isfinite(group.scale))

    def add(self, child: _Subtree, motion: Array) -> None:
        """Add the subtree of a child; `motion` takes the twist of this root to the child's root."""
        self.rigid += motion.T @ child.rigid @ motion
        if not self.groups:  # reuse the child's, as along a chain
            self.groups, self.complete = child.groups, child.complete
            self.free_rows = child.free_rows
            if len(child.matrix) == 6:  # no groups; much faster
                self.matrix = self.matrix[:6, :6] + motion.T @ child.matrix @ motion
                return
            to_child = np.eye(len(child.matrix))
            self.matrix = np.pad(self.matrix[:6, :6], (0, len(child.matrix) - 6))
        else:
            pairs = [(self.open_group(g.mimicked, g.size), g) for g in child.groups.values()]
            to_child = np.zeros((len(child.matrix), len(self.matrix)))
            for mine, group in pairs:
                if mine is not None:
                    to_child[group.row, mine.row] = 1.0
                    self._has(mine, group.size - group.missing, group.scale)
        to_child[:6, :6] = motion
        self.matrix += to_child.T @ child.matrix @ to_child

    def release(self, subspace: Array, armature: Array) -> bool:
        """Release the root's joint; False if D is singular, and the joint counts as rigid."""
        force = self.matrix[:, :6] @ subspace
        d: Array = subspace.T @ force[:6] + np.diag(armature)
        regular = not _is_singular(d, self._scale(subspace, armature))
        if regular:
            self._subtract(force, d)
        return regular

    def release_groups(self) -> list[int]:
        """Release complete groups; return the mimicked joints of groups whose D is singular."""
        singular = []
        for group in self.complete:
            row = group.row
            force = self.matrix[:, row : row + 1].copy()
            d = force[row : row + 1]
            if _is_singular(d, np.array([group.scale])):
                singular.append(group.mimicked)
            else:
                self._subtract(force, d)
            self.matrix[row] = self.matrix[:, row] = 0.0
            self.free_rows.append(row)
            del self.groups[group.mimicked]
        self.complete = []
        return singular

    def _has(self, group: _Group, members: int, scale: float) -> None:
        group.missing -= members
        group.scale += scale
        if group.missing == 0:
            self.complete.append(group)

    def _scale(self, subspace: Array, armature: Array) -> Array:
        """Return, per velocity, the largest D that mass and moments of the subtree could give."""
        mass, moment = self.rigid[0, 0], self.rigid.diagonal()[3:].sum()
        return _largest(mass, moment, subspace, armature)

    def _subtract(self, force: Array, d: Array) -> None:
        acceleration = force.T / d if d.size == 1 else np.linalg.solve(d, force.T)
        rest = self.matrix - force @ acceleration
        self.matrix = 0.5 * (rest + rest.T)  # asymmetric rounding would grow up the tree


def warn_of_massless(joints: Collection[str], stacklevel: int) -> None:
    """Warn of massless joints, if there are any; `stacklevel` as seen from the caller."""
    if joints:
        warn_of_model(
            "joints that move no inertia, or less than 1e-13 of the inertia that they carry: "
            f"{', '.join(joints)}; inverse dynamics works, forward dynamics refuses this model",
            stacklevel=stacklevel + 1,
        )


def _largest(mass: float, moment: float, subspace: Array, armature: Array) -> Array:
    scale: Array = (
        mass * (subspace[:3] ** 2).sum(axis=0) + moment * (subspace[3:] ** 2).sum(axis=0) + armature
    )
    return scale


def _is_singular(d: Array, scale: Array, least: float = _SINGULAR) -> bool:
    if not (scale > 0).all():
        return True
    unit = 1 / np.sqrt(scale)
    relative = unit[:, None] * d * unit
    return bool((relative if d.size == 1 else np.linalg.eigvalsh(relative)).flat[0] <= least)


def _generic_coordinates(joint: JointType, rng: np.random.Generator) -> Array:
    """Draw coordinates without any symmetry; a quaternion comes last."""
    q = rng.uniform(-1, 1, joint.nq)
    if joint.nq > joint.nv:
        q[-4:] /= np.linalg.norm(q[-4:])
    return q


def _spatial_inertia(inertia: Inertia) -> Array:
    """Return the 6x6 inertia about the origin of the body's frame."""
    cross = inertia.mass * _cross(inertia.com)
    matrix = np.empty((6, 6))
    matrix[:3, :3] = inertia.mass * _IDENTITY
    matrix[:3, 3:] = cross.T
    matrix[3:, :3] = cross
    matrix[3:, 3:] = inertia.tensor + cross @ _cross(inertia.com).T
    return matrix


def _motion_to_child(rotation: Array, translation: Array) -> Array:
    """Return the matrix that takes a twist at the parent's origin to the child's frame there."""
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = rotation.T
    matrix[:3, 3:] = -rotation.T @ _cross(translation)
    matrix[3:, 3:] = rotation.T
    return matrix


def _cross(vector: Array) -> Array:
    x, y, z = vector.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
