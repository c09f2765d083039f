"""Time steps on the manifold, in the operations of any array library: `time_step`."""

from __future__ import annotations

from collections.abc import Callable

from dtau.autodiff.library import Array
from dtau.options import Integrator

# Time of each stage, in steps, and its weight.
_STAGES = ((0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0))


def time_step(
    q: Array,
    v: Array,
    dt: Array,
    integrator: Integrator,
    *,
    acceleration: Callable[[Array, Array], Array],
    integrate: Callable[[Array, Array], Array],
    displacement_rate: Callable[[Array, Array], Array],
) -> tuple[Array, Array]:
    """Return q and v after a step, with the scheme of the core's step.hpp: [RKMK].

    `displacement_rate` gives theta' of q (+) theta at a velocity: [Derivations] eq. 12.2.
    """
    a = acceleration(q, v)
    if integrator != "rk4":
        after = v + dt * a
        return integrate(q, dt * (v if integrator == "euler" else after)), after
    rate = v
    displacement, change = 1.0 / 6.0 * rate, 1.0 / 6.0 * a
    for ahead, weight in _STAGES:
        theta, stage_v = ahead * dt * rate, v + ahead * dt * a
        rate, a = displacement_rate(theta, stage_v), acceleration(integrate(q, theta), stage_v)
        displacement, change = displacement + weight * rate, change + weight * a
    return integrate(q, dt * displacement), v + dt * change
