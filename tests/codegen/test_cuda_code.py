"""Generated CUDA, run on the host: every function gives the core's numbers."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import random_state, robot
from compare import assert_close, solved
from compiled import Code, compiled, needs_compiler
from cuda_host import HOST, HostKernels
from test_generated_code import (
    SMALL,
    asked,
    floor_of,
    model_of,
    options_of,
    parameters_of,
    stacks_cut,
)

import dtau
from dtau.registry import arrays_of

WRENCHES = ("f_ext", "df_ext", "f_ext_derivatives", "df_ext_derivatives")
FEW = ("inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives", "mass_matrix")


@needs_compiler
@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("universal and free", 250),
        *(
            pytest.param(name, most, marks=pytest.mark.compilers)
            for name, most in (
                ("one revolute", 1000),
                ("joints that mimic others", SMALL["joints that mimic others"]),
                ("quadruped", SMALL["quadruped"]),
            )
        ),
    ],
)
def test_every_function_gives_the_numbers_of_the_core(name: str, most: int, tmp_path: Path) -> None:
    model = model_of(name)
    rows = asked(model, most, tmp_path)
    assert len(rows) >= 25
    functions = {key: what for key, (_, what) in rows.items()}
    kernels = HostKernels(model, functions, tmp_path / "r.cu", parameters=parameters_of(rows))
    assert kernels.library.r_check() == 0
    states = [random_state(model, seed=seed) for seed in (5, 6)]
    matrices = [dtau.mass_matrix(model, state["q"]) for state in states]
    for key, (row, _) in rows.items():
        options = options_of(row, model, random_state(model, seed=4))
        taken = {x.name for x in kernels.written[key].arguments}
        cut = [stacks_cut(model, state, kernels, key) for state in states]
        got = kernels(key, **{x: np.stack([state[x] for state in cut]) for x in taken})
        for k, (state, matrix) in enumerate(zip(cut, matrices, strict=True)):
            names = (*(x for x in row.arguments if x != "inputs"), *WRENCHES)
            arrays = {x: state[x] for x in (*names, "active", "positions") if x in taken}
            want = arrays_of(getattr(dtau, row.name)(model, **arrays, **options))
            tolerance = solved(1e-13, matrix) if row.solves else 1e-13
            for one, other in zip(got, want, strict=True):
                floor = floor_of(row, want)
                assert_close(one[k], other, row.steps * tolerance, str(row), floor=floor)


@needs_compiler
@pytest.mark.parametrize("states", [1, 63, 64, 65, 130])
def test_batches_of_several_blocks(states: int, kernels_of_a_quadruped: HostKernels) -> None:
    model = robot("quadruped")
    q, v, a = dtau.random_state(model, np.random.default_rng(3), shape=(states,))
    for name in ("inverse_dynamics", "inverse_dynamics_derivatives"):
        want = arrays_of(getattr(dtau, name)(model, q, v, a))
        got = kernels_of_a_quadruped(name, q=q, v=v, a=a)
        for one, other in zip(got, want, strict=True):
            assert one.shape == other.shape
            for k in range(states):
                assert_close(one[k], other[k], 1e-13, name)


@pytest.fixture(scope="module")
def kernels_of_a_quadruped(tmp_path_factory: pytest.TempPathFactory) -> HostKernels:
    source = tmp_path_factory.mktemp("cuda") / "r.cu"
    return HostKernels(robot("quadruped"), FEW, source)


@needs_compiler
def test_a_function_of_one_state_for_other_kernels(tmp_path: Path) -> None:
    model = robot("one revolute")
    dtau.generate(model, "inverse_dynamics", tmp_path / "r.cu", language="cuda")
    mine = tmp_path / "mine.cu"
    mine.write_text(
        '#include "r.cu"\n'
        'extern "C" void mine(const double *q, const double *v, const double *a, double *tau) {\n'
        "    r_inverse_dynamics(q, v, a, tau, 1);\n}\n"
    )
    state = [random_state(model, seed=2)[name] for name in ("q", "v", "a")]
    tau = np.full(1, np.nan)
    pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (*state, tau)]
    compiled(mine, HOST).mine(*pointers)
    assert_close(tau, dtau.inverse_dynamics(model, *state), 1e-13)


@needs_compiler
def test_no_states_and_fewer(kernels_of_a_quadruped: HostKernels) -> None:
    launch = kernels_of_a_quadruped.library.r_mass_matrix_launch
    invalid_value = 1
    for states, error in ((0, 0), (-1, invalid_value)):
        assert launch(ctypes.c_int(states), None, None, None) == error


@needs_compiler
def test_a_wrong_result_is_found(kernels_of_a_quadruped: HostKernels) -> None:
    source = kernels_of_a_quadruped.code.source
    text = source.read_text()
    kernel = text.index("r_mass_matrix_kernel(")
    changed = text[:kernel] + text[kernel:].replace("state <", "1 + state <", 1)
    other = source.with_name("changed.cu")
    other.write_text(changed)
    assert kernels_of_a_quadruped.library.r_check() == 0
    assert compiled(other, HOST).r_check() == 1 + FEW.index("mass_matrix")


@needs_compiler
@pytest.mark.compilers
def test_single_precision(tmp_path: Path) -> None:
    model = robot("quadruped")
    kernels = HostKernels(model, FEW, tmp_path / "r.cu", scalar="float")
    assert kernels.library.r_check() == 0
    state = random_state(model, seed=6)
    for key, function in kernels.written.items():
        arrays = {x.name: state[x.name] for x in function.arguments}
        want = arrays_of(getattr(dtau, key)(model, **arrays))
        got = kernels(key, **{name: x[None] for name, x in arrays.items()})
        for one, other in zip(got, want, strict=True):
            assert_close(one[0], other, 1e-5 if key != "forward_dynamics" else 1e-4, key)


@needs_compiler
def test_parameters(tmp_path: Path) -> None:
    model = robot("one revolute")
    given = ["gravity", "f_ext", f"payload={model.links[-1].name}"]
    source = tmp_path / "r"
    kernels = HostKernels(model, ["inverse_dynamics"], source.with_suffix(".cu"), parameters=given)
    code = Code(model, ["inverse_dynamics"], source.with_suffix(".c"), parameters=given)
    rng = np.random.default_rng(5)
    arrays: dict[str, Any] = {
        x.name: rng.standard_normal((3, *x.shape))
        for x in kernels.written["inverse_dynamics"].arguments
    }
    assert set(arrays) == {"q", "v", "a", "f_ext", "gravity", "payload"}
    (got,) = kernels("inverse_dynamics", **arrays)
    for k in range(3):
        (want,) = code("inverse_dynamics", **{name: x[k] for name, x in arrays.items()})
        assert_close(got[k], want, 1e-13)


def test_the_operations_are_those_of_c(tmp_path: Path) -> None:
    model = robot("quadruped")
    functions = ["inverse_dynamics", "inverse_dynamics_derivatives"]
    c = dtau.generate(model, functions, tmp_path / "r.c")
    cuda = dtau.generate(model, functions, tmp_path / "r.cu", language="cuda")
    assert cuda.operations == c.operations
    assert (cuda.source.name, cuda.header.name) == ("r.cu", "r.cuh")
    pieces = "static __device__ __noinline__ void r_{}_piece2("
    cut = [pieces.format(name) in cuda.source.read_text() for name in functions]
    assert cut == [False, True]
    assert "r_inverse_dynamics_piece2(" in c.source.read_text()


def test_the_head_says_how_arrays_lie(tmp_path: Path) -> None:
    code = dtau.generate(
        robot("quadruped"), {"feet": "mass_matrix"}, tmp_path / "my legs.cu", language="cuda"
    )
    header, source = code.header.read_text(), code.source.read_text()
    flat = " ".join(header.split())
    for words in (
        "entry * [i][j] of J[6][18] for state s is J[(18 i + j) n + s]",
        "enum { my_legs_nq = 19, my_legs_nv = 18, my_legs_nbodies = 13, my_legs_threads = 64 };",
        "M[18][18] from q[19]",
        "cudaError_t my_legs_feet_launch(int states, const double *q, double *M, cudaStream_t ",
        "__device__ void my_legs_feet(const double *q, double *M, size_t stride);",
        "int my_legs_check(void);",
        "Local memory: ",
    ):
        assert words in flat
    assert 'extern "C" __global__ void __launch_bounds__(64)\nmy_legs_feet_kernel(' in source
    assert [x for x in source.splitlines() if x.startswith("#include")] == [
        '#include "my legs.cuh"',
        "#include <math.h>",
    ]
    assert (header + source).isascii()
    assert header.count("*/") == header.count("/*")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"path": "r.c"}, "path: expected a name that ends in .cu, got "),
        ({"path": "r.cu", "language": "c"}, "ends in .c, or language='cuda', got "),
        ({"language": "opencl"}, "language: expected 'c' or 'cuda', got 'opencl'"),
        ({"casadi": 1}, "casadi: CasADi calls functions of C: expected None with language='cuda'"),
        ({"functions": {"x": "mass_matrix", "x_kernel": "bias_torque"}}, "'r_x_kernel' in C"),
        ({"functions": {"x_launch": "mass_matrix", "x": "bias_torque"}}, "'r_x_launch' in C"),
        ({"functions": {"threads": "mass_matrix"}}, "the number of threads of a block"),
        ({"functions": {"Idx": "mass_matrix"}, "prefix": "thread"}, "a name of CUDA"),
        ({"functions": {"double2": "mass_matrix"}, "prefix": "make_"}, "a name of CUDA"),
        ({"functions": {"ride": "mass_matrix"}, "prefix": "st"}, "a name inside the files"),
    ],
)
def test_mistakes(given: dict[str, Any], message: str, tmp_path: Path) -> None:
    defaults = {"functions": "mass_matrix", "path": "r.cu", "language": "cuda", "prefix": "r_"}
    words = defaults | given
    path = tmp_path / words.pop("path")
    with pytest.raises(ValueError, match=re.escape(message)):
        dtau.generate(robot("one revolute"), words.pop("functions"), path, **words)
    assert not list(tmp_path.iterdir())
