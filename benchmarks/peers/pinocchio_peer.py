"""Pinocchio: its Python functions, and its headers as compilers on this machine make them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.checks import Array
from benchmarks.peers.cases import LONE_STATES, Case, Way, rows
from benchmarks.peers.headers import Headers, HeadersRobot
from benchmarks.robots import Robot, pinocchio
from dtau.cli.timing import Contender, loop

# function: call, and where the results are after it: in the data, or in what it gives
CALLS: dict[str, tuple[str, tuple[str, ...]]] = {
    "inverse_dynamics": ("rnea(m, d, q, v, a)", ("tau",)),
    "forward_dynamics": ("aba(m, d, q, v, tau)", ("ddq",)),
    "mass_matrix": ("crba(m, d, q)", ("M",)),
    "mass_matrix_inverse": ("computeMinverse(m, d, q)", ("Minv",)),
    "bias_torque": ("nonLinearEffects(m, d, q, v)", ("nle",)),
    "gravity_torque": ("computeGeneralizedGravity(m, d, q)", ("g",)),
    "coriolis_matrix": ("computeCoriolisMatrix(m, d, q, v)", ("C",)),
    "inverse_dynamics_derivatives": (
        "computeRNEADerivatives(m, d, q, v, a)",
        ("dtau_dq", "dtau_dv", "M"),
    ),
    "forward_dynamics_derivatives": (
        "computeABADerivatives(m, d, q, v, tau)",
        ("ddq_dq", "ddq_dv", "Minv"),
    ),
    "inverse_dynamics_regressor": (
        "computeJointTorqueRegressor(m, d, q, v, a)",
        ("jointTorqueRegressor",),
    ),
    "frame_placements": (
        "forwardKinematics(m, d, q); pin.updateFramePlacement(m, d, frame)",
        ("rotation", "translation"),
    ),
    "frame_jacobians": ("computeFrameJacobian(m, d, q, frame, axes)", ()),
    "frame_velocities": (
        "forwardKinematics(m, d, q, v); given = pin.getFrameVelocity(m, d, frame, axes).vector",
        (),
    ),
    "frame_accelerations": (
        "forwardKinematics(m, d, q, v, a); "
        "given = pin.getFrameAcceleration(m, d, frame, axes).vector",
        (),
    ),
    "frame_velocities_derivatives": (
        "computeForwardKinematicsDerivatives(m, d, q, v, zero); "
        "given = pin.getFrameVelocityDerivatives(m, d, frame, pin.LOCAL)",
        (),
    ),
    "frame_accelerations_derivatives": (
        "computeForwardKinematicsDerivatives(m, d, q, v, a); "
        "given = pin.getFrameAccelerationDerivatives(m, d, frame, pin.LOCAL)[1:]",
        (),
    ),
    "frame_errors": (
        "framesForwardKinematics(m, d, q); "
        "apart = targets.actInv(d.oMf[frame]); "
        "given = pin.log6(apart).vector, "
        "pin.Jlog6(apart) @ pin.computeFrameJacobian(m, d, q, frame, pin.LOCAL)",
        (),
    ),
    "center_of_mass": ("centerOfMass(m, d, q)", ("com",)),
    "center_of_mass_velocity": ("centerOfMass(m, d, q, v)", ("vcom",)),
    "center_of_mass_acceleration": ("centerOfMass(m, d, q, v, a)", ("acom",)),
    "center_of_mass_jacobian": ("jacobianCenterOfMass(m, d, q)", ()),
    "centroidal_momentum": ("computeCentroidalMomentum(m, d, q, v)", ("given.vector",)),
    "centroidal_momentum_matrix": ("computeCentroidalMap(m, d, q)", ()),
    "centroidal_momentum_rate": (
        "computeCentroidalMomentumTimeVariation(m, d, q, v, a)",
        ("given.vector",),
    ),
    "centroidal_momentum_derivatives": (
        "computeCentroidalDynamicsDerivatives(m, d, q, v, v)",  # for any acceleration
        ("given[0]", "given[3]"),
    ),
    "centroidal_momentum_rate_derivatives": (
        "computeCentroidalDynamicsDerivatives(m, d, q, v, a)",
        ("given[1]", "given[2]", "given[3]"),
    ),
    "kinetic_energy": ("computeKineticEnergy(m, d, q, v)", ()),
    "potential_energy": ("computePotentialEnergy(m, d, q)", ()),
    "integrate": ("integrate(m, q, dq)", ()),
    "difference": ("difference(m, q0, q1)", ()),
    "integrate_jacobians": ("dIntegrate(m, q, dq)", ()),
    "difference_jacobians": ("dDifference(m, q0, q1)", ()),
}
SYMMETRIC = ("M", "Minv")  # of which some functions fill the upper triangle only
PARALLEL = {"inverse_dynamics": "rneaInParallel", "forward_dynamics": "abaInParallel"}


@dataclass
class Python:
    """Pinocchio's Python package: one state a call, but for two functions that take threads."""

    robot: Robot
    name: str = "Pinocchio"

    def way(self, case: Case) -> Way | str:
        """Calls of its functions."""
        if case.function not in CALLS:
            return ""
        call, results = CALLS[case.function]
        names = ", ".join(case.arguments)
        model, data = self.robot.peer, self.robot.peer.createData()
        frame = model.getFrameId(case.frame)
        scope = {"pin": pinocchio, "m": model, "d": data, "frame": frame}
        scope |= {"axes": pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED, "zero": np.zeros(model.nv)}
        scope["f"] = getattr(pinocchio, call.partition("(")[0])
        statement = f"given = f({call.partition('(')[2]}"
        states = rows(arguments(case))
        run = loop(f"for {names}, in states: {statement}", states=states, **scope)

        found = []
        for row in rows(arguments(case), case.checked):
            here = scope | dict(zip(case.arguments, row, strict=True))
            exec(statement, here)
            found.append(_results(results, data, frame, here["given"]))
        got = [np.array(x) for x in zip(*found, strict=True)]
        got = [mirrored(x, name) for x, name in zip(got, results or ("",) * len(got), strict=True)]
        way = Way(got, in_order(case), Contender(run, LONE_STATES))
        if case.function in PARALLEL and hasattr(pinocchio, PARALLEL[case.function]):
            way.batch = self._parallel(case)
        return way

    def _parallel(self, case: Case) -> Callable[[int, int], Contender | None]:
        def batch(count: int, threads: int) -> Contender:
            pool = pinocchio.ModelPool(self.robot.peer, threads)
            columns = [np.asfortranarray(x[:count].T) for x in arguments(case)]
            out = np.empty((self.robot.model.nv, count), order="F")
            run = loop(
                f"f({threads}, pool, *columns, out)",
                f=getattr(pinocchio, PARALLEL[case.function]),
                pool=pool,
                columns=columns,
                out=out,
            )
            return Contender(run, count)

        return batch

    def close(self) -> None:
        """Nothing to let go of."""


