"""Example robots: `quadruped`, `four_bar`, `delta` and others, and chains of any size."""

from __future__ import annotations

from pathlib import Path

from dtau.loaders.load import load
from dtau.model.model import Model
from dtau.robots.aerial import aerial_manipulator
from dtau.robots.closed_loops import delta, four_bar
from dtau.robots.generated import chain
from dtau.robots.moving_base import moving_base_tree

__all__ = [
    "QUADRUPED_FEET", "aerial_manipulator", "chain", "delta", "four_bar", "moving_base_tree",
    "quadruped",
]  # fmt: skip

#: Frames of the feet of `quadruped`, left and right in front, left and right behind.
QUADRUPED_FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")

_FOLDER = Path(__file__).parent


def quadruped() -> Model:
    """Load a quadruped of ANYmal's size: a free base and four legs of three revolute joints.

    Legs are LF, RF, LH, RH (left and right, fore and hind), joints HAA, HFE, KFE (hip abduction,
    hip flexion, knee flexion). The feet `LF_FOOT`, ... (all: `dtau.robots.QUADRUPED_FEET`) and
    `IMU` are fixed frames.

    Returns
    -------
    Model
        19 coordinates, 18 velocities, 13 bodies, 30.4 kg.

    Examples
    --------
    >>> import dtau
    >>> dtau.robots.quadruped()
    <Model 'quadruped': 13 bodies, nq = 19, nv = 18>
    """
    return load(_FOLDER / "quadruped.urdf", root="free")
