"""Time Pinocchio with the same robot, after comparing its results: `Pinocchio`."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dtau.cli.robot import reordered
from dtau.cli.timing import Contender, loop
from dtau.conventions import pinocchio as convention_of
from dtau.functions.manifold_states import neutral
from dtau.model.joints import Free
from dtau.model.model import Model
from dtau.support.arrays import Array

# By function: Pinocchio's function, and the names of its results
CALLS: dict[str, tuple[str, tuple[str, ...]]] = {
    "inverse_dynamics": ("rnea", ("tau",)),
    "forward_dynamics": ("aba", ("ddq",)),
    "mass_matrix": ("crba", ("M",)),
    "mass_matrix_inverse": ("computeMinverse", ("Minv",)),
    "coriolis_matrix": ("computeCoriolisMatrix", ()),  # differs: many Coriolis matrices are right
    "bias_torque": ("nonLinearEffects", ("nle",)),
    "gravity_torque": ("computeGeneralizedGravity", ("g",)),
    "inverse_dynamics_derivatives": ("computeRNEADerivatives", ("dtau_dq", "dtau_dv", "M")),
    "forward_dynamics_derivatives": ("computeABADerivatives", ("ddq_dq", "ddq_dv", "Minv")),
}
_SYMMETRIC = ("M", "Minv")  # some functions fill only the upper triangle of these
_TOLERANCE = 1e-8  # relative to the largest element
_CHECKED = 8  # states that are compared
_MOST = 300  # most degrees of freedom


class UnavailableError(Exception):
    """Pinocchio cannot be compared with; the message says why."""


class WrongResultError(Exception):
    """Pinocchio's results differ."""


class Pinocchio:
    """Pinocchio's model of the same robot, without damping and friction, and states for it.

    Raises
    ------
    UnavailableError
        If Pinocchio is not installed, or cannot represent the robot.
    """

    def __init__(self, model: Model, states: Mapping[str, Array]) -> None:
        if model.nv > _MOST:
            raise UnavailableError(
                f"Left out Pinocchio: its data would take several times {model.nv}³ numbers"
            )
        try:
            self._package: Any = importlib.import_module("pinocchio")
            self.version = str(self._package.__version__)
            build = self._package.buildModelFromXML
        except (ModuleNotFoundError, AttributeError):  # another package with this name
            raise UnavailableError(
                "Pinocchio is not installed (python -m pip install pin)"
            ) from None
        except ImportError as error:
            raise UnavailableError(f"Pinocchio cannot be imported: {error}") from error
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # joints may be massless without armature
                plain = model.replace(armature=0.0, gravity=(0, 0, -9.81))
                text = reordered(plain).to_urdf()
            free = isinstance(model.links[0].joint, Free)
            root = (self._package.JointModelFreeFlyer(),) if free else ()
            self._model = build(text, *root)
            self._convention = convention_of(model, self._model)
        except ValueError as error:
            raise UnavailableError(f"Pinocchio cannot represent this robot: {error}") from None
        # Pinocchio's v is v[columns]; units and axes of torques are the same
        self._columns = self._convention.convert(
            np.arange(model.nv), of="tau", at={"q": neutral(model)}
        ).astype(int)
        self._model.armature = model.armature[self._columns]
        self._model.gravity = self._package.Motion(model.gravity, np.zeros(3))
        self._data = self._model.createData()
        there = self._convention.from_dtau(states["q"], states["v"], states["a"])
        self._states = {**there._asdict(), "tau": states["tau"][:, self._columns]}

    def contender(
        self, name: str, arguments: tuple[str, ...], wanted: tuple[Array, ...], count: int
    ) -> Contender:
        """Return Pinocchio's calls, one per state, after comparing the results.

        `wanted` are dtau's results at the first states, of a function of `CALLS`.

        Raises
        ------
        WrongResultError
            If a result differs.
        """
        word, results = CALLS[name]
        function: Callable[..., Any] = getattr(self._package, word)
        rows = [
            (self._model, self._data, *(self._states[x][i].copy() for x in arguments))
            for i in range(count)
        ]
        for i in range(min(_CHECKED, count)):
            function(*rows[i])
            for result, ours in zip(results, wanted, strict=bool(results)):
                self._compare(name, result, ours[i])
        return Contender(loop("for x in rows: f(*x)", f=function, rows=rows), count)

    def _compare(self, name: str, result: str, ours: Array) -> None:
        theirs = np.array(getattr(self._data, result))
        if result in _SYMMETRIC:
            theirs = np.triu(theirs) + np.triu(theirs, 1).T
        for axis in range(ours.ndim):
            ours = np.take(ours, self._columns, axis=axis)
        error = np.abs(theirs - ours).max() / max(np.abs(ours).max(), 1e-3)
        if not error <= _TOLERANCE:
            raise WrongResultError(
                f"{name}: Pinocchio's result differs by {error:.1e} of the largest element"
            )
