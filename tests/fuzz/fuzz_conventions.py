"""Conventions: every conversion with odd arguments, and models of other packages that are damaged.

As in `fuzz_arguments`, it is decided without the package which arguments are wrong; then the call
must be refused and name one of them, or give the bits that plain copies of the same numbers give.
"""

from __future__ import annotations

import importlib.util
import re
import warnings
from functools import cache
from typing import Any

import alien_models
import numpy as np
from argument_laws import HUGE, MOST_AXES, broadcast, describe, far_from_unit, memory, quaternions
from compare import assert_same_results
from conversions import CONVENTIONS, CONVERSIONS, Conversion
from fuzz_arguments import BATCHES
from odd_arrays import is_plain, meaning, mutated
from odd_values import choose
from trees import Array

import dtau
from dtau.conventions import Convention

REFUSED_FOR_SIZE = "are available; use a smaller batch|too big|too large|broadcast dimensions"


@cache
def convention(name: str) -> Convention:
    return CONVENTIONS[name]()


def kinds() -> list[str]:
    """Conventions that can be tried here: other packages may be missing."""
    others = [name for name in alien_models.ATTRIBUTES if not importlib.util.find_spec(name)]
    return [name for name in CONVENTIONS if name not in others]


def check(rng: np.random.Generator) -> str:
    """Make one call; return "result" or "refused", or raise AssertionError."""
    return damaged_model(rng) if rng.random() < 0.3 else converted(rng)


def damaged_model(rng: np.random.Generator) -> str:
    package = choose(rng, [name for name in kinds() if name in alien_models.ATTRIBUTES] or [None])
    if package is None:
        return "refused"
    peer = alien_models.plain(package)
    what = "; ".join(alien_models.damage(rng, peer) for _ in range(rng.integers(1, 3)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made = getattr(dtau.conventions, package)(convention(package).model, peer)
    except Exception as error:
        named = re.search(rf"\b({alien_models.ARGUMENT[package]}|model)\b", str(error))
        if isinstance(error, TypeError | ValueError) and named and len(str(error)) < 1000:
            return "refused"
        raise AssertionError(f"{package}, {what}: {type(error).__name__}: {error}") from error
    for conversion in CONVERSIONS:
        try:
            conversion(made, conversion.arrays(made, 0, (2,)))
        except ValueError as error:  # bodies whose joints are on another body there have no row
            if not re.match("result: a wrench acts on", str(error)):
                raise AssertionError(f"{package}, {what}: {error}") from error
    return "result"


def converted(rng: np.random.Generator) -> str:
    way, conversion = convention(choose(rng, kinds())), choose(rng, CONVERSIONS)
    arrays: dict[str, Any] = conversion.arrays(way, int(rng.integers(2**32)), choose(rng, BATCHES))
    for _ in range(rng.integers(1, 3)):
        name = choose(rng, list(arrays))
        if is_plain(arrays[name]):
            arrays[name] = mutated(rng, arrays[name])
    shown = ", ".join(f"{name}={describe(x)}" for name, x in arrays.items())
    what = f"{way!r}, {conversion}: {shown}"
    wrong, huge = verdict(way, conversion, arrays)
    before = [(x, x.copy()) for x in memory(arrays.values())]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", ".* encountered in cast|.* masked element")
            results = given(conversion(way, arrays))
    except (TypeError, ValueError, MemoryError) as error:
        judge(error, wrong, huge, what)
        return "refused"
    except Exception as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
    assert not wrong, f"{what}: accepted, although wrong: {wrong}"
    for x, copy in before:
        assert x.tobytes() == copy.tobytes(), f"{what}: wrote into an argument"
    if not huge:
        plain = {name: meaning(x) for name, x in arrays.items() if x is not None}
        copies = {name: np.array(x, order="C") for name, x in plain.items()}
        assert_same_results(results, given(conversion(way, copies)), what)
    return "result"


def given(results: tuple[Any, ...]) -> list[Any]:
    """Drop None, which stands for velocities and accelerations that were left out."""
    return [x for x in results if x is not None]


def judge(error: Exception, wrong: set[str], huge: bool, what: str) -> None:
    """An error is right, and says what is wrong."""
    if huge and re.search(REFUSED_FOR_SIZE, str(error)):
        return
    assert not isinstance(error, MemoryError), f"{what}: {error!r}"
    assert wrong, f"{what}: refused, although nothing is wrong: {error!r}"
    named = any(re.search(rf"(?<![\w.]){re.escape(name)}\b", str(error)) for name in wrong)
    assert named, f"{what}: wrong is {wrong}, but this was said: {error!r}"
    assert len(str(error)) < 1000, f"{what}: a message of {len(str(error))} characters"


def verdict(
    way: Convention, conversion: Conversion, arrays: dict[str, Any]
) -> tuple[set[str], bool]:
    """What is wrong, and whether the batch is larger than any memory."""
    right = {name: x.shape for name, x in conversion.arrays(way, 0).items()}
    wrong, far, huge, batches, rows = set(), set(), False, {}, {}
    for name, value in arrays.items():
        if value is None:
            continue
        x, core = meaning(value), right[name]
        huge |= x is not None and max(x.shape, default=0) > HUGE
        if x is not None and x.ndim >= len(core) and name in conversion.stacks:
            rows[name] = x.shape[-len(core)]  # a stack of any length
            core = (max(rows[name], 1), *core[1:])
        if x is not None and x.ndim > 1 and (name, conversion.kind) == ("result", "J"):
            core = (x.shape[-2], *core[1:])  # any matrix
        if x is None or x.shape[max(x.ndim - len(core), 0) :] != core:
            wrong.add(name)
            continue
        batches[name] = x.shape[: x.ndim - len(core)]
        if len(batches[name]) > MOST_AXES:
            wrong.add(name)
        elif name == "q":
            far |= {"q"} if is_far(way, conversion, x) else set()
    wrong |= too_short(conversion, rows)
    state = conversion.is_state  # v and a may be left out
    wrong.update(name for name, x in arrays.items() if x is None and not (state and name in "va"))
    if state and arrays["v"] is None and arrays["a"] is not None:
        wrong.add("a")
    if not broadcast(batches.values()):
        wrong.update(batches)
    if not any(0 in batch for batch in batches.values()):  # no state, no quaternion
        wrong |= far
    return wrong, huge


def too_short(conversion: Conversion, rows: dict[str, int]) -> set[str]:
    """Stacks that are shorter than another needs; or longer than the functions take wrenches."""
    count, fewer = rows.get("result", 0), 0 if "M_derivatives" in conversion.arguments else 1
    needed = {"v_derivatives": count - fewer, "M_derivatives": count}
    wrong = {name for name in rows if rows[name] < needed.get(name, 0)}
    return wrong | ({"result"} if conversion.kind == "f_ext_derivatives" and count > 101 else set())


def is_far(way: Convention, conversion: Conversion, q: Array) -> bool:
    """Whether a quaternion is far from unit norm, in dtau's order or in the convention's."""
    if not conversion.to_dtau or not q.size or max(q.shape) > 1000:
        return far_from_unit(q, quaternions(way.model))
    places = way._maps.coordinates
    out = np.zeros((*q.shape[:-1], way.model.nq))
    with np.errstate(all="ignore"):
        out[..., places._copied] = q[..., places._copied_to]
    return far_from_unit(out, quaternions(way.model))
