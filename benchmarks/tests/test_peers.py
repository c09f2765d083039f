"""Other packages beside this one: their results converted, what is wrong or missing, processes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import compilers
from benchmarks.checks import UnavailableError, WrongResultError
from benchmarks.experiments import peers as experiment
from benchmarks.peers import cases, jax_peer, mujoco_calls, mujoco_peer, opened, pinocchio_peer
from benchmarks.peers.cases import CHECKED, FUNCTIONS, LONE_STATES, Case, Way
from benchmarks.peers.jax_peer import ChildError, Jax
from benchmarks.peers.opened import Peers
from benchmarks.peers.pinocchio_peer import Compiled, Python
from benchmarks.peers.rows import Row, measured
from benchmarks.robots import Root, from_urdf
from fake_packages import PACKAGES

import dtau
from dtau.cli.timing import Contender

pytestmark = pytest.mark.benchmarks

ROOTS: tuple[Root, ...] = ("fixed", "free")


def link(name: str, mass: float) -> str:
    return (
        f'<link name="{name}"><inertial><origin xyz="0.1 -0.05 0.2" rpy="0.3 0 0.1"/>'
        f'<mass value="{mass}"/><inertia ixx="0.2" ixy="0.01" ixz="0.02" iyy="0.3" iyz="-0.01" '
        'izz="0.25"/></inertial></link>'
    )


def joint(name: str, kind: str, parent: str, child: str, axis: str) -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.2 0.1 -0.3" rpy="0.4 -0.2 0.7"/><axis xyz="{axis}"/>'
        '<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>'
    )


# Children listed late, names that Pinocchio sorts otherwise, an axis that is no coordinate axis.
URDF = (
    '<robot name="small">'
    + "".join(link(name, mass) for name, mass in (("base", 3.0), ("tip", 0.5), ("arm", 1.5)))
    + link("slider", 0.8)
    + joint("z_shoulder", "revolute", "base", "arm", "0 0.6 0.8")
    + joint("slide", "prismatic", "base", "slider", "1 0 0")
    + joint("a_elbow", "revolute", "arm", "tip", "0 1 0")
    + "</robot>"
)


@cache
def robot(root: Root, folder: Path) -> Any:
    pytest.importorskip("pinocchio")
    (folder / "small.urdf").write_text(URDF, encoding="utf-8")
    return replace(from_urdf(folder / "small.urdf", root), key="small")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("robots")


@pytest.fixture(autouse=True)
def _frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cases.FRAMES, "small", "tip")


def cases_of(root: Root, folder: Path, *names: str) -> Iterator[Case]:
    at = cases.states(robot(root, folder), 256)
    for function in names or FUNCTIONS:
        yield Case(function, robot(root, folder), at)


def agree(peer: cases.Peer, given: Iterator[Case]) -> set[str]:
    """The functions that a peer has, all of which give what the package does."""
    found = set()
    for case in given:
        way = peer.way(case)
        if isinstance(way, str):
            assert not way, f"{case.function}: {way}"
            continue
        found.add(case.function)
        allowed = cases.DIFFERENCES if way.differences else case.tolerance()
        assert way.error <= allowed, f"{peer.name}, {case.function}: {way.error:.1e}"
        way.each.run(1)
        if (many := way.batch(LONE_STATES, 1)) is not None:
            many.run(1)
    peer.close()
    return found


# What they compute


@pytest.mark.parametrize("root", ROOTS)
def test_pinocchio_agrees(root: Root, folder: Path) -> None:
    found = agree(Python(robot(root, folder)), cases_of(root, folder))
    assert found == {name for name in FUNCTIONS if name in pinocchio_peer.CALLS}


@pytest.mark.parametrize("root", ROOTS)
def test_mujoco_agrees(root: Root, folder: Path) -> None:
    pytest.importorskip("mujoco")
    found = agree(mujoco_calls.MuJoCo(robot(root, folder)), cases_of(root, folder))
    fixed_only = set(mujoco_calls._FIXED) if root == "free" else set()
    assert found == {name for name in FUNCTIONS if name in mujoco_calls.CALLS} - fixed_only


@pytest.mark.parametrize("root", ROOTS)
def test_casadi_agrees(root: Root, folder: Path) -> None:
    pytest.importorskip("casadi")
    from benchmarks.peers import casadi_calls

    functions = casadi_calls.Functions(robot(root, folder))
    found = agree(casadi_calls.VirtualMachine(functions), cases_of(root, folder))
    assert found >= {"inverse_dynamics", "forward_dynamics_derivatives", "frame_jacobians"}


def test_casadi_in_c_agrees(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("casadi")
    from benchmarks.peers import casadi_calls

    if not compilers.c_compiler():
        pytest.skip("there is no C compiler")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    names = ("inverse_dynamics", "inverse_dynamics_vjp")
    for _ in range(2):  # compiled, and from the folder
        code = casadi_calls.Code(casadi_calls.Functions(robot("fixed", folder)))
        assert agree(code, cases_of("fixed", folder, *names)) == set(names)
        assert len(list((tmp_path / "dtau-benchmarks").glob("casadi-*.so"))) == 2


def test_generated_code_is_checked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    casadi = pytest.importorskip("casadi")
    from benchmarks.peers import generated_code, pinocchio_casadi

    if not compilers.c_compiler():
        pytest.skip("there is no C compiler")
    one = robot("free", folder)
    states = tuple(dtau.random_state(one.model, np.random.default_rng(0), shape=(CHECKED + 1,)))
    notes: list[str] = []

    def names(quick: bool) -> list[str]:
        name = "inverse_dynamics_derivatives"
        return [
            x.code.name for x in generated_code.generated(one, name, states, quick, notes.append)
        ]

    def missing(*_: Any) -> Any:
        raise UnavailableError("no compiler")

    assert names(quick=True) == ["CasADi"]
    monkeypatch.setattr(pinocchio_casadi, "function", missing)
    assert names(quick=False) == ["CasADi"]
    said = "inverse_dynamics_derivatives, C of Pinocchio and CasADi: left out: no compiler"
    assert [said in note for note in notes] == [True, False], notes
    assert "of fixed roots" in notes[1] or "adam" in notes[1]
    x = casadi.SX.sym("x", one.peer.nq + 2 * one.peer.nv)
    wrong = casadi.Function("function", [x], [casadi.SX.ones(3 * one.model.nv**2)])
    monkeypatch.setattr(pinocchio_casadi, "function", lambda *_: wrong)
    with pytest.raises(WrongResultError, match="C of Pinocchio and CasADi: differs by"):
        names(quick=False)


class FakeHeaders:
    """What compiled headers would leave in their data: upper triangles, tensors in their order."""

    def __init__(self, given: Case) -> None:
        self.case = given
        self.name = given.function

    def robot(self, peer: Any) -> FakeHeaders:
        return self

    def results(self, function: str, arguments: Any, shapes: Any) -> list[Any]:
        if function != self.name:
            raise LookupError(function)
        want = pinocchio_peer.in_order(self.case)
        if function == "mass_matrix":
            return [np.triu(want[0])]
        return [want[0], want[2], want[1], want[3]]

    def loop(self, function: str, arguments: Any) -> Callable[[int], None]:
        return lambda passes: None


@pytest.mark.parametrize("name", ["mass_matrix", "inverse_dynamics_second_derivatives"])
def test_results_of_headers_are_converted(name: str, folder: Path) -> None:
    (case,) = cases_of("free", folder, name)
    headers: Any = [FakeHeaders(case)]
    peer = Compiled(case.robot, headers, "headers")
    assert agree(peer, cases_of("free", folder)) == {name}


# What is wrong


class Fake:
    """A peer that gives what the package gives, changed."""

    name = "fake"

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self.change = change

    def way(self, case: Case) -> Way | str:
        got = [self.change(x.copy()) for x in case.wanted]
        return Way(got, case.wanted, Contender(lambda passes: time.sleep(1e-5 * passes), 1))

    def close(self) -> None:
        pass


def timed(peer: cases.Peer, case: Case) -> Row:
    return measured(case, [peer], experiment.QUICK_MODES, True)


def shifted(x: Any) -> Any:
    x[-1, ..., 0] += 1e-6 * np.abs(x).max()
    return x


def not_a_number(x: Any) -> Any:
    x[2] = np.nan
    return x


@pytest.mark.parametrize("wrong", [shifted, not_a_number, lambda x: x[:, :1]])
def test_wrong_results_are_not_timed(wrong: Callable[[Any], Any], folder: Path) -> None:
    (case,) = cases_of("fixed", folder, "inverse_dynamics_derivatives")
    row = timed(Fake(lambda x: x), case)
    assert set(row.ratios) == set(experiment.QUICK_MODES)
    assert row.errors == {"fake": 0.0}
    with pytest.raises(WrongResultError, match="inverse_dynamics_derivatives: fake differs by"):
        timed(Fake(wrong), case)


def test_a_wrong_call_of_a_package_is_not_timed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (case,) = cases_of("free", folder, "inverse_dynamics")
    call = "rnea(m, d, q, v, 1.000001 * a)", ("tau",)
    monkeypatch.setitem(pinocchio_peer.CALLS, "inverse_dynamics", call)
    with pytest.raises(WrongResultError, match="inverse_dynamics: Pinocchio differs by"):
        timed(Python(case.robot), case)


def test_a_state_that_differs_from_a_batch_is_not_timed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (case,) = cases_of("fixed", folder, "mass_matrix")
    monkeypatch.setattr(Case, "check_alone", lambda self: 1e-16)
    with pytest.raises(WrongResultError, match="mass_matrix: one state differs from a batch"):
        timed(Fake(lambda x: x), case)


# What is missing


def test_missing_packages_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mujoco_peer, "available", lambda: False)
    monkeypatch.setattr(jax_peer, "interpreter", lambda library: None)
    monkeypatch.setattr(opened.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(opened.headers, "compiled", lambda order, left_out: [])
    monkeypatch.setattr(opened, "cxx_compilers", dict)
    notes: list[str] = []
    peers = Peers(False, notes)
    with peers.opened(robot("free", folder)) as found:
        assert [peer.name for peer in found] == ["Pinocchio"]
    names = {"headers, clang++", "headers, g++", "CasADi", "MuJoCo", "adam", "frax"}
    assert peers.missing == dict.fromkeys(names, "not installed")
    assert set(peers.columns()) == {"Pinocchio", "CasADi's C", *names}
    assert len(notes) == len(names)
    assert any("adam: not installed (the variable DTAU_BENCHMARKS_JAX names" in x for x in notes)
    with peers.opened(robot("free", folder)):
        pass
    assert len(notes) == len(names)  # said once


def test_without_pinocchio(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("casadi")
    monkeypatch.setattr(mujoco_peer, "available", lambda: False)
    peers = Peers(True, [])
    with peers.opened(replace(robot("free", folder), peer=None)) as found:
        assert [peer.name for peer in found] == ["CasADi"]
    assert peers.missing == {"Pinocchio": "not installed", "MuJoCo": "not installed"}


def test_headers_that_miss_a_package_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(order: int, left_out: Callable[[str], None]) -> list[Any]:
        left_out("Pinocchio's headers by g++-13: left out: boost is missing")
        return []

    monkeypatch.setattr(opened.headers, "compiled", compiled)
    monkeypatch.setattr(opened, "cxx_compilers", lambda: {"/usr/bin/g++-13": "g++ 13"})
    notes: list[str] = []
    assert Peers(False, notes).missing == {
        "headers, clang++": "not installed",
        "headers, g++": "left out",
    }
    assert notes.count("Pinocchio's headers by g++-13: left out: boost is missing") == 1


# Packages in processes of their own

VALUES = (
    *("inverse_dynamics", "forward_dynamics", "mass_matrix", "mass_matrix_inverse", "bias_torque"),
    *("gravity_torque", "center_of_mass"),
)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in PACKAGES.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv(jax_peer.INTERPRETER, sys.executable)


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize(
    ("library", "root", "names"),
    [("adam", "fixed", ("mass_matrix",)), ("frax", "fixed", VALUES), ("frax", "free", VALUES)],
)
def test_what_a_child_computes(
    library: str, root: Root, names: tuple[str, ...], folder: Path
) -> None:
    pytest.importorskip("mujoco")
    child = Jax(robot(root, folder), library)
    assert child.loading > 0.0
    assert agree(child, cases_of(root, folder, *names, "integrate")) == set(names)
    child.close()  # again


@pytest.mark.usefixtures("packages")
def test_a_child_that_fails_is_slow_or_dies(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = Jax(robot("fixed", folder), "adam")
    names = ("mass_matrix", "gravity_torque", "frame_placements", "center_of_mass")
    right, fails, dies, slow = cases_of("fixed", folder, *names)
    with pytest.raises(ChildError, match="ValueError: no gravity here"):
        child.way(fails)
    assert isinstance(child.way(right), Way)  # it lives
    with pytest.raises(ChildError, match="its process has ended"):
        child.way(dies)
    assert isinstance(child.way(right), Way)  # a new one
    monkeypatch.setattr(jax_peer, "PATIENCE", 0.3)
    with pytest.raises(ChildError, match="over 0 s to compile"):
        child.way(slow)
    monkeypatch.setattr(jax_peer, "PATIENCE", 60.0)
    assert isinstance(child.way(right), Way)
    monkeypatch.setattr(jax_peer, "ALLOWANCE", 0.1)
    assert child.way(right) == "0 s of compiling used up"
    child.close()
    with pytest.raises(ChildError, match="its process has ended"):
        child._ask("forget")


@pytest.mark.usefixtures("packages")
def test_an_error_of_the_child_itself_is_no_limit_of_a_package(folder: Path) -> None:
    child = Jax(robot("fixed", folder), "frax")
    (case,) = cases_of("fixed", folder, "inverse_dynamics_derivatives")
    with pytest.raises(RuntimeError, match=r"frax's process: AttributeError: .*jacfwd"):
        child.way(case)  # the fake JAX has no such function, which the child calls
    child.close()


@pytest.mark.usefixtures("packages")
def test_a_child_that_cannot_be_imported_is_no_limit_of_a_package(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "jax/__init__.py").write_text("raise ImportError('half of it')", encoding="utf-8")
    with pytest.raises(RuntimeError, match="adam's process: ImportError: half of it"):
        Jax(robot("fixed", folder), "adam")


@pytest.mark.usefixtures("packages")
def test_an_interpreter_without_the_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr(jax_peer, "LIBRARIES", {"no_such_package": ""})
    with pytest.raises(ChildError, match=r"^not installed$"):
        Jax(robot("fixed", folder), "no_such_package")


def test_a_row_says_why_a_peer_is_not_there(folder: Path) -> None:
    class Ended(Fake):
        def way(self, case: Case) -> Way | str:
            raise ChildError("over 60 s to compile")

    (case,) = cases_of("fixed", folder, "mass_matrix")
    row = timed(Ended(lambda x: x), case)
    assert row.reasons == {"fake": "over 60 s to compile"}
    (lone, _) = experiment.tables([row], ["fake", "other"], {"other": "not installed"})
    assert lone.rows[0][-2:] == ["over 60 s to compile", "not installed"]


def test_functions_are_known_to_the_package(folder: Path) -> None:
    """Results have the axes of the registry, less one frame's axis, and the same bits alone."""
    for root in ROOTS:
        for case in cases_of(root, folder):
            assert [x.ndim - 1 for x in case.wanted] == [len(axes) for axes in case.axes]
            assert all(len(x) == CHECKED for x in case.wanted)
            assert case.check_alone() == 0.0
            case.lone().run(1)
            case.batch(LONE_STATES, 1).run(1)
