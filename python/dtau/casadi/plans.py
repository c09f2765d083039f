"""Plan how a slot computes a function and what CasADi derives from it: `Call`, `Plan`.

A role of a function (its value, Jacobian, adjoint and the adjoint's Jacobian) calls functions of
the core, and picks numbers from their results. Which numbers is known before: arrays hold their
places, and are reshaped, transposed and cut as the numbers themselves would be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dtau._core import RawCall
from dtau.casadi.patterns import Pattern, compressed

Places = NDArray[np.int64]
ZERO, ONE = 0, 1  # places of these numbers among the given ones; the inputs' follow
Key = Any  # the name of an input, or of two
# Numbers of a call in the places of a matrix, with an axis of terms to sum; and the places of the
# given numbers that they are multiplied by.
Numbers = tuple[Places, Places | None]
Way = tuple["Call", Mapping[Key, Numbers]]
# Each group is computed by the first of its ways that has all that is wanted.
Groups = Sequence[Sequence[Way]]


def matrix_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the shape that an array has in CasADi: all axes but the last are rows."""
    if len(shape) < 2:
        return shape[0] if shape else 1, 1
    return int(np.prod(shape[:-1])), shape[-1]


def alone(places: Places) -> Numbers:
    """Return the numbers of an array, as CasADi has it, each alone in its sum."""
    return places.reshape(*matrix_shape(places.shape), 1), None


def block(places: Places, of_result: int = 1) -> Numbers:
    """Return the derivative of a result, whose axes come first, by an input.

    Rows and columns are the numbers of both as CasADi counts them, column by column.
    """
    axes = [*range(places.ndim)]
    up, down = axes[:of_result], axes[of_result:]
    size = int(np.prod(places.shape[:of_result]))
    turned = places.transpose([*up[-1:], *up[:-1], *down[-1:], *down[:-1]])
    return turned.reshape(size, -1, 1), None


class Call:
    """A call of the core: what it reads, and the places of its results, by name.

    ``given`` has the places of inputs among the given numbers; inputs with one axis more are
    inputs of several states, as are all results then. Required inputs that are not given are zero.
    """

    def __init__(
        self, call: RawCall, given: Mapping[str, Places], states: int | None = None
    ) -> None:
        self.call, self.states = call, states or 1
        self.inputs: list[tuple[bool, NDArray[np.int32]] | None] = []
        for name, shape, optional in call.inputs:
            places = given.get(name, None if optional else np.full(shape, ZERO))
            several = places is not None and places.ndim > len(shape)
            self.inputs.append(None if places is None else (several, _listed(places)))
        self.results: dict[str, Places] = {}
        first = 0
        for name, shape, _ in call.results:
            whole = shape if states is None else (states, *shape)
            size = int(np.prod(whole))
            self.results[name] = np.arange(first, first + size).reshape(whole)
            first += size


