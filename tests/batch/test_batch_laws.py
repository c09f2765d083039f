"""A batch is its states: random batches of every public function, with each of its arguments.

Each state has the same bits in the batch, in a batch of one, alone, in another order, with any
number of threads, in ``out=`` between pages that nobody may touch, and by a pattern. The states
beside it may be NaN, infinite, huge or zero, and hold other contacts. Cases are drawn from the
signatures and the registry (tests/support/law_switches.py), so new functions take part at once.

A failure prints the command that repeats its case. ``DTAU_LAWS=2000-2099`` draws the cases of these
seeds in place of the core's.
"""

from __future__ import annotations

import contextlib
import os
import sys
import zlib
from pathlib import Path
from typing import Any

import law_runs
import numpy as np
import pytest
from core import INSTRUCTION_SETS
from law_cases import WITHOUT_BATCHES, Case, functions
from law_check import Failure, check
from law_switches import BY_THE_CASE, Numbers, parameters_of, unknown_switches
from processes import process, sanitized

import dtau

PARTS = 4  # so that processes share the work
# Seeds for the first instruction set, which most processors use, and for each other one; the runs
# that take long have other robots, as each thousand has.
CORE = ("0-49", "0-9")
LONG = ("1000-1009", "2000-2002")
FULL = ("1010-1049", "2003-2019")

on_every_set = pytest.mark.parametrize("chosen", INSTRUCTION_SETS)
by_parts = pytest.mark.parametrize("part", range(PARTS))


def seeds(chosen: str, of_sets: tuple[str, str]) -> str:
    return of_sets[chosen != INSTRUCTION_SETS[0]]


def drawn(part: int, numbers: str) -> list[str]:
    """The cases of a part of the functions; three times as many where contacts add arguments.

    But not of `project`, which iterates in Python and takes as long as all others of its part.
    """
    first, _, last = numbers.partition("-")
    begin, count = int(first), int(last or first) + 1 - int(first)
    names = sorted(functions(), key=lambda name: zlib.crc32(name.encode()))  # in no order
    return [
        f"{name}:{seed}"
        for name in names[part::PARTS]
        for seed in range(begin, begin + count * (3 if _has_many(name) else 1))
    ]


def _has_many(name: str) -> bool:
    return "contacts" in parameters_of(name) and name != "project"


def require_the_law(chosen: str, part: int, numbers: str, **options: Any) -> law_runs.Report:
    cases = drawn(part, numbers)
    report = law_runs.run(chosen, cases, **options)
    if report.failures:
        shown = "\n".join(report.failures[:20])
        counted = f"{len(report.failures)} of {len(cases)} cases, {report.left} not tried"
        pytest.fail(f"{counted}:\n{shown}", pytrace=False)
    return report


@on_every_set
@by_parts
def test_a_batch_is_its_states(chosen: str, part: int) -> None:
    """Each function computes most of its cases, and among them is every argument."""
    numbers = os.environ.get("DTAU_LAWS") or seeds(chosen, CORE)
    report = require_the_law(chosen, part, numbers)
    for name, outcomes in report.outcomes.items():
        assert outcomes["computed"] > 0.8 * outcomes.total(), f"{name}: {outcomes}"
        if outcomes.total() >= 50:
            never = set(parameters_of(name)) - report.given[name] - set(BY_THE_CASE)
            assert not never, f"{name}: no case gives {never}"


@pytest.mark.laws
@on_every_set
@by_parts
@pytest.mark.parametrize(
    "of_sets", [pytest.param(LONG, id="some"), pytest.param(FULL, id="all", marks=pytest.mark.full)]
)
def test_a_batch_is_all_of_its_states(chosen: str, part: int, of_sets: tuple[str, str]) -> None:
    """Every state alone, for other robots: what is rare needs many cases, 25 s each."""
    require_the_law(chosen, part, seeds(chosen, of_sets), every=True)


@pytest.mark.parametrize("name", functions())
def test_a_batch_may_have_no_states(name: str) -> None:
    """Results have the axes of one state behind the empty one."""
    for case in (Case(name, seed) for seed in range(4)):
        with contextlib.suppress(ValueError):  # states that are refused
            one = case.call(case.some(slice(0, 1)))
            break
    none = case.call(case.some(slice(0, 0)))
    assert [x.shape for x in none] == [(0, *x.shape[1:]) for x in one]


