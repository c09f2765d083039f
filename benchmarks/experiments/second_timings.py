"""What is timed of second derivatives: on robots, and on models of growing size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import dtau
from benchmarks.experiment import Array
from benchmarks.experiments.second_cases import CALLS, FILLED, Call, check, inputs, peers_loop
from benchmarks.harness import Effort, Spread, interleaved
from benchmarks.peers.headers import HeadersRobot
from benchmarks.robots import Robot, urdf

CHECKED = 2  # states
LONE_STATES = 16  # lone calls go round so many states
SCALED = ("first", "packed", "hessian", "forward hessian")
CHAINS = (10, 20, 40, 80)  # bodies
TREES = (10, 20, 40, 80)  # branches
BRANCH = 4  # bodies


@dataclass(frozen=True)
class Result:
    """Seconds a state of all contenders, a number a round."""

    robot: Robot
    entries: int  # of packed tensors, in each of the four
    states: dict[str, int]  # in the batches
    seconds: dict[str, Array]  # by "alone ...", "batch ...", "fill ...", and the compiler

    def micro(self, name: str) -> float:
        """Microseconds a state, the median."""
        return 1e6 * float(np.median(self.seconds[name]))

    def ratio(self, name: str, by: str) -> Spread:
        """How many times as long something takes."""
        return Spread.of(self.seconds[name] / self.seconds[by])

    @property
    def compilers(self) -> list[str]:
        """Whose headers took part, g++ last."""
        return [name for name in self.seconds if " " not in name]

    @property
    def gcc(self) -> str | None:
        """The compiler that goals are relative to, if it took part."""
        return next((name for name in self.compilers if name.startswith("g++")), None)


def measure(
    robot: Robot,
    batch: int,
    headers: Mapping[str, HeadersRobot],
    effort: Effort,
    tick: Callable[[], None],
) -> Result:
    """Check and time all functions on a robot."""
    check(robot, inputs(robot, CHECKED), headers)
    at = inputs(robot, max(batch, LONE_STATES))
    first = {name: x[:LONE_STATES] for name, x in at.items()}
    contenders, counts = {}, {}
    for name in CALLS:
        call = Call(robot.model, name, at).fits(batch)
        counts[name] = len(call.at["q"])
        contenders[f"alone {name}"] = Call(robot.model, name, first).alone()
        contenders[f"batch {name}"] = call.batch()
        if name in FILLED:
            contenders[f"fill {name}"] = call.fill()
            contenders[f"fill one {name}"] = call.of(slice(1)).fill()
    contenders |= {compiler: peers_loop(robot, first, peer) for compiler, peer in headers.items()}
    entries = dtau.packed_indices(robot.model).shape[1]
    return Result(robot, entries, counts, interleaved(contenders, effort, tick))


@dataclass(frozen=True)
class Growth:
    """What functions cost on models of growing size: a list by the function, an entry a model."""

    family: str
    bodies: list[int]
    micro: dict[str, list[float]]  # microseconds a state, in batches
    operations: dict[str, list[int]]
    most: dict[str, str]  # the exponent

    def exponent(self, costs: Sequence[float]) -> float:
        """The slope of the logarithm of a cost over that of the number of bodies."""
        return float(np.polyfit(np.log(self.bodies), np.log(costs), 1)[0])


def growths(sizes: int, effort: Effort, tick: Callable[[], None]) -> list[Growth]:
    """Time chains and trees of fixed depth, so many sizes, and count their operations."""
    chains = [list(range(-1, bodies - 1)) for bodies in CHAINS[:sizes]]
    trees = [
        [-1, *(0 if i % BRANCH == 0 else i for i in range(BRANCH * branches))]
        for branches in TREES[:sizes]
    ]
    found = []
    for family, parents, most in (
        ("chains (d = N)", chains, ("2: N d", "3: N d²", "2: N d", "3: N² d")),
        (f"trees of depth {BRANCH + 1}", trees, ("1: N d", "1: N d²", "1: N d", "2: N² d")),
    ):
        calls: dict[tuple[int, str], Call] = {}
        for tree in parents:
            model = dtau.load(urdf(tree, "fixed"), root="fixed")
            at = _states(model, 64)
            calls |= {(len(tree), name): Call(model, name, at).fits(64) for name in SCALED}
        contenders = {f"{n} {name}": call.batch() for (n, name), call in calls.items()}
        seconds = interleaved(contenders, effort, tick)
        bodies = [len(tree) for tree in parents]
        micro = {x: [1e6 * float(np.median(seconds[f"{n} {x}"])) for n in bodies] for x in SCALED}
        operations = {x: [calls[n, x].operations() for n in bodies] for x in SCALED}
        found.append(
            Growth(family, bodies, micro, operations, dict(zip(SCALED, most, strict=True)))
        )
    return found


def _states(model: dtau.Model, count: int) -> dict[str, Array]:
    q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(count,))
    tau = dtau.inverse_dynamics(model, q, v, a)
    return {"q": q, "v": v, "a": a, "tau": tau, "lam": v[::-1].copy()}
