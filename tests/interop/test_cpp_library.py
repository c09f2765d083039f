"""The C++ library: a project finds it with CMake, builds on it, and computes Python's bits."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import cpp_calls
import numpy as np
import pytest
from cases import robot
from files import ROOT

import dtau
from dtau.cli import main

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the hooks are those of glibc")
FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")


def run(*command: object) -> str:
    done = subprocess.run([str(x) for x in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build tests/cpp, and examples/cpp with it, against the installed package."""
    for program in ("cmake", "ninja"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    folder = tmp_path_factory.mktemp("consumer")
    found = run(sys.executable, "-m", "dtau", "--cmake-dir").strip()
    (folder / "typed.cpp").write_text(cpp_calls.program(), encoding="utf-8")
    settings = f"-Ddtau_DIR={found}", f"-DTYPED_CALLS={folder}/typed.cpp"
    paths = "-S", ROOT / "tests/cpp", "-B", folder
    run("cmake", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", *settings, *paths)
    run("cmake", "--build", folder)
    return folder


def expected(model: dtau.Model, n: int) -> tuple[bytes, bytes]:
    """Return the states of a batch as bytes, and the results of Python's functions for them."""
    q, v, a = dtau.random_state(model, np.random.default_rng(n), shape=(n,))
    active = np.ones(n * len(FEET))
    active[::3] = 0.0
    held = dtau.Contacts(model, [dtau.PointContact(f, axes="mixed", kd=20.0) for f in FEET])
    results = [
        dtau.inverse_dynamics(model, q, v, a),
        *dtau.inverse_dynamics_derivatives(model, q, v, a),
        dtau.forward_dynamics(model, q, v, a),
        *dtau.forward_dynamics_derivatives(model, q, v, a),
        dtau.mass_matrix(model, q),
        *dtau.frame_placements(model, q, FEET),
        dtau.frame_jacobians(model, q, FEET, axes="mixed"),
        *dtau.constrained_dynamics(model, q, v, a, held, active=active.reshape(n, -1)),
    ]
    states = b"".join(np.ascontiguousarray(x).tobytes() for x in (q, v, a))
    return states, b"".join(np.ascontiguousarray(x).tobytes() for x in results)


@pytest.mark.examples
@pytest.mark.parametrize(("states", "threads"), [(1, 1), (19, 1), (300, 1), (300, 3), (3000, 0)])
def test_calls_have_pythons_bits_and_allocate_nothing(
    states: int, threads: int, build: Path, tmp_path: Path
) -> None:
    model = robot("quadruped")
    model.save(tmp_path / "robot.dtau")
    given, results = expected(model, states)
    (tmp_path / "states").write_bytes(given)
    files = tmp_path / "robot.dtau", states, tmp_path / "states", tmp_path / "results"
    run(build / "consumer", *files, threads, *FEET)
    assert (tmp_path / "results").read_bytes() == results


@pytest.fixture
def robot_file(tmp_path: Path) -> Path:
    robot("quadruped").save(tmp_path / "robot.dtau")
    return tmp_path / "robot.dtau"


@pytest.mark.examples
def test_a_project_in_c_alone(robot_file: Path, tmp_path: Path) -> None:
    found = run(sys.executable, "-m", "dtau", "--cmake-dir").strip()
    folder = tmp_path / "build"
    paths = "-S", ROOT / "tests/cpp/c", "-B", folder
    run("cmake", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", f"-Ddtau_DIR={found}", *paths)
    run("cmake", "--build", folder)
    model = robot("quadruped")
    q, _, _ = dtau.random_state(model, np.random.default_rng(2))
    command = folder / "c_consumer", robot_file
    done = subprocess.run(command, input=q.tobytes(), capture_output=True, check=True)
    results = dtau.mass_matrix(model, q), dtau.poses.log(q[:7])
    assert done.stdout == b"".join(x.tobytes() for x in results)
    done = subprocess.run([command[0], tmp_path / "no"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "No such file or directory" in done.stderr


def test_python_computes_with_the_library_of_the_package() -> None:
    """The kernels are in one file: the modules have none of their own."""
    package = Path(str(dtau._core.__file__)).parent
    core, library = Path(str(dtau._core.__file__)), package / "lib/libdtau.so"
    assert core.stat().st_size < library.stat().st_size
    mapped = Path("/proc/self/maps").read_text(encoding="utf-8")
    assert str(library) in mapped


@pytest.mark.examples
def test_typed_calls_are_calls_by_name(build: Path, robot_file: Path) -> None:
    run(build / "typed", robot_file)


def with_eigen(build: Path) -> Path:
    if not (build / "eigen").exists():
        pytest.skip("Eigen is not installed")
    return build / "eigen"


@pytest.mark.examples
def test_calls_take_arrays_of_eigen(build: Path, robot_file: Path) -> None:
    run(with_eigen(build), robot_file)


@pytest.mark.examples
@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ("Eigen::VectorXf q, v; Eigen::VectorXd tau", "expected arrays of double"),
        ("Eigen::VectorXd q, w, tau; auto v = w + w", "got an expression: evaluate it first"),
        ("Eigen::VectorXd q, v; const Eigen::VectorXd tau", "no match for call"),
        (
            "Eigen::VectorXd q, v, tau; Eigen::Map<Eigen::VectorXd, 0, Eigen::InnerStride<2>>"
            " w(nullptr, 3); v = w; call(q, w, w, tau)",
            "got an array with an inner stride",
        ),
    ],
)
def test_arrays_of_eigen_that_do_not_compile(
    arrays: str, message: str, build: Path, tmp_path: Path
) -> None:
    with_eigen(build)
    program = f"""#include <dtau.hpp>
#include <dtau/eigen.hpp>
bool f(dtau::InverseDynamics& call) {{ {arrays}; return call(q, v, v, tau); }}
"""
    (tmp_path / "wrong.cpp").write_text(program)
    commands = (build / "build.ninja").read_text()
    folders = re.findall(r"-isystem (\S+)", commands)
    command = ["c++", "-std=c++20", "-fsyntax-only", *(f"-I{x}" for x in folders)]
    command.append(str(tmp_path / "wrong.cpp"))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert message in done.stderr


def test_an_older_standard_is_named(build: Path, tmp_path: Path) -> None:
    (tmp_path / "old.cpp").write_text("#include <dtau.hpp>\n")
    folders = re.findall(r"-isystem (\S+)", (build / "build.ninja").read_text())
    command = ["c++", "-std=c++17", "-fsyntax-only", *(f"-I{x}" for x in folders)]
    done = subprocess.run(
        [*command, str(tmp_path / "old.cpp")], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    first = next(line for line in done.stderr.splitlines() if "error" in line)
    assert "dtau: expected C++20 or later; compile with -std=c++20" in first


@pytest.mark.examples
def test_the_example_runs_without_python(build: Path) -> None:
    """CMake has converted its robot; nothing that it loads or runs is Python's."""
    program = build / "example/computed_torque"
    assert "python" not in run("ldd", program).partition("libdtau.so => ")[2].partition("\n")[2]
    done = subprocess.run(
        [program, build / "example/arm.dtau"], env={"PATH": ""}, capture_output=True, text=True
    )
    assert done.stdout == "arm: 2 joints, at most 2.8e-04 rad off after a second\n", done.stderr


@pytest.mark.examples
def test_cmake_converts_a_robot_again_when_its_file_has_changed(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(robot LANGUAGES NONE)\n"
        "find_package(dtau 0.1 REQUIRED)\ndtau_convert(fast arm.urdf --damping 0.5)\n"
    )
    text = (ROOT / "examples/cpp/arm.urdf").read_text(encoding="utf-8")
    (tmp_path / "arm.urdf").write_text(text, encoding="utf-8")
    found = run(sys.executable, "-m", "dtau", "--cmake-dir").strip()
    run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build", f"-Ddtau_DIR={found}")
    run("cmake", "--build", tmp_path / "build")
    written = tmp_path / "build/fast.dtau"
    assert dtau.load(written) == dtau.load(tmp_path / "arm.urdf", damping=0.5)
    before = written.stat().st_mtime_ns
    run("cmake", "--build", tmp_path / "build")
    assert written.stat().st_mtime_ns == before
    (tmp_path / "arm.urdf").write_text(text.replace('mass value="1"', 'mass value="2"'))
    run("cmake", "--build", tmp_path / "build")
    assert dtau.load(written).mass == 4.0
    (tmp_path / "arm.urdf").write_text("<robot/>")
    wrong = subprocess.run(["cmake", "--build", tmp_path / "build"], capture_output=True, text=True)
    assert wrong.returncode != 0
    assert "expected at least one <link>, got none" in wrong.stdout + wrong.stderr
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "none", "-DDTAU_COMMAND=0"]
    none = subprocess.run([*command, f"-Ddtau_DIR={found}"], capture_output=True, text=True)
    assert none.returncode != 0
    assert "dtau_convert: expected the command dtau" in none.stderr


@pytest.mark.examples
def test_pkg_config_finds_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("pkg-config") is None:
        pytest.skip("pkg-config is not installed")
    folder = run(sys.executable, "-m", "dtau", "--pkgconfig-dir").strip()
    monkeypatch.setenv("PKG_CONFIG_PATH", folder)
    assert run("pkg-config", "--modversion", "dtau").strip() == dtau.__version__
    flags = "$(pkg-config --cflags --libs dtau)"
    source = ROOT / "examples/cpp/computed_torque.cpp"
    run("sh", "-c", f"c++ -std=c++20 '{source}' {flags} -o '{tmp_path}/arm'")
    (tmp_path / "a b").symlink_to(Path(folder).parents[1])
    monkeypatch.setenv("PKG_CONFIG_PATH", f"{tmp_path}/a b/lib/pkgconfig")
    run("sh", "-c", f"eval c++ -std=c++20 -fsyntax-only '{source}' {flags}")
    dtau.load(ROOT / "examples/cpp/arm.urdf").save(tmp_path / "arm.dtau")
    assert "arm: 2 joints" in run(tmp_path / "arm", tmp_path / "arm.dtau")


@pytest.mark.examples
def test_the_control_loop_allocates_nothing(build: Path, robot_file: Path) -> None:
    text = run(build / "example/control_loop", robot_file, 0.2, *FEET)
    assert re.search(
        r"quadruped: 200 steps, base 0\.0(?!00)\d\d m lower .*, 0 allocations", text
    ), text


@pytest.mark.parametrize("option", ["--cmake-dir", "--pkgconfig-dir"])
def test_a_package_without_the_library(
    option: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dtau._core.__file__", "/nowhere/_core.so")
    assert main([option]) == 3
    assert "The package has it on Linux and macOS" in capsys.readouterr().err
