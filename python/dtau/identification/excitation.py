"""Find motions that tell parameters apart: `excite`.

A motion is a finite Fourier series of each joint, [Swevers], that starts at rest:

    q(t) = c + sum over k of (a_k sin(k w t) + b_k cos(k w t))    sum k a_k = 0, sum k^2 b_k = 0

The logarithm of the condition number is minimized by BFGS with its exact gradient. Logarithmic
barriers keep positions, velocities, accelerations and torques within their limits. A trigonometric
polynomial of degree H exceeds its largest of N equidistant samples at most by 1 / cos(pi H / N)
[Ehlich-Zeller]; limits of positions and their rates are tightened by this factor and so hold at all
times.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.functions.dynamics import inverse_dynamics
from dtau.functions.products import inverse_dynamics_vjp
from dtau.identification.base import BaseParameters
from dtau.identification.bfgs import minimize_bfgs
from dtau.identification.conditioning import condition_number
from dtau.model.model import Model
from dtau.support.arrays import Array
from dtau.support.checks import integer, real_array, real_numbers, require, shown

_SAMPLES_PER_HARMONIC = 16
_STARTS = 16
_BARRIERS = (1e-1, 1e-2, 1e-3)  # weights, one after the other
_FIRST_SIZE = 0.5  # of the limits, at most, of the motions from which the search starts


@dataclass(frozen=True, eq=False)
class FourierMotion:
    """A periodic motion that starts at rest.

    Attributes
    ----------
    period : float
        In seconds.
    center : ndarray (nq,)
        Mean of each coordinate.
    sine, cosine : ndarray (nq, harmonics)
        Amplitudes of ``sin(k w t)`` and ``cos(k w t)`` with ``w = 2 pi / period``.
    """

    period: float
    center: Array
    sine: Array
    cosine: Array

    def states(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Compute configuration, velocity and acceleration.

        Parameters
        ----------
        t : array_like (...)
            Times in seconds.

        Returns
        -------
        q, v, a : ndarray (..., nq)
        """
        times = real_numbers("t", t).astype(np.float64)[..., None]
        rate = 2.0 * np.pi / self.period * np.arange(1, self.sine.shape[1] + 1)
        sine, cosine = np.sin(rate * times), np.cos(rate * times)
        q = self.center + sine @ self.sine.T + cosine @ self.cosine.T
        v = (cosine * rate) @ self.sine.T - (sine * rate) @ self.cosine.T
        a = -(sine * rate**2) @ self.sine.T - (cosine * rate**2) @ self.cosine.T
        return q, v, a


class Excitation(NamedTuple):
    """A motion that tells parameters apart, of `excite`.

    Attributes
    ----------
    motion : FourierMotion
        The motion.
    condition : float
        Condition number of its base regressor.
    start_condition : float
        Condition number of the best random motion, from which the search started.
    """

    motion: FourierMotion
    condition: float
    start_condition: float


class Limits(NamedTuple):
    """The middle of positions, and largest magnitudes of the distance from it and of others."""

    middle: Array
    distance: Array
    velocity: Array
    acceleration: Array
    effort: Array