@dataclass
class Compiled:
    """Pinocchio's headers by one compiler: loops over the states in C++."""

    robot: Robot
    headers: list[Headers]  # of one compiler, by the functions that are in them
    name: str
    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(2))

    def way(self, case: Case) -> Way | str:
        """Loops over the states."""
        if len(case.arguments) > 3:  # more than the C functions take
            return ""
        given = arguments(case)
        for headers in self.headers:
            robot = headers.robot(self._model(case))
            shapes = case.shapes()
            checked = tuple(np.ascontiguousarray(x[: case.checked]) for x in given)
            try:
                got = robot.results(case.function, checked, shapes)
            except LookupError:
                continue
            names = CALLS.get(case.function, ("", ()))[1] or ("",) * len(got)
            got = [mirrored(x, name) for x, name in zip(got, names, strict=True)]
            if case.function == "inverse_dynamics_second_derivatives":
                got = [got[0], got[2], got[1], got[3]]
            few = tuple(np.ascontiguousarray(x[:LONE_STATES]) for x in given)
            each = Contender(robot.loop(case.function, few), LONE_STATES)
            return Way(got, in_order(case), each, self._batch(headers, case, given))
        return ""

    def _model(self, case: Case) -> Any:
        """The robot's model, the frame of the case at its end, where the C++ looks for it."""
        model = pinocchio.Model(self.robot.peer)
        frame = model.frames[model.getFrameId(case.frame)]
        kind = pinocchio.FrameType.OP_FRAME
        model.addFrame(pinocchio.Frame("end", frame.parentJoint, frame.placement, kind))
        return model

    def _batch(
        self, headers: Headers, case: Case, given: list[Array]
    ) -> Callable[[int, int], Contender | None]:
        def batch(count: int, threads: int) -> Contender:
            parts = np.array_split(np.arange(count), threads)
            loops = []
            for part in parts:
                robot: HeadersRobot = headers.robot(self._model(case))
                some = tuple(np.ascontiguousarray(x[part]) for x in given)
                loops.append(robot.loop(case.function, some))
            if threads == 1:
                return Contender(loops[0], count)

            def run(passes: int) -> None:
                for done in [self.threads.submit(part, passes) for part in loops]:
                    done.result()

            return Contender(run, count)

        return batch

    def close(self) -> None:
        """End the threads."""
        self.threads.shutdown()


def arguments(case: Case) -> list[Any]:
    """The arguments as Pinocchio writes them: arrays, and lists of poses."""
    robot, found = case.robot, []
    for name, x in case.arguments.items():
        if name == "targets":
            found.append([pinocchio.XYZQUATToSE3(pose) for pose in x])
        else:
            found.append(robot.peer_q(x) if name.startswith("q") else robot.peer_v(x))
    return found


def in_order(case: Case) -> list[Array]:
    """The package's results in Pinocchio's order."""
    out = []
    for axes, result in zip(case.axes, case.wanted, strict=True):
        if axes == ("nq",):
            out.append(case.robot.peer_q(result))
            continue
        for i, axis in enumerate(axes):
            if axis == "nv":
                result = np.take(result, case.robot.columns, axis=i + 1)
            if axis == "nparameters":
                bodies = np.array([joint.body for joint in case.robot.joints])
                parameters = (10 * bodies[:, None] + np.arange(10)).ravel()
                result = np.take(result, parameters, axis=i + 1)
        out.append(result)
    return out


def mirrored(result: Array, name: str) -> Array:
    """The upper triangle of a symmetric matrix, mirrored."""
    if name not in SYMMETRIC:
        return result
    return np.triu(result) + np.swapaxes(np.triu(result, 1), -1, -2)


def _results(names: tuple[str, ...], data: Any, frame: int, given: Any) -> list[Array]:
    """What a function left in the data; without names, all that it gave."""
    if names:
        return [_result(name, data, frame, given) for name in names]
    return [np.array(x) for x in (given if isinstance(given, tuple) else (given,))]


def _result(name: str, data: Any, frame: int, given: Any) -> Array:
    """What a function gave, or left in the data."""
    if name.startswith("given"):
        return np.array(eval(name, {"given": given}))
    if name in ("rotation", "translation"):
        return np.array(getattr(data.oMf[frame], name))
    found = getattr(data, name)
    return np.array(found[0] if name.endswith("com") else found)  # of the whole robot
