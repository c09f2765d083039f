"""Every conversion takes any batch of at most 32 axes, and gives what a row of states gives."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from compare import TOLERANCE, assert_close, assert_same_bits
from conversions import CONVENTIONS, CONVERSIONS, Conversion
from selection import in_turn
from trees import Array

from dtau.conventions import Convention

kinds_in_turn = pytest.mark.parametrize(
    ("conversion", "kind"), in_turn(CONVERSIONS, CONVENTIONS), ids=str
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
        with pytest.raises(TypeError, match=rf"^{name}: expected real numbers"):
            conversion(convention, {**arrays, name: x * 1j})


def test_rows_of_unequal_length_are_named() -> None:
    convention = made("spatial_twist")
    for conversion in CONVERSIONS:
        arrays = conversion.arrays(convention, 5)
        for name, x in arrays.items():
            ragged = [*np.atleast_2d(x).tolist(), [0.0]]
            with pytest.raises(ValueError, match=rf"^{name}: expected .*got rows of unequal size"):
                conversion(convention, {**arrays, name: ragged})


# Stacks


def first_rows(conversion: Conversion, name: str, x: Array, rows: int) -> Array:
    kind = conversion.kind if name == "result" else name
    return x.take(range(rows), -3 if kind.startswith(("M_", "C_", "f_ext_")) else -2)


def needed(conversion: Conversion, name: str, rows: int) -> int:
    """The rows of another stack for so many of the result."""
    with_rates = conversion.kind.startswith(("C_", "bias_"))
    return rows if with_rates or name == "M_derivatives" else max(1, rows - 1)


@pytest.mark.parametrize("kind", CONVENTIONS)
@pytest.mark.parametrize("conversion", [x for x in CONVERSIONS if x.stacks], ids=str)
def test_rows_of_stacks(kind: str, conversion: Conversion) -> None:
    """Orders do not depend on those after them, and there are as many as the result has."""
    convention = made(kind)
    arrays, (_, *others) = conversion.arrays(convention, 8, (2,)), conversion.stacks
    (whole,) = conversion(convention, arrays)
    for rows in (1, 3):
        some = {**arrays, "result": first_rows(conversion, "result", arrays["result"], rows)}
        (got,) = conversion(convention, some)
        want = first_rows(conversion, "result", whole, rows)
        assert_close(got, want, TOLERANCE["rounding"], f"{rows} rows", floor=10.0)
        for name in others:
            least = needed(conversion, name, rows)
            cut = {**some, name: first_rows(conversion, name, arrays[name], least)}
            assert_same_bits(conversion(convention, cut)[0], got, f"{name} cut")
            short = {**some, name: first_rows(conversion, name, arrays[name], least - 1)}
            with pytest.raises(ValueError, match=rf"^{name} has shape .* at least {least}"):
                conversion(convention, short)
    none = {**arrays, "result": first_rows(conversion, "result", arrays["result"], 0)}
    with pytest.raises(ValueError, match=r"^result has shape .*rows (at least|from) 1"):
        conversion(convention, none)


# There and back

TO_DTAU = {x.kind: x for x in CONVERSIONS if x.to_dtau and "result" in x.arguments}
THERE = {x.kind: x for x in CONVERSIONS if x.kind in TO_DTAU and not x.to_dtau}


def same_values(convention: Convention, arrays: dict[str, Array]) -> dict[str, Array]:
    """Values of a state in the convention."""
    found = convention.from_dtau(arrays["q"], arrays.get("v"))._asdict()
    for name in arrays.keys() & THERE.keys() - {"v"}:
        (found[name],) = THERE[name](convention, {**arrays, "result": arrays[name]})
    return {name: found[name] for name in arrays if name in found}


@pytest.mark.parametrize("kind", CONVENTIONS)
@pytest.mark.parametrize("name", THERE)
def test_there_and_back(kind: str, name: str) -> None:
    """Errors come from rounding in the convention, whose numbers grow with the order."""
    convention = made(kind)
    arrays = THERE[name].arrays(convention, 3, (2, 3))
    for x in ("result" if name.startswith("M") else "", "M", "M_derivatives"):
        if x in arrays:
            arrays[x] = arrays[x] + arrays[x].swapaxes(-1, -2)
    (there,) = THERE[name](convention, arrays)
    state = same_values(convention, arrays)
    (back,) = TO_DTAU[name](convention, {**state, "result": there})
    rows = there.shape[2] if THERE[name].stacks else 1
    for k in range(rows):
        before, got, want = (
            first_rows(THERE[name], "result", x, k + 1) if rows > 1 else x
            for x in (there, back, arrays["result"])
        )
        floor = float(np.abs(before).max())
        assert_close(got, want, TOLERANCE["identity"], f"back to order {k}", floor=floor)