def excite(
    base: BaseParameters,
    *,
    period: float,
    harmonics: int = 5,
    velocity_limits: ArrayLike | None = None,
    acceleration_limits: ArrayLike | None = None,
    effort_limits: ArrayLike | None = None,
    noise: ArrayLike | None = None,
    iterations: int = 100,
    seed: int = 0,
) -> Excitation:
    """Find a motion within the robot's limits with a small condition number.

        min log cond(W Y_b)    over Fourier series within limits

    Parameters
    ----------
    base : BaseParameters
        From `base_parameters`, of a model whose joints have one coordinate each.
    period : float
        Period of the motion in seconds.
    harmonics : int
        Number of harmonics, at least 2.
    velocity_limits : array_like (nv,) or float, optional
        Largest magnitudes, which must be finite; by default the model's.
    acceleration_limits : array_like (nv,) or float, optional
        Largest magnitudes; by default none.
    effort_limits : array_like (nv,) or float, optional
        Largest magnitudes of the model's torques at the samples; by default the model's.
    noise : array_like (nv,) or float, optional
        Standard deviation of the noise of each torque, as in `condition_number`.
    iterations : int
        Most iterations for each of the three weights of the barriers.
    seed : int
        Seed of the random motions, of which the best is improved.

    Returns
    -------
    Excitation

    Raises
    ------
    ValueError
        If joints have several coordinates or a range of a single point, limits are not positive or
        the velocity's not finite, no motion was found within the effort limits, or an argument is
        out of its range.
    TypeError
        If an argument is of the wrong type.

    Notes
    -----
    [Swevers], with the exact gradient of `condition_number` and the limits of [Ehlich-Zeller]. The
    minimum is a local one: other seeds give other motions. O(S nv r^2) an iteration for S samples,
    16 a harmonic, and r base parameters.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> from dtau import identification
    >>> base = identification.base_parameters(identification.Regressor(dtau.robots.chain(3)))
    >>> found = identification.excite(base, period=5.0, velocity_limits=2.0, iterations=10)
    >>> found.condition < found.start_condition
    True
    >>> q, v, a = found.motion.states(np.linspace(0, 5, 1000))
    >>> bool(np.abs(v).max() <= 2), bool(np.allclose(v[0], 0))
    (True, True)
    """
    require("base", base, BaseParameters)
    model = base.regressor.model
    several = [joint.name for joint in model.joints if joint.type.nq != 1]
    if several:
        raise ValueError(
            f"base: expected a model whose joints have one coordinate each, got {several[0]!r}; "
            "build one with a fixed root for the excitation"
        )
    seconds = float(real_array("period", period, ()))
    if seconds <= 0:
        raise ValueError(f"period: expected a positive number, got {shown(period)}")
    harmonics = integer("harmonics", harmonics, 2, 100)
    iterations = integer("iterations", iterations, 1)
    count = _SAMPLES_PER_HARMONIC * harmonics
    limits = _read_limits(
        model,
        np.cos(np.pi * harmonics / count),
        velocity_limits,
        acceleration_limits,
        effort_limits,
    )
    search = _Search(base, limits, seconds, harmonics, count, noise)
    x = search.start(np.random.default_rng(seed))
    first = search.condition(x)
    for weight in _BARRIERS:
        x = minimize_bfgs(partial(search.cost, weight=weight), x, iterations)
    return Excitation(search.motion(x), search.condition(x), first)


def _read_limits(
    model: Model,
    tight: float,
    velocity: ArrayLike | None,
    acceleration: ArrayLike | None,
    effort: ArrayLike | None,
) -> Limits:
    """Read limits; limits of positions and their rates become smaller by the factor."""
    joints = [joint.name for joint in model.joints if joint.mimic is None]

    def read(name: str, given: ArrayLike) -> Array:
        value = real_numbers(name, given)
        value = np.full(model.nv, value) if value.ndim == 0 else value
        numbers = real_array(name, value, (model.nv,), finite=False)
        if not (numbers > 0).all():
            joint = joints[int(np.argmin(numbers > 0))]
            raise ValueError(f"{name}: expected positive numbers, see joint {joint!r}")
        return numbers

    speeds = read("velocity_limits", model.velocity_limits if velocity is None else velocity)
    if not np.isfinite(speeds).all():
        joint = joints[int(np.argmin(np.isfinite(speeds)))]
        raise ValueError(
            f"velocity_limits: expected a finite number for joint {joint!r}, got inf; without it "
            "the best motion is infinitely fast"
        )
    bounded = np.isfinite(model.upper_limits) & np.isfinite(model.lower_limits)
    still = bounded & (model.upper_limits == model.lower_limits)
    if still.any():
        joint, at = joints[int(np.argmax(still))], model.lower_limits[int(np.argmax(still))]
        raise ValueError(
            f"base: expected joints that can move, got {joint!r} with the range {at:g} .. {at:g}; "
            "Model.replace(limits=) gives it another, Model.lock takes it out"
        )
    lower, upper = (np.where(bounded, x, 0.0) for x in (model.lower_limits, model.upper_limits))
    return Limits(
        0.5 * (lower + upper),
        np.where(bounded, 0.5 * tight * (upper - lower), np.inf),
        tight * speeds,
        tight * read("acceleration_limits", np.inf if acceleration is None else acceleration),
        read("effort_limits", model.effort_limits if effort is None else effort),
    )


