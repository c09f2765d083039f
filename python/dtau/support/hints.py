"""Suggest the right name for an unknown attribute of `dtau`: `hint`."""

from __future__ import annotations

from difflib import get_close_matches
from types import ModuleType

HERE = {
    "FrameAnchorConstraintModel": "Loop",
    "GeometryModel": "distances.read_shapes",
    "GeometryObject": "distances.Shape",
    "Jexp3": "rotations.exp_jacobian",
    "Jexp6": "poses.exp_jacobian",
    "Jlog3": "rotations.log_jacobian",
    "Jlog6": "poses.log_jacobian",
    "JointModelFreeFlyer": "Free",
    "JointModelHX": "Helical",
    "JointModelHY": "Helical",
    "JointModelHZ": "Helical",
    "JointModelHelicalUnaligned": "Helical",
    "JointModelMimic": "Mimic",
    "JointModelPX": "Prismatic",
    "JointModelPY": "Prismatic",
    "JointModelPZ": "Prismatic",
    "JointModelPlanar": "Planar",
    "JointModelPrismaticUnaligned": "Prismatic",
    "JointModelRUBX": "Revolute",
    "JointModelRUBY": "Revolute",
    "JointModelRUBZ": "Revolute",
    "JointModelRX": "Revolute",
    "JointModelRY": "Revolute",
    "JointModelRZ": "Revolute",
    "JointModelRevoluteUnaligned": "Revolute",
    "JointModelSpherical": "Spherical",
    "JointModelUniversal": "Universal",
    "PointAnchorConstraintModel": "Loop",
    "PointContactConstraintModel": "PointContact",
    "Quaternion": "Pose.from_quaternion",
    "RigidConstraintModel": "Contacts",
    "RobotWrapper": "Model",
    "SE3": "Pose",
    "SE3ToXYZQUAT": "poses.from_placements",
    "XYZQUATToSE3": "poses.to_placements",
    "aba": "forward_dynamics",
    "abaInParallel": "forward_dynamics",
    "appendModel": "ModelBuilder.add_model",
    "buildGeomFromMJCF": "distances.read_shapes",
    "buildGeomFromUrdf": "distances.read_shapes",
    "buildGeomFromUrdfString": "distances.read_shapes",
    "buildModelAndConstraintsFromMJCF": "load_mechanism",
    "buildModelFromMJCF": "load",
    "buildModelFromMJCFAndRootJoint": "load",
    "buildModelFromUrdf": "load",
    "buildModelFromXML": "load",
    "buildModelsFromMJCF": "load",
    "buildModelsFromUrdf": "load",
    "buildReducedModel": "Model.lock",
    "ccrba": "centroidal_momentum_matrix",
    "centerOfMass": "center_of_mass",
    "classicAcceleration": "frame_accelerations",
    "compactTangentMap": "tangent_map",
    "computeABADerivatives": "forward_dynamics_derivatives",
    "computeCentroidalDynamicsDerivatives": "centroidal_momentum_rate_derivatives",
    "computeCentroidalMap": "centroidal_momentum_matrix",
    "computeCentroidalMomentum": "centroidal_momentum",
    "computeCentroidalMomentumTimeVariation": "centroidal_momentum_rate",
    "computeConstraintDynamicsDerivatives": "constrained_dynamics_derivatives",
    "computeCoriolisMatrix": "coriolis_matrix",
    "computeDistance": "distances.shape_distances",
    "computeDistances": "distances.shape_distances",
    "computeForwardKinematicsDerivatives": "frame_accelerations_derivatives",
    "computeFrameJacobian": "frame_jacobians",
    "computeGeneralizedGravity": "gravity_torque",
    "computeGeneralizedGravityDerivatives": "inverse_dynamics_derivatives",
    "computeImpulseDynamicsDerivatives": "impulse_dynamics_derivatives",
    "computeJointJacobian": "frame_jacobians",
    "computeJointJacobians": "frame_jacobians",
    "computeJointJacobiansTimeVariation": "frame_jacobians_time_derivatives",
    "computeJointKinematicHessians": "frame_jacobians_derivatives",
    "computeJointTorqueRegressor": "inverse_dynamics_regressor",
    "computeKineticEnergy": "kinetic_energy",
    "computeMinverse": "mass_matrix_inverse",
    "computePotentialEnergy": "potential_energy",
    "computeRNEADerivatives": "inverse_dynamics_derivatives",
    "computeStaticTorque": "bias_torque",
    "computeStaticTorqueDerivatives": "inverse_dynamics_derivatives",
    "constraintDynamics": "constrained_dynamics",
    "contactInverseDynamics": "constrained_inverse_dynamics",
    "crba": "mass_matrix",
    "dDifference": "difference_jacobians",
    "dIntegrate": "integrate_jacobians",
    "exp3": "rotations.exp",
    "exp6": "poses.exp",
    "forwardDynamics": "constrained_dynamics",
    "forwardKinematics": "forward_kinematics",
    "frameJacobianTimeVariation": "frame_jacobians_time_derivatives",
    "framesForwardKinematics": "frame_placements",
    "getAcceleration": "frame_accelerations",
    "getCenterOfMassVelocityDerivatives": "center_of_mass_velocity_derivatives",
    "getCentroidalDynamicsDerivatives": "centroidal_momentum_rate_derivatives",
    "getClassicalAcceleration": "frame_accelerations",
    "getCoriolisMatrix": "coriolis_matrix",
    "getFrameAcceleration": "frame_accelerations",
    "getFrameAccelerationDerivatives": "frame_accelerations_derivatives",
    "getFrameClassicalAcceleration": "frame_accelerations",
    "getFrameJacobian": "frame_jacobians",
    "getFrameJacobianTimeVariation": "frame_jacobians_time_derivatives",
    "getFrameKinematicHessian": "frame_jacobians_derivatives",
    "getFrameVelocity": "frame_velocities",
    "getFrameVelocityDerivatives": "frame_velocities_derivatives",
    "getJointAccelerationDerivatives": "frame_accelerations_derivatives",
    "getJointJacobian": "frame_jacobians",
    "getJointJacobianTimeVariation": "frame_jacobians_time_derivatives",
    "getJointKinematicHessian": "frame_jacobians_derivatives",
    "getJointVelocityDerivatives": "frame_velocities_derivatives",
    "getPointClassicAccelerationDerivatives": "frame_accelerations_derivatives",
    "getPointVelocityDerivatives": "frame_velocities_derivatives",
    "getVelocity": "frame_velocities",
    "impulseDynamics": "impulse_dynamics",
    "initConstraintDynamics": "Contacts",
    "isNormalized": "normalize",
    "jacobianCenterOfMass": "center_of_mass_jacobian",
    "lcaba": "constrained_dynamics",
    "loadReferenceConfigurations": "load",
    "loadReferenceConfigurationsFromXML": "load",
    "loadRotorParameters": "load",
    "log3": "rotations.log",
    "log6": "poses.log",
    "nle": "bias_torque",
    "nonLinearEffects": "bias_torque",
    "randomConfiguration": "random_state",
    "rnea": "inverse_dynamics",
    "rneaInParallel": "inverse_dynamics",
    "tangentMap": "tangent_map",
    "transformJointIntoMimic": "Mimic",
    "updateFramePlacement": "frame_placements",
    "updateFramePlacements": "frame_placements",
    "updateGeometryPlacements": "distances.shape_distances",
    "updateGlobalPlacements": "forward_kinematics",
}  # Pinocchio's name: dtau's name; docs/coming_from.md has the calls


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
