"""Functions that `dtau.jax`, `dtau.torch` and `dtau.casadi` have in common, written from rows."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pickle
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from adapter_cases import ARGUMENTS, arrays, function, near, robot
from files import ROOT
from processes import python

import dtau
from dtau.autodiff import blocks, compositions, contacts, frames, steps
from dtau.autodiff.functions import (
    CONSTRAINED,
    PUBLIC,
    Order,
    composition,
    jacobians,
    link,
    order_of,
    takes_inertias,
)
from dtau.autodiff.libraries import LIBRARIES
from dtau.autodiff.rows import FUNCTIONS, PARAMETERS
from dtau.autodiff.write import define

try:
    import jax
    import torch
except ImportError:
    pass

TYPES = {
    *("ConstrainedDynamics", "ImpulseDynamics", "KinematicsTimeDerivatives"),
    *("NextState", "Placements", "TangentMap"),
}
NAMES = ["jax", "torch", "casadi"]


@pytest.fixture(params=NAMES)
def adapter(request: pytest.FixtureRequest) -> Any:
    pytest.importorskip(request.param)
    return importlib.import_module(f"dtau.{request.param}")


def test_an_adapter_lists_its_functions_alone(adapter: Any) -> None:
    assert dir(adapter) == sorted(adapter.__all__)


def test_arguments_are_those_of_the_package(adapter: Any) -> None:
    """But for memory, its layout and threads: with their kinds and defaults."""
    library = LIBRARIES[adapter.__name__.removeprefix("dtau.")]
    for name in set(adapter.__all__) - TYPES - set(dict(library.by_hand)):
        have = inspect.signature(getattr(adapter, name)).parameters
        want = inspect.signature(getattr(dtau, name)).parameters
        left_out = {"out", "threads", "positions", "layout"}
        left_out |= {*library.left_out(name)}
        kept = [x for x in want if x not in left_out]
        assert list(have) == kept, name
        for x in kept:
            assert (have[x].kind, have[x].default) == (want[x].kind, want[x].default), (name, x)


def test_functions_are_where_they_are_imported_from(adapter: Any) -> None:
    """By name too, as pickles and the site's links have them; with source for tracebacks."""
    for name in PUBLIC:
        function = getattr(adapter, name)
        assert function.__module__ == adapter.__name__
        assert function.__qualname__ == function.__name__ == name
        assert pickle.loads(pickle.dumps(function)) is function
        assert inspect.getsource(function.__code__).startswith(f"def {name}(model")


def test_stubs_of_a_wheel_have_the_docstrings(adapter: Any) -> None:
    code = runpy.run_path(str(ROOT / "src/python/adapter_docstrings.py"))
    library = adapter.__name__.removeprefix("dtau.")
    module = ast.parse(code["documented"](library, code["public_docstrings"]()))
    found = {x.name: ast.get_docstring(x) for x in module.body if isinstance(x, ast.FunctionDef)}
    assert found == {name: inspect.getdoc(getattr(adapter, name)) for name in PUBLIC}


def test_docstrings_are_written_without_numpy(tmp_path: Path) -> None:
    script = ROOT / "src/python/adapter_docstrings.py"
    subprocess.run([sys.executable, "-I", "-S", script, tmp_path], check=True)
    code = runpy.run_path(str(script))
    public = code["public_docstrings"]()
    for library in LIBRARIES:
        written = (tmp_path / library / "__init__.pyi").read_text(encoding="utf-8")
        assert written == code["documented"](library, public)


def test_functions_with_derivatives_have_rules() -> None:
    for name in PUBLIC:
        for axes in ("world", "body"):
            options = {"axes": axes} if "axes" in FUNCTIONS[name].options else {}
            rules = jacobians(name, options), composition(name, options)
            assert any(map(callable, rules)) == (order_of(name) is not Order.none), name


def test_rules_are_named_after_functions() -> None:
    """So that they are found."""
    kinds = {(blocks, contacts, steps, frames): ["x", "by"], (compositions,): ["x"]}
    for modules, parameters in kinds.items():
        for name, item in (pair for module in modules for pair in vars(module).items()):
            if inspect.isfunction(item) and [*inspect.signature(item).parameters] == parameters:
                assert name in FUNCTIONS or name.startswith("_") or name == "unit_wrenches", name


def test_rows_have_the_arguments_that_the_list_says() -> None:
    for name in PUBLIC:
        assert takes_inertias(name) == (PARAMETERS in {x.name for x in FUNCTIONS[name].inputs})
        assert (name in CONSTRAINED) == ("contacts" in FUNCTIONS[name].options)


@pytest.mark.processes
@pytest.mark.parametrize("library", NAMES)
def test_functions_are_written_without_docstrings(library: str) -> None:
    """Python drops the docstrings of which theirs are made. MuJoCo is not imported either."""
    pytest.importorskip(library)
    program = f"import sys, dtau.{library} as x; "
    program += "print(x.step.__doc__, x.step.__name__, 'mujoco' in sys.modules)"
    done = python(program, flags="-OO")
    assert done.stdout == "None step False\n", done.stderr


