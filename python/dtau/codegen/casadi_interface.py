"""Write the functions that CasADi's external() looks for: values, Jacobians, adjoints, Hessians.

Results are recorded in CasADi's order, column by column, without zeros. Derivatives by q are by its
numbers, as derivatives of f(normalize(q)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dtau.codegen.casadi_hessians import CHECK, SCALARS, Recorded
from dtau.codegen.limit import Budget
from dtau.codegen.recording import PIECE, recording, set_constant
from dtau.codegen.requests import Argument, Request
from dtau.codegen.text import string
from dtau.model.joints import Free, Spherical
from dtau.model.model import Model
from dtau.registry import arrays_of
from dtau.support.arrays import Array, Mask

_CONFIGURATIONS = ("q", "q0", "q1")


@dataclass(frozen=True)
class _Input:
    """An input of a CasADi function, as a matrix of recorded numbers."""

    name: str
    matrix: Array  # recorded numbers

    @property
    def vector(self) -> Array:
        """Return the numbers column by column."""
        return self.matrix.reshape(-1, order="F")


def casadi_source(
    model: Model, requests: Sequence[Request], prefix: str, order: int, budget: Budget
) -> str:
    """Return the C text of the interface of these functions, with derivatives to this order."""
    text = '\n#ifdef __cplusplus\nextern "C" {\n#endif\n'
    for request in requests:
        with recording() as recorder:
            text += _Function(recorder, model, request, prefix, budget).text(order)
    return text + "#ifdef __cplusplus\n}\n#endif\n"


class _Function:
    """One function, recorded on a tape."""

    def __init__(
        self, recorder: Any, model: Model, request: Request, prefix: str, budget: Budget
    ) -> None:
        self.recorder, self.model, self.request = recorder, model, request
        self.budget = budget
        self.name = f"{prefix}casadi_{request.name}"
        self.inputs = [self._input(x) for x in request.arguments]
        given = {x.name: x.matrix for x in self.inputs}
        for constant in request.constants:
            set_constant(recorder, request, constant.name, given[constant.name].reshape(-1))
        self.normalized = {
            x: self._normalized(given[x].reshape(-1)) for x in _CONFIGURATIONS if x in given
        }
        self.arrays = {
            name: self.normalized.get(name, given[name]).reshape(x.shape)
            if isinstance(x, Argument)
            else x
            for name, x in request.inputs.items()
        }
        raw = {name: given[name].reshape(-1) for name in self.normalized}
        self.core = Recorded(recorder.functions, model, request, {**self.arrays, **raw})
        found = request.call(recorder.functions, model, self.arrays)
        self.results = [_as_matrix(x) for x in arrays_of(found)]

    def _input(self, argument: Argument) -> _Input:
        numbers = np.zeros(argument.size)
        self.recorder.take_inputs(numbers)
        return _Input(argument.name, _as_matrix(numbers.reshape(argument.shape)))

    def _normalized(self, q: Array) -> Array:
        if not any(isinstance(joint.type, Free | Spherical) for joint in self.model.joints):
            return q
        unit: Array = self.recorder.functions.normalize(self.model, np.ascontiguousarray(q))
        return unit

    def text(self, order: int) -> str:
        """Return the C text of the function with its derivatives."""
        names = [x.name for x in self.inputs]
        inputs = [x.vector for x in self.inputs]
        shapes = [x.matrix.shape for x in self.inputs]
        no_results = [_empty(x.shape) for x in self.results]
        values = [_compressed(x) for x in self.results]
        text = self._entry(
            self.name, inputs, [_dense(x) for x in shapes], values, names, self.request.results
        )
        if order < 1:
            return text
        seeds = [np.zeros(x.size) for x in self.results]
        for seed in seeds:
            self.recorder.take_inputs(seed)
        felt = [k for k, name in enumerate(self.request.results) if name != CHECK]
        gradient = self._adjoints(
            _vector([self.results[k] for k in felt]),
            np.concatenate([seeds[k] for k in felt]),
            inputs,
        )
        jacobian = self._jacobian(gradient, seeds)
        blocks = [_compressed(block) for row in jacobian for block in row]
        unread = [*map(_dense, shapes), *no_results]
        text += self._entry(f"jac_{self.name}", inputs, unread, blocks)
        taken = [*inputs, *seeds]
        patterns = [*unread, *(_dense(x.shape) for x in self.results)]
        adjoint = [
            _compressed(x.reshape(shape, order="F"), full=True)
            for x, shape in zip(gradient, shapes, strict=True)
        ]
        text += self._entry(f"adj1_{self.name}", taken, patterns, adjoint)
        if order < 2:
            return text
        second = []
        hessian = (self._hessian_of_the_core if self.core.has_hessian else self._hessian)(
            gradient, jacobian, seeds
        )
        for numbers, row in zip(gradient, hessian, strict=True):
            by_results = [np.zeros((numbers.size, x.size)) for x in self.results]
            for block in (*row[: len(inputs)], *by_results, *row[len(inputs) :]):
                second.append(_compressed(block))
        patterns += [_empty(x) for x in shapes]
        return text + self._entry(f"jac_adj1_{self.name}", taken, patterns, second)

    def _adjoints(self, outputs: Array, seeds: Array, inputs: Sequence[Array]) -> list[Array]:
        """Return the gradient of seeds times outputs by each of the inputs."""
        to = np.zeros(sum(x.size for x in inputs))
        self.recorder.take_adjoints(outputs, seeds, np.concatenate(inputs), to)
        ends: list[int] = np.cumsum([x.size for x in inputs]).tolist()
        return [to[end - x.size : end] for end, x in zip(ends, inputs, strict=True)]

    def _row(self, number: Any, inputs: Sequence[Array]) -> list[Array]:
        """Return the gradient of one number by each of the inputs."""
        self.budget.require_recordable(self.recorder.recorded())
        return self._adjoints(np.array([number]), np.ones(1), inputs)

    def _jacobian(self, gradient: Sequence[Array], seeds: Sequence[Array]) -> list[list[Array]]:
        """Return the Jacobian of each result by each input: the core's, else by reverse mode."""
        sizes = {name: x.size for name, x in zip(self.request.results, self.results, strict=True)}
        known = self.core.jacobians(sizes)
        self.budget.require_recordable(self.recorder.recorded())
        if self.core.has_hessian:
            for x, numbers in zip(self.inputs, gradient, strict=True):
                if x.name in SCALARS:  # the adjoint is linear in the seeds
                    columns = self._row(numbers[0], seeds)
                    for result, column in zip(self.request.results, columns, strict=True):
                        known[result, x.name] = column[:, None]
        blocks = []
        for matrix, result in zip(self.results, self.request.results, strict=True):
            missing = [x for x in self.inputs if (result, x.name) not in known]
            rows = [
                self._row(x, [y.vector for y in missing])
                for x in (matrix.reshape(-1, order="F") if missing else ())
            ]
            swept = {x.name: np.array([row[k] for row in rows]) for k, x in enumerate(missing)}
            blocks.append(
                [swept[x.name] if x.name in swept else known[result, x.name] for x in self.inputs]
            )
        return blocks

    def _hessian(
        self, gradient: Sequence[Array], _: Sequence[Sequence[Array]], seeds: Sequence[Array]
    ) -> list[list[Array]]:
        """Return the Jacobian of each gradient by each input and seed, by reverse mode."""
        by = [*(x.vector for x in self.inputs), *seeds]
        found = []
        for numbers in gradient:
            rows = [self._row(x, by) for x in numbers]
            found.append([np.array([row[k] for row in rows]) for k in range(len(by))])
        return found

    def _hessian_of_the_core(
        self, gradient: Sequence[Array], jacobian: Sequence[Sequence[Array]], seeds: Sequence[Array]
    ) -> list[list[Array]]:
        """Return the same from the core's Hessian; rows of single numbers by reverse mode."""
        blocks = self.core.hessian(seeds)
        self.budget.require_recordable(self.recorder.recorded())
        for x, numbers in zip(self.inputs, gradient, strict=True):
            if x.name in SCALARS:
                rows = self._row(numbers[0], [y.vector for y in self.inputs])
                blocks |= {
                    (x.name, y.name): r[None] for y, r in zip(self.inputs, rows, strict=True)
                }
        found = []
        for k, a in enumerate(self.inputs):
            row = []
            for b in self.inputs:
                block = blocks.get((a.name, b.name))
                if block is None:
                    turned = blocks.get((b.name, a.name))
                    none = np.zeros((a.vector.size, b.vector.size))
                    block = none if turned is None else turned.T
                row.append(block)
            found.append([*row, *(x[k].T for x in jacobian)])
        return found

    def _entry(
        self,
        name: str,
        inputs: Sequence[Array],
        patterns: Sequence[list[int]],
        results: Sequence[tuple[list[int], Array]],
        names: Sequence[str] = (),
        result_names: Sequence[str] = (),
    ) -> str:
        """Return the functions that CasADi calls, and the function that computes the nonzeros."""
        body = f"{name}_nonzeros"
        inputs = [x for x in inputs if x.size]
        places = [k for k, x in enumerate(patterns) if _nonzeros(x)]
        text, operations, *_ = self.recorder.write(
            body,
            [(f"x{place}", x) for place, x in zip(places, inputs, strict=True)],
            [(f"y{k}", x) for k, (_, x) in enumerate(results) if x.size],
            False,
            PIECE,
            is_static=True,
        )
        text = self.budget.add(name, operations, text)
        longest = max((x.size for x in inputs), default=1)
        given = [f"arg[{k}] ? arg[{k}] : zeros" for k in places]
        offset = 0
        for k, (_, x) in enumerate(results):
            if x.size:
                given.append(f"res[{k}] ? res[{k}] : w + {offset}")
                offset += x.size
        separator = ",\n        "
        declared = (
            f"int {name}(const double **arg, double **res, long long *iw, double *w, int mem)"
        )
        text = (
            f"{text}{declared} {{\n    static const double zeros[{longest}] = {{0.0}};\n"
            f"    (void)iw, (void)mem, (void)w, (void)zeros, (void)arg;\n"
            f"    {body}({separator.join(given)});\n    return 0;\n}}\n"
        )
        text += _count(name, "n_in", len(patterns)) + _count(name, "n_out", len(results))
        text += _patterns(f"{name}_sparsity_in", patterns)
        text += _patterns(f"{name}_sparsity_out", [x for x, _ in results])
        if names:
            text += _names(f"{name}_name_in", names) + _names(f"{name}_name_out", result_names)
        return text + (
            f"int {name}_work(long long *sz_arg, long long *sz_res, long long *sz_iw, "
            f"long long *sz_w) {{\n    *sz_arg = {len(patterns)};\n    *sz_res = {len(results)};\n"
            f"    *sz_iw = 0;\n    *sz_w = {offset};\n    return 0;\n}}\n\n"
        )


