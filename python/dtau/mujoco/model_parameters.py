"""Read and set parameters of a MuJoCo model: `parameter_values`, `set_parameters`."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from dtau.model.parameters import from_parameters, to_parameters
from dtau.model.rotations import rotations_of_quaternions
from dtau.mujoco.parameters import checked, known, shapes_of
from dtau.support.arrays import Array
from dtau.support.checks import class_name


def inertial_parameters(mj_model: Any) -> Array:
    """Inertial parameters of all bodies of a MuJoCo model, as `parameter_derivatives` is by them.

    Parameters
    ----------
    mj_model : mujoco.MjModel

    Returns
    -------
    ndarray (nbody, 10)
        m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz: first moment and tensor about
        the origin of the body's frame, along its axes.

    Raises
    ------
    TypeError
        If the argument is not MuJoCo's.

    Examples
    --------
    >>> import dtau.mujoco, mujoco
    >>> mj_model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><body><joint axis="0 1 0"/>'
    ...     '<geom type="sphere" size="0.1" pos="0 0 -1" mass="1"/></body></worldbody></mujoco>'
    ... )
    >>> dtau.mujoco.inertial_parameters(mj_model)[1].round(3)
    array([ 1.   ,  0.   ,  0.   , -1.   ,  1.004,  0.   ,  1.004,  0.   ,
            0.   ,  0.004])
    """
    m = _model(mj_model)
    axes = rotations_of_quaternions(np.roll(m.body_iquat, -1, axis=-1))
    tensors = (axes * m.body_inertia[:, np.newaxis]) @ np.swapaxes(axes, -1, -2)
    return to_parameters(m.body_mass, m.body_ipos, tensors).copy()


def parameter_values(mj_model: Any, parameters: Iterable[str]) -> dict[str, Array]:
    """Values of parameters of a MuJoCo model, as `set_parameters` takes them.

    Parameters
    ----------
    mj_model : mujoco.MjModel
    parameters : iterable of str
        As in `parameter_derivatives`.

    Returns
    -------
    dict of str to ndarray
        Copies; of actuators the first three coefficients.

    Raises
    ------
    TypeError
        If the model is not MuJoCo's.
    ValueError
        If a name is unknown or there is none.

    Examples
    --------
    >>> import dtau.mujoco, mujoco
    >>> mj_model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><body><joint axis="0 1 0" damping="0.1"/>'
    ...     '<geom type="sphere" size="0.1" pos="0 0 -1" mass="1"/></body></worldbody></mujoco>'
    ... )
    >>> dtau.mujoco.parameter_values(mj_model, ["dof_damping"])
    {'dof_damping': array([0.1])}
    """
    m = _model(mj_model)
    names = known(parameters, tuple(shapes_of(m)))
    return {
        name: inertial_parameters(m) if name == "body_inertial" else _array(m, name).copy()
        for name in names
    }


def set_parameters(mj_model: Any, values: Mapping[str, ArrayLike]) -> None:
    """Set parameters of a MuJoCo model, so that its step follows the derivatives by them.

    Inertial parameters become ``body_mass``, ``body_ipos``, ``body_inertia`` and ``body_iquat``.
    Arrays that MuJoCo computes from these and from ``dof_armature`` for its kinematics, its mass
    matrix and its collision follow: ``body_subtreemass``, ``dof_M0``, ``bvh_aabb``, and the flags
    ``body_sameframe``, ``geom_sameframe`` and ``site_sameframe``. ``body_invweight0``,
    ``dof_invweight0`` and statistics stay; `mujoco.mj_setConst` renews them. Negative damping,
    armature, stiffness and friction are set as they are: MuJoCo's compiler accepts them too.

    Parameters
    ----------
    mj_model : mujoco.MjModel
        It is changed.
    values : mapping of str to array_like
        Parameters by the names of `parameter_derivatives`, each with its shape. The inertial
        parameters of the world are not read.

    Raises
    ------
    TypeError
        If the model is not MuJoCo's, or `values` no mapping of numbers.
    ValueError
        If a name is unknown, or an array has another shape or is not finite. If a body would have
        no positive mass or principal moment of inertia. If a body that MuJoCo compiled as simple
        (alone on its joints, its frame in the principal axes) would not be so any more. The model
        stays as it was then.

    Examples
    --------
    >>> import dtau.mujoco, mujoco
    >>> mj_model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><body><joint axis="0 1 0" damping="0.1"/>'
    ...     '<geom type="sphere" size="0.1" pos="0 0 -1" mass="1"/></body></worldbody></mujoco>'
    ... )
    >>> values = dtau.mujoco.parameter_values(mj_model, ["body_inertial"])
    >>> values["body_inertial"][1] *= 2.0  # twice the density
    >>> dtau.mujoco.set_parameters(mj_model, values)
    >>> mj_model.body_mass
    array([0., 2.])
    """
    m = _model(mj_model)
    found = checked("values", values, shapes_of(m))
    inertial = found.pop("body_inertial", None)
    bodies = [] if inertial is None else _changed_bodies(m, inertial)
    for name, numbers in found.items():
        _array(m, name)[:] = numbers
    for body in bodies:
        body.write(m)
    if bodies or "dof_armature" in found:
        other = copy.copy(m)
        mujoco.mj_setConst(other, mujoco.MjData(other))
        m.dof_M0[:], m.body_subtreemass[:] = other.dof_M0, other.body_subtreemass


class _Body(NamedTuple):
    """The inertia of a body."""

    number: int
    mass: float
    center: Array
    moments: Array  # principal
    axes: Array  # columns

    def write(self, m: Any) -> None:
        k = self.number
        m.body_mass[k], m.body_ipos[k], m.body_inertia[k] = self.mass, self.center, self.moments
        mujoco.mju_mat2Quat(m.body_iquat[k], self.axes.ravel())
        if not m.body_simple[k]:  # MuJoCo copies frames that are the same when it compiles
            m.body_sameframe[k] = 0
            m.geom_sameframe[m.geom_bodyid == k] = 0
            m.site_sameframe[m.site_bodyid == k] = 0
        _renew_bounds(m, k)


def _renew_bounds(m: Any, body: int) -> None:
    """Renew the boxes around the geoms of a body, which lie along the axes of its inertia.

    Collision skips geoms whose boxes are apart.
    """
    first, own = int(m.body_bvhadr[body]), _rotation(m.body_iquat[body])
    for node in reversed(range(first, first + int(m.body_bvhnum[body]))):  # children come first
        geom = int(m.bvh_nodeid[node])
        if geom >= 0:
            center, half = m.geom_aabb[geom, :3], m.geom_aabb[geom, 3:]
            turn = own.T @ _rotation(m.geom_quat[geom])
            center = turn @ center + own.T @ (m.geom_pos[geom] - m.body_ipos[body])
            half = np.abs(turn) @ half
        else:
            boxes = m.bvh_aabb[first + m.bvh_child[node]]
            low = (boxes[:, :3] - boxes[:, 3:]).min(axis=0)
            high = (boxes[:, :3] + boxes[:, 3:]).max(axis=0)
            center, half = 0.5 * (low + high), 0.5 * (high - low)
        m.bvh_aabb[node, :3], m.bvh_aabb[node, 3:] = center, half


def _rotation(quaternion: Array) -> Array:
    out = np.empty(9)
    mujoco.mju_quat2Mat(out, quaternion)
    return out.reshape(3, 3)


def _changed_bodies(m: Any, inertial: Array) -> list[_Body]:
    """Return the bodies with other inertial parameters than in the model."""
    changed = (inertial != inertial_parameters(m)).any(axis=1)
    return [_body(m, body, inertial[body]) for body in range(1, m.nbody) if changed[body]]


def _body(m: Any, body: int, numbers: Array) -> _Body:
    name = f"body_inertial of body {m.body(body).name or body!r}"
    mass = float(numbers[0])
    if mass <= 0.0:
        raise ValueError(f"{name}: expected a positive mass, got {mass:g}")
    _, center, tensor = from_parameters(numbers)
    moments, axes = np.diag(tensor).copy(), np.eye(3)
    turned = np.count_nonzero(tensor) > np.count_nonzero(moments)
    if turned:
        moments, axes = np.linalg.eigh(tensor)
        axes[:, 0] *= np.linalg.det(axes)
    if moments.min() <= 0.0:
        raise ValueError(
            f"{name}: expected positive moments of inertia about the center of mass, got "
            f"{moments.min():g}; dtau.identification.parameters_from_log_cholesky keeps bodies "
            "physical"
        )
    if m.body_simple[body] and (turned or center.any()):
        raise ValueError(
            f"{name}: expected no first moments and products of inertia of a body that MuJoCo "
            'compiled as simple; give the body simple="false" in its file'
        )
    return _Body(body, mass, center, moments, axes)


def _array(m: Any, name: str) -> Any:
    """Return the array of a model, of coefficients of actuators the first three."""
    array = getattr(m, name)
    return array[:, :3] if name.startswith("actuator") else array


def _model(mj_model: Any) -> Any:
    if not isinstance(mj_model, mujoco.MjModel):
        raise TypeError(f"mj_model: expected a mujoco.MjModel, got {class_name(mj_model)}")
    return mj_model
