"""Classes of results: the tuple of every call, and the attributes that arguments ask for."""

from __future__ import annotations

import copy
import inspect
import pickle
import sys
from typing import Any

import numpy as np
import pytest
from cases import random_state, robot
from compare import assert_same_bits

import dtau
from dtau import results
from dtau.registry import FUNCTIONS, POSE_FUNCTIONS, Function, arrays_of
from dtau.results._attributes import WithAttributes

ROWS = [x for x in (*FUNCTIONS.values(), *POSE_FUNCTIONS.values()) if x.result_class]
BY = ["dt", "f_ext"]


def class_of(row: Function) -> Any:
    return getattr(results, row.result_class)


def attributes(row: Function) -> list[str]:
    further = (*(x for x in row.results if x.optional), *row.force_results, *row.by_results)
    return [x.name for x in further]


WITH_ATTRIBUTES = [row for row in ROWS if attributes(row)]


@pytest.fixture(scope="module")
def lin() -> Any:
    return linearized(1)


def linearized(seed: int, **options: Any) -> Any:
    model = robot("quadruped")
    s = random_state(model, seed)
    feet = [dtau.PointContact(f"{leg}_FOOT") for leg in ("LF", "RH")]
    held: dict[str, Any] = {"contacts": dtau.Contacts(model, feet), "forces": True, "by": BY}
    return dtau.linearize_discrete(model, s["q"], s["v"], s["tau"], 0.01, **held | options)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_class_has_the_results_of_its_row(row: Function) -> None:
    """The tuple has the results of every call, and annotations the others, in their order."""
    kind = class_of(row)
    always = [x.name for x in row.results if not x.optional]
    assert list(kind._fields) == always
    own = list(inspect.get_annotations(kind))
    assert own == (attributes(row) if issubclass(kind, WithAttributes) else always)
    assert not attributes(row) or [x for x in ROWS if class_of(x) is kind] == [row]


@pytest.mark.parametrize("row", WITH_ATTRIBUTES, ids=lambda row: row.name)
def test_attributes_that_were_not_asked_for_name_their_options(row: Function) -> None:
    kind = class_of(row)
    result = kind(*kind._fields)
    for name in attributes(row):
        assert not hasattr(result, name)
        with pytest.raises(AttributeError) as caught:
            getattr(result, name)
        message = str(caught.value)
        assert message.startswith(f"{name}: give ")
        assert message.endswith(f" to dtau.{row.name}")
        for option in message.partition("give ")[2].partition(" to ")[0].split(" and "):
            argument, _, value = option.partition("=")
            assert argument in {x.name for x in row.arguments}
            assert value in ("", "True", '"dt"', '"f_ext"', '"parameters"')
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = result.nonsense


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        (results.Linearization, "residual", "contacts= to dtau.linearize"),
        (results.DiscreteLinearization, "residual", "contacts= to dtau.linearize_discrete"),
        (results.DiscreteLinearization, "forces", "forces=True to dtau.linearize_discrete"),
        (results.DiscreteLinearization, "dv_ddt", 'by="dt" to dtau.linearize_discrete'),
        (
            results.DiscreteLinearization,
            "dforces_df_ext",
            'forces=True and by="f_ext" to dtau.linearize_discrete',
        ),
        (results.StepVJP, "by_f_ext", "f_ext= to dtau.step_vjp"),
        (results.StepVJP, "by_parameters", 'by="parameters" to dtau.step_vjp'),
        (
            results.InverseDynamicsTimeDerivativesVJP,
            "by_f_ext_derivatives",
            "f_ext_derivatives= to dtau.inverse_dynamics_time_derivatives_vjp",
        ),
    ],
)
def test_messages(kind: Any, name: str, said: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(kind(*kind._fields), name)
    assert str(caught.value) == f"{name}: give {said}"


def test_options_add_attributes_in_the_order_of_the_row(lin: Any) -> None:
    assert list(vars(lin)) == attributes(FUNCTIONS["linearize_discrete"])
    fewer = linearized(1, by=None, forces=False)
    assert list(vars(fewer)) == ["residual"]
    assert len(lin) == len(fewer) == 4
    for name, x in fewer._asdict().items():
        assert_same_bits(x, getattr(lin, name))


def test_copies_and_pickles_keep_the_attributes(lin: Any) -> None:
    copies = [copy.copy(lin), copy.deepcopy(lin), lin._replace()]
    copies += [pickle.loads(pickle.dumps(lin, k)) for k in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    if sys.version_info >= (3, 13):
        copies.append(copy.replace(lin))
    for other in copies:
        assert type(other) is type(lin)
        assert list(other._asdict()) == list(lin._asdict())
        for x, y in zip(arrays_of(other), arrays_of(lin), strict=True):
            assert_same_bits(x, y)


def test_replaced_fields_and_attributes(lin: Any) -> None:
    other = lin._replace(A=1.0, residual=2.0)
    assert (other.A, other.residual) == (1.0, 2.0)
    assert other.dv_ddt is lin.dv_ddt
    assert other.B is lin.B
    assert lin.residual is not other.residual
    free = results.Linearization(1, 2, 3)._replace(residual=4)
    assert repr(free) == "Linearization(A=1, B=2, a=3, residual=4)"
    assert repr(results.Linearization(1, 2, 3)) == "Linearization(A=1, B=2, a=3)"
    with pytest.raises(ValueError, match="nonsense"):
        lin._replace(nonsense=1)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_an_earlier_result_is_room_for_all_results(shape: tuple[int, ...]) -> None:
    """Given as it is, or its arrays: the tuple first, then the attributes."""
    model = robot("quadruped")
    contacts = dtau.Contacts(model, [dtau.PointContact("LF_FOOT")])
    one, two = (random_state(model, seed, shape) for seed in (1, 2))

    def call(s: Any, out: Any = None) -> Any:
        return dtau.linearize(model, s["q"], s["v"], s["tau"], contacts=contacts, out=out)

    want, earlier = call(two), call(one)
    for room in (earlier, arrays_of(earlier), list(arrays_of(earlier))):
        for x in arrays_of(earlier):
            x[...] = np.nan
        got = call(two, room)
        assert list(vars(got)) == ["residual"]
        for x, y, z in zip(arrays_of(got), arrays_of(earlier), arrays_of(want), strict=True):
            assert x is y
            assert_same_bits(x, z)
    with pytest.raises(ValueError, match="out: expected a tuple of 4 arrays, got 3"):
        call(two, tuple(earlier))
    free = dtau.linearize(model, two["q"], two["v"], two["tau"])
    with pytest.raises(ValueError, match="out: expected a tuple of 4 arrays, got 3"):
        call(two, free)
