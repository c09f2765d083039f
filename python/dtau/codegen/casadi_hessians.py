"""Take derivatives for CasADi from the core's linearizations and Hessians: `Recorded`.

By the numbers of q, with dξ = T dq and the gradient g in the tangent space, a Hessian H becomes
T' H T + (dT/dq)' g. For the numbers of q as results, weights s become F' s, as these numbers change
at rates F ξ'; their own second derivatives by ξ, K, add J' K J.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from dtau.codegen.requests import Array, Request
from dtau.model.joints import Free, Planar, Spherical
from dtau.model.links import Joint
from dtau.model.model import Model

Blocks = dict[tuple[str, str], Array]  # second derivatives, by the names of two inputs
SCALARS = ("dt", "restitution")  # their derivatives are one reverse pass over the adjoint
# Functions whose Hessians the core has, and all of their inputs
HESSIANS = {
    "forward_dynamics": ["q", "v", "tau"],
    "constrained_dynamics": ["q", "v", "tau"],
    "impulse_dynamics": ["q", "v", "restitution"],
    "step": ["q", "v", "tau", "dt"],
}
_BY = ("q", "v", "tau")
_POSITIONS: dict[type, int] = {Free: 3, Planar: 2}  # numbers of q that turn with the body
_WEIGHTS = {
    "forward_dynamics": ("lam",),
    "constrained_dynamics": ("lam", "lam_forces"),
    "impulse_dynamics": ("lam", "lam_impulses"),
}


class Recorded:
    """A recorded function: its arrays by name, and operations on recorded numbers.

    ``row`` returns the gradients of a number by arrays. ``q`` of a method has the numbers of q as
    given, which need no unit norm.
    """

    def __init__(
        self,
        recorder: Any,
        model: Model,
        request: Request,
        arrays: Mapping[str, Array | None],
        row: Callable[[Any, Sequence[Array]], list[Array]],
    ) -> None:
        self.recorder, self.model, self.request = recorder, model, request
        self.arrays, self.row = arrays, row

    def call(self, name: str, **more: Array) -> Any:
        """Call another function of the core at the same inputs."""
        request = replace(self.request, function=name)
        return request.call(self.recorder.functions, self.model, {**self.arrays, **more})

    @cached_property
    def derivatives(self) -> Any:
        """The core's first derivatives in the tangent space; of a step, its linearization."""
        if self.request.function != "step":
            return self.call(f"{self.request.function}_derivatives")
        return self.call("linearize_discrete", inputs=np.ones(self.model.nv, dtype=bool))

    def product(self, a: Array, b: Array) -> Array:
        """Return a matrix product; NumPy cannot compute with recorded numbers."""
        to = np.zeros(len(a) * b.shape[1])
        flat = (np.ascontiguousarray(x).reshape(-1) for x in (a, b))
        self.recorder.product(*flat, len(b), to)
        return to.reshape(len(a), b.shape[1])

    def weighted_sum(self, matrices: Sequence[Array], weights: Sequence[float]) -> Array:
        """Return a weighted sum of matrices of one shape."""
        stacked = np.stack([x.reshape(-1) for x in matrices], axis=-1)
        return self.product(stacked, np.array(weights)[:, None]).reshape(matrices[0].shape)

    def to_tangent(self, q: Array) -> Array:
        """Return T, from rates of the given numbers of q to velocities."""
        matrix: Array = self.recorder.functions.tangent_map(self.model, q).to_tangent
        return matrix

    def step_jacobians(self, names: Sequence[str], q: Array) -> Blocks:
        """Return the Jacobians of a step's results by q, v and tau, by the numbers of q."""
        n, (q_after, v_after) = self.model.nv, names
        blocks = {}
        for k, by in enumerate(_BY):
            columns = self._rows(slice(None))[:, k * n : (k + 1) * n]
            if by == "q":
                columns = self.product(columns, self.to_tangent(q))
            blocks[q_after, by] = self.product(self._rates, columns[:n])
            blocks[v_after, by] = np.ascontiguousarray(columns[n:])
        explicit = self.request.options.get("integrator", "euler") == "euler"
        for joint, idle in self._positions():
            here = slice(joint.q.start, joint.q.start + _POSITIONS[type(joint.type)])
            if idle or explicit:  # the positions are rotated there and back
                blocks[q_after, "q"][here, here] = np.eye(here.stop - here.start)
        return blocks

    def _rows(self, rows: Any) -> Array:
        """Return rows of the Jacobian of a step in the tangent spaces, by q, v and tau."""
        d = self.derivatives
        return np.concatenate([d.A[rows], d.B[rows]], axis=1)

    def _positions(self) -> list[tuple[Joint, bool]]:
        """Return joints with positions, and whether accelerations do not depend on these."""
        after = self.derivatives.A[self.model.nv :]
        return [
            (joint, not after[:, joint.v.start : joint.v.start + size].any())
            for joint in self.model.joints
            if (size := _POSITIONS.get(type(joint.type), 0))
        ]

    @cached_property
    def _rates(self) -> Array:
        """F, from velocities to rates of the numbers of q after a step."""
        matrix: Array = self.recorder.functions.tangent_map(
            self.model, self.derivatives.q
        ).from_tangent
        return matrix

    def hessian(self, q: Array, seeds: Sequence[Array]) -> Blocks:
        """Return the Hessian of the weighted results by q, v and tau, by the numbers of q."""
        function = self.request.function
        if function == "step":
            blocks = self._by_numbers(q, *self._step_hessian(*seeds), symmetric=True)
            for joint, idle in self._positions():
                if idle:
                    here = slice(joint.q.start, joint.q.start + _POSITIONS[type(joint.type)])
                    blocks["q", "q"][here] = blocks["q", "q"][:, here] = 0.0
                    blocks["q", "v"][here] = blocks["q", "tau"][here] = 0.0
            return blocks
        weights = dict(zip(_WEIGHTS[function], seeds, strict=False))
        d = self.call(f"{function}_hessian", **weights)
        blocks = {("q", "q"): d.dqdq, ("q", "v"): d.dqdv}
        if function == "impulse_dynamics":
            slopes = np.concatenate([self.derivatives.dv_dq, self.derivatives.dimpulses_dq])
            return self._by_numbers(q, blocks, self.product(np.concatenate(seeds)[None], slopes))
        slope = self.call(f"{function}_vjp", **weights).by_q[None]
        return self._by_numbers(q, {**blocks, ("v", "v"): d.dvdv, ("tau", "q"): d.dtaudq}, slope)

    def _by_numbers(
        self, q: Array, blocks: Blocks, slope: Array, *, symmetric: bool = False
    ) -> Blocks:
        """Convert Hessians, whose block (q, q) is raw or symmetric, to the numbers of q."""
        to_tangent = self.to_tangent(q)
        turning = np.zeros((self.model.nv, q.size, q.size))
        for at in zip(*np.nonzero(to_tangent != 0.0), strict=True):
            turning[at] = self.row(to_tangent[at], [q])[0]
        numbers = np.ascontiguousarray(to_tangent.T)
        bend = self.product(slope, turning.reshape(self.model.nv, -1)).reshape(q.size, q.size)
        found = {}
        for (a, b), block in blocks.items():
            if a == "q":
                block = self.product(numbers, block)
            found[a, b] = self.product(block, to_tangent) if b == "q" else block
        if symmetric:  # the antisymmetric parts of both terms cancel
            found["q", "q"] = self.weighted_sum([found["q", "q"], bend, bend.T], [1.0, 0.5, 0.5])
        else:
            found["q", "q"] = self.weighted_sum([found["q", "q"], bend], [1.0, 1.0])
        return found

    def _step_hessian(self, weights: Array, lam_v: Array) -> tuple[Blocks, Array]:
        """Return the Hessian of a step in the tangent space, and its gradient by q."""
        n = self.model.nv
        lam_q = self.product(weights[None], self._rates)[0]
        inputs = np.ones(n, dtype=bool)
        hessian = self.call("step_hessian", lam_q=lam_q, lam_v=lam_v, inputs=inputs)
        joints = [x for x in self.model.joints if isinstance(x.type, Free | Planar | Spherical)]
        if joints:
            rows = np.concatenate([np.arange(x.v.start, x.v.stop) for x in joints])
            bend = self._number_curvature(joints, weights, lam_q)[np.ix_(rows, rows)]
            turned = self._rows(rows)
            bent = self.product(self.product(turned.T, bend), turned)
            hessian = self.weighted_sum([hessian, bent], [1.0, 1.0])
        slope = self.product(np.concatenate([lam_q, lam_v])[None], self._rows(slice(None))[:, :n])
        blocks = {
            (a, b): np.ascontiguousarray(hessian[k * n : (k + 1) * n, j * n : (j + 1) * n])
            for k, a in enumerate(_BY)
            for j, b in enumerate(_BY)
            if j >= k
        }
        return blocks, slope

    def _number_curvature(self, joints: Sequence[Joint], weights: Array, lam_q: Array) -> Array:
        """Return K: second derivatives by ξ of the weighted numbers of q after a step."""
        n, numbers = self.model.nv, [lam_q]
        entries: list[tuple[int, int, int, float]] = []  # row, column, and a number times a factor
        for joint in joints:
            first, last = joint.v.start, joint.v.stop
            if not isinstance(joint.type, Planar):  # x o exp(w / 2) = (1 - w^2 / 8) x + ...
                x = slice(joint.q.stop - 4, joint.q.stop)
                after = self.derivatives.q[x]
                entries += [(k, k, n - 1 + len(numbers), -0.25) for k in range(last - 3, last)]
                numbers.append(self.product(weights[None, x], after[:, None])[0])
            pairs = []
            if isinstance(joint.type, Free):  # u + w x u / 2
                for i in range(3):
                    j, k = (i + 1) % 3, (i + 2) % 3
                    pairs += [(3 + i, j, k, 0.5), (3 + i, k, j, -0.5)]
            elif isinstance(joint.type, Planar):  # the same about one axis
                pairs = [(2, 0, 1, 0.5), (2, 1, 0, -0.5)]
            for turn, move, number, factor in pairs:
                a, b = first + turn, first + move
                entries += [(a, b, first + number, factor), (b, a, first + number, factor)]
        factors = np.zeros((n * n, n - 1 + len(numbers)))
        for a, b, number, factor in entries:
            factors[a * n + b, number] = factor
        return self.product(factors, np.concatenate(numbers)[:, None]).reshape(n, n)
