"""Action models of crocoddyl whose dynamics and derivatives are dtau's.

They take the place of crocoddyl's own in its problems, solvers and integrators; costs remain
crocoddyl's. The first `calcDiff` of an iteration linearizes all knots at once. Make one `Robot` per
model and problem, or convert a whole problem by `shooting_problem`. docs/crocoddyl.md explains
both.
"""

try:
    import crocoddyl as _crocoddyl  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        "dtau.crocoddyl needs crocoddyl, which is not installed: pip install crocoddyl==3.2.1 "
        "pin==4.0.0 libpinocchio==4.0.0"
    ) from error

from dtau.crocoddyl.actuation import Actuation
from dtau.crocoddyl.dynamics import (
    DifferentialActionModelContactFwdDynamics,
    DifferentialActionModelFreeFwdDynamics,
)
from dtau.crocoddyl.impulses import ActionModelImpulseFwdDynamics
from dtau.crocoddyl.problem import shooting_problem
from dtau.crocoddyl.robot import Robot
from dtau.crocoddyl.state import ResidualModelState, State

__all__ = [
    "ActionModelImpulseFwdDynamics", "Actuation", "DifferentialActionModelContactFwdDynamics",
    "DifferentialActionModelFreeFwdDynamics", "ResidualModelState", "Robot", "State",
    "shooting_problem",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
