"""Named tuples: the results of functions with several results.

A function has one class. The tuple has the results of every call; what further arguments ask for
are attributes beside it (`dtau.results._attributes`).
"""

from __future__ import annotations

from dtau.results.constraints import (
    ConstrainedDynamics, ConstrainedDynamicsDerivatives, ConstrainedDynamicsHessian,
    ConstrainedDynamicsJVP, ConstrainedDynamicsSecondDerivatives, ConstrainedDynamicsVJP,
    ConstrainedInverseDynamics, ImpulseDynamics, ImpulseDynamicsDerivatives, ImpulseDynamicsHessian,
    ImpulseDynamicsJVP, ImpulseDynamicsSecondDerivatives, ImpulseDynamicsVJP, Projected,
)  # fmt: skip
from dtau.results.dynamics import (
    ForwardDynamicsDerivatives, ForwardDynamicsHessian, ForwardDynamicsSecondDerivatives,
    ForwardDynamicsTimeDerivativesDerivatives, ForwardDynamicsTimeDerivativesVJP,
    ForwardDynamicsVJP, HybridDynamics, InverseDynamicsDerivatives, InverseDynamicsHessian,
    InverseDynamicsSecondDerivatives, InverseDynamicsTimeDerivativesDerivatives,
    InverseDynamicsTimeDerivativesVJP, InverseDynamicsVJP,
)  # fmt: skip
from dtau.results.kinematics import (
    CenterOfMassAccelerationDerivatives, CenterOfMassVelocityDerivatives,
    CentroidalMomentumDerivatives, CentroidalMomentumRateDerivatives, DifferenceJacobians,
    FrameAccelerationsDerivatives, FrameErrors, FrameVelocitiesDerivatives, IntegrateJacobians,
    KinematicsTimeDerivatives, KineticEnergyDerivatives, PartialState, Placements, State, Subtrees,
    TangentMap,
)  # fmt: skip
from dtau.results.steps import (
    LQR, DiscreteLinearization, Equilibrium, Linearization, LinearizationTimeDerivatives, NextState,
    StageLinearization, StepJVP, StepVJP,
)  # fmt: skip

__all__ = [
    "LQR", "CenterOfMassAccelerationDerivatives", "CenterOfMassVelocityDerivatives",
    "CentroidalMomentumDerivatives", "CentroidalMomentumRateDerivatives", "ConstrainedDynamics",
    "ConstrainedDynamicsDerivatives", "ConstrainedDynamicsHessian", "ConstrainedDynamicsJVP",
    "ConstrainedDynamicsSecondDerivatives", "ConstrainedDynamicsVJP", "ConstrainedInverseDynamics",
    "DifferenceJacobians", "DiscreteLinearization", "Equilibrium", "ForwardDynamicsDerivatives",
    "ForwardDynamicsHessian", "ForwardDynamicsSecondDerivatives",
    "ForwardDynamicsTimeDerivativesDerivatives", "ForwardDynamicsTimeDerivativesVJP",
    "ForwardDynamicsVJP", "FrameAccelerationsDerivatives", "FrameErrors",
    "FrameVelocitiesDerivatives", "HybridDynamics", "ImpulseDynamics", "ImpulseDynamicsDerivatives",
    "ImpulseDynamicsHessian", "ImpulseDynamicsJVP", "ImpulseDynamicsSecondDerivatives",
    "ImpulseDynamicsVJP", "IntegrateJacobians", "InverseDynamicsDerivatives",
    "InverseDynamicsHessian", "InverseDynamicsSecondDerivatives",
    "InverseDynamicsTimeDerivativesDerivatives", "InverseDynamicsTimeDerivativesVJP",
    "InverseDynamicsVJP", "KinematicsTimeDerivatives", "KineticEnergyDerivatives", "Linearization",
    "LinearizationTimeDerivatives", "NextState", "PartialState", "Placements", "Projected",
    "StageLinearization", "State", "StepJVP", "StepVJP", "Subtrees", "TangentMap",
]  # fmt: skip

for name in __all__:  # for pickles and help(): where users find the class, whichever file has it
    globals()[name].__module__ = __name__
