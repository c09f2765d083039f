"""Inertial parameters as arrays, compared with a loop over models.

    python -m benchmarks many_models

A call with ``parameters=`` computes one state of each of 256 models. The loop calls the function
for the same states with models that were made before. Results are compared with the loop's and, for
the first models, with Pinocchio's after its inertias were changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from time import thread_time

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import require_close, solved
from benchmarks.declare import Asked, Bench, Layout, Row, efforts, ratio
from benchmarks.robots import Robot, pinocchio
from dtau.cli.timing import Array, Call, Contender, loop, random_inputs

MODELS, QUICK_MODELS = 256, 32
FUNCTIONS = (
    *("inverse_dynamics", "forward_dynamics", "mass_matrix", "step"),
    *("inverse_dynamics_derivatives", "forward_dynamics_derivatives"),
    *("inverse_dynamics_vjp", "forward_dynamics_vjp"),
)
PEER_STATES = 3


def looped(call: Call, models: list[dtau.Model]) -> Contender:
    """A loop over models, one state each."""
    pairs = [(model, *x) for model, x in zip(models, call.rows(len(models)), strict=True)]
    statement = f"for model, {', '.join(call.arrays)} in pairs: f({call.words})"
    return Contender(loop(statement, pairs=pairs, f=getattr(dtau, call.name)), len(models))


def check(call: Call, many: Call, models: list[dtau.Model], what: str) -> None:
    """Compare the call for all models with the loop over them."""
    got = many()
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


def measure(bench: Bench, robot: Robot) -> Iterator[Row]:
    count = QUICK_MODELS if bench.quick else MODELS
    factors = np.random.default_rng(1).uniform(0.8, 1.2, (count, robot.model.nbodies, 1))
    parameters = factors * robot.model.parameters  # 0.8 to 1.2 times the mass
    models = [robot.model.replace(parameters=x) for x in parameters]
    for name in FUNCTIONS:
        at = random_inputs(robot.model, [name, "inverse_dynamics", "forward_dynamics"], count)
        one = Call(name, robot.model, at)
        many = replace(one, options={"parameters": parameters.reshape(count, -1)})
        check(one, many, models, f"{robot.label}, {name}")
        check_peer(robot, at, parameters)
        batches = {"many": many.batch(into=False), "one": one.batch(into=False)}
        found = bench.timed(batches | {"loop": looped(one, models)})
        yield {
            "robot": robot.label,
            "function": name,
            "count": count,
            "many": found.micro("many"),
            "loop": found.ratio("loop", "many"),
            "one": found.ratio("many", "one"),
        }


EXPERIMENT = declare.experiment(
    "many_models",
    "Many models in one call",
    "a loop over models",
    declare.robots(("ur5", "hyq", "talos"), ("hyq",)),
    measure,
    effort=efforts((41, 7), (2e-2, 5e-3)),
    tables=[
        Layout(
            "{count} models in one call: microseconds a model, a loop over models by it, and it by "
            "as many states of one model",
            ["robot", "function", "many", ratio("loop", "loop"), ratio("one", "many by one")],
            left=2,
        )
    ],
    claims=[
        Asked("{robot}: a loop over {count} models by one call", "loop", least=5.0, each="robot")
    ],
    clock=thread_time,
)
