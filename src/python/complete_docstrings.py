"""Write modules with complete docstrings into an installation: `complete_docstrings.py FOLDER`.

Editors read sources without running them. So they would not show the parts of docstrings that
`dtau.docstrings.documented` adds. A wheel therefore has these modules with the docstrings that
``help()`` shows, and without this decorator; everything else is as in the sources. Stubs are not
enough: Jedi and PyCharm take docstrings from the module even if there is a stub.

FOLDER is the installed package. The script runs with the Python that builds the wheel, without
NumPy and without the compiled core.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import indent
from types import ModuleType

PACKAGE = Path(__file__).parents[2] / "python/dtau"
# Lines of the sources, and of the modules with complete docstrings
LINES = {
    "@documented": None,
    "from dtau.docstrings import documented": None,
    "@direct": "@of_core",
    "from dtau.support.direct import direct": "from dtau.support.direct import of_core",
}


def modules() -> Iterator[tuple[Path, str]]:
    """Yield the modules with documented functions, by their paths in the package."""
    results = [ast.parse(x.read_text(encoding="utf-8")) for x in (PACKAGE / "results").glob("*.py")]
    classes = {x.name: x for file in results for x in file.body if isinstance(x, ast.ClassDef)}
    fields = {name: names_of_fields(x, classes) for name, x in classes.items()}
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "\n@documented\n" in source or "\n@direct\n" in source:
            yield path.relative_to(PACKAGE), completed(source, fields)


def names_of_fields(kind: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> list[str]:
    """Return the fields of a named tuple, and the attributes that it has beside them."""
    bases = [classes[name] for name in map(ast.unparse, kind.bases) if name in classes]
    own = [ast.unparse(x.target) for x in kind.body if isinstance(x, ast.AnnAssign)]
    return [name for base in bases for name in names_of_fields(base, classes)] + own


def completed(source: str, fields: Mapping[str, Sequence[str]]) -> str:
    """Return a module with the complete docstrings of its functions."""
    lines = source.split("\n")
    for function in reversed(ast.parse(source).body):
        if isinstance(function, ast.FunctionDef) and is_documented(function):
            old = function.body[0]
            lines[old.lineno - 1 : old.end_lineno] = quoted(docstring(function, fields))
    made = (LINES.get(line, line) for line in lines)
    return "\n".join(line for line in made if line is not None)


def is_documented(function: ast.FunctionDef) -> bool:
    """Whether a decorator completes the docstring of a function."""
    return not {"documented", "direct"}.isdisjoint(map(ast.unparse, function.decorator_list))


def docstring(function: ast.FunctionDef, fields: Mapping[str, Sequence[str]]) -> str:
    """Return the complete docstring of a function."""
    a = function.args
    arguments = [x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    returned = ast.unparse(function.returns).split(" | ") if function.returns else []
    own = {name: fields[name] for name in returned if name in fields}
    return complete(function.name, ast.get_docstring(function) or "", arguments, own)


def quoted(text: str) -> list[str]:
    """Return the lines of a docstring in the body of a function."""
    text = text.replace("\\", "\\\\").replace('"""', '\\"""')
    return indent(f'"""{text}\n"""', "    ").split("\n")


if "dtau" not in sys.modules:  # a bare package: the real __init__ would load the core
    sys.modules["dtau"] = ModuleType("dtau")
    sys.modules["dtau"].__path__ = [str(PACKAGE)]

from dtau.docstrings.assembly import complete  # noqa: E402

if __name__ == "__main__":
    for path, text in modules():
        place = Path(sys.argv[1], path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
