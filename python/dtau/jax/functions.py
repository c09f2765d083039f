"""The functions of `dtau` on JAX's arrays, generated from their rows in the registry."""

from __future__ import annotations

from dtau.autodiff.write import define

__all__ = define("jax", globals())
