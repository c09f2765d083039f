"""The law of time derivatives: order 0 is the plain function, each order the rate of the last one.

Rates are by complex step in time, of the same function with stacks that are a row shorter. So all
orders are right where the plain function is, which other tests compare with other algorithms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from cases import random_q
from compare import EPS, TOLERANCE, assert_close, cancelled, solved
from complex_step import STEP, moved
from core import complex_core
from function import FRAME_AXES
from trees import Array

import dtau
from dtau.registry import FUNCTIONS, arrays_of

# The functions by those with time derivatives.
PLAIN = {
    row.links["time_derivatives"]: name
    for name, row in FUNCTIONS.items()
    if "time_derivatives" in row.links
}
FREE = [name for name in PLAIN if "contacts" not in FUNCTIONS[name].options]
CONSTANTS = ("q", "inputs", "active", "positions")
ROUNDING = 5e-15  # of rates that nothing is solved for, times their order
GROWTH = 30.0  # of errors from one order of what is solved for to the next


def switches(name: str, model: dtau.Model, seed: int) -> Iterator[dict[str, Any]]:
    """Options; those of `prescribed` are nothing, all, and some of the joints."""
    options = FUNCTIONS[name].options
    more: dict[str, Any] = {"inputs": np.ones(model.nv, bool)} if "linearize" in name else {}
    if "frames" in options:
        yield from ({"frames": list(model.frames), "axes": axes} for axes in FRAME_AXES)
    elif "prescribed" in options:
        names = [joint.name for joint in model.joints if joint.mimic is None]
        chosen = np.random.default_rng(seed).random(len(names)) < 0.5
        some = [x for x, y in zip(names, chosen, strict=True) if y]
        for joints, axes in zip(([], names, some), FRAME_AXES, strict=True):
            yield {"prescribed": joints, "f_ext_axes": axes}
    elif "f_ext_axes" in options:
        yield from ({"f_ext_axes": axes, **more} for axes in FRAME_AXES)
    else:
        yield {}


def by_name(name: str, found: Any) -> dict[str, Array]:
    """The results of a function, but for those that only an option gives."""
    if isinstance(found, tuple):
        return dict(found._asdict())  # type: ignore[attr-defined]
    return {FUNCTIONS[name].results[0].name: found}


class Motion:
    """A function along a motion: its arguments, with time derivatives up to an order.

    ``at``: arguments in place of random ones, and those that a call may leave out.
    """

    def __init__(
        self,
        name: str,
        model: dtau.Model,
        seed: int,
        order: int,
        wrenches: bool = True,
        at: Mapping[str, Array] | None = None,
        **options: Any,
    ) -> None:
        rng = np.random.default_rng(seed)
        self.name, self.model, self.order, self.options = name, model, order, options
        self.given: dict[str, Array] = {"q": random_q(model, rng)}
        self.stacks = [x.name for x in FUNCTIONS[name].inputs if x.rows is not None]
        for x in FUNCTIONS[name].inputs:
            if x.name not in CONSTANTS and (wrenches or not x.optional):
                rows = () if x.rows is None else (order + x.rows,)
                sizes = (getattr(model, n) if isinstance(n, str) else n for n in x.axes)
                size = 5.0 if "f_ext" in x.name else 1.0
                self.given[x.name] = rng.uniform(-size, size, (*rows, *sizes))
        self.given |= at or {}

    def results(self) -> dict[str, Array]:
        function = getattr(dtau, self.name)
        return by_name(
            self.name, function(self.model, **self.given, **self.options, order=self.order)
        )

    def plain(self, name: str) -> dict[str, Array]:
        """The results of a function without time derivatives."""
        first = {x: y for x, y in self.given.items() if x not in self.stacks}
        first["v"] = self.velocity
        for stack in (x for x in self.stacks if x in self.given and len(self.given[x])):
            first.setdefault(stack.removesuffix("_derivatives"), self.given[stack][0])
        if "a" not in first and len(self.given.get("v_derivatives", ())) > 1:
            first["a"] = self.given["v_derivatives"][1]
        row = FUNCTIONS[name]
        known = {x.name: first[x.name] for x in row.inputs if x.name in first}
        options = {x: y for x, y in self.options.items() if x in {z.name for z in row.arguments}}
        return by_name(name, getattr(dtau, name)(self.model, **known, **options))

    @property
    def velocity(self) -> Array:
        return self.given["v"] if "v" in self.given else self.given["v_derivatives"][0]

    def rates(self) -> list[Array]:
        """The rates of all orders but the last, by what the function gives at the time i STEP."""
        later: dict[str, Any] = dict(self.given)
        later["q"] = moved(self.model, self.given["q"], self.velocity[np.newaxis])[0]
        for x in self.stacks:
            if x in self.given:
                later[x] = self.given[x][:-1] + 1j * STEP * self.given[x][1:]
        if "v" in self.given:
            plain = self.plain(PLAIN[self.name])
            a = plain["a"] if "a" in plain else self.plain("forward_dynamics")["a"]
            later["v"] = self.given["v"] + 1j * STEP * a
        arrays = (later.get(x.name) for x in FUNCTIONS[self.name].inputs)
        options = {**self.options, "order": self.order - 1}
        found = arrays_of(complex_core(self.name, self.model, *arrays, **options))
        return [x.imag / STEP for x in found]


def check(at: Motion, least: float = 0.0, rounding: float = ROUNDING) -> None:
    """``least``: the size of what cancels where a result vanishes, if it is not the result's."""
    got, plain, name = at.results(), at.plain(PLAIN[at.name]), at.name
    exact, of_rates, growth = TOLERANCE["short sums"], TOLERANCE["complex_step"], 1.0
    if FUNCTIONS[name].solves:
        mass = dtau.mass_matrix(at.model, at.given["q"])
        exact, growth = max(exact, 10.0 * EPS * float(np.linalg.cond(mass))), GROWTH
        of_rates = solved(of_rates, mass)
    # Where frames turn, products of velocities cancel.
    exactly = not FUNCTIONS[name].solves and "frame" not in name
    for y, x in plain.items():
        close = TOLERANCE["rounding"] if y in ("rotation", "translation") else exact
        assert_close(got[y][0], x, close, f"{y} of order 0", floor=cancelled(got[y][0]))
    for (y, x), rates in zip(got.items(), at.rates(), strict=True):
        assert len(x) == len(rates) + 1
        for k, rate in enumerate(rates):
            what, floor = f"{y} of order {k + 1}", max(cancelled(x), least)
            close = (k + 1) * rounding if exactly else growth**k * of_rates
            assert_close(x[k + 1], rate, close, what, floor=floor)
    if "M" in got:
        np.testing.assert_array_equal(got["M"], got["M"].swapaxes(-1, -2))