# The cases


def test_every_argument_of_every_function_is_drawn() -> None:
    """A new argument needs a row in law_switches.py, or no batch would ever have it."""
    unknown = {name: unknown_switches(name) for name in functions()}
    assert not {name: arguments for name, arguments in unknown.items() if arguments}


def test_every_public_function_has_cases_or_no_batch() -> None:
    public = {x for x in dtau.__all__ if callable(getattr(dtau, x)) and x[0].islower()}
    assert public == set(WITHOUT_BATCHES) | {x for x in functions() if "." not in x}


def test_a_case_is_drawn_from_its_name_and_seed() -> None:
    first, second = Case("step", 3), Case("step", 3)
    assert first.describe() == second.describe()
    assert first.describe() != Case("step", 4).describe()


# The checks themselves


class Wrong(Case):
    """A case whose batches are computed, and then changed by `change`."""

    def change(self, results: list[Numbers]) -> None:
        raise NotImplementedError

    def call(self, keywords: dict[str, Any], **more: Any) -> list[Numbers]:
        results = super().call(keywords, **more)
        if keywords["q"].ndim > 1 and len(keywords["q"]) > 2:
            self.change(results)
        return results


class OtherSign(Wrong):
    def change(self, results: list[Numbers]) -> None:
        results[0][-1] = np.negative(results[0][-1])


class LeftOver(Wrong):
    """Every third batch has a number of the state before in a state."""

    calls = 0

    def change(self, results: list[Numbers]) -> None:
        self.calls += 1
        if self.calls % 3 == 0:
            results[0].flat[-1] = results[0].flat[0]


@pytest.mark.parametrize("kind", [OtherSign, LeftOver])
def test_a_batch_that_is_not_its_states_fails(kind: type[Case]) -> None:
    broken = 0
    for seed in range(20):
        case = kind("gravity_torque", seed)
        if case.count < 3 or len(case.batch) > 1:
            continue
        with pytest.raises(Failure):
            check(case)
        broken += 1
    assert broken > 5


@pytest.mark.skipif(sanitized(), reason="the sanitizer reports the crash in its own way")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="guards are made on Linux")
@pytest.mark.parametrize(("at_end", "number"), [(True, 5), (False, -1)])
def test_a_number_beside_a_guarded_array_is_a_crash(at_end: bool, number: int) -> None:
    text = """
from guarded import guarded
import ctypes
at_end, number = bool(int(sys.argv[1])), int(sys.argv[2])
x = guarded((5,), 0.0, at_end=at_end)
beside = ctypes.cast(x.ctypes.data, ctypes.POINTER(ctypes.c_double))
beside[0], beside[4] = 1.0, 1.0
print(x.tolist(), flush=True)
beside[number] = 1.0
"""
    done = process(text, int(at_end), number)
    assert done.stdout.strip() == "[1.0, 0.0, 0.0, 0.0, 1.0]"
    assert done.returncode < 0


def test_cases_after_a_crash_are_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text(
        "import json, os, sys\n"
        "for case in sys.argv[2:]:\n"
        "    print(json.dumps({'begins': case}), flush=True)\n"
        "    if case == 'step:1':\n"
        "        os.abort()\n"
        "    failure = 'wrong' if case == 'step:2' else ''\n"
        "    line = {'ended': case, 'outcome': 'computed', 'failure': failure, 'given': ['q']}\n"
        "    print(json.dumps(line), flush=True)\n"
    )
    monkeypatch.setattr(law_runs, "WORKER", worker)
    report = law_runs.run("any", [f"step:{seed}" for seed in range(4)])
    assert report.outcomes["step"] == {"computed": 3, "crashed": 1}
    assert report.given["step"] == {"q"}
    crashed, wrong = report.failures
    assert crashed.startswith("step:1: ")
    assert crashed.endswith(f"again: python {law_runs.COMMAND} any step:1")
    assert wrong.startswith("step:2: wrong")
