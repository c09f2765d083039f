"""Write the typed calls of the C++ library from the registry: `python src/python/typed_calls.py`.

A class for each function, in a header for each module of functions: `include/dtau/library/calls`.
Functions of poses and of rotations, which take no model, have one header each.
The site lists them all below `docs/api/cpp_calls.md`: `sections`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from textwrap import indent, wrap

import renew

from dtau import poses, rotations
from dtau.registry import FUNCTIONS, POSE_FUNCTIONS, Array, Function

FOLDER = "include/dtau/library/calls"
UMBRELLA = "include/dtau.hpp"
WIDTH = 100
NO_MODEL = {"pose": poses, "rotation": rotations}  # modules by the prefixes of their rows
ROWS = {**FUNCTIONS, **POSE_FUNCTIONS}
LINES = {  # functions that Python gives another name
    "pose_from_placement": "Poses from rotation matrices and translations.",
    "pose_to_placement": "Rotation matrices and translations of poses.",
    "rotation_normalize": "Unit quaternions of quaternions of any norm.",
}


def texts() -> Iterator[tuple[Path, str]]:
    """Yield paths and texts of the headers."""
    modules = _modules()
    for module, functions in modules.items():
        yield renew.ROOT / FOLDER / f"{module}.hpp", _header(module, functions)
    path = renew.ROOT / UMBRELLA
    head, *_ = path.read_text(encoding="utf-8").partition("\n#include")
    headers = ["call", "contacts", "model", "views", *(f"calls/{module}" for module in modules)]
    lines = sorted(f'#include "dtau/library/{name}.hpp"\n' for name in headers)
    yield path, f"{head}\n" + "".join(lines)


def sections() -> str:
    """Return the tables of the calls, a section for each header."""
    return "".join(_section(*item) for item in _modules().items())


def _modules() -> dict[str, Mapping[str, str]]:
    """Return first lines of docstrings by function, for each header."""
    modules = {name: _compiled(functions) for name, functions in renew.modules().items()}
    missing = set(FUNCTIONS).difference(*modules.values())
    if missing:
        raise ValueError(f"expected a Python function for each row, got none for {sorted(missing)}")
    for prefix in NO_MODEL:
        rows = [name for name in POSE_FUNCTIONS if name.startswith(prefix)]
        modules[f"{prefix}s"] = {name: _line_of_poses(name) for name in rows}
    return {module: functions for module, functions in modules.items() if functions}


def _compiled(functions: Mapping[str, str]) -> dict[str, str]:
    return {name: line for name, line in functions.items() if name in FUNCTIONS}


def _line_of_poses(name: str) -> str:
    """Return the first line of the docstring in `dtau.poses` or `dtau.rotations`."""
    kind, _, function = name.partition("_")
    if name in LINES:
        return LINES[name]
    return getattr(NO_MODEL[kind], function).__doc__.partition("\n\n")[0]


def class_name(function: str) -> str:
    """Return the name of a function's class: `InverseDynamics` for inverse_dynamics."""
    return "".join(word.capitalize() for word in function.split("_"))


def _header(module: str, functions: Mapping[str, str]) -> str:
    source = f"functions.{module}" if module[:-1] not in NO_MODEL else module
    return (
        f"// Typed calls of dtau.{source}. src/python/renew.py writes this file.\n"
        '#pragma once\n\n#include "dtau/library/call.hpp"\n\n'
        "// clang-format off\nnamespace dtau {\n\n"
        + "\n".join(_class(ROWS[name], line) for name, line in functions.items())
        + "\n}  // namespace dtau\n"
    )


def _section(module: str, functions: Mapping[str, str]) -> str:
    """Return the part of the page that lists the calls of a header."""
    rows = ""
    for name, line in functions.items():
        arrays = "<br>".join(_arrays(ROWS[name])).replace("\0", " ")
        rows += f"| `{class_name(name)}` | {arrays} | {renew._row(line)} |\n"
    title = f"{module.capitalize().replace('_', ' ')}: `<dtau/library/calls/{module}.hpp>`"
    return f"\n## {title}\n\n| call | arrays | computes |\n|---|---|---|\n{rows}"


