"""Generated CUDA through CUDA's compilers, and on a GPU where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from benchmarks import nvrtc
from benchmarks.checks import UnavailableError
from benchmarks.compilers import CompilationError
from cases import robot
from compare import assert_close, solved
from compiled import needs_compiler, run
from cuda_driver import Device, driver
from cuda_host import HOST, states_first, states_last

import dtau
from dtau.registry import arrays_of

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives")
THREADS, MOST_REGISTERS = 64, 255
NVCC = shutil.which("nvcc")


@pytest.fixture(scope="module")
def needs_nvrtc() -> None:
    try:
        nvrtc.library()
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def legs(tmp_path_factory: pytest.TempPathFactory) -> dtau.GeneratedCode:
    """Functions of a quadruped."""
    source = tmp_path_factory.mktemp("cuda") / "legs.cu"
    return dtau.generate(robot("quadruped"), FUNCTIONS, source, language="cuda")


@pytest.mark.compilers
@pytest.mark.usefixtures("needs_nvrtc")
def test_nvrtc_compiles_kernels(legs: dtau.GeneratedCode) -> None:
    made = nvrtc.compiled(legs.source.read_text())
    kernels = [f"legs_{name}_kernel" for name in FUNCTIONS]
    assert re.findall(r"\.visible \.entry (\w+)\(", made.ptx) == kernels
    assert made.cubin[:4] == b"\x7fELF"
    assert all(f".text.{name}".encode() in made.cubin for name in kernels)
    assert set(made.kernels) == set(kernels)
    for found in made.kernels.values():
        assert 0 < found.registers <= MOST_REGISTERS
        assert found.stack >= 0
    cut = made.kernels["legs_inverse_dynamics_derivatives_kernel"]
    assert cut.stack >= legs.stack > 0
    assert ".f32" not in made.ptx


@pytest.mark.usefixtures("needs_nvrtc")
def test_threads_read_adjacent_numbers_that_no_thread_writes(tmp_path: Path) -> None:
    model = robot("one revolute")
    code = dtau.generate(model, "gravity_torque", tmp_path / "r.cu", language="cuda")
    made = nvrtc.compiled(code.source.read_text())
    assert len(re.findall(r"ld\.global\.nc\.f64", made.ptx)) == 1  # q, through the read-only cache
    assert len(re.findall(r"st\.global\.f64", made.ptx)) == 1


@pytest.mark.usefixtures("needs_nvrtc")
def test_single_precision_computes_nothing_in_double(tmp_path: Path) -> None:
    model = dtau.robots.chain(3)
    functions = ("inverse_dynamics", "forward_dynamics")
    code = dtau.generate(model, functions, tmp_path / "r.cu", language="cuda", scalar="float")
    made = nvrtc.compiled(code.source.read_text())
    assert len(made.kernels) == 2
    # CUDA's sine and cosine of huge angles have a product in double precision.
    assert not re.search(r"(add|sub|fma|div|sqrt|ld|st)\.[\w.]*f64", made.ptx)


@pytest.mark.usefixtures("needs_nvrtc")
def test_constants_that_are_not_finite(tmp_path: Path) -> None:
    code = dtau.generate(robot("one revolute"), "mass_matrix", tmp_path / "r.cu", language="cuda")
    text = code.source.read_text()
    changed = re.sub(r"= NUMBER\([^N]*?\);", "= NUMBER(NAN) - NUMBER(HUGE_VAL);", text)
    assert "NUMBER(NAN)" in changed
    assert nvrtc.compiled(changed).kernels


@pytest.mark.usefixtures("needs_nvrtc")
def test_an_error_of_the_compiler_is_reported() -> None:
    with pytest.raises(CompilationError, match='identifier "unknown" is undefined'):
        nvrtc.compiled('extern "C" __global__ void f(double *x) { *x = unknown; }')


@pytest.mark.compilers
@needs_compiler
@pytest.mark.usefixtures("needs_nvrtc")
def test_every_word_of_the_files_compiles_or_is_refused(tmp_path: Path) -> None:
    """Every word of generated files as the name of a function, by NVRTC and on the host."""
    arm = dtau.robots.chain(1)
    code = dtau.generate(arm, "forward_dynamics", tmp_path / "a.cu", prefix="r_", language="cuda")
    words = set(re.findall(r"[A-Za-z_]\w+", code.source.read_text() + code.header.read_text()))
    words |= {"dim3", "int2", "make_double4", "warpSize", "gridDim", "rsqrt", "atomicAdd", "norm3d"}
    words -= {f"r_forward_dynamics_{end}" for end in ("kernel", "launch")}  # of another word
    refused: list[str] = []
    free: dict[str, list[str]] = {}  # by the prefix, which is the first letter
    for word in sorted(words):
        asked = {word[1:]: "gravity_torque"}
        try:
            dtau.generate(arm, asked, tmp_path / "one.cu", prefix=word[0], language="cuda")
        except ValueError as error:
            refused.append(str(error))
        else:
            free.setdefault(word[0], []).append(word[1:])
    assert len(refused) > 80
    assert all("in C, which is" in x or "expected a name in C" in x for x in refused)
    for prefix, names in free.items():
        asked = dict.fromkeys(names, "gravity_torque")
        code = dtau.generate(arm, asked, tmp_path / "a.cu", prefix=prefix, language="cuda")
        assert len(nvrtc.compiled(code.source.read_text()).kernels) == len(names)
        run(*HOST, "-Werror", "-c", code.source, "-o", tmp_path / "a.o")


@pytest.mark.skipif(NVCC is None, reason="there is no nvcc")
@pytest.mark.compilers
def test_nvcc_compiles_both_files(tmp_path: Path) -> None:
    dtau.generate(robot("one revolute"), "mass_matrix", tmp_path / "r.cu", language="cuda")
    (tmp_path / "mine.cu").write_text(
        '#include "r.cuh"\n'
        "__global__ void mine(const double *q, double *M) { r_mass_matrix(q, M, 1); }\n"
        "int main() {\n"
        "    double *M = 0;\n"
        "    if (r_mass_matrix_launch(0, M, M, 0) != cudaSuccess) return 100;\n"
        "    mine<<<1, 1, 0, 0>>>(M, M);\n"
        "    return -r_check();\n"
        "}\n"
    )
    (tmp_path / "host.cpp").write_text('#include "r.cuh"\nint main() { return -r_check(); }\n')
    common = ("-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra")
    for flags, main in ((("-rdc=true", "-arch=sm_90"), "mine.cu"), (("-arch=sm_90",), "host.cpp")):
        program = tmp_path / main.replace(".", "_")
        command = [NVCC, *common, *flags, "r.cu", main, "-o", program]
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=300, cwd=tmp_path
        )
        assert (done.returncode, done.stderr) == (0, "")
    if driver() is None:  # the check reports the runtime's error
        no_driver, no_device = 35, 100
        done = subprocess.run([tmp_path / "host_cpp"], check=False, timeout=60)
        assert done.returncode in (no_driver, no_device)
    else:
        subprocess.run([tmp_path / "host_cpp"], check=True, timeout=60)


@pytest.fixture
def device() -> Iterator[Device]:
    library = driver()
    if library is None:
        pytest.skip("there is no GPU of NVIDIA")
    found = Device(library)
    yield found
    found.close()


@pytest.mark.usefixtures("needs_nvrtc")
@pytest.mark.parametrize("states", [1, 65, 1000])
def test_a_gpu_gives_the_numbers_of_the_core(
    states: int, device: Device, legs: dtau.GeneratedCode
) -> None:
    model = robot("quadruped")
    made = nvrtc.compiled(legs.source.read_text(), device.architecture)
    module = device.load(made.cubin)
    state = dtau.random_state(model, np.random.default_rng(9), shape=(states,))
    for name in FUNCTIONS:
        want = arrays_of(getattr(dtau, name)(model, *state))
        results = [np.full((*x.shape[1:], states), np.nan) for x in want]
        kernel = device.kernel(module, f"legs_{name}_kernel")
        resources = made.kernels[f"legs_{name}_kernel"]
        assert device.registers_and_stack(kernel)[0] == resources.registers
        device.run(kernel, THREADS, states, [states_last(x) for x in state], results)
        for got, one in zip(results, want, strict=True):
            batch = states_first(got, got.shape)
            for k in range(states):
                tolerance = 1e-13
                if name == "forward_dynamics":
                    tolerance = solved(1e-13, dtau.mass_matrix(model, state.q[k]))
                assert_close(batch[k], one[k], tolerance, name)
    device.call("cuModuleUnload", module)
