"""Write the stubs of `dtau._core`, for type checkers: `python src/python/stubs.py`.

Functions are declared from their rows in the registry; nanobind writes the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from nanobind.stubgen import StubGen

from dtau import _core
from dtau.registry import FUNCTIONS, POSE_FUNCTIONS, Argument, Function

ARRAY = "NDArray[numpy.float64]"
OPTIONS = {
    "frame": "str",
    "frames": "str | Sequence[str]",
    "axes": "str",
    "kind": "str",
    "f_ext_axes": "str",
    "prescribed": "NDArray[numpy.bool]",
    "integrator": "str",
    "inputs": "ArrayLike | None",
    "symmetric": "bool",
    "layout": "str",
    "joint_parameters": "bool",
    "contacts": "object",
    "regularization": "float",
    "forces": "bool",
    "by": "str | Sequence[str] | None",
    "coordinates": "str",
    "order": "int | None",
}


def signature(function: Function) -> str:
    """Return the line that declares a function."""
    model = [] if function.name in POSE_FUNCTIONS else ["model: object"]
    arguments = [*model, *map(argument, function.arguments)]
    result = result_type(function)
    out = ARRAY if result == ARRAY else f"Sequence[{ARRAY}]"
    arguments += [f"out: {out} | None = None", "threads: int | None = None"]
    return f"def {function.name}({', '.join(arguments)}) -> {result}: ..."


def argument(a: Argument) -> str:
    """Return the declaration of an argument."""
    kind = OPTIONS[a.name] if a.array is None else "ArrayLike"
    if a.default is None and not a.required and "None" not in kind:
        kind += " | None"
    return f"{a.name}: {kind}" + ("" if a.required else f" = {a.default!r}")


def result_type(function: Function) -> str:
    """Return the annotation of a function's result."""
    return f"dtau.results.{function.result_class}" if function.result_class else ARRAY


def stubs() -> str:
    """Return the text of `dtau/_core.pyi`."""
    generator = StubGen(_core)
    generator.put(_core)
    text = generator.get()
    text = text.replace("typing import NDArray", "typing import ArrayLike, NDArray")
    text = text.replace("from dtau._core import alone as alone", "import dtau.results")
    for function in (*FUNCTIONS.values(), *POSE_FUNCTIONS.values()):
        generic = f"def {function.name}(*args, **kwargs) -> Any: ..."
        text = text.replace(generic, signature(function))
    # Blank lines part classes alone.
    dense = r"(?m)^( *)(def .*|@.*|\w+ = \d)\n\n(?=\1(?:def |@|\w+ = \d))"
    text = re.sub(dense, r"\1\2\n", text)
    text += "\nalone: Any  # the same functions, state by state even in a batch\n"
    return f"# src/python/renew.py writes this file.\n{text}"


def texts() -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of the stubs."""
    yield Path(__file__).parents[2] / "python/dtau/_core.pyi", stubs()


if __name__ == "__main__":
    for path, text in texts():
        path.write_text(text, encoding="utf-8")
