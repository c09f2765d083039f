"""Inertial parameters as arrays, compared with a loop over models.

    python -m benchmarks many_models

A call with ``parameters=`` computes one state of each of 256 models. The loop calls the function
for the same states with models that were made before. Results are compared with the loop's and, for
the first models, with Pinocchio's after its inertias were changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from time import thread_time

import numpy as np

import dtau
from benchmarks.checks import require_close, solved
from benchmarks.experiment import Experiment, Findings, Table, Watch
from benchmarks.harness import Spread, at_least, number, one_core, timed, times
from benchmarks.robots import Robot, chosen, pinocchio
from dtau.cli.timing import Array, Call, Contender, Effort, loop, random_inputs

MODELS, QUICK_MODELS = 256, 32
ROBOTS, QUICK_ROBOTS = ("ur5", "hyq", "talos"), ("hyq",)
FUNCTIONS = (
    *("inverse_dynamics", "forward_dynamics", "mass_matrix", "step"),
    *("inverse_dynamics_derivatives", "forward_dynamics_derivatives"),
    *("inverse_dynamics_vjp", "forward_dynamics_vjp"),
)
PEER_STATES = 3
EFFORT = {False: Effort(rounds=41, block=2e-2), True: Effort(rounds=7, block=5e-3)}  # by quick


@dataclass(frozen=True)
class Row:
    """A function of a robot: one call for many models, a loop over them, one model alone."""

    robot: str
    function: str
    many: float  # microseconds a model
    loop: Spread  # ratio to the call for many models
    one: Spread  # the call for many models by a batch of states of one model

    def cells(self) -> list[str]:
        """As the table shows it."""
        return [self.robot, self.function, number(self.many), *times(self.loop), *times(self.one)]


def scaled(model: dtau.Model, count: int) -> Array:
    """Parameters (count, nbodies, 10) of models whose bodies have 0.8 to 1.2 times the mass."""
    factors = np.random.default_rng(1).uniform(0.8, 1.2, (count, model.nbodies, 1))
    return factors * model.parameters


def contenders(call: Call, parameters: Array, models: list[dtau.Model]) -> Mapping[str, Contender]:
    """One call for all models, a loop over models, and the same states of one model."""
    flat = parameters.reshape(len(models), -1)
    many = Call(call.name, call.model, call.at, {"parameters": flat})
    rows = call.rows(len(models))
    pairs = [(model, *row) for model, row in zip(models, rows, strict=True)]
    words = call.words
    statement = f"for model, {', '.join(call.arrays)} in pairs: f({words})"
    function = getattr(dtau, call.name)
    return {
        "many": many.batch(into=False),
        "loop": Contender(loop(statement, pairs=pairs, f=function), len(models)),
        "one": call.batch(into=False),
    }


def check(call: Call, parameters: Array, models: list[dtau.Model], what: str) -> None:
    """Compare the call for all models with the loop over them."""
    got = call(parameters=parameters.reshape(len(models), -1))
    for k, model in enumerate(models):
        want = Call(call.name, model, call.part(k).arrays)()
        tolerance = solved(1e-12, model, call.at["q"][k])
        scale = max(float(np.abs(x).max()) for x in want)
        for x, y in zip(got, want, strict=True):
            require_close(x[k], y, tolerance, f"{what}, model {k}", floor=1e-2 * scale)


def check_peer(robot: Robot, at: Mapping[str, Array], parameters: Array) -> None:
    """Compare torques and accelerations with Pinocchio's, whose inertias are changed."""
    if robot.peer is None:
        return
    flat = parameters.reshape(len(parameters), -1)
    tau = dtau.inverse_dynamics(robot.model, at["q"], at["v"], at["a"], parameters=flat)
    a = dtau.forward_dynamics(robot.model, at["q"], at["v"], at["tau"], parameters=flat)
    for k in range(PEER_STATES):
        peer = robot.peer.copy()
        for i, joint in enumerate(robot.joints):
            of_body = parameters[k, joint.body]
            peer.inertias[i + 1] = pinocchio.Inertia.FromDynamicParameters(of_body)
        data, q = peer.createData(), robot.peer_q(at["q"][k])
        v, acceleration, torque = (robot.peer_v(at[x][k]) for x in ("v", "a", "tau"))
        want = pinocchio.rnea(peer, data, q, v, acceleration)
        require_close(robot.peer_v(tau[k]), want, 1e-10, f"{robot.label}, Pinocchio's torques")
        want = pinocchio.aba(peer, data, q, v, torque)
        require_close(robot.peer_v(a[k]), want, 1e-8, f"{robot.label}, Pinocchio's accelerations")


def measured(
    robot: Robot,
    name: str,
    count: int,
    effort: Effort,
    tick: Callable[[], None],
) -> Row:
    """Check and time a function."""
    parameters = scaled(robot.model, count)
    models = [robot.model.replace(parameters=x) for x in parameters]
    at = random_inputs(robot.model, [name, "inverse_dynamics", "forward_dynamics"], count)
    call = Call(name, robot.model, at)
    check(call, parameters, models, f"{robot.label}, {name}")
    check_peer(robot, at, parameters)
    found = timed(contenders(call, parameters, models), effort, tick, thread_time)
    return Row(
        robot.label,
        name,
        found.micro("many"),
        found.ratio("loop", "many"),
        found.ratio("many", "one"),
    )


def run(quick: bool, watch: Watch) -> Findings:
    """Measure these functions of all robots."""
    notes: list[str] = []
    count, effort = QUICK_MODELS if quick else MODELS, EFFORT[quick]
    robots = chosen(QUICK_ROBOTS if quick else ROBOTS, notes.append)
    watch.expect(effort.rounds * len(robots) * len(FUNCTIONS))
    with one_core():
        rows = [
            measured(robot, name, count, effort, partial(watch.step, robot.label))
            for robot in robots
            for name in FUNCTIONS
        ]
    header = ["robot", "function", "many", "loop", "quartiles", "many by one", "quartiles"]
    title = (
        f"{count} models in one call: microseconds a model, a loop over models by it, and it by as "
        "many states of one model"
    )
    claims = [
        at_least(
            f"{robot}: a loop over {count} models by one call",
            5.0,
            [row.loop.median for row in rows if row.robot == robot],
        )
        for robot in dict.fromkeys(row.robot for row in rows)
    ]
    return Findings(
        tables=[Table(title, header, [row.cells() for row in rows], left=2)],
        claims=claims,
        notes=notes,
        data={"rows": [asdict(row) for row in rows]},
    )


EXPERIMENT = Experiment(
    "many_models",
    "Many models in one call",
    "a loop over models",
    run,
)
