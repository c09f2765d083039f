"""Which torques are inputs: what `inputs=` means wherever it is asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.checks import real_numbers, require
from dtau.model.joints import Free
from dtau.model.model import Model


def input_map(model: Model, inputs: ArrayLike | None) -> NDArray[np.float64]:
    """The matrix (nv, nu) that makes the joint torque of the inputs.

    Parameters
    ----------
    model : Model
    inputs : array_like, optional
        None: the torques of all joints but free roots. A boolean mask (nv,): the torques where it
        is true. Numbers (nv, nu): the map itself, the torque is ``inputs @ u``.

    Returns
    -------
    ndarray (nv, nu)

    Raises
    ------
    ValueError
        If the shape does not fit, or a number is not finite.
    TypeError
        If the numbers are not real.

    Examples
    --------
    >>> import dtau
    >>> from dtau.functions.control_inputs import input_map
    >>> input_map(dtau.robots.quadruped(), None).shape
    (18, 12)
    """
    given = checked_inputs(model, inputs)
    if given is None:
        mask = np.ones(model.nv, dtype=bool)
        for joint in model.joints:
            if isinstance(joint.type, Free) and joint.parent < 0:
                mask[joint.v] = False
        return np.eye(model.nv)[:, mask]
    if given.ndim == 1:
        return np.eye(model.nv)[:, given]
    return given.astype(np.float64)


def checked_inputs(
    model: Model, inputs: ArrayLike | None
) -> NDArray[np.int32] | NDArray[np.float64] | None:
    """Check what drives the robot: indices of torques, or a map from inputs to them."""
    if inputs is None:
        return None
    require("model", model, Model)
    nv = model.nv
    given = real_numbers("inputs", inputs)
    if given.dtype == bool and given.shape == (nv,):
        return np.flatnonzero(given).astype(np.int32)
    if given.dtype == bool or given.ndim != 2 or len(given) != nv:
        raise ValueError(
            f"inputs: expected a mask of shape ({nv},) or a map of shape ({nv}, nu), "
            f"got {given.dtype} of shape {given.shape}"
        )
    array = np.ascontiguousarray(given, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError("inputs: expected finite numbers")
    return array
