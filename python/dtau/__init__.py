"""Analytical derivatives of rigid-body dynamics.

    tau = M a + C v + D v + g - sum of J^T f_ext      M with armature, D viscous damping

A name is made of a problem and of what is asked of it:

=========================================  ===========================  ===========================
                                           inverse_dynamics             forward_dynamics
                                           (q, v, a) -> tau             (q, v, tau) -> a
=========================================  ===========================  ===========================
value                                      (no suffix)                  (no suffix)
first derivatives                          _derivatives                 _derivatives
second derivatives                         _second_derivatives,         _second_derivatives
                                           dense or packed
second derivatives of lam . result         _hessian                     _hessian
products with first derivatives, O(N)      _jvp, _vjp                   _jvp, _vjp
derivatives by external wrenches           _wrench_derivatives          _wrench_derivatives
time derivatives of any order              _time_derivatives            _time_derivatives
=========================================  ===========================  ===========================

and beside these

=========================================  =======================================================
motion given for some joints,              hybrid_dynamics, hybrid_dynamics_time_derivatives
torque for others
terms of the equation                      mass_matrix, mass_matrix_inverse, coriolis_matrix,
                                           bias_torque, gravity_torque;
                                           mass_matrix_time_derivatives,
                                           coriolis_matrix_time_derivatives,
                                           bias_torque_time_derivatives,
                                           gravity_torque_time_derivatives
linearization without Euler angles         linearize: dz/dt = A z + B u
time steps on the manifold                 step, linearize_discrete, step_vjp
(Euler, semi-implicit, RK4)
inputs and contact wrenches that           equilibrium
hold a configuration
kinematics                                 forward_kinematics, frame_placements, frame_jacobians,
                                           center_of_mass; kinematics_time_derivatives,
                                           frame_kinematics_time_derivatives,
                                           frame_jacobians_time_derivatives
momentum, about the world's origin and     momentum, centroidal_momentum,
about the centre of mass                   centroidal_momentum_matrix;
                                           momentum_time_derivatives,
                                           centroidal_momentum_time_derivatives
external wrenches                          wrench_at_frame gives f_ext; f_ext_axes= says along which
                                           axes it is: the bodies' or the world's
configurations                             integrate, difference, normalize, neutral, random_state
=========================================  =======================================================

Every function takes the model first and arrays whose leading axes are the batch, which broadcast
against each other; ``out=`` takes the results' arrays, ``threads=`` the number of threads.

Models come from `load`, from `ModelBuilder` or from `dtau.robots`; `dtau.conventions` converts from
and to Pinocchio, MuJoCo and others. Every docstring gives shapes, units and frames; the README has
the conventions in one table.

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

from dtau import conventions, robots
from dtau.errors import ModelError, ModelWarning
from dtau.functions.derivatives import (
    forward_dynamics_derivatives,
    forward_dynamics_wrench_derivatives,
    inverse_dynamics_derivatives,
    inverse_dynamics_wrench_derivatives,
)
from dtau.functions.dynamics import forward_dynamics, inverse_dynamics
from dtau.functions.equilibrium import equilibrium
from dtau.functions.frame_time_derivatives import (
    frame_jacobians_time_derivatives,
    frame_kinematics_time_derivatives,
)
from dtau.functions.hessians import forward_dynamics_hessian, inverse_dynamics_hessian
from dtau.functions.hybrid import hybrid_dynamics, hybrid_dynamics_time_derivatives
from dtau.functions.kinematics import (
    center_of_mass,
    forward_kinematics,
    frame_jacobians,
    frame_placements,
    wrench_at_frame,
)
from dtau.functions.linearization import linearize, linearize_discrete
from dtau.functions.manifold import difference, integrate, neutral, normalize, random_state
from dtau.functions.momentum import (
    centroidal_momentum,
    centroidal_momentum_matrix,
    centroidal_momentum_time_derivatives,
    momentum,
    momentum_time_derivatives,
)
from dtau.functions.products import (
    forward_dynamics_jvp,
    forward_dynamics_vjp,
    inverse_dynamics_jvp,
    inverse_dynamics_vjp,
)
from dtau.functions.second_derivatives import (
    forward_dynamics_second_derivatives,
    inverse_dynamics_second_derivatives,
    packed_indices,
)
from dtau.functions.steps import step, step_vjp
from dtau.functions.terms import (
    bias_torque,
    coriolis_matrix,
    gravity_torque,
    mass_matrix,
    mass_matrix_inverse,
)
from dtau.functions.terms_time_derivatives import (
    bias_torque_time_derivatives,
    coriolis_matrix_time_derivatives,
    gravity_torque_time_derivatives,
    mass_matrix_time_derivatives,
)
from dtau.functions.time_derivatives import (
    forward_dynamics_time_derivatives,
    inverse_dynamics_time_derivatives,
    kinematics_time_derivatives,
)
from dtau.loaders.load import load
from dtau.model.builder import ModelBuilder
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
from dtau.model.model import Model
from dtau.model.spatial import Inertia, Pose
from dtau.results import (
    DiscreteLinearization,
    Equilibrium,
    ForwardDynamicsDerivatives,
    ForwardDynamicsHessian,
    ForwardDynamicsProducts,
    ForwardDynamicsProductsWithWrenches,
    ForwardDynamicsSecondDerivatives,
    HybridDynamics,
    InverseDynamicsDerivatives,
    InverseDynamicsHessian,
    InverseDynamicsProducts,
    InverseDynamicsProductsWithWrenches,
    InverseDynamicsSecondDerivatives,
    KinematicsTimeDerivatives,
    Linearization,
    NextState,
    PartialState,
    Placements,
    State,
    StepProducts,
    StepProductsWithWrenches,
)

__version__ = "0.1.0"

__all__ = [
    "Cylindrical",
    "DiscreteLinearization",
    "Equilibrium",
    "Fixed",
    "ForwardDynamicsDerivatives",
    "ForwardDynamicsHessian",
    "ForwardDynamicsProducts",
    "ForwardDynamicsProductsWithWrenches",
    "ForwardDynamicsSecondDerivatives",
    "Frame",
    "Free",
    "Helical",
    "HybridDynamics",
    "Inertia",
    "InverseDynamicsDerivatives",
    "InverseDynamicsHessian",
    "InverseDynamicsProducts",
    "InverseDynamicsProductsWithWrenches",
    "InverseDynamicsSecondDerivatives",
    "Joint",
    "JointType",
    "KinematicsTimeDerivatives",
    "Limits",
    "Linearization",
    "Link",
    "Mimic",
    "Model",
    "ModelBuilder",
    "ModelError",
    "ModelWarning",
    "NextState",
    "PartialState",
    "Placements",
    "Planar",
    "Pose",
    "Prismatic",
    "Revolute",
    "Spherical",
    "State",
    "StepProducts",
    "StepProductsWithWrenches",
    "Universal",
    "bias_torque",
    "bias_torque_time_derivatives",
    "center_of_mass",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "centroidal_momentum_time_derivatives",
    "conventions",
    "coriolis_matrix",
    "coriolis_matrix_time_derivatives",
    "difference",
    "equilibrium",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_hessian",
    "forward_dynamics_jvp",
    "forward_dynamics_second_derivatives",
    "forward_dynamics_time_derivatives",
    "forward_dynamics_vjp",
    "forward_dynamics_wrench_derivatives",
    "forward_kinematics",
    "frame_jacobians",
    "frame_jacobians_time_derivatives",
    "frame_kinematics_time_derivatives",
    "frame_placements",
    "gravity_torque",
    "gravity_torque_time_derivatives",
    "hybrid_dynamics",
    "hybrid_dynamics_time_derivatives",
    "integrate",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_hessian",
    "inverse_dynamics_jvp",
    "inverse_dynamics_second_derivatives",
    "inverse_dynamics_time_derivatives",
    "inverse_dynamics_vjp",
    "inverse_dynamics_wrench_derivatives",
    "kinematics_time_derivatives",
    "linearize",
    "linearize_discrete",
    "load",
    "mass_matrix",
    "mass_matrix_inverse",
    "mass_matrix_time_derivatives",
    "momentum",
    "momentum_time_derivatives",
    "neutral",
    "normalize",
    "packed_indices",
    "random_state",
    "robots",
    "step",
    "step_vjp",
    "wrench_at_frame",
]


def __dir__() -> list[str]:
    return sorted(__all__)
