"""`dtau.casadi` beside the same function through NumPy, and beside CasADi's own differentiation.

Each is one call for one state: a `casadi.Function` of `dtau.casadi` through `buffer()`, which is
how CasADi's solvers call it, less what Python adds; the call of `dtau` with NumPy's arrays; and
expressions of the same dynamics in CasADi's scalars, differentiated by CasADi, through `buffer()`
too. Pinocchio's package from PyPI has no `pinocchio.casadi`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import dtau
from benchmarks.experiment import (
    Array,
    Claim,
    Experiment,
    Findings,
    Table,
    UnavailableError,
    Watch,
    require_close,
)
from benchmarks.harness import Contender, Effort, Spread, interleaved, loop, number, one_core
from benchmarks.peers import cases
from benchmarks.peers.cases import CHECKED, FUNCTIONS, Case, Function

ROBOTS = ("panda", "hyq")
EFFORT = {False: Effort(rounds=31, block=3e-3), True: Effort(rounds=5, block=1e-3)}
MORE = 1.0  # microseconds that a call may take beyond NumPy's
VALUES = (
    *("inverse_dynamics", "forward_dynamics", "mass_matrix", "mass_matrix_inverse"),
    *("bias_torque", "gravity_torque", "frame_placements", "frame_velocities"),
    *("center_of_mass", "centroidal_momentum", "integrate", "difference", "step"),
)
# What CasADi makes of a function, by the word that the package's has for it.
DERIVED: dict[str, Callable[[Any], Any]] = {
    "derivatives": lambda f: f.jacobian(),
    "vjp": lambda f: f.reverse(1),
    "hessian": lambda f: f.reverse(1).jacobian(),
}
LACKING = Function(
    "forward_dynamics_hessian", ("q", "v", "tau", "lam"), ("vv",) * 4, solves=True, order=2
)
PROBLEMS = ("inverse_dynamics", "forward_dynamics")
NAMES = (*VALUES, *(f"{problem}_{derived}" for problem in PROBLEMS for derived in DERIVED))


@dataclass(frozen=True)
class Call:
    """A call through `buffer()`, and the memory that it reads and writes."""

    run: Callable[[], None]
    memory: object


@dataclass(frozen=True)
class Row:
    """Microseconds a call, and the difference of ours round by round."""

    robot: str
    function: str
    numpy: float
    buffer: float
    more: Spread
    own: float  # CasADi's own; 0 where there is none

    def cells(self) -> list[str]:
        """As the table shows it."""
        quartiles = f"{self.more.median:+.2f} ({self.more.lower:+.2f} to {self.more.upper:+.2f})"
        own = [number(self.own), f"{self.own / self.buffer:.2f}x"] if self.own else ["-", "-"]
        return [self.function, number(self.numpy), number(self.buffer), quartiles, *own]


def run(quick: bool, watch: Watch) -> Findings:
    """All functions of both robots, on one core."""
    if importlib.util.find_spec("casadi") is None:
        raise UnavailableError("CasADi is not installed: python -m pip install casadi")
    watch.expect(len(ROBOTS) * len(NAMES))
    rows = []
    with one_core():
        for key in ROBOTS:
            rows += measured(key, quick, watch)
    tables = [
        Table(
            f"{label}: microseconds a call, and how many more than NumPy's (quartiles)",
            ["function", "NumPy", "CasADi's buffer", "more", "CasADi's own", "by ours"],
            [row.cells() for row in rows if row.robot == label],
        )
        for label in dict.fromkeys(row.robot for row in rows)
    ]
    worst = {row.robot + ", " + row.function: row.more.median for row in rows}
    most = max(worst, key=lambda name: worst[name])
    claim = Claim(
        "a call through CasADi's buffer, beside NumPy's",
        f"at most {MORE:g} µs more",
        f"at most {worst[most]:+.2f} µs ({most})",
        worst[most] <= MORE,
    )
    data = {"rows": [vars(row) | {"more": vars(row.more)} for row in rows]}
    return Findings(tables=tables, claims=[claim], data=data)


def measured(key: str, quick: bool, watch: Watch) -> list[Row]:
    """Time all functions of one robot, in turns."""
    from benchmarks.peers.casadi_calls import Functions, stacked
    from benchmarks.peers.casadi_code import Called

    robot = cases.robot(key)
    at, own = cases.states(robot, CHECKED), Functions(robot)
    functions = {f.name: f for f in (*FUNCTIONS, LACKING)}
    rows = []
    for name in NAMES:
        case = Case(functions[name], robot, at)
        first = {x: at[x][0] for x in case.function.arguments}
        statement = f"f({case.function.words})"
        names = {"f": getattr(dtau, name), "model": robot.model, **first, **case.constants}
        mine = checked(case, name)
        contenders = {
            "buffer": Contender(loop("call()", call=mine.run), 1),
            "numpy": Contender(loop(statement, **names), 1),
        }
        expression = own.get(case)
        if expression is not None:
            peer = Called(expression, stacked(case))
            contenders["own"] = Contender(loop("call()", call=peer.call), 1)
        seconds = interleaved(contenders, EFFORT[quick], lambda: None)
        micro = {way: 1e6 * float(np.median(values)) for way, values in seconds.items()}
        more = Spread.of(1e6 * (seconds["buffer"] - seconds["numpy"]))
        rows.append(
            Row(robot.label, name, micro["numpy"], micro["buffer"], more, micro.get("own", 0.0))
        )
        watch.step(f"{robot.label}, {name}")
    return rows


def checked(case: Case, name: str) -> Call:
    """Prepare a call through `buffer()` that gives what the package's function gives."""
    import dtau.casadi

    problem, _, derived = name.rpartition("_")
    model = case.robot.model
    if derived not in DERIVED:
        problem, derived = name, ""
    options: dict[str, Any] = {"frames": case.frame} if name.startswith("frame_") else {}
    if name == "frame_velocities":
        options["axes"] = "mixed"
    if name == "step":
        options["integrator"] = "semi_implicit"
    function = dtau.casadi.function(model, problem, **options)
    arguments = [x[0] for x in case.arguments]
    if name == "step":
        arguments.append(np.array([cases.DT]))
    places = list(range(len(arguments)))
    if derived:
        function = DERIVED[derived](function)
        if derived != "derivatives":
            places[-1] = len(arguments)  # the seed, after the result
    kept = [np.array(x) for x in arguments]
    results = [np.empty(function.nnz_out(k)) for k in range(function.n_out())]
    buffer, call = function.buffer()
    for place, x in zip(places, kept, strict=True):
        buffer.set_arg(place, x.data)
    unasked = len(arguments) + 1 if derived == "hessian" else 0  # by seeds: no solver wants these
    for k, result in enumerate(results):
        if result.size and not (unasked and k % unasked == unasked - 1):
            buffer.set_res(k, result.data)
    call()
    compare(case, derived, function, results)
    return Call(call, (buffer, kept, results))


def compare(case: Case, derived: str, function: Any, results: Sequence[Array]) -> None:
    """Raise where a result is not the package's: the first, of a Hessian the second."""
    import casadi

    wanted = [x[0] for x in case.wanted]
    to_tangent = dtau.tangent_map(case.robot.model, case.at["q"][0]).to_tangent
    place = 1 if derived == "hessian" else 0
    want = np.atleast_1d(wanted[place])
    if derived:
        want = want @ to_tangent if derived == "derivatives" else to_tangent.T @ want
    got = np.array(casadi.densify(casadi.DM(function.sparsity_out(place), results[place])))
    require_close(got.reshape(want.shape), want, 1e-9, case.function.name, floor=1e-3)


EXPERIMENT = Experiment(
    name="casadi_calls",
    title="Calls through CasADi",
    source="`dtau` through NumPy, and CasADi's automatic differentiation",
    run=run,
)
