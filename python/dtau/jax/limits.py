"""Raise clear errors early for what `dtau.jax` cannot do: `bounded`, `require_cpu`.

`bounded` marks results in programs and gradients. The mark is the identity; it refuses when JAX
lowers a program for another processor, and when it pulls a gradient back with another type of
numbers than the call had.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

_ELSEWHERE = (
    "dtau.jax computes on the CPU, and {}: put arrays there with "
    'jax.device_put(x, jax.devices("cpu")[0]), work inside '
    'jax.default_device(jax.devices("cpu")[0]), set JAX_PLATFORMS=cpu, or call the function of '
    "dtau with NumPy's arrays through jax.pure_callback"
)


def bounded(result: jax.Array) -> jax.Array:
    """Mark a result of a call that JAX traces."""
    if not isinstance(result, jax.core.Tracer):
        return result
    marked: jax.Array = _mark.bind(result, float64=widest_float() == np.float64)
    return marked


def widest_float() -> np.dtype[Any]:
    """Return the type of XLA's numbers in the present context: float64, or float32 without x64."""
    found: np.dtype[Any] = jax.dtypes.canonicalize_dtype(np.float64)
    return found


def require_cpu(arrays: Iterable[jax.Array | None]) -> None:
    """Refuse arrays on other processors before JAX compiles a call for these."""
    for x in arrays:
        if x is None or isinstance(x, jax.core.Tracer):
            continue
        if any(device.platform != "cpu" for device in x.devices()):
            raise NotImplementedError(_ELSEWHERE.format("an array lies on another processor"))


def _pulled_back(cotangent: Any, result: Any, *, float64: bool) -> list[Any]:
    if float64 != (widest_float() == np.float64):
        there, here = ("on", "off") if float64 else ("off", "on")
        raise TypeError(
            f"dtau.jax: a gradient is pulled back where jax_enable_x64 is {here}, through a call "
            f"where it was {there}: take the gradient inside jax.enable_x64({float64}) too, or set "
            "jax_enable_x64 once, at the beginning of the program"
        )
    return [_mark.bind(cotangent, float64=float64)]


def _refused(context: Any, result: Any, *, float64: bool) -> Any:
    raise NotImplementedError(_ELSEWHERE.format("this program is lowered for another processor"))


_mark = Primitive("dtau_result")
_mark.def_impl(lambda x, *, float64: x)
_mark.def_abstract_eval(lambda x, *, float64: x)
ad.deflinear2(_mark, _pulled_back)
batching.primitive_batchers[_mark] = lambda args, axes, *, float64: (
    _mark.bind(*args, float64=float64),
    axes[0],
)
mlir.register_lowering(_mark, lambda context, x, *, float64: [x])
for _platform in ("cuda", "rocm", "tpu"):
    mlir.register_lowering(_mark, _refused, platform=_platform)
