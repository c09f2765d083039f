"""MuJoCo's step as a function of state and control, with products of derivatives: `StepFunction`.

`dtau.torch` and `dtau.jax` make operations of it. States are numbers [time, qpos, qvel, act], by
which derivatives are. Products with one vector a state do not form matrices; others do.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from dtau.mujoco.runs import Geometry
from dtau.mujoco.step_arguments import flat
from dtau.mujoco.step_products import StepProducts
from dtau.support.arrays import Array


class StepFunction(StepProducts):
    """MuJoCo's time step as a function of state and control, with products of its derivatives.

    For `dtau.torch.mujoco_step`, `dtau.torch.mujoco_rollout` and their namesakes in `dtau.jax`.

    Parameters
    ----------
    mj_model : mujoco.MjModel
        MuJoCo's model, with the integrator Euler, implicitfast or RK4. It is copied: for a changed
        model, make another function.
    mj_data : mujoco.MjData
        Applied joint torques, poses of mocap bodies, active equality constraints and the warm
        start of all steps. They are copied.
    geometry : {"exact", "differences"}
        As in `transition_derivatives`.
    threads : int, optional
        Of a batch; by default one for each 32 states, and at most one per processor.

    Attributes
    ----------
    nstate, nu : int
        Sizes of states ``[time, qpos, qvel, act]``, as `mujoco.mj_getState` with
        ``mjSTATE_FULLPHYSICS`` returns them, and of controls.

    Raises
    ------
    ValueError, TypeError, NotImplementedError
        As in `transition_derivatives`, of which the parts that depend on the state when there is a
        product.

    Examples
    --------
    >>> import dtau.mujoco, mujoco, numpy as np
    >>> mj_model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><body><joint name="pivot" axis="0 1 0"/>'
    ...     '<geom type="sphere" size="0.1" pos="0 0 -1" mass="1"/></body></worldbody>'
    ...     '<actuator><motor joint="pivot"/></actuator></mujoco>'
    ... )
    >>> step = dtau.mujoco.StepFunction(mj_model, mujoco.MjData(mj_model))
    >>> step(np.zeros(3), [1.0]).round(4)
    array([0.002, 0.   , 0.002])
    >>> by_state, by_ctrl = step.vjp(np.zeros(3), [1.0], [0.0, 1.0, 0.0])
    >>> by_state.round(4)
    array([0.   , 1.   , 0.002])
    """

    def __init__(
        self,
        mj_model: Any,
        mj_data: Any,
        *,
        geometry: Geometry = "exact",
        threads: int | None = None,
    ) -> None:
        super().__init__(mj_model, mj_data, geometry, threads)

    def __call__(self, state: ArrayLike, ctrl: ArrayLike, *, keep: bool = False) -> Array:
        """Return the states after MuJoCo's step.

        Parameters
        ----------
        state : array_like (..., nstate)
        ctrl : array_like (..., nu)
        keep : bool
            Keep MuJoCo's solutions for the next product at the same states and controls, which
            need not solve again then. The latest ones are kept, in up to 64 MiB.

        Returns
        -------
        ndarray (..., nstate)
        """
        x, u = self._arguments.read(state, ctrl)
        if keep and self.geometry == "exact":  # differences use data that belong to a thread
            return self._solved(*flat(x, u)).reshape(x.shape)
        return self._after(x, u)

    def vjp(
        self,
        state: ArrayLike,
        ctrl: ArrayLike,
        weights: ArrayLike,
        *,
        after: ArrayLike | None = None,
    ) -> tuple[Array, Array]:
        """Return products of weights of the next states with the derivatives by state and control.

        Parameters
        ----------
        state, ctrl : array_like (..., nstate), (..., nu)
        weights : array_like (..., nstate)
            Further leading axes are several weights for the same states.
        after : array_like (..., nstate), optional
            The states after the step, if they are known already, which saves time.

        Returns
        -------
        tuple of ndarray (..., nstate), (..., nu)
        """
        by_state, by_ctrl, _ = self._vjp(state, ctrl, weights, after, None)
        return by_state, by_ctrl

    def jvp(
        self,
        state: ArrayLike,
        ctrl: ArrayLike,
        dstate: ArrayLike,
        dctrl: ArrayLike,
        *,
        after: ArrayLike | None = None,
    ) -> Array:
        """Return the variations of the next states along variations of state and control.

        Parameters
        ----------
        state, ctrl : array_like (..., nstate), (..., nu)
        dstate, dctrl : array_like (..., nstate), (..., nu)
            Further leading axes are several variations of the same states.
        after : array_like (..., nstate), optional
            As in `vjp`.

        Returns
        -------
        ndarray (..., nstate)
        """
        return self._jvp(state, ctrl, dstate, dctrl, None, after, None)

    def rollout(self, state: ArrayLike, ctrl: ArrayLike) -> Array:
        """Return the states after each of several steps.

        Parameters
        ----------
        state : array_like (..., nstate)
        ctrl : array_like (..., steps, nu)

        Returns
        -------
        ndarray (..., steps, nstate)
        """
        return self._rolled_out(*self._arguments.read(state, ctrl, 1))

    def rollout_vjp(
        self,
        state: ArrayLike,
        ctrl: ArrayLike,
        weights: ArrayLike,
        *,
        after: ArrayLike | None = None,
    ) -> tuple[Array, Array]:
        """Return products of weights of a rollout's states, as `vjp`.

        Parameters
        ----------
        state, ctrl : array_like (..., nstate), (..., steps, nu)
        weights : array_like (..., steps, nstate)
        after : array_like (..., steps, nstate), optional
            The states after each step, if they are known already, which saves time.

        Returns
        -------
        tuple of ndarray (..., nstate), (..., steps, nu)
        """
        by_state, by_ctrl, _ = self._rollout_vjp(state, ctrl, weights, after, None)
        return by_state, by_ctrl

    def rollout_jvp(
        self,
        state: ArrayLike,
        ctrl: ArrayLike,
        dstate: ArrayLike,
        dctrl: ArrayLike,
        *,
        after: ArrayLike | None = None,
    ) -> Array:
        """Return the variations of a rollout's states, as `jvp`.

        Parameters
        ----------
        state, ctrl : array_like (..., nstate), (..., steps, nu)
        dstate, dctrl : array_like (..., nstate), (..., steps, nu)
        after : array_like (..., steps, nstate), optional
            As in `rollout_vjp`.

        Returns
        -------
        ndarray (..., steps, nstate)
        """
        return self._rollout_jvp(state, ctrl, dstate, dctrl, None, after, None)
