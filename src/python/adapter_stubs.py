"""Write the stubs of `dtau.jax`, `dtau.torch` and `dtau.casadi`, and their list of functions.

Run `python src/python/adapter_stubs.py` after a change of a function that these libraries have. The
functions are generated at import, so type checkers need the stubs. The list is in
docs/array_libraries.md.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import dtau.results
from dtau.autodiff.functions import PUBLIC
from dtau.autodiff.libraries import LIBRARIES
from dtau.autodiff.rows import FUNCTIONS
from dtau.autodiff.write import row_of, signature, types_in

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/array_libraries.md"


def stubs(library: str) -> str:
    """Return the text of the `__init__.pyi` of a library."""
    described = LIBRARIES[library]
    headers = {name: signature(described, row_of(described, name)) for name in sorted(PUBLIC)}
    classes = sorted({x for name in PUBLIC if (x := FUNCTIONS[name].result_class)})
    types = {"Generic": "typing", "NamedTuple": "typing", "TypeVar": "typing"}
    for header in headers.values():
        types |= types_in(header)
    lines = ["# src/python/renew.py writes this file."]
    lines += [
        f"from {module} import {word}"
        for word, module in sorted(types.items(), key=lambda x: x[::-1])
    ]
    lines += [f"from {module} import {name} as {name}" for name, module in described.by_hand]
    lines += [described.imports, "", '_Array = TypeVar("_Array")', ""]
    for name in classes:
        lines.append(f"class {name}(NamedTuple, Generic[_Array]):")
        lines += [f"    {field}: _Array" for field in getattr(dtau.results, name)._fields]
    lines += ["", f"__all__ = {sorted([*classes, *headers, *dict(described.by_hand)])}", ""]
    lines += [f"{header} ..." for header in headers.values()]
    return "\n".join(lines) + "\n"


def page(text: str) -> str:
    """Return the text of docs/array_libraries.md with the names of the functions."""
    names = textwrap.fill(", ".join(f"`{name}`" for name in PUBLIC) + ".", 110)
    start, end = "<!-- functions -->\n", "<!-- end -->"
    head, _, rest = text.partition(start)
    return f"{head}{start}{names}\n{end}{rest.partition(end)[2]}"


def texts() -> Iterator[tuple[Path, str]]:
    """Yield paths and texts of the stubs and of the page."""
    yield PAGE, page(PAGE.read_text(encoding="utf-8"))
    for library in LIBRARIES:
        yield ROOT / "python/dtau" / library / "__init__.pyi", stubs(library)


if __name__ == "__main__":
    for path, text in texts():
        path.write_text(text, encoding="utf-8")
