"""The functions of `dtau` for CasADi: on its matrices, and as functions that need no Python.

Each has the name and the arguments of its namesake in `dtau`. Derivatives are by the nq numbers of
q; docs/array_libraries_casadi.md says what that means, and how to optimise on the manifold.
"""

try:
    import casadi as _casadi  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        "dtau.casadi needs CasADi, which is not installed: pip install 'dtau[casadi]'"
    ) from error

from dtau.autodiff.results import NextState, Placements, TangentMap
from dtau.casadi.builder import function
from dtau.casadi.dynamics import (
    bias_torque,
    forward_dynamics,
    gravity_torque,
    inverse_dynamics,
    mass_matrix,
    mass_matrix_inverse,
    step,
)
from dtau.casadi.kinematics import (
    center_of_mass,
    center_of_mass_velocity,
    centroidal_momentum,
    frame_jacobians,
    frame_placements,
    frame_velocities,
    momentum,
)
from dtau.casadi.manifold import (
    difference,
    integrate,
    normalize,
    tangent_map,
)

__all__ = [
    "NextState",
    "Placements",
    "TangentMap",
    "bias_torque",
    "center_of_mass",
    "center_of_mass_velocity",
    "centroidal_momentum",
    "difference",
    "forward_dynamics",
    "frame_jacobians",
    "frame_placements",
    "frame_velocities",
    "function",
    "gravity_torque",
    "integrate",
    "inverse_dynamics",
    "mass_matrix",
    "mass_matrix_inverse",
    "momentum",
    "normalize",
    "step",
    "tangent_map",
]


def __dir__() -> list[str]:
    return sorted(__all__)
