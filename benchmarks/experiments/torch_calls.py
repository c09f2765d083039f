"""What `dtau.torch` costs beside the same functions through NumPy: a call, and with its gradient.

    call       `dtau.f(model, ...)`, and `dtau.torch.f` of tensors of which none wants a gradient
    recorded   the same call of tensors that want one
    gradient   `dtau.f`, `dtau.f_vjp` and the tangent map of q, and `dtau.torch.f` and `backward`
    PyTorch    a product of two such tensors and `backward`: what PyTorch itself takes

One state, and 256 in a call; one thread. Values are those of NumPy, to the last bit; gradients to
1e-12. By itself: after `jax_calls`, in the same process, gradients took three times as long, for
JAX's threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
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
from benchmarks.harness import Contender, Effort, Spread, interleaved, number, one_core
from benchmarks.optional import optional
from benchmarks.robots import chosen

MORE, TIMES = 60.0, 4.0  # microseconds more a call, times as long with gradient: what is asked for
BATCH = 256
ROBOTS, QUICK_ROBOTS = ("panda", "hyq"), ("hyq",)
VALUES = {"mass_matrix": ("q",), "step": ("q", "v", "a", "dt")}
DYNAMICS = ("inverse_dynamics", "forward_dynamics")
EFFORT = {False: Effort(rounds=101, block=4e-3), True: Effort(rounds=7, block=2e-3)}  # by quick


@dataclass(frozen=True)
class Row:
    """Microseconds of a robot's function, through NumPy and PyTorch."""

    robot: str
    function: str
    what: str  # call, recorded, gradient, PyTorch
    states: int
    numpy: float
    torch: float
    more: Spread  # the difference, a round each
    ratio: Spread


def run(quick: bool, watch: Watch) -> Findings:
    """All functions of all robots, one state and many."""
    torch = optional("torch")
    if torch is None:
        raise UnavailableError("PyTorch is not installed: python -m pip install torch")
    keys = QUICK_ROBOTS if quick else ROBOTS
    watch.expect(2 * len(keys))
    rows: list[Row] = []
    notes = [f"PyTorch {torch.__version__} on the CPU, one core"]
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with one_core():
        for robot in chosen(keys, notes.append):
            for count in (1, BATCH):
                rows += measured(robot.label, robot.model, count, EFFORT[quick])
                watch.step(f"{robot.label}, {count}")
    torch.set_num_threads(before)
    return Findings(
        tables=[table(rows)],
        claims=claims(rows),
        notes=notes,
        data={"rows": [asdict(row) for row in rows]},
    )


def measured(robot: str, model: dtau.Model, count: int, effort: Effort) -> list[Row]:
    """Calls of all functions, then the dynamics with gradients."""
    import torch

    import dtau.torch

    shape = () if count == 1 else (count,)
    q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=shape)
    at = {"q": q, "v": v, "a": a, "dt": np.full(shape, 1e-3)}
    rows = []
    for function, names in {**VALUES, **dict.fromkeys(DYNAMICS, ("q", "v", "a"))}.items():
        x = [at[name] for name in names]
        plain = partial(getattr(dtau, function), model, *x, threads=1)
        for what in ("call", "recorded"):
            given = [torch.from_numpy(y).clone().requires_grad_(what == "recorded") for y in x]
            tensors = partial(getattr(dtau.torch, function), model, *given)
            check(tensors(), plain(), f"{robot}, {function}")
            rows.append(row((robot, function, what, count), plain, tensors, effort))
    for function in DYNAMICS:
        rows.append(gradient(robot, model, function, [q, v, a], effort))
    two = [torch.from_numpy(y).clone().requires_grad_() for y in (v, a)]
    weights = torch.ones_like(two[0])
    rows.append(
        row(
            (robot, "a product", "PyTorch", count),
            partial(np.multiply, v, a),
            lambda: (two[0] * two[1]).backward(weights),
            effort,
        )
    )
    return rows


