"""An actuation by a constant matrix, as in dtau's `inputs`: `Actuation`."""

from __future__ import annotations

import crocoddyl
import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau.checks import real_array

Array = NDArray[np.float64]


class Actuation(crocoddyl.ActuationModelAbstract):
    """Joint torques ``inputs @ u``, in the order of velocities that the state has.

    crocoddyl's own actuations of floating bases ask for Pinocchio's state; this one does not.

    Parameters
    ----------
    state : State or crocoddyl.StateMultibody
    inputs : array_like (nv, nu)
        The joint torque per unit of each control.

    Attributes
    ----------
    inputs : ndarray (nv, nu)

    Examples
    --------
    >>> import dtau, dtau.crocoddyl, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> legs = np.eye(model.nv)[:, 6:]
    >>> dtau.crocoddyl.Actuation(dtau.crocoddyl.State(model), legs).nu
    12
    """

    def __init__(self, state: crocoddyl.StateAbstract, inputs: ArrayLike) -> None:
        columns = np.shape(inputs)[-1] if np.ndim(inputs) else 1
        matrix = real_array("inputs", inputs, (state.nv, columns))
        crocoddyl.ActuationModelAbstract.__init__(self, state, columns)
        self.inputs = matrix
        self._inverse = np.linalg.pinv(self.inputs)

    def calc(self, data: crocoddyl.ActuationDataAbstract, x: Array, u: Array | None = None) -> None:
        """Compute the joint torque."""
        if u is not None:
            data.tau = self.inputs @ u

    def calcDiff(  # noqa: N802
        self, data: crocoddyl.ActuationDataAbstract, x: Array, u: Array | None = None
    ) -> None:
        """Set the derivative by the controls."""
        if u is not None:
            data.dtau_du = self.inputs

    def commands(self, data: crocoddyl.ActuationDataAbstract, x: Array, tau: Array) -> None:
        """Compute the controls of least norm for a joint torque."""
        data.u = self._inverse @ tau

    def torqueTransform(  # noqa: N802
        self, data: crocoddyl.ActuationDataAbstract, x: Array, u: Array
    ) -> None:
        """Set the matrix that `commands` multiplies by."""
        data.Mtau = self._inverse
