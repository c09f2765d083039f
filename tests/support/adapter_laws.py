"""The laws of the array libraries, whatever a library's modes are: `check`.

A mode differentiates a function in one way of a library. What it returns is one of the kinds of
`LAWS`, which is compared with derivatives of the core's values (`adapter_law_oracle`).
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import adapter_law_cases
import adapter_law_oracle
import numpy as np
import pytest
from adapter_law_cases import CONSTANT_RESULTS, NAMED, STATES, Case, Switch
from trees import Array

# Inputs and results without a derivative, as docs/array_libraries.md says.
CONSTANT_INPUTS = {"active"}  # zeros
WITHOUT_SECOND = {"inverse_dynamics_time_derivatives", "forward_dynamics_time_derivatives"}
FIRST_ONLY = {"parameters"}  # inputs
VALUES_ONLY = {  # but in CasADi
    "frame_jacobians_derivatives",
    "frame_kinematics_time_derivatives",
    "frame_jacobians_time_derivatives",
}

SAME = 1e-11  # relative to the largest element


@dataclass(frozen=True)
class Call:
    """What a mode is asked for: a function of arrays, inputs by which, weights and directions.

    Arrays are of a batch, or of one state. A weight is None where a result has no cotangent.
    """

    case: Case
    f: Callable[..., tuple[Any, ...]]
    x: list[Array]
    wanted: tuple[int, ...]
    weights: list[Array | None]
    along: list[Array]


@dataclass(frozen=True)
class Mode:
    """A way of a library to differentiate; ``batch``: of several states at once."""

    name: str
    kind: str  # a key of LAWS
    run: Callable[[Call], Sequence[Any]]
    batch: bool = False
    each_result: bool = False  # also with a cotangent for one result alone
    every_input: bool = True  # also by each input alone
    switches: tuple[str, ...] = ()  # with these alone
    rows: tuple[str, ...] = ()  # of these alone
    twice: bool = False  # it differentiates twice, whatever its kind

    @property
    def order(self) -> int:
        return 2 if self.twice else {"value": 0, "bits": 0, "curvature": 2}.get(self.kind, 1)


class Modes(dict[str, Mode]):
    """The modes of a library, which a decorator adds."""

    def add(self, kind: str, **more: Any) -> Callable[..., Any]:
        def added(run: Callable[[Call], Sequence[Any]]) -> Callable[[Call], Sequence[Any]]:
            self[run.__name__] = Mode(run.__name__, kind, run, **more)
            return run

        return added


def near(got: Any, want: Any, tolerance: float, floor: float, what: str) -> None:
    """Compare relative to the largest element, or to what differences cannot resolve."""
    got, want = np.asarray(got, float), np.asarray(want, float)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, not {want.shape}"
    assert np.isfinite(want).all(), f"{what}: the oracle is not finite"
    error = float(np.abs(got - want).max(initial=0.0))
    bound = tolerance * float(np.abs(want).max(initial=0.0)) + floor
    assert error <= bound, f"{what}: {error:.1e} off, {bound:.1e} allowed\n{got}\n{want}"


def _by(call: Call, k: int) -> str:
    names = call.case.names
    return f"{call.case.row}, {call.case.switch.name}, by {names[k]} of {_named(call)}"


def _named(call: Call) -> str:
    return " and ".join(call.case.names[k] for k in call.wanted)


def _state(mode: Mode, x: Array) -> Array:
    return x if mode.batch else x[0]


def _value(mode: Mode, call: Call, got: Sequence[Any]) -> None:
    for k, (y, want) in enumerate(zip(got, adapter_law_oracle.values(call.case), strict=True)):
        floor = 1e-13 * adapter_law_oracle.size(call.case)
        near(y, _state(mode, want), SAME, floor, f"result {k}, {_by(call, 0)}")


def _bits(mode: Mode, call: Call, got: Sequence[Any]) -> None:
    """Values are the package's to the last bit, where quaternions have unit norm."""
    _value(mode, call, got)
    if not any("quaternions" in word for word in call.case.switch.state):
        for y, want in zip(got, adapter_law_oracle.bits(call.case), strict=True):
            assert np.array_equal(np.asarray(y), _state(mode, want)), _by(call, 0)


