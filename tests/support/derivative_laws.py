"""The law of derivatives: the functions that a row links are its derivatives, by complex step.

The names of results say what they are. ``da_dtau`` is the Jacobian of ``a`` by ``tau``, ``da`` the
sum of the Jacobians of ``a`` times directions, and ``by_tau`` of weights times Jacobians.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from cases import State
from compare import SMALL, TOLERANCE, assert_close, assert_same_bits, cancelled, solved
from complex_step import STEP, moved
from core import complex_core
from trees import Array

import dtau
from dtau.registry import FUNCTIONS, arrays_of

DYNAMICS = ("inverse_dynamics", "forward_dynamics")
WITH_CONTACTS = ("constrained_dynamics", "impulse_dynamics")
OF_CONTACTS = 1e-10  # values solve with J M^-1 J^T
OF_HESSIANS_WITH_CONTACTS = 1e-11
# Links whose function gives the Jacobian by one input.
BY_ONE = {"wrench_derivatives": "f_ext", "parameter_derivatives": "parameters"}


class Point:
    """A function at a state: its Jacobians, and what their derivatives may be off by.

    ``state`` has directions and weights, too. Inputs that a call may leave out are those of
    ``given``.
    """

    def __init__(
        self, name: str, model: dtau.Model, state: State, given: Iterable[str] = (), **options: Any
    ) -> None:
        self.row, self.model, self.options = FUNCTIONS[name], model, options
        self.state = state
        kept = (x for x in self.row.inputs if not x.optional or x.name in given)
        self.inputs = {x.name: np.asarray(state[x.name]) for x in kept}
        self.by = tuple(self.inputs)  # by which derivatives are checked
        self._jacobians: dict[str, dict[str, Array]] = {}

    @classmethod
    def with_contacts(
        cls,
        name: str,
        contacts: dtau.Contacts,
        state: State,
        seed: int = 0,
        *,
        more: Iterable[str] = (),
        **options: Any,
    ) -> Point:
        """Of contacts that are all active, or those of ``state["active"]``; random weights."""
        weights = np.random.default_rng(seed).uniform(-1.0, 1.0, contacts.nrows)
        state = {**state, "lam_forces": weights, "lam_impulses": weights}
        given = [x for x in ("f_ext", "active") if state.get(x) is not None]
        return cls(name, contacts.model, state, (*given, *more), contacts=contacts, **options)

    def jacobians(self, by: str) -> dict[str, Array]:
        """The Jacobian of each result by an input, both as vectors."""
        if by not in self._jacobians:
            x = self.inputs[by]
            if by == "q":
                points = moved(self.model, x, np.eye(self.model.nv))
            else:
                points = x + 1j * STEP * np.eye(x.size).reshape(-1, *x.shape)
            results = arrays_of(self._complex(**{by: points}))
            names = [result.name for result in self.row.results]
            self._jacobians[by] = {
                y: np.reshape(found.imag / STEP, (len(points), -1)).T
                for y, found in zip(names, results, strict=True)
            }
        return self._jacobians[by]

    def _complex(self, **changed: Any) -> Any:
        given = {**self.inputs, **changed}
        if changed:  # of a stack beside a batch, the axis of the batch
            stacks = {x.name for x in self.row.inputs if x.rows is not None}
            kept = (stacks & given.keys()) - changed.keys()
            given |= {x: given[x][np.newaxis] for x in kept}
        arrays = (given.get(x.name) for x in self.row.inputs)
        return complex_core(self.row.name, self.model, *arrays, **self.options)

    @cached_property
    def value(self) -> Array:
        """The first result."""
        found: Array = np.asarray(arrays_of(self._complex())[0]).real
        return found

    @cached_property
    def tolerance(self) -> float:
        if self.row.name in WITH_CONTACTS:
            return OF_CONTACTS
        if self.row.name == "forward_dynamics":
            return solved(TOLERANCE["complex_step"], self._mass)
        return TOLERANCE["complex_step"]

    @property
    def _mass(self) -> Array:
        parameters = self.inputs.get("parameters")
        return dtau.mass_matrix(self.model, self.inputs["q"], parameters=parameters)

    @cached_property
    def floor(self) -> float:
        """The size of the terms that cancel where a Jacobian vanishes."""
        name = self.row.name
        if name in WITH_CONTACTS:
            return 1.0
        if name == "frame_jacobians":  # products of two of its numbers
            return float(np.abs(self.value).max() ** 2)
        if name not in DYNAMICS:
            return max(cancelled(x) for by in self.inputs for x in self.jacobians(by).values())
        least = cancelled(self._mass)
        if name == "forward_dynamics":
            # Where a body turns with all that acts on it these terms are as large as a.
            inverse = self.jacobians("tau")["a"]
            least = max(cancelled(inverse), 0.1 * float(np.abs(self.value).max()))
        if self.options.get("f_ext_axes", "body") != "body":  # wrenches turn with q
            by_wrenches = next(iter(self.jacobians("f_ext").values()))
            least = max(least, cancelled(by_wrenches), cancelled(self.inputs["f_ext"]))
        return least

    def call(self, link: str, **more: Any) -> dict[str, Array]:
        """The results of a function that the row links, by their names."""
        row = FUNCTIONS[self.row.links[link]]
        known = {x.name for x in row.arguments}
        given = {key: x for key, x in (self.inputs | self.options).items() if key in known}
        if "joint_parameters" in known and "parameters" not in known:
            given["joint_parameters"] = self.inputs["parameters"].size > 10 * self.model.nbodies
        if "by" in known and "parameters" in self.inputs:
            given["by"] = "parameters"
        found = getattr(dtau, row.name)(self.model, **given, **more)
        if not isinstance(found, tuple):
            return {row.results[0].name: found}
        return {**found._asdict(), **getattr(found, "__dict__", {})}

    def further(self, link: str) -> list[str]:
        """The inputs of such a function beside the row's: directions or weights."""
        own = {x.name for x in self.row.inputs}
        return [x.name for x in FUNCTIONS[self.row.links[link]].inputs if x.name not in own]


