"""The functions of `dtau.jax`, `dtau.torch` and `dtau.casadi`, and how they are differentiated.

Private, and no array library is imported here. `functions.PUBLIC` is the table of the functions,
`blocks`, `frames`, `compositions` and `manifold` are the rules that it names. `write` makes the
functions of a library from their rows, with signatures and docstrings.
"""

from __future__ import annotations