def gradient(robot: str, model: dtau.Model, function: str, x: list[Any], effort: Effort) -> Row:
    """Of a weighted sum of the results by q, v and the acceleration or torque."""
    import torch

    import dtau.torch

    plain, product = getattr(dtau, function), getattr(dtau, f"{function}_vjp")
    lam = np.cos(np.arange(x[1].size)).reshape(x[1].shape)
    given = [torch.from_numpy(y).clone().requires_grad_() for y in x]
    weights = torch.from_numpy(lam)

    def through_numpy() -> Any:
        plain(model, *x, threads=1)
        by_q, *others = product(model, *x, lam, threads=1)
        back = dtau.tangent_map(model, x[0], threads=1).to_tangent
        return ((by_q[..., None, :] @ back)[..., 0, :], *others)

    def through_torch() -> Any:
        result = getattr(dtau.torch, function)(model, *given)
        return torch.autograd.grad(result, given, weights)

    for got, want in zip(through_torch(), through_numpy(), strict=True):
        require_close(got.numpy(), want, 1e-12, f"{robot}, gradient of {function}")
    count = 1 if x[0].ndim == 1 else len(x[0])
    return row((robot, function, "gradient", count), through_numpy, through_torch, effort)


def repeat(call: Callable[[], Any], passes: int) -> None:
    """So many times."""
    for _ in range(passes):
        call()


def row(
    of: tuple[str, str, str, int],
    plain: Callable[[], Any],
    tensors: Callable[[], Any],
    effort: Effort,
) -> Row:
    """Time both ways in turns."""
    ways = {
        "numpy": Contender(partial(repeat, plain), 1),
        "torch": Contender(partial(repeat, tensors), 1),
    }
    seconds = interleaved(ways, effort, lambda: None)
    numpy, torch = (1e6 * seconds[name] for name in ways)
    medians = float(np.median(numpy)), float(np.median(torch))
    return Row(*of, *medians, Spread.of(torch - numpy), Spread.of(torch / numpy))


def check(got: Any, expected: Any, what: str) -> None:
    """Every bit."""
    if not isinstance(expected, tuple):
        got, expected = (got,), (expected,)
    for one, other in zip(got, expected, strict=True):
        if not np.array_equal(one.detach().numpy(), other):
            raise WrongResultError(f"{what}: differs from the result through NumPy")


def table(rows: list[Row]) -> Table:
    """One line each."""
    cells = [
        [
            *(r.robot, r.function, r.what, str(r.states), number(r.numpy), number(r.torch)),
            f"{r.more.median:.1f} ({r.more.lower:.1f} - {r.more.upper:.1f})",
            f"{r.ratio.median:.2f}x",
        ]
        for r in rows
    ]
    head = ["robot", "function", "what", "states", "NumPy", "PyTorch", "more (quartiles)", "times"]
    return Table("Microseconds a call", head, cells, left=3)


def claims(rows: list[Row]) -> list[Claim]:
    """What is asked of a call, and of a gradient."""
    more = {
        f"{r.robot} {r.function}": r.more.median for r in rows if r.what == "call" and r.states == 1
    }
    words = ", ".join(f"{name} {value:.1f}" for name, value in more.items())
    text = "microseconds that PyTorch takes more than NumPy, a call of one state"
    out = [Claim(text, f"at most {MORE:g}", words, max(more.values()) <= MORE)]
    for count, states in ((BATCH, f"{BATCH} states"), (1, "one state")):
        ratios = {
            f"{r.robot} {r.function}": r.ratio.median
            for r in rows
            if r.what == "gradient" and r.states == count
        }
        words = ", ".join(f"{name} {value:.1f}x" for name, value in ratios.items())
        text = f"time forward and backward of {states}, of NumPy's"
        out.append(Claim(text, f"at most {TIMES:g}x", words, max(ratios.values()) <= TIMES))
    return out


EXPERIMENT = Experiment(
    name="torch_calls",
    title="Calls from PyTorch",
    source="dtau.torch beside dtau",
    run=run,
)
