"""Write the stubs of `dtau._core`, for type checkers: `python src/python/stubs.py`.

Its functions describe themselves; the rest is nanobind's own work.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nanobind.stubgen import StubGen

from dtau import _core

ARRAY = "NDArray[numpy.float64]"
OPTIONS = {
    "frames": "str | Sequence[str]",
    "axes": "str",
    "kind": "str",
    "f_ext_axes": "str",
    "prescribed": "NDArray[numpy.bool]",
    "integrator": "str",
    "driven": "NDArray[numpy.int32] | None",
    "symmetric": "bool",
    "packed": "bool",
    "joint_parameters": "bool",
    "contacts": "object",
    "damping": "float",
    "order": "int | None",
}


def signature(function: dict[str, Any]) -> str:
    """Return the line that declares a function."""
    arguments = ["model: object"]
    arguments += [f"{option}: {OPTIONS[option]}" for option in function["options"]]
    for name, _, optional, _ in function["inputs"]:
        arguments.append(f"{name}: ArrayLike" + (" | None" if optional else ""))
    result = result_type(function)
    out = ARRAY if result == ARRAY else f"Sequence[{ARRAY}]"
    arguments += [f"out: {out} | None = None", "threads: int | None = None", "/"]
    return f"def {function['name']}({', '.join(arguments)}) -> {result}: ..."


def result_type(function: dict[str, Any]) -> str:
    """Return the annotation of what a function returns."""
    if function["result_class"] is None:
        return ARRAY
    name = f"dtau.results.{function['result_class']}"
    with_wrenches = any(optional for _, _, optional, _ in function["results"])
    return f"{name} | {name}WithWrenches" if with_wrenches else name


def stubs() -> str:
    """Return the text of `dtau/_core.pyi`."""
    generator = StubGen(_core)
    generator.put(_core)
    text = generator.get()
    text = text.replace("typing import NDArray", "typing import ArrayLike, NDArray")
    text = text.replace("from dtau._core import alone as alone", "import dtau.results")
    for function in _core.functions():
        generic = f"def {function['name']}(*args, **kwargs) -> Any: ..."
        text = text.replace(generic, signature(function))
    return text + "\nalone: Any  # the same functions, state by state even in a batch\n"


if __name__ == "__main__":
    Path(_core.__file__).with_name("_core.pyi").write_text(stubs())
