"""Assemble docstrings of an array library's functions: `docstring`.

They are derived from the docstrings of `dtau`, with the library's types, shapes, errors and notes,
and with an example for the library.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Sequence

from dtau.autodiff.examples import example
from dtau.autodiff.libraries import ArrayLibrary

_WIDTH = 96
_SHAPE = re.compile(r"\(\.\.\.((?:, [\w +]+)*)\)")
_REFUSED_OPTIONS = {
    "f_ext_axes": "``f_ext_axes`` is unknown",
    "integrator": "the integrator is unknown",
    "contacts": "the contacts belong to another model",
    "regularization": "``regularization`` is negative",
    "frames": "a name is unknown",
    "axes": "``axes`` is unknown",
}


def docstring(library: ArrayLibrary, header: str, public: str | None) -> str | None:
    """Derive the docstring of a function with this signature from the one of `dtau`'s function.

    None if Python dropped the docstrings (-OO).
    """
    if public is None:
        return None
    function = ast.parse(f"{header} ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    name, a = function.name, function.args
    taken = [x.arg for x in (*a.args, *a.kwonlyargs)]
    head, sections = _sections(inspect.cleandoc(public))
    summary, _, rest = head.partition("\n\n")
    summary = f"{summary} `dtau.{name}` for {library.title}."
    parts = [_filled(summary), rest]
    parts += _section("Parameters", _parameters(library, name, taken, sections["Parameters"]))
    parts += _section("Returns", _returns(library, name, sections["Returns"]))
    parts += _section("Raises", _raises(library, name, taken, sections["Raises"]))
    parts += _section("Notes", _notes(library, name, sections.get("Notes", "")))
    parts += _section("Examples", example(library, function, _axes(sections["Returns"])))
    return "\n\n".join(part for part in parts if part) + "\n"


def _sections(text: str) -> tuple[str, dict[str, str]]:
    """Split a docstring at its underlined titles."""
    head, *parts = re.split(r"^(\w+)\n-{3,}\n", text, flags=re.MULTILINE)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return head.strip(), {title: body.rstrip() for title, body in pairs}


def _section(title: str, body: str) -> list[str]:
    return [f"{title}\n{'-' * len(title)}\n{body}"]


def _entries(section: str) -> list[tuple[str, str]]:
    """Split a section into heads and the indented texts below them."""
    parts = re.split(r"^(?=\S)", section, flags=re.MULTILINE)
    pairs = (part.rstrip().partition("\n") for part in parts if part.strip())
    return [(head, textwrap.dedent(body)) for head, _, body in pairs]


def _filled(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), _WIDTH)


def _entry(head: str, body: str) -> str:
    return f"{head}\n{textwrap.indent(body, '    ')}".rstrip()


def _sentences_without(text: str, word: str) -> str:
    """Remove the sentences of a paragraph that contain a word."""
    kept = [x for x in re.split(r"(?<=\.)\s+", text) if word not in x.lower()]
    return " ".join(kept)


def _axes(text: str) -> tuple[str | int, ...]:
    """Return the axes of the first array that a text describes."""
    found = _SHAPE.search(text)
    axes = found[1].split(", ")[1:] if found else []
    return tuple(int(x) if x.isdigit() else x for x in axes)


def _shaped(library: ArrayLibrary, kind: str, text: str) -> str:
    """Replace NumPy's array types and shapes by the library's."""
    text = re.sub(r"\b(array_like|ndarray)\b", kind, text)
    return _SHAPE.sub(lambda found: library.shape(_axes(found[0])), text)


def _parameters(library: ArrayLibrary, name: str, taken: Sequence[str], section: str) -> str:
    entries, kind = [], library.described(name, result=False)
    states = library.states  # only once
    for head, body in _entries(section):
        names, colon, described = head.partition(" : ")
        kept = [x for x in map(str.strip, names.split(",")) if x in taken]
        if not kept:
            continue
        if described.startswith("array_like"):
            if described.startswith("array_like (...)") and "float" in library.number:
                described = f"{described} or float"
            if "nq" in described:
                body += " Quaternions need not have unit norm."
            body = _filled(f"{_sentences_without(body, library.batches)} {states}")
            states = ""
            described = _shaped(library, kind, described)
        entries.append(_entry(f"{', '.join(kept)}{colon}{described}", body))
    return "\n".join(entries)


def _returns(library: ArrayLibrary, name: str, section: str) -> str:
    return _shaped(library, library.described(name, result=True), section)


def _raises(library: ArrayLibrary, name: str, taken: Sequence[str], section: str) -> str:
    also = [_REFUSED_OPTIONS[x] for x in taken if x in _REFUSED_OPTIONS]
    if "inertia to accelerate" in " ".join(section.split()):
        also.append("joints have no inertia to accelerate")
    text = "".join(f", {x}" for x in also[:-1]) + (f", or {also[-1]}" if also else "")
    errors = library.raised(name, text)
    return "\n".join(_entry(error, _filled(when)) for error, when in errors)


def _notes(library: ArrayLibrary, name: str, section: str) -> str:
    more = map(_filled, library.notes(name))
    return "\n\n".join([*([section] if section else []), *more])
