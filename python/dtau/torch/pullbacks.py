"""Gradients by products of the core, O(N), where it has them: for those taken once.

A row takes the model, the options, inputs and cotangents on NumPy's arrays, and which gradients are
wanted; it gives those by all inputs, in the shape of the whole batch, or None if the core has no
such product.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dtau import _core
from dtau.autodiff import manifold
from dtau.model.model import Model
from dtau.torch.kernels import evaluate

Array = NDArray[np.float64]
Arrays = Sequence[Any]  # arrays; None where there is none
Product = Callable[[Model, Mapping[str, Any], Arrays, Arrays, Sequence[bool]], Arrays | None]


def _pulled_back(model: Model, q: Any, gradient: Any) -> Array:
    if manifold.is_vector_space(model):
        return np.asarray(gradient)
    try:
        matrix: Any = _core.tangent_map(model, q).to_tangent
    except ValueError:  # quaternions that are no unit ones: the map of what normalizes them
        matrix = manifold.matrix(np, model, q, np.eye(model.nq), manifold.to_tangent)
    return _times(gradient, matrix)


def _from_numbers(model: Model, q: Any, gradient: Any) -> Array:
    """Gradient in the tangent space, of one by the numbers of a result q."""
    if manifold.is_vector_space(model):
        return np.asarray(gradient)
    return _times(gradient, _core.tangent_map(model, q).from_tangent)


def _times(row: Any, matrix: Any) -> Array:
    return np.asarray((row[..., None, :] @ matrix)[..., 0, :])


def _dynamics(function: str) -> Product:
    def product(
        model: Model,
        options: Mapping[str, Any],
        inputs: Arrays,
        cotangents: Arrays,
        wanted: Sequence[bool],
    ) -> Arrays:
        q, v, x, f_ext = inputs
        given = (q, v, x, cotangents[0], f_ext)
        by_q, *others = evaluate(model, function, options, given)
        by_f_ext = others[2] if f_ext is not None else None
        return _pulled_back(model, q, by_q) if wanted[0] else None, *others[:2], by_f_ext

    return product


_inverse = _dynamics("inverse_dynamics_vjp")


def _bias_torque(
    model: Model,
    options: Mapping[str, Any],
    inputs: Arrays,
    cotangents: Arrays,
    wanted: Sequence[bool],
) -> Arrays | None:
    q, v, f_ext = inputs
    found = _inverse(model, options, (q, v, np.zeros(model.nv), f_ext), cotangents, wanted)
    return None if found is None else (found[0], found[1], found[3])


def _gravity_torque(
    model: Model,
    options: Mapping[str, Any],
    inputs: Arrays,
    cotangents: Arrays,
    wanted: Sequence[bool],
) -> Arrays | None:
    rest = np.zeros(model.nv)
    found = _inverse(model, options, (inputs[0], rest, rest, None), cotangents, wanted)
    return None if found is None else found[:1]


def _integrate(
    model: Model,
    options: Mapping[str, Any],
    inputs: Arrays,
    cotangents: Arrays,
    wanted: Sequence[bool],
) -> Arrays:
    q, _ = inputs
    by_q, by_dq = evaluate(model, "integrate_jacobians", options, inputs)
    (reached,) = evaluate(model, "integrate", options, inputs)
    g = _from_numbers(model, reached, cotangents[0])
    return _pulled_back(model, q, _times(g, by_q)), _times(g, by_dq)


def _difference(
    model: Model,
    options: Mapping[str, Any],
    inputs: Arrays,
    cotangents: Arrays,
    wanted: Sequence[bool],
) -> Arrays:
    q0, q1 = inputs
    by_q0, by_q1 = evaluate(model, "difference_jacobians", options, inputs)
    g = cotangents[0]
    return _pulled_back(model, q0, _times(g, by_q0)), _pulled_back(model, q1, _times(g, by_q1))


def _step(
    model: Model,
    options: Mapping[str, Any],
    inputs: Arrays,
    cotangents: Arrays,
    wanted: Sequence[bool],
) -> Arrays | None:
    if wanted[3]:  # by dt
        return None
    q, v, tau, dt, f_ext = inputs
    lam_q, lam_v = (np.zeros(model.nv) if g is None else g for g in cotangents)
    if cotangents[0] is not None:
        reached = evaluate(model, "step", options, inputs)[0]
        lam_q = _from_numbers(model, reached, lam_q)
    given = (q, v, tau, dt, lam_q, lam_v, f_ext)
    by_q, by_v, by_tau, *by_f_ext = evaluate(model, "step_vjp", options, given)
    return _pulled_back(model, q, by_q), by_v, by_tau, None, by_f_ext[0] if by_f_ext else None


PULLBACKS: dict[str, Product] = {
    "inverse_dynamics": _inverse,
    "forward_dynamics": _dynamics("forward_dynamics_vjp"),
    "bias_torque": _bias_torque,
    "gravity_torque": _gravity_torque,
    "integrate": _integrate,
    "difference": _difference,
    "step": _step,
}
