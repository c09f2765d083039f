"""Batches of a few states beside as many lone calls: at most as long.

    python -m benchmarks small_batches

Batches of 2, 3, one more than the lanes and two more, of functions with small and with large
results. Results of all of them have the bits of lone calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import thread_time

from benchmarks import declare
from benchmarks.checks import same_bits
from benchmarks.declare import Asked, Bench, Layout, Row, efforts
from benchmarks.robots import Robot
from dtau import _core
from dtau.cli.timing import Call, random_inputs

FUNCTIONS = (
    *("integrate", "inverse_dynamics", "forward_dynamics", "mass_matrix", "mass_matrix_inverse"),
    *("inverse_dynamics_derivatives", "forward_dynamics_derivatives", "linearize"),
    *("inverse_dynamics_wrench_derivatives", "inverse_dynamics_regressor"),
)
LANES = _core.lanes()
COUNTS = {f"{count} states": count for count in (2, 3, LANES + 1, LANES + 2)}


def measure(bench: Bench, robot: Robot) -> Iterator[Row]:
    for name in FUNCTIONS:
        most = max(COUNTS.values())
        call = Call(name, robot.model, random_inputs(robot.model, [name], most))
        same_bits(call, f"{robot.label}, {name}", most)
        batches = {x: call.part(slice(n)).batch(into=False) for x, n in COUNTS.items()}
        found = bench.timed({"alone": call.alone(most)} | batches)
        row = {"robot": robot.label, "function": name, "numbers": sum(x[0].size for x in call())}
        yield row | {"alone": found.micro("alone")} | {x: found.ratio(x, "alone") for x in COUNTS}


EXPERIMENT = declare.experiment(
    "small_batches",
    "Batches of a few states",
    "lone calls of the same states",
    declare.robots(("ur5", "panda", "hyq", "g1", "talos"), ("hyq",)),
    measure,
    effort=efforts((41, 7), (2e-3, 1e-3)),
    tables=[
        Layout(
            "Microseconds of a lone call, and batches in as many lone calls",
            ["robot", "function", "numbers", "alone", *COUNTS],
            left=2,
        )
    ],
    claims=[
        Asked(f"a batch of {words}, in {count} lone calls", words, most=1.0)
        for words, count in COUNTS.items()
    ],
    clock=thread_time,
)
