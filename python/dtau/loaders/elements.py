"""Read attributes and children of XML elements, with errors that name the line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager

from dtau.errors import ModelError
from dtau.loaders.xml import Element

RUN_XACRO = (
    "run xacro on this file first, or name it *.xacro and load it with the extra dtau[xacro]"
)

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


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


def numbers(element: Element, name: str, count: int) -> list[float]:
    """Read an attribute of finite numbers separated by spaces; no locale, no commas."""
    words = attribute(element, name).split()
    values = [float(word) for word in words if _NUMBER.fullmatch(word)]
    if not len(words) == len(values) == count or not all(map(math.isfinite, values)):
        wanted = "a finite number" if count == 1 else f"{count} finite numbers"
        raise element.error(
            f"{name} of <{element.tag}>: expected {wanted}, got {attribute(element, name)!r:.80}"
        )
    return values


@contextmanager
def located(element: Element, what: str) -> Iterator[None]:
    """Add the line to errors of Pose, Inertia, joints and Link about numbers of an element."""
    try:
        yield
    except ModelError:
        raise
    except ValueError as error:
        raise element.error(f"{what}: {error}") from None
