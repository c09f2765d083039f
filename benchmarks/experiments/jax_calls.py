"""What `dtau.jax` costs beside the same functions through NumPy: a call, a step of a scan, a batch.

    alone      one state: `dtau.f(model, ...)`, and the compiled `dtau.jax.f` until it is there
    in a scan  a turn of a loop whose next input waits for the last result; the call through NumPy
    batch      256 states a call, on one thread both

Gradients: of a weighted sum of forward dynamics' results by q, v and tau, by matrices and by
products (`products=True`), and `dtau.forward_dynamics_vjp`. Results are those of NumPy, to the last
bit; gradients to 1e-12.

Peer: adam-robotics, which computes in JAX itself; of the Panda, lone jitted calls.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import dtau
from benchmarks.experiment import (
    Claim,
    Experiment,
    Findings,
    Table,
    UnavailableError,
    Watch,
    WrongResultError,
    require_close,
)
from benchmarks.harness import Contender, Effort, Spread, interleaved, number, one_core, times
from benchmarks.optional import optional
from benchmarks.robots import chosen

MORE_ALONE, MORE_IN_SCAN = 25.0, 1.0  # microseconds that are asked for
STEPS, BATCH = 2000, 256
ROBOTS, QUICK_ROBOTS = ("panda", "hyq"), ("hyq",)
FUNCTIONS = {
    "inverse_dynamics": ("q", "v", "a"),
    "forward_dynamics": ("q", "v", "a"),
    "mass_matrix": ("q",),
    "step": ("q", "v", "a", "dt"),
}
EFFORT = {False: Effort(rounds=101, block=4e-3), True: Effort(rounds=7, block=2e-3)}  # by quick


@dataclass(frozen=True)
class Row:
    """Microseconds of a robot's function, through NumPy and JAX."""

    robot: str
    function: str
    where: str  # alone, in a scan, batch
    numpy: float
    jax: float
    more: Spread  # the difference, a round each


def run(quick: bool, watch: Watch) -> Findings:
    """All functions of all robots, then gradients."""
    jax = optional("jax")
    if jax is None:
        raise UnavailableError("JAX is not installed: python -m pip install jax")
    jax.config.update("jax_enable_x64", True)
    keys = QUICK_ROBOTS if quick else ROBOTS
    watch.expect(len(keys) * (len(FUNCTIONS) + 1))
    rows: list[Row] = []
    notes = [f"JAX {jax.__version__} on the CPU, one core"]
    with one_core():
        for robot in chosen(keys, notes.append):
            for function in FUNCTIONS:
                rows += measured(robot.label, robot.model, function, EFFORT[quick])
                watch.step(f"{robot.label}, {function}")
            rows += gradients(robot.label, robot.model, EFFORT[quick])
            watch.step(f"{robot.label}, gradients")
        peers = adam(EFFORT[quick], notes)
    return Findings(
        tables=[table(rows), *peers],
        claims=claims(rows),
        notes=notes,
        data={"rows": [asdict(row) for row in rows]},
    )


def states(model: dtau.Model, count: int) -> dict[str, Any]:
    """Random states, and a small time step."""
    q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(count,))
    return {"q": q, "v": v, "a": a, "dt": np.full(count, 1e-3)}


def measured(robot: str, model: dtau.Model, function: str, effort: Effort) -> list[Row]:
    """A function alone, in a scan and in a batch."""
    import jax
    import jax.numpy as jnp

    import dtau.jax

    plain, traced = getattr(dtau, function), getattr(dtau.jax, function)
    at = states(model, BATCH)
    many = [at[name] for name in FUNCTIONS[function]]
    one = [x[0] for x in many]
    compiled = jax.jit(lambda *x: traced(model, *x))

    @jax.jit
    def scan(*x: Any) -> Any:
        def body(first: Any, _: Any) -> Any:
            result = jax.tree.leaves(traced(model, first, *x[1:]))[0]
            return first + 0.0 * jnp.ravel(result)[0], None

        return jax.lax.scan(body, x[0], length=STEPS)[0]

    rows = []
    for where, x, steps in (("alone", one, 1), ("in a scan", one, STEPS), ("batch", many, BATCH)):
        on_device = [jnp.asarray(y) for y in x]
        check(compiled(*on_device), plain(model, *x), f"{robot}, {function}, {where}")
        ways = {
            "numpy": Contender(partial(repeat, lambda x=x: plain(model, *x, threads=1)), 1),
            "jax": Contender(
                partial(
                    repeat,
                    lambda f=scan if where == "in a scan" else compiled, x=on_device: (
                        jax.block_until_ready(f(*x))
                    ),
                ),
                steps if where == "in a scan" else 1,
            ),
        }
        rows.append(row(robot, function, where, ways, effort))
    return rows