def _gradient(mode: Mode, call: Call, got: Sequence[Any]) -> None:
    results = tuple(r for r, w in enumerate(call.weights) if w is not None)
    for k, g in zip(call.wanted, got, strict=True):
        want = _state(mode, adapter_law_oracle.gradient(call.case, k, _varying(call.case, results)))
        if call.case.names[k] in CONSTANT_INPUTS:
            want = np.zeros_like(want)
        near(g, want, *adapter_law_oracle.bounds(call.case, 1), _by(call, k))


def _varying(case: Case, results: Iterable[int]) -> tuple[int, ...]:
    return tuple(r for r in results if (case.row, r) not in CONSTANT_RESULTS)


def _tangent(mode: Mode, call: Call, got: Sequence[Any]) -> None:
    varied = tuple(k for k in call.wanted if call.case.names[k] not in CONSTANT_INPUTS)
    bounds = adapter_law_oracle.bounds(call.case, 1)
    for r, t in enumerate(got):
        shape = _state(mode, adapter_law_oracle.values(call.case)[r]).shape
        if varied and (call.case.row, r) not in CONSTANT_RESULTS:
            want = _state(mode, adapter_law_oracle.tangent(call.case, varied, r))
        else:
            want = np.zeros(shape)
        near(t, want, *bounds, f"result {r}, {_by(call, call.wanted[0])}")


def _jacobian(mode: Mode, call: Call, got: Sequence[Any]) -> None:
    """``got`` has a block for each result and each wanted input, in this order."""
    case, states = call.case, range(STATES if mode.batch else 1)
    blocks = iter(got)
    for r, k in itertools.product(range(len(call.weights)), call.wanted):
        want = np.array([adapter_law_oracle.jacobians(case, state)[k][r] for state in states])
        if (case.row, r) in CONSTANT_RESULTS or case.names[k] in CONSTANT_INPUTS:
            want = np.zeros_like(want)
        block = np.asarray(next(blocks)).reshape(want.shape)
        near(block, want, *adapter_law_oracle.bounds(case, 1), f"result {r}, {_by(call, k)}")
    assert next(blocks, None) is None


def _curvature(mode: Mode, call: Call, got: Sequence[Any]) -> None:
    """The gradient of the weighted results, along directions of the wanted inputs."""
    case = call.case
    varied = [k for k in call.wanted if case.names[k] not in CONSTANT_INPUTS]
    columns = [adapter_law_oracle.curvature(case, j) for j in varied]
    for k, g in zip(call.wanted, got, strict=True):
        want = sum((column[k] for column in columns), np.zeros(case.state(0)[k].shape))
        if case.names[k] in CONSTANT_INPUTS:
            want = np.zeros_like(want)
        near(g, want, *adapter_law_oracle.bounds(case, 2), f"second derivative, {_by(call, k)}")


def _same(mode: Mode, call: Call, got: Sequence[Any]) -> None:
    """Pairs that are equal to rounding; a third element is the tolerance."""
    for one, other, *tolerance in got:
        other = np.asarray(other)
        near(one, other, *(tolerance or [SAME]), 1e-12, f"{mode.name}, {_by(call, 0)}")


LAWS = {
    "value": _value,
    "bits": _bits,
    "gradient": _gradient,
    "tangent": _tangent,
    "jacobian": _jacobian,
    "curvature": _curvature,
    "same": _same,
}


def refusal(case: Case, mode: Mode, wanted: Iterable[int], *, values_only: bool) -> bool:
    """Whether a derivative is documented not to exist."""
    names = {case.names[k] for k in wanted}
    if mode.order == 0:
        return False
    if values_only and case.row in VALUES_ONLY:
        return True
    return mode.order == 2 and (case.row in WITHOUT_SECOND or bool(names & FIRST_ONLY))


