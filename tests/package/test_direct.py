"""Public functions that call the core themselves look and fail like their Python functions."""

from __future__ import annotations

import ast
import copy
import functools
import gc
import importlib
import inspect
import pickle
import pydoc
import typing
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from files import ROOT

import dtau
from dtau import _core
from dtau.registry import FUNCTIONS, POSE_FUNCTIONS

PACKAGE = ROOT / "python/dtau"
ROWS = {**FUNCTIONS, **POSE_FUNCTIONS}
MODEL = dtau.robots.quadruped()
Q, V, _ = dtau.random_state(MODEL, np.random.default_rng(0))


def sources() -> Iterator[tuple[Path, ast.FunctionDef]]:
    """The documented functions of all modules."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for function in ast.parse(path.read_text(encoding="utf-8")).body:
            decorators = {ast.unparse(x) for x in getattr(function, "decorator_list", [])}
            if decorators & {"documented", "direct"}:
                assert isinstance(function, ast.FunctionDef)
                yield path, function


def core_of(path: Path, function: ast.FunctionDef) -> str:
    """The function of the core that runs in place of this one, or nothing."""
    if ast.unparse(function.decorator_list[0]) != "direct":
        return ""
    return {"poses": "pose_", "rotations": "rotation_"}.get(path.parent.name, "") + function.name


def only_passes_on(function: ast.FunctionDef) -> bool:
    """Whether the body only passes the arguments on to a function of the core with these."""
    body = function.body[-1]
    if len(function.body) != 2 or not isinstance(body, ast.Return):
        return False
    if not isinstance(call := body.value, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    name = call.func.attr
    if ast.unparse(call.func) != f"_core.{name}" or call.keywords:
        return False
    given = [ast.unparse(x) for x in call.args]
    return given == [*core_defaults(name)] and defaults(function) == core_defaults(name)


def defaults(function: ast.FunctionDef) -> dict[str, object]:
    """The defaults of a function's arguments by their names, in the function's order."""
    a = function.args
    assert not a.posonlyargs
    assert not a.vararg
    missing = [inspect.Parameter.empty] * (len(a.args) - len(a.defaults))
    given = [*missing, *(ast.literal_eval(x) for x in a.defaults)]
    named = [inspect.Parameter.empty if x is None else ast.literal_eval(x) for x in a.kw_defaults]
    return dict(zip([x.arg for x in (*a.args, *a.kwonlyargs)], [*given, *named], strict=True))


def core_defaults(name: str) -> dict[str, object]:
    """The same of a function of the core."""
    empty = inspect.Parameter.empty
    model = {"model": empty} if name in FUNCTIONS else {}
    own = {x.name: empty if x.required else x.default for x in ROWS[name].arguments}
    return {**model, **own, "out": None, "threads": None}


DIRECT = {
    (path.relative_to(PACKAGE).with_suffix("").as_posix().replace("/", "."), function.name): core
    for path, function in sources()
    if (core := core_of(path, function))
}


def function_of(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"dtau.{module}"), name)


def test_functions_of_the_core_are_direct_and_no_others() -> None:
    """Positional arguments come first in the core's order, so that places mean the same."""
    assert len(DIRECT) > 100
    for path, function in sources():
        core, where = core_of(path, function), f"{path.name}: {function.name}"
        assert bool(core) == (len(function.body) == 1), where
        assert not only_passes_on(function), where
        if core:
            order = [*core_defaults(core)]
            assert defaults(function) == core_defaults(core), where
            assert [x.arg for x in function.args.args] == order[: len(function.args.args)], where


@pytest.mark.parametrize(("module", "name"), DIRECT)
def test_a_direct_function_looks_like_its_python_function(module: str, name: str) -> None:
    function = function_of(module, name)
    assert type(function) is type(dtau.integrate)
    python = function.__wrapped__
    assert inspect.isfunction(python)
    assert inspect.isroutine(function)
    assert inspect.signature(function) == inspect.signature(python)
    for attribute in ("__name__", "__qualname__", "__module__", "__doc__", "__annotations__"):
        assert getattr(function, attribute) == getattr(python, attribute)
    assert typing.get_type_hints(function) == typing.get_type_hints(python)
    assert inspect.getsource(function) == inspect.getsource(python)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(function, protocol)) is function
    assert copy.copy(function) is copy.deepcopy(function) is function
    assert repr(function) == f"<function {name}>"


