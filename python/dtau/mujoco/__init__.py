"""Exact derivatives of MuJoCo's time step.

`transition_derivatives` takes one state, `transition_derivatives_batch` many;
`parameter_derivatives` is by parameters of the model. `StepFunction` is the step as a function, for
gradients in PyTorch and JAX.

MuJoCo computes the step, and dtau differentiates it. docs/mujoco_derivatives.md says what is
covered.
"""

try:
    import mujoco as _mujoco  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        "dtau.mujoco needs MuJoCo, which is not installed: pip install mujoco"
    ) from error

from dtau.mujoco.model_parameters import inertial_parameters, parameter_values, set_parameters
from dtau.mujoco.parameter_columns import parameter_derivatives, parameter_derivatives_batch
from dtau.mujoco.step_function import StepFunction
from dtau.mujoco.step_parameters import StepParameters
from dtau.mujoco.transition import (
    TransitionDerivatives,
    transition_derivatives,
    transition_derivatives_batch,
)

__all__ = [
    "StepFunction", "StepParameters", "TransitionDerivatives", "inertial_parameters",
    "parameter_derivatives", "parameter_derivatives_batch", "parameter_values", "set_parameters",
    "transition_derivatives", "transition_derivatives_batch",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
