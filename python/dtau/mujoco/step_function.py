"""MuJoCo's step as a function of state and control, with products of derivatives: `StepFunction`.

`dtau.torch` and `dtau.jax` make operations of it. States are numbers [time, qpos, qvel, act], by
which derivatives are. Products with one vector a state do not form matrices; others do.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import mujoco
import numpy as np
from mujoco.rollout import Rollout
from numpy.typing import ArrayLike, NDArray

from dtau.mujoco.plan import plan_of
from dtau.mujoco.quaternions import StateNumbers
from dtau.mujoco.runs import Geometry, Kept, KeptSolutions, Run, Use, for_solutions, threads_for
from dtau.mujoco.scope import RK4, require_covered_data, require_no_callbacks
from dtau.mujoco.solved import Solver, integration_state
from dtau.mujoco.transition import (
    derivatives_of,
    require_arguments,
    require_finite,
    require_vectors,
)
from dtau.support.checks import integer, real_numbers

Array = NDArray[np.float64]

_STATE = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
_WARM_START = int(mujoco.mjtState.mjSTATE_WARMSTART)
_USER = int(mujoco.mjtState.mjSTATE_USER)
_MOST_AT_ONCE = 4096  # states of a rollout whose matrices are kept at a time
_numbers = itertools.count()


class StepFunction:
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
        require_arguments(mj_model, mj_data, geometry)
        require_covered_data(mj_data)
        self._model, self.geometry = copy.copy(mj_model), geometry
        self._plan = plan_of(self._model)
        self.threads = None if threads is None else integer("threads", threads, 1, 1024)
        self.nstate, self.nu = mujoco.mj_stateSize(mj_model, _STATE), mj_model.nu
        self.number = next(_numbers)  # for programs, which cannot hold objects
        self._given = integration_state(mj_model, mj_data)
        self._warm_start, self._user = (
            np.empty(mujoco.mj_stateSize(mj_model, part)) for part in (_WARM_START, _USER)
        )
        mujoco.mj_getState(mj_model, mj_data, self._warm_start, _WARM_START)
        mujoco.mj_getState(mj_model, mj_data, self._user, _USER)
        self._states = StateNumbers(mj_model)
        self._kept = KeptSolutions()

    def __getstate__(self) -> dict[str, Any]:
        return {k: x for k, x in vars(self).items() if k not in ("number", "_kept", "_plan")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make a copy, which is another function for programs."""
        vars(self).update(state)
        self.number, self._kept, self._plan = next(_numbers), KeptSolutions(), plan_of(self._model)

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
        x, u = self._read(state, ctrl)
        if keep and self.geometry == "exact":  # differences use data that belong to a thread
            return self._solved(*self._flat(x, u)).reshape(x.shape)
        return self._rolled_out(x, u[..., np.newaxis, :])[..., 0, :]

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
        x, u = self._read(state, ctrl)
        lam = require_vectors("weights", weights, x.shape)
        after = self(x, u) if after is None else require_vectors("after", after, x.shape)
        k, shape = lam.ndim - x.ndim, lam.shape
        x, u, after = self._flat(x, u, after)
        lam = lam.reshape(math.prod(shape[:k]), *x.shape)
        below = self._states.weights_of_displacements(after, lam)
        plan = self._plan
        nx = 2 * plan.nv + plan.na
        by: Array = np.empty((*below.shape[:-1], nx + self.nu))
        if len(lam) == 1 and plan.integrator != RK4:

            def multiply(run: Run, some: slice) -> None:
                by[0, some] = run.pullback(self.geometry, some.start, below[0, some])

            self._solutions(x, u, after)(multiply)
        else:
            a, b = self._matrices(x, u, after)
            by[..., :nx], by[..., nx:] = np.vecmat(below, a), np.vecmat(below, b)
        by_state = self._states.weights_of_numbers(x, by[..., :nx])
        by_state[..., 0] = lam[..., 0]
        return by_state.reshape(shape), by[..., nx:].reshape(*shape[:-1], self.nu)

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
        x, u = self._read(state, ctrl)
        dx, du = self._variations(x, u, dstate, dctrl)
        after = self(x, u) if after is None else require_vectors("after", after, x.shape)
        a, b = self._matrices(x, u, after)
        moved = np.matvec(a, self._states.displacements(x, dx)) + np.matvec(b, du)
        out = self._states.variations(after, moved)
        out[..., 0] = dx[..., 0]
        return out

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
        return self._rolled_out(*self._read(state, ctrl, 1))

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
        x, u = self._read(state, ctrl, 1)
        lam = require_vectors("weights", weights, (*u.shape[:-1], self.nstate))
        k, steps = lam.ndim - u.ndim, u.shape[-2]
        before, after = self._along(x, u, after)
        below = self._states.weights_of_displacements(after, lam)
        nx = below.shape[-1]
        total: Array = np.zeros((*lam.shape[:k], *x.shape[:-1], nx))
        by_ctrl: Array = np.empty((*lam.shape[:-1], self.nu))
        for some in reversed(self._parts(x, steps)):
            a, b = self._matrices(*(part[..., some, :] for part in (before, u, after)))
            for i in reversed(range(some.start, some.stop)):
                j = i - some.start
                total += below[..., i, :]
                by_ctrl[..., i, :] = np.vecmat(total, b[..., j, :, :])
                total = np.vecmat(total, a[..., j, :, :])
        by_state = self._states.weights_of_numbers(x, total)
        by_state[..., 0] = lam[..., 0].sum(axis=-1)
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
        x, u = self._read(state, ctrl, 1)
        dx, du = self._variations(x, u, dstate, dctrl)
        steps = u.shape[-2]
        before, after = self._along(x, u, after)
        moved = self._states.displacements(x, dx)
        out: Array = np.empty((*du.shape[:-1], moved.shape[-1]))
        for some in self._parts(x, steps):
            a, b = self._matrices(*(part[..., some, :] for part in (before, u, after)))
            for i in range(some.start, some.stop):
                j = i - some.start
                moved = np.matvec(a[..., j, :, :], moved)
                moved += np.matvec(b[..., j, :, :], du[..., i, :])
                out[..., i, :] = moved
        found = self._states.variations(after, out)
        found[..., 0] = dx[..., :1]
        return found

    def _read(self, state: ArrayLike, ctrl: ArrayLike, rank: int = 0) -> tuple[Array, Array]:
        """Check arrays, and broadcast their leading axes; `rank`: 1 for controls of a rollout."""
        x, u = (
            np.asarray(real_numbers(name, given), dtype=np.float64)
            for name, given in (("state", state), ("ctrl", ctrl))
        )
        for name, value, size, axes in (("state", x, self.nstate, 0), ("ctrl", u, self.nu, rank)):
            if value.ndim <= axes or value.shape[-1] != size:
                expected = "(..., steps, " if axes else "(..., "
                raise ValueError(f"{name}: expected shape {expected}{size}), got {value.shape}")
            require_finite(name, value)
        try:
            batch = np.broadcast_shapes(x.shape[:-1], u.shape[: u.ndim - 1 - rank])
        except ValueError:
            raise ValueError(
                f"state and ctrl: expected leading axes that broadcast, got {x.shape} and {u.shape}"
            ) from None
        own = u.shape[u.ndim - 1 - rank :]
        return np.broadcast_to(x, (*batch, self.nstate)), np.broadcast_to(u, (*batch, *own))

    def _variations(
        self, x: Array, u: Array, dstate: ArrayLike, dctrl: ArrayLike
    ) -> tuple[Array, Array]:
        dx, du = (
            require_vectors("dstate", dstate, x.shape),
            require_vectors("dctrl", dctrl, u.shape),
        )
        more = np.broadcast_shapes(dx.shape[: dx.ndim - x.ndim], du.shape[: du.ndim - u.ndim])
        return np.broadcast_to(dx, (*more, *x.shape)), np.broadcast_to(du, (*more, *u.shape))

    def _flat(self, *arrays: Array) -> list[Array]:
        n = math.prod(arrays[0].shape[:-1])
        return [np.ascontiguousarray(x.reshape(n, x.shape[-1])) for x in arrays]

    def _solutions(self, x: Array, u: Array, after: Array) -> Callable[[Use], None]:
        """Return what calls a function with the solutions: kept ones, or new ones."""
        require_no_callbacks()
        if kept := self._kept.take(x, u):
            return kept.use
        # From the mean accelerations of the steps, the solver needs few iterations.
        velocities = slice(1 + self._model.nq, 1 + self._model.nq + self._model.nv)
        starts = (after - x)[:, velocities] / self._model.opt.timestep
        given = self._given, x, u, starts, self.threads
        return partial(for_solutions, self._plan, self._model, *given)

    def _solved(self, x: Array, u: Array) -> Array:
        """Return the states after the step, and keep the solutions."""
        kept = Kept(self._plan, self._model, self._given, x, u, self.threads)
        if not kept.is_stable:  # MuJoCo's step resets such states
            return self._rolled_out(x, u[:, np.newaxis])[:, 0]
        self._kept.add(x, u, kept)
        return kept.after

    def _matrices(self, x: Array, u: Array, after: Array) -> list[Array]:
        """Return A and B of all states."""
        batch = x.shape[:-1]
        x, u, after = self._flat(x, u, after)
        solve = self._solutions(x, u, after)
        found = derivatives_of(self._plan, len(x), self.geometry, solve)
        return [part.reshape(*batch, *part.shape[1:]) for part in found]

    def _rolled_out(self, x: Array, u: Array) -> Array:
        """Let MuJoCo step: states (..., nstate) and controls (..., steps, nu)."""
        batch, steps = x.shape[:-1], u.shape[-2]
        n = math.prod(batch)
        if not n * steps:
            return np.empty((*batch, steps, self.nstate))
        control = np.tile(self._user, (n, steps, 1))
        control[..., : self.nu] = u.reshape(n, steps, self.nu)
        count = threads_for(n, self.threads)
        solvers = [Solver(self._model, self._given, number) for number in range(count)]
        with Rollout(nthread=count if count > 1 else 0) as runner:
            found, _ = runner.rollout(
                *(self._model, [solver.reset() for solver in solvers], x.reshape(n, -1)),
                control,
                control_spec=_USER,
                nstep=steps,
                initial_warmstart=np.tile(self._warm_start, (n, 1)),
            )
        return np.asarray(found).reshape(*batch, steps, self.nstate)

    def _along(self, x: Array, u: Array, after: ArrayLike | None) -> tuple[Array, Array]:
        """Return the states before and after each step."""
        shape = (*u.shape[:-1], self.nstate)
        last = self._rolled_out(x, u) if after is None else require_vectors("after", after, shape)
        return np.concatenate([x[..., np.newaxis, :], last[..., :-1, :]], axis=-2), last

    def _parts(self, x: Array, steps: int) -> list[slice]:
        size = max(1, _MOST_AT_ONCE // max(1, math.prod(x.shape[:-1])))
        return [slice(i, min(steps, i + size)) for i in range(0, steps, size)]
