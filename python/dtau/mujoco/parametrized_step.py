"""Take parameters of the model as further controls of a step: `ParametrizedStep`.

Array libraries differentiate functions by their inputs. With the parameters among these, all that
they do with a step (batches, programs, modes) holds for parameters too.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dtau.mujoco.model_parameters import set_parameters
from dtau.mujoco.parameters import Parameters
from dtau.mujoco.step_function import StepFunction
from dtau.mujoco.step_products import new_number
from dtau.support.arrays import Array

Product = Callable[..., tuple[Array, ...]]

_MOST_KEPT = 8


class ParametrizedStep:
    """A step function of states and of controls [ctrl, parameters], each state with its own.

    All arrays have the same leading axes; vectors may have further ones. The parameters of all
    steps of a rollout are equal.

    Attributes
    ----------
    nstate, nu, number : int
        As of `StepFunction`; the controls include the parameters.
    shapes : dict
        Shapes of the parameters by name, in their order among the controls.
    """

    def __init__(self, step: StepFunction, names: tuple[str, ...]) -> None:
        self._step, self._chosen = step, Parameters(step._model, names)
        self.nstate, self.nu = step.nstate, step.nu + self._chosen.columns
        self.number = new_number()
        self.shapes = {name: self._chosen.shapes[name] for name in self._chosen.parts}
        self._latest: dict[bytes, StepFunction] = {}

    def __call__(self, state: Array, ctrl: Array, *, keep: bool = False) -> Array:
        """Return the states after the step, as `StepFunction.__call__`."""

        def values(step: StepFunction, x: Array, u: Array) -> tuple[Array]:
            return (step(x, u, keep=keep),)

        (found,) = self._over_models(values, (1,), (state, 1), (ctrl, 1))
        return found

    def rollout(self, state: Array, ctrl: Array) -> Array:
        """Return the states after each step, as `StepFunction.rollout`."""

        def values(step: StepFunction, x: Array, u: Array) -> tuple[Array]:
            return (step.rollout(x, u),)

        (found,) = self._over_models(values, (2,), (state, 1), (ctrl, 2))
        return found

    def vjp(self, state: Array, ctrl: Array, weights: Array, *, after: Array) -> tuple[Array, ...]:
        """Return products of weights, as `StepFunction.vjp`."""
        arrays = (state, 1), (ctrl, 1), (weights, 1), (after, 1)
        return self._pulled_back(StepFunction._vjp, (1, 1), *arrays)

    def rollout_vjp(
        self, state: Array, ctrl: Array, weights: Array, *, after: Array
    ) -> tuple[Array, ...]:
        """Return products of weights, as `StepFunction.rollout_vjp`."""
        arrays = (state, 1), (ctrl, 2), (weights, 2), (after, 2)
        return self._pulled_back(StepFunction._rollout_vjp, (1, 2), *arrays)

    def jvp(self, state: Array, ctrl: Array, dstate: Array, dctrl: Array, *, after: Array) -> Array:
        """Return variations, as `StepFunction.jvp`."""
        arrays = (state, 1), (ctrl, 1), (dstate, 1), (dctrl, 1), (after, 1)
        return self._pushed(StepFunction._jvp, 1, *arrays)

    def rollout_jvp(
        self, state: Array, ctrl: Array, dstate: Array, dctrl: Array, *, after: Array
    ) -> Array:
        """Return variations, as `StepFunction.rollout_jvp`."""
        arrays = (state, 1), (ctrl, 2), (dstate, 1), (dctrl, 2), (after, 2)
        return self._pushed(StepFunction._rollout_jvp, 2, *arrays)

    def _pulled_back(
        self, of: Product, ranks: tuple[int, ...], *arrays: tuple[Array, int]
    ) -> tuple[Array, ...]:
        def product(*given: Any) -> tuple[Array, ...]:
            by_state, *others = of(*given, self._chosen)
            return by_state, np.concatenate(others, axis=-1)

        return self._over_models(product, ranks, *arrays)

    def _pushed(self, of: Callable[..., Array], rank: int, *arrays: tuple[Array, int]) -> Array:
        def product(step: StepFunction, x: Array, u: Array, dx: Array, du: Array, y: Array) -> Any:
            own, columns = np.split(du, [step.nu], axis=-1)
            return (of(step, x, u, dx, own, columns, y, self._chosen),)

        (found,) = self._over_models(product, (rank,), *arrays)
        return found

    def _over_models(
        self, of: Product, ranks: tuple[int, ...], *arrays: tuple[Array, int]
    ) -> tuple[Array, ...]:
        """Call a function with the states of each model.

        Arrays come with the number of their axes behind those of the batch, results have `ranks`.
        """
        (x, _), (u, rank) = arrays[:2]
        u, numbers = np.split(u, [self._step.nu], axis=-1)
        arrays = (arrays[0], (u, rank), *arrays[2:])
        if not numbers[..., 0].size:  # no state or step, so that all models do
            return of(self._step, *(part for part, _ in arrays))
        batch = x.shape[:-1]
        numbers = numbers.reshape(math.prod(batch), -1)[:, : self._chosen.columns]
        if (numbers == numbers[0]).all():
            return of(self._at(numbers[0]), *(part for part, _ in arrays))
        rows, model = np.unique(numbers, axis=0, return_inverse=True)
        order, found = np.argsort(model, kind="stable"), []
        flat = [(_flat(part, rank, batch), -1 - rank) for part, rank in arrays]
        for k, row in enumerate(rows):
            some = np.flatnonzero(model == k)
            found.append(of(self._at(row), *(np.take(part, some, axis) for part, axis in flat)))
        places = np.argsort(order)
        results = []
        for parts, rank in zip(zip(*found, strict=True), ranks, strict=True):
            joined = np.take(np.concatenate(parts, axis=-1 - rank), places, axis=-1 - rank)
            more, own = joined.shape[: joined.ndim - 1 - rank], joined.shape[joined.ndim - rank :]
            results.append(joined.reshape(*more, *batch, *own))
        return tuple(results)

    def _at(self, numbers: Array) -> StepFunction:
        """Return the step of the model with these parameters."""
        key = numbers.tobytes()
        found = self._latest.get(key)
        if found is None:
            found = copy.copy(self._step)
            found._model = copy.copy(self._step._model)
            set_parameters(found._model, self._chosen.by_name(numbers))
            found = copy.copy(found)  # with the plan of the changed model
            self._latest[key] = found
            for old in list(self._latest)[:-_MOST_KEPT]:
                self._latest.pop(old, None)
        return found


def parametrized(step: StepFunction, names: tuple[str, ...]) -> ParametrizedStep:
    """Return the step as a function of these parameters too, which lives as long as the step."""
    found: ParametrizedStep | None = step._parametrized.get(names)
    if found is None:
        found = step._parametrized.setdefault(names, ParametrizedStep(step, names))
    return found


def _flat(part: Array, rank: int, batch: tuple[int, ...]) -> Array:
    """Return an array with one axis for the batch."""
    more = part.shape[: part.ndim - rank - len(batch)]
    own = part.shape[part.ndim - rank :]
    return part.reshape(*more, math.prod(batch), *own)
