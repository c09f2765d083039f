"""The functions of `dtau` on PyTorch's tensors, generated from their rows in the registry."""

from __future__ import annotations

from dtau.autodiff.write import define

__all__ = define("torch", globals())
