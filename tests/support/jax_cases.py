"""Settings of JAX and comparisons of the tests of `dtau.jax`."""

from __future__ import annotations

from typing import Any

import adapter_cases
import jax

try:
    from jax import enable_x64 as enable_x64
except ImportError:  # JAX 0.6
    from jax.experimental import enable_x64 as enable_x64

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)  # most of the time is compilation


def near(x: Any, expected: Any, tolerance: float) -> None:
    """Compare trees of arrays, relative to the largest element of each."""
    for one, other in zip(jax.tree.leaves(x), jax.tree.leaves(expected), strict=True):
        adapter_cases.near(one, other, tolerance)
