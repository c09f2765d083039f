"""Time functions at random states of a robot: `Measurements`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dtau.cli.beside import CALLS, Pinocchio, UnavailableError
from dtau.cli.output import Ticks
from dtau.cli.timing import Call, Contender, Effort, interleaved, random_inputs
from dtau.model.model import Model
from dtau.registry import FUNCTIONS as REGISTRY

FUNCTIONS = (
    *("inverse_dynamics", "forward_dynamics", "mass_matrix", "mass_matrix_inverse"),
    *("coriolis_matrix", "bias_torque", "gravity_torque", "forward_kinematics"),
    *("inverse_dynamics_derivatives", "forward_dynamics_derivatives"),
    *("inverse_dynamics_vjp", "forward_dynamics_vjp"),
    *("inverse_dynamics_second_derivatives", "forward_dynamics_second_derivatives"),
    *("step", "linearize_discrete"),
)
EFFORT = Effort(rounds=15, block=2e-3, longest=1.0)
_LONE = 16  # states that are computed in single calls
_NUMBERS = 2**22  # most numbers in the largest result of a batch; larger batches are reduced


class Measurements:
    """The functions and states of a robot, and Pinocchio's functions for comparison."""

    def __init__(self, model: Model, states: int, threads: int) -> None:
        self.remarks: list[str] = []
        self.peer: Pinocchio | None = None
        if model.damping.any() or model.friction.any():
            model = model.replace(damping=np.zeros(model.nv), friction=np.zeros(model.nv))
            self.remarks.append(
                "Timed without damping and friction, which Pinocchio's functions do not have."
            )
        self._model, self._states, self._threads = model, states, threads
        self._at = random_inputs(model, FUNCTIONS, states)
        try:
            self.peer = Pinocchio(model, self._at)
        except UnavailableError as reason:
            self.remarks.append(f"{reason}.")

    def rows(self, names: Sequence[str], ticks: Ticks) -> Iterator[dict[str, Any]]:
        """Time functions, one after the other."""
        for name in names:
            ticks.tick(name)
            if self._largest(name) > _NUMBERS:
                self.remarks.append(f"Left out {name}: results of one state are too large.")
                continue
            contenders, count = self._contenders(name)
            times = interleaved(contenders, EFFORT)
            if count < self._states:
                self.remarks.append(f"Batches of {name} have {count} states, to limit memory.")
            row: dict[str, Any] = {"function": name, "states": count}
            row |= {
                contender: {"fastest": float(x.min()), "median": float(np.median(x))}
                for contender, x in times.items()
            }
            yield row

    def _largest(self, name: str) -> int:
        """Return about how many numbers the largest result of one state has."""
        axes = max(sum(axis in ("nv", "2 nv") for axis in x.axes) for x in REGISTRY[name].results)
        return int(self._model.nv**axes)

    def _contenders(self, name: str) -> tuple[dict[str, Contender], int]:
        count = max(1, min(self._states, _NUMBERS // self._largest(name)))
        lone = min(_LONE, count)
        call = Call(name, self._model, self._at).part(slice(count))
        contenders = {"lone": call.alone(lone), "batch": call.batch(into=False)}
        if self._threads > 1:
            contenders["threads"] = call.batch(self._threads, into=False)
        if self.peer is not None and name in CALLS:
            wanted = call.part(slice(lone))()
            contenders["pinocchio"] = self.peer.contender(name, tuple(call.arrays), wanted, lone)
        return contenders, count