class Plan:
    """A function with one result: patterns of its derivatives, and places of what is given.

    ``shapes`` has the core's shapes of the inputs; ``first`` the patterns of the Jacobian by each,
    ``second`` the patterns of second derivatives by two. What they do not name is zero.
    """

    def __init__(
        self,
        shapes: Mapping[str, tuple[int, ...]],
        result: Pattern,
        first: Mapping[str, Pattern],
        second: Mapping[tuple[str, str], Pattern] | None,
    ) -> None:
        self.result, self.first, self.second = result, first, second
        self.inputs: dict[str, Places] = {}
        place = ONE + 1
        for name, shape in shapes.items():
            rows, columns = matrix_shape(shape)
            numbers = np.arange(place, place + rows * columns).reshape(columns, rows)
            self.inputs[name] = numbers.T.reshape(shape)
            place += rows * columns
        self.seed: Places = np.full(result.shape, ZERO)
        self.seed.T[result.T] = np.arange(place, place + np.count_nonzero(result))

    def named(self, call: Call, name: Callable[[str], str]) -> Iterator[tuple[str, Places]]:
        """Find the results of a call that have this name for one of the inputs."""
        for given in self.inputs:
            if name(given) in call.results:
                yield given, call.results[name(given)]

    def by_input(self, call: Call, part: str) -> Way:
        """Return the derivatives of one result of the core's."""
        return call, {x: block(y) for x, y in self.named(call, f"d{part}_d{{}}".format)}

    def gradient(self, call: Call) -> Way:
        """Return the gradients of a product."""
        return call, {x: alone(y) for x, y in self.named(call, "by_{}".format)}

    def hessian(self, call: Call) -> Way:
        """Return the second derivatives of a product."""
        return call, {
            (a, b): block(y) for a in self.inputs for b, y in self.named(call, f"d{a}d{{}}".format)
        }

    def roles(
        self, value: Call, places: Places, first: Groups, product: Groups, second: Groups = ()
    ) -> list[tuple[Any, ...]]:
        """Describe all roles for the core; ``places`` belong to the function's own result.

        Derivative functions never read the results that CasADi passes to them: such inputs are
        empty, so that these are not computed.
        """
        shapes = [matrix_shape(x.shape) for x in self.inputs.values()]
        ins = [np.ones(shape, dtype=bool) for shape in shapes]
        unread = [np.zeros(shape, dtype=bool) for shape in (self.result.shape, *shapes)]
        by = [self._by(x) for x in self.inputs]
        roles = [
            self._role(ins, [self.result], [[(value, {"": alone(places)})]]),
            self._role([*ins, unread[0]], by, first),
            self._role([*ins, unread[0], self.result], ins, product),
        ]
        if self.second is not None:
            outs: list[Pattern] = []
            for a, x in zip(self.inputs, by, strict=True):
                by_result = np.zeros((x.shape[1], self.result.size), dtype=bool)
                outs += [*(self._by(a, b) for b in self.inputs), by_result, x.T]
            given = [*ins, unread[0], self.result, *unread[1:]]
            roles.append(self._role(given, outs, [*first, *second], of_gradient=True))
        return roles

    def _by(self, a: str, b: str | None = None) -> Pattern:
        """Return the pattern of derivatives by one input, or by two."""
        if b is None:
            return self.first.get(a, np.zeros((self.result.size, self.inputs[a].size), dtype=bool))
        second = self.second or {}
        if (b, a) in second:
            return second[b, a].T
        return second.get((a, b), np.zeros((self.inputs[a].size, self.inputs[b].size), dtype=bool))

    def _role(
        self,
        ins: Sequence[Pattern],
        outs: Sequence[Pattern],
        groups: Groups,
        *,
        of_gradient: bool = False,
    ) -> tuple[Any, ...]:
        """Describe one role: its patterns, its calls, what is zero, and what does not exist."""
        described, made = [], set()
        for group in groups:
            ways = []
            for call, found in group:
                results: list[tuple[Any, ...]] = []
                for key, (places, factors) in found.items():
                    for k, turns in self._results(key, of_gradient=of_gradient):
                        if not outs[k].any():
                            continue
                        made.add(k)
                        chosen = [
                            x if turns else x.swapaxes(0, 1)
                            for x in (places, factors)
                            if x is not None
                        ]
                        at = outs[k].T
                        numbers = [_listed(x[at]) for x in chosen]
                        none = np.zeros(0, dtype=np.int32)
                        results.append((k, places.shape[2], *numbers, none)[:4])
                ways.append((call.call, call.states, call.inputs, results))
            described.append(ways)
        rest = [k for k, x in enumerate(outs) if x.any() and k not in made]
        # Second derivatives that patterns have and no call: what is zero is empty.
        zero, missing = ([], rest) if of_gradient else (rest, [])
        patterns = [[compressed(x) for x in each] for each in (ins, outs)]
        return *patterns, described, _listed(zero), _listed(missing)

    def _results(self, key: Key, *, of_gradient: bool) -> list[tuple[int, bool]]:
        """Return where the numbers of a key go in a role, and whether they are transposed."""
        names, row = [*self.inputs], len(self.inputs) + 2
        if not isinstance(key, tuple):
            at = names.index(key) if key else 0
            return [(at * row + row - 1, True)] if of_gradient else [(at, False)]
        a, b = map(names.index, key)
        return [(a * row + b, False)] if a == b else [(a * row + b, False), (b * row + a, True)]


def _listed(places: Any) -> NDArray[np.int32]:
    return np.ascontiguousarray(places, dtype=np.int32).reshape(-1)
