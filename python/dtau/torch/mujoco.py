"""MuJoCo's step and rollouts as operations of PyTorch: `mujoco_step`, `mujoco_rollout`.

MuJoCo computes the values, and `dtau.mujoco.StepFunction` the products with exact derivatives.
Derivatives have the first order. This module does not import MuJoCo.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from dtau.torch.arguments import check_tensor
from dtau.torch.mujoco_operators import function_of, living, step_of

if TYPE_CHECKING:
    from dtau.mujoco import StepFunction


def mujoco_step(
    step: StepFunction,
    state: Tensor,
    ctrl: Tensor,
    *,
    parameters: Mapping[str, Tensor] | None = None,
) -> Tensor:
    """Return the states after MuJoCo's time step, differentiable by state and control.

    Parameters
    ----------
    step : dtau.mujoco.StepFunction
    state : Tensor (..., nstate)
        States ``[time, qpos, qvel, act]``. Gradients are by these numbers; MuJoCo normalizes
        quaternions.
    ctrl : Tensor (..., nu)
    parameters : dict of str to Tensor (..., shape), optional
        Parameters of the model in place of its own, by the names and in the shapes of
        `dtau.mujoco.parameter_values`; the step is differentiable by them too. States with other
        parameters than the rest of a batch are computed by a model of their own.

    Returns
    -------
    Tensor (..., nstate)
        float32 if all tensors are, else float64. MuJoCo computes in float64.

    Raises
    ------
    TypeError
        If an argument is no tensor of real numbers, or `step` is no StepFunction.
    ValueError
        If a shape does not fit, a tensor is not on the CPU, or a number is not finite. As in
        `dtau.mujoco.set_parameters`.
    NotImplementedError
        If a second derivative is requested, or as in `dtau.mujoco.transition_derivatives`.

    Examples
    --------
    >>> import dtau.mujoco, dtau.torch, mujoco, torch
    >>> mj_model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><body><joint name="pivot" axis="0 1 0"/>'
    ...     '<geom type="sphere" size="0.1" pos="0 0 -1" mass="1"/></body></worldbody>'
    ...     '<actuator><motor joint="pivot"/></actuator></mujoco>'
    ... )
    >>> step = dtau.mujoco.StepFunction(mj_model, mujoco.MjData(mj_model))
    >>> ctrl = torch.ones(1, dtype=torch.float64, requires_grad=True)
    >>> after = dtau.torch.mujoco_step(step, torch.zeros(3, dtype=torch.float64), ctrl)
    >>> after[2].backward()
    >>> ctrl.grad.round(decimals=4)
    tensor([0.0020], dtype=torch.float64)
    """
    return _result(step, state, ctrl, parameters, 0)


def mujoco_rollout(
    step: StepFunction,
    state: Tensor,
    ctrl: Tensor,
    *,
    parameters: Mapping[str, Tensor] | None = None,
) -> Tensor:
    """Return the states after each of several time steps of MuJoCo, as `mujoco_step`.

    Parameters
    ----------
    step : dtau.mujoco.StepFunction
    state : Tensor (..., nstate)
    ctrl : Tensor (..., steps, nu)
    parameters : dict of str to Tensor (..., shape), optional
        Of all steps.

    Returns
    -------
    Tensor (..., steps, nstate)

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        As in `mujoco_step`.

    Examples
    --------
    >>> import dtau.mujoco, dtau.torch, mujoco, torch
    >>> mj_model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><body><joint name="pivot" axis="0 1 0"/>'
    ...     '<geom type="sphere" size="0.1" pos="0 0 -1" mass="1"/></body></worldbody>'
    ...     '<actuator><motor joint="pivot"/></actuator></mujoco>'
    ... )
    >>> step = dtau.mujoco.StepFunction(mj_model, mujoco.MjData(mj_model))
    >>> ctrl = torch.ones(5, 1, dtype=torch.float64, requires_grad=True)
    >>> after = dtau.torch.mujoco_rollout(step, torch.zeros(3, dtype=torch.float64), ctrl)
    >>> after[-1, 2].backward()
    >>> ctrl.grad[0].round(decimals=4)
    tensor([0.0020], dtype=torch.float64)
    """
    return _result(step, state, ctrl, parameters, 1)


def _result(
    step: StepFunction,
    state: Tensor,
    ctrl: Tensor,
    parameters: Mapping[str, Tensor] | None,
    axes: int,
) -> Tensor:
    if not (parameters is None or isinstance(parameters, Mapping)):
        got = type(parameters).__name__
        raise TypeError(f"parameters: expected a dict of names and tensors, got {got}")
    names = None if parameters is None else tuple(parameters)
    number = _registered(step, names)
    for name, x, size, more in (("state", state, step.nstate, 0), ("ctrl", ctrl, step.nu, axes)):
        _check(name, x, size, more)
    leading = {"state": state.shape[:-1], "ctrl": ctrl.shape[: ctrl.dim() - 1 - axes]}
    single = state.dtype == ctrl.dtype == torch.float32
    if parameters is not None:
        shapes = _shapes(number)
        for name, shape in shapes:
            x = parameters[name]
            check_tensor(name, x)
            if x.shape[x.dim() - len(shape) :] != shape:
                expected = ", ".join(["...", *map(str, shape)])
                raise ValueError(f"{name}: expected shape ({expected}), got {tuple(x.shape)}")
            leading[name] = x.shape[: x.dim() - len(shape)]
            single = single and x.dtype == torch.float32
    try:
        batch = torch.broadcast_shapes(*leading.values())
    except RuntimeError:
        got = " and ".join(str(tuple(shape)) for shape in leading.values())
        raise ValueError(
            f"{' and '.join(leading)}: expected leading axes that broadcast, got {got}"
        ) from None
    state = state.double().expand(*batch, state.shape[-1])
    ctrl = ctrl.double().expand(*batch, *ctrl.shape[ctrl.dim() - 1 - axes :])
    if parameters is not None:
        like = ctrl.shape[:-1]
        columns = []
        for name, shape in shapes:
            x = parameters[name].double()
            x = x.reshape(*leading[name], *axes * [1], math.prod(shape))
            columns.append(x.expand(*like, math.prod(shape)))
        ctrl = torch.cat([ctrl, *columns], dim=-1)
    found = step_of(number, state, ctrl)
    return found.float() if single else found


def _check(name: str, x: Any, size: int, axes: int) -> None:
    check_tensor(name, x)
    if x.dim() <= axes or x.shape[-1] != size:
        expected = "(..., steps, " if axes else "(..., "
        raise ValueError(f"{name}: expected shape {expected}{size}), got {tuple(x.shape)}")


def _registered(step: StepFunction, names: tuple[str, ...] | None) -> int:
    if not torch.compiler.is_compiling():
        return _register(step, names)
    id(step)  # makes a compiled program specific to this object
    constant: int = _constant(step, names)
    return constant


def _register(step: StepFunction, names: tuple[str, ...] | None) -> int:
    """Return the number of a step, or of the step with parameters among its controls."""
    from dtau.mujoco import StepFunction
    from dtau.mujoco.parametrized_step import parametrized

    if not isinstance(step, StepFunction):
        raise TypeError(f"step: expected a dtau.mujoco.StepFunction, got {type(step).__name__}")
    function = step if names is None else parametrized(step, names)
    number: int = function.number
    living[number] = function
    return number


def _shapes_of(number: int) -> tuple[tuple[str, tuple[int, ...]], ...]:
    return tuple(function_of(number).shapes.items())  # programs hold no dict as a constant


_constant = torch.compiler.assume_constant_result(_register)
_shapes = torch.compiler.assume_constant_result(_shapes_of)
