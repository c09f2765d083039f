"""CasADi: expressions of `casadi_model`, run by its virtual machine and as C code, compiled."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import casadi
import numpy as np

from benchmarks.checks import Array
from benchmarks.machine import cache_folder
from benchmarks.peers.casadi_code import Called, Looped, compiled
from benchmarks.peers.casadi_model import Expressions
from benchmarks.peers.cases import CHECKED, DT, LONE_STATES, Case, Way
from benchmarks.robots import Robot
from dtau.timing import Contender

MOST_FREEDOM = 20  # robots of more are left out where expressions have millions of instructions
LARGE = (
    *("forward_dynamics_derivatives", "inverse_dynamics_hessian"),
    "inverse_dynamics_second_derivatives",
)
LARGEST_CODE = 30_000  # instructions; C code of more takes a compiler minutes


class Functions:
    """The functions of one robot, made when they are asked for."""

    def __init__(self, robot: Robot) -> None:
        self.model = Expressions(robot.model)
        self._made: dict[str, Any] = {}

    def get(self, case: Case) -> Any:
        """The function of all arguments, one after the other; None if there is none."""
        name = case.function
        if name not in self._made:
            make = getattr(self, f"_{name}", None)
            made = None if make is None or self.large(case) else self._whole(case, make)
            self._made[name] = made
        return self._made[name]

    def why(self, case: Case) -> str:
        """Why there is none, if it could be made."""
        return "too large" if hasattr(self, f"_{case.function}") and self.large(case) else ""

    def large(self, case: Case) -> bool:
        """Whether its expressions would have millions of instructions."""
        return self.model.nv > MOST_FREEDOM and case.function in LARGE

    def _whole(self, case: Case, make: Callable[..., Any]) -> Any:
        """Results as rows, one after the other."""
        symbols = [casadi.SX.sym(name, case.at[name].shape[1]) for name in case.arguments]
        results = make(case, *symbols)
        if results is None:
            return None
        m = self.model
        inner = [casadi.reshape(casadi.densify(x.T), -1, 1) for x in results]
        x = casadi.vertcat(*symbols)
        g, s = m.of_state(symbols[0])
        given = [m.g, m.s, m.v, m.u, *symbols]
        rest = [m.v, m.u]
        for i, name in enumerate(case.arguments):
            if name == "v":
                rest[0] = symbols[i]
            if name in ("a", "tau"):
                rest[1] = symbols[i]
        through = casadi.Function("inner", given, casadi.cse(inner), {"allow_free": False})
        out = casadi.vertcat(*through.call([g, s, *rest, *symbols], True, False))
        return casadi.Function("function", [x], [out])

    # One method a function of the package: its results as matrices

    def _inverse_dynamics(self, case: Case, q: Any, v: Any, a: Any) -> Any:
        return [self.model.inverse_dynamics(self.model.v, self.model.u)]

    def _forward_dynamics(self, case: Case, q: Any, v: Any, tau: Any) -> Any:
        return [self.model.forward_dynamics(self.model.v, self.model.u)]

    def _mass_matrix(self, case: Case, q: Any) -> Any:
        return [self.model.mass_matrix()]

    def _mass_matrix_inverse(self, case: Case, q: Any) -> Any:
        factors = casadi.ldl(self.model.mass_matrix())
        return [casadi.ldl_solve(casadi.SX.eye(self.model.nv), *factors)]

    def _bias_torque(self, case: Case, q: Any, v: Any) -> Any:
        return [self.model.inverse_dynamics(self.model.v, None)]

    def _gravity_torque(self, case: Case, q: Any) -> Any:
        return [self.model.inverse_dynamics(None, None)]

    def _inverse_dynamics_derivatives(self, case: Case, *_: Any) -> Any:
        m = self.model
        tau = m.inverse_dynamics(m.v, m.u)
        return [m.by_q(tau), casadi.jacobian(tau, m.v), m.mass_matrix()]

    def _forward_dynamics_derivatives(self, case: Case, *_: Any) -> Any:
        m = self.model
        a = m.forward_dynamics(m.v, m.u)
        return [m.by_q(a), casadi.jacobian(a, m.v), casadi.jacobian(a, m.u)]

    def _inverse_dynamics_jvp(self, case: Case, *x: Any) -> Any:
        m = self.model
        tau = m.inverse_dynamics(m.v, m.u)
        dq, dv, da = x[3:]
        state = casadi.vertcat(m.g, m.s, m.v, m.u)
        return [casadi.jtimes(tau, state, casadi.vertcat(m.along(dq), dv, da))]

    def _inverse_dynamics_vjp(self, case: Case, *x: Any) -> Any:
        return self._vjp(self.model.inverse_dynamics(self.model.v, self.model.u), x[3])

    def _forward_dynamics_vjp(self, case: Case, *x: Any) -> Any:
        return self._vjp(self.model.forward_dynamics(self.model.v, self.model.u), x[3])

    def _vjp(self, y: Any, lam: Any) -> Any:
        m = self.model
        state = casadi.vertcat(m.g, m.s, m.v, m.u)
        back = casadi.jtimes(y, state, lam, True)
        n = 3 + m.moving
        return [m.against(back[:n]), back[n : n + m.nv], back[n + m.nv :]]

    def _inverse_dynamics_hessian(self, case: Case, *x: Any) -> Any:
        m = self.model
        by_q, by_v, by_a = self._vjp(m.inverse_dynamics(m.v, m.u), x[3])
        return [m.by_q(by_q), casadi.jacobian(by_q, m.v), casadi.jacobian(by_v, m.v), m.by_q(by_a)]

    def _inverse_dynamics_second_derivatives(self, case: Case, *_: Any) -> Any:
        m = self.model
        tau = m.inverse_dynamics(m.v, m.u)
        by_q, by_v = m.by_q(tau), casadi.jacobian(tau, m.v)
        flat = [casadi.reshape(casadi.densify(x.T), -1, 1) for x in (by_q, by_v, m.mass_matrix())]
        second = m.by_q(flat[0]), casadi.jacobian(flat[0], m.v), casadi.jacobian(flat[1], m.v)
        return [*second, m.by_q(flat[2])]

    def _frame_placements(self, case: Case, q: Any) -> Any:
        turn, at = self.model.placements(q)[self._body(case)]
        return [turn, at]

    def _frame_jacobians(self, case: Case, q: Any) -> Any:
        return [self.model.jacobian(q, self._body(case))]

    def _center_of_mass(self, case: Case, q: Any) -> Any:
        return [self.model.center_of_mass(q)]

    def _step(self, case: Case, q: Any, v: Any, tau: Any) -> Any:
        if self.model.free:
            return None
        return self._step_of(q)

    def _linearize_discrete(self, case: Case, q: Any, v: Any, tau: Any) -> Any:
        m = self.model
        if m.free:
            return None
        state, (after, speed) = casadi.vertcat(m.s, m.v), self._step_of(q, m.s)
        end = casadi.vertcat(after, speed)
        return [casadi.jacobian(end, state), casadi.jacobian(end, m.u), after, speed]

    def _step_of(self, q: Any, s: Any = None) -> Any:
        m = self.model
        v = m.v + DT * m.forward_dynamics(m.v, m.u)
        return [(q if s is None else s) + DT * v, v]

    def _body(self, case: Case) -> int:
        """The body whose frame is asked for."""
        return case.robot.model.bodies.index(case.frame)


class VirtualMachine:
    """Called from Python in CasADi's fastest way, by buffers; batches by `map`."""

    name = "CasADi"

    def __init__(self, functions: Functions) -> None:
        self._functions = functions

    def way(self, case: Case) -> Way | str:
        """Calls of its function."""
        function = self._functions.get(case)
        if function is None:
            return self._functions.why(case)
        x = stacked(case)
        one = Called(function, x[:LONE_STATES])

        def batch(count: int, threads: int) -> Contender:
            kind = ("serial",) if threads == 1 else ("thread", threads)
            many = Called(function.map(count, *kind), x[:count].reshape(1, -1))

            def run(passes: int) -> None:
                for _ in range(passes):
                    many.call()

            return Contender(run, count)

        each = Contender(one.run, LONE_STATES)
        facts = {"instructions": function.n_instructions()}
        return Way(split(case, one.all()[:CHECKED]), case.wanted, each, batch, facts=facts)

    def close(self) -> None:
        """Nothing to let go of."""


