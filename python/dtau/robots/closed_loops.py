"""Mechanisms with closed loops: `four_bar` linkage and `delta` robot."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtau.functions.manifold_states import configuration
from dtau.model.builder import ModelBuilder
from dtau.model.contact_kinds import Loop
from dtau.model.contacts import Contacts
from dtau.model.joints import Fixed, Free, Revolute, Universal
from dtau.model.mechanism import Mechanism
from dtau.model.pose import Pose
from dtau.model.spatial import Inertia
from dtau.support.arrays import Array

# ---------------------------------------------------------------- four-bar

_CRANK, _COUPLER, _ROCKER, _GROUND = 0.10, 0.30, 0.25, 0.30  # between the pins
_WIDTH, _THICKNESS, _ALUMINUM = 0.03, 0.01, 2700.0  # of flat bars
_CRANK_ANGLE = np.pi / 3.0


def four_bar(kp: float = 0.0, kd: float = 0.0) -> Mechanism:
    """Make a planar four-bar linkage: a crank that can turn fully, a coupler and a rocker.

    Pins are 0.1 m (crank), 0.3 m (coupler), 0.25 m (rocker) and 0.3 m (ground) apart, and the bars
    are flat aluminum. All motion is in the plane of x and z. A bar lies along its own axis x, at
    angle 0 along its parent's; angles increase from x to z.

    Parameters
    ----------
    kp, kd : float
        Gains of the loop's stabilization, in 1/s² and 1/s, see `dtau.Loop`.

    Returns
    -------
    Mechanism
        ``model``, of joints `crank` and `rocker` on the ground and `coupler` on the crank, 4
        velocities; ``contacts``, one loop of three rows between the frames `coupler_end` and
        `rocker_end`; ``q``, closed with the crank at 60 degrees. One velocity of four is free.

    Raises
    ------
    ValueError, TypeError
        If a gain is not a finite number of at least 0.

    Notes
    -----
    The coupler is connected to the crank by a universal joint and to the rocker by a ball joint;
    together they hold it in the plane without redundancy. Four hinges would be redundant: three of
    the five rows of the last hinge (along its axis, and both moments) depend on the other hinges,
    so that forces would need ``regularization=``. Motions, and forces in the plane, are the same.

    Examples
    --------
    The crank falls and moves the other bars:

    >>> import dtau, numpy as np
    >>> model, contacts, q = dtau.robots.four_bar()
    >>> still = np.zeros(model.nv)
    >>> result = dtau.constrained_dynamics(model, q, still, still, contacts)
    >>> ends = ["coupler_end", "rocker_end"]
    >>> a = dtau.frame_accelerations(model, q, still, result.a, ends, "mixed", kind="classical")
    >>> bool(np.allclose(a[0, :3], a[1, :3]))
    True
    """
    builder = ModelBuilder("four-bar")
    axis = (0, -1, 0)
    builder.add(Revolute(axis), name="crank", inertia=_bar(_CRANK))
    builder.add(
        Universal(axis, (0, 0, 1)),
        name="coupler",
        parent="crank",
        placement=Pose(translation=(_CRANK, 0, 0)),
        inertia=_bar(_COUPLER),
    )
    builder.add(
        Revolute(axis),
        name="rocker",
        placement=Pose(translation=(_GROUND, 0, 0)),
        inertia=_bar(_ROCKER),
    )
    for bar, length in (("coupler", _COUPLER), ("rocker", _ROCKER)):
        builder.add(
            Fixed(), name=f"{bar}_end", parent=bar, placement=Pose(translation=(length, 0, 0))
        )
    model = builder.build()

    pin = _CRANK * np.array([np.cos(_CRANK_ANGLE), np.sin(_CRANK_ANGLE)])
    to_ground = np.array([_GROUND, 0.0]) - pin
    # triangle of coupler, rocker and the line between their first pins
    d = float(np.linalg.norm(to_ground))
    at_pin = np.arccos((d**2 + _COUPLER**2 - _ROCKER**2) / (2.0 * d * _COUPLER))
    coupler = np.arctan2(to_ground[1], to_ground[0]) + at_pin
    end = pin + _COUPLER * np.array([np.cos(coupler), np.sin(coupler)])
    q = configuration(
        model,
        {
            "crank": _CRANK_ANGLE,
            "coupler": (coupler - _CRANK_ANGLE, 0.0),
            "rocker": np.arctan2(end[1], end[0] - _GROUND),
        },
    )
    loop = Loop("coupler_end", "rocker_end", rows=3, kp=kp, kd=kd, name="pin")
    return Mechanism(model, Contacts(model, [loop]), q)


def _bar(length: float) -> Inertia:
    """Return the inertia of a flat bar along x from the origin."""
    mass = _ALUMINUM * length * _WIDTH * _THICKNESS
    squares = np.array([length, _THICKNESS, _WIDTH]) ** 2
    return Inertia(mass, (0.5 * length, 0, 0), np.diag(mass / 12.0 * (squares.sum() - squares)))


# ---------------------------------------------------------------- Delta

_BASE_RADIUS, _ARM, _ROD, _PLATFORM_RADIUS = 0.200, 0.235, 0.800, 0.060
_HALF_WIDTH = 0.040  # half the width of the parallelograms
_ARM_INERTIA = Inertia(0.40, (0.09, 0, 0), np.diag([3e-4, 2.2e-3, 2.2e-3]))
_ROD_INERTIA = Inertia(0.08, (0, 0, -0.5 * _ROD), np.diag([4.3e-3, 4.3e-3, 4e-6]))  # a tube
_PLATFORM_INERTIA = Inertia(0.35, (0, 0, -0.01), np.diag([4e-4, 4e-4, 7e-4]))
_ARM_ANGLE = 0.4  # below the horizontal, at home
_SIDES = {"a": _HALF_WIDTH, "b": -_HALF_WIDTH}


def delta(kp: float = 0.0, kd: float = 0.0) -> Mechanism:
    """Make a Delta robot: three arms and three parallelograms that carry a platform.

    It has the size of an industrial robot: the arms' axes are 0.2 m from the center, arms are 0.235
    m and rods 0.8 m long. At angle 0 an arm is horizontal; its angle increases downwards. The
    platform does not rotate.

    Parameters
    ----------
    kp, kd : float
        Gains of the loops' stabilization, in 1/s² and 1/s, see `dtau.Loop`.

    Returns
    -------
    Mechanism
        ``model``: `arm1`, `arm2`, `arm3`, each with its parallelogram of two rods, `rod1a` and
        `rod1b` and so on, and the `platform`, whose joint is free, so that q has its pose; 21
        velocities. ``contacts``: six loops of three rows, `rod1a` to `rod3b`, where rods end on the
        platform. ``q``: closed, the arms 0.4 rad below the horizontal. Three velocities of 21 are
        free.

    Raises
    ------
    ValueError, TypeError
        If a gain is not a finite number of at least 0.

    Notes
    -----
    In real Delta robots a rod has ball joints at both ends and can spin about its axis. Here a
    universal joint connects a rod to its arm, first about the arm's axis and then across, which
    permits the same motion without the spin. So the mass matrix is far from singular, and no row
    depends on others, unless all rods of two parallelograms lie in a plane. No ``regularization=``
    is needed.

    Examples
    --------
    Torques of the three motors that hold the platform:

    >>> import dtau, numpy as np
    >>> model, contacts, q = dtau.robots.delta()
    >>> motors = np.zeros(model.nv, dtype=bool)
    >>> for arm in ("arm1", "arm2", "arm3"):
    ...     motors[model.joint(arm).v] = True
    >>> still = np.zeros(model.nv)
    >>> hold = dtau.constrained_inverse_dynamics(model, q, still, still, contacts, inputs=motors)
    >>> print(hold.tau[motors].round(3))
    [-1.001 -1.001 -1.001]
    """
    builder = ModelBuilder("Delta")
    drop = np.sqrt(_ROD**2 - (_BASE_RADIUS + _ARM * np.cos(_ARM_ANGLE) - _PLATFORM_RADIUS) ** 2)
    height = -_ARM * np.sin(_ARM_ANGLE) - drop
    lean = np.arctan2(_BASE_RADIUS + _ARM * np.cos(_ARM_ANGLE) - _PLATFORM_RADIUS, drop)
    home: dict[str, ArrayLike | Pose] = {"platform": Pose(translation=(0, 0, height))}
    loops = []
    ends: dict[str, Array] = {}
    for k in range(3):
        out = Pose.from_rpy((0, 0, 2.0 * np.pi * k / 3.0))
        arm = builder.add(
            Revolute((0, 1, 0)),
            name=f"arm{k + 1}",
            placement=out @ Pose(translation=(_BASE_RADIUS, 0, 0)),
            inertia=_ARM_INERTIA,
        )
        home[arm] = _ARM_ANGLE
        for side, y in _SIDES.items():
            rod = builder.add(
                Universal((0, 1, 0), (1, 0, 0)),
                name=f"rod{k + 1}{side}",
                parent=arm,
                placement=Pose(translation=(_ARM, y, 0)),
                inertia=_ROD_INERTIA,
            )
            home[rod] = (lean - _ARM_ANGLE, 0.0)
            tip = Pose(translation=(0, 0, -_ROD))
            builder.add(Fixed(), name=f"{rod}_end", parent=rod, placement=tip)
            ends[rod] = (out @ Pose(translation=(_PLATFORM_RADIUS, y, 0))).translation
    builder.add(Free(), name="platform", inertia=_PLATFORM_INERTIA)
    for rod, place in ends.items():
        ball = builder.add(
            Fixed(), name=f"{rod}_ball", parent="platform", placement=Pose(translation=place)
        )
        loops.append(Loop(f"{rod}_end", ball, rows=3, kp=kp, kd=kd, name=rod))
    model = builder.build()
    return Mechanism(model, Contacts(model, loops), configuration(model, home))
