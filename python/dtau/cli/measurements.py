"""Times of functions at random states of a robot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import dtau
from dtau.cli.beside import CALLS, Pinocchio, UnavailableError
from dtau.cli.output import Ticks
from dtau.cli.timing import Contender, interleaved, summary
from dtau.model.model import Model
from dtau.registry import arrays_of

# By the function: its arguments, and the axes of length nv of its largest result
FUNCTIONS: dict[str, tuple[tuple[str, ...], int]] = {
    "inverse_dynamics": (("q", "v", "a"), 1),
    "forward_dynamics": (("q", "v", "tau"), 1),
    "mass_matrix": (("q",), 2),
    "mass_matrix_inverse": (("q",), 2),
    "coriolis_matrix": (("q", "v"), 2),
    "bias_torque": (("q", "v"), 1),
    "gravity_torque": (("q",), 1),
    "forward_kinematics": (("q",), 1),
    "inverse_dynamics_derivatives": (("q", "v", "a"), 2),
    "forward_dynamics_derivatives": (("q", "v", "tau"), 2),
    "inverse_dynamics_vjp": (("q", "v", "a", "lam"), 1),
    "forward_dynamics_vjp": (("q", "v", "tau", "lam"), 1),
    "inverse_dynamics_second_derivatives": (("q", "v", "a"), 3),
    "forward_dynamics_second_derivatives": (("q", "v", "tau"), 3),
    "step": (("q", "v", "tau", "dt"), 1),
    "linearize_discrete": (("q", "v", "tau", "dt"), 2),
}
SOLVE = ("forward", "mass_matrix_inverse", "step", "linearize_discrete")
_LONE = 16  # states that are done one a call
_NUMBERS = 2**22  # of the largest result of a batch; larger batches are made smaller
_DT = 0.01


class Measurements:
    """A robot's functions, states, and what to time them beside."""

    def __init__(self, model: Model, states: int, threads: int) -> None:
        self.remarks: list[str] = []
        self.peer: Pinocchio | None = None
        if model.damping.any():
            model = model.replace(damping=0.0)
            self.remarks.append("Timed without damping, as Pinocchio computes.")
        self._model, self._states, self._threads = model, states, threads
        rng = np.random.default_rng(0)
        q, v, a = dtau.random_state(model, rng, shape=(states,))
        tau = dtau.inverse_dynamics(model, q, v, a)
        dt = np.full(len(q), _DT)
        self._at = {"q": q, "v": v, "a": a, "tau": tau, "dt": dt, "lam": a[::-1].copy()}
        try:
            self.peer = Pinocchio(model, {"q": q, "v": v, "a": a, "tau": tau})
        except UnavailableError as reason:
            self.remarks.append(f"{reason}.")

    def rows(self, names: Sequence[str], ticks: Ticks) -> Iterator[dict[str, Any]]:
        """Time functions, one after the other."""
        for name in names:
            ticks.tick(name)
            if self._model.nv ** FUNCTIONS[name][1] > _NUMBERS:
                self.remarks.append(f"Left out {name}: results of one state are too large.")
                continue
            contenders, count = self._contenders(name)
            times = interleaved(contenders)
            if count < self._states:
                self.remarks.append(f"Batches of {name}: {count}, for the memory they take.")
            row: dict[str, Any] = {"function": name, "states": count}
            row |= {contender: summary(seconds) for contender, seconds in times.items()}
            yield row

    def _contenders(self, name: str) -> tuple[dict[str, Contender], int]:
        words, axes = FUNCTIONS[name]
        function = partial(getattr(dtau, name), self._model)
        count = max(1, min(self._states, _NUMBERS // self._model.nv**axes))
        lone = min(_LONE, count)
        arguments = [self._at[word] for word in words]
        rows = [tuple(x[i].copy() for x in arguments) for i in range(lone)]
        batch = [tuple(x[:count] for x in arguments)]
        contenders = {
            "lone": Contender(function, rows, lone),
            "batch": Contender(partial(function, threads=1), batch, count),
        }
        if self._threads > 1:
            many = partial(function, threads=self._threads)
            contenders["threads"] = Contender(many, batch, count)
        if self.peer is not None and name in CALLS:
            results = function(*(x[:lone] for x in arguments))
            wanted = arrays_of(results)
            contenders["pinocchio"] = self.peer.contender(name, words, wanted, lone)
        return contenders, count