def gradients(robot: str, model: dtau.Model, effort: Effort) -> list[Row]:
    """Of forward dynamics, by matrices and by products."""
    import jax
    import jax.numpy as jnp

    import dtau.jax

    at = states(model, 1)
    x = [at[name][0] for name in ("q", "v", "a")]
    weights = np.cos(np.arange(model.nv))
    expected = list(dtau.forward_dynamics_vjp(model, *x, weights))
    expected[0] = dtau.tangent_map(model, x[0]).to_tangent.T @ expected[0]
    on_device = [jnp.asarray(y) for y in x]
    rows = []
    for products, name in ((False, "gradient by matrices"), (True, "gradient by products")):

        def weighed(*x: Any, products: bool = products) -> Any:
            return jnp.vdot(weights, dtau.jax.forward_dynamics(model, *x, products=products))

        gradient = jax.jit(jax.grad(weighed, argnums=(0, 1, 2)))
        for got, want in zip(gradient(*on_device), expected, strict=True):
            require_close(np.asarray(got), want, 1e-12, f"{robot}, {name}")

        def through_numpy() -> None:
            dtau.forward_dynamics(model, *x)
            dtau.forward_dynamics_vjp(model, *x, weights)

        ways = {
            "numpy": Contender(partial(repeat, through_numpy), 1),
            "jax": Contender(
                partial(repeat, lambda f=gradient: jax.block_until_ready(f(*on_device))), 1
            ),
        }
        rows.append(row(robot, name, "alone", ways, effort))
    return rows


def adam(effort: Effort, notes: list[str]) -> list[Table]:
    """The Panda's mass matrix, bias torque and its Jacobian beside adam-robotics."""
    import jax
    import jax.numpy as jnp

    import dtau.jax

    if optional("adam") is None:
        notes.append(
            "left out: adam-robotics is not installed: python -m pip install adam-robotics"
        )
        return []
    from adam.jax import KinDynComputations

    found = chosen(("panda",), notes.append)
    if not found:
        return []
    robot, rows = found[0], []
    model = robot.model.replace(gravity=(0, 0, -9.80665))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(robot.urdf, encoding="utf-8")
        peer = KinDynComputations(str(path), [joint.name for joint in model.joints])
    pose, still = np.eye(4), np.zeros(6)
    q, v = (jnp.asarray(states(model, 1)[name][0]) for name in ("q", "v"))

    def theirs(q: Any, v: Any) -> Any:
        return peer.bias_force(pose, q, still, v)[6:]

    def ours(q: Any, v: Any) -> Any:
        return dtau.jax.bias_torque(model, q, v)

    ways = {
        "mass_matrix": (
            lambda q, v: dtau.jax.mass_matrix(model, q),
            lambda q, v: peer.mass_matrix(pose, q)[6:, 6:],
        ),
        "bias_torque": (ours, theirs),
        "its Jacobian": (jax.jacfwd(ours, (0, 1)), jax.jacfwd(theirs, (0, 1))),
    }
    for name, functions in ways.items():
        one, other = (jax.jit(f) for f in functions)
        for x, y in zip(jax.tree.leaves(one(q, v)), jax.tree.leaves(other(q, v)), strict=True):
            require_close(np.asarray(x), np.asarray(y), 1e-10, f"{name} beside adam-robotics")
        contenders = {
            key: Contender(partial(repeat, lambda f=f: jax.block_until_ready(f(q, v))), 1)
            for key, f in (("dtau", one), ("adam", other))
        }
        seconds = interleaved(contenders, effort, lambda: None)
        ratio = Spread.of(seconds["adam"] / seconds["dtau"])
        micro = [number(1e6 * float(np.median(seconds[key]))) for key in contenders]
        rows.append([name, *micro, *times(ratio)])
    head = ["function", "dtau.jax", "adam-robotics", "ratio", "quartiles"]
    return [Table("Panda, microseconds a jitted call, beside adam-robotics", head, rows)]


def repeat(call: Callable[[], Any], passes: int) -> None:
    """So many times."""
    for _ in range(passes):
        call()


def row(robot: str, function: str, where: str, ways: dict[str, Contender], effort: Effort) -> Row:
    """Time both ways in turns."""
    seconds = interleaved(ways, effort, lambda: None)
    micro = {name: 1e6 * values for name, values in seconds.items()}
    medians = {name: float(np.median(values)) for name, values in micro.items()}
    more = Spread.of(micro["jax"] - micro["numpy"])
    return Row(robot, function, where, medians["numpy"], medians["jax"], more)


def check(got: Any, expected: Any, what: str) -> None:
    """Every bit."""
    if not isinstance(expected, tuple):
        got, expected = (got,), (expected,)
    for one, other in zip(got, expected, strict=True):
        if not np.array_equal(np.asarray(one), np.asarray(other)):
            raise WrongResultError(f"{what}: differs from the result through NumPy")


def table(rows: list[Row]) -> Table:
    """One line each."""
    cells = [
        [
            *(r.robot, r.function, r.where, number(r.numpy), number(r.jax)),
            f"{r.more.median:.2f} ({r.more.lower:.2f} - {r.more.upper:.2f})",
        ]
        for r in rows
    ]
    head = ["robot", "function", "where", "NumPy", "JAX", "JAX more (quartiles)"]
    return Table("Microseconds a call, of a batch a call", head, cells, left=3)


def claims(rows: list[Row]) -> list[Claim]:
    """What is asked of a call, and of a step of a scan."""
    out = []
    for where, most in (("alone", MORE_ALONE), ("in a scan", MORE_IN_SCAN)):
        found = {
            f"{r.robot} {r.function}": r.more.median
            for r in rows
            if r.where == where and not r.function.startswith("gradient")
        }
        words = ", ".join(f"{name} {more:.2f}" for name, more in found.items())
        text = f"microseconds that JAX takes more than NumPy, {where}"
        out.append(Claim(text, f"at most {most:g}", words, max(found.values()) <= most))
    return out


EXPERIMENT = Experiment(
    name="jax_calls",
    title="Calls from JAX",
    source="dtau.jax beside dtau",
    run=run,
)
