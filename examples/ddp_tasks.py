"""Two tasks for ddp.py: an arm that swings up, and a quadruped that rights itself in free fall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import dtau


@dataclass(frozen=True)
class Task:
    """From rest at `start` to rest at `goal`, with half of this as the cost.

        h (input_cost |u|² + way_cost . x²) at each step of h seconds + end_cost . x² at the end

    with x = [difference(goal, q), v] and torques tau = drive @ u.
    """

    title: str
    model: dtau.Model
    step: float
    start: np.ndarray
    goal: np.ndarray
    drive: np.ndarray
    guess: np.ndarray  # a row of u for each step
    input_cost: float
    way_cost: np.ndarray
    end_cost: np.ndarray


def arm() -> Task:
    """A 7-axis arm of 1.2 m and 17 kg swings up in 1.2 s; at first it holds where it starts."""
    builder = dtau.ModelBuilder("arm")
    parent, end = None, 0.0
    lengths, masses = (0.2, 0.15, 0.25, 0.15, 0.25, 0.1, 0.1), (4.0, 3.5, 3.0, 2.5, 2.0, 1.0, 0.7)
    for i, (length, mass) in enumerate(zip(lengths, masses, strict=True)):
        across = mass * length**2 / 12 + 2e-3
        parent = builder.add(
            dtau.Revolute(axis=(0, 1, 0) if i % 2 else (0, 0, 1)),
            name=f"axis{i + 1}",
            parent=parent,
            placement=dtau.Pose(translation=(0, 0, end)),
            inertia=dtau.Inertia(mass, (0.02, 0.01, 0.5 * length), np.diag([across, across, 2e-3])),
            armature=0.1,
            damping=0.5,
        )
        end = length
    model = builder.build()
    start = np.array([0.0, 2.6, 0.0, 0.4, 0.0, 0.3, 0.0])
    return Task(
        title="a 7-axis arm swings up",
        model=model,
        step=0.02,
        start=start,
        goal=np.array([1.0, 0.0, 0.5, 0.0, 0.5, 0.0, 0.0]),
        drive=np.eye(7),
        guess=np.tile(dtau.gravity_torque(model, start), (60, 1)),
        input_cost=0.01,
        way_cost=np.zeros(14),
        end_cost=np.repeat([100.0, 10.0], 7),
    )


def quadruped() -> Task:
    """A quadruped falls with a roll of 80 degrees and turns upright in 0.6 s by its legs alone.

    Its angular momentum remains zero, as a falling cat's does. Limits of joints are left out.
    """
    model = dtau.robots.quadruped()
    legs = np.tile([0.0, 0.5, -1.0], 4)
    half = np.deg2rad(80.0) / 2
    position, turning, joints = np.repeat([0, 1, 2], [3, 3, 12]) == np.arange(3)[:, None]
    return Task(
        title="a quadruped rights itself in free fall",
        model=model,
        step=0.01,
        start=np.concatenate([[0, 0, 0, np.sin(half), 0, 0, np.cos(half)], legs]),
        goal=np.concatenate([[0, 0, 0, 0, 0, 0, 1], legs]),
        drive=np.eye(18)[:, 6:],
        guess=np.zeros((60, 12)),
        input_cost=0.01,
        way_cost=np.concatenate([0.5 * joints, np.zeros(18)]),
        end_cost=np.concatenate([100.0 * turning + 10.0 * joints, 1.0 - position]),
    )
