"""`dtau generate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dtau


def test_what_is_written_is_what_the_package_writes(run: Any, arm: Path, tmp_path: Path) -> None:
    out = tmp_path / "arm.c"
    done = run("generate", arm, out)
    assert (done.code, done.err) == (0, "")
    for word in ("arm.c", "arm.h", "arm_inverse_dynamics", "arm_forward_dynamics", "cc -O2"):
        assert word in done.out
    assert "about 1 second." in done.out
    functions = ["inverse_dynamics", "forward_dynamics"]
    code = dtau.generate(dtau.load(arm), functions, tmp_path / "other.c", prefix="arm_")
    text = code.source.read_text().replace("other.h", "arm.h")
    assert out.read_text() == text


def test_cuda(run: Any, arm: Path, tmp_path: Path) -> None:
    out = tmp_path / "arm.cu"
    given = ("generate", arm, out, "--language", "cuda", "-f", "mass_matrix")
    done = run(*given)
    assert (done.code, done.err) == (0, "")
    for word in ("arm.cu", "arm.cuh", "arm_mass_matrix", "nvcc -arch=native -c"):
        assert word in done.out
    other = tmp_path / "other.cu"
    code = dtau.generate(dtau.load(arm), "mass_matrix", other, prefix="arm_", language="cuda")
    assert out.read_text() == code.source.read_text().replace("other.cuh", "arm.cuh")
    assert "arm.cu: the file exists" in run(*given).err


def test_options_go_to_the_functions_that_take_them(run: Any, arm: Path, tmp_path: Path) -> None:
    frame = dtau.load(arm).frames[-1]
    functions = ("-f", "frame_jacobians", "-f", "gravity_torque_time_derivatives")
    done = run(
        *("generate", arm, tmp_path / "arm.c", *functions, "-o", f"frames={frame}"),
        *("-o", "order=1", "-o", "axes=world", "--scalar", "float", "--prefix", "a_"),
    )
    assert (done.code, done.err) == (0, "")
    header = (tmp_path / "arm.h").read_text()
    assert "void a_frame_jacobians(const float *q, float *J);" in header
    assert f"frames=['{frame}'], axes='world'" in header
    assert "tau[2][2] from q[2], v_derivatives[1][2]" in header


def test_numbers(run: Any, arm: Path, tmp_path: Path) -> None:
    done = run("generate", arm, tmp_path / "arm.c", "-f", "step", "-o", "dt=0.01")
    assert (done.code, done.err) == (0, "")
    assert (
        "void arm_step(const double *q, const double *v, const double *tau,"
        in (tmp_path / "arm.h").read_text()
    )


def test_names_of_several_joints(run: Any, arm: Path, tmp_path: Path) -> None:
    given = ("-f", "hybrid_dynamics", "-o", "prescribed=shoulder,elbow")
    done = run("generate", arm, tmp_path / "arm.c", *given)
    assert (done.code, done.err) == (0, "")
    assert "prescribed=['shoulder', 'elbow']" in (tmp_path / "arm.h").read_text()


def test_a_word_where_the_package_is_faster(
    run: Any, arm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("generate", arm, tmp_path / "arm.c", "--force", "-f", "mass_matrix")
    assert "was measured" not in run(*given, "-f", "inverse_dynamics").out
    monkeypatch.setattr("dtau.cli.generate.LARGE", 10)
    done = " ".join(run(*given, "-f", "inverse_dynamics").out.split())
    assert "arm_inverse_dynamics: above about 10 operations, measurements found the package" in done


def test_what_is_written_for_casadi_is_counted(run: Any, arm: Path, tmp_path: Path) -> None:
    given = ("generate", arm, tmp_path / "arm.c", "-f", "mass_matrix", "--casadi", "2")
    assert "jac_adj1_arm_casadi_mass_matrix" in run(*given).out
    done = run(*given, "--force", "--limit", "1e-3")
    assert done.code == 3
    assert "operations would take a compiler longer than --limit 0.001 seconds; ask" in done.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["arm.cpp"], 3, "arm.cpp: expected a name that ends in .c"),
        (["arm.cu"], 3, "arm.cu: expected a name that ends in .c, or --language cuda"),
        (["arm.c", "--language", "cuda"], 3, "arm.c: expected a name that ends in .cu"),
        (["arm.cu", "--language", "cuda", "--casadi", "1"], 3, "--casadi: CasADi calls functions"),
        (["arm.c", "--language", "rust"], 3, "language: expected 'c' or 'cuda', got 'rust'"),
        (["there.c"], 3, "the file exists; --force replaces it"),
        (["no/arm.c"], 3, "no such folder: "),
        (["arm.c", "-f", "inverse_dynamic"], 3, "no function named 'inverse_dynamic'; close names"),
        (["arm.c", "-o", "order"], 3, "--option order: expected NAME=VALUE"),
        (["arm.c", "-o", "order=2"], 3, "none of inverse_dynamics, forward_dynamics takes it"),
        (
            ["arm.c", "--limit", "0.01"],
            3,
            "more than --limit 0.01; ask for fewer functions, a lower",
        ),
        (["arm.c", "--limit", "0"], 3, "--limit: expected a positive number of seconds, got 0.0"),
        (["arm.c", "--prefix", "__"], 3, "reserves for compilers: give another --prefix"),
        (["arm.c", "-f", "project"], 3, "project cannot be written as C: it is an iteration"),
        (["arm.c", "--parameter", "pay"], 3, "no array named 'pay'"),
        (["arm.c", "--parameter", "payload"], 3, "expected 'payload=LINK', and names alone"),
        (["arm.c", "-f", "foo"], 3, "--function: no function named 'foo'"),
        (["arm.c", "--prefix", "1x"], 3, "--prefix: expected the beginning of names in C"),
        (["arm.c", "--casadi", "2", "--scalar", "float"], 3, "--casadi: "),
        (["arm.c", "-f", "frame_jacobians", "-o", "frames=x"], 3, "no frame named 'x'"),
        (["arm.c", "-f", "poses"], 3, "--function: no function named 'poses'"),
        (["arm.c", "-f", "lqr"], 3, "lqr cannot be written as C: it takes no model"),
        (["arm.c", "-f", "foo", "-o", "order=2"], 3, "--function: no function named 'foo'"),
        *(
            (["arm.c", "-f", "mass_matrix_time_derivatives", *words], 3, message)
            for words, message in (
                (["-o", "order=-1"], "order: expected an integer of 0 to 100, got -1"),
                (["-o", "order=²"], "order: expected an integer, got '²'"),
                (["-o", "order=1", "-o", "order=2"], "--option order=2: expected order once"),
            )
        ),
        (["arm.c", "-f", "frame_jacobians"], 3, "frame_jacobians needs the option 'frames'"),
        (["arm.c", "--scalar", "half"], 3, "scalar: expected 'double' or 'float', got 'half'"),
    ],
)
def test_mistakes(
    run: Any, arm: Path, tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    (tmp_path / "there.c").write_text("")
    done = run("generate", arm, tmp_path / words[0], *words[1:])
    assert (done.code, done.out) == (code, "")
    assert message in done.err.replace("\n", " ")
