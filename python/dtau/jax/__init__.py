"""The functions of `dtau` for JAX: with derivatives of first and second order, in every mode.

    import dtau.jax

They take what those of the same names in `dtau` take, the model first; leading axes are the batch.
They work under jit, vmap, jacfwd, jacrev, grad, hessian, scan, checkpoint and shard_map, on the
CPU, in float64. docs/array_libraries.md says how gradients by the nq numbers of q are meant.
"""

from __future__ import annotations

try:
    import jax
except ModuleNotFoundError as error:
    raise ImportError(
        "dtau.jax needs JAX, which is not installed: pip install 'dtau[jax]'"
    ) from error
if not hasattr(jax, "ffi"):
    raise ImportError(
        f"dtau.jax needs JAX 0.6.1 or newer, got {jax.__version__}: pip install -U 'dtau[jax]'"
    )

from dtau.autodiff.results import NextState, Placements, TangentMap
from dtau.jax.dynamics import (
    bias_torque,
    forward_dynamics,
    gravity_torque,
    inverse_dynamics,
    mass_matrix,
    mass_matrix_inverse,
    step,
)
from dtau.jax.kinematics import (
    center_of_mass,
    center_of_mass_velocity,
    centroidal_momentum,
    frame_jacobians,
    frame_placements,
    frame_velocities,
    momentum,
)
from dtau.jax.manifold import (
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
