"""First derivatives of functions of the core, in tangent coordinates, from other functions of it.

A rule takes a function at its inputs and the name of one of them, and gives an array for each
result, ``(..., *shape of the result, *tangent shape of the input)``, or None for zeros. Tangent
shapes are (nv,) of configurations, velocities, torques, and (nbodies, 6) of external wrenches.

Second derivatives are raw and unsymmetrised: the derivative along k of the derivative along j, each
in the tangent space where it is taken. Entry [i, j, k] of a tensor of `dtau` is that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dtau.autodiff import frames
from dtau.autodiff.library import Array, At

Blocks = tuple[Array | None, ...]
Rule = Callable[[At, str], Blocks]


def _swap(x: At, tensor: Array) -> Array:
    return x.xp.swapaxes(tensor, -1, -2)


# ------------------------------------------------------------------ inverse dynamics


def _inverse_dynamics(x: At, by: str) -> Blocks:
    if by == "f_ext":
        return x.call("inverse_dynamics_wrench_derivatives", x["q"], **x.wrench_options())
    return (_inverse_blocks(x, x["v"], x["a"], x["f_ext"])["qva".index(by)],)


def _bias_torque(x: At, by: str) -> Blocks:
    if by == "f_ext":
        return x.call("inverse_dynamics_wrench_derivatives", x["q"], **x.wrench_options())
    return (_inverse_blocks(x, x["v"], x.zeros(), x["f_ext"])["qv".index(by)],)


def _gravity_torque(x: At, by: str) -> Blocks:
    return (_inverse_blocks(x, x.zeros(), x.zeros(), None)[0],)


def _inverse_blocks(x: At, v: Array, a: Array, f_ext: Array | None) -> Blocks:
    name = "inverse_dynamics_derivatives"
    return x.call(name, x["q"], v, a, f_ext, **x.wrench_options())


def _inverse_tensors(x: At, v: Array, a: Array, f_ext: Array | None) -> Blocks:
    name = "inverse_dynamics_second_derivatives"
    return x.call(name, x["q"], v, a, f_ext, **x.wrench_options())


def _inverse_dynamics_derivatives(x: At, by: str) -> Blocks:
    if by == "f_ext":
        return (_by_unit_wrenches(x, "inverse_dynamics_derivatives"), None, None)
    dqdq, dqdv, dvdv, dadq = _inverse_tensors(x, x["v"], x["a"], x["f_ext"])
    if by == "q":
        return dqdq, _swap(x, dqdv), dadq
    if by == "v":
        return dqdv, dvdv, None
    return _swap(x, dadq), None, None


def _inverse_dynamics_wrench_derivatives(x: At, by: str) -> Blocks:
    unit = _by_unit_wrenches(x, "inverse_dynamics_derivatives")
    return (x.xp.moveaxis(unit, -3, -1),)


def _by_unit_wrenches(x: At, name: str) -> Array:
    """How the first block of derivatives changes with f_ext, (..., nv, nv, nbodies, 6).

    It is linear in the wrenches and a constant: those of unit wrenches less that of none.
    """
    count = 6 * x.model.nbodies
    units = x.library.constant(np.eye(count).reshape(count, x.model.nbodies, 6))
    still = x.zeros()
    q = x["q"][..., None, :]
    some = x.call(name, q, still, still, units, **x.wrench_options())[0]
    none = x.call(name, q, still, still, None, **x.wrench_options())[0]
    change = x.xp.moveaxis(some - none, -3, -1)
    return change.reshape((*change.shape[:-1], x.model.nbodies, 6))


# ------------------------------------------------------------------ forward dynamics


def _forward_dynamics(x: At, by: str) -> Blocks:
    if by == "f_ext":
        return x.call("forward_dynamics_wrench_derivatives", x["q"], **x.wrench_options())
    inputs = x["q"], x["v"], x["tau"], x["f_ext"]
    blocks = x.call("forward_dynamics_derivatives", *inputs, **x.wrench_options())
    return (blocks[("q", "v", "tau").index(by)],)


def _forward_dynamics_derivatives(x: At, by: str) -> Blocks:
    if by == "f_ext":
        return (_by_unit_wrenches(x, "forward_dynamics_derivatives"), None, None)
    inputs = x["q"], x["v"], x["tau"], x["f_ext"]
    name = "forward_dynamics_second_derivatives"
    dqdq, dqdv, dvdv, dtaudq = x.call(name, *inputs, **x.wrench_options())
    if by == "q":
        return dqdq, _swap(x, dqdv), dtaudq
    if by == "v":
        return dqdv, dvdv, None
    return _swap(x, dtaudq), None, None


def _forward_dynamics_wrench_derivatives(x: At, by: str) -> Blocks:
    unit = _by_unit_wrenches(x, "forward_dynamics_derivatives")
    return (x.xp.moveaxis(unit, -3, -1),)


# ------------------------------------------------------------------ the mass matrix


def _mass_matrix(x: At, by: str) -> Blocks:
    return x.call("mass_matrix_derivatives", x["q"])


def mass_matrix_derivatives(x: At) -> Blocks:
    """How M changes with q, (..., nv, nv, nv): the second derivative of the torque by a and q."""
    return (_inverse_tensors(x, x.zeros(), x.zeros(), None)[3],)


def _mass_matrix_derivatives(x: At, by: str) -> Blocks:
    """Those of M a, for a unit acceleration each."""
    still = x.zeros()
    units = x.library.constant(np.eye(x.model.nv))
    name = "inverse_dynamics_second_derivatives"
    q = x["q"][..., None, :]
    some = x.call(name, q, still, units, None, **x.wrench_options())[0]
    none = x.call(name, q, still, still, None, **x.wrench_options())[0]
    return (x.xp.swapaxes(some - none, -4, -3),)


def _mass_matrix_inverse(x: At, by: str) -> Blocks:
    (inverse,) = x.call("mass_matrix_inverse", x["q"])
    (change,) = x.call("mass_matrix_derivatives", x["q"])
    return (-x.xp.einsum("...ia,...abk,...bj->...ijk", inverse, change, inverse),)


# ------------------------------------------------------------------ the manifold


def _integrate(x: At, by: str) -> Blocks:
    """In the tangent space at the result."""
    return (x.call("integrate_jacobians", x["q"], x["dq"])[("q", "dq").index(by)],)


def _difference(x: At, by: str) -> Blocks:
    return (x.call("difference_jacobians", x["q0"], x["q1"])[("q0", "q1").index(by)],)


# Inputs that are configurations: derivatives by them are in tangent spaces.
CONFIGURATIONS = ("q", "q0", "q1")

# Compositions that have blocks as well, for smaller programs; the blocks of integrate are in the
# tangent space at the result too.
MANIFOLD_BLOCKS: dict[str, Rule] = {"integrate": _integrate, "difference": _difference}

# By the name of the function.
BLOCKS: dict[str, Rule] = {
    "inverse_dynamics": _inverse_dynamics,
    "inverse_dynamics_derivatives": _inverse_dynamics_derivatives,
    "inverse_dynamics_wrench_derivatives": _inverse_dynamics_wrench_derivatives,
    "bias_torque": _bias_torque,
    "gravity_torque": _gravity_torque,
    "forward_dynamics": _forward_dynamics,
    "forward_dynamics_derivatives": _forward_dynamics_derivatives,
    "forward_dynamics_wrench_derivatives": _forward_dynamics_wrench_derivatives,
    "mass_matrix": _mass_matrix,
    "mass_matrix_derivatives": _mass_matrix_derivatives,
    "mass_matrix_inverse": _mass_matrix_inverse,
    "frame_placements": frames.frame_placements,
    "frame_jacobians": frames.frame_jacobians,
}

# Functions that the core has not: what they take, and their values from those it has.
VALUES: dict[str, tuple[tuple[str, ...], Callable[[At], Blocks]]] = {
    "mass_matrix_derivatives": (("q",), mass_matrix_derivatives),
}
