"""Read attributes and children of XML elements, with errors that name the line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from dtau.loaders.xml import Element
from dtau.support.errors import ModelError

RUN_XACRO = (
    "run xacro on this file first, or name it *.xacro: the package xacrodoc expands it (pip "
    "install 'xacrodoc>=2')"
)


def required(element: Element, tag: str) -> Element:
    """Return the only child with a tag; raise ModelError if there is none or there are several."""
    found = element.one(tag)
    if found is None:
        raise element.error(f"expected <{tag}> in {_name(element)}, got none")
    return found


def attribute(element: Element, name: str) -> str:
    """Return an attribute; raise ModelError if it is missing or empty, or has xacro."""
    value = element.attributes.get(name)
    if not value:
        raise element.error(f"expected the attribute {name!r} in {_name(element)}")
    if "$" in value and ("${" in value or "$(" in value):
        raise element.error(f"{name} of <{element.tag}>: got xacro, {value!r:.80}: {RUN_XACRO}")
    return value


def _name(element: Element) -> str:
    """Return the name of an element for messages."""
    name = element.attributes.get("name")
    return f"<{element.tag} name={name!r}>" if name else f"<{element.tag}>"


def number(element: Element, name: str, default: float | None = None) -> float:
    """Read an attribute that is one finite number."""
    if default is not None and name not in element.attributes:
        return default
    return numbers(element, name, 1)[0]


def number_each(element: Element, names: Sequence[str]) -> list[float]:
    """Read attributes that are one finite number each."""
    values = _floats([element.attributes.get(name, "") for name in names])
    return [number(element, name) for name in names] if values is None else values


def numbers(element: Element, name: str, count: int) -> list[float]:
    """Read an attribute of finite numbers separated by spaces; no locale, no commas."""
    values = _floats(element.attributes.get(name, "").split())
    if values is None or len(values) != count:
        got = attribute(element, name)
        wanted = "a finite number" if count == 1 else f"{count} finite numbers"
        raise element.error(f"{name} of <{element.tag}>: expected {wanted}, got {got!r:.80}")
    return values


def _floats(words: Sequence[str]) -> list[float] | None:
    """Convert words to finite numbers; None if one is anything else."""
    try:
        values = list(map(float, words))
    except ValueError:
        return None
    text = "".join(words)
    # float() reads underscores and the digits of other scripts too; a sum is faster than each
    finite = math.isfinite(sum(values)) or all(map(math.isfinite, values))
    return values if finite and "_" not in text and text.isascii() else None


@contextmanager
def located(element: Element, what: str) -> Iterator[None]:
    """Add the line to errors of Pose, Inertia, joints and Link about numbers of an element."""
    try:
        yield
    except ValueError as error:
        raise in_element(element, what, error) from None


def in_element(element: Element, what: str, error: ValueError) -> ModelError:
    """Add the line to an error; a ModelError has it."""
    return error if isinstance(error, ModelError) else element.error(f"{what}: {error}")
