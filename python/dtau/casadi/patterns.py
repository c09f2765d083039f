"""Sparsity patterns of functions from the tree, by the nq numbers of q: `Structure`, `roles`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dtau.functions.derivatives_patterns import pattern
from dtau.model.contact_kinds import Loop
from dtau.model.contacts import Contacts
from dtau.model.joints import Free, Planar, Spherical
from dtau.model.model import Model
from dtau.patterns import Pattern as Places

Pattern = NDArray[np.bool_]
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
    the world's origin. `dtau.pattern` knows which entries these are.
    """

    def __init__(self, model: Model, *, solves: bool, felt_position: bool) -> None:
        bodies = pattern(model, "frame_jacobians", frames=model.bodies)
        self.paths: Pattern = np.any(nonzero(bodies), axis=1)
        self.coupled = nonzero(pattern(model, "mass_matrix_inverse" if solves else "mass_matrix"))
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


def roles(
    inputs: Sequence[Pattern],
    result: Pattern,
    jacobian: Sequence[Pattern],
    curvature: Sequence[Sequence[Pattern]],
) -> list[tuple[list[Compressed], list[Compressed]]]:
    """Return patterns of a function, its Jacobian, adjoint and the adjoint's Jacobian.

    ``jacobian`` has the patterns of the result by each input, ``curvature`` the patterns of second
    derivatives. Derivative functions never read the result that CasADi passes to them: such inputs
    are empty, so that it is not computed.
    """

    def unread(pattern: Pattern) -> Pattern:
        return np.zeros_like(pattern)

    seed = [unread(result), result]
    unused = np.zeros((1, result.size), dtype=bool)
    second: list[Pattern] = []
    for given, by_result, row in zip(inputs, jacobian, curvature, strict=True):
        second += [*row, np.repeat(unused, given.size, axis=0), by_result.T]
    gradients = [unread(given) for given in inputs]
    each: list[tuple[list[Pattern], list[Pattern]]] = [
        (list(inputs), [result]),
        ([*inputs, seed[0]], list(jacobian)),
        ([*inputs, *seed], list(inputs)),
        ([*inputs, *seed, *gradients], second),
    ]
    return [([compressed(p) for p in ins], [compressed(p) for p in outs]) for ins, outs in each]
