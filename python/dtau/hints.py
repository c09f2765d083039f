"""Suggest the right name for an unknown attribute of `dtau`: `hint`."""

from __future__ import annotations

from dtau import results

HERE = {
    "RigidConstraintModel": "Contacts",
    "SE3": "Pose",
    "SE3ToXYZQUAT": "Free.coordinates",
    "XYZQUATToSE3": "Free.placement",
    "aba": "forward_dynamics",
    "appendModel": "ModelBuilder.add_model",
    "buildModelFromMJCF": "load",
    "buildModelFromUrdf": "load",
    "buildModelFromXML": "load",
    "buildReducedModel": "Model.lock",
    "ccrba": "centroidal_momentum_matrix",
    "centerOfMass": "center_of_mass",
    "computeABADerivatives": "forward_dynamics_derivatives",
    "computeCentroidalDynamicsDerivatives": "centroidal_momentum_rate_derivatives",
    "computeCentroidalMap": "centroidal_momentum_matrix",
    "computeCentroidalMomentum": "centroidal_momentum",
    "computeCentroidalMomentumTimeVariation": "centroidal_momentum_rate",
    "computeConstraintDynamicsDerivatives": "constrained_dynamics_derivatives",
    "computeCoriolisMatrix": "coriolis_matrix",
    "computeForwardKinematicsDerivatives": "frame_accelerations_derivatives",
    "computeFrameJacobian": "frame_jacobians",
    "computeGeneralizedGravity": "gravity_torque",
    "computeGeneralizedGravityDerivatives": "inverse_dynamics_derivatives",
    "computeImpulseDynamicsDerivatives": "impulse_dynamics_derivatives",
    "computeJointJacobian": "frame_jacobians",
    "computeJointJacobians": "frame_jacobians",
    "computeJointJacobiansTimeVariation": "frame_jacobians_time_derivatives",
    "computeJointTorqueRegressor": "inverse_dynamics_regressor",
    "computeKineticEnergy": "kinetic_energy",
    "computeMinverse": "mass_matrix_inverse",
    "computePotentialEnergy": "potential_energy",
    "computeRNEADerivatives": "inverse_dynamics_derivatives",
    "computeStaticTorque": "bias_torque",
    "constraintDynamics": "constrained_dynamics",
    "crba": "mass_matrix",
    "dDifference": "difference_jacobians",
    "dIntegrate": "integrate_jacobians",
    "exp6": "Pose.exp",
    "forwardKinematics": "forward_kinematics",
    "framesForwardKinematics": "frame_placements",
    "getFrameAcceleration": "frame_accelerations",
    "getFrameAccelerationDerivatives": "frame_accelerations_derivatives",
    "getFrameClassicalAcceleration": "frame_accelerations",
    "getFrameJacobian": "frame_jacobians",
    "getFrameJacobianTimeVariation": "frame_jacobians_time_derivatives",
    "getFrameVelocity": "frame_velocities",
    "getFrameVelocityDerivatives": "frame_velocities_derivatives",
    "getJointJacobian": "frame_jacobians",
    "impulseDynamics": "impulse_dynamics",
    "jacobianCenterOfMass": "center_of_mass_jacobian",
    "loadReferenceConfigurations": "load",
    "log6": "Pose.log",
    "nle": "bias_torque",
    "nonLinearEffects": "bias_torque",
    "randomConfiguration": "random_state",
    "rnea": "inverse_dynamics",
    "updateFramePlacement": "frame_placements",
    "updateFramePlacements": "frame_placements",
}  # Pinocchio's name: dtau's name; docs/coming_from.md has the calls


_VJP = ("InverseDynamics", "ForwardDynamics", "ConstrainedDynamics", "Step")
RENAMED = {
    "keep_memory": "set_result_cache_limit",
    "ConstrainedDynamicsVariation": "results.ConstrainedDynamicsJVP",
    **{f"{x}Products": f"results.{x}VJP" for x in _VJP},
    **{f"{x}ProductsWithWrenches": f"results.{x}VJP" for x in _VJP},
}  # former names


def hint(name: str) -> str:
    """Return the end of a message that gives the name in dtau, or an empty string."""
    if name in HERE:
        return f"; Pinocchio's {name} is dtau.{HERE[name]} here"
    if name in RENAMED:
        return f"; it is called dtau.{RENAMED[name]} now"
    return f"; it is dtau.results.{name}" if name in results.__all__ else ""
