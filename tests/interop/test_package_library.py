"""The C++ library inside the package, through ctypes: wheels have it too."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from c_interface import LIBRARY, CFunction, CModel

import dtau
from dtau import poses
from dtau.cli import main

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="the package has no C++ library on Windows"
)


@pytest.mark.parametrize("states", [1, 19])
def test_the_library_has_the_bits_of_python(states: int, tmp_path: Path) -> None:
    robot = dtau.robots.quadruped()
    robot.save(tmp_path / "robot.dtau")
    model = CModel(tmp_path / "robot.dtau")
    q, v, a = dtau.random_state(robot, np.random.default_rng(4), shape=(states,))
    for name, given in (
        ("mass_matrix", {"q": q}),
        ("inverse_dynamics_derivatives", {"q": q, "v": v, "a": a}),
        ("forward_dynamics", {"q": q, "v": v, "tau": a}),
    ):
        expected = getattr(dtau, name)(robot, *given.values())
        wanted = expected if isinstance(expected, tuple) else (expected,)
        for got, want in zip(
            CFunction(model, name, [], states)(states, given), wanted, strict=True
        ):
            assert got.tobytes() == np.ascontiguousarray(want).tobytes(), name
    (twist,) = CFunction(None, "pose_log", [], states)(states, {"pose": q[:, :7]})
    assert twist.tobytes() == poses.log(q[:, :7]).tobytes()


def test_files_for_projects(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--cmake-dir"]) == 0
    folder = Path(capsys.readouterr().out.strip())
    package = Path(dtau._core.__file__).parent
    assert folder == package / "lib/cmake/dtau"
    assert LIBRARY.is_file()
    assert main(["--pkgconfig-dir"]) == 0
    assert Path(capsys.readouterr().out.strip()) == package / "lib/pkgconfig"
    names = "dtauConfig.cmake", "dtauTargets.cmake", "dtauConfigVersion.cmake"
    for name in (*(f"cmake/dtau/{x}" for x in names), "pkgconfig/dtau.pc"):
        assert (package / "lib" / name).is_file()
    version = (folder / "dtauConfigVersion.cmake").read_text(encoding="utf-8")
    assert f'set(PACKAGE_VERSION "{dtau.__version__}")' in version
    for header in ("dtau.h", "dtau.hpp", "dtau/eigen.hpp", "dtau/library/calls/poses.hpp"):
        assert (package / "include" / header).is_file()
