"""Compilers of the benchmarks: a missing one skips rows, one that fails is a failure."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from benchmarks import compilers, complex_step, limits, optional
from benchmarks.__main__ import main
from benchmarks.baselines import library
from benchmarks.checks import UnavailableError
from benchmarks.compilers import CompilationError
from benchmarks.experiment import experiments
from benchmarks.experiments.second_contenders import tensors
from compare import TOLERANCE, assert_close

import dtau

pytestmark = pytest.mark.benchmarks

needs_cxx = pytest.mark.skipif(not compilers.cxx_compilers(), reason="there is no C++ compiler")


def program(text: str) -> list[str]:
    """A command that says this on stderr, and fails."""
    return [sys.executable, "-c", f"import sys; sys.exit({text!r})"]


def test_the_first_error_of_a_compiler_is_said() -> None:
    said = "In file included from a.cpp:\nb.hpp:3: error: no for_blocks\nb.hpp:9: error: more"
    with pytest.raises(CompilationError, match=r"fails: b\.hpp:3: error: no for_blocks$"):
        compilers.run(program(said))
    with pytest.raises(CompilationError, match="fails: exit status 1"):
        compilers.run(program("nothing more"))
    assert compilers.run([sys.executable, "-c", "print(input())"], "given") == "given\n"


def test_the_end_of_memory_is_no_error_of_the_code() -> None:
    for said in (
        "cc1: out of memory allocating 65536 bytes after a total of 1310720 bytes",
        "virtual memory exhausted: Cannot allocate memory",
        "gcc: fatal error: Killed signal terminated program cc1",
    ):
        with pytest.raises(MemoryError, match=r"memory|Killed"):
            compilers.run(program(said))
    with pytest.raises(CompilationError, match="memory_order"):
        compilers.run(program("a.cpp:1: error: 'memory_order' was not declared"))


def test_a_compiler_that_is_missing_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "cxx_compilers", dict)
    with pytest.raises(UnavailableError, match=r"^there is no clang\+\+ and no g\+\+$"):
        compilers.cxx_compiler("clang++", "g++")
    monkeypatch.setattr(compilers, "cxx_compilers", lambda: {"/usr/bin/g++-13": "g++ 13"})
    assert compilers.cxx_compiler("clang++", "g++") == "/usr/bin/g++-13"
    monkeypatch.setenv("CC", "no_such_compiler -m64")
    assert compilers.c_compiler() == ()


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Put a line of C++ before all sources of the baselines."""

    def breaks(line: str) -> None:
        header = tmp_path / "broken.hpp"
        header.write_text(f"{line}\n", encoding="utf-8")
        monkeypatch.setattr(library, "FLAGS", (*library.FLAGS, "-include", str(header)))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        library._library.cache_clear()  # of tests before this one

    yield breaks
    library._library.cache_clear()


@needs_cxx
@pytest.mark.parametrize("name", ["accuracy", "forward", "inverse"])
def test_a_broken_header_fails_the_run(
    name: str, broken: Callable[[str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken("int broken = for_blocks(1);")
    known = [x for x in experiments() if x.name == f"paper_004_{name}"]
    assert main(["--quick", "--out", str(tmp_path / "results")], known) == 1
    said = capsys.readouterr().err
    assert f"paper_004_{name}: FAILED: CompilationError: " in said
    assert "broken.hpp:1" in said
    assert "for_blocks" in said


def test_a_missing_compiler_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compilers, "cxx_compilers", dict)
    known = [x for x in experiments() if x.name == "paper_004_inverse"]
    assert main(["--quick", "--out", str(tmp_path)], known) == 0
    assert "paper_004_inverse: left out: The baselines by g++" in capsys.readouterr().err


def compiles_in_vain() -> Iterator[int]:
    yield 1
    compilers.run(program("a.c:1: error: expected ';'"))


def compiles_too_much() -> Iterator[int]:
    yield 1
    compilers.run(program("cc1: out of memory allocating 65536 bytes"))


def test_a_compiler_that_fails_is_not_taken_for_a_limit_of_memory() -> None:
    limit = limits.Limit(20.0, 1.5)
    with pytest.raises(CompilationError, match="expected ';'"):
        limits.within(limit, compiles_in_vain)
    assert limits.within(limit, compiles_too_much) == ([1], "1.5 GB")


@needs_cxx
def test_complex_step_compiles_and_agrees() -> None:
    model = dtau.robots.chain(5, branching=2)
    states = dtau.random_state(model, np.random.default_rng(3), shape=(2,))
    step = complex_step.ComplexStep(library.of_scalars("Complex"), model, *states)
    for got, want in zip(step.tensors(), tensors(model, *states), strict=True):
        assert_close(got, want, TOLERANCE["complex_step"])


def test_an_installed_package_that_cannot_be_imported_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_a_package.py").write_text("import no_such_module_of_its_own")
    monkeypatch.syspath_prepend(tmp_path)
    assert optional.optional("no_such_package") is None
    with pytest.raises(ModuleNotFoundError, match="no_such_module_of_its_own"):
        optional.optional("half_a_package")
