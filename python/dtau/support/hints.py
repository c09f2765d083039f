"""Suggest the right name for an unknown attribute of `dtau`: `hint`."""

from __future__ import annotations

from difflib import get_close_matches
from types import ModuleType

_PINOCCHIO = {  # dtau's name: Pinocchio's names; docs/coming_from.md has the calls
    "Contacts": "RigidConstraintModel initConstraintDynamics",
    "Free": "JointModelFreeFlyer",
    "Helical": "JointModelHX JointModelHY JointModelHZ JointModelHelicalUnaligned",
    "Loop": "FrameAnchorConstraintModel PointAnchorConstraintModel",
    "Mimic": "JointModelMimic transformJointIntoMimic",
    "Model": "RobotWrapper",
    "Planar": "JointModelPlanar",
    "PointContact": "PointContactConstraintModel",
    "Pose": "SE3",
    "Prismatic": "JointModelPX JointModelPY JointModelPZ JointModelPrismaticUnaligned",
    "Revolute": (
        "JointModelRUBX JointModelRUBY JointModelRUBZ JointModelRX JointModelRY JointModelRZ "
        "JointModelRevoluteUnaligned"
    ),
    "Spherical": "JointModelSpherical",
    "Universal": "JointModelUniversal",
    "Model.lock": "buildReducedModel",
    "ModelBuilder.add_model": "appendModel",
    "Pose.from_quaternion": "Quaternion",
    "bias_torque": "computeStaticTorque nle nonLinearEffects",
    "center_of_mass": "centerOfMass",
    "center_of_mass_jacobian": "jacobianCenterOfMass",
    "center_of_mass_velocity_derivatives": "getCenterOfMassVelocityDerivatives",
    "centroidal_momentum": "computeCentroidalMomentum",
    "centroidal_momentum_matrix": "ccrba computeCentroidalMap",
    "centroidal_momentum_rate": "computeCentroidalMomentumTimeVariation",
    "centroidal_momentum_rate_derivatives": (
        "computeCentroidalDynamicsDerivatives getCentroidalDynamicsDerivatives"
    ),
    "constrained_dynamics": "constraintDynamics forwardDynamics lcaba",
    "constrained_dynamics_derivatives": "computeConstraintDynamicsDerivatives",
    "constrained_inverse_dynamics": "contactInverseDynamics",
    "coriolis_matrix": "computeCoriolisMatrix getCoriolisMatrix",
    "difference_jacobians": "dDifference",
    "distances.Shape": "GeometryObject",
    "distances.read_shapes": (
        "GeometryModel buildGeomFromMJCF buildGeomFromUrdf buildGeomFromUrdfString"
    ),
    "distances.shape_distances": "computeDistance computeDistances updateGeometryPlacements",
    "forward_dynamics": "aba abaInParallel",
    "forward_dynamics_derivatives": "computeABADerivatives",
    "forward_kinematics": "forwardKinematics updateGlobalPlacements",
    "frame_accelerations": (
        "classicAcceleration getAcceleration getClassicalAcceleration getFrameAcceleration "
        "getFrameClassicalAcceleration"
    ),
    "frame_accelerations_derivatives": (
        "computeForwardKinematicsDerivatives getFrameAccelerationDerivatives "
        "getJointAccelerationDerivatives getPointClassicAccelerationDerivatives"
    ),
    "frame_jacobians": (
        "computeFrameJacobian computeJointJacobian computeJointJacobians getFrameJacobian "
        "getJointJacobian"
    ),
    "frame_jacobians_derivatives": (
        "computeJointKinematicHessians getFrameKinematicHessian getJointKinematicHessian"
    ),
    "frame_jacobians_time_derivatives": (
        "computeJointJacobiansTimeVariation frameJacobianTimeVariation "
        "getFrameJacobianTimeVariation getJointJacobianTimeVariation"
    ),
    "frame_placements": "framesForwardKinematics updateFramePlacement updateFramePlacements",
    "frame_velocities": "getFrameVelocity getVelocity",
    "frame_velocities_derivatives": (
        "getFrameVelocityDerivatives getJointVelocityDerivatives getPointVelocityDerivatives"
    ),
    "gravity_torque": "computeGeneralizedGravity",
    "impulse_dynamics": "impulseDynamics",
    "impulse_dynamics_derivatives": "computeImpulseDynamicsDerivatives",
    "integrate_jacobians": "dIntegrate",
    "inverse_dynamics": "rnea rneaInParallel",
    "inverse_dynamics_derivatives": (
        "computeGeneralizedGravityDerivatives computeRNEADerivatives computeStaticTorqueDerivatives"
    ),
    "inverse_dynamics_regressor": "computeJointTorqueRegressor",
    "kinetic_energy": "computeKineticEnergy",
    "load": (
        "buildModelFromMJCF buildModelFromMJCFAndRootJoint buildModelFromUrdf buildModelFromXML "
        "buildModelsFromMJCF buildModelsFromUrdf loadReferenceConfigurations "
        "loadReferenceConfigurationsFromXML loadRotorParameters"
    ),
    "load_mechanism": "buildModelAndConstraintsFromMJCF",
    "mass_matrix": "crba",
    "mass_matrix_inverse": "computeMinverse",
    "normalize": "isNormalized",
    "poses.exp": "exp6",
    "poses.exp_jacobian": "Jexp6",
    "poses.from_placements": "SE3ToXYZQUAT",
    "poses.log": "log6",
    "poses.log_jacobian": "Jlog6",
    "poses.to_placements": "XYZQUATToSE3",
    "potential_energy": "computePotentialEnergy",
    "random_state": "randomConfiguration",
    "rotations.exp": "exp3",
    "rotations.exp_jacobian": "Jexp3",
    "rotations.log": "log3",
    "rotations.log_jacobian": "Jlog3",
    "tangent_map": "compactTangentMap tangentMap",
}
HERE = {theirs: ours for ours, names in _PINOCCHIO.items() for theirs in names.split()}


_VJP = ("InverseDynamics", "ForwardDynamics", "ConstrainedDynamics", "Step")
RENAMED = {
    "keep_memory": "set_result_cache_limit",
    "ConstrainedDynamicsVariation": "results.ConstrainedDynamicsJVP",
    **{f"{x}Products": f"results.{x}VJP" for x in _VJP},
    **{f"{x}ProductsWithWrenches": f"results.{x}VJP" for x in _VJP},
}  # former names


MODULES = ("casadi", "crocoddyl", "distances", "jax", "mujoco", "torch", "viewer")


def hint(name: str, package: ModuleType) -> str:
    """Return the end of a message that gives the name in dtau, or an empty string."""
    if name in HERE:
        return f"; Pinocchio's {name} is dtau.{HERE[name]} here"
    if name in RENAMED:
        return f"; it is called dtau.{RENAMED[name]} now"
    if name in MODULES:
        return f"; import dtau.{name} imports that module"
    if name in package.results.__all__:
        return f"; it is dtau.results.{name}"
    meant = _meant(name, package)
    return f"; did you mean dtau.{meant}?" if meant else ""


def _meant(name: str, package: ModuleType) -> str:
    """Return an attribute, or a name that `dir` leaves out; Python suggests names of `dir`."""
    for family in package.__all__:
        attribute = name.removeprefix(f"{family}_")
        if attribute != name and hasattr(getattr(package, family), attribute):
            return f"{family}.{attribute}"
    unlisted = set(package.__all__) - set(dir(package))
    return next(iter(get_close_matches(name, unlisted, 1, 0.9)), "")
