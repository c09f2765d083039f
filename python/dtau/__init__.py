"""Analytical derivatives of rigid-body dynamics.

Load a model, then ask for values or derivatives of its dynamics, for one state or for arrays of
states whose leading axes are the batch. See the README for the conventions.
"""

from __future__ import annotations

from dtau import conventions, robots
from dtau.errors import ModelError, ModelWarning
from dtau.functions.derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives
from dtau.functions.dynamics import (
    bias_torque,
    coriolis_matrix,
    forward_dynamics,
    gravity_torque,
    inverse_dynamics,
    mass_matrix,
    mass_matrix_inverse,
)
from dtau.functions.equilibrium import equilibrium
from dtau.functions.hybrid import hybrid_dynamics, hybrid_dynamics_time_derivatives
from dtau.functions.kinematics import (
    forward_kinematics,
    frame_jacobians,
    frame_placements,
    wrench_at_frame,
)
from dtau.functions.linearization import linearize, linearize_discrete
from dtau.functions.manifold import difference, integrate, neutral, normalize, random_state
from dtau.functions.products import (
    forward_dynamics_jvp,
    forward_dynamics_vjp,
    inverse_dynamics_jvp,
    inverse_dynamics_vjp,
)
from dtau.functions.second_derivatives import (
    forward_dynamics_hessian,
    forward_dynamics_second_derivatives,
    inverse_dynamics_hessian,
    inverse_dynamics_second_derivatives,
    packed_indices,
)
from dtau.functions.steps import step, step_vjp
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
    "forward_kinematics",
    "frame_jacobians",
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
    "kinematics_time_derivatives",
    "linearize",
    "linearize_discrete",
    "load",
    "mass_matrix",
    "mass_matrix_inverse",
    "mass_matrix_time_derivatives",
    "neutral",
    "normalize",
    "packed_indices",
    "random_state",
    "robots",
    "step",
    "step_vjp",
    "wrench_at_frame",
]
