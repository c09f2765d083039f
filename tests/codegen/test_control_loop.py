"""The example of a control loop in C: its Makefile, what it prints, its size for a Cortex-M."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from compiled import WARNINGS, needs_compiler, run
from files import ROOT

EXAMPLE = ROOT / "examples/computed_torque"
PROCESSORS = {
    "double": ("cortex-m7", "fpv5-d16", 13.4),
    "float": ("cortex-m4", "fpv4-sp-d16", 9.6),
}  # by the scalar; kB that the page says
# What clang finds where there is no C library for the processor.
MATH_H = "double sin(double), cos(double), fabs(double);\nfloat sinf(float), cosf(float);\n"


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of the folder, with what is generated."""
    for name in ("Makefile", "computed_torque.c"):
        shutil.copy(EXAMPLE / name, tmp_path)
    runpy.run_path(str(EXAMPLE / "write_arm.py"))["main"](tmp_path)
    return tmp_path


@needs_compiler
@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_the_jerk_makes_errors_smaller(example: Path) -> None:
    assert len((EXAMPLE / "Makefile").read_text().splitlines()) == 2
    make = ("make", "-C", str(example), f"CC={os.environ.get('CC', 'cc')}")
    subprocess.run(make, check=True, capture_output=True, timeout=300)
    program = str(example / "computed_torque")
    done = subprocess.run(program, check=True, capture_output=True, text=True, timeout=300)
    found = re.search(r"rad, (\d+) times less\n[\d.]+ microseconds a cycle", done.stdout)
    assert found is not None
    assert int(found[1]) > 100


@needs_compiler
def test_the_loop_compiles_without_a_warning(example: Path) -> None:
    for name in ("computed_torque", "arm", "simulated"):
        run("-std=c99", "-O0", *WARNINGS, "-c", example / f"{name}.c", "-o", example / "x.o")


@pytest.mark.parametrize("scalar", PROCESSORS)
def test_it_is_small_on_a_small_processor(scalar: str, example: Path) -> None:
    processor, unit, said = PROCESSORS[scalar]
    compiler = cross_compiler(example)
    if compiler is None:
        pytest.skip("there is no compiler for Cortex-M, neither arm-none-eabi-gcc nor clang")
    if scalar == "float":
        write = runpy.run_path(str(EXAMPLE / "write_arm.py"))
        write["dtau"].generate(
            write["dtau"].robots.chain(6), write["TORQUE"], example / "arm.c", scalar="float"
        )
    flags = ("-std=c99", "-Os", f"-mcpu={processor}", f"-mfpu={unit}", "-mfloat-abi=hard", "-c")
    command = [*compiler, *flags, *WARNINGS, str(example / "arm.c"), "-o", str(example / "arm.o")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert 0.7 * said < code_size(example / "arm.o") / 1000 < 1.4 * said


def cross_compiler(folder: Path) -> list[str] | None:
    """The words that compile for Cortex-M here."""
    gcc = shutil.which("arm-none-eabi-gcc")
    if gcc is not None:
        (folder / "library.c").write_text("#include <math.h>\n")
        with_library = subprocess.run(
            [gcc, "-fsyntax-only", str(folder / "library.c")], capture_output=True, check=False
        )
        if with_library.returncode == 0:
            return [gcc, "-mthumb"]
    clang = next(filter(None, map(shutil.which, ("clang", *(f"clang-{n}" for n in range(30))))), "")
    if not clang:
        return None
    (folder / "math.h").write_text(MATH_H)
    return [clang, "--target=thumbv7em-none-eabihf", f"-I{folder}"]


def code_size(file: Path) -> int:
    """Bytes of the machine code in an object file of 32 bits."""
    data = file.read_bytes()
    assert data[:5] == b"\x7fELF\x01"
    (offset,) = struct.unpack_from("<I", data, 32)
    size, count = struct.unpack_from("<HH", data, 46)
    executable, total = 4, 0
    for k in range(count):
        flags = struct.unpack_from("<I", data, offset + k * size + 8)[0]
        length = struct.unpack_from("<I", data, offset + k * size + 20)[0]
        total += length if flags & executable else 0
    return total
