"""Raise clear errors early for what `dtau.jax` cannot do: `bounded`.

`bounded` marks results in programs and gradients. The mark is the identity; it refuses when JAX
lowers a program for another processor, and when it pulls a gradient back without float64.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir


def bounded(result: jax.Array) -> jax.Array:
    """Mark a result of a call that JAX traces."""
    on_mesh = not jax.sharding.get_abstract_mesh().empty  # shard_map knows its own primitives
    if on_mesh or not isinstance(result, jax.core.Tracer):
        return result
    marked: jax.Array = _mark.bind(result)
    return marked


def has_float64() -> bool:
    """Whether float64 is on in the present context."""
    found: bool = jax.dtypes.canonicalize_dtype(np.float64) == np.float64
    return found


def _pulled_back(cotangent: Any, result: Any) -> list[Any]:
    if not has_float64():
        raise TypeError(
            "dtau.jax: a gradient is pulled back where float64 is off, through a call where it was "
            "on: take the gradient inside jax.enable_x64(True) too, or call "
            'jax.config.update("jax_enable_x64", True) at the beginning of the program'
        )
    return [_mark.bind(cotangent)]


def _refused(context: Any, result: Any) -> Any:
    raise NotImplementedError(
        "dtau.jax computes on the CPU, and this program is lowered for another processor: put "
        'arrays there with jax.device_put(x, jax.devices("cpu")[0]), work inside '
        'jax.default_device(jax.devices("cpu")[0]), or set JAX_PLATFORMS=cpu'
    )


_mark = Primitive("dtau_result")
_mark.def_impl(lambda x: x)
_mark.def_abstract_eval(lambda x: x)
ad.deflinear2(_mark, _pulled_back)
batching.primitive_batchers[_mark] = lambda args, axes: (_mark.bind(*args), axes[0])
mlir.register_lowering(_mark, lambda context, x: [x])
for _platform in ("cuda", "rocm", "tpu"):
    mlir.register_lowering(_mark, _refused, platform=_platform)
