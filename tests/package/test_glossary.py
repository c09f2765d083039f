"""The docstrings of functions, put together from the glossary: complete, and as their rows say."""

from __future__ import annotations

import ast
import inspect
import os
import re
import runpy
import subprocess
import sys
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from files import ROOT
from test_docstrings import named, taken

import dtau
from dtau import poses, rotations
from dtau.docstrings import assembly, errors
from dtau.docstrings.entries import entries
from dtau.docstrings.glossary import ARGUMENTS, RESULTS
from dtau.registry import FUNCTIONS, Array

FUNCTIONS_OF_MODELS = [
    name
    for name in dtau.__all__
    if getattr(getattr(dtau, name), "__module__", "").startswith("dtau.functions.")
]
OF_POSES = [f"{m.__name__[5:]}.{name}" for m in (poses, rotations) for name in m.__all__]
DOCUMENTED = [*FUNCTIONS_OF_MODELS, *OF_POSES]
SYMBOLS = {
    "nu": "ninputs",
    "2 nv + nu": "2 nv + ninputs",
}  # axes of rows that docstrings call by their usual letter


def function_of(name: str) -> Any:
    """Return a function by its name in the package, of poses with their module."""
    return reduce(getattr, name.split("."), dtau)


def section(name: str, title: str) -> str:
    text = inspect.getdoc(function_of(name)) or ""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-{{3,}}$|\Z)", text, re.S | re.M)
    return found[1].rstrip() if found else ""


def axes(head: str) -> tuple[str | int, ...]:
    """The axes of one state, in the first shape of the head of an entry."""
    shape = re.search(r"\(\.\.\.(?:, )?([^)]*)\)", head)
    assert shape, head
    names = shape[1].split(", ") if shape[1] else []
    return tuple(int(x) if x.isdigit() else SYMBOLS.get(x, x) for x in names)


def expected(array: Array) -> tuple[str | int, ...]:
    """The axes of a row, and before these the axis of the orders of time derivatives."""
    if array.rows is None:
        return array.axes
    return ("r" + (f" + {array.rows}" if array.rows else ""), *array.axes)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_function_has_all_sections(name: str) -> None:
    function = function_of(name)
    assert named(function, "Parameters") == taken(function)
    for title in ("Parameters", "Returns", "Raises", "Examples"):
        text = section(name, title)
        assert text, title
        if title != "Examples":
            assert [x for x in entries(text).values() if "\n" not in x] == [], "without a text"
    text = inspect.getdoc(function) or ""
    assert "    ..." not in text.partition("\nExamples\n")[0]
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("name", FUNCTIONS)
def test_shapes_are_those_of_the_rows(name: str) -> None:
    row = FUNCTIONS[name]
    parameters = entries(section(name, "Parameters"))
    for array in row.inputs:
        head = parameters[array.name].partition("\n")[0]
        assert axes(head) == expected(array), head
        assert head.endswith(", optional") or not array.optional
    returned = section(name, "Returns")
    if row.result_class:
        assert list(entries(returned)) == [row.result_class]
        heads = re.findall(r"^    (\w+) : (.*)$", returned, flags=re.M)
    else:
        heads = re.findall(r"^(\w+) : (.*)$", returned, flags=re.M)
        assert axes(parameters["out"]) == expected(row.results[0])
    results = (*row.results, *row.force_results, *row.by_results)
    assert [(x, axes(head)) for x, head in heads] == [(x.name, expected(x)) for x in results]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_joints_without_inertia_are_refused_where_the_row_says_so(name: str) -> None:
    said = "have no inertia to accelerate" in " ".join(section(name, "Raises").split())
    assert said == FUNCTIONS[name].solves


def test_every_entry_of_the_glossary_is_used() -> None:
    sections = [section(name, title) for name in DOCUMENTED for title in ("Parameters", "Returns")]
    text = " ".join("\n".join(sections).split())
    for glossary in (ARGUMENTS, RESULTS):
        for name, entry in entries(glossary).items():
            words = " ".join(entry.partition("\n")[2].split())
            assert words.removeprefix("... ") in text, name


def test_an_entry_of_a_function_replaces_or_adds() -> None:
    """By its name alone or with a type, with words of its own or with further ones."""
    text = (
        "Move.\n\nParameters\n----------\nq\n    ... Finite.\nv : array_like (3,)\n    Speed.\n\n"
        "Returns\n-------\ntau\n    ... Finite.\n\nRaises\n------\nValueError\n    ... it is late."
        "\nOSError\n    If it is wet.\n\nNotes\n-----\nFast."
    )
    done = assembly.complete("move", text, ("q", "v", "out"), {})
    assert done.startswith("Move.\n\nParameters\n----------\nq : array_like (..., nq)\n    Config")
    assert (
        "each other.\n    Finite.\nv : array_like (3,)\n    Speed.\nout : ndarray (..., nv)" in done
    )
    assert "frame.\n    Finite.\n\nRaises" in done
    assert "from unit norm, or it is late.\nTypeError\n" in done
    assert done.endswith("OSError\n    If it is wet.\n\nNotes\n-----\nFast.")


def test_conditions_make_a_sentence() -> None:
    assert errors.wrapped("If it rains.") == "    If it rains."
    assert max(map(len, errors.wrapped("word " * 90).splitlines())) <= 100


def test_without_docstrings_there_is_nothing_to_complete() -> None:
    code = "import dtau; assert dtau.inverse_dynamics.__doc__ is None"
    subprocess.run([sys.executable, "-OO", "-c", code], check=True)


MODULES = dict(runpy.run_path(str(ROOT / "src/python/complete_docstrings.py"))["modules"]())


def test_modules_of_a_wheel_have_the_docstrings_in_their_source() -> None:
    found = {
        f"{path.parts[0]}.{item.name}": ast.get_docstring(item)
        for path, text in MODULES.items()
        for item in ast.parse(text).body
        if isinstance(item, ast.FunctionDef)
    }
    for name in DOCUMENTED:
        assert found[name if "." in name else f"functions.{name}"] == inspect.getdoc(
            function_of(name)
        )


_IMPORT = "from dtau.support.direct import "
DECORATORS = {
    *("documented", "from dtau.docstrings import documented"),
    *(f"{start}{x}" for x in ("direct", "of_core") for start in ("", _IMPORT)),
}


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_modules_of_a_wheel_differ_in_docstrings_alone(path: Path) -> None:
    """So that types are the same."""

    def others(text: str) -> list[str]:
        module = ast.parse(text)
        for item in module.body:
            if isinstance(item, ast.FunctionDef):
                item.decorator_list = [x for x in item.decorator_list if not made(x)]
                item.body = item.body[bool(ast.get_docstring(item)) :]
        return [ast.unparse(x) for x in module.body if not made(x)]

    def made(item: ast.AST) -> bool:
        return ast.unparse(item) in DECORATORS

    source = (ROOT / "python/dtau" / path).read_text(encoding="utf-8")
    assert "documented" not in MODULES[path]
    assert "direct" not in MODULES[path].replace(_IMPORT, "").split()
    assert MODULES[path].count("@of_core\n") == source.count("@direct\n")
    assert others(MODULES[path]) == others(source)


def test_modules_of_a_wheel_need_no_package() -> None:
    script = ROOT / "src/python/complete_docstrings.py"
    code = (
        f"import runpy, sys; made = runpy.run_path({str(script)!r})['modules']\n"
        "assert len(list(made())) > 10 and not {'numpy', 'dtau._core'} & set(sys.modules)"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run([sys.executable, "-S", "-c", code], check=True, env=environment)