def _as_matrix(array: Array) -> Array:
    """Return an array as a matrix: vectors as columns, all axes but the last as rows."""
    return array.reshape(-1, 1) if array.ndim < 2 else array.reshape(-1, array.shape[-1])


def _vector(matrices: Sequence[Array]) -> Array:
    return np.concatenate([x.reshape(-1, order="F") for x in matrices])


def _dense(shape: tuple[int, ...]) -> list[int]:
    return [*shape, 1]


def _empty(shape: tuple[int, ...]) -> list[int]:
    return [*shape, *[0] * (shape[1] + 1)]


def _nonzeros(pattern: Sequence[int]) -> int:
    rows, columns = pattern[:2]
    return rows * columns if len(pattern) == 3 and pattern[2] else pattern[2 + columns]


def _compressed(matrix: Array, *, full: bool = False) -> tuple[list[int], Array]:
    """Return the sparsity pattern of a matrix in CasADi's format, and its nonzeros."""
    rows, columns = matrix.shape
    nonzero: Mask = (matrix != 0.0) | full
    if nonzero.all() and rows * columns > 0:
        return _dense(matrix.shape), matrix.reshape(-1, order="F")
    ends = np.concatenate([[0], np.cumsum(nonzero.sum(axis=0))])
    at = np.nonzero(nonzero.T)
    pattern: list[int] = [rows, columns, *ends.tolist(), *at[1].tolist()]
    return pattern, np.ascontiguousarray(matrix.T[at])


def _count(name: str, what: str, count: int) -> str:
    return f"long long {name}_{what}(void) {{ return {count}; }}\n"


def _patterns(name: str, patterns: Sequence[list[int]]) -> str:
    text = f"const long long *{name}(long long i) {{\n"
    for k, pattern in enumerate(patterns):
        listed = ", ".join(map(str, pattern))
        text += f"    static const long long s{k}[{len(pattern)}] = {{{listed}}};\n"
    rows = "".join(f"        case {k}: return s{k};\n" for k in range(len(patterns)))
    return text + f"    switch (i) {{\n{rows}        default: return 0;\n    }}\n}}\n"


def _names(name: str, names: Sequence[str]) -> str:
    rows = "".join(f"        case {k}: return {string(x)};\n" for k, x in enumerate(names))
    return (
        f"const char *{name}(long long i) {{\n    switch (i) {{\n{rows}"
        "        default: return 0;\n    }\n}\n"
    )
