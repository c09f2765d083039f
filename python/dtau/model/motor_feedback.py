"""Close the loop of motors whose forces depend on the state: `feedback_of`, `MotorFeedback`.

With tau = tau(u, q, v), a linearization z' = A z + B tau by joint torques becomes

    z' = (A + B K) z + B G u        K = [dtau_dq, dtau_dv],   G = dtau_du

and a Hessian H by z and tau becomes P' H P with P = [1 0; K G]. Both are exact: the law of
`dtau.Motors` is affine, along displacements too, as displacements of its joints add to their
angles. A time step has the torque of the state before it, constant during the step.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dtau.model.control_inputs import require_motors_of
from dtau.model.model import Model
from dtau.model.motors import Motors
from dtau.support.arrays import Array
from dtau.support.options import Coordinates

Result = TypeVar("Result", bound=tuple[Any, ...])

# Results by the state, and those by the inputs.
_PAIRS = (("A", "B"), ("A_stages", "B_stages"), ("dforces_dz", "dforces_du"))


def refuse_pattern(layout: object) -> None:
    """Raise ValueError for another layout than the dense one."""
    if layout != "dense":
        raise ValueError(
            "layout: expected 'dense' with motors whose forces depend on the state, as these fill "
            f"more of A than its pattern, got {layout!r:.80}"
        )


class MotorFeedback:
    """The law of motors, which closes the loop around derivatives by joint torques.

    Attributes
    ----------
    torques : ndarray of bool (nv,)
        The torques that motors drive: the argument ``inputs`` of the derivatives by torques.
    """

    def __init__(self, motors: Motors) -> None:
        self.torques = np.asarray((motors.G != 0.0).any(axis=1))
        by_state = np.concatenate([motors.dtau_dq, motors.dtau_dv], axis=-1)
        self._by_state, self._by_input = by_state[..., self.torques, :], np.asarray(motors)
        self._by_input = self._by_input[..., self.torques, :]

    def states(self, q: ArrayLike) -> ArrayLike:
        """Return q with the batch axes of the motors, if they have some."""
        batch = self._by_input.shape[:-2]
        shape = np.shape(q)
        if not batch or not shape:
            return q
        return np.broadcast_to(q, (*np.broadcast_shapes(batch, shape[:-1]), shape[-1]))

    def room(self, out: Any, *places: int) -> Any:
        """Return `out` with other arrays in the places of derivatives by inputs: by torques.

        Raises
        ------
        ValueError
            If such an array does not fit.
        """
        if not isinstance(out, (tuple, list)):
            return out
        given, nu = _arrays(out), self._by_input.shape[-1]
        for place in places:
            array = given[place] if place < len(given) else None
            if array is None:
                continue
            if not (
                isinstance(array, np.ndarray)
                and array.dtype == np.float64
                and array.shape[-1:] == (nu,)
                and array.flags.writeable
            ):
                raise ValueError(
                    f"out: expected a writable array of float64 with {nu} columns for derivatives "
                    f"by inputs, got {array!r:.80}"
                )
            given[place] = np.empty((*array.shape[:-1], int(self.torques.sum())))
        return tuple(given)

    def close(self, by_torques: Result, out: Any, further: int = 0) -> Result:
        """Return a linearization by u of one by joint torques, in the arrays of `out` if given.

        `further` axes follow the axes of the batch, as in a series.
        """
        closed: dict[str, Array] = by_torques._asdict()  # type: ignore[attr-defined]
        for state, control in _PAIRS:  # the others stay: torques are constant over a step
            if state not in closed:
                continue
            by_tau = closed[control]
            axes = further + by_tau.ndim - closed["A"].ndim  # of stages
            closed[state] += by_tau @ _behind(self._by_state, axes)
            closed[control] = by_tau @ _behind(self._by_input, axes)
            if out is not None:
                room = _arrays(out)[list(closed).index(control)]
                room[...] = closed[control]
                closed[control] = room
        return by_torques._replace(**closed)  # type: ignore[attr-defined, no-any-return]

    def close_hessian(self, by_torques: Array, out: Array | None) -> Array:
        """Return a Hessian by z, u and what follows of one by z, joint torques and the same.

        It is written to `out` if given.
        """
        states, nu = self._by_state.shape[-1], self._by_input.shape[-1]
        end = states + self._by_input.shape[-2]
        further = by_torques.shape[-1] - end
        by = np.zeros((*self._by_input.shape[:-2], by_torques.shape[-1], states + nu + further))
        by[..., :states, :states], by[..., end:, states + nu :] = np.eye(states), np.eye(further)
        torques = by[..., states:end, :]
        torques[..., :states], torques[..., states : states + nu] = self._by_state, self._by_input
        whole = np.swapaxes(by, -1, -2) @ (by_torques @ by)
        whole = 0.5 * (whole + np.swapaxes(whole, -1, -2))
        if out is None:
            return np.asarray(whole)
        if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != whole.shape:
            raise ValueError(
                f"out: expected an array of float64 of shape {whole.shape}, got {out!r:.80}"
            )
        out[...] = whole
        return out


def feedback_of(
    model: Model, inputs: object, coordinates: Coordinates = "tangent"
) -> MotorFeedback | None:
    """Return the law of inputs that are motors whose forces depend on the state; else None.

    Raises
    ------
    ValueError
        If motors belong to a model with other joints, or their forces depend on the state and
        ``coordinates`` are not tangent.
    """
    if not isinstance(inputs, Motors):
        return None
    require_motors_of(model, inputs)
    if not inputs.bias[..., 1:].any():
        return None
    if coordinates == "numbers":
        raise ValueError(
            "coordinates: expected 'tangent' with motors whose forces depend on the state, got "
            "'numbers'; convert the result with dtau.tangent_map"
        )
    return MotorFeedback(inputs)


def _arrays(out: Any) -> list[Any]:
    """Return the arrays of `out`; an earlier result has some of them as attributes."""
    return [*out, *getattr(out, "__dict__", {}).values()]


def _behind(matrices: Array, further: int) -> Array:
    """Return matrices with more axes between the axes of the batch and of a matrix."""
    return matrices[(..., *[np.newaxis] * further, slice(None), slice(None))]