def subsets(case: Case, mode: Mode) -> Iterator[tuple[int, ...]]:
    """Each input alone; all; all but those without second derivatives."""
    every = tuple(range(len(case.names)))
    yield every
    if mode.order == 0:
        return
    if len(every) > 1 and mode.every_input:
        yield from ((k,) for k in every)
    rest = tuple(k for k in every if case.names[k] not in FIRST_ONLY)
    if 1 < len(rest) < len(every):
        yield rest


def _weights(case: Case, mode: Mode) -> Iterator[list[Array | None]]:
    every = [_state(mode, w) for w in adapter_law_oracle.weights(case)]
    yield list(every)
    if mode.each_result and len(every) > 1:
        for r in range(len(every)):
            yield [w if k == r else None for k, w in enumerate(every)]


def check(
    module: Any, row: str, switch: Switch, mode: Mode, seed: int, *, values_only: bool = True
) -> int:
    """Check a mode of a library by each input and by all; return how many combinations ran."""
    case = adapter_law_cases.case(module, row, switch, seed)
    f, count = case.function(module), 0
    x = case.batch() if mode.batch else case.state(0)
    along = [_state(mode, d) for d in adapter_law_oracle.directions(case)]
    for wanted in subsets(case, mode):
        for weights in _weights(case, mode):
            call = Call(case, f, x, wanted, weights, along)
            try:
                got = mode.run(call)
            except (NotImplementedError, RuntimeError) as error:  # or what it gives is right
                missing = refusal(case, mode, wanted, values_only=values_only)
                # CasADi says no more than which function failed.
                if not (missing and re.search(r"derivative|Evaluation failed", str(error))):
                    raise
            else:
                LAWS[mode.kind](mode, call, got)
            count += 1
    return count


def sample(
    every: Sequence[tuple[str, str, str]], seed: int, size: int
) -> set[tuple[str, str, str]]:
    """Draw (row, switch, mode) of the core selection: every row and every mode at least once."""
    rows, modes = sorted({x[0] for x in every}), sorted({x[2] for x in every})
    draw = random.Random(f"{seed} {' '.join(modes)}")
    drawn = {draw.choice([x for x in every if x[0] == row]) for row in rows}
    drawn |= {draw.choice([x for x in every if x[2] == mode]) for mode in modes}
    rest = [x for x in every if x not in drawn]
    return drawn | set(draw.sample(rest, max(0, size - len(drawn))))


def table(modes: Modes, rows: Sequence[str], seed: int) -> list[tuple[str, str, str]]:
    """Every (row, switch, mode)."""
    return [
        x
        for x in itertools.product(rows, NAMED, modes)
        if x[0] in (modes[x[2]].rows or rows) and x[1] in (modes[x[2]].switches or NAMED)
    ]


def tenth(modes: Modes, rows: Sequence[str], seed: int) -> list[tuple[str, str, str]]:
    """Every pair of row and mode, with a switch: a Latin square, which ten seeds complete.

    So every switch meets every mode, and every row whose modes are more than the switches.
    """
    return [
        (row, switches[(i + k + seed) % len(switches)], mode)
        for i, row in enumerate(rows)
        for k, mode in enumerate(modes)
        for switches in [modes[mode].switches or tuple(NAMED)]
        if row in (modes[mode].rows or rows)
    ]


Table = Callable[[Modes, Sequence[str], int], list[tuple[str, str, str]]]


def parametrize(
    metafunc: pytest.Metafunc, modes: Modes, rows: Sequence[str], size: int, of: Table = table
) -> None:
    """Give a test the arguments ``row``, ``switch`` and ``mode``.

    The core selection has a sample of ``size``. The rest of a tenth has the marker `laws`, and the
    rest of all the marker `full` too.
    """
    config = metafunc.config
    seed = config.getoption("laws_seed")
    some = tenth(modes, rows, seed)
    drawn, marked = sample(some, seed, size), set(some)
    chosen = of(modes, rows, seed) if config.option.all else sorted(drawn)
    marks = {True: [pytest.mark.laws], False: [pytest.mark.laws, pytest.mark.full]}
    metafunc.parametrize(
        ("row", "switch", "mode"),
        [
            pytest.param(*x, marks=[] if x in drawn else marks[x in marked], id=" | ".join(x))
            for x in chosen
        ],
    )
