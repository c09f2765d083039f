"""Parse XML into elements that know their line, without entities or recursion: `parse`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NoReturn
from xml.parsers import expat

from dtau.support.errors import ModelError

_DEEPEST = 100  # robots' files nest about 6 deep
_DECLARATION = re.compile(r"<\?xml\s[^>]*\?>")
_MARK = re.compile("\ufeff|\xef\xbb\xbf")  # of byte order: in a text, and in UTF-8 read as Latin-1
_LATE = re.compile(f"(?:{_MARK.pattern})?(?:[ \\t\\r\\n]|<!--)")


@dataclass(slots=True)
class Element:
    """An element of a document, without its text."""

    tag: str
    attributes: dict[str, str]
    source: str
    line: int
    children: list[Element]

    def all(self, tag: str) -> Iterator[Element]:
        """Return the children with this tag."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        """Return the first child with this tag, or None."""
        for child in self.children:
            if child.tag == tag:
                return child
        return None

    def one(self, tag: str) -> Element | None:
        """Return the only child with this tag, or None; raise if there are several."""
        found = None
        for child in self.children:
            if child.tag == tag:
                if found is not None:
                    count = len(list(self.all(tag)))
                    raise child.error(f"expected one <{tag}> in <{self.tag}>, got {count}")
                found = child
        return found

    def error(self, message: object) -> ModelError:
        """Make an exception that names the element's file and line."""
        return ModelError(f"{self.source}, line {self.line}: {message}")


def parse(text: str | bytes, source: str, unread: Collection[str] = ()) -> Element:
    """Return the root element of a document.

    Parameters
    ----------
    text : str or bytes
        The document; bytes are decoded as its XML declaration says.
    source : str
        Name of the document in errors: its path.
    unread : collection of str
        Tags of elements whose contents are skipped.

    Raises
    ------
    ModelError
        If it is not well-formed XML, declares a document type or entities, or nests elements that
        are read deeper than 100.
    """
    try:
        return _read(text, source, unread, whole=True)
    except _NestedError:
        return _read(text, source, (), whole=True)


def root(text: str | bytes, source: str) -> Element:
    """Return the root element of a document without its children; the rest is not read.

    Raises
    ------
    ModelError
        If the document is not XML up to there, or declares a document type or entities.
    """
    return _read(text, source, (), whole=False)


def with_declaration_first(text: str | bytes) -> str | bytes:
    """Return a document whose XML declaration comes before white space and comments.

    XML wants it there; other readers of robots' files do not mind. Lines keep their numbers.
    """
    if isinstance(text, str):
        return _reordered(text) if _LATE.match(text) else text
    # bytes of UTF-8 or of an encoding like it; the declaration has the encoding's name
    if not _LATE.match(text[:8].decode("latin-1")):
        return text
    return _reordered(text.decode("latin-1")).encode("latin-1")


def _reordered(text: str) -> str:
    mark = _MARK.match(text)
    first = 0 if mark is None else mark.end()
    start = _after_comments(text, first)
    declaration = _DECLARATION.match(text, start)
    if declaration is None:
        return text
    one_line = declaration[0].replace("\n", " ")
    lines = "\n" * declaration[0].count("\n")
    return f"{text[:first]}{one_line}{text[first:start]}{lines}{text[declaration.end() :]}"


def _after_comments(text: str, at: int) -> int:
    """Return where a document continues after white space and comments."""
    while True:
        while at < len(text) and text[at] in " \t\r\n":
            at += 1
        if not text.startswith("<!--", at):
            return at
        end = text.find("-->", at + 4)
        if end < 0:
            return at
        at = end + 3


class _EnoughError(Exception):
    """Stops parsing after the root element."""


class _NestedError(Exception):
    """An element whose contents are skipped has one with its own tag in it."""


def _foreign_byte(content: str | bytes, at: int) -> str | None:
    """Describe the byte that stopped the parser of an XML if it is of no character in UTF-8."""
    if isinstance(content, str) or not content[at : at + 1] > b"\x7f":
        return None
    if not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):  # a picture, an archive
        return None
    try:
        content[at:].decode()
    except UnicodeDecodeError as error:
        if error.start == 0:
            return (
                f"expected UTF-8, got the byte {content[at]:#x}; a first line such as "
                '<?xml version="1.0" encoding="latin-1"?> names another encoding'
            )
    return None


def _read(text: str | bytes, source: str, unread: Collection[str], *, whole: bool) -> Element:
    parser = expat.ParserCreate()
    top = Element("", {}, source, 0, [])
    path = [top]

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, source, parser.CurrentLineNumber, [])
        if len(path) > _DEEPEST:
            raise element.error(f"expected at most {_DEEPEST} nested elements, got more")
        path[-1].children.append(element)
        path.append(element)
        if not whole:
            raise _EnoughError
        if tag in unread:  # most of a file; without this handler much faster
            parser.StartElementHandler = None
            parser.EndElementHandler = skip

    def skip(tag: str) -> None:
        if tag == path[-1].tag:
            parser.StartElementHandler, parser.EndElementHandler = start, end
            path.pop()

    def end(tag: str) -> None:
        if path.pop().tag != tag:  # `skip` took an inner end for the outer one
            raise _NestedError

    def refuse(*_: object) -> NoReturn:
        raise ModelError(
            f"{source}, line {parser.CurrentLineNumber}: expected plain XML, got a document type "
            "declaration (it could define entities that expand without end, or read other files)"
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(content := with_declaration_first(text), True)
    except expat.ExpatError as error:
        problem = _foreign_byte(content, parser.ErrorByteIndex)
        problem = problem or f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise ModelError(f"{source}, line {error.lineno}: {problem}") from None
    except _EnoughError:
        pass
    except ModelError:
        raise
    except (LookupError, ValueError) as error:  # unknown encodings
        raise ModelError(f"{source}: not XML text: {error}") from None
    finally:  # handlers and parser refer to each other: the document would wait for the collector
        parser.StartElementHandler = parser.EndElementHandler = None
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = None
    return top.children[0]
