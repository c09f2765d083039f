"""Which of many like cases run: a few rows of the registry in full, the others in turn.

The code that reads arguments and gives results is the same for all functions, and the registry says
what it sees of them. So the tests of this code try everything on a few rows that have all of that
among them. Each other function, argument and result gets one of the variants, which take turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, cycle
from typing import Any, TypeVar

from function import Function
from functions import IN_BODY_AXES

from dtau.registry import FUNCTIONS as REGISTRY

Case = TypeVar("Case")
Features = Callable[[Case], set[Any]]


def adding(cases: Iterable[Case], features: Features[Case]) -> list[Case]:
    """The cases with a feature that no case before them has."""
    seen: set[Any] = set()
    kept = []
    for case in cases:
        if not features(case) <= seen:
            kept.append(case)
            seen |= features(case)
    return kept


def covering(cases: Sequence[Case], features: Features[Case]) -> list[Case]:
    """Few cases that have the features of all: one after the other, the one that adds most."""
    missing: set[Any] = set().union(*map(features, cases))
    kept = []
    while missing:
        best = max(cases, key=lambda case: len(features(case) & missing))
        kept.append(best)
        missing -= features(best)
    return kept


def in_turn(
    cases: Iterable[Case], variants: Iterable[Any], full: Sequence[Case] = ()
) -> list[tuple[Any, ...]]:
    """Each case that is in `full` with all variants, each other one with the next variant.

    After a round the turns shift by one, so that no argument gets the same variant each time.
    """
    variants = list(variants)
    shifted = cycle(variants[k:] + variants[:k] for k in range(len(variants)))
    turn = chain.from_iterable(shifted)
    return [
        (*(case if isinstance(case, tuple) else (case,)), variant)
        for case in cases
        for variant in (variants if case in full else [next(turn)])
    ]


def takes(function: Function, name: str) -> tuple[Any, ...]:
    """What tells an argument apart for the code that reads it."""
    (array,) = (array for array in REGISTRY[function.name].inputs if array.name == name)
    return name, array.axes, array.rows, array.optional


def gives(function: Function, o: int) -> tuple[Any, ...]:
    """What tells a result apart for the code that gives it."""
    return len(function.results[o]), len(function.results) > 1


def signature(function: Function) -> set[Any]:
    """What tells a row apart for the code that reads and gives arrays."""
    arguments = (takes(function, name)[1:] for name in function.arguments)
    results = (gives(function, o) for o in range(len(function.results)))
    return {*arguments, *results, *function.options}


# One row of each function, and more if it takes or gives what the first does not.
EACH = adding(
    IN_BODY_AXES, lambda f: {f.name, *((f.name, x) for x in (*f.arguments, *range(len(f.results))))}
)
IN_FULL = covering(EACH, signature)

ARGUMENTS = adding(
    [(function, name) for function in IN_BODY_AXES for name in function.arguments],
    lambda case: {(case[0].name, case[1])},
)
ARGUMENTS_IN_FULL = adding(ARGUMENTS, lambda case: {takes(*case)})

RESULTS = adding(
    [(function, o) for function in IN_BODY_AXES for o in range(len(function.results))],
    lambda case: {(case[0].name, case[1])},
)
RESULTS_IN_FULL = adding(RESULTS, lambda case: {gives(*case)})
