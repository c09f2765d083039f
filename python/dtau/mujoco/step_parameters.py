"""Multiply with derivatives of MuJoCo's step by parameters of the model: `StepParameters`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from dtau.mujoco.parameters import Parameters
from dtau.mujoco.step_function import StepFunction
from dtau.support.arrays import Array
from dtau.support.checks import class_name


class StepParameters:
    """Products with the derivatives of a `StepFunction` by parameters of its model.

    Parameters
    ----------
    step : StepFunction
    parameters : iterable of str
        As in `parameter_derivatives`.

    Raises
    ------
    ValueError, NotImplementedError
        As in `parameter_derivatives`.
    TypeError
        If `step` is no StepFunction.

    Examples
    --------
    >>> import dtau.mujoco, mujoco, numpy as np
    >>> mj_model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><body><joint axis="0 1 0" damping="0.1"/>'
    ...     '<geom type="sphere" size="0.1" pos="0 0 -1" mass="1"/></body></worldbody></mujoco>'
    ... )
    >>> step = dtau.mujoco.StepFunction(mj_model, mujoco.MjData(mj_model))
    >>> by = dtau.mujoco.StepParameters(step, ["dof_damping"])
    >>> at = [0.0, 0.0, 1.0], []  # state and control
    >>> by.vjp(*at, [0.0, 0.0, 1.0])["dof_damping"].round(6)
    array([-0.001991])
    >>> by.vjp(*at, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])["dof_damping"].shape
    (2, 1)
    >>> by.jvp(*at, {"dof_damping": [1.0]})[1:].round(6)
    array([-4.000e-06, -1.991e-03])

    Rollouts of five steps; the weight is of the last velocity:

    >>> weights = np.zeros((5, 3))
    >>> weights[-1, 2] = 1.0
    >>> by.rollout_vjp([0.0, 0.0, 1.0], np.zeros((5, 0)), weights)["dof_damping"].round(6)
    array([-0.009945])
    >>> by.rollout_jvp([0.0, 0.0, 1.0], np.zeros((5, 0)), {"dof_damping": [1.0]}).shape
    (5, 3)
    """

    def __init__(self, step: StepFunction, parameters: Iterable[str]) -> None:
        if not isinstance(step, StepFunction):
            raise TypeError(f"step: expected a StepFunction, got {class_name(step)}")
        self._step, self._chosen = step, Parameters(step._model, parameters)

    def vjp(
        self,
        state: ArrayLike,
        ctrl: ArrayLike,
        weights: ArrayLike,
        *,
        after: ArrayLike | None = None,
    ) -> dict[str, Array]:
        """Return products of weights of the next states with the derivatives by parameters.

        Parameters
        ----------
        state, ctrl, weights, after
            As in `StepFunction.vjp`.

        Returns
        -------
        dict of str to ndarray (..., *shape of the parameters)
            Of each state; for parameters that all states share, sum over the states.
        """
        *_, found = self._step._vjp(state, ctrl, weights, after, self._chosen)
        return self._chosen.by_name(found)

    def jvp(
        self,
        state: ArrayLike,
        ctrl: ArrayLike,
        variations: Mapping[str, ArrayLike],
        *,
        after: ArrayLike | None = None,
    ) -> Array:
        """Return the variations of the next states along variations of the parameters.

        Parameters
        ----------
        state, ctrl, after
            As in `StepFunction.jvp`.
        variations : mapping of str to array_like
            Of parameters, each with its shape; others stay.

        Returns
        -------
        ndarray (..., nstate)
        """
        columns = self._chosen.columns_of(variations)
        return self._step._jvp(state, ctrl, None, None, columns, after, self._chosen)

    def rollout_vjp(
        self,
        state: ArrayLike,
        ctrl: ArrayLike,
        weights: ArrayLike,
        *,
        after: ArrayLike | None = None,
    ) -> dict[str, Array]:
        """Return products of weights of a rollout's states with the derivatives by parameters.

        Parameters
        ----------
        state, ctrl, weights, after
            As in `StepFunction.rollout_vjp`.

        Returns
        -------
        dict of str to ndarray (..., *shape of the parameters)
            Of each rollout.
        """
        *_, found = self._step._rollout_vjp(state, ctrl, weights, after, self._chosen)
        return self._chosen.by_name(found.sum(axis=-2))

    def rollout_jvp(
        self,
        state: ArrayLike,
        ctrl: ArrayLike,
        variations: Mapping[str, ArrayLike],
        *,
        after: ArrayLike | None = None,
    ) -> Array:
        """Return the variations of a rollout's states along variations of the parameters.

        Parameters
        ----------
        state, ctrl, after
            As in `StepFunction.rollout_jvp`.
        variations : mapping of str to array_like
            As in `jvp`.

        Returns
        -------
        ndarray (..., steps, nstate)
        """
        columns = self._chosen.columns_of(variations)[np.newaxis]
        return self._step._rollout_jvp(state, ctrl, None, None, columns, after, self._chosen)
