"""CasADi: expressions of `casadi_model`, run by its virtual machine and as C code, compiled."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import casadi
import numpy as np

from benchmarks.harness import Contender
from benchmarks.peers.casadi_model import Expressions
from benchmarks.peers.cases import CHECKED, DT, LONE_STATES, Case, Way
from benchmarks.robots import Array, Robot

MOST_FREEDOM = 20  # robots of more are left out where expressions have millions of instructions
LARGE = (
    *("forward_dynamics_derivatives", "inverse_dynamics_hessian"),
    "inverse_dynamics_second_derivatives",
)
LARGEST_CODE = 30_000  # instructions; C code of more takes a compiler minutes
FLAGS = ("-O3", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC")
_LOOP = """
#include <stddef.h>
void many(const double* x, double* y, size_t nx, size_t ny, size_t states, size_t passes,
          double* w) {
  for (size_t pass = 0; pass < passes; ++pass)
    for (size_t i = 0; i < states; ++i) {
      const double* arg[1] = {x + i * nx};
      double* res[1] = {y + i * ny};
      function(arg, res, 0, w, 0);
    }
}
"""


class Functions:
    """The functions of one robot, made when they are asked for."""

    def __init__(self, robot: Robot) -> None:
        self.model = Expressions(robot)
        self._made: dict[str, Any] = {}

    def get(self, case: Case) -> Any:
        """The function of all arguments, one after the other; None if there is none."""
        name = case.function.name
        if name not in self._made:
            make = getattr(self, f"_{name}", None)
            made = None if make is None or self.large(case) else self._whole(case, make)
            self._made[name] = made
        return self._made[name]

    def why(self, case: Case) -> str:
        """Why there is none, if it could be made."""
        return "too large" if hasattr(self, f"_{case.function.name}") and self.large(case) else ""

    def large(self, case: Case) -> bool:
        """Whether its expressions would have millions of instructions."""
        return self.model.nv > MOST_FREEDOM and case.function.name in LARGE

    def _whole(self, case: Case, make: Callable[..., Any]) -> Any:
        """Results as rows, one after the other."""
        symbols = [casadi.SX.sym(name, case.at[name].shape[1]) for name in case.function.arguments]
        results = make(case, *symbols)
        if results is None:
            return None
        m = self.model
        inner = [casadi.reshape(casadi.densify(x.T), -1, 1) for x in results]
        x = casadi.vertcat(*symbols)
        g, s = m.of_state(symbols[0])
        given = [m.g, m.s, m.v, m.u, *symbols]
        rest = [m.v, m.u]
        for i, name in enumerate(case.function.arguments):
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
        peer = self.model.robot.peer
        return int(peer.frames[peer.getFrameId(case.frame)].parentJoint) - 1


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
        one = _Buffer(function, 1)
        got = []
        for row in x[:CHECKED]:
            one.x[:] = row
            one.call()
            got.append(one.y.copy())
        rows = list(x[:LONE_STATES])

        def run(passes: int) -> None:
            given, call = one.x, one.call
            for _ in range(passes):
                for row in rows:
                    given[:] = row
                    call()

        def batch(count: int, threads: int) -> Contender:
            kind = ("serial",) if threads == 1 else ("thread", threads)
            many = _Buffer(function.map(count, *kind), count)
            many.x[:] = x[:count].ravel()

            def run(passes: int) -> None:
                for _ in range(passes):
                    many.call()

            return Contender(run, count)

        each = Contender(run, LONE_STATES)
        facts = {"instructions": function.n_instructions()}
        return Way(split(case, np.array(got)), case.wanted, each, batch, facts=facts)

    def close(self) -> None:
        """Nothing to let go of."""


class _Buffer:
    """A function with arrays for its argument and its result."""

    def __init__(self, function: Any, count: int) -> None:
        self._buffer, self.call = function.buffer()
        self.x = np.empty(function.nnz_in(0))
        self.y = np.empty(function.nnz_out(0))
        self._buffer.set_arg(0, self.x.data)
        self._buffer.set_res(0, self.y.data)


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
        many = ctypes.CDLL(str(library(function))).many
        many.restype = None
        x = stacked(case)
        size = function.nnz_out(0), max(1, function.sz_w())

        def looped(x: Array) -> tuple[Callable[[int], None], Array]:
            y, w = np.empty((len(x), size[0])), np.empty(size[1])
            pointers = [ctypes.c_void_p(array.ctypes.data) for array in (x, y, w)]
            sizes = [ctypes.c_size_t(n) for n in (x.shape[1], y.shape[1], len(x))]

            def run(passes: int) -> None:
                many(*pointers[:2], *sizes, ctypes.c_size_t(passes), pointers[2])

            run.arrays = x, y, w  # type: ignore[attr-defined]  # they live as long as the loop
            return run, y

        def batch(count: int, threads: int) -> Contender:
            parts = np.array_split(x[:count], threads)
            loops = [looped(np.ascontiguousarray(part))[0] for part in parts]
            if threads == 1:
                return Contender(loops[0], count)

            def run(passes: int) -> None:
                for done in [self._threads.submit(loop, passes) for loop in loops]:
                    done.result()

            return Contender(run, count)

        run, y = looped(x[:LONE_STATES].copy())
        run(1)
        facts = {"instructions": function.n_instructions()}
        each = Contender(run, LONE_STATES)
        return Way(split(case, y[:CHECKED].copy()), case.wanted, each, batch, facts=facts)

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()


def stacked(case: Case) -> Array:
    """All arguments of a state in a row."""
    return np.ascontiguousarray(np.hstack(case.arguments))


def split(case: Case, rows: Array) -> list[Array]:
    """Rows as the function's results."""
    shapes = case.shapes()
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    parts = np.split(rows, ends[:-1], axis=1)
    return [part.reshape(len(rows), *shape) for part, shape in zip(parts, shapes, strict=True)]


def compiler() -> list[str] | None:
    """The system's C compiler, or what the variable CC says; None if there is none."""
    words = shlex.split(os.environ.get("CC", "cc"))
    return words if shutil.which(words[0]) else None


def library(function: Any) -> Path:
    """The compiled code, from the cache if it is there."""
    generator = casadi.CodeGenerator("function.c", {"with_header": False})
    generator.add(function)
    source = generator.dump() + _LOOP
    command = [*(compiler() or ["cc"]), *FLAGS]
    version = subprocess.run([command[0], "--version"], capture_output=True, text=True).stdout
    key = hashlib.sha256("\0".join([source, version, *command]).encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dtau-benchmarks"
    path = cache / f"casadi-{key}.so"
    if not path.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            file, fresh = Path(folder) / "function.c", Path(folder) / path.name
            file.write_text(source, encoding="utf-8")
            subprocess.run([*command, str(file), "-o", str(fresh), "-lm"], check=True)
            fresh.replace(path)
    return path
