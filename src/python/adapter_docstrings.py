"""Write stubs with docstrings into an installation: `adapter_docstrings.py FOLDER`.

The functions of `dtau.jax`, `dtau.torch` and `dtau.casadi` are generated at import, and editors do
not run code. So a wheel has stubs of them with the docstrings that ``help()`` shows.

FOLDER is the installed package. The script runs with the Python that builds the wheel, without
NumPy and without the compiled core.
"""

from __future__ import annotations

import ast
import re
import runpy
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import indent
from types import ModuleType, SimpleNamespace

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python/dtau"


def links_of_rows() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the names of the rows in src/functions, and the functions that differentiate them."""
    for path in (ROOT / "src/functions").glob("*.cpp"):
        for row in path.read_text(encoding="utf-8").split('.name = "')[1:]:
            links = re.search(r"\.links = \{(.*?)\}", row, flags=re.DOTALL)
            pairs = re.findall(r'\.(\w+) = "(\w+)"', links[1]) if links else []
            yield row.partition('"')[0], dict(pairs)


if "dtau" not in sys.modules:  # a bare package with the rows: the real modules would load the core
    sys.modules["dtau"] = ModuleType("dtau")
    sys.modules["dtau"].__path__ = [str(PACKAGE)]
    registry = sys.modules["dtau.registry"] = ModuleType("dtau.registry")
    registry.FUNCTIONS = {x: SimpleNamespace(links=links) for x, links in links_of_rows()}

from dtau.autodiff.docstrings import docstring  # noqa: E402
from dtau.autodiff.libraries import LIBRARIES  # noqa: E402


def documented(library: str, public: Mapping[str, str]) -> str:
    """Return the stub of a library with docstrings derived from the functions of `dtau`."""
    lines = []
    for line in (PACKAGE / library / "__init__.pyi").read_text(encoding="utf-8").split("\n"):
        if line.startswith("def "):
            header, name = line.removesuffix(" ..."), line[4 : line.index("(")]
            text = docstring(LIBRARIES[library], header, public[name]) or ""
            text = text.replace("\\", "\\\\").replace('"""', '\\"""')
            line = header + "\n" + indent(f'"""{text}"""', "    ")
        lines.append(line)
    return "\n".join(lines)


def public_docstrings() -> dict[str, str]:
    """Return the complete docstrings of the functions of `dtau`, by their names."""
    complete = runpy.run_path(str(Path(__file__).with_name("complete_docstrings.py")))
    return {
        item.name: ast.get_docstring(item) or ""
        for path, text in complete["modules"]()
        if path.parts[0] == "functions"  # functions of dtau.poses have the same names
        for item in ast.parse(text).body
        if isinstance(item, ast.FunctionDef)
    }


if __name__ == "__main__":
    public = public_docstrings()
    for library in LIBRARIES:
        place = Path(sys.argv[1], library, "__init__.pyi")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(documented(library, public), encoding="utf-8")
