"""The functions of `dtau` on PyTorch's tensors, written from their rows."""

from __future__ import annotations

from dtau.autodiff.write import define

__all__ = define("torch", globals())
