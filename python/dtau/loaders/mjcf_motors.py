"""Read the actuators of an MJCF: `load_motors`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from dtau.conventions import mujoco_names
from dtau.loaders.load import open_source
from dtau.loaders.mjcf_forces import acting_actuators, compensated, geared, is_off
from dtau.loaders.mujoco_compiler import compiled_model
from dtau.model.model import Model
from dtau.model.motors import Motors
from dtau.support.checks import listing, require
from dtau.support.errors import ModelError, warn_of_model

_MAX_SIZE = 64_000_000  # bytes


def load_motors(source: str | os.PathLike[str], model: Model) -> Motors:
    """Read the actuators of an MJCF as motors of its model.

    These are actuators on hinges, slides and fixed tendons whose force is linear in the control
    and affine in length and velocity: ``motor``, ``position``, ``velocity`` and ``general`` with
    such terms. u is MuJoCo's ``ctrl``; l and w are the actuators' lengths and velocities; within
    the ranges `Motors.torque` is ``qfrc_actuator``, without gravity compensation. ``ctrlrange`` and
    ``forcerange`` become `input_limits` and `force_limits`. Actuators that the file switches off
    have gain and bias 0. Armature and damping of actuators are in the model already.

    Parameters
    ----------
    source : str or path-like
        The file, or its text.
    model : Model
        The model of the same file, from `dtau.load`.

    Returns
    -------
    Motors
        In the order of ``ctrl``.

    Raises
    ------
    ModelError
        If the file cannot be read, or has other actuators; the message names them.
    ValueError
        If the model lacks a joint.
    TypeError
        If an argument is of the wrong type.
    OSError
        If the file cannot be read.

    Warns
    -----
    ModelWarning
        If joints with ``actuatorgravcomp`` carry bodies with ``gravcomp``: MuJoCo's
        ``qfrc_actuator`` then contains their gravity compensation, which motors do not have.

    Examples
    --------
    >>> import dtau
    >>> text = '''<mujoco>
    ... <worldbody><body><joint name="hinge"/><geom size="0.1"/></body></worldbody>
    ... <actuator><position name="servo" joint="hinge" kp="20" kv="1"/></actuator></mujoco>'''
    >>> motors = dtau.load_motors(text, dtau.load(text))
    >>> motors.names, motors.gain, motors.bias
    (('servo',), array([20.]), array([[  0., -20.,  -1.]]))
    """
    require("model", model, Model)
    document = open_source(source, _MAX_SIZE)
    mujoco, m, _ = compiled_model(document)
    _, joints = mujoco_names.bodies_and_joints(mujoco, m)
    count = len(m.actuator_trntype)
    kind = mujoco.mjtObj.mjOBJ_ACTUATOR
    names = [mujoco.mj_id2name(m, kind, i) or f"actuator_{i}" for i in range(count)]
    gears = {actuator: ratios for actuator, ratios in _gears(mujoco, m, joints)}
    other = [name for i, name in enumerate(names) if i not in gears or not _is_affine(mujoco, m, i)]
    if other:
        raise ModelError(
            f"{document.label}: expected actuators on joints or fixed tendons, with forces "
            f"linear in the control and affine in length and velocity, got {listing(other)}"
        )
    if held := compensated(mujoco, m, joints):
        warn_of_model(
            "motors have no gravity compensation; in MuJoCo the actuators give it "
            f"(actuatorgravcomp) at joints {listing(held)}",
            stacklevel=2,
        )
    acting = acting_actuators(mujoco, m)
    affine = acting & (m.actuator_biastype == mujoco.mjtBias.mjBIAS_AFFINE)
    clamped = not is_off(mujoco, m, "CLAMPCTRL")
    return Motors(
        model,
        {name: gears[i] for i, name in enumerate(names)},
        gain=m.actuator_gainprm[:, 0] * acting,
        bias=m.actuator_biasprm[:, :3] * affine[:, np.newaxis],
        input_limits=_ranges(clamped & (m.actuator_ctrllimited != 0), m.actuator_ctrlrange),
        force_limits=_ranges(m.actuator_forcelimited != 0, m.actuator_forcerange),
    )


def _gears(mujoco: Any, m: Any, joints: list[str]) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield actuators and their ratios to joints."""
    for actuator, joint, gear in geared(mujoco, m):
        yield actuator, {joints[joint]: gear}
    outputs = getattr(m, "actuator_outadr", range(len(m.actuator_trntype)))
    for actuator in np.flatnonzero(m.actuator_trntype == mujoco.mjtTrn.mjTRN_TENDON).tolist():
        tendon = m.actuator_trnid[actuator, 0]
        parts = range(m.tendon_adr[tendon], m.tendon_adr[tendon] + m.tendon_num[tendon])
        if all(m.wrap_type[part] == mujoco.mjtWrap.mjWRAP_JOINT for part in parts):
            gear = float(m.actuator_gear[outputs[actuator], 0])
            ratios: dict[str, float] = {}
            for part in parts:
                joint = joints[m.wrap_objid[part]]
                ratios[joint] = ratios.get(joint, 0.0) + gear * float(m.wrap_prm[part])
            yield actuator, ratios


def _is_affine(mujoco: Any, m: Any, i: int) -> bool:
    """Whether the force is linear in the present control and affine in length and velocity."""
    single = (getattr(m, f"actuator_{x}num", np.ones(i + 1))[i] == 1 for x in ("ctrl", "out"))
    known = mujoco.mjtBias.mjBIAS_NONE, mujoco.mjtBias.mjBIAS_AFFINE
    return bool(
        all(single)
        and m.actuator_plugin[i] < 0
        and not getattr(m, "actuator_delay", np.zeros(i + 1))[i]
        and m.actuator_dyntype[i] == mujoco.mjtDyn.mjDYN_NONE
        and m.actuator_gaintype[i] == mujoco.mjtGain.mjGAIN_FIXED
        and m.actuator_biastype[i] in [int(kind) for kind in known]
    )


def _ranges(limited: Any, ranges: Any) -> Any:
    return np.where(np.asarray(limited)[:, np.newaxis], ranges, (-np.inf, np.inf))
