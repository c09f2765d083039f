"""Some damaged files, odd calls and odd models; `python tests/fuzz/fuzz.py` runs any number."""

from __future__ import annotations

import argparse
import inspect
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import fuzz
import fuzz_arguments
import fuzz_contacts
import fuzz_conventions
import fuzz_files
import fuzz_generated
import fuzz_growth
import fuzz_models
import fuzz_pickles
import guided
import numpy as np
import pytest
from functions import FUNCTIONS, OTHERS

import dtau

pytestmark = pytest.mark.fuzz

SEED = 2024
Rng = np.random.Generator


def ends_of(kind: fuzz.Check, cases: int) -> Counter[str]:
    """How many of the cases ended how."""
    ends: Counter[str] = Counter()
    for number in range(cases):
        try:
            ends[kind(np.random.default_rng([SEED, number]))] += 1
        except Exception as error:
            raise AssertionError(f"case {number} of seed {SEED}") from error
    return ends


@pytest.mark.parametrize(
    ("kind", "cases", "most"),
    [
        (fuzz_files.check, 250, 0.85),
        (fuzz_arguments.check, 600, 0.85),
        (fuzz_models.check, 200, 0.85),
        (fuzz_conventions.check, 400, 0.85),
        (fuzz_pickles.check, 400, 0.9),
        (fuzz_growth.check, 20, 0.85),
    ],
    ids=["files", "arguments", "models", "conventions", "pickles", "growth"],
)
def test_every_case_gives_a_result_or_a_clear_error(
    kind: fuzz.Check, cases: int, most: float
) -> None:
    """Neither always: cases that are all refused would test little."""
    ends = ends_of(kind, cases)
    refused = ends["refused"] / cases
    assert 0.3 < refused < most, ends


def test_damaged_mjcf_gives_a_model_or_a_clear_error() -> None:
    pytest.importorskip("mujoco")
    import fuzz_mjcf

    test_every_case_gives_a_result_or_a_clear_error(fuzz_mjcf.check, 200, 0.85)


def test_contacts_give_a_result_or_a_clear_error() -> None:
    ends = ends_of(fuzz_contacts.check, 150)
    assert min(ends[end] for end in ("result", "singular", "refused")) > 5, ends


@pytest.mark.skipif(fuzz_generated.CC is None, reason="there is no C compiler")
def test_generated_code_compiles_or_is_refused() -> None:
    ends = ends_of(fuzz_generated.check, 60)
    assert min(ends[end] for end in ("compiled", "refused")) > 5, ends


def test_nothing_is_left_out() -> None:
    """A new function needs a row in `FUNCTIONS`, a new joint type a few in `PARTS`."""
    functions = {name for name in dtau.__all__ if inspect.isroutine(getattr(dtau, name))}
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
    ends, failure = fuzz.run([good, good, bad], 0, range(3, 9), 3.0)
    assert ends == {"test_fuzzing: 0": 2}
    assert said in failure


def test_a_case_can_be_repeated() -> None:
    kinds = [lambda rng: str(rng.integers(10**9)), lambda rng: str(rng.integers(10**9))]
    cases = [fuzz.case(kinds, seed, number) for seed in (0, 1) for number in (0, 1, 2)]
    assert len(set(cases)) == 6
    assert fuzz.case(kinds, 1, 1) == cases[4]


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(Path(fuzz.__file__)), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def counted(done: subprocess.CompletedProcess[str]) -> int:
    """How many cases ended, as the program says."""
    words = [line.split() for line in done.stdout.splitlines()]
    return sum(int(line[0]) for line in words if line[0].isdigit())


def test_the_program() -> None:
    done = program("--cases", "6", "--seed", "1", "--first", "100")
    assert done.returncode == 0, done.stderr
    assert "all 6 cases went well" in done.stdout
    assert counted(done) == 6
    assert re.search(r"^rate: \d+ cases a second$", done.stdout, re.M)


def test_the_program_explains_itself() -> None:
    done = program("--help")
    assert done.returncode == 0
    for word in ("--cases", "--kinds", "--seed", "--first", "repeat"):
        assert word in done.stdout
    assert "--cases: expected at least 1, got 0" in program("--cases", "0").stderr
    assert "--kinds: expected some of files, " in program("--kinds", "files,x").stderr


def test_kinds_can_be_chosen() -> None:
    chosen = ("--kinds", "pickles,contacts", "--seed", "1", "--first", "0")
    done = program(*chosen, "--cases", "4")
    assert done.returncode == 0, done.stderr
    ended = [line.split()[1] for line in done.stdout.splitlines() if line.split()[0].isdigit()]
    assert set(ended) == {"pickles:", "contacts:"}


@pytest.mark.parametrize("kinds", [fuzz.USUAL, ("pickles", "contacts")])
def test_a_failure_says_how_to_repeat_it(kinds: tuple[str, ...]) -> None:
    said = fuzz.repeating(argparse.Namespace(kinds=kinds, seed=4), 7)
    again = " --kinds pickles,contacts" if kinds != fuzz.USUAL else ""
    assert said == f"python {sys.argv[0]}{again} --seed 4 --first 7 --cases 1"


# The guided one: without atheris, which is not needed here, only what it says and what it checks


def test_the_guided_program_explains_itself() -> None:
    command = [sys.executable, guided.__file__]
    done = subprocess.run([*command, "--help"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0
    for word in ("--runs", "--seconds", "--corpus", "pip install atheris", "build/fuzz/corpus"):
        assert word in done.stdout
    blocked = "import sys; sys.modules['atheris'] = None; sys.argv = ['guided.py']; import guided; "
    done = subprocess.run(
        [sys.executable, "-c", blocked + "sys.exit(guided.main())"],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 2
    assert "pip install atheris" in done.stderr


def test_what_the_guided_program_runs() -> None:
    checked = guided.checker()
    for text in guided.seeds():
        assert checked(text) == "model"
    for data in (b"", b"\0", b"\1<", b"\2/etc", b"\3<robot name='x'/>", bytes(range(256))):
        assert checked(data) == "refused"
    rng = np.random.default_rng(0)
    changed = {guided.changed(text, 5000, int(rng.integers(2**32))) for text in guided.seeds()}
    assert all(len(data) <= 5000 for data in changed)
