"""Solve at the states of a batch, over threads: `for_solutions`, `Run`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, Literal

import mujoco
import numpy as np

from dtau import _core
from dtau.mujoco.geometry_differences import GeometryDifferences
from dtau.mujoco.names import Names
from dtau.mujoco.parameters import Parameters
from dtau.mujoco.plan import Plan
from dtau.mujoco.pullback import step_pullback
from dtau.mujoco.scope import EULER, RK4
from dtau.mujoco.solved import Solver, solvers
from dtau.mujoco.steps import STAGES, step_derivatives, turning_rates
from dtau.support.arrays import Array
from dtau.support.locks import fork_safe_lock
from dtau.support.machine import cores

Geometry = Literal["exact", "differences"]
Use = Callable[["Run", slice], None]  # a function of solutions at some of the states

_STATE = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
_MOST_AT_ONCE = 128  # states whose arrays stay in the cache
_LEAST_OF_A_THREAD = 32  # states
_MOST_KEPT = 2**26  # bytes
_OVERHEAD = 2**13  # bytes of Python's objects, for solutions that are kept
_LARGEST = float(mujoco.mjMAXVAL)
_one_at_a_time = fork_safe_lock()


def for_solutions(
    plan: Plan,
    mj_model: Any,
    given: Array,
    states: Array,
    ctrl: Array,
    starts: Array | None,
    threads: int | None,
    use: Use,
    *,
    lasting: bool = False,
) -> None:
    """Solve at all states, over threads, and call `use` with the solutions at some of them.

    The data has the state `given`. Solvers start from the accelerations `starts` (n, nv), or from
    the warm start in `given`. Solutions are overwritten when `use` returns, unless they are
    `lasting`.
    """
    n = len(states)
    if not n:
        return
    count = threads_for(n, threads)
    size = min(_MOST_AT_ONCE, -(-n // count))
    parts = range(0, n, size)

    stop = threading.Event()  # the calling thread is interrupted, or another has failed

    def work(number: int, solver: Solver) -> None:
        for start in parts[number::count]:
            chosen = range(start, min(n, start + size))
            run = Run(plan, mj_model, solver, len(chosen), lasting=lasting)
            for k, i in enumerate(chosen):
                if stop.is_set():
                    return
                run.add(k, states[i], ctrl[i], None if starts is None else starts[i])
            use(run, slice(start, chosen.stop))

    count = min(count, len(parts))
    with solvers(mj_model, given, count) as lent:
        if count == 1:
            work(0, *lent)
            return
        # NumPy and MuJoCo release the interpreter's lock while they compute.
        with ThreadPoolExecutor(count) as pool:
            running = [pool.submit(work, *one) for one in enumerate(lent)]
            try:
                for done in as_completed(running):
                    done.result()
            except BaseException:
                stop.set()
                raise


class Kept:
    """Solutions at states, for one product of derivatives there.

    Attributes
    ----------
    after : ndarray (n, nstate)
        The states after the steps.
    is_stable : bool
        Whether MuJoCo's step resets none of the states.
    size : int
        Memory of the solutions, in bytes.
    """

    def __init__(
        self,
        plan: Plan,
        mj_model: Any,
        given: Array,
        states: Array,
        ctrl: Array,
        threads: int | None,
    ) -> None:
        """Solve at all states; the arguments are as in `for_solutions`."""
        self._runs: list[tuple[Run, slice]] = []
        self.after = np.empty_like(states)

        def keep(run: Run, some: slice) -> None:
            self._runs.append((run, some))
            self.after[some] = run.after

        for_solutions(plan, mj_model, given, states, ctrl, None, threads, keep, lasting=True)
        self.is_stable = all(run.unstable() is None for run, _ in self._runs)
        self.size = _OVERHEAD + sum(run.size() for run, _ in self._runs)

    def use(self, use: Use) -> None:
        """Call a function with the solutions at some of the states, over threads."""
        if len(self._runs) < 2:
            for run, some in self._runs:
                use(run, some)
            return
        with ThreadPoolExecutor(min(len(self._runs), cores())) as pool:
            for done in [pool.submit(use, *one) for one in self._runs]:
                done.result()


class KeptSolutions:
    """The latest solutions that are kept, by states and controls, in up to 64 MiB."""

    def __init__(self) -> None:
        self._kept: dict[tuple[bytes, bytes], Kept] = {}
        self._size = 0

    def take(self, x: Array, u: Array) -> Kept | None:
        """Return the solutions at these states and controls, and forget them."""
        with _one_at_a_time:
            found = self._kept.pop((x.tobytes(), u.tobytes()), None)
            self._size -= found.size if found else 0
            return found

    def add(self, x: Array, u: Array, kept: Kept) -> None:
        """Keep solutions, and forget the oldest."""
        self.take(x, u)
        with _one_at_a_time:
            self._kept[x.tobytes(), u.tobytes()] = kept
            self._size += kept.size
            while self._size > _MOST_KEPT:
                self._size -= self._kept.pop(next(iter(self._kept))).size


def threads_for(n: int, threads: int | None) -> int:
    """Return the number of threads for n states."""
    return min(n, threads or max(1, min(cores(), n // _LEAST_OF_A_THREAD)))


class Run:
    """Solutions at the stages of the steps from n states, and their derivatives, once.

    Attributes
    ----------
    after : ndarray (n, nstate) or None
        The states after the steps, of solutions that are lasting.
    """

    def __init__(
        self, plan: Plan, mj_model: Any, solver: Solver, n: int, *, lasting: bool = False
    ) -> None:
        self._plan, self._model, self._solver = plan, mj_model, solver
        count = 1 + len(STAGES) if plan.integrator == RK4 else 1
        self._stages = solver.stages(plan, count, n, lasting)
        self._following = np.empty((n, plan.nv))
        self.after: Array | None = None
        if lasting:
            self.after = np.empty((n, mujoco.mj_stateSize(mj_model, _STATE)))

    def add(
        self,
        k: int,
        state: Array | None = None,
        ctrl: Array | None = None,
        start: Array | None = None,
    ) -> None:
        """Solve at the state and control of the solver's data, or at others, from a warm start."""
        m, data = self._model, self._solver.reset()
        if state is not None:
            mujoco.mj_setState(m, data, state, _STATE)
            data.ctrl[:] = ctrl
        if start is not None:
            data.qacc_warmstart[:] = start
        if len(self._plan.angles):
            mujoco.mj_normalizeQuat(m, data.qpos)
        mujoco.mj_forward(m, data)
        self._stages[0].add(k, self._solver)
        if self._plan.integrator == RK4:
            self._add_stages(k, data)
        elif self._plan.integrator == EULER:
            mujoco.mj_Euler(m, data)
        else:
            mujoco.mj_implicit(m, data)
        self._following[k] = data.qvel
        if self.after is not None:
            mujoco.mj_getState(m, data, self.after[k], _STATE)

    def _add_stages(self, k: int, data: Any) -> None:
        m, h, first = self._model, self._plan.timestep, self._stages[0]
        time, rate = data.time, first.v[k]
        for number, fraction in enumerate(STAGES, 1):
            before, stage = self._stages[number - 1 : number + 1]
            q = first.q[k].copy()
            mujoco.mj_integratePos(m, q, rate, fraction * h)
            data.qpos[:], data.time = q, time + fraction * h
            data.qvel[:] = first.v[k] + fraction * h * before.a[k]
            if self._plan.na:
                data.act[:] = first.act[k] + fraction * h * before.act_dot[k]
            mujoco.mj_forward(m, data)
            stage.add(k, self._solver)
            rate = turning_rates(self._plan, fraction * h * rate, stage.v[k])[0]
        data.qpos[:], data.qvel[:], data.time = first.q[k], first.v[k], time
        if self._plan.na:
            data.act[:] = first.act[k]
        mujoco.mj_forward(m, data)
        mujoco.mj_RungeKutta(m, data, 4)

    def derivatives(
        self, geometry: Geometry, first: int | None, parameters: Parameters | None = None
    ) -> Array:
        """Return the derivatives of the states after the steps by state, control and parameters.

        `first`: the number of the first state in its batch; None: it is alone.
        """
        names, differences = self._finished(geometry, first, parameters)
        constants = self._solver.constants(self._plan, parameters)
        return step_derivatives(
            *(self._plan, self._model, constants, self._stages, self._following),
            *(names, differences),
        )

    def pullback(
        self, geometry: Geometry, first: int, weights: Array, parameters: Parameters | None = None
    ) -> Array:
        """Return products of weights with the derivatives, unless `Plan.matrices_only`."""
        (names,), (differences,) = self._finished(geometry, first, parameters)
        constants = self._solver.constants(self._plan, parameters)
        return step_pullback(
            *(self._plan, self._model, constants, self._stages[0], self._following),
            *(weights, names, differences),
        )

    def unstable(self) -> int | None:
        """Return the first state that MuJoCo's steps reset, or whose controls they ignore.

        The step itself resets the state before it, the next step resets the state after it.
        """
        first = self._stages[0]
        arrays = first.q, first.v, first.a, first.ctrl, self._following
        if _core.mujoco_is_within(arrays, _LARGEST):  # the usual case, in less time
            return None
        bad = ~np.all([(np.abs(x) <= _LARGEST).all(axis=1) for x in arrays], axis=0)
        return int(bad.argmax())

    def size(self) -> int:
        """Return the size of the solutions in bytes."""
        return sum(x.size() for x in self._stages)

    def _finished(
        self, geometry: Geometry, first: int | None, parameters: Parameters | None
    ) -> tuple[list[Names], list[GeometryDifferences | None]]:
        """Finish the stages; return names for errors and differences of their geometry."""
        if (bad := self.unstable()) is not None:
            raise ValueError(
                f"{Names(self._model, first, None).step(bad)} has no derivative: MuJoCo resets "
                f"states, controls and accelerations beyond {_LARGEST:g}; a shorter time step may "
                "keep the model stable"
            )
        differences: list[GeometryDifferences | None] = []
        several = len(self._stages) > 1
        names = [
            Names(self._model, first, k + 1 if several else None) for k in range(len(self._stages))
        ]
        for stage, of_stage in zip(self._stages, names, strict=True):
            stage.finish(self._model, parameters)
            differences.append(
                GeometryDifferences(self._model, self._solver, stage.q, of_stage)
                if geometry == "differences"
                else None
            )
        return names, differences
