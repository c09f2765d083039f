"""Reduce measured torques to a small least-squares problem: `read_samples`, `reduced`."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from dtau.identification.base import BaseParameters, triangle
from dtau.identification.conditioning import read_deviations
from dtau.support.arrays import Array
from dtau.support.checks import batch_arrays

_CHUNK = 4_000_000  # numbers of a regressor that are in memory at a time
_LEAST_NOISE = 1e-9  # of the largest torque: residuals of simulated data are rounding errors


class Samples(NamedTuple):
    """Measured states and torques with one batch axis."""

    q: Array
    v: Array
    a: Array
    tau: Array


class Reduced(NamedTuple):
    """The triangular factor of the weighted problem: its costs differ by a constant."""

    matrix: Array  # (rank, rank)
    right: Array  # (rank,)
    rest: float  # the sum of squares that no parameters explain


def read_samples(
    base: BaseParameters, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike
) -> Samples:
    """Read measurements; raise ValueError if shapes do not fit or numbers are not finite."""
    model = base.regressor.model
    _, arrays = batch_arrays(
        {
            "q": (q, (model.nq,)),
            "v": (v, (model.nv,)),
            "a": (a, (model.nv,)),
            "tau": (tau, (model.nv,)),
        }
    )
    for name, array in zip(Samples._fields, arrays, strict=True):
        if not np.isfinite(array).all():
            raise ValueError(f"{name}: expected finite numbers; leave out samples without a value")
    if len(arrays[0]) * model.nv < base.rank:
        raise ValueError(
            f"tau: expected at least {base.rank} numbers, one for each base parameter, "
            f"got {len(arrays[0]) * model.nv}"
        )
    return Samples(*arrays)


def read_noise(base: BaseParameters, samples: Samples, noise: ArrayLike | None) -> Array:
    """Read the noise of the torques, or estimate it from an ordinary least-squares fit."""
    nv = base.regressor.model.nv
    if noise is not None:
        return read_deviations(nv, noise)
    if not samples.tau.any():
        raise ValueError("tau: expected torques that are not all zero, or their noise=")
    problem = reduced(base, samples, np.ones(nv))
    values = cast("Array", np.linalg.lstsq(problem.matrix, problem.right, rcond=None)[0])
    return spread(base, samples, values)


def spread(base: BaseParameters, samples: Samples, values: Array) -> Array:
    """Return the standard deviation of the residual of each torque, (nv,)."""
    parameters = np.zeros(len(base.regressor.names))
    parameters[base.columns] = values
    error = samples.tau - base.regressor.torque(parameters, *samples[:3])
    count = len(error) * error.shape[1]
    squares = (error**2).mean(axis=0) * count / max(count - base.rank, 1)
    least = _LEAST_NOISE * float(np.abs(samples.tau).max())
    deviations: Array = np.sqrt(np.maximum(squares, least**2))
    return deviations


def reduced(base: BaseParameters, samples: Samples, noise: Array) -> Reduced:
    """Return the QR factor of the regressor and torques, each row divided by its noise."""
    n = base.rank
    factor = np.zeros((0, n + 1))
    size = max(1, _CHUNK // (len(noise) * len(base.regressor.names)))
    for start in range(0, len(samples.q), size):
        part = Samples(*(x[start : start + size] for x in samples))
        rows = np.concatenate([base.matrix(*part[:3]), part.tau[..., None]], axis=-1)
        rows = (rows / noise[:, None]).reshape(-1, n + 1)
        factor = triangle(np.concatenate([factor, rows]))
    factor = np.concatenate([factor, np.zeros((n + 1 - min(n + 1, len(factor)), n + 1))])
    return Reduced(factor[:n, :n], factor[:n, n], float(factor[n, n] ** 2))
