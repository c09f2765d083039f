"""Take derivatives for CasADi from the core's, by the numbers of q: `Recorded`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from dtau.codegen.requests import Request
from dtau.model.joints import Free, Planar
from dtau.model.model import Model
from dtau.registry import FUNCTIONS
from dtau.support.arrays import Array

Blocks = dict[tuple[str, str], Array]  # derivatives, by the names of a result or input and an input
CHECK = "residual"  # a result that is zero up to rounding errors, and so are its derivatives
SCALARS = ("restitution",)  # their derivatives are one reverse pass over the adjoint
# Functions whose Hessians cost less from the core than by reverse mode, and all of their inputs.
_HESSIANS = {
    "forward_dynamics": ("q", "v", "tau"),
    "constrained_dynamics": ("q", "v", "tau"),
    "impulse_dynamics": ("q", "v", "restitution"),
    "step": ("q", "v", "tau", "dt", "f_ext"),
}
_WEIGHTS = {
    "forward_dynamics": ("lam",),
    "constrained_dynamics": ("lam", "lam_forces"),
    "impulse_dynamics": ("lam", "lam_impulses"),
    "step": ("lam_q", "lam_v"),
}
_POSITIONS: dict[type, int] = {Free: 3, Planar: 2}  # numbers of q that turn with the body


class Recorded:
    """The core's derivatives of a recorded function.

    ``arrays`` has its inputs; q with the numbers that are given, which need no unit norm.
    """

    def __init__(
        self, functions: Any, model: Model, request: Request, arrays: Mapping[str, Array | None]
    ) -> None:
        self.functions, self.model, self.request = functions, model, request
        self.arrays = arrays
        self.sizes = {x.name: x.size for x in request.arguments}
        self.inputs = [*self.sizes]
        self.has_hessian = {*self.inputs} <= {*_HESSIANS.get(request.function, ())}
        self._by = [x for x in ("dt", "f_ext") if x in self.inputs]

    def _call(self, link: str, **more: Any) -> Any:
        """Call a derivative of the function at the same inputs."""
        name = FUNCTIONS[self.request.function].links[link]
        options = {**self.request.options, "coordinates": "numbers"}
        if "by" in FUNCTIONS[name].options:
            options["by"] = self._by
            more["inputs"] = np.ones(self.model.nv, dtype=bool)
        request = replace(self.request, function=name, options=options)
        return request.call(self.functions, self.model, {**self.arrays, **more})

    @cached_property
    def _slopes(self) -> Any:
        return self._call("derivatives")

    def jacobians(self, sizes: Mapping[str, int]) -> Blocks:
        """Return the Jacobians that the core has; ``sizes`` are the results' sizes."""
        function, known = self.request.function, {}
        if function == "step":
            return self._step_jacobians()
        row = FUNCTIONS.get(FUNCTIONS[function].links.get("derivatives", ""))
        arguments = FUNCTIONS[function].arguments
        if row is None or [x for x in row.arguments if x in arguments] != [*arguments]:
            return {}
        for result, by in product(sizes, self.inputs):
            matrix = getattr(self._slopes, f"d{result.removesuffix('_out')}_d{by}", None)
            if result == CHECK:
                known[result, by] = np.zeros((sizes[result], self.sizes[by]))
            elif matrix is not None and matrix.ndim == 2:
                known[result, by] = matrix
        return known

    def _step_jacobians(self) -> Blocks:
        nq, names = self.model.nq, self.request.results
        d, known = self._slopes, {}
        for name, rows, r in zip(names, (slice(nq), slice(nq, None)), "qv", strict=True):
            known[name, "q"], known[name, "v"] = d.A[rows, :nq].copy(), d.A[rows, nq:]
            known[name, "tau"] = d.B[rows]
            for by in self._by:
                slope = getattr(d, f"d{r}_d{by}")
                known[name, by] = _by_columns(slope.reshape(len(slope), -1), by, self.model)
        for here, idle in self._positions:
            if idle or self.request.options.get("integrator", "euler") == "euler":
                known[names[0], "q"][here, here] = np.eye(here.stop - here.start)
        return known

    @cached_property
    def _positions(self) -> list[tuple[slice, bool]]:
        """Positions among the numbers of q, and whether accelerations do not depend on them.

        A step rotates positions there and back, so that zeros and ones are recorded as sums.
        """
        after = self._slopes.A[self.model.nq :]
        joints = [x for x in self.model.joints if type(x.type) in _POSITIONS]
        places = [slice(x.q.start, x.q.start + _POSITIONS[type(x.type)]) for x in joints]
        return [(here, not after[:, here].any()) for here in places]

    def hessian(self, seeds: Sequence[Array]) -> Blocks:
        """Return second derivatives of the weighted results: one triangle of the blocks."""
        weights = dict(zip(_WEIGHTS[self.request.function], seeds, strict=False))
        found = self._call("hessian", **weights)
        if self.request.function != "step":
            pairs = product(self.inputs, self.inputs)
            named = {(a, b): getattr(found, f"d{a}d{b}", None) for a, b in pairs}
            return {pair: block for pair, block in named.items() if block is not None}
        found = found.copy()
        for here, idle in self._positions:
            if idle:
                found[here] = found[:, here] = 0.0
        names = ["q", "v", "tau", *self._by]
        ends = np.cumsum([self.sizes[x] for x in names])
        blocks = {}
        for k, rows in enumerate(np.split(found, ends[:-1])):
            for j, part in enumerate(np.split(rows, ends[:-1], axis=1)):
                if j >= k:
                    turned = _by_columns(part.T, names[k], self.model).T
                    blocks[names[k], names[j]] = _by_columns(turned, names[j], self.model)
        return blocks


def _by_columns(matrix: Array, by: str, model: Model) -> Array:
    """Count an input's numbers column by column, as CasADi does."""
    if by != "f_ext":
        return matrix
    return matrix.reshape(-1, model.nbodies, 6).swapaxes(1, 2).reshape(matrix.shape)
