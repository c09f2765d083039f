"""Arrays that the caller gives for results: `out=` of every function, and results beyond memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import CONFIGURATIONS, FEW_ROBOTS, NEAR, ROWS, State, random_state, robot, rows
from compare import assert_same_bits, assert_same_results
from function import Function
from functions import IN_BODY_AXES
from messages import has_words, message
from selection import EACH, IN_FULL, in_turn
from trees import Array

import dtau
from dtau.registry import arrays_of

BATCHES = ((), (1,), (3,), (2, 3), (19,), (0,), (0, 3))
MARK = 7.5  # what lies in memory that must not be written

some_functions = pytest.mark.parametrize("function", IN_FULL, ids=str)
several_results = pytest.mark.parametrize(
    "function", [function for function in IN_FULL if len(function.results) > 1], ids=str
)


def full(function: Function, model: dtau.Model, batch: tuple[int, ...], x: float) -> list[Array]:
    """Arrays for all results of the function, full of the same number."""
    return [np.full(shape, x) for shape in function.shapes(model, batch)]


def as_out(arrays: Sequence[Any]) -> Any:
    """As the argument `out` takes them: one array, or a tuple of several."""
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


def name_of(function: Function, o: int) -> str:
    return f"out[{o}]" if len(function.results) > 1 else "out"


# Good buffers


@pytest.mark.parametrize(("function", "name"), in_turn(IN_BODY_AXES, FEW_ROBOTS, IN_FULL), ids=str)
def test_results_go_into_out(function: Function, name: str) -> None:
    model = robot(name)
    for batch in BATCHES:
        state = random_state(model, 1, batch)
        fresh = function.returned(model, state)
        arrays = full(function, model, batch, np.nan)
        got = function.returned(model, state, out=as_out(arrays))
        if len(arrays) == 1:
            assert got is arrays[0]
        else:
            assert type(got) is type(fresh)
            assert all(x is y for x, y in zip(arrays_of(got), arrays, strict=True))
        assert_same_results(arrays, arrays_of(fresh), f"{batch}, result")


PATTERNS = [row for row in IN_BODY_AXES if row.options.get("layout") == "pattern"]


@pytest.mark.parametrize("function", [*EACH, *PATTERNS], ids=str)
def test_results_larger_than_the_caches(function: Function) -> None:
    """Written past the caches they have the same bits, wherever they lie, and all around stays."""
    model = robot("free root, branches")
    few = random_state(model, 1, (7,))
    want = function(model, few)
    numbers = sum(x[0].size for x in want)
    which = np.arange(2**19 // numbers + 9) % 7
    many = {argument: few[argument][which] for argument in function.arguments}
    blocks = [np.full(len(which) * x[0].size + 48, MARK) for x in want]
    places = [slice(8 + 3 * o, 8 + 3 * o - 48) for o in range(len(want))]
    out = [
        block[place].reshape(len(which), *x.shape[1:])
        for block, place, x in zip(blocks, places, want, strict=True)
    ]
    for x in out:
        x[...] = np.nan
    function(model, many, out=as_out(out), threads=2)
    for x, y, block, place in zip(out, want, blocks, places, strict=True):
        assert_same_bits(x, y[which])
        assert (block[: place.start] == MARK).all()
        assert (block[place.stop :] == MARK).all()


@some_functions
def test_other_arrays_that_will_do(function: Function, tmp_path: Path) -> None:
    """A list for a tuple, rows of a larger array, a file in memory, odd strides of an axis of 1."""
    model = robot(NEAR)
    state = random_state(model, 6, (3,))
    want = function(model, state)

    arrays = full(function, model, (3,), np.nan)
    function(model, state, out=as_out(arrays) if len(arrays) == 1 else arrays)
    assert_same_results(arrays, want, "list")

    larger = full(function, model, (7,), MARK)
    function(model, state, out=as_out([x[2:5] for x in larger]))
    assert_same_results([x[2:5] for x in larger], want, "rows")
    assert all((x[:2] == MARK).all() and (x[5:] == MARK).all() for x in larger)

    shapes = function.shapes(model, (3,))
    files = [
        np.memmap(tmp_path / str(o), dtype=np.float64, mode="w+", shape=shape)
        for o, shape in enumerate(shapes)
    ]
    got = function(model, state, out=as_out(files))
    assert all(x is y for x, y in zip(got, files, strict=True))
    assert_same_results([np.array(x) for x in files], want, "memory map")

    one = {name: x[:1] for name, x in state.items()}
    odd = [np.full((4, *shape[1:]), MARK)[::4] for shape in shapes]
    function(model, one, out=as_out(odd))
    assert_same_results(odd, [x[:1] for x in want], "axis of 1")


@some_functions
def test_memory_next_to_an_input_is_free(function: Function) -> None:
    """Rows of one block: the input's, then the result's, without a gap; and the other way round."""
    model = robot(NEAR)
    for batch in ((), (3,)):
        state = random_state(model, 7, batch)
        want = function(model, state)
        for name in function.arguments:
            for result_first in (False, True):
                given, out = block_of(state[name], want[0].shape, 0, result_first)
                arrays = [out, *full(function, model, batch, np.nan)[1:]]
                got = function(model, {**state, name: given}, out=as_out(arrays))
                assert_same_results(got, want, f"beside {name}, result")
                assert_same_bits(given, state[name], name)


@some_functions
@pytest.mark.parametrize("name", ["one revolute", NEAR])
def test_broadcast_inputs_are_not_copied(function: Function, name: str) -> None:
    """With `out`, a call on one state in place of many needs no memory for the many."""
    model, count = robot(name), 5_000
    state = random_state(model, 20)
    spread = {key: np.broadcast_to(x, (count, *x.shape)) for key, x in state.items()}
    arrays = full(function, model, (count,), np.nan)
    tracemalloc.start()
    try:
        function(model, spread, out=as_out(arrays))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * count, f"{peak} bytes were allocated"
    assert_same_results([x[-1] for x in arrays], function(model, state))


# Bad buffers


def fails(
    error: type[Exception], function: Function, state: State, arrays: Sequence[Any], *words: object
) -> None:
    """The call raises, says these words, and leaves alone all that it was given."""
    before = [np.array(x, copy=True) for x in arrays if isinstance(x, np.ndarray)]
    inputs = {name: x.copy() for name, x in state.items()}
    has_words(message(error, function, robot(NEAR), state, out=as_out(arrays)), *words)
    after = [x for x in arrays if isinstance(x, np.ndarray)]
    for x, y in zip(after, before, strict=True):
        np.testing.assert_array_equal(x, y)
    for name, x in inputs.items():
        assert_same_bits(state[name], x, name)


def replaced(function: Function, batch: tuple[int, ...], o: int, x: object) -> list[Any]:
    arrays: list[Any] = full(function, robot(NEAR), batch, MARK)
    arrays[o] = x
    return arrays


@some_functions
def test_one_array_for_several_results_and_the_reverse(function: Function) -> None:
    model = robot(NEAR)
    state = random_state(model, 12, (3,))
    arrays = full(function, model, (3,), MARK)
    count = len(arrays)
    wrong: Any = tuple(arrays) if count == 1 else arrays[0]
    said = message(TypeError, function, model, state, out=wrong)
    has_words(said, "out", "array" if count == 1 else f"tuple of {count}", type(wrong).__name__)
    if count > 1:
        stacked = np.full((count, *arrays[0].shape), MARK)
        has_words(message(TypeError, function, model, state, out=stacked), "out", "ndarray")
        assert (stacked == MARK).all()
        for wrong in ((), tuple(arrays[:-1]), (*arrays, arrays[0].copy())):
            said = message(ValueError, function, model, state, out=wrong)
            has_words(said, "out", count, len(wrong))
    assert all((x == MARK).all() for x in arrays)


# Memory that is used twice


def block_of(
    x: Array, shape: tuple[int, ...], shared: int, result_first: bool = False
) -> tuple[Array, Array]:
    """A copy of an input and room for a result in one block, with some numbers in common."""
    size = int(np.prod(shape))
    block = np.full(x.size + size - shared, MARK)
    if result_first:
        out, given = block[:size].reshape(shape), block[size - shared :].reshape(x.shape)
    else:
        given, out = block[: x.size].reshape(x.shape), block[x.size - shared :].reshape(shape)
    given[...] = x
    return given, out


SHARED = [  # each argument with a result, and each result with an argument; some functions in full
    (function, o, name)
    for function in EACH
    for o in range(len(function.results))
    for k, name in enumerate(function.arguments)
    if function in IN_FULL or (k - o) % min(len(function.results), len(function.arguments)) == 0
]


@pytest.mark.parametrize(("function", "o", "name"), SHARED, ids=str)
def test_out_that_overlaps_an_argument_is_refused(function: Function, o: int, name: str) -> None:
    model = robot(NEAR)
    for batch in ((), (3,)):
        state = random_state(model, 13, batch)
        x, shape = state[name], function.shapes(model, batch)[o]
        for shared in (1, min(x.size, int(np.prod(shape)))):
            for result_first in (False, True):
                given, out = block_of(x, shape, shared, result_first)
                for flip in (False, True):  # in memory, an input may run backwards
                    if flip:
                        backwards = (..., *(slice(None, None, -1) for _ in x.shape))
                        given = given[backwards]
                        given[...] = x
                    arrays = replaced(function, batch, o, out)
                    changed = {**state, name: given}
                    fails(ValueError, function, changed, arrays, name_of(function, o), name)


@some_functions
def test_memory_of_an_input_that_is_broadcast(function: Function) -> None:
    """One state for the whole batch lies within the result of another state."""
    model, batch = robot(NEAR), (ROWS + 2,)  # of another length than any stack
    shapes = function.shapes(model, batch)
    for name in function.arguments:
        state = random_state(model, 15, batch)
        x = state[name][0]
        for o, shape in enumerate(shapes):
            out = np.full(max(int(np.prod(shape)), x.size), MARK)
            lone = out[-x.size :].reshape(x.shape)
            lone[...] = x
            arrays = replaced(function, batch, o, out[-int(np.prod(shape)) :].reshape(shape))
            forms = [np.broadcast_to(lone, (*batch, *x.shape))]
            if len(function.arguments) > 1:  # another argument has the batch's axis
                forms.append(lone)
            for given in forms:
                changed = {**state, name: given}
                fails(ValueError, function, changed, arrays, name_of(function, o), name)


@several_results
def test_out_that_overlaps_another_result_is_refused(function: Function) -> None:
    model = robot(NEAR)
    for batch in ((), (3,)):
        state = random_state(model, 16, batch)
        shapes = function.shapes(model, batch)
        for later in range(1, len(shapes)):
            for first in range(later):
                for shared in (1, min(int(np.prod(shapes[k])) for k in (first, later))):
                    for turned in (False, True):
                        blank = np.full(shapes[first], MARK)
                        x, y = block_of(blank, shapes[later], shared, turned)
                        arrays = replaced(function, batch, first, x)
                        arrays[later] = y
                        words = (f"out[{later}]", f"out[{first}]")
                        fails(ValueError, function, state, arrays, *words)


@some_functions
def test_empty_arrays_share_nothing(function: Function) -> None:
    model = robot(NEAR)
    state = random_state(model, 17, (0,))
    block = np.full(1, MARK)
    arrays = [block[:0].reshape(shape) for shape in function.shapes(model, (0,))]
    changed = {name: block[:0].reshape(x.shape) for name, x in state.items()}
    assert_same_results(function(model, changed, out=as_out(arrays)), arrays)


@some_functions
def test_out_is_left_alone_when_an_input_is_wrong(function: Function) -> None:
    """Also by a mistake in the last state of a batch, and by a wrong number of threads."""
    model = robot(NEAR)
    good = random_state(model, 18, (40,))
    arrays = full(function, model, (40,), MARK)
    for name in function.arguments:
        rest = np.s_[..., :-1, :] if name == "inputs" else np.s_[..., :-1]  # of any number
        changes: list[Array] = [good[name][rest], good[name].astype(complex)]
        if name in CONFIGURATIONS and function.name != "normalize":
            at = model.joint("free0").q
            changes.append(good[name].copy())
            changes[-1][-1, at] = 0.1
        for x in changes:
            with pytest.raises((ValueError, TypeError), match=rf"\b{name}\b"):
                function(model, {**good, name: x}, out=as_out(arrays))
    for count in (1, 40):
        state = rows(good, slice(0, count))
        some = as_out([x[:count] for x in arrays])
        with pytest.raises(ValueError, match=r"\bthreads\b"):
            function(model, state, out=some, threads=0)
    assert all((x == MARK).all() for x in arrays)


# Results beyond memory


@some_functions
def test_results_beyond_memory_raise_memory_error(function: Function) -> None:
    """No processor can address the result, whatever the system promises of memory it lacks."""
    model = robot("long chain")
    state = random_state(model, 19)
    want = function(model, state)
    for count in (10**13, 10**15):
        spread = {name: np.broadcast_to(x, (count, *x.shape)) for name, x in state.items()}
        with pytest.raises(MemoryError):
            function(model, spread)
    crossed = {name: np.broadcast_to(x, (2**32, 1, *x.shape)) for name, x in state.items()}
    last = function.arguments[-1]
    if len(function.arguments) > 1:  # the number of states is beyond integers
        crossed[last] = np.broadcast_to(state[last], (2**32, *state[last].shape))
        with pytest.raises((MemoryError, ValueError)):
            function(model, crossed)
    assert_same_results(function(model, state), want)
