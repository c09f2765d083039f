"""The package as a whole: its examples, its stubs, what it imports."""

from __future__ import annotations

import doctest
import importlib
import importlib.metadata
import inspect
import pkgutil
import re
import runpy
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from files import ROOT, run_code_of
from functions import FUNCTIONS

import dtau
from dtau.registry import FUNCTIONS as REGISTRY

MODULES = ["dtau", *(m.name for m in pkgutil.walk_packages(dtau.__path__, "dtau."))]
EXTENSIONS = ("dtau._core", "dtau._recorder")
MODULES = [name for name in MODULES if not name.startswith(EXTENSIONS)]


PEERS = {  # what examples need beside the package
    "dtau.casadi": "casadi",
    "dtau.cli": "rich",
    "dtau.crocoddyl": "crocoddyl",
    "dtau.conventions.mujoco_model": "mujoco",
    "dtau.distances": "coal",
    "dtau.jax": "jax",
    "dtau.jax.mujoco": "mujoco",
    "dtau.loaders.mechanism": "mujoco",
    "dtau.mujoco": "mujoco",
    "dtau.torch": "torch",
    "dtau.torch.mujoco": "mujoco",
    "dtau.conventions.pinocchio_model": "pinocchio",
    "dtau.viewing": "viser",
}


@pytest.mark.examples
@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    for module, peer in PEERS.items():
        if name == module or name.startswith(f"{module}."):
            pytest.importorskip(peer)
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0


@pytest.mark.parametrize("name", dtau.__all__)
def test_public_functions_have_examples(name: str) -> None:
    item = getattr(dtau, name)
    assert item.__doc__
    if callable(item) and not isinstance(item, type):
        for section in ("Parameters", "Returns", "Examples"):
            assert section in item.__doc__, f"{name} has no section {section}"


@pytest.mark.parametrize("library", ["jax", "torch", "casadi"])
def test_functions_of_array_libraries_have_examples(library: str) -> None:
    pytest.importorskip(library)
    module = importlib.import_module(f"dtau.{library}")
    for name in module.__all__:
        item = getattr(module, name)
        if isinstance(item, type):
            assert item is getattr(dtau.results, name)
            continue
        for section in ("Parameters", "Returns", "Raises", "Examples"):
            assert section in (item.__doc__ or ""), f"{name} has no section {section}"


PAGES: dict[str, tuple[str, Callable[[dict[str, Any]], bool]]] = {
    # packages that a page needs, and what holds for the names that its code sets
    "README.md": ("", lambda x: x["J"].shape == (256, 6, 18)),
    "docs/array_libraries_casadi.md": ("casadi", lambda x: x["costs"].shape == (1, 100)),
    "docs/batches.md": ("", lambda x: x["grid"].shape == (8, 6, 18)),
    "docs/conventions.md": ("mujoco pinocchio", lambda x: bool(x)),
    "docs/distances.md": ("coal", lambda x: x["error"] < 1e-9 and x["worst"] < 1e-5),
    "docs/linearization.md": ("", lambda x: x["u"].shape == (10, 12)),
    "docs/mjcf.md": ("mujoco", lambda x: x["model"].nv == 5),
    "docs/models.md": (
        "",
        lambda x: (
            (x["loaded"], repr(x["pendulum"]))
            == (x["model"], "<Model 'pendulum': 1 body, nq = 1, nv = 1>")
        ),
    ),
}


@pytest.mark.parametrize("page", PAGES)
def test_code_of_pages_runs(page: str) -> None:
    packages, holds = PAGES[page]
    for package in packages.split():
        pytest.importorskip(package)
    assert holds(run_code_of(page))


def test_code_of_the_page_about_crocoddyl_runs() -> None:
    pytest.importorskip("crocoddyl")
    names = run_code_of("docs/crocoddyl.md")
    assert names["converged"]
    theirs = names["crocoddyl"].SolverFDDP(names["theirs"])
    theirs.solve(names["xs"], names["theirs"].quasiStatic(names["xs"][:-1]))
    assert abs(theirs.cost - names["solver"].cost) < 1e-9 * theirs.cost


