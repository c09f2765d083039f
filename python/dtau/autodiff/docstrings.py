"""Assembles docstrings of an array library's functions: `docstring`.

They are those of the functions of `dtau`, with the library's types and shapes, what it raises, its
notes and an example of its own.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Sequence

from dtau.autodiff.blocks import CONFIGURATIONS
from dtau.autodiff.examples import example
from dtau.autodiff.functions import PUBLIC
from dtau.autodiff.libraries import ArrayLibrary
from dtau.registry import Argument, Function

_WIDTH = 96
_REFUSED_OPTIONS = {
    "f_ext_axes": "``f_ext_axes`` is unknown",
    "integrator": "the integrator is unknown",
    "frames": "a name is unknown",
    "axes": "``axes`` is unknown",
}
_PRODUCTS = (
    "Gradients by `dtau.{vjp}`, of cost O(N) and without a matrix: for long rollouts. It bars "
    "forward mode and second derivatives{but}."
)


def docstring(
    library: ArrayLibrary, row: Function, arguments: Sequence[Argument], public: str | None
) -> str | None:
    """Return the docstring, from that of the function of `dtau`; None where Python drops them."""
    if public is None:
        return None
    head, sections = _sections(inspect.cleandoc(public))
    summary, _, rest = head.partition("\n\n")
    summary = f"{' '.join(summary.split()).rstrip('.')}: `dtau.{row.name}` for {library.title}."
    parts = [_filled(summary), rest]
    parts += _section("Parameters", _parameters(library, row, arguments, sections["Parameters"]))
    parts += _section("Returns", _returns(library, row, sections["Returns"]))
    parts += _section("Raises", _raises(library, row, arguments))
    parts += _section("Notes", _notes(library, row, arguments, sections.get("Notes", "")))
    parts += _section("Examples", example(library, row, arguments))
    return "\n\n".join(part for part in parts if part) + "\n"


def _sections(text: str) -> tuple[str, dict[str, str]]:
    """Split a docstring at its underlined titles."""
    head, *parts = re.split(r"^(\w+)\n-{3,}\n", text, flags=re.MULTILINE)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return head.strip(), {title: body.rstrip() for title, body in pairs}


def _section(title: str, body: str) -> list[str]:
    return [f"{title}\n{'-' * len(title)}\n{body}"]


def _entries(section: str) -> list[tuple[str, str]]:
    """Split a section into heads and what is indented below them."""
    parts = re.split(r"^(?=\S)", section, flags=re.MULTILINE)
    pairs = (part.rstrip().partition("\n") for part in parts if part.strip())
    return [(head, textwrap.dedent(body)) for head, _, body in pairs]


def _filled(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), _WIDTH)


def _entry(head: str, body: str) -> str:
    return f"{head}\n{textwrap.indent(body, '    ')}".rstrip()


def _sentences_without(text: str, word: str) -> str:
    """Leave out the sentences of a paragraph in which a word is."""
    kept = [x for x in re.split(r"(?<=\.)\s+", text) if word not in x.lower()]
    return " ".join(kept)


def _parameters(
    library: ArrayLibrary, row: Function, arguments: Sequence[Argument], section: str
) -> str:
    taken = {x.name: x for x in arguments}
    entries = []
    first = True
    for head, body in _entries(section):
        names, _, kind = head.partition(" : ")
        if names == "model":
            entries.append(_entry(head, body))
            continue
        kept = [name for name in map(str.strip, names.split(",")) if name in taken]
        if not kept:
            continue
        array = taken[kept[0]].array
        if array is not None:
            kind = f"{library.described(row.name, result=False)} {library.shape(array.axes)}"
            kind += " or float" if "float" in library.number and array.axes == () else ""
            kind += ", optional" if array.optional else ""
            body = _sentences_without(body, "batch axes")
            if kept[0] in CONFIGURATIONS:
                body += " Quaternions need no unit norm."
            body = _filled(f"{body} {library.states}" if first else body)
            first = False
        entries.append(_entry(", ".join(kept) + (f" : {kind}" if kind else ""), body))
    if library.products and (vjp := PUBLIC[row.name].vjp):
        but = "; by dt there is none then" if "dt" in taken else ""
        entries.append(_entry("products : bool", _filled(_PRODUCTS.format(vjp=vjp, but=but))))
    return "\n".join(entries)


def _returns(library: ArrayLibrary, row: Function, section: str) -> str:
    def shape(found: re.Match[str]) -> str:
        axes = [x.strip() for x in found[1].split(",") if x.strip()]
        return library.shape(tuple(int(x) if x.isdigit() else x for x in axes))

    kind = library.described(row.name, result=True)
    ((head, body), *more) = _entries(section)
    if not row.result_classes:
        name, named, _ = head.rpartition(" : ")
        head = f"{name}{named}{kind} {library.shape(row.results[0].axes)}"
    text = "\n".join([_entry(head, body), *(_entry(*x) for x in more)])
    return re.sub(r"\(\.\.\.((?:, \w+)*)\)", shape, re.sub(r"\bndarray\b", kind, text))


def _raises(library: ArrayLibrary, row: Function, arguments: Sequence[Argument]) -> str:
    also = [_REFUSED_OPTIONS[x.name] for x in arguments if x.name in _REFUSED_OPTIONS]
    if row.solves:
        also.append("joints have no inertia to accelerate")
    text = "".join(f", {x}" for x in also[:-1]) + (f", or {also[-1]}" if also else "")
    errors = library.raised(row.name, text)
    return "\n".join(_entry(error, _filled(when)) for error, when in errors)


def _notes(
    library: ArrayLibrary, row: Function, arguments: Sequence[Argument], section: str
) -> str:
    paragraphs = section.split("\n\n") if section else []
    if len(arguments) < len(row.arguments):
        paragraphs = [
            x if x.startswith(" ") else _filled(_sentences_without(x, "contacts"))
            for x in paragraphs
        ]
    return "\n\n".join([*paragraphs, *map(_filled, library.notes(row.name))])
