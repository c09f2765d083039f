"""Make a model from MuJoCo's compiled model in memory: `from_mujoco`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from dtau.conventions.mujoco_indices import require_indices
from dtau.loaders import mjcf
from dtau.loaders.load import Changes, with_changes
from dtau.loaders.source import Options
from dtau.model.compile import MOST_DOFS
from dtau.model.model import Model
from dtau.support.checks import class_name
from dtau.support.errors import ModelError
from dtau.support.options import MimicJoints, require_option


def from_mujoco(
    mj_model: Any,
    *,
    mimic: MimicJoints = "independent",
    friction_speed: ArrayLike | Mapping[str, ArrayLike] | None = None,
) -> Model:
    """Make a model from a `mujoco.MjModel`, as it is in memory.

    The result equals `load` of the MJCF that the model was compiled from, with the changes that
    were made since. `dtau.conventions.mujoco` converts states.

    Parameters
    ----------
    mj_model : mujoco.MjModel
        MuJoCo's model. It is only read: later changes do not reach the result.
    mimic : {"independent", "exact"}
        Joints that an equality ties to another joint, as in `load`.
    friction_speed : float, or mapping of str to float or array_like (nv,), optional
        Speed in rad/s or m/s that smooths the friction loss of joints (``dof_frictionloss``), as in
        `load`: it then becomes part of the model. Without it a warning names the joints.

    Returns
    -------
    Model
        Every body, joint and named site, with armature, damping, springs, limits and gravity.
        `Model.notes` lists ignored parts.

    Raises
    ------
    TypeError
        If ``mj_model`` is not a `mujoco.MjModel`.
    ModelError
        If nothing moves, there are more than 26000 degrees of freedom, or numbers are out of their
        range.
    ValueError
        If the option is unknown, or ``friction_speed`` does not fit the joints.

    Warns
    -----
    ModelWarning
        If mimic joints become independent joints, joints have no inertia to accelerate, or the
        model has friction, tendons or other forces that a `Model` does not carry.

    Examples
    --------
    >>> import dtau, mujoco
    >>> mj_model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><body name="bob"><joint name="pivot" axis="0 1 0"/>'
    ...     '<geom type="capsule" size="0.02" fromto="0 0 0 0 0 -1"/></body></worldbody></mujoco>'
    ... )
    >>> mj_model.dof_armature[0] = 0.1
    >>> model = dtau.from_mujoco(mj_model)
    >>> model.armature
    array([0.1])
    """
    require_option("mimic", mimic, MimicJoints)
    try:
        mujoco = importlib.import_module("mujoco")
        fits = isinstance(mj_model, mujoco.MjModel)
    except (ImportError, AttributeError):
        fits = False
    if not fits:
        raise TypeError(
            f"mj_model: expected a mujoco.MjModel, got {class_name(mj_model)}; dtau.load reads "
            "files and texts"
        )
    if not 0 < mj_model.nv <= MOST_DOFS:
        raise ModelError(
            f"mj_model: expected 1 to {MOST_DOFS} degrees of freedom, got {mj_model.nv}"
        )
    try:
        require_indices(mujoco, mj_model)
        options = Options(None, mimic, "keep", friction=friction_speed is not None)
        parts = mjcf.parts_of(mujoco, mj_model, options, stacklevel=3)
    except ValueError as error:
        raise ModelError(f"mj_model: {error}") from None
    parts, gravity = with_changes(parts, None, Changes(friction_speed=friction_speed))
    try:
        return Model(
            parts.name, parts.links, gravity=gravity, notes=parts.notes, postures=parts.postures
        )
    except ValueError as error:
        raise ModelError(f"mj_model: {error}") from None
