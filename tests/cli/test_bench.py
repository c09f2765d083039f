"""`dtau bench`: what is timed, and that results are compared; not how long it takes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arms import ARM

import dtau
from dtau.cli import measurements
from dtau.cli.beside import Pinocchio, WrongResultError
from dtau.cli.measurements import FUNCTIONS
from dtau.cli.timing import Effort


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times that mean nothing."""
    monkeypatch.setattr(measurements, "EFFORT", Effort(rounds=2, block=1e-6))


def test_all_functions_beside_pinocchio(run: Any, arm: Path) -> None:
    pytest.importorskip("pinocchio")
    done = run("bench", arm, "--states", 8, "--threads", 2, "--damping", 0.3, "--json")
    assert (done.code, done.err) == (0, "")
    data = json.loads(done.out)
    assert data["machine"]["dtau"] == dtau.__version__
    assert data["threads"] == 2
    assert [row["function"] for row in data["functions"]] == list(FUNCTIONS)
    for row in data["functions"]:
        for way in ("lone", "batch", "threads"):
            assert 0 < row[way]["fastest"] <= row[way]["median"]
    beside = {row["function"] for row in data["functions"] if "pinocchio" in row}
    assert {"inverse_dynamics", "forward_dynamics_derivatives", "mass_matrix"} <= beside
    assert any("without damping" in remark for remark in data["remarks"])


@pytest.mark.parametrize("root", ["fixed", "free"])
def test_results_are_those_of_pinocchio(root: Any) -> None:
    """Continuous joints, another gravity and armature among them."""
    pytest.importorskip("pinocchio")
    text = ARM.replace('type="revolute"', 'type="continuous"', 1)
    model = dtau.load(text, root=root, gravity=(1, 2, -3), armature=0.4)
    q, v, a = dtau.random_state(model, np.random.default_rng(1), shape=(4,))
    peer = Pinocchio(model, {"q": q, "v": v, "a": a, "tau": dtau.inverse_dynamics(model, q, v, a)})
    tau = dtau.inverse_dynamics(model, q, v, a)
    assert peer.contender("inverse_dynamics", ("q", "v", "a"), (tau,), 4).states == 4
    d = dtau.forward_dynamics_derivatives(model, q, v, tau)
    assert peer.contender("forward_dynamics_derivatives", ("q", "v", "tau"), d, 4).states == 4
    with pytest.raises(WrongResultError, match="inverse_dynamics: Pinocchio's result differs by"):
        peer.contender("inverse_dynamics", ("q", "v", "a"), (1.1 * tau,), 4)


def test_a_broken_pinocchio_is_not_said_to_be_missing(
    run: Any, arm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pinocchio.py").write_text("raise ImportError('libpinocchio.so: no such file')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pinocchio", raising=False)
    done = run("bench", arm, "-f", "mass_matrix", "--threads", 1)
    said = " ".join(done.out.split())
    assert "Pinocchio cannot be imported: libpinocchio.so: no such file." in said
    assert "not installed" not in said


def test_pinocchio_takes_joints_in_any_order(run: Any, tmp_path: Path) -> None:
    """A site before the legs, and legs in another order than their names have."""
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    robot = tmp_path / "dog.xml"
    leg = '<body name="{0}"><joint name="{0}" axis="0 1 0"/><geom size=".1" pos="0 0 .{1}"/></body>'
    robot.write_text(
        '<mujoco><worldbody><body name="trunk"><freejoint name="float"/><geom size=".1"/>'
        f'<site name="site"/>{leg.format("b", 1)}{leg.format("a", 3)}</body></worldbody></mujoco>'
    )
    words = ["-f", "inverse_dynamics", "-f", "mass_matrix", "--states", 2, "--json"]
    data = json.loads(run("bench", robot, *words).out)
    assert all("pinocchio" in row for row in data["functions"]), data["remarks"]


def test_the_table(run: Any, arm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    monkeypatch.setenv("COLUMNS", "80")
    done = run("bench", arm, "-f", "mass_matrix", "-f", "step", "--threads", 1)
    assert done.code == 0
    assert done.out.startswith("arm: nv 2, 2 bodies\n")
    assert "Pinocchio is not installed (python -m pip install pin)." in done.out
    rows = [line.split() for line in done.out.splitlines()]
    assert ["function", "lone", "batch"] in rows
    assert [row[0] for row in rows if row and row[0] in FUNCTIONS] == ["mass_matrix", "step"]


def test_massless_joints_leave_out_what_solves(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    start, end = ARM.index('<link name="lower">'), ARM.index('<joint name="shoulder"')
    path.write_text(f'{ARM[:start]}<link name="lower"/><link name="tool"/>{ARM[end:]}')
    data = json.loads(run("bench", path, "--states", 2, "--json").out)
    timed = [row["function"] for row in data["functions"]]
    assert "inverse_dynamics" in timed
    assert not any(name.startswith(("forward_dynamics", "step", "linear")) for name in timed)


def test_what_needs_too_much_memory_is_left_out(
    run: Any, arm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measurements, "_NUMBERS", 7)
    names = ("mass_matrix", "inverse_dynamics_second_derivatives")
    done = run("bench", arm, *(word for name in names for word in ("-f", name)), "--json")
    data = json.loads(done.out)
    assert [(row["function"], row["states"]) for row in data["functions"]] == [("mass_matrix", 1)]
    assert any("Left out inverse_dynamics_second" in remark for remark in data["remarks"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-f", "inverse_dynamic"], "'inverse_dynamic' is not one of 'inverse_dynamics', "),
        (["--states", "0"], "0 is not in the range 1<=x<=1000000"),
        (["--threads", "many"], "'many' is not a valid integer"),
    ],
)
def test_mistakes(run: Any, arm: Path, options: list[str], message: str) -> None:
    done = run("bench", arm, *options)
    assert (done.code, done.out) == (3, "")
    assert message in done.err
