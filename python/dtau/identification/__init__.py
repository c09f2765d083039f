"""Identify inertial parameters and friction of robots from measured torques.

1. `Regressor`: torques as linear functions of parameters of bodies and joints
2. `base_parameters`: which of them torques determine, alone or in sums
3. `excite`: a motion within limits that tells them apart
4. `least_squares`: base parameters with standard errors
5. `fit`: parameters of all bodies, of bodies that exist

`parameters_from_log_cholesky` and its derivatives are for programs with an optimizer of their own.
The package needs NumPy alone. docs/identification.md has a tour.

Examples
--------
>>> import dtau, numpy as np
>>> from dtau import identification
>>> model = dtau.robots.chain(4)  # as it was designed
>>> regressor = identification.Regressor(model, ["damping", "coulomb"], coulomb_speed=0.05)
>>> base = identification.base_parameters(regressor)
>>> found = identification.excite(base, period=8.0, velocity_limits=2.0, iterations=10)
>>> q, v, a = found.motion.states(np.linspace(0, 8, 400))

Torques of the robot, which is heavier and has friction; then the fit:

>>> robot = model.replace(parameters=1.2 * model.parameters, damping=0.4)
>>> tau = dtau.inverse_dynamics(robot, q, v, a) + 0.7 * np.tanh(v / 0.05)
>>> tau += 0.01 * np.random.default_rng(0).standard_normal(tau.shape)
>>> fit = identification.fit(base, q, v, a, tau)
>>> bool(np.allclose(fit.model.damping, 0.4, atol=0.02))
True
>>> coulomb = regressor.joint_values(fit.parameters, "coulomb")
>>> bool(np.allclose(list(coulomb.values()), 0.7, atol=0.02))
True
"""

from dtau.identification.base import BaseParameters, base_parameters
from dtau.identification.conditioning import ConditionNumber, condition_number
from dtau.identification.excitation import Excitation, FourierMotion, excite
from dtau.identification.fitting import Fit, LeastSquares, fit, least_squares
from dtau.identification.log_cholesky import (
    log_cholesky_from_parameters,
    log_cholesky_hessian,
    log_cholesky_jacobian,
    log_cholesky_jvp,
    log_cholesky_vjp,
    parameters_from_log_cholesky,
    pseudo_inertia,
)
from dtau.identification.regressor import Regressor, StateGradient

__all__ = [
    "BaseParameters", "ConditionNumber", "Excitation", "Fit", "FourierMotion", "LeastSquares",
    "Regressor", "StateGradient", "base_parameters", "condition_number", "excite", "fit",
    "least_squares", "log_cholesky_from_parameters", "log_cholesky_hessian",
    "log_cholesky_jacobian", "log_cholesky_jvp", "log_cholesky_vjp", "parameters_from_log_cholesky",
    "pseudo_inertia",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
