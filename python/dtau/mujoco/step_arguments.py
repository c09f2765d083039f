"""Check states, controls and vectors of `dtau.mujoco.StepFunction`: `StepArguments`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dtau.mujoco.numbers import require_finite, require_vectors
from dtau.support.arrays import Array
from dtau.support.checks import real_numbers


class StepArguments:
    """Read arrays of states (..., nstate) and controls (..., nu)."""

    def __init__(self, nstate: int, nu: int) -> None:
        self._nstate, self._nu = nstate, nu

    def read(self, state: ArrayLike, ctrl: ArrayLike, rank: int = 0) -> tuple[Array, Array]:
        """Check arrays, and broadcast their leading axes; `rank`: 1 for controls of a rollout."""
        x, u = (
            np.asarray(real_numbers(name, given), dtype=np.float64)
            for name, given in (("state", state), ("ctrl", ctrl))
        )
        for name, value, size, axes in (("state", x, self._nstate, 0), ("ctrl", u, self._nu, rank)):
            if value.ndim <= axes or value.shape[-1] != size:
                expected = "(..., steps, " if axes else "(..., "
                raise ValueError(f"{name}: expected shape {expected}{size}), got {value.shape}")
            require_finite(name, value)
        try:
            batch = np.broadcast_shapes(x.shape[:-1], u.shape[: u.ndim - 1 - rank])
        except ValueError:
            raise ValueError(
                f"state and ctrl: expected leading axes that broadcast, got {x.shape} and {u.shape}"
            ) from None
        own = u.shape[u.ndim - 1 - rank :]
        return np.broadcast_to(x, (*batch, self._nstate)), np.broadcast_to(u, (*batch, *own))

    def variations(
        self, x: Array, u: Array, dstate: ArrayLike | None, dctrl: ArrayLike | None
    ) -> tuple[Array, Array]:
        """Check variations of states and controls, and broadcast their further leading axes.

        None: they do not vary.
        """
        dx, du = (
            np.zeros(like.shape) if given is None else require_vectors(name, given, like.shape)
            for name, given, like in (("dstate", dstate, x), ("dctrl", dctrl, u))
        )
        more = np.broadcast_shapes(dx.shape[: dx.ndim - x.ndim], du.shape[: du.ndim - u.ndim])
        return np.broadcast_to(dx, (*more, *x.shape)), np.broadcast_to(du, (*more, *u.shape))


def flat(*arrays: Array) -> list[Array]:
    """Return arrays of states with one leading axis, contiguous."""
    n = math.prod(arrays[0].shape[:-1])
    return [np.ascontiguousarray(x.reshape(n, x.shape[-1])) for x in arrays]
