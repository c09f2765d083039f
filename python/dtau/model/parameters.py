"""The ten inertial parameters of a body, in which the equations of motion are linear.

Their order is Pinocchio's: m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz, with the
first moment and the tensor about the origin of the body's frame, along its axes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dtau.support.arrays import Array
from dtau.support.checks import real_array

_ROW = [0, 0, 1, 0, 1, 2]  # row of each of the tensor's six entries, xx xy yy xz yz zz
_COLUMN = [0, 1, 1, 2, 2, 2]
_ENTRIES = [[4, 5, 7], [5, 6, 8], [7, 8, 9]]  # the tensor's among the parameters


class Parts(NamedTuple):
    """Mass, center of mass and tensor of an inertia."""

    mass: float
    com: Array
    tensor: Array  # about the center of mass


@np.errstate(over="ignore", invalid="ignore")  # callers check for infinity
def to_parameters(mass: ArrayLike, com: ArrayLike, tensor: ArrayLike) -> Array:
    """Return parameters ``(..., 10)`` of bodies, from tensors about their centers of mass."""
    m, c, about_com = (np.asarray(x, dtype=np.float64) for x in (mass, com, tensor))
    first = m[..., None] * c
    about_origin = about_com + _parallel(first, c)
    parts = (m[..., None], first, about_origin[..., _ROW, _COLUMN])
    parameters: Array = np.concatenate(parts, axis=-1)
    parameters.flags.writeable = False
    return parameters


def from_parameters(parameters: ArrayLike) -> Parts:
    """Return mass, center of mass and tensor about it of a body with parameters ``(10,)``.

    Raises
    ------
    ValueError
        If the shape is wrong, a number is not finite, or a body without mass has a first moment.
    TypeError
        If the numbers are not real.
    """
    row = real_array("parameters", parameters, (10,))
    mass, first = float(row[0]), row[1:4]
    tensor = np.empty((3, 3))
    tensor[_ROW, _COLUMN] = tensor[_COLUMN, _ROW] = row[4:]
    if mass == 0.0 and first.any():
        raise ValueError(
            f"parameters: expected no first moment of a body without mass, got {first.tolist()}"
        )
    com = first / mass if mass else np.zeros(3)
    return Parts(mass, com, tensor - _parallel(first, com))


def _parallel(first: Array, com: Array) -> Array:
    """Return the parallel-axis term of a tensor, from the center of mass to the origin."""
    outer = first[..., :, None] * com[..., None, :]
    outer = 0.5 * outer + 0.5 * np.swapaxes(outer, -1, -2)  # symmetric to the last bit
    trace: Array = np.trace(outer, axis1=-2, axis2=-1)[..., None, None] * np.eye(3)
    return trace - outer


def pseudo_inertias(parameters: Array) -> Array:
    """Return [[Sigma, m c], [m c^T, m]] with Sigma = tr(I) / 2 - I, (..., 4, 4), of (..., 10)."""
    tensor = parameters[..., _ENTRIES]
    out = np.empty((*parameters.shape[:-1], 4, 4))
    out[..., :3, :3] = 0.5 * np.trace(tensor, axis1=-2, axis2=-1)[..., None, None] * np.eye(3)
    out[..., :3, :3] -= tensor
    out[..., :3, 3] = out[..., 3, :3] = parameters[..., 1:4]
    out[..., 3, 3] = parameters[..., 0]
    return out


def of_pseudo_inertias(matrices: Array) -> Array:
    """Undo `pseudo_inertias`, for symmetric matrices."""
    second = matrices[..., :3, :3]
    tensor = np.trace(second, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - second
    parts = matrices[..., 3, 3:], matrices[..., 3, :3], tensor[..., _ROW, _COLUMN]
    return np.concatenate(parts, axis=-1)
