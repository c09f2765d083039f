"""Attributes and children of elements as numbers and names, with errors that say where."""

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
    """Return the only child of a tag; raise ModelError if there is none, or several."""
    found = element.one(tag)
    if found is None:
        raise element.error(f"expected <{tag}> in {_name(element)}, got none")
    return found


def attribute(element: Element, name: str) -> str:
    """Return an attribute; raise ModelError if there is none, an empty one, or one of xacro."""
    value = element.attributes.get(name)
    if not value:
        raise element.error(f"expected the attribute {name!r} in {_name(element)}")
    if "$" in value and ("${" in value or "$(" in value):
        raise element.error(f"{name} of <{element.tag}>: got xacro, {value!r:.80}: {RUN_XACRO}")
    return value


def _name(element: Element) -> str:
    """Name an element as messages do."""
    name = element.attributes.get("name")
    return f"<{element.tag} name={name!r}>" if name else f"<{element.tag}>"


def number(element: Element, name: str, default: float | None = None) -> float:
    """Read an attribute of one finite number."""
    if default is not None and name not in element.attributes:
        return default
    return numbers(element, name, 1)[0]


def numbers(element: Element, name: str, count: int) -> list[float]:
    """Read an attribute of finite numbers that spaces separate; no locale, no commas."""
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
    """Say where in the file numbers stand that Pose, Inertia, a joint or Link refuses."""
    try:
        yield
    except ModelError:
        raise
    except ValueError as error:
        raise element.error(f"{what}: {error}") from None
