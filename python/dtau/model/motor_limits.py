"""Limits of motors, and their affine law at a limit: `law_at_inputs`, `law_at_forces`."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from dtau.support.arrays import Array

_CONSTANT = np.array([1.0, 0.0, 0.0])  # the place of a constant in a bias


class Limited(Protocol):
    """The law and the limits of `dtau.Motors`."""

    gain: Array
    bias: Array
    input_limits: Array
    force_limits: Array
    stall_force: Array
    no_load_speed: Array


def range_at(motors: Limited, speeds: Array) -> tuple[Array, Array]:
    """Return the least and largest force of each motor at its speed, (..., nu) each."""
    share = speeds / motors.no_load_speed  # of the speed without load
    with np.errstate(invalid="ignore"):  # no line: infinity times a share of 0 to 1
        least, largest = -motors.stall_force * (1.0 + share), motors.stall_force * (1.0 - share)
    least = np.where(np.isinf(motors.stall_force), -np.inf, least)
    largest = np.where(np.isinf(motors.stall_force), np.inf, largest)
    return np.maximum(least, motors.force_limits[:, 0]), np.minimum(
        largest, motors.force_limits[:, 1]
    )


def law_at_inputs(motors: Limited, u: Array) -> tuple[Array, Array]:
    """Return gain and bias near inputs u, of which those beyond their limits are at the limit."""
    within = np.clip(u, motors.input_limits[:, 0], motors.input_limits[:, 1])
    held = within != u
    fixed = np.where(held, motors.gain * within, 0.0)[..., np.newaxis]
    return np.where(held, 0.0, motors.gain), motors.bias + fixed * _CONSTANT


def law_at_forces(motors: Limited, force: Array, ends: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return gain and bias near these forces, of which those beyond `ends` are at the end.

    `ends` are the least and the largest forces: constant, or on the torque-speed line.
    """
    (least, largest), limits = ends, motors.force_limits
    gain, bias = motors.gain, motors.bias
    stall = np.where(np.isfinite(motors.stall_force), motors.stall_force, 0.0)
    for beyond, end, limit, side in (
        (force < least, least, limits[:, 0], -1.0),
        (np.maximum(force, least) > largest, largest, limits[:, 1], 1.0),
    ):
        line = np.stack([side * stall, 0.0 * stall, -stall / motors.no_load_speed], axis=-1)
        constant = np.where(np.isfinite(limit), limit, 0.0)[:, np.newaxis] * _CONSTANT
        at_end = np.where((end != limit)[..., np.newaxis], line, constant)
        bias = np.where(beyond[..., np.newaxis], at_end, bias)
        gain = np.where(beyond, 0.0, gain)
    return gain, bias
