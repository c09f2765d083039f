"""Every conversion takes any batch of at most 32 axes, and gives what a row of states gives."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings

import numpy as np
import pytest
from compare import TOLERANCE, assert_close, assert_same_bits
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


@pytest.mark.parametrize("kind", CONVENTIONS)
@pytest.mark.parametrize("conversion", CONVERSIONS, ids=str)
def test_conversions_of_batches_agree_with_lone_states(kind: str, conversion: Conversion) -> None:
    """Axes broadcast, and none of them is enough."""
    convention = made(kind)
    arrays = conversion.arrays(convention, 7, (2, 3))
    got = conversion(convention, arrays)
    tolerance, floor = _agreement(conversion)
    for at in np.ndindex(2, 3):
        alone = conversion(convention, {name: x[at] for name, x in arrays.items()})
        for x, y in zip(got, alone, strict=True):
            assert_close(x[at], y, TOLERANCE[tolerance], f"{conversion} at {at}", floor=floor)
    one = arrays["q"][1, 1]
    spread = conversion(convention, arrays | {"q": one})
    want = conversion(convention, arrays | {"q": np.broadcast_to(one, arrays["q"].shape)})
    for x, y in zip(spread, want, strict=True):
        assert_same_bits(np.broadcast_to(x, y.shape), y, f"{conversion} with one q")
    for batch in ((0,), (0, 3), (2, 0, 1)):
        none = conversion(convention, conversion.arrays(convention, 3, batch))
        assert [x.shape for x in none] == [batch + y.shape[2:] for y in got]


def _agreement(conversion: Conversion) -> tuple[str, float]:
    """How many roundings lie between NumPy's products of matrices, alone and in a batch."""
    if conversion.stacks:
        return "long sums", 0.0
    if conversion.kind.endswith(("SecondDerivatives", "Hessian")):
        return "short sums", 0.0
    return "rounding", 1.0


@kinds_in_turn
def test_batches_that_do_not_fit(kind: str, conversion: Conversion) -> None:
    convention = made(kind)
    arrays = conversion.arrays(convention, 14, (2,))
    arrays["q"] = conversion.arrays(convention, 14, (3,))["q"]
    with pytest.raises(ValueError, match=r"do not broadcast.*q \(3,\).* \(2,\)"):
        conversion(convention, arrays)


@pytest.mark.parametrize("conversion", CONVERSIONS, ids=str)
def test_quaternions_without_unit_norm(conversion: Conversion) -> None:
    convention = made("spatial_twist")
    arrays = conversion.arrays(convention, 15, (2,))
    arrays["q"][1, 3:7] *= 1.01
    with pytest.raises(ValueError, match=r"quaternion of joint 'free0' at batch index \(1,\)"):
        conversion(convention, arrays)


@pytest.mark.parametrize("kind", CONVENTIONS)
def test_pickle_and_copy(kind: str) -> None:
    convention = made(kind)
    for other in (pickle.loads(pickle.dumps(convention)), copy.deepcopy(convention)):
        assert repr(other) == repr(convention)
        assert other.model == convention.model
        for conversion in CONVERSIONS:
            arrays = conversion.arrays(convention, 11, (2,))
            want = conversion(convention, arrays)
            for x, y in zip(conversion(other, arrays), want, strict=True):
                assert_same_bits(x, y, str(conversion))
    with pytest.raises(AttributeError, match="immutable"):
        convention.name = "other"  # type: ignore[misc]


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


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("kind", CONVENTIONS)
def test_nan_spoils_only_its_own_state(kind: str, bad: float) -> None:
    """Without a warning."""
    convention = made(kind)
    for conversion in CONVERSIONS:
        arrays = conversion.arrays(convention, 4, (3,))
        want = conversion(convention, {name: x.copy() for name, x in arrays.items()})
        for x in arrays.values():
            x[1] *= bad
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            results = conversion(convention, arrays)
        for x, y in zip(results, want, strict=True):
            assert_same_bits(x[[0, 2]], y[[0, 2]], str(conversion))
    q = np.full((3, convention.model.nq), np.nan)
    assert np.isnan(convention.from_dtau(q).q).all()


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
