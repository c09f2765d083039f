"""Names in generated C: what is taken is refused with a way out, all else compiles as C and C++."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from compiled import C99, CC, CXX, needs_compiler, run

import dtau
from dtau.codegen.reserved import what_reserves

ARM = dtau.robots.chain(1)


@pytest.mark.parametrize(
    ("functions", "prefix", "message"),
    [
        (["check"], "r_", "'check' would be 'r_check' in C, which is the function that checks"),
        (["nq"], "r_", "'nq' would be 'r_nq' in C, which is the model's nq"),
        (["nv"], "r_", "'nv' would be 'r_nv' in C, which is the model's nv"),
        (["nbodies"], "r_", "which is the model's nbodies"),
        (["f", "f_piece2"], "r_", "'f_piece2' would be 'r_f_piece2' in C, as is a piece of 'r_f'"),
        (["f_piece1", "f"], "r_", "as is a piece of 'r_f' where that is large"),
        (["H"], "_", "'H' would be '_H' in C, which is a name that C reserves for compilers"),
        (["t"], "in", "'t' would be 'int' in C, which is a word of C or C++"),
        (["w"], "ne", "'w' would be 'new' in C, which is a word of C or C++"),
        (["in"], "ma", "'in' would be 'main' in C, which is a word of C or C++"),
        (["n"], "si", "'n' would be 'sin' in C, which is a name of <math.h>"),
        (["nf"], "si", "'nf' would be 'sinf' in C, which is a name of <math.h>"),
        (["lloc"], "ma", "which is a name of the C library"),
        (["ine_cosine"], "s", "'sine_cosine' in C, which is a name inside the files"),
        (["iffers"], "d", "'differs' in C, which is a name inside the files"),
        (["eal"], "r", "'real' in C, which is a name inside the files"),
        (["OS"], "C", "'COS' in C, which is a name inside the files"),
        (["au"], "t", "'tau' in C, which is a name inside the files"),
        (["au_got"], "t", "'tau_got' in C, which is a name inside the files"),
        (["f"], "__", "prefix: '__' makes the name '__nq' in C, which is a name that C reserves"),
        (["f"], "_A", "prefix: '_A' makes the name '_Anq' in C, which is a name that C reserves"),
    ],
)
def test_names_that_are_taken_are_refused(
    functions: list[str], prefix: str, message: str, tmp_path: Path
) -> None:
    asked = dict.fromkeys(functions, "gravity_torque")
    with pytest.raises(ValueError, match=re.escape(message)) as told:
        dtau.generate(ARM, asked, tmp_path / "arm.c", prefix=prefix)
    assert "prefix=" in str(told.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        (
            ["f", "casadi_f"],
            "'casadi_f' would be 'r_casadi_f' in C, which is a name of the function 'f'",
        ),
        (
            ["casadi_f", "f"],
            "'f' would be 'r_casadi_f' in C, which is a name of the function 'casadi_f'",
        ),
        (
            ["f", "f_work"],
            "'f_work' would be 'r_casadi_f_work' in C, which is a name of the function 'f'",
        ),
        (["f", "f_nonzeros"], "which is a name of the function 'f'"),
        (["f", "f_nonzeros_piece1"], "as is a piece of 'r_casadi_f_nonzeros' where that is large"),
    ],
)
def test_what_is_taken_for_casadi(functions: list[str], message: str, tmp_path: Path) -> None:
    asked = dict.fromkeys(functions, "gravity_torque")
    with pytest.raises(ValueError, match=re.escape(message)):
        dtau.generate(ARM, asked, tmp_path / "arm.c", prefix="r_", casadi=0)
    assert not list(tmp_path.iterdir())
    dtau.generate(ARM, asked, tmp_path / "arm.c", prefix="r_")


def words_of(headers: str, flags: tuple[str, ...]) -> set[str]:
    """All identifiers that a compiler sees after these headers, and macros."""
    assert CC is not None
    words: set[str] = set()
    for how in ("-P", "-dM"):
        done = subprocess.run(
            [CC, *flags, "-E", how, "-"], input=headers, capture_output=True, text=True, check=True
        )
        words |= set(re.findall(r"[A-Za-z_]\w*", done.stdout))
    return words


@pytest.mark.compilers
@needs_compiler
@pytest.mark.parametrize("flags", [("-std=gnu11", "-O0"), C99, CXX], ids=["gnu11", "c99", "c++"])
def test_every_word_of_the_files_compiles_or_is_refused(
    flags: tuple[str, ...], tmp_path: Path
) -> None:
    """Every word of a file that is generated, and of all that it includes, as a function's name."""
    code = dtau.generate(ARM, "forward_dynamics", tmp_path / "a.c", prefix="r_", casadi=1)
    words = set(re.findall(r"[A-Za-z_]\w*", code.source.read_text() + code.header.read_text()))
    words |= words_of("#include <math.h>\n", flags)
    kept: dict[str, list[str]] = {}  # by the prefix, which is the first letter
    for word in sorted(words):
        if len(word) > 1 and not word[1].isdigit():
            kept.setdefault(word[0], []).append(word[1:])
    refused = []
    for prefix, names in kept.items():
        free: dict[str, Any] = {}
        for name in names:
            try:
                dtau.generate(ARM, {name: "gravity_torque"}, tmp_path / "one.c", prefix=prefix)
            except ValueError as error:
                refused.append(str(error))
            else:
                free[name] = "gravity_torque"
        if free:
            code = dtau.generate(ARM, free, tmp_path / f"{prefix}all.c", prefix=prefix)
            run(*flags, "-Werror", "-c", code.source, "-o", tmp_path / "all.o")
    assert len(refused) > 100
    assert all("in C, " in x for x in refused)


@pytest.mark.compilers
@needs_compiler
def test_names_that_are_like_others(tmp_path: Path) -> None:
    """They compile, beside a function that is cut into pieces."""
    large = dtau.robots.quadruped()
    asked = {
        "f": "inverse_dynamics_derivatives",
        **dict.fromkeys(("f_1", "f_2", "piece1", "Check", "NQ", "H", "_"), "gravity_torque"),
    }
    code = dtau.generate(large, asked, tmp_path / "legs.c", casadi=0)
    assert "legs_f_piece2" in code.source.read_text()
    for flags in (C99, CXX):
        run(*flags, "-c", code.source, "-o", tmp_path / "legs.o")


@needs_compiler
def test_headers_of_prefixes_that_differ_in_case_alone(tmp_path: Path) -> None:
    for prefix in ("arm_", "ARM_", "_math_", "_stdlib_"):
        dtau.generate(ARM, "mass_matrix", tmp_path / f"{prefix}.c", prefix=prefix)
    main = tmp_path / "main.c"
    main.write_text(
        '#include "_math_.h"\n#include "_stdlib_.h"\n#include "arm_.h"\n#include "ARM_.h"\n'
        "#include <math.h>\n#include <stdlib.h>\n"
        "int main(void) { return arm_nq + ARM_nq + _math_nq + abs(0) + (int)fabs(0.0); }\n"
    )
    for flags in (C99, CXX):
        run(*flags, "-c", main, "-o", tmp_path / "main.o")


def test_what_is_reserved() -> None:
    for name in (
        "y0",
        "j1f",
        "atan2f128",
        "static",
        "typename",
        "co_await",
        "_Bool",
        "__x",
        "linux",
    ):
        assert what_reserves(name), name
    for name in ("arm_sin", "legs_", "_arm", "sinx", "real2"):
        assert not what_reserves(name), name
