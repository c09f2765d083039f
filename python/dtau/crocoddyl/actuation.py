"""An actuation by dtau's `inputs`, a constant matrix or motors: `Actuation`."""

from __future__ import annotations

import crocoddyl
import numpy as np
from numpy.typing import ArrayLike

from dtau.crocoddyl.state import State
from dtau.model.motors import Motors
from dtau.support.arrays import Array
from dtau.support.checks import real_array, require


class Actuation(crocoddyl.ActuationModelAbstract):
    """Joint torques ``inputs @ u``, in the order of velocities that the state has.

    crocoddyl's own actuations of floating bases ask for Pinocchio's state; this one does not.

    Parameters
    ----------
    state : State or crocoddyl.StateMultibody
    inputs : array_like (nv, nu) or Motors
        The joint torque per unit of each control. Motors whose forces depend on the state give
        `Motors.torque`, which needs a `State`.

    Attributes
    ----------
    inputs : ndarray (nv, nu)

    Raises
    ------
    ValueError
        If a shape does not fit, or motors with a bias have another state than a `State` of their
        model.
    TypeError
        If ``state`` is no state, such as a `Robot`, whose state is `Robot.state`.

    Examples
    --------
    >>> import dtau, dtau.crocoddyl, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> legs = np.eye(model.nv)[:, 6:]
    >>> dtau.crocoddyl.Actuation(dtau.crocoddyl.State(model), legs).nu
    12
    """

    def __init__(self, state: crocoddyl.StateAbstract, inputs: ArrayLike | Motors) -> None:
        require("state", state, crocoddyl.StateAbstract)
        columns = np.shape(inputs)[-1] if np.ndim(inputs) else 1
        matrix = real_array("inputs", inputs, (state.nv, columns))
        self._motors: Motors | None = None
        if isinstance(inputs, Motors) and inputs.bias.any():
            if not isinstance(state, State) or state.model != inputs.model:
                raise ValueError(
                    "inputs: expected a matrix, got motors with a bias, whose torque depends on "
                    "coordinates of dtau: make the state by dtau.crocoddyl.State(motors.model)"
                )
            self._motors = inputs
        crocoddyl.ActuationModelAbstract.__init__(self, state, columns)
        self.inputs = matrix
        self._inverse = np.linalg.pinv(self.inputs)

    def calc(self, data: crocoddyl.ActuationDataAbstract, x: Array, u: Array | None = None) -> None:
        """Compute the joint torque."""
        if u is not None:
            data.tau = self.inputs @ u + self._own(x)

    def calcDiff(  # noqa: N802
        self, data: crocoddyl.ActuationDataAbstract, x: Array, u: Array | None = None
    ) -> None:
        """Set the derivatives by the state and the controls."""
        if u is not None:
            data.dtau_du = self.inputs
            if self._motors is not None:
                data.dtau_dx = np.hstack([self._motors.dtau_dq, self._motors.dtau_dv])

    def commands(self, data: crocoddyl.ActuationDataAbstract, x: Array, tau: Array) -> None:
        """Compute the controls of least norm for a joint torque."""
        data.u = self._inverse @ (tau - self._own(x))

    def _own(self, x: Array) -> Array | float:
        """The torque without controls."""
        if self._motors is None:
            return 0.0
        nq = self._motors.model.nq
        return self._motors.torque(np.zeros(self.nu), x[:nq], x[nq:])

    def torqueTransform(  # noqa: N802
        self, data: crocoddyl.ActuationDataAbstract, x: Array, u: Array
    ) -> None:
        """Set the matrix that `commands` multiplies by."""
        data.Mtau = self._inverse
