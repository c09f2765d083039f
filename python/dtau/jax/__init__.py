"""The functions of `dtau` for JAX, with first and second derivatives in forward and reverse mode.

    import dtau.jax

Functions take the same arguments as their namesakes in `dtau`, the model first; leading axes are
the batch. They work under jit, vmap, jacfwd, jacrev, grad, hessian, scan, checkpoint and shard_map,
on the CPU. The computation is in float64; arrays are float64 or float32, with `jax_enable_x64` off
too. docs/array_libraries.md explains gradients by the nq numbers of q.
"""

from __future__ import annotations

try:
    import jax
except ModuleNotFoundError as error:
    raise ImportError(
        "dtau.jax needs JAX, which is not installed: pip install 'jax>=0.6.1'"
    ) from error
if not hasattr(jax, "ffi"):
    raise ImportError(
        f"dtau.jax needs JAX 0.6.1 or newer, got {jax.__version__}: pip install -U 'jax>=0.6.1'"
    )

from dtau.jax import functions, results
from dtau.jax.functions import *  # noqa: F403
from dtau.jax.mujoco import mujoco_rollout, mujoco_step  # noqa: F401

__all__ = sorted([*functions.__all__, "mujoco_rollout", "mujoco_step"])
results.register()


def __dir__() -> list[str]:
    return sorted(__all__)
