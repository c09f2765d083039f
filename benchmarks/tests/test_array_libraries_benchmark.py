"""The experiment over the array libraries: what is timed runs, what is wrong is not, and claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import pytest
from benchmarks.checks import WrongResultError
from benchmarks.experiments import array_libraries, library_calls, library_contacts
from benchmarks.experiments.array_libraries import LIBRARIES
from benchmarks.experiments.library_calls import NUMPY, OURS, OWN, Ways
from benchmarks.harness import Spread
from benchmarks.optional import optional
from benchmarks.robots import Robot, generated

import dtau

pytestmark = pytest.mark.benchmarks

jax, torch = optional("jax"), optional("torch")


@pytest.fixture
def robot() -> Iterator[Robot]:
    """A robot; settings of libraries, which the experiment changes in processes of its own."""
    pytest.importorskip("pinocchio")
    x64, threads = jax and jax.config.jax_enable_x64, torch and torch.get_num_threads()
    yield generated("tree7")
    if jax:
        jax.config.update("jax_enable_x64", x64)
    if torch:
        torch.set_num_threads(threads)


def ways(name: str, robot: Robot) -> Iterator[Ways]:
    pytest.importorskip(LIBRARIES[name].package)
    return chain.from_iterable(of(robot) for of in LIBRARIES[name].ways)


@pytest.mark.parametrize("name", ["JAX", "PyTorch"])
def test_calls_beside_numpy(name: str, robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_calls, "BATCH", 3)
    monkeypatch.setattr(library_calls, "STEPS", 2)
    found = {}
    for x in ways(name, robot):
        found[x.function, x.way] = set(x.contenders)
        for contender in x.contenders.values():
            contender.run(1)
    assert {function for function, _ in found} >= set(library_calls.FUNCTIONS)
    assert all(names == {NUMPY, OURS} for names in found.values())
    asked = LIBRARIES[name].more + LIBRARIES[name].times
    words = {way for way, _ in asked if not way.endswith(("256 states", "on feet"))}
    assert words <= {way for _, way in found}


@pytest.mark.parametrize("name", ["JAX", "PyTorch"])
def test_steps_on_feet(name: str, robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_contacts, "STATES", 3)
    foot = 3, (robot.model.bodies[-1],)
    monkeypatch.setitem(library_contacts.FEET, robot.key, foot)
    found = set()
    for x in ways(name, robot):
        if x.way.endswith("on feet"):
            found.add(x.way)
            for contender in x.contenders.values():
                contender.run(1)
    assert found >= {way for way, _ in LIBRARIES[name].times if way.endswith("on feet")}


def test_calls_of_casadi(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = pytest.importorskip("benchmarks.peers.cases")
    monkeypatch.setattr(cases, "robot", lambda key: robot)
    foot = 3, (robot.model.bodies[-1],)
    monkeypatch.setitem(library_contacts.FEET, robot.key, foot)
    found, derived = {}, set()
    for x in ways("CasADi", robot):
        if x.way == "through buffer()":
            found[x.function] = set(x.contenders)
        else:
            derived.add(x.way)
            for contender in x.contenders.values():
                contender.run(1)
    places = ("of a step", "of a step on feet")
    assert derived == {f"{x} {place}" for x in ("Jacobian", "Hessian") for place in places}
    assert set(found) >= {*library_calls.VALUES, "forward_dynamics_hessian"}
    assert found["inverse_dynamics_derivatives"] == {NUMPY, OURS, OWN}


@pytest.mark.parametrize("name", ["JAX", "PyTorch"])
def test_wrong_results_are_not_timed(
    name: str, robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    right: Callable[..., Any] = dtau.inverse_dynamics

    def wrong(*arguments: Any, **options: Any) -> Any:
        return np.nextafter(right(*arguments, **options), np.inf)

    found = ways(name, robot)
    next(ways(name, robot))  # imports the library's functions, which read the signature
    monkeypatch.setattr(dtau, "inverse_dynamics", wrong)
    with pytest.raises(WrongResultError, match=r"inverse_dynamics in .*: differs"):
        list(found)


def test_claims_are_about_the_ways_that_are_asked_for() -> None:
    def row(way: str, more: float, times: float) -> dict[str, Any]:
        words = {"of": "PyTorch", "robot": "HyQ", "function": "step", "way": way}
        spreads = {"more": Spread(more, more, more), "times": Spread(times, times, times)}
        return words | {NUMPY: 1.0, OURS: 2.0} | spreads

    rows = [row("call", 59.0, 9.0), row("gradient", 99.0, 4.5), row("gradient, 256 states", 9.0, 3)]
    found = list(array_libraries.claims(rows))
    assert [claim.holds for claim in found] == [True, False, True]
    assert found[0].measured == "HyQ step 59.00"
    alone = {"of": "CasADi", "robot": "HyQ", "function": "step", "way": "through buffer()"}
    peer = {OURS: 2.0, OWN: 6.0, "by ours": Spread(3.0, 3.0, 3.0)}
    ours, theirs = array_libraries.tables([*rows, alone | peer])
    assert len(ours.header) == len(ours.rows[0]) == 7  # no columns of a peer
    assert theirs.rows[0][3:] == ["", "2.00", "", "", "6.00", "3.00x"]