def check(point: Point, tolerance: float | None = None) -> None:
    """Check first derivatives and products with them; ``tolerance``: in place of the usual one."""
    if tolerance is not None:
        point.tolerance = tolerance
    for law in (_jacobians, _by_one, _along, _weighed):
        law(point)


def _names(point: Point) -> Iterator[tuple[str, str]]:
    return product([y.name for y in point.row.results], point.by)


def _jacobians(point: Point) -> None:
    if "derivatives" not in point.row.links:
        return
    found = point.call("derivatives")
    for y, x in _names(point):
        got = found.get(f"d{y}_d{x}")
        if got is not None:
            want = point.jacobians(x)[y].reshape(got.shape)
            assert_close(got, want, point.tolerance, f"d{y}_d{x}", floor=point.floor)
            if point.row.name == "frame_jacobians":  # in the exponential chart of q
                (mean,) = point.call("derivatives", symmetric=True).values()
                want = 0.5 * (want + np.swapaxes(want, -1, -2))
                assert_close(mean, want, point.tolerance, "symmetric", floor=point.floor)
                assert np.array_equal(mean, np.swapaxes(mean, -1, -2))


def _by_one(point: Point) -> None:
    links = {link: x for link, x in BY_ONE.items() if link in point.row.links}
    for link, x in links.items():
        if x in point.by:
            (got,) = point.call(link).values()
            (want,) = point.jacobians(x).values()
            floor = cancelled(want) + SMALL if x == "f_ext" else 0.0
            assert_close(got, want.reshape(got.shape), point.tolerance, f"by {x}", floor=floor)


def _along(point: Point) -> None:
    """Products with directions of all inputs."""
    links = [link for link in ("jvp", "parameter_jvp") if link in point.row.links]
    for link in links:
        directions = {x: point.state[x] for x in point.further(link) if x[1:] in point.inputs}
        for x in directions:
            if x[1:] not in point.by:
                directions[x] = np.zeros_like(directions[x])
        kept = {x[1:]: d.ravel() for x, d in directions.items() if x[1:] in point.by}
        for name, got in (point.call(link, **directions) if kept else {}).items():
            y = name[1:] if link == "jvp" else point.row.results[0].name
            pairs = [(point.jacobians(x)[y], d) for x, d in kept.items()]
            terms = sum(np.abs(J) @ np.abs(d) for J, d in pairs)
            floor = _floor(point, [*kept], [J for J, _ in pairs], terms)
            want = sum(J @ d for J, d in pairs)
            assert_close(got.ravel(), want, point.tolerance, f"{link} of {y}", floor=floor)


def _weighed(point: Point) -> None:
    """Products of weights of all results."""
    links = [link for link in ("vjp", "parameter_vjp") if link in point.row.links]
    for link in links:
        if link == "parameter_vjp" and "parameters" not in point.inputs:
            continue
        lam = {x: point.state[x] for x in point.further(link)}
        results = [y.name for y in point.row.results[: len(lam)]]
        by = {name.removeprefix("by_"): x for name, x in point.call(link, **lam).items()}
        found = by.items() if link == "vjp" else [("parameters", *by.values())]
        for x, got in ((x, got) for x, got in found if x in point.by):
            pairs = [(point.jacobians(x)[y], w) for y, w in zip(results, lam.values(), strict=True)]
            terms = sum(np.abs(J.T) @ np.abs(w) for J, w in pairs)
            floor = _floor(point, [x], [J for J, _ in pairs], terms)
            if x == "f_ext" and point.row.name in DYNAMICS:
                floor = float(np.max(terms))
            want = sum(w @ J for J, w in pairs).reshape(got.shape)
            assert_close(got, want, point.tolerance, f"{link} by {x}", floor=floor)