@pytest.mark.parametrize(
    ("library", "words"),
    [
        ("jax", "JAX, which is not installed: pip install 'jax>=0.6.1'"),
        ("torch", "PyTorch, which is not installed: pip install 'torch>=2.13'"),
        ("casadi", "CasADi, which is not installed: pip install 'casadi>=3.6.5'"),
    ],
)
def test_a_missing_library_is_named(library: str, words: str) -> None:
    program = f"import sys; sys.modules['{library}'] = None; import dtau.{library}"
    assert f"ImportError: dtau.{library} needs {words}" in python(program).stderr


# ------------------------------------------------------------------ a function more

# Functions that no adapter has, with a link to their Jacobians or without.
MORE = (
    *("center_of_mass_acceleration", "centroidal_momentum_matrix"),
    *("frame_velocities_derivatives", "inverse_dynamics_hessian"),
)


@pytest.fixture
def more(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    whole = list(PUBLIC)
    for name in MORE:
        names = tuple(x.name for x in FUNCTIONS[name].inputs if x.name != PARAMETERS)
        monkeypatch.setitem(ARGUMENTS, name, names)
    PUBLIC.extend(MORE)
    yield
    PUBLIC[:] = whole


def written(library: str, name: str) -> Any:
    """A module with a function that was written from its row."""
    pytest.importorskip(library)
    module = ModuleType(f"dtau.{library}")
    define(library, vars(module), [name])
    return module


def each(results: Any) -> tuple[Any, ...]:
    return tuple(results) if isinstance(results, tuple) else (results,)


@pytest.mark.processes
@pytest.mark.usefixtures("more")
@pytest.mark.parametrize("name", MORE)
@pytest.mark.parametrize("library", ["jax", "torch"])
def test_a_row_and_a_name_are_all_that_a_function_needs(library: str, name: str) -> None:
    """Values have the bits of the package; Jacobians are what the row names, or refused."""
    module, model = written(library, name), robot("every joint")
    x = arrays(name, model, 3)
    expected = each(function(name, model, dtau)(*x))
    of = function(name, model, module)
    if library == "jax":
        jax.config.update("jax_enable_x64", True)
        given, modes = x, (jax.jacfwd, jax.jacrev)
    else:
        given, modes = [torch.from_numpy(y) for y in x], (torch.func.jacfwd, torch.func.jacrev)
    for got, want in zip(each(of(*given)), expected, strict=True):
        assert np.array_equal(got, want)
    first = link(name, "derivatives")
    for mode in modes:
        if first:
            found = mode(of, argnums=tuple(range(len(x))))(*given)
            by_q, *others = getattr(dtau, first)(model, *x)
            blocks = (by_q @ dtau.tangent_map(model, x[0]).to_tangent, *others)
            for got, block in zip(found, blocks, strict=True):
                near(got, block, 1e-12)
        beyond = f"{first or name} has no d|of {first or name}|this asks for the third"
        with pytest.raises(NotImplementedError, match=beyond):
            mode(mode(of) if first else of)(*given)


@pytest.mark.usefixtures("more")
@pytest.mark.parametrize("name", MORE)
def test_casadi_replays_what_the_core_records(name: str) -> None:
    """Values, and derivatives that CasADi makes, whether or not the row names any."""
    module, model = written("casadi", name), robot("few joints")
    import casadi as ca

    x = arrays(name, model, 3)
    x[0] = 1.7 * x[0]  # quaternions count as normalized
    unit = [dtau.normalize(model, x[0]), *x[1:]]
    of = function(name, model, module)
    for got, want in zip(each(of(*x)), each(function(name, model, dtau)(*unit)), strict=True):
        rows = want.reshape(-1, 1) if want.ndim < 2 else want.reshape(-1, want.shape[-1])
        near(ca.densify(got), rows, 1e-12)
    s = ca.SX.sym("q", model.nq)
    y = ca.vec(ca.densify(each(of(s, *x[1:]))[0]))
    along = np.random.default_rng(1).standard_normal(model.nq)
    tangent, values = (ca.Function("f", [s], [z]) for z in (ca.jtimes(y, s, ca.DM(along)), y))
    h = 1e-6
    differences = (values(x[0] + h * along) - values(x[0] - h * along)) / (2 * h)
    near(tangent(x[0]), differences, 1e-6)


@pytest.mark.usefixtures("more")
@pytest.mark.parametrize("library", NAMES)
def test_a_function_more_has_a_docstring_and_a_line_of_the_stubs(
    monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    code = runpy.run_path(str(ROOT / "src/python/adapter_stubs.py"))
    for name in MORE:
        item = getattr(written(library, name), name)
        assert f"def {name}(model: Model, q" in code["stubs"](library)
        monkeypatch.setattr(importlib.import_module(f"dtau.{library}"), name, item, raising=False)
        examples = doctest.DocTestFinder().find(item, name, globs={})
        assert doctest.DocTestRunner().run(examples[0]).failed == 0
