"""The functions of `dtau` on JAX's arrays, written from their rows."""

from __future__ import annotations

from dtau.autodiff.write import define

__all__ = define("jax", globals())
