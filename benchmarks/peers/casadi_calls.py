"""CasADi: expressions of `casadi_model`, run by its virtual machine and as C code, compiled."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import casadi
import numpy as np

from benchmarks.checks import Array
from benchmarks.machine import cache_folder
from benchmarks.peers.casadi_code import Called, Looped, compiled
from benchmarks.peers.casadi_model import Expressions
from benchmarks.peers.cases import CHECKED, LONE_STATES, Case, Way
from benchmarks.robots import Robot
from dtau.cli.timing import DT, Contender

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
            self._made[name] = None if self.large(case) else self._whole(case)
        return self._made[name]

    def why(self, case: Case) -> str:
        """Why there is none, if it could be made."""
        return "too large" if self.large(case) else ""

    def large(self, case: Case) -> bool:
        """Whether its expressions would have millions of instructions."""
        return self.model.nv > MOST_FREEDOM and case.function in LARGE

    def _whole(self, case: Case) -> Any:
        """Results as rows, one after the other."""
        symbols = [casadi.SX.sym(name, case.at[name].shape[1]) for name in case.arguments]
        results = self._results(case.function, case.frame, symbols)
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

    def _results(self, function: str, frame: str, x: list[Any]) -> list[Any] | None:
        """The results of a function of the package as matrices, of symbols for its arguments."""
        m, problem = self.model, function.partition("_dynamics")[0]
        v, u = m.v, m.u  # u: the acceleration or the torque
        y: Any = None
        if problem in ("inverse", "forward"):
            y = m.inverse_dynamics(v, u) if problem == "inverse" else m.forward_dynamics(v, u)
        body = m.names.index(frame)
        match function:
            case "inverse_dynamics" | "forward_dynamics":
                return [y]
            case "inverse_dynamics_derivatives":
                return [m.by_q(y), casadi.jacobian(y, v), m.mass_matrix()]
            case "forward_dynamics_derivatives":
                return [m.by_q(y), casadi.jacobian(y, v), casadi.jacobian(y, u)]
            case "inverse_dynamics_jvp":
                dq, dv, da = x[3:]
                state = casadi.vertcat(m.g, m.s, v, u)
                return [casadi.jtimes(y, state, casadi.vertcat(m.along(dq), dv, da))]
            case "inverse_dynamics_vjp" | "forward_dynamics_vjp":
                return self._vjp(y, x[3])
            case "inverse_dynamics_hessian":
                by_q, by_v, by_a = self._vjp(y, x[3])
                by_v_twice = casadi.jacobian(by_v, v)
                return [m.by_q(by_q), casadi.jacobian(by_q, v), by_v_twice, m.by_q(by_a)]
            case "inverse_dynamics_second_derivatives":
                first = (m.by_q(y), casadi.jacobian(y, v), m.mass_matrix())
                q, by_v, mass = (casadi.reshape(casadi.densify(z.T), -1, 1) for z in first)
                return [m.by_q(q), casadi.jacobian(q, v), casadi.jacobian(by_v, v), m.by_q(mass)]
            case "mass_matrix":
                return [m.mass_matrix()]
            case "mass_matrix_inverse":
                factors = casadi.ldl(m.mass_matrix())
                return [casadi.ldl_solve(casadi.SX.eye(m.nv), *factors)]
            case "bias_torque":
                return [m.inverse_dynamics(v, None)]
            case "gravity_torque":
                return [m.inverse_dynamics(None, None)]
            case "frame_placements":
                return list(m.placements(x[0])[body])
            case "frame_jacobians":
                return [m.jacobian(x[0], body)]
            case "center_of_mass":
                return [m.center_of_mass(x[0])]
            case "step" if not m.free:
                return self._step(x[0])
            case "linearize_discrete" if not m.free:
                state, after = casadi.vertcat(m.s, v), self._step(m.s)
                end = casadi.vertcat(*after)
                return [casadi.jacobian(end, state), casadi.jacobian(end, u), *after]
        return None

    def _vjp(self, y: Any, lam: Any) -> list[Any]:
        m = self.model
        state = casadi.vertcat(m.g, m.s, m.v, m.u)
        back = casadi.jtimes(y, state, lam, True)
        n = 3 + m.moving
        return [m.against(back[:n]), back[n : n + m.nv], back[n + m.nv :]]

    def _step(self, q: Any) -> list[Any]:
        m = self.model
        v = m.v + DT * m.forward_dynamics(m.v, m.u)
        return [q + DT * v, v]


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