class Code:
    """C code that CasADi generates, compiled, with a loop over states in C."""

    name = "CasADi's C"

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._threads = ThreadPoolExecutor(2)

    def way(self, case: Case) -> Way | str:
        """Loops over the states."""
        function = self._functions.get(case)
        if function is None:
            return self._functions.why(case)
        if function.n_instructions() > LARGEST_CODE:
            return "too large"
        library, x = compiled(function, cache_folder()), stacked(case)

        def batch(count: int, threads: int) -> Contender:
            parts = np.array_split(x[:count], threads)
            loops = [Looped(library, function, part) for part in parts]
            if threads == 1:
                return Contender(loops[0].run, count)

            def run(passes: int) -> None:
                for done in [self._threads.submit(loop.run, passes) for loop in loops]:
                    done.result()

            return Contender(run, count)

        one = Looped(library, function, x[:LONE_STATES])
        facts = {"instructions": function.n_instructions()}
        each = Contender(one.run, LONE_STATES)
        return Way(split(case, one.all()[:CHECKED].copy()), case.wanted, each, batch, facts=facts)

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()


def stacked(case: Case) -> Array:
    """All arguments of a state in a row."""
    return np.ascontiguousarray(np.hstack(list(case.arguments.values())))


def split(case: Case, rows: Array) -> list[Array]:
    """Rows as the function's results."""
    shapes = case.shapes()
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    parts = np.split(rows, ends[:-1], axis=1)
    return [part.reshape(len(rows), *shape) for part, shape in zip(parts, shapes, strict=True)]
