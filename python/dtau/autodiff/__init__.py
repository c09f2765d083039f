"""Differentiation rules shared by `dtau.jax`, `dtau.torch` and `dtau.casadi`.

This package is private and imports no array library. `functions.PUBLIC` is the table of the
functions; `blocks`, `frames`, `compositions` and `manifold` have the rules that it names. `write`
generates the functions of a library from their rows in the registry, with signatures and
docstrings.
"""

from __future__ import annotations
