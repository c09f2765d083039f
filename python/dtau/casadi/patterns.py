"""Sparsity patterns of functions from the tree, by the nq numbers of q: `Structure`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dtau.functions.derivatives_patterns import pattern
from dtau.model.contact_kinds import Loop
from dtau.model.contacts import Contacts
from dtau.model.joints import Free, Planar, Spherical
from dtau.model.model import Model
from dtau.support.arrays import Mask
from dtau.support.options import Integrator
from dtau.support.patterns import Pattern as Places

Pattern = Mask
Compressed = NDArray[np.int64]


def tangent_pattern(model: Model) -> Pattern:
    """Return the pattern of the tangent map (nv, nq)."""
    pattern = np.zeros((model.nv, model.nq), dtype=bool)
    for joint in model.joints:
        q, v = joint.q.start, joint.v.start
        if isinstance(joint.type, Free):
            pattern[v : v + 3, q : q + 3] = pattern[v + 3 : v + 6, q + 3 : q + 7] = True
        elif isinstance(joint.type, Spherical):
            pattern[v : v + 3, q : q + 4] = True
        elif isinstance(joint.type, Planar):
            pattern[v : v + 2, q : q + 2] = pattern[v + 2, q + 2] = True
        else:
            np.fill_diagonal(pattern[joint.v, joint.q], True)
    return pattern


def product(a: Pattern, b: Pattern) -> Pattern:
    """Return the pattern of the product of two matrices."""
    nonzero: Pattern = a.astype(np.float32) @ b.astype(np.float32) > 0
    return nonzero


class Structure:
    """Structure of a model that determines the patterns of a function.

    ``paths`` (nbodies, nv): the velocities that a wrench on a body acts on. ``coupled`` (nv, nv):
    the nonzero entries of matrices by velocities. ``moved``: the velocities whose displacement can
    change the result. The position of a free root changes it only if wrenches have moments about
    the world's origin. `dtau.pattern` knows which entries these are. ``solves``: whether it has
    accelerations as results.
    """

    def __init__(self, model: Model, *, solves: bool, felt_position: bool) -> None:
        bodies = pattern(model, "frame_jacobians", frames=model.bodies)
        self.paths: Pattern = np.any(nonzero(bodies), axis=1)
        self.coupled = nonzero(pattern(model, "mass_matrix_inverse" if solves else "mass_matrix"))
        self.solves = solves
        if solves:  # the inverse of M couples all velocities of a tree
            self.paths = product(self.paths, self.coupled)
        self.moved = np.ones(model.nv, dtype=bool)
        for joint in model.joints:
            if joint.parent < 0 and isinstance(joint.type, Free) and not felt_position:
                self.moved[joint.v.start : joint.v.start + 3] = False
        self.numbers = tangent_pattern(model)

    def by_q(self, pattern: Pattern) -> Pattern:
        """Convert columns in the tangent space to columns by the numbers of q."""
        felt = self.numbers & self.moved[:, None]
        return np.stack([pattern[:, rows].any(axis=1) for rows in felt.T], axis=1)


def of_parameters(model: Model, s: Structure) -> Pattern:
    """Return the pattern of parameters of bodies and joints, by the velocities that they act on."""
    own = np.eye(model.nv, dtype=bool)
    for joint in model.joints:
        if isinstance(joint.type, Spherical):
            own[joint.v, joint.v] = True  # the stiffness acts on all three
    joints = product(own, s.coupled) if s.solves else own
    return np.concatenate([np.repeat(s.paths, 10, axis=0), *[joints] * 4])


class ConstrainedStructure(Structure):
    """The structure of a model with contacts, which couple all velocities that move them.

    ``of_rows`` (nrows, nv): the velocities that a force depends on.
    """

    def __init__(self, model: Model, contacts: Contacts, *, felt_position: bool = False) -> None:
        placed = any(x.kp > 0.0 or isinstance(x, Loop) for x in contacts)
        super().__init__(model, solves=True, felt_position=placed or felt_position)
        name = "constrained_dynamics_derivatives"
        self.coupled = nonzero(pattern(model, name, "da_dq", contacts=contacts))
        self.of_rows = nonzero(pattern(model, name, "dforces_dq", contacts=contacts))


def nonzero(places: Places) -> Pattern:
    """Return a pattern of dtau's as a mask of its dense shape."""
    mask = np.zeros(places.shape, dtype=bool)
    mask[places.coordinates] = True
    return mask