def _floor(point: Point, by: list[str], jacobians: list[Array], terms: Any) -> float:
    """The size of what cancels in a product."""
    if by == ["parameters"]:
        return max(float(np.abs(J).max(initial=0.0)) for J in jacobians)
    if point.row.name in WITH_CONTACTS:
        return point.floor
    return max(point.floor, float(np.max(terms)))


def check_second(point: Point, tolerance: float | None = None) -> None:
    """Check second derivatives and Hessians, by complex step of the first derivatives."""
    first = Point(
        point.row.links["derivatives"], point.model, point.state, point.inputs, **point.options
    )
    lam = [point.state[x] for x in point.further("hessian")]
    weights = dict(zip(point.further("hessian"), lam, strict=True))
    results = [y.name for y in point.row.results[: len(lam)]]

    def tensors(x: str, z: str) -> list[Array]:
        """The derivatives by z of the Jacobians by x."""
        nv, found = point.model.nv, first.jacobians(z)
        return [found[f"d{y}_d{x}"].reshape(-1, nv, nv) for y in results]

    pairs = [("q", "q"), ("q", "v"), ("v", "v")]
    pairs += [(x, "q") for x in ("a", "tau") if x in point.inputs]
    want = {pair: tensors(*pair) for pair in pairs}
    floor, of_hessian = _second_floors(point, want, lam[0])
    of_tensors = of_hessians = tolerance or point.tolerance
    if point.row.name in WITH_CONTACTS and tolerance is None:
        of_hessians = OF_HESSIANS_WITH_CONTACTS
    # Tensors with contacts and Hessians come from the same numbers, so they agree more closely.
    closer, least = (TOLERANCE["identity"], 0.0) if tolerance is None else (1e-9, 1.0)
    plain: dict[str, Array] = {}
    for symmetric in (False, True):
        if symmetric:  # in the exponential chart of q
            want["q", "q"] = [0.5 * (x + np.swapaxes(x, 1, 2)) for x in want["q", "q"]]
        found = point.call("second_derivatives", symmetric=symmetric)
        hessian = point.call("hessian", symmetric=symmetric, **weights)
        both = {**found, **{name: x[None] for name, x in hessian.items()}}
        if symmetric:
            _same_but_symmetric(both, plain)
        plain = both
        for (x, z), blocks in want.items():
            for y, block in zip(results, blocks, strict=True):
                if (name := f"d2{y}_d{x}d{z}") in found:
                    assert_close(found[name], block, of_tensors, name, floor=floor)
            if (name := f"d{x}d{z}") in hessian:
                weighed = sum(np.tensordot(w, x, 1) for w, x in zip(lam, blocks, strict=True))
                assert_close(hessian[name], weighed, of_hessians, name, floor=of_hessian)
            if name in hessian and point.row.name in WITH_CONTACTS:
                own = [found[f"d2{y}_{name}"] for y in results]
                weighed = sum(np.tensordot(w, x, 1) for w, x in zip(lam, own, strict=True))
                assert_close(hessian[name], weighed, closer, f"{name} of tensors", floor=least)
        for y, block in zip(results, tensors("v", "q"), strict=True):
            name, turned = f"d2{y}_dqdv", np.swapaxes(block, 1, 2)
            assert_close(found[name], turned, of_tensors, f"{name}, turned", floor=floor)


def _same_but_symmetric(chart: dict[str, Array], plain: dict[str, Array]) -> None:
    """In the exponential chart derivatives by q twice are symmetric, the others as without."""
    for name, x in chart.items():
        if not name.endswith("dqdq"):
            assert_same_bits(x, plain[name], name)
        elif x.ndim == 3:
            assert_same_bits(x, np.ascontiguousarray(np.swapaxes(x, 1, 2)), name)


def _second_floors(
    point: Point, want: dict[tuple[str, str], list[Array]], lam: Array
) -> tuple[float, float]:
    """The sizes of what cancels in tensors, and in their sums with weights."""
    if point.row.name in WITH_CONTACTS:
        return 1.0, 1.0
    floor = max(cancelled(x) for blocks in want.values() for x in blocks)
    (dqdq,) = want["q", "q"]
    terms = float(np.einsum("i,ijk->jk", np.abs(lam), np.abs(dqdq)).max())
    if point.options.get("f_ext_axes", "body") != "body":
        floor = max(SMALL, floor, cancelled(point.inputs["f_ext"]))
        return floor, terms + floor
    if point.row.name == "forward_dynamics":
        return max(SMALL, cancelled(dqdq)), terms
    return floor, 10.0 * floor
