"""Every conversion takes any batch of at most 32 axes, and gives what a row of states gives."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from compare import assert_same_bits
from conversions import CONVENTIONS, CONVERSIONS, Conversion
from selection import in_turn

from dtau.conventions import Convention

kinds_in_turn = pytest.mark.parametrize(
    ("conversion", "kind"),
    in_turn(CONVERSIONS, CONVENTIONS),
    ids=str,
)


def made(kind: str) -> Convention:
    if kind in ("pinocchio", "mujoco"):
        pytest.importorskip(kind)
    return CONVENTIONS[kind]()


def test_the_table_is_complete() -> None:
    methods = {name for name, _ in inspect.getmembers(Convention, inspect.isfunction)}
    public = {name for name in methods if not name.startswith("_")}
    assert {"convert", *(c.kind for c in CONVERSIONS if c.is_state)} == public


@pytest.mark.parametrize("kind", CONVENTIONS)
@pytest.mark.parametrize("conversion", CONVERSIONS, ids=str)
def test_conversions_take_32_batch_axes(kind: str, conversion: Conversion) -> None:
    convention = made(kind)
    arrays = conversion.arrays(convention, 1, (3,))
    want = conversion(convention, arrays)
    for axes in range(29, 33):
        batch = (*(1,) * (axes - 4), 3, *(1,) * 3)
        many = {name: x.reshape(batch + x.shape[1:]) for name, x in arrays.items()}
        for x, y in zip(conversion(convention, many), want, strict=True):
            assert_same_bits(x, y.reshape(batch + y.shape[1:]), f"{axes} axes")
        # one argument alone has them
        some = {name: x[1] for name, x in arrays.items()} | {"q": many["q"]}
        row = {name: x[1] for name, x in arrays.items()} | {"q": arrays["q"]}
        for x, y in zip(conversion(convention, some), conversion(convention, row), strict=True):
            assert_same_bits(x, y.reshape(batch + y.shape[1:]), f"{axes} axes of q")
    for name, x in arrays.items():
        many = arrays | {name: x.reshape((1,) * 32 + x.shape)}
        with pytest.raises(ValueError, match=rf"^{name} has 33 batch axes, expected at most 32"):
            conversion(convention, many)


@kinds_in_turn
def test_no_states(kind: str, conversion: Conversion) -> None:
    convention = made(kind)
    shapes = [x.shape for x in conversion(convention, conversion.arrays(convention, 3))]
    for batch in ((0,), (0, 3), (2, 0, 1)):
        arrays = conversion.arrays(convention, 3, batch)
        assert [x.shape for x in conversion(convention, arrays)] == [batch + s for s in shapes]


@kinds_in_turn
def test_results_are_new_arrays(kind: str, conversion: Conversion) -> None:
    convention = made(kind)
    arrays = conversion.arrays(convention, 7, (2,))
    before = {name: x.copy() for name, x in arrays.items()}
    for x in conversion(convention, arrays):
        assert x.flags.writeable
        assert not any(np.shares_memory(x, y) for y in arrays.values())
    for name, x in arrays.items():
        assert_same_bits(x, before[name], name)


def test_numbers_without_end_give_nan_without_a_warning() -> None:
    for kind in ("spatial_twist", "mixed_twist", "mixed wrenches", "world wrenches"):
        convention = made(kind)
        for conversion in CONVERSIONS:
            arrays = conversion.arrays(convention, 4, (2,))
            want = conversion(convention, {name: x.copy() for name, x in arrays.items()})
            for x in arrays.values():
                x[0] *= np.inf
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                results = conversion(convention, arrays)
            for x, y in zip(results, want, strict=True):
                assert_same_bits(x[1], y[1], str(conversion))


@kinds_in_turn
def test_shapes_that_do_not_fit(kind: str, conversion: Conversion) -> None:
    convention = made(kind)
    arrays = conversion.arrays(convention, 6)
    for name, x in arrays.items():
        if name == "result.B":  # it has other columns for other inputs
            continue
        wrong = {**arrays, name: x[..., :-1]}
        with pytest.raises(ValueError, match=rf"^{name} has shape .*expected \(\.\.\., "):
            conversion(convention, wrong)


def test_rows_of_unequal_length_are_named() -> None:
    convention = made("spatial_twist")
    for conversion in CONVERSIONS:
        arrays = conversion.arrays(convention, 5)
        for name, x in arrays.items():
            ragged = [*np.atleast_2d(x).tolist(), [0.0]]
            with pytest.raises(ValueError, match=rf"^{name}: expected .*got rows of unequal size"):
                conversion(convention, {**arrays, name: ragged})
