"""Derivatives by complex step of the package's own algorithms, one batched call each.

The step is so small that its square vanishes, so the result is exact to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from core import complex_core
from numpy.typing import NDArray
from trees import Array, rotation_of

import dtau

Complex = NDArray[np.complex128]
STEP = 1e-30


def moved(model: dtau.Model, q: Array, directions: Array) -> Complex:
    """q (+) i STEP directions, one row for each row of `directions`."""
    out: Complex = complex_core("integrate", model, q, 1j * STEP * np.asarray(directions))
    return out


def columns(function: Callable[[Complex], Any], points: Complex) -> Array:
    """Derivatives along the rows of `points`, as the last axis."""
    return np.moveaxis(np.asarray(function(points)).imag / STEP, 0, -1)


def by_q(model: dtau.Model, q: Array, function: Callable[[Complex], Any]) -> Array:
    return columns(function, moved(model, q, np.eye(model.nv)))


def by_vector(x: Array, function: Callable[[Complex], Any]) -> Array:
    return columns(function, x + 1j * STEP * np.eye(x.size))


def tangent(model: dtau.Model, q: Array, rate: Array) -> Array:
    """xi for q (+) eps xi, from the rate of change of the coordinates."""
    xi = np.zeros(model.nv)
    for joint in model.joints:
        if joint.mimic is not None:
            continue
        x, dx = q[joint.q], rate[joint.q]
        if isinstance(joint.type, dtau.Free):
            xi[joint.v] = np.r_[rotation_of(x[3:]).T @ dx[:3], _spin(x[3:], dx[3:])]
        elif isinstance(joint.type, dtau.Spherical):
            xi[joint.v] = _spin(x, dx)
        elif isinstance(joint.type, dtau.Planar):
            c, s = np.cos(x[2]), np.sin(x[2])
            xi[joint.v] = c * dx[0] + s * dx[1], c * dx[1] - s * dx[0], dx[2]
        else:
            xi[joint.v] = dx
    return xi


def _spin(x: Array, dx: Array) -> Array:
    """Twice the vector part of the quaternion x^-1 dx: an angular velocity in body axes."""
    return 2.0 * (x[3] * dx[:3] - dx[3] * x[:3] - np.cross(x[:3], dx[:3]))


def dynamics_derivatives(
    name: str, model: dtau.Model, q: Array, v: Array, x: Array, f_ext: Array | None
) -> tuple[Array, Array, Array]:
    """Derivatives by q, v and x of `inverse_dynamics` (x is a) or `forward_dynamics` (tau)."""
    return (
        by_q(model, q, lambda y: complex_core(name, model, y, v, x, f_ext)),
        by_vector(v, lambda y: complex_core(name, model, q, y, x, f_ext)),
        by_vector(x, lambda y: complex_core(name, model, q, v, y, f_ext)),
    )
