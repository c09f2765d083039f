"""Find the shapes behind pairs of names: `Pairs`, `read_pairs`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import coal

from dtau.distances.shapes import Shape
from dtau.model.model import Model
from dtau.support.checks import require, shown, tuple_of, unknown_name

Pairs: TypeAlias = Iterable[tuple[str, str]]  # names of shapes or links


class Side(NamedTuple):
    """One side of a pair: shapes that move with one body; -1 is the world."""

    body: int
    shapes: tuple[int, ...]


def read_pairs(
    model: Model, shapes: Sequence[Shape], pairs: Pairs | None
) -> tuple[tuple[tuple[str, str], ...], list[tuple[Side, Side]]]:
    """Return pairs as names, and the shapes of both sides.

    Raises
    ------
    ValueError
        If a name is not known, or means two things; or if a pair has no distance.
    TypeError
        If pairs are not pairs of names.
    """
    sides = _sides(model, shapes)
    if pairs is None:
        names = tuple(_moving(model, shapes, sides))
    else:
        names = tuple(_names(pair) for pair in tuple_of("pairs", pairs, object, "pairs of names"))
    found = []
    for pair in names:
        for name in pair:
            if name not in sides:
                raise unknown_name("shape or link with shapes", name, sides)
        first, second = sides[pair[0]], sides[pair[1]]
        if set(first.shapes) & set(second.shapes):
            raise ValueError(f"pairs: a shape and itself have no distance: {pair}")
        if _endless(shapes, first) and _endless(shapes, second):
            raise ValueError(f"pairs: a plane and a plane have no distance: {pair}")
        found.append((first, second))
    return names, found


def _names(pair: Any) -> tuple[str, str]:
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise TypeError(f"pairs: expected pairs of names, got {shown(pair)}")
    for name in pair:
        require("pairs", name, str)
    return str(pair[0]), str(pair[1])


def _sides(model: Model, shapes: Sequence[Shape]) -> dict[str, Side]:
    """Return the sides by name: of each shape, and of each link with shapes."""
    sides: dict[str, Side] = {}
    links: dict[str, list[int]] = {}
    for i, shape in enumerate(shapes):
        if shape.name in sides:
            raise ValueError(f"shapes: expected different names, got {shape.name!r} twice")
        if shape.name in model.frames:
            raise ValueError(f"shapes: expected names that no link has, got {shape.name!r}")
        body = -1 if shape.frame is None else model.frame(shape.frame).body
        sides[shape.name] = Side(body, (i,))
        if shape.frame is not None:
            links.setdefault(shape.frame, []).append(i)
    return sides | {link: Side(model.frame(link).body, tuple(x)) for link, x in links.items()}


def _moving(
    model: Model, shapes: Sequence[Shape], sides: Mapping[str, Side]
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of links and obstacles that move against each other.

    A body and the next one above it that has shapes are left out, because they meet at a joint.
    Obstacles, the shapes of the world, are paired with all links that move.
    """
    links = dict.fromkeys(shape.frame for shape in shapes if shape.frame is not None)
    with_shapes = {sides[link].body for link in links}
    above = {}
    for body in with_shapes:
        parent = body
        while parent >= 0:
            parent = model.joints[parent].parent
            if parent in with_shapes:
                break
        above[body] = parent
    for a, b in itertools.combinations(links, 2):
        i, j = sides[a].body, sides[b].body
        if i != j and above[i] != j and above[j] != i:
            yield a, b
    for shape in shapes:
        if shape.frame is None:
            yield from ((link, shape.name) for link in links if sides[link].body >= 0)


def _endless(shapes: Sequence[Shape], side: Side) -> bool:
    """Whether a side has a plane or a half-space."""
    kinds = (coal.Halfspace, coal.Plane)
    return any(isinstance(shapes[i].geometry, kinds) for i in side.shapes)
