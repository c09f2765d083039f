"""Texts of robots of any size, and how the work that a call makes grows with it.

What is counted is calls, of Python functions and of C ones from Python, not time.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from types import FrameType
from typing import Any

import dtau

INERTIAL = (
    '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    "</inertial>"
)

PARENTS: dict[str, Callable[[int, int], int]] = {
    "serial": lambda k, n: k - 1,
    "branched": lambda k, n: (k - 1) // 2 if k else -1,
    "star": lambda k, n: -1,
    "comb": lambda k, n: k - 1 - k % 2,
}
MIMICS: dict[str, Callable[[int, int], int]] = {  # k itself: none
    "independent": lambda k, n: k,
    "chain": lambda k, n: max(k - 1, 0),
    "chain, the last first": lambda k, n: min(k + 1, n - 1),
    "all the first": lambda k, n: 0,
    "pairs across": lambda k, n: n - 1 - k if 2 * k < n - 1 else k,
}


def calls(function: Callable[..., Any], *args: Any, **kwargs: Any) -> int:
    """How many calls a call makes; a ModelError ends it as well."""
    count = 0

    def profile(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtau.ModelWarning)
        before = sys.getprofile()
        sys.setprofile(profile)
        try:
            function(*args, **kwargs)
        except dtau.ModelError:
            pass
        finally:
            sys.setprofile(before)
    return count


def exponent(cost: Callable[[int], float], sizes: Sequence[int] = (60, 120, 240)) -> float:
    """By how much the cost grows with the size n, at most: as n to this power."""
    costs = [cost(n) for n in sizes]
    return max(math.log2(y / x) for x, y in pairwise(costs))


def text(
    n: int, parent: str = "serial", mimic: str = "independent", kind: str = "continuous"
) -> str:
    """A URDF of n joints."""
    parts = ['<robot name="r"><link name="-1"/>']
    for k in range(n):
        leader = MIMICS[mimic](k, n)
        follows = f'<mimic joint="j{leader:09}"/>' if leader != k else ""
        parts.append(
            f'<link name="{k}">{INERTIAL}</link><joint name="j{k:09}" type="{kind}">'
            f'<parent link="{PARENTS[parent](k, n)}"/><child link="{k}"/>{follows}</joint>'
        )
    return "".join([*parts, "</robot>"])
