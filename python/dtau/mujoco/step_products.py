"""Step by MuJoCo, and multiply with derivatives of its steps: `StepProducts`."""

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
from numpy.typing import ArrayLike

from dtau.mujoco.numbers import require_vectors
from dtau.mujoco.parameters import Parameters
from dtau.mujoco.plan import plan_of
from dtau.mujoco.quaternions import StateNumbers
from dtau.mujoco.runs import Geometry, Kept, KeptSolutions, Run, Use, for_solutions, threads_for
from dtau.mujoco.scope import require_covered_data, require_no_callbacks
from dtau.mujoco.solved import integration_state, solvers
from dtau.mujoco.step_arguments import StepArguments, flat
from dtau.mujoco.transition import derivatives_of, require_arguments
from dtau.support.arrays import Array
from dtau.support.checks import integer

_STATE = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
_WARM_START = int(mujoco.mjtState.mjSTATE_WARMSTART)
_USER = int(mujoco.mjtState.mjSTATE_USER)
_MOST_AT_ONCE = 4096  # states of a rollout whose matrices are kept at a time, without parameters
_numbers = itertools.count()


def new_number() -> int:
    """Return a number for a function, by which programs find it, as they cannot hold objects."""
    return next(_numbers)


class StepProducts:
    """Products by states, controls and parameters, of which `StepFunction` has the public ones.

    `parameters` of the methods are those with columns, or None; their part of a product is the last
    one. It is empty without parameters.
    """

    def __init__(
        self, mj_model: Any, mj_data: Any, geometry: Geometry, threads: int | None
    ) -> None:
        require_arguments(mj_model, mj_data, geometry)
        require_covered_data(mj_data)
        self._model, self.geometry = copy.copy(mj_model), geometry
        self._plan = plan_of(self._model)
        self.threads = None if threads is None else integer("threads", threads, 1, 1024)
        self.nstate, self.nu = mujoco.mj_stateSize(mj_model, _STATE), mj_model.nu
        self.number = new_number()
        self._given = integration_state(mj_model, mj_data)
        self._warm_start, self._user = (
            np.empty(mujoco.mj_stateSize(mj_model, part)) for part in (_WARM_START, _USER)
        )
        mujoco.mj_getState(mj_model, mj_data, self._warm_start, _WARM_START)
        mujoco.mj_getState(mj_model, mj_data, self._user, _USER)
        self._states = StateNumbers(mj_model)
        self._arguments = StepArguments(self.nstate, self.nu)
        self._kept = KeptSolutions()
        self._parametrized: dict[tuple[str, ...], Any] = {}  # ParametrizedStep, by names

    def __getstate__(self) -> dict[str, Any]:
        own = "number", "_kept", "_plan", "_parametrized"
        return {k: x for k, x in vars(self).items() if k not in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make a copy, which is another function for programs."""
        vars(self).update(state)
        self.number, self._kept, self._plan = new_number(), KeptSolutions(), plan_of(self._model)
        self._parametrized = {}

    def _vjp(
        self,
        state: ArrayLike,
        ctrl: ArrayLike,
        weights: ArrayLike,
        after: ArrayLike | None,
        parameters: Parameters | None,
    ) -> tuple[Array, Array, Array]:
        """Return products of weights with the derivatives by state, control and parameters."""
        x, u = self._arguments.read(state, ctrl)
        lam = require_vectors("weights", weights, x.shape)
        after = self._after(x, u) if after is None else require_vectors("after", after, x.shape)
        shape, many = lam.shape, math.prod(lam.shape[: lam.ndim - x.ndim])
        x, u, after = flat(x, u, after)
        lam = lam.reshape(many, *x.shape)
        below = self._states.weights_of_displacements(after, lam)
        nx, columns = below.shape[-1], 0 if parameters is None else parameters.columns
        if many != 1 or self._plan.matrices_only:
            found = self._matrices(x, u, after, parameters)
            by_state, *others = (np.vecmat(below, part) for part in found)
        else:
            by: Array = np.empty((1, len(x), nx + self.nu + columns))

            def multiply(run: Run, some: slice) -> None:
                by[0, some] = run.pullback(self.geometry, some.start, below[0, some], parameters)

            self._solutions(x, u, after)(multiply)
            by_state, *others = np.split(by, [nx, nx + self.nu], axis=-1)
        by_state = self._states.weights_of_numbers(x, by_state)
        by_state[..., 0] = lam[..., 0]
        by_ctrl, by_parameters = (part.reshape(*shape[:-1], part.shape[-1]) for part in others)
        return by_state.reshape(shape), by_ctrl, by_parameters

    def _jvp(
        self,
        state: ArrayLike,
        ctrl: ArrayLike,
        dstate: ArrayLike | None,
        dctrl: ArrayLike | None,
        columns: Array | None,
        after: ArrayLike | None,
        parameters: Parameters | None,
    ) -> Array:
        """Return variations along those of state, control and parameters (..., columns)."""
        x, u = self._arguments.read(state, ctrl)
        dx, du = self._arguments.variations(x, u, dstate, dctrl)
        after = self._after(x, u) if after is None else require_vectors("after", after, x.shape)
        a, b, c = self._matrices(x, u, after, parameters)
        moved = np.matvec(a, self._states.displacements(x, dx)) + np.matvec(b, du)
        if columns is not None:
            moved = moved + np.matvec(c, columns)
        out = self._states.variations(after, moved)
        out[..., 0] = dx[..., 0]
        return out

    def _rollout_vjp(
        self,
        state: ArrayLike,
        ctrl: ArrayLike,
        weights: ArrayLike,
        after: ArrayLike | None,
        parameters: Parameters | None,
    ) -> tuple[Array, Array, Array]:
        """Return products with the derivatives of a rollout; parameters of each step by its own."""
        x, u = self._arguments.read(state, ctrl, 1)
        lam = require_vectors("weights", weights, (*u.shape[:-1], self.nstate))
        k, steps = lam.ndim - u.ndim, u.shape[-2]
        before, after = self._along(x, u, after)
        below = self._states.weights_of_displacements(after, lam)
        total: Array = np.zeros((*lam.shape[:k], *x.shape[:-1], below.shape[-1]))
        by_ctrl: Array = np.empty((*lam.shape[:-1], self.nu))
        by_parameters: Array = np.empty(
            (*lam.shape[:-1], 0 if parameters is None else parameters.columns)
        )
        for some in reversed(self._parts(x, steps, parameters)):
            a, b, c = self._matrices(*_some(some, before, u, after), parameters)
            for i in reversed(range(some.start, some.stop)):
                j = i - some.start
                total += below[..., i, :]
                by_ctrl[..., i, :] = np.vecmat(total, b[..., j, :, :])
                by_parameters[..., i, :] = np.vecmat(total, c[..., j, :, :])
                total = np.vecmat(total, a[..., j, :, :])
        by_state = self._states.weights_of_numbers(x, total)
        by_state[..., 0] = lam[..., 0].sum(axis=-1)
        return by_state, by_ctrl, by_parameters

    def _rollout_jvp(
        self,
        state: ArrayLike,
        ctrl: ArrayLike,
        dstate: ArrayLike | None,
        dctrl: ArrayLike | None,
        columns: Array | None,
        after: ArrayLike | None,
        parameters: Parameters | None,
    ) -> Array:
        """Return variations of a rollout's states, as `_jvp`; `columns` (..., steps, columns)."""
        x, u = self._arguments.read(state, ctrl, 1)
        dx, du = self._arguments.variations(x, u, dstate, dctrl)
        steps = u.shape[-2]
        before, after = self._along(x, u, after)
        moved = self._states.displacements(x, dx)
        if columns is not None:
            columns = np.broadcast_to(columns, (*columns.shape[:-2], steps, columns.shape[-1]))
        out: Array = np.empty((*du.shape[:-1], moved.shape[-1]))
        for some in self._parts(x, steps, parameters):
            a, b, c = self._matrices(*_some(some, before, u, after), parameters)
            for i in range(some.start, some.stop):
                j = i - some.start
                moved = np.matvec(a[..., j, :, :], moved)
                moved += np.matvec(b[..., j, :, :], du[..., i, :])
                if columns is not None:
                    moved += np.matvec(c[..., j, :, :], columns[..., i, :])
                out[..., i, :] = moved
        found = self._states.variations(after, out)
        found[..., 0] = dx[..., :1]
        return found

    def _after(self, x: Array, u: Array) -> Array:
        return self._rolled_out(x, u[..., np.newaxis, :])[..., 0, :]

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
            return self._after(x, u)
        self._kept.add(x, u, kept)
        return kept.after

    def _matrices(
        self, x: Array, u: Array, after: Array, parameters: Parameters | None
    ) -> list[Array]:
        """Return the derivatives by state, control and parameters at all states."""
        batch = x.shape[:-1]
        x, u, after = flat(x, u, after)
        solve = self._solutions(x, u, after)
        found = derivatives_of(self._plan, len(x), self.geometry, solve, parameters)
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
        with (
            solvers(self._model, self._given, count) as lent,
            Rollout(nthread=count if count > 1 else 0) as runner,
        ):
            found, _ = runner.rollout(
                *(self._model, [solver.reset() for solver in lent], x.reshape(n, -1)),
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

    def _parts(self, x: Array, steps: int, parameters: Parameters | None) -> list[slice]:
        """Return parts of the steps whose matrices take about the same memory."""
        own = self.nstate + self.nu
        width = own + (0 if parameters is None else parameters.columns)
        size = max(1, _MOST_AT_ONCE * own // (width * max(1, math.prod(x.shape[:-1]))))
        return [slice(i, min(steps, i + size)) for i in range(0, steps, size)]


def _some(steps: slice, *arrays: Array) -> tuple[Array, Array, Array]:
    """Return states, controls and states after them, of some steps."""
    before, u, after = (x[..., steps, :] for x in arrays)
    return before, u, after
