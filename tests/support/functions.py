"""The one table of public functions that drives the tests which are the same for all of them."""

from __future__ import annotations

from dataclasses import replace

import functions_constraints
import functions_dynamics
import functions_frames
import functions_steps
import functions_time_derivatives
import pytest
from function import Function

from dtau.registry import FUNCTIONS as REGISTRY

PLAIN = [  # what needs no option and takes no stack of time derivatives: the row says all
    name
    for name, row in REGISTRY.items()
    if set(row.options) <= {"f_ext_axes", "layout", "coordinates"}
    and all(array.rows is None for array in row.inputs)
]
LETTERS = {"nq": "q", "nv": "v", "nbodies": "b", "nframes": "f"}
# Shapes of results that see positions (those about the center of mass: of trees among each other),
# and other functions that do.
IN_THE_WORLD = {("nq",), ("nbodies", 3), (6,), (6, "nv")}
SEE_POSITIONS = {"difference", "difference_jacobians", "center_of_mass", "potential_energy"}
# About its center of mass one body that slides has no momentum, wherever it is.
VANISH = {"centroidal_momentum_derivatives", "centroidal_momentum_rate_derivatives"}
TERMS = {"potential_energy": 10.0}  # J: of bodies above and below the origin, and of springs


def _row_of_registry(name: str) -> Function:
    row = REGISTRY[name]
    shapes = [result.axes for result in row.results]
    return Function(
        name,
        tuple(array.name for array in row.inputs if array.name != "parameters"),
        tuple(tuple(LETTERS.get(str(axis), axis) for axis in axes) for axes in shapes),
        solves=row.solves,
        sees_positions=name in SEE_POSITIONS or not IN_THE_WORLD.isdisjoint(shapes),
        vanishes=name in VANISH,
        terms=TERMS.get(name, 0.0),
    )


IN_BODY_AXES: tuple[Function, ...] = (
    *(_row_of_registry(name) for name in PLAIN),
    *functions_dynamics.FUNCTIONS,
    *functions_time_derivatives.FUNCTIONS,
    *functions_steps.FUNCTIONS,
    *functions_constraints.FUNCTIONS,
    *functions_frames.FUNCTIONS,
)


def _along_the_world(row: Function, axes: str) -> Function:
    return replace(
        row,
        options={**row.options, "f_ext_axes": axes},
        sees_positions=row.sees_positions or axes == "world",
        label=f"{row}, {axes} wrenches",
    )


FUNCTIONS = IN_BODY_AXES + tuple(
    _along_the_world(row, axes)
    for row in IN_BODY_AXES
    if "f_ext_axes" in REGISTRY[row.name].options and "no f_ext" not in row.label
    for axes in ("mixed", "world")
    if not row.name.endswith("time_derivatives")
    if axes == "mixed" or row.name.startswith("inverse_dynamics")
)

# Public functions without a row: of files; of no array; what is computed by others of these.
OTHERS = {
    "lqr",
    "from_mujoco",
    "from_pinocchio",
    "load",
    "load_mechanism",
    "load_motors",
    "neutral",
    "configuration",
    "random_state",
    "transfer_state",
    "pattern",
    "project",
    "equilibrium",
    "wrench_at_frame_derivatives",
    "frame_jacobians_rate",
    "kinetic_energy_regressor",
    "potential_energy_regressor",
    "momentum_regressor",
    "subtree_centers_of_mass",
    "set_result_cache_limit",
    "generate",
    "compile",
    "view",
}

everywhere = pytest.mark.parametrize("function", FUNCTIONS, ids=str)
# What only arrays and their memory matter to, whichever axes wrenches are along.
in_body_axes = pytest.mark.parametrize("function", IN_BODY_AXES, ids=str)


def function_named(name: str) -> Function:
    """The first row of a function."""
    return next(function for function in FUNCTIONS if function.name == name)