class _Search:
    """The cost of a motion as a function of its free numbers, with its gradient.

    The numbers of a joint are its mean and coefficients of a basis of the amplitudes that start at
    rest, each scaled to the size of the joint's range.
    """

    def __init__(
        self,
        base: BaseParameters,
        limits: Limits,
        period: float,
        harmonics: int,
        count: int,
        noise: ArrayLike | None,
    ) -> None:
        self._base, self._limits, self._noise = base, limits, noise
        self._period, self._harmonics = period, harmonics
        self._model = base.regressor.model
        k = np.arange(1, harmonics + 1)
        self._sine, self._cosine = _null_space(k), _null_space(k**2)
        rate = 2.0 * np.pi / period * k
        phase = rate * (period / count * np.arange(count))[:, None]
        sine, cosine = np.sin(phase), np.cos(phase)
        maps = []
        for order in range(3):
            turn = (sine, cosine, -sine, -cosine)[order], (cosine, -sine, -cosine, sine)[order]
            columns = [part * rate**order for part in turn]
            constant = np.full((count, 1), float(order == 0))
            maps.append(np.hstack([constant, columns[0] @ self._sine, columns[1] @ self._cosine]))
        self._maps = maps  # from a joint's numbers to q, v and a of all samples
        slow = limits.velocity * period / (2.0 * np.pi)
        self._scale = np.minimum(np.minimum(limits.distance, np.pi), slow)

    def motion(self, x: Array) -> FourierMotion:
        """Return the motion of these numbers."""
        rows = self._rows(x)
        n = self._harmonics
        center = rows[:, 0] + self._limits.middle
        return FourierMotion(
            self._period, center, rows[:, 1:n] @ self._sine.T, rows[:, n:] @ self._cosine.T
        )

    def condition(self, x: Array) -> float:
        """Return the condition number of a motion."""
        return condition_number(self._base, *self._states(x), noise=self._noise).value

    def start(self, rng: np.random.Generator) -> Array:
        """Return the best of some random motions within the limits."""
        best, least = None, np.inf
        for _ in range(_STARTS):
            x = rng.standard_normal((self._model.nv, 2 * self._harmonics - 1))
            x[:, 0] = 0.0
            states = self._states(x.ravel())
            limits = self._limits
            sizes = (states[0] - limits.middle) / limits.distance
            rates = states[1] / limits.velocity, states[2] / limits.acceleration
            used = np.max([np.abs(part).max(axis=0) for part in (sizes, *rates)], axis=0)
            x *= _FIRST_SIZE / used[:, None]
            for _ in range(10):  # a slower, smaller motion needs less torque
                if np.isfinite(self._barrier(*self._states(x.ravel()))[0]):
                    value = self.condition(x.ravel())
                    if value < least:
                        best, least = x.ravel(), value
                    break
                x *= 0.7
        if best is None:
            raise ValueError(
                "effort_limits: expected limits that hold the robot in the middle of its range and "
                "let it move, found no motion within them"
            )
        return best

    def cost(self, x: Array, weight: float) -> tuple[float, Array]:
        """Return the logarithm of the condition number with barriers, and its gradient."""
        states = self._states(x)
        barrier, parts = self._barrier(*states)
        if not np.isfinite(barrier):
            return np.inf, x
        rated = condition_number(self._base, *states, noise=self._noise)
        gradient = sum(
            (weight * by + exact).T @ columns
            for by, exact, columns in zip(parts, rated[1:], self._maps, strict=True)
        )
        scaled = np.asarray(gradient) * self._scale[:, None]
        return np.log(rated.value) + weight * barrier, scaled.ravel()

    def _rows(self, x: Array) -> Array:
        return x.reshape(self._model.nv, -1) * self._scale[:, None]

    def _states(self, x: Array) -> tuple[Array, Array, Array]:
        q, v, a = (columns @ self._rows(x).T for columns in self._maps)
        return q + self._limits.middle, v, a

    def _barrier(self, q: Array, v: Array, a: Array) -> tuple[float, list[Array]]:
        """Return the mean of -log(1 - u^2) of all parts u of limits, with its gradient."""
        limits, share = self._limits, 1.0 / q.size
        tau = inverse_dynamics(self._model, q, v, a)
        gradients = []
        value = 0.0
        for x, size in (
            (q - limits.middle, limits.distance),
            (v, limits.velocity),
            (a, limits.acceleration),
            (tau, limits.effort),
        ):
            u = x / size
            room = 1.0 - u * u
            if not (room > 0).all():
                return np.inf, []
            value -= share * float(np.log(room).sum())
            gradients.append(share * 2.0 * u / (room * size))
        *parts, lam = gradients
        if np.isfinite(limits.effort).any():
            torque = inverse_dynamics_vjp(self._model, q, v, a, lam)
            parts = [x + y for x, y in zip(parts, torque[:3], strict=True)]
        return value, parts


def _null_space(row: NDArray[np.int_]) -> Array:
    """Return an orthonormal basis (n, n - 1) of the vectors at right angles to a row."""
    return np.linalg.svd(row[None].astype(np.float64))[2][1:].T
