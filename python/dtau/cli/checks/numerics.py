"""Check numerics at random states: condition of the mass matrix, derivatives vs differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dtau.cli.checks.findings import Finding
from dtau.cli.output import Ticks, names
from dtau.functions.derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives
from dtau.functions.dynamics import forward_dynamics, inverse_dynamics
from dtau.functions.manifold import integrate
from dtau.functions.manifold_states import random_state
from dtau.functions.terms import mass_matrix
from dtau.model.joints import Revolute
from dtau.model.model import Model
from dtau.support.arrays import Array

_STATES = 64
_MOST = 2000  # most degrees of freedom; eigenvalues of more take minutes
_LARGEST = 4_000_000  # most numbers in the matrices of all states
_CONDITION = 1e6  # scaled; in example-robot-data at most 1e5, except icub with 7e7
_STEPS = (1e-2, 1e-3, 1e-4)
_AGREEMENT = 1e-4  # of the largest element; in example-robot-data at most 2e-6; mistakes give 1
_EPSILON = float(np.finfo(np.float64).eps)
PARTS = 3  # steps that `Ticks` counts


@dataclass
class Measured:
    """Numbers measured at the random states; NaN if not measured."""

    states: int = 0
    condition: float = math.nan
    scaled_condition: float = math.nan
    inverse: float = math.nan
    forward: float = math.nan


def check_numerics(model: Model, measured: Measured, ticks: Ticks) -> Iterator[Finding]:
    """Solve and differentiate at random states; write the numbers to `measured`."""
    if model.nv > _MOST:
        return
    states = max(1, min(_STATES, _LARGEST // model.nv**2))
    measured.states = states
    rng = np.random.default_rng(0)
    q, v, a = random_state(model, rng, shape=(states,))
    for joint in model.joints:
        if isinstance(joint.type, Revolute):  # an angle of 1e9 has few digits left
            q[:, joint.q] = np.remainder(q[:, joint.q], 2 * np.pi)
    ticks.tick("condition of the mass matrix")
    yield from _condition(model, q, measured)
    ticks.tick("derivatives of inverse dynamics")
    tau = inverse_dynamics(model, q, v, a)
    if not np.isfinite(tau).all():
        yield _not_finite("torques")
        return
    directions = rng.standard_normal((3, states, model.nv))
    measured.inverse = _difference(
        model, inverse_dynamics, inverse_dynamics_derivatives, (q, v, a), directions
    )
    yield from _disagreement("inverse", measured.inverse)
    ticks.tick("derivatives of forward dynamics")
    if not model.massless_joints:
        measured.forward = _difference(
            model, forward_dynamics, forward_dynamics_derivatives, (q, v, tau), directions
        )
        if measured.scaled_condition < _CONDITION:  # else differences are not meaningful
            yield from _disagreement("forward", measured.forward)


def _condition(model: Model, q: Array, measured: Measured) -> Iterator[Finding]:
    matrices = mass_matrix(model, q)
    if not np.isfinite(matrices).all():
        yield _not_finite("the mass matrix")
        return
    measured.condition = _largest_condition(matrices)
    diagonal = np.sqrt(np.einsum("kii->ki", matrices).clip(min=0.0))
    scaled = matrices / diagonal[:, :, None] / diagonal[:, None, :]
    if model.massless_joints or not np.isfinite(scaled).all():
        return
    values = np.linalg.eigvalsh(scaled)
    if (worst_value := values[:, 0].min()) <= -_EPSILON * model.nv:
        yield Finding(
            "error",
            "indefinite",
            "The mass matrix has a negative eigenvalue at a random state: a motion would have "
            f"negative kinetic energy ({worst_value:.2g} after scaling by its diagonal).",
            way_out="Look for impossible inertias; --inertia repair replaces them.",
        )
        return
    state = int(np.argmax(values[:, -1] / np.maximum(values[:, 0], _EPSILON)))
    measured.scaled_condition = float(values[state, -1] / max(values[state, 0], _EPSILON))
    if measured.scaled_condition > _CONDITION:
        weakest = np.linalg.eigh(scaled[state]).eigenvectors[:, 0]
        digits = round(math.log10(measured.scaled_condition))
        yield Finding(
            "warning",
            "condition",
            f"The mass matrix is nearly singular: {measured.scaled_condition:.2g} after scaling by "
            f"its diagonal. Accelerations may lose {digits} of 16 digits.",
            {", ".join(_joints_of(model, weakest)): ""},
            "These joints move almost no inertia in some posture: give the links moments of "
            "inertia, or the joints a rotor: --armature 1e-3.",
        )


def _not_finite(what: str) -> Finding:
    return Finding(
        "error",
        "not-finite",
        f"At random states {what} is infinite or not a number.",
        way_out="Look for masses, moments or lengths of absurd size.",
    )


def _largest_condition(matrices: Array) -> float:
    values = np.linalg.eigvalsh(matrices)
    smallest = values[:, 0]
    if not (smallest > 0).all():
        return math.inf
    return float((values[:, -1] / smallest).max())


def _joints_of(model: Model, direction: Array) -> list[str]:
    """Return the joints that move most in a direction."""
    moving = np.flatnonzero(np.abs(direction) > 0.3 * np.abs(direction).max())
    return [
        joint.name
        for joint in model.joints
        if joint.mimic is None and set(range(joint.v.start, joint.v.stop)) & set(moving.tolist())
    ]


def _difference(
    model: Model,
    function: Callable[..., Array],
    derivatives: Callable[..., tuple[Array, Array, Array]],
    state: tuple[Array, Array, Array],
    directions: Array,
) -> float:
    """Return the largest error of directional derivatives against fourth-order differences."""
    q, v, x = state
    exact = sum(
        (matrix @ direction[..., None])[..., 0]
        for matrix, direction in zip(derivatives(model, q, v, x), directions, strict=True)
    )
    error = np.full(len(v), np.inf)
    for size in _STEPS:  # the best of several: truncation and rounding errors differ
        along = np.zeros_like(v)
        for step, weight in ((1, 2 / 3), (2, -1 / 12)):
            for sign in (1, -1):
                dq, dv, dx = sign * step * size * directions
                values = function(model, integrate(model, q, dq), v + dv, x + dx)
                along += sign * weight / size * values
        largest = np.abs(along).max(axis=-1)
        different = np.abs(exact - along).max(axis=-1)
        error = np.fmin(error, different / np.where(largest > 0, largest, 1.0))
    return float(error.max())


def _disagreement(which: str, error: float) -> Iterator[Finding]:
    if not error <= _AGREEMENT:
        yield Finding(
            "error",
            "derivatives",
            f"Derivatives of {which} dynamics differ from finite differences by {error:.1e} of the "
            f"largest element; expected at most {_AGREEMENT:.0e}.",
            way_out="Numbers of very different size in one robot can cause this. If there are "
            "none, please report it, with the file.",
        )


def summary(measured: Measured) -> str:
    """Return a sentence with the numbers."""
    if not measured.states:
        return f"Left out cond(M) and differences: more than {_MOST} degrees of freedom."
    parts = []
    if math.isfinite(measured.condition):
        parts.append(f"cond(M) up to {measured.condition:.1e}")
    agreeing = [
        f"{name} dynamics to {error:.0e}"
        for name, error in (("inverse", measured.inverse), ("forward", measured.forward))
        if math.isfinite(error)
    ]
    if agreeing:
        parts.append(f"derivatives agree with differences: {names(agreeing)}")
    return f"At {measured.states} random states: {'; '.join(parts)}." if parts else ""