def test_code_of_the_page_about_mujoco_derivatives_runs() -> None:
    pytest.importorskip("mujoco")
    pytest.importorskip("torch")
    names = run_code_of("docs/mujoco_derivatives.md")
    assert names["error"] < 1e-7
    np.testing.assert_allclose(names["u"].grad.numpy(), names["slopes"], atol=1e-9)
    for name, in_jax in names["slopes_in_jax"].items():
        in_torch = names["guess"][name].grad.numpy()
        np.testing.assert_allclose(in_jax, in_torch, atol=1e-9 * np.abs(in_torch).max())
    # The gradient of the rollout against differences, along a change of all controls
    ctrl, slopes = names["ctrl"][:32], np.asarray(names["slopes"])
    change = np.random.default_rng(0).normal(size=ctrl.shape)
    mujoco, mj_model = names["mujoco"], names["mj_model"]
    ends = []
    for step in (-1e-6, 1e-6):
        data = mujoco.MjData(mj_model)
        mujoco.mj_setState(mj_model, data, names["states"][0], names["kind"])
        for u in ctrl + step * change:
            data.ctrl[:] = u
            mujoco.mj_step(mj_model, data)
        ends.append(data.qpos[0])
    slope = (ends[1] - ends[0]) / 2e-6
    assert abs(slope - (slopes * change).sum()) < 1e-5 * np.abs(slopes).sum()


def test_code_of_the_page_about_identification_runs() -> None:
    names = run_code_of("docs/identification.md")
    assert (names["base"].rank, len(names["regressor"].names)) == (41, 60)
    assert names["found"].condition < 0.5 * names["found"].start_condition
    assert abs(names["predicted"] - names["tau"]).max() < 5 * 0.3
    assert abs(names["identified"].damping - 0.5).max() < 0.1


ARM = """<robot name="$(arg name)" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:arg name="safety_limits" default="false"/>
<xacro:include filename="parts/link.xacro"/>
<link name="base"/>
<xacro:if value="$(arg safety_limits)"><xacro:turning name="$(arg ur_type)"/></xacro:if>
</robot>"""
LINK = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:macro name="turning" params="name">
<link name="${name}"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="${name}"/></joint>
</xacro:macro>
</robot>"""


def test_the_recipe_for_arguments_of_xacro_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = pytest.importorskip("xacrodoc").packages
    monkeypatch.setattr(packages, "look_in", lambda folders: None)  # the page's are not here
    (tmp_path / "parts").mkdir()
    (tmp_path / "ur.urdf.xacro").write_text(ARM, encoding="utf-8")
    (tmp_path / "parts/link.xacro").write_text(LINK, encoding="utf-8")
    page = (ROOT / "docs/mjcf.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^    import xacro.*\n(?:(?:    .*)?\n)*", page, flags=re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"dtau": dtau}
    exec(textwrap.dedent(code), names)
    assert (names["model"].name, names["model"].bodies) == ("ur5e", ("ur5e",))


@pytest.mark.examples
def test_code_of_the_page_about_the_viewer_runs() -> None:
    pytest.importorskip("viser")
    assert run_code_of("docs/viewer.md")["image"].any()


def test_stubs_declare_every_function() -> None:
    code = runpy.run_path(str(ROOT / "src/python/stubs.py"))
    shipped = Path(dtau.__file__).with_name("_core.pyi").read_text()
    for function in REGISTRY.values():
        assert code["signature"](function) in shipped


def test_every_function_of_the_core_is_public_documented_and_in_the_table() -> None:
    tested = {function.name for function in FUNCTIONS}
    for name, row in REGISTRY.items():
        public = getattr(dtau, name)
        assert name in dtau.__all__
        assert name in tested
        assert "Examples" in public.__doc__
        parameters = list(inspect.signature(public).parameters.values())
        names = [x.name for x in parameters]
        assert names == ["model", *(x.name for x in row.arguments), "out", "threads"]
        for parameter, argument in zip(parameters[1:], row.arguments, strict=False):
            assert (parameter.default is parameter.empty) == argument.required, argument.name
            assert argument.required or parameter.default == argument.default, argument.name


def test_package_is_typed() -> None:
    assert (Path(dtau.__file__).parent / "py.typed").exists()


def test_version_is_that_of_the_distribution() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", dtau.__version__)
    assert importlib.metadata.version("dtau") == dtau.__version__


def test_only_numpy_is_imported() -> None:
    code = "import sys, numpy; old = set(sys.modules); import dtau; print(*set(sys.modules) - old)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    foreign = (
        {name.partition(".")[0] for name in loaded}
        - set(sys.stdlib_module_names)
        - {"dtau", "numpy"}
    )
    assert not {name for name in foreign if not name.startswith("_")}
    assert "dtau.autodiff" not in loaded
