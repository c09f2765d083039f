"""Analytical derivatives of rigid-body dynamics.

Load a model, then ask for values or derivatives of its dynamics, for one state or for arrays of
states whose leading axes are the batch. See the README for the conventions.
"""

from __future__ import annotations

from dtau import conventions, robots
from dtau.builder import ModelBuilder
from dtau.derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives
from dtau.dynamics import (
    bias_torque,
    coriolis_matrix,
    forward_dynamics,
    gravity_torque,
    inverse_dynamics,
    mass_matrix,
    mass_matrix_inverse,
)
from dtau.errors import ModelError, ModelWarning
from dtau.joint_type import JointType
from dtau.joints import (
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
from dtau.kinematics import (
    forward_kinematics,
    frame_jacobians,
    frame_placements,
    wrench_at_frame,
)
from dtau.links import Frame, Joint, Limits, Link
from dtau.load import load
from dtau.manifold import difference, integrate, neutral, normalize, random_state
from dtau.mimic import Mimic
from dtau.model import Model
from dtau.products import (
    forward_dynamics_jvp,
    forward_dynamics_vjp,
    inverse_dynamics_jvp,
    inverse_dynamics_vjp,
)
from dtau.results import (
    ForwardDynamicsDerivatives,
    ForwardDynamicsHessian,
    ForwardDynamicsProducts,
    ForwardDynamicsProductsWithWrenches,
    ForwardDynamicsSecondDerivatives,
    InverseDynamicsDerivatives,
    InverseDynamicsHessian,
    InverseDynamicsProducts,
    InverseDynamicsProductsWithWrenches,
    InverseDynamicsSecondDerivatives,
    PartialState,
    Placements,
    State,
)
from dtau.second_derivatives import (
    forward_dynamics_hessian,
    forward_dynamics_second_derivatives,
    inverse_dynamics_hessian,
    inverse_dynamics_second_derivatives,
    packed_indices,
)
from dtau.spatial import Inertia, Pose

__version__ = "0.1.0"

__all__ = [
    "Cylindrical",
    "Fixed",
    "ForwardDynamicsDerivatives",
    "ForwardDynamicsHessian",
    "ForwardDynamicsProducts",
    "ForwardDynamicsProductsWithWrenches",
    "ForwardDynamicsSecondDerivatives",
    "Frame",
    "Free",
    "Helical",
    "Inertia",
    "InverseDynamicsDerivatives",
    "InverseDynamicsHessian",
    "InverseDynamicsProducts",
    "InverseDynamicsProductsWithWrenches",
    "InverseDynamicsSecondDerivatives",
    "Joint",
    "JointType",
    "Limits",
    "Link",
    "Mimic",
    "Model",
    "ModelBuilder",
    "ModelError",
    "ModelWarning",
    "PartialState",
    "Placements",
    "Planar",
    "Pose",
    "Prismatic",
    "Revolute",
    "Spherical",
    "State",
    "Universal",
    "bias_torque",
    "conventions",
    "coriolis_matrix",
    "difference",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_hessian",
    "forward_dynamics_jvp",
    "forward_dynamics_second_derivatives",
    "forward_dynamics_vjp",
    "forward_kinematics",
    "frame_jacobians",
    "frame_placements",
    "gravity_torque",
    "integrate",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_hessian",
    "inverse_dynamics_jvp",
    "inverse_dynamics_second_derivatives",
    "inverse_dynamics_vjp",
    "load",
    "mass_matrix",
    "mass_matrix_inverse",
    "neutral",
    "normalize",
    "packed_indices",
    "random_state",
    "robots",
    "wrench_at_frame",
]
