"""Analytical derivatives of rigid-body dynamics.

    tau = M a + C v + D v + g - sum of J^T f_ext      M with armature, D viscous damping,
                                                      g the torque of gravity and springs;
                                                      D v with Coulomb friction, if there is any

The name of a function joins a problem and a quantity:

=========================================  ===========================  ===========================
                                           inverse_dynamics             forward_dynamics
                                           (q, v, a) -> tau             (q, v, tau) -> a
=========================================  ===========================  ===========================
value                                      (no suffix)                  (no suffix)
first derivatives                          _derivatives                 _derivatives
second derivatives                         _second_derivatives          _second_derivatives
second derivatives of lam . result         _hessian                     _hessian
products with first derivatives, O(N)      _jvp, _vjp                   _jvp, _vjp
derivatives by inertial parameters         _regressor                   _parameter_derivatives
products with these, O(N)                  _parameter_jvp,              _parameter_jvp,
                                           _parameter_vjp               _parameter_vjp
derivatives by external wrenches           _wrench_derivatives          _wrench_derivatives
time derivatives of any order              _time_derivatives            _time_derivatives
products with their first derivatives      _time_derivatives_jvp, _vjp  _time_derivatives_jvp, _vjp
=========================================  ===========================  ===========================

A quantity is also an attribute of the problem: ``dtau.inverse_dynamics.vjp`` is the same function
as ``dtau.inverse_dynamics_vjp``. So ``dir(dtau)`` and Tab leave such long names out, all of which
can be imported; ``dir(dtau.inverse_dynamics)`` has the attributes. The regressor is the attribute
``regressor`` and, as for other functions, ``parameter_derivatives``.

Other functions: terms of the equation (`mass_matrix`, `bias_torque`); `linearize`, `step`,
`linearize_discrete`, `equilibrium`; contacts and loops (`constrained_dynamics`, `project`); frames,
center of mass, momentum, energy; configurations (`integrate`, `difference`); `generate`, `compile`;
`view`. ``help(dtau.functions)`` lists the modules, docs/functions.md has all functions in one
table.

Every function takes the model first, then arrays whose leading axes are the batch and broadcast
against each other. ``out=`` takes arrays for the results, ``threads=`` the number of threads.
`set_result_cache_limit` limits the cache of result memory.

Models come from `load`, from `ModelBuilder` or from `dtau.robots`; `dtau.conventions` converts from
and to Pinocchio, MuJoCo and others. `dtau.poses` and `dtau.rotations` compute with poses and
rotations in batches. Every docstring gives shapes, units and frames;
docs/conventions.md has all conventions in one table.

Examples
--------
>>> import dtau, numpy as np
>>> model = dtau.robots.quadruped()  # or dtau.load("anymal.urdf", root="free")
>>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(256,))
>>> dtau.inverse_dynamics(model, q, v, a).shape
(256, 18)
>>> dtau.inverse_dynamics_derivatives(model, q, v, a).dtau_dq.shape
(256, 18, 18)
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

from dtau import _interpreters, conventions, poses, results, robots, rotations  # noqa: F401
from dtau._version import __version__ as __version__
from dtau.codegen.compiled import compile
from dtau.codegen.generate import GeneratedCode, generate
from dtau.functions.centroidal import (
    center_of_mass, center_of_mass_acceleration, center_of_mass_acceleration_derivatives,
    center_of_mass_jacobian, center_of_mass_velocity, center_of_mass_velocity_derivatives,
)  # fmt: skip
from dtau.functions.centroidal_momentum import (
    centroidal_momentum, centroidal_momentum_derivatives, centroidal_momentum_matrix,
    centroidal_momentum_rate, centroidal_momentum_rate_derivatives, momentum,
)  # fmt: skip
from dtau.functions.centroidal_subtrees import subtree_centers_of_mass
from dtau.functions.constraints import (
    constrained_dynamics, constrained_dynamics_derivatives, constrained_inverse_dynamics,
)  # fmt: skip
from dtau.functions.constraints_hessians import (
    constrained_dynamics_hessian, impulse_dynamics_hessian,
)  # fmt: skip
from dtau.functions.constraints_impulses import (
    impulse_dynamics, impulse_dynamics_derivatives, impulse_dynamics_jvp, impulse_dynamics_vjp,
)  # fmt: skip
from dtau.functions.constraints_products import constrained_dynamics_jvp, constrained_dynamics_vjp
from dtau.functions.constraints_projection import project
from dtau.functions.constraints_second_derivatives import (
    constrained_dynamics_second_derivatives, impulse_dynamics_second_derivatives,
)  # fmt: skip
from dtau.functions.control import lqr
from dtau.functions.derivatives import (
    forward_dynamics_derivatives, forward_dynamics_wrench_derivatives, inverse_dynamics_derivatives,
    inverse_dynamics_wrench_derivatives,
)  # fmt: skip
from dtau.functions.derivatives_patterns import pattern
from dtau.functions.dynamics import forward_dynamics, hybrid_dynamics, inverse_dynamics
from dtau.functions.dynamics_equilibrium import equilibrium
from dtau.functions.frames import (
    forward_kinematics, frame_accelerations, frame_jacobians, frame_jacobians_rate,
    frame_placements, frame_velocities, wrench_at_frame,
)  # fmt: skip
from dtau.functions.frames_derivatives import (
    frame_accelerations_derivatives, frame_jacobians_derivatives, frame_velocities_derivatives,
    wrench_at_frame_derivatives,
)  # fmt: skip
from dtau.functions.frames_errors import frame_errors
from dtau.functions.manifold import (
    difference, difference_jacobians, integrate, integrate_jacobians, normalize, tangent_map,
)  # fmt: skip
from dtau.functions.manifold_states import configuration, neutral, random_state
from dtau.functions.manifold_transfers import transfer_state
from dtau.functions.parameters import (
    forward_dynamics_parameter_derivatives, forward_dynamics_parameter_jvp,
    forward_dynamics_parameter_vjp, inverse_dynamics_parameter_jvp, inverse_dynamics_parameter_vjp,
    inverse_dynamics_regressor,
)  # fmt: skip
from dtau.functions.parameters_energies import (
    kinetic_energy_regressor, momentum_regressor, potential_energy_regressor,
)  # fmt: skip
from dtau.functions.products import (
    forward_dynamics_jvp, forward_dynamics_vjp, inverse_dynamics_jvp, inverse_dynamics_vjp,
)  # fmt: skip
from dtau.functions.second_derivatives import (
    forward_dynamics_hessian, forward_dynamics_second_derivatives, inverse_dynamics_hessian,
    inverse_dynamics_second_derivatives,
)  # fmt: skip
from dtau.functions.steps import step, step_jvp, step_vjp
from dtau.functions.steps_hessian import step_hessian
from dtau.functions.steps_linearization import linearize, linearize_discrete
from dtau.functions.steps_stages import linearize_stages
from dtau.functions.terms import (
    bias_torque, coriolis_matrix, gravity_torque, kinetic_energy, kinetic_energy_derivatives,
    mass_matrix, mass_matrix_inverse, potential_energy, potential_energy_derivatives,
)  # fmt: skip
from dtau.functions.time_derivatives import (
    bias_torque_time_derivatives, coriolis_matrix_time_derivatives,
    forward_dynamics_time_derivatives, gravity_torque_time_derivatives,
    hybrid_dynamics_time_derivatives, inverse_dynamics_time_derivatives,
    mass_matrix_time_derivatives,
)  # fmt: skip
from dtau.functions.time_derivatives_constrained import (
    constrained_dynamics_time_derivatives, constrained_inverse_dynamics_time_derivatives,
)  # fmt: skip
from dtau.functions.time_derivatives_derivatives import (
    forward_dynamics_derivatives_time_derivatives, forward_dynamics_time_derivatives_derivatives,
    inverse_dynamics_derivatives_time_derivatives, inverse_dynamics_time_derivatives_derivatives,
    linearize_time_derivatives,
)  # fmt: skip
from dtau.functions.time_derivatives_kinematics import (
    centroidal_momentum_time_derivatives, frame_jacobians_time_derivatives,
    frame_kinematics_time_derivatives, kinematics_time_derivatives, momentum_time_derivatives,
)  # fmt: skip
from dtau.functions.time_derivatives_products import (
    forward_dynamics_time_derivatives_jvp, forward_dynamics_time_derivatives_vjp,
    inverse_dynamics_time_derivatives_jvp, inverse_dynamics_time_derivatives_vjp,
)  # fmt: skip
from dtau.loaders.live_mujoco import from_mujoco
from dtau.loaders.live_pinocchio import from_pinocchio
from dtau.loaders.load import load
from dtau.loaders.mechanism import load_mechanism
from dtau.loaders.mjcf_motors import load_motors
from dtau.model.builder import ModelBuilder
from dtau.model.contact_kinds import FrameContact, Loop, PointContact
from dtau.model.contacts import Contacts
from dtau.model.joint_type import JointType
from dtau.model.joints import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from dtau.model.links import Frame, Joint, Limits, Link, Mimic
from dtau.model.mechanism import Mechanism
from dtau.model.model import Model
from dtau.model.motors import Motors
from dtau.model.pose import Pose
from dtau.model.spatial import Inertia
from dtau.registry import link as _link
from dtau.support.errors import ModelError, ModelWarning
from dtau.support.memory import set_result_cache_limit
from dtau.support.patterns import Pattern
from dtau.viewing import view

__all__ = [
    "Contacts", "Cylindrical", "Fixed", "Frame", "FrameContact", "Free", "GeneratedCode", "Helical",
    "Inertia", "Joint", "JointType", "Limits", "Link", "Loop", "Mechanism", "Mimic", "Model",
    "ModelBuilder", "ModelError", "ModelWarning", "Motors", "Pattern", "Planar", "PointContact",
    "Pose", "Prismatic", "Revolute", "Spherical", "Universal", "bias_torque",
    "bias_torque_time_derivatives", "center_of_mass", "center_of_mass_acceleration",
    "center_of_mass_acceleration_derivatives", "center_of_mass_jacobian", "center_of_mass_velocity",
    "center_of_mass_velocity_derivatives", "centroidal_momentum", "centroidal_momentum_derivatives",
    "centroidal_momentum_matrix", "centroidal_momentum_rate",
    "centroidal_momentum_rate_derivatives", "centroidal_momentum_time_derivatives", "compile",
    "configuration", "constrained_dynamics", "constrained_dynamics_derivatives",
    "constrained_dynamics_hessian", "constrained_dynamics_jvp",
    "constrained_dynamics_second_derivatives", "constrained_dynamics_time_derivatives",
    "constrained_dynamics_vjp", "constrained_inverse_dynamics",
    "constrained_inverse_dynamics_time_derivatives", "conventions", "coriolis_matrix",
    "coriolis_matrix_time_derivatives", "difference", "difference_jacobians", "equilibrium",
    "forward_dynamics", "forward_dynamics_derivatives",
    "forward_dynamics_derivatives_time_derivatives", "forward_dynamics_hessian",
    "forward_dynamics_jvp", "forward_dynamics_parameter_derivatives",
    "forward_dynamics_parameter_jvp", "forward_dynamics_parameter_vjp",
    "forward_dynamics_second_derivatives", "forward_dynamics_time_derivatives",
    "forward_dynamics_time_derivatives_derivatives", "forward_dynamics_time_derivatives_jvp",
    "forward_dynamics_time_derivatives_vjp", "forward_dynamics_vjp",
    "forward_dynamics_wrench_derivatives", "forward_kinematics", "frame_accelerations",
    "frame_accelerations_derivatives", "frame_errors", "frame_jacobians",
    "frame_jacobians_derivatives", "frame_jacobians_rate", "frame_jacobians_time_derivatives",
    "frame_kinematics_time_derivatives", "frame_placements", "frame_velocities",
    "frame_velocities_derivatives", "from_mujoco", "from_pinocchio", "generate", "gravity_torque",
    "gravity_torque_time_derivatives", "hybrid_dynamics", "hybrid_dynamics_time_derivatives",
    "impulse_dynamics", "impulse_dynamics_derivatives", "impulse_dynamics_hessian",
    "impulse_dynamics_jvp", "impulse_dynamics_second_derivatives", "impulse_dynamics_vjp",
    "integrate", "integrate_jacobians", "inverse_dynamics", "inverse_dynamics_derivatives",
    "inverse_dynamics_derivatives_time_derivatives", "inverse_dynamics_hessian",
    "inverse_dynamics_jvp", "inverse_dynamics_parameter_jvp", "inverse_dynamics_parameter_vjp",
    "inverse_dynamics_regressor", "inverse_dynamics_second_derivatives",
    "inverse_dynamics_time_derivatives", "inverse_dynamics_time_derivatives_derivatives",
    "inverse_dynamics_time_derivatives_jvp", "inverse_dynamics_time_derivatives_vjp",
    "inverse_dynamics_vjp", "inverse_dynamics_wrench_derivatives", "kinematics_time_derivatives",
    "kinetic_energy", "kinetic_energy_derivatives", "kinetic_energy_regressor", "linearize",
    "linearize_discrete", "linearize_stages", "linearize_time_derivatives", "load",
    "load_mechanism", "load_motors", "lqr", "mass_matrix", "mass_matrix_inverse",
    "mass_matrix_time_derivatives", "momentum", "momentum_regressor", "momentum_time_derivatives",
    "neutral", "normalize", "pattern", "poses", "potential_energy", "potential_energy_derivatives",
    "potential_energy_regressor", "project", "random_state", "results", "robots", "rotations",
    "set_result_cache_limit", "step", "step_hessian", "step_jvp", "step_vjp",
    "subtree_centers_of_mass", "tangent_map", "transfer_state", "view", "wrench_at_frame",
    "wrench_at_frame_derivatives",
]  # fmt: skip


_ATTRIBUTES = _link(globals())  # dtau.inverse_dynamics.vjp is dtau.inverse_dynamics_vjp


def __dir__() -> list[str]:
    return sorted(set(__all__) - _ATTRIBUTES)


if not TYPE_CHECKING:  # with __getattr__ a type checker would accept every name

    def __getattr__(name: str) -> NoReturn:
        from dtau.support.hints import hint

        package = sys.modules[__name__]
        message = f"module {__name__!r} has no attribute {name!r}{hint(name, package)}"
        raise AttributeError(message, name=name, obj=package)
