"""Robot files that grow: the work that loading makes grows with their size, and no faster.

Work is counted in calls, see `growth`; a case draws what the file repeats, and repeats it n times,
2 n times and 4 n times.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import fuzz_files
import numpy as np
from growth import calls
from odd_values import choose

import dtau

FASTEST = 1.25  # exponent; n log n, and what comes once, lie below
REPEATED = (
    *('<link name="{k}"/>', '<joint name="j{k}" type="fixed"/>', "<gazebo/>", "<t{k}/>"),
    *('<x a{k}="1"/>', "<!-- -->", "<![CDATA[x]]>", "x", "&amp;", "<a><b/></a>"),
    '<link name="{k}"/><joint name="j{k}" type="revolute"><parent link="base"/>'
    '<child link="{k}"/></joint>',
    '<link name="{k}"/><joint name="j{k}" type="fixed"><parent link="base"/>'
    '<child link="{k}"/></joint>',
    '<link name="{k}"/><joint name="j{k}" type="planar"><parent link="base"/>'
    '<child link="{k}"/><mimic joint="a"/></joint>',
    '<link name="{k}"/><joint name="j{k}" type="revolute"><parent link="base"/>'
    '<child link="{k}"/><mimic joint="j{k1}"/></joint>',
)


def check(rng: np.random.Generator) -> str:
    """Load three files; return "model" or "refused", or raise AssertionError."""
    options: dict[str, Any] = {
        "root": choose(rng, ["fixed", "free"]),
        "mimic": choose(rng, ["independent", "exact"]),
    }
    write = damaged(rng)
    sizes = [50, 100, 200]
    costs = [calls(load, write(n), options) for n in sizes]
    growth = math.log2(costs[2] / costs[1])
    assert growth < FASTEST, f"{options}, as n^{growth:.2f}: {write(3)!r:.3000}"
    return load(write(sizes[0]), options)


def damaged(rng: np.random.Generator) -> Callable[[int], str]:
    """A damaged file with a piece that is repeated somewhere in it."""
    original = choose(rng, [fuzz_files.EVERYTHING, fuzz_files.ARM])
    for _ in range(rng.integers(0, 3)):
        original = choose(rng, fuzz_files.CHANGES)(rng, original)[:20_000]
    gaps = fuzz_files.matches(fuzz_files.GAP)(original) or [(0, 0)]
    at = choose(rng, gaps)[0]
    piece = choose(rng, [*REPEATED, *REPEATED, choose(rng, fuzz_files.SNIPPETS)[:200]])
    if rng.random() < 0.3:
        start, end = fuzz_files.some(rng, original)
        piece = original[start:end][:300]
    return lambda n: original[:at] + "".join(numbered(piece, k) for k in range(n)) + original[at:]


def numbered(piece: str, k: int) -> str:
    return piece.replace("{k1}", str(k + 1)).replace("{k}", str(k))


def load(content: str, options: dict[str, Any]) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dtau.ModelWarning)
            dtau.load(content, **options)
    except (ValueError, OSError):  # what does not begin as XML is taken for a path
        return "refused"
    return "model"
