"""Some damaged files, odd calls and odd models; `python tests/fuzz/fuzz.py` runs any number."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import fuzz
import fuzz_arguments
import fuzz_files
import fuzz_models
import numpy as np
import pytest
from functions import FUNCTIONS, OTHERS

import dtau

SEED = 2024
Rng = np.random.Generator


@pytest.mark.parametrize(
    ("kind", "cases"),
    [(fuzz_files.check, 500), (fuzz_arguments.check, 1500), (fuzz_models.check, 400)],
    ids=["files", "arguments", "models"],
)
def test_a_result_or_a_clear_error(kind: fuzz.Check, cases: int) -> None:
    """Neither always: cases that are all refused would test little."""
    ends: Counter[str] = Counter()
    for number in range(cases):
        try:
            ends[kind(np.random.default_rng([SEED, number]))] += 1
        except Exception as error:
            raise AssertionError(f"case {number} of seed {SEED}") from error
    refused = ends["refused"] / cases
    assert 0.3 < refused < 0.85, ends


def test_nothing_is_left_out() -> None:
    """A new function needs a row in `FUNCTIONS`, a new joint type a few in `PARTS`."""
    functions = {name for name in dtau.__all__ if inspect.isfunction(getattr(dtau, name))}
    assert functions == {function.name for function in FUNCTIONS} | OTHERS
    for joint in dtau.JointType.__subclasses__():
        kind = joint.__name__.lower()
        if joint.nv:
            assert f"{kind} placed" in fuzz_models.PARTS
        if inspect.signature(joint).parameters:
            assert kind in fuzz_models.PARTS


# The program


def good(rng: Rng) -> str:
    return str(rng.integers(1))


def wrong(rng: Rng) -> str:
    raise AssertionError("something is wrong")


def crash(rng: Rng) -> str:
    os._exit(7)


def hang(rng: Rng) -> str:
    time.sleep(60)
    return "late"


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (wrong, "AssertionError: something is wrong"),
        (crash, "the process ended with status 7"),
        (hang, "it takes longer than 3 s"),
    ],
)
def test_the_program_sees_every_failure(bad: fuzz.Check, said: str) -> None:
    steps: list[int] = []
    ends, failure = fuzz.run([good, good, bad], 0, range(3, 9), lambda: steps.append(1), 3.0)
    assert ends == {"test_fuzzing: 0": 2}
    assert len(steps) == 2
    assert said in failure


def test_a_case_can_be_repeated() -> None:
    kinds = [lambda rng: str(rng.integers(10**9)), lambda rng: str(rng.integers(10**9))]
    cases = [fuzz.case(kinds, seed, number) for seed in (0, 1) for number in (0, 1, 2)]
    assert len(set(cases)) == 6
    assert fuzz.case(kinds, 1, 1) == cases[4]


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(Path(fuzz.__file__)), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_the_program() -> None:
    done = program("--cases", "6", "--seed", "1", "--first", "100")
    assert done.returncode == 0, done.stderr
    assert "all 6 cases went well" in done.stdout
    assert sum(int(line.split()[0]) for line in done.stdout.splitlines()[:-1]) == 6


def test_the_program_explains_itself() -> None:
    done = program("--help")
    assert done.returncode == 0
    for word in ("--cases", "--seed", "--first", "repeat"):
        assert word in done.stdout
    assert "--cases: expected at least 1, got 0" in program("--cases", "0").stderr
