"""Read the argument `inputs=`, which says what drives a robot: `input_map`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.model.joints import Free
from dtau.model.model import Model
from dtau.model.motors import Motors
from dtau.support.arrays import Array
from dtau.support.checks import real_numbers, require

Indices = NDArray[np.int32]


def input_map(model: Model, inputs: ArrayLike | None) -> Array:
    """Return the matrix (..., nv, nu) that maps inputs to joint torques.

    Parameters
    ----------
    model : Model
    inputs : array_like, optional
        None: the torques of all joints except free roots. A boolean mask (nv,): the torques where
        it is true. Numbers (..., nv, nu): the matrix itself; the torque is ``inputs @ u``.

    Returns
    -------
    ndarray (nv, nu), or (..., nv, nu) for a matrix with batch axes

    Raises
    ------
    ValueError
        If the shape does not fit, or motors belong to a model with other joints.
    TypeError
        If the numbers are not real.

    Examples
    --------
    >>> import dtau
    >>> from dtau.model.control_inputs import input_map
    >>> input_map(dtau.robots.quadruped(), None).shape
    (18, 12)
    """
    torques, given = checked_inputs(model, inputs)
    if given is not None:
        return given.astype(np.float64, order="C")  # bits of products depend on the layout
    return np.eye(model.nv)[:, driven(model) if torques is None else torques]


def require_motors_of(model: Model, inputs: object) -> None:
    """Raise ValueError if inputs are motors of a model with other joints.

    The core refuses what is no model.
    """
    if not (isinstance(inputs, Motors) and isinstance(model, Model)) or inputs.model is model:
        return
    given, own = (
        [(joint.name, joint.v.start, joint.v.stop) for joint in each.joints]
        for each in (inputs.model, model)
    )
    if given != own:
        raise ValueError(
            f"inputs: expected motors of {model.name!r}, got motors of {inputs.model.name!r}, "
            "which has other joints; make dtau.Motors with this model"
        )


def driven(model: Model) -> Indices:
    """Return the indices of the default inputs: the torques of all joints except free roots."""
    mask = np.ones(model.nv, dtype=bool)
    for joint in model.joints:
        if isinstance(joint.type, Free) and joint.parent < 0:
            mask[joint.v] = False
    return np.flatnonzero(mask).astype(np.int32)


def checked_inputs(
    model: Model, inputs: ArrayLike | None
) -> tuple[Indices | None, NDArray[Any] | None]:
    """Check `inputs`: return indices of torques, or a matrix from inputs to torques, or neither."""
    if inputs is None:
        return None, None
    require("model", model, Model)
    nv = model.nv
    require_motors_of(model, inputs)
    given = real_numbers("inputs", inputs)
    if given.dtype == bool and given.shape == (nv,):
        return np.flatnonzero(given).astype(np.int32), None
    if given.dtype == bool or given.ndim < 2 or given.shape[-2] != nv:
        raise ValueError(
            f"inputs: expected a mask of shape ({nv},) or a map of shape (..., {nv}, nu), "
            f"got {given.dtype} of shape {given.shape}"
        )
    return None, given
