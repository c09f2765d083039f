"""The functions of `dtau` for CasADi: on its matrices, and as functions that run without Python.

Each has the name and the arguments of its namesake in `dtau`. Derivatives are by the nq numbers of
q; docs/array_libraries_casadi.md explains this, and how to optimize on the manifold.
"""

try:
    import casadi as _casadi  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        "dtau.casadi needs CasADi, which is not installed: pip install 'casadi>=3.6.5'"
    ) from error

from dtau.casadi import functions
from dtau.casadi.builder import function  # noqa: F401
from dtau.casadi.functions import *  # noqa: F403

__all__ = sorted([*functions.__all__, "function"])


def __dir__() -> list[str]:
    return sorted(__all__)
