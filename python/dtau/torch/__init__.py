"""The functions of `dtau` for PyTorch, with first and second derivatives for autograd.

Names, arguments and results are as in `dtau`, the model first; leading axes are the batch.

>>> import dtau
>>> import dtau.torch
>>> import torch
>>> model = dtau.robots.quadruped()
>>> q = torch.from_numpy(dtau.neutral(model)).requires_grad_()
>>> height = dtau.torch.frame_placements(model, q, "LF_FOOT").translation[2]
>>> height.backward()
>>> q.grad[2]
tensor(1., dtype=torch.float64)

First and second derivatives work in reverse and forward mode: `backward`, `torch.func` (jacrev,
jacfwd, hessian, vmap, jvp), `torch.autograd.forward_ad`. `torch.compile` works without graph
breaks, for values, gradients and the transforms of `torch.func`. Gradients by q have its nq
numbers. Tensors live on the CPU and are not copied; numbers are float64, or float32 with the
arithmetic in float64. See docs/array_libraries_torch.md.
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        "dtau.torch needs PyTorch, which is not installed: pip install 'torch>=2.13'"
    ) from error

from dtau.torch import functions, programs, trees  # noqa: F401
from dtau.torch.functions import *  # noqa: F403
from dtau.torch.mujoco import mujoco_rollout, mujoco_step  # noqa: F401

__all__ = sorted([*functions.__all__, "mujoco_rollout", "mujoco_step"])


def __dir__() -> list[str]:
    return sorted(__all__)
