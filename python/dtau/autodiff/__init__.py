"""Differentiation rules shared by `dtau.jax`, `dtau.torch` and `dtau.casadi`.

This package is private and imports no array library. `functions.PUBLIC` is the list of the
functions; `blocks`, `contacts`, `steps`, `frames` and `compositions` have rules by their names.
`write` generates the functions of a library from their rows in the registry, with signatures and
docstrings.
"""

from __future__ import annotations
