"""Rows of the table of functions: frames."""

from __future__ import annotations

from cases import ROWS
from function import FRAME_AXES, KINDS_OF_ACCELERATION, Function

import dtau


def _all_frames(model: dtau.Model) -> list[str]:
    return list(model.frames)


def _last_frame(model: dtau.Model) -> str:
    return str(model.bodies[-1])


FUNCTIONS: tuple[Function, ...] = (
    Function(
        "frame_placements",
        ("q",),
        (("f", 3, 3), ("f", 3)),
        {"frames": _all_frames},
        sees_positions=True,
    ),
    *(
        Function(
            "frame_jacobians",
            ("q",),
            (("f", 6, "v"),),
            {"frames": _all_frames, "axes": axes},
            sees_positions=axes == "world",
            label=f"frame_jacobians {axes}",
        )
        for axes in FRAME_AXES
    ),
    Function(
        "frame_errors",
        ("q", "targets"),
        (("f", 6), ("f", 6, "v")),
        {"frames": _all_frames},
        sees_positions=True,
    ),
    *(
        Function(
            "frame_jacobians_derivatives",
            ("q",),
            (("f", 6, "v", "v"),),
            {"frames": _all_frames, "axes": axes, "symmetric": axes == "mixed"},
            sees_positions=axes == "world",
            terms=1.0,
            label=f"frame_jacobians_derivatives {axes}",
        )
        for axes in FRAME_AXES
    ),
    *(
        Function(
            name,
            ("q", "v"),
            results,
            {"frames": _all_frames, "axes": axes},
            sees_positions=axes == "world",
            label=f"{name} {axes}",
        )
        for name, results in (
            ("frame_velocities", (("f", 6),)),
            ("frame_velocities_derivatives", (("f", 6, "v"),) * 2),
        )
        for axes in FRAME_AXES
    ),
    *(
        Function(
            name,
            ("q", "v", "a"),
            results,
            {"frames": _all_frames, "axes": axes, "kind": kind},
            sees_positions=axes == "world",
            label=f"{name} {kind} {axes}",
        )
        for name, results in (
            ("frame_accelerations", (("f", 6),)),
            ("frame_accelerations_derivatives", (("f", 6, "v"),) * 3),
        )
        for axes in FRAME_AXES
        for kind in KINDS_OF_ACCELERATION
    ),
    *(
        Function(
            "frame_kinematics_time_derivatives",
            ("q", "v_derivatives"),
            ((ROWS + 2, "f", 3, 3), (ROWS + 2, "f", 3), (ROWS + 1, "f", 6)),
            {"frames": _all_frames, "axes": axes},
            sees_positions=True,
            label=f"frame_kinematics_time_derivatives {axes}",
        )
        for axes in FRAME_AXES
    ),
    *(
        Function(
            "frame_jacobians_time_derivatives",
            ("q", "v_derivatives"),
            ((ROWS + 2, "f", 6, "v"),),
            {"frames": _all_frames, "axes": axes},
            sees_positions=axes == "world",
            label=f"frame_jacobians_time_derivatives {axes}",
        )
        for axes in FRAME_AXES
    ),
    *(
        Function(
            "wrench_at_frame",
            ("q", "wrench"),
            (("b", 6),),
            {"frame": _last_frame, "axes": axes},
            sees_positions=axes == "world",
            label=f"wrench_at_frame {axes}",
        )
        for axes in FRAME_AXES
    ),
)