def _class(function: Function, line: str) -> str:
    name = class_name(function.name)
    given = [x for x in function.inputs if not x.optional]
    results = [x for x in function.results if not x.optional]
    more_given = [x for x in function.inputs if x.optional]
    more_results = [x for x in function.results if x.optional] + list(function.force_results)
    places = {id(x): f"x.{x.name}" for x in more_given}
    names = [x.name for x in function.inputs]
    to = {id(x): x.name + "_out" * (x.name in names) for x in results + more_results}
    lists = (
        ", ".join(places.get(id(x), x.name) for x in function.inputs),
        ", ".join(f"x.{to[id(x)]}" if x in more_results else to[id(x)] for x in _all(function)),
    )
    arrays = [f"InputView {x.name}" for x in given] + [f"ResultView {to[id(x)]}" for x in results]
    base = "CallOf" if function.name in FUNCTIONS else "PoseCallOf"
    head = f'struct {name} : {base}<"{function.name}">'
    if len(head) > WIDTH - 2:
        head = head.replace(" : ", "\n    : ")
    body = f"using {base}::{base};\n"
    more = ["std::ptrdiff_t states = 1"]
    if more_given or more_results:
        members = [_members("InputView", [x.name for x in more_given])]
        members += [_members("ResultView", [to[id(x)] for x in more_results])]
        lines = "".join(members)
        short = f"struct Optional {{ {lines.strip()} }};\n"
        long = f"struct Optional {{\n{lines}}};\n"
        body += short if lines.count("\n") == 1 and len(short) < WIDTH - 4 else long
        # A template: only behind the class have the members of Optional their defaults.
        body += "template <class X = Optional>\n"
        more.append("const X& x = {}")
    body += _operator([*arrays, *more], *lists)
    return f"{_comment(function, line)}{head} {{\n" + indent(body, "    ") + "};\n"


def _all(function: Function) -> tuple[Array, ...]:
    return (*function.results, *function.force_results)


def _members(kind: str, names: list[str]) -> str:
    """Return the line that declares members of one type, if there are some."""
    return _listed(f"    {kind} ", [f"{x} = {{}}" for x in names]) + ";\n" if names else ""


def _operator(parameters: list[str], inputs: str, results: str) -> str:
    head = _listed(
        "[[nodiscard]] bool operator()(", [*parameters[:-1], f"{parameters[-1]}) noexcept {{"]
    )
    body = f"return run({{{inputs}}}, {{{results}}}, states);"
    if len(body) > WIDTH - 8:
        inputs = _listed("return run({", f"{inputs}}},".split(", "), 8)
        body = inputs + "\n" + _listed(" " * 11 + "{", f"{results}}}".split(", "), 8) + ", states);"
    return f"{head}\n{indent(body, '    ')}\n}}\n"


def _listed(head: str, items: list[str], margin: int = 4) -> str:
    """Return a list that is broken between its items."""
    joined = ", ".join(x.replace(" ", "\0") for x in items)
    beside = wrap(joined, WIDTH - margin - len(head), break_long_words=False)
    column, lines = len(head), beside
    if max(map(len, beside)) + column + margin > WIDTH:
        column, lines = 8, ["", *wrap(joined, WIDTH - margin - 8, break_long_words=False)]
    return head + f"\n{' ' * column}".join(lines).replace("\0", " ")


def _comment(function: Function, line: str) -> str:
    """Return the first line of the docstring, the shapes of one state's arrays, and the options."""
    text = [" ".join(line.replace("``", "").replace("`", "").split())]
    text += [f"    {x}" for x in _arrays(function)]
    return "".join(
        f"// {piece}\n".replace("\0", " ")
        for paragraph in text
        for piece in wrap(paragraph, WIDTH - 3, subsequent_indent="    ")
    )


def _arrays(function: Function) -> Iterator[str]:
    """Yield the arrays that are required, the arrays that are optional, and the options."""
    given, results = (
        _joined(_shape(x) for x in arrays if not x.optional)
        for arrays in (function.inputs, function.results)
    )
    yield f"{given} -> {results}"
    more = [_shape(x) for x in function.inputs if x.optional]
    optional = [x for x in function.results if x.optional] + list(function.force_results)
    more += [f"-> {_shape(x)}" for x in optional]
    known = [x for x in function.options.values() if x.name != "by"]  # the library has none
    options = [f"{x.name} (required)" if x.required else x.name for x in known]
    if "parameters" in [x.name for x in function.inputs] and "joint_parameters" not in options:
        options.append("joint_parameters")  # Python sees the length
    for title, items in (("optional", more), ("arguments", options)):
        if items:
            yield f"{title}: {_joined(items)}"


def _joined(items: Iterable[str]) -> str:
    return ", ".join(x.replace(" ", "\0") for x in items)  # breaks only between them


def _shape(array: Array) -> str:
    axes = [str(axis) for axis in array.axes]
    if array.rows is not None:
        axes.insert(0, f"order + {array.rows}" if array.rows else "order")
    return f"{array.name} ({', '.join(axes)})" if axes else array.name


if __name__ == "__main__":
    for path, text in texts():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