def compressed(pattern: Pattern) -> Compressed:
    """Return a pattern in CasADi's format: rows, columns, column offsets, rows of nonzeros."""
    rows, columns = pattern.shape
    if pattern.all():
        return np.array([rows, columns, 1], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(pattern.sum(axis=0))])
    return np.concatenate([[rows, columns], offsets, np.nonzero(pattern.T)[1]]).astype(np.int64)


def patterns_of_steps(
    model: Model, integrator: Integrator, contacts: Contacts | None, felt_position: bool
) -> tuple[dict[str, Pattern], dict[tuple[str, str], Pattern]]:
    """Return patterns of the derivatives of the numbers of q and v after a step."""
    if contacts is None:
        s = Structure(model, solves=True, felt_position=felt_position)
    else:
        s = ConstrainedStructure(model, contacts, felt_position=felt_position)
    nq, nv, wrenches = model.nq, model.nv, 6 * model.nbodies
    pulled = np.tile(product(s.paths, s.coupled), (6, 1))  # (6 nbodies, nv), column by column
    by_q, by_v, turning = _displaced(model)
    first = {}
    of_v = {"q": s.by_q(s.coupled), "v": s.coupled, "tau": s.coupled}
    of_v |= {"f_ext": pulled.T, "parameters": product(of_parameters(model, s), s.coupled).T}
    for name, after in of_v.items():
        # Without accelerations, only the velocities before the step displace q.
        follows = product(s.numbers.T, after) & (integrator != "euler")
        first[name] = np.concatenate([follows, after])
    first["q"][:nq] |= by_q
    first["v"][:nq] |= by_v
    first["dt"] = np.ones((nq + nv, 1), dtype=bool)
    # Pairs of velocities, torques and wrenches act through the velocities of a turning joint after
    # a step of one stage, and through the velocities of all later stages.
    bent = np.zeros(nv, dtype=bool)
    if integrator != "euler":
        bent = np.ones(nv, dtype=bool) if integrator == "rk4" else turning
    # An implicit step solves with M + h D, where D has the slope of friction at v: v meets torques.
    mixing = bent
    if integrator == "implicit":
        mixing = bent | (model.friction > 0.0) | (model.friction_speed > 0.0)
    through, mixed = s.coupled[bent], s.coupled[mixing]
    second = {
        ("q", "q"): s.by_q(s.by_q(s.coupled).T),
        ("v", "q"): s.by_q(s.coupled),
        ("v", "v"): s.coupled,
        ("tau", "q"): s.by_q(s.coupled),
        ("tau", "v"): product(mixed.T, mixed),
        ("tau", "tau"): product(through.T, through),
        ("f_ext", "q"): s.by_q(pulled),
        ("f_ext", "v"): product(pulled[:, mixing], mixed),
        ("f_ext", "tau"): product(pulled[:, bent], through),
        ("f_ext", "f_ext"): product(pulled[:, bent], pulled[:, bent].T),
        ("dt", "q"): s.by_q(np.ones((1, nv), dtype=bool)),
    }
    lengths = {"v": nv, "tau": nv, "dt": 1, "f_ext": wrenches}
    second |= {("dt", x): np.ones((1, length), dtype=bool) for x, length in lengths.items()}
    # Else linear in the length.
    second["dt", "dt"] &= integrator != "euler" or bool(turning.any())
    return first, second


def _displaced(model: Model) -> tuple[Pattern, Pattern, Pattern]:
    """Return patterns of q (+) dq by the numbers of q and by dq, and the entries of dq that turn q.

    Displacements along these entries do not add.
    """
    by_q, by_v = np.eye(model.nq, dtype=bool), tangent_pattern(model).T
    turning = np.zeros(model.nv, dtype=bool)
    for joint in model.joints:
        if isinstance(joint.type, Free | Planar | Spherical):
            positions = {Free: 3, Planar: 2, Spherical: 0}[type(joint.type)]
            by_q[joint.q, joint.q.start + positions : joint.q.stop] = True
            by_v[joint.q.start : joint.q.start + positions, joint.v] = True
            turning[joint.v] = True
    return by_q, by_v, turning