def test_help_shows_signature_and_docstring() -> None:
    text = pydoc.plain(pydoc.render_doc(dtau.integrate))
    assert f"integrate{inspect.signature(dtau.integrate)}" in text
    assert "Displacement in the tangent space" in text


CALLS: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
    ((MODEL, Q, V), {}),
    ((MODEL, Q), {"dq": V}),
    ((), {"dq": V, "threads": 1, "q": Q, "model": MODEL}),
    ((MODEL, Q, V), {"out": None, "threads": None}),
    ((MODEL, [*Q], (*V,)), {}),
    ((MODEL, np.tile(Q, (3, 1)), V), {"threads": 2}),
)


@pytest.mark.parametrize(("arguments", "named"), CALLS)
def test_results_are_those_of_the_core(arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    want = _core.integrate(*arguments, **named)
    assert np.array_equal(dtau.integrate(*arguments, **named), want)


@pytest.mark.parametrize(
    ("arguments", "named", "said"),
    [
        ((), {}, "integrate() missing 3 required positional arguments: 'model', 'q', and 'dq'"),
        ((MODEL, Q), {}, "integrate() missing 1 required positional argument: 'dq'"),
        ((MODEL, Q, V, None), {}, "integrate() takes 3 positional arguments but 4 were given"),
        ((MODEL, Q, V), {"v": V}, "integrate() got an unexpected keyword argument 'v'"),
        ((MODEL, Q, V), {"q": Q}, "integrate() got multiple values for argument 'q'"),
        ((3, Q, V), {}, "model: expected a dtau.Model, got int"),
        ((MODEL, Q, "v"), {}, "dq: expected real numbers"),
        ((MODEL, Q, V), {"threads": "2"}, "threads: expected "),
        ((MODEL, Q, V), {"out": [1.0]}, "out: expected "),
    ],
)
def test_errors_are_those_of_the_python_function_and_of_the_core(
    arguments: tuple[Any, ...], named: dict[str, Any], said: str
) -> None:
    found: list[str] = []
    python = dtau.integrate.__wrapped__  # type: ignore[attr-defined]
    for function in (dtau.integrate, python if said.startswith("integrate()") else _core.integrate):
        with pytest.raises(TypeError) as error:
            function(*arguments, **named)
        found.append(str(error.value))
    assert found[0] == found[1]
    assert found[0].startswith(said)


def test_arguments_by_name_alone_are_not_taken_by_place() -> None:
    out = np.full(MODEL.nq, np.nan)
    with pytest.raises(TypeError, match="takes 3 positional arguments but 4 were given"):
        dtau.integrate(MODEL, Q, V, out)  # type: ignore[call-arg]
    assert np.isnan(out).all()


def test_tools_for_functions_take_direct_functions() -> None:
    @functools.wraps(dtau.integrate)
    def wrapper(*arguments: Any) -> Any:
        return dtau.integrate(*arguments)

    assert wrapper.__doc__ == dtau.integrate.__doc__
    assert inspect.signature(wrapper) == inspect.signature(dtau.integrate)
    assert wrapper.__wrapped__ is dtau.integrate
    want = dtau.integrate(MODEL, Q, V)
    assert np.array_equal(functools.partial(dtau.integrate, MODEL, dq=V)(Q), want)
    assert weakref.ref(dtau.integrate)() is dtau.integrate
    assert np.array_equal([*map(dtau.integrate, [MODEL], [Q], [V])], [want])


def test_an_attribute_of_a_class_is_a_method() -> None:
    class Robot:
        _tree = MODEL._tree
        mass_matrix: Any = dtau.mass_matrix

    assert np.array_equal(Robot().mass_matrix(Q), dtau.mass_matrix(MODEL, Q))
    assert Robot.mass_matrix is dtau.mass_matrix


def test_the_collector_finds_a_direct_function_and_its_python_function() -> None:
    def python(model: Any, q: Any, dq: Any, *, out: Any = None, threads: Any = None) -> None:
        """Nothing."""

    function: Any = _core.public_function(_core.integrate, python, 3)
    function.of_itself = function
    python.of_it = function  # type: ignore[attr-defined]
    ends = weakref.ref(function), weakref.ref(python)
    del function, python
    gc.collect()
    assert ends[0]() is ends[1]() is None


def test_only_functions_of_the_core_are_called() -> None:
    with pytest.raises(TypeError, match=r"^core: expected a function of the core"):
        _core.public_function(dtau.integrate, dtau.integrate, 3)
    with pytest.raises(TypeError, match=r"^core: expected a function of the core"):
        _core.public_function(len, len, 1)
