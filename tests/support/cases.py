"""One table of robots, functions and tolerances that drives the tests, and how to compare.

Everything is compared element by element; a failure prints the worst element's index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from trees import MOVING, Array, Tree, grow, kind_of, random_quaternion, random_tree

import dtau
from dtau.functions import control_inputs, hybrid, kinematics

State = dict[str, Array]
EPS = float(np.finfo(float).eps)

# What each comparison may be off by, relative to the largest element of the array.
TOLERANCE = {
    "identity": 1e-12,  # two ways of the package to the same number
    "newton_euler": 1e-12,
    "complex_step": 1e-12,
    "residual": 1e-13,  # of the linear equation that forward derivatives solve
    "oracle": 1e-11,
    "second oracle": 1e-9,
    "pinocchio": 1e-10,
}


def solved(tolerance: float, mass_matrix: Array) -> float:
    """What a result that solves with the mass matrix may be off by."""
    return float(max(tolerance, 100.0 * EPS * np.linalg.cond(mass_matrix)))


# Robots


def serial(*kinds: str, seed: int = 1) -> Tree:
    return grow(kinds, range(-1, len(kinds) - 1), seed)


TREES: dict[str, Tree] = {
    **{f"one {kind}": serial(kind, seed=3) for kind in MOVING},
    "every joint in a chain": serial("fixed", *MOVING, "fixed", *MOVING[::-1], seed=5),
    "free root, branches": grow(
        ["free", "revolute", "spherical", "fixed", "helical", "prismatic", "revolute", "revolute"],
        [-1, 0, 1, 1, 3, 0, 5, 0],
        seed=7,
    ),
    "forest": grow(
        ["revolute", "free", "spherical", "prismatic", "revolute", "free", "fixed", "helical"],
        [-1, -1, 0, 1, 3, 2, -1, 6],
        seed=11,
    ),
    "children listed late": grow(
        ["revolute", "prismatic", "spherical", "revolute", "helical", "revolute", "revolute"],
        [-1, 0, 0, 1, 2, 1, 4],
        seed=13,
    ),
    "long chain": serial(*["revolute"] * 12, seed=17),
    "random tree": random_tree(19, bodies=15),
}


@cache
def robot(name: str) -> dtau.Model:
    """The model of a row of `TREES`, or one that the package carries."""
    if name == "quadruped":
        return dtau.robots.quadruped()
    if name == "joints that mimic others":
        return GRIPPERS.model(MIMICS)
    return TREES[name].model()


# Followers before and after what they follow, in the same branch and in others.
GRIPPERS = grow(
    ["free", "revolute", "prismatic", "universal", "helical", "revolute", "prismatic", "revolute"],
    [-1, 0, 1, 0, 3, 4, -1, 6],
    seed=23,
)
MIMICS = {
    "revolute1": dtau.Mimic("helical4", -0.7, 0.2),
    "prismatic2": dtau.Mimic("revolute5", 0.3),
    "prismatic6": dtau.Mimic("helical4", 0.5, -0.1),
}

ROBOTS = (*TREES, "quadruped", "joints that mimic others")


# States


def random_q(model: dtau.Model, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> Array:
    q = rng.uniform(-2.0, 2.0, (*shape, model.nq))
    for joint in model.joints:
        start = kind_of(joint.type).quaternion
        if start is not None:
            at = slice(joint.q.start + start, joint.q.start + start + 4)
            q[..., at] = random_quaternion(rng, shape)
    return q


ROWS = 3  # of stacks of time derivatives: orders 0, 1, 2


def random_state(model: dtau.Model, seed: int, shape: tuple[int, ...] = ()) -> State:
    """Every array that some function takes, by the name of the argument."""
    rng = np.random.default_rng(seed)
    state = {name: random_q(model, rng, shape) for name in ("q", "q0", "q1")}
    for name in ("v", "a", "tau", "dq"):
        state[name] = rng.uniform(-1.5, 1.5, (*shape, model.nv))
    state["f_ext"] = rng.uniform(-5.0, 5.0, (*shape, model.nbodies, 6))
    state["wrench"] = rng.uniform(-5.0, 5.0, (*shape, 6))
    for name in ("dv", "da", "dtau", "lam"):
        state[name] = rng.uniform(-1.5, 1.5, (*shape, model.nv))
    state["df_ext"] = rng.uniform(-5.0, 5.0, (*shape, model.nbodies, 6))
    for name, rows in (("v", ROWS + 1), ("a", ROWS), ("tau", ROWS)):
        state[f"{name}_derivatives"] = rng.uniform(-1.5, 1.5, (*shape, rows, model.nv))
    state["f_ext_derivatives"] = rng.uniform(-5.0, 5.0, (*shape, ROWS, model.nbodies, 6))
    for name in ("lam_q", "lam_v"):
        state[name] = rng.uniform(-1.5, 1.5, (*shape, model.nv))
    state["dt"] = np.asarray(rng.uniform(0.005, 0.05, shape))
    return state


# Functions


@dataclass(frozen=True)
class Function:
    """A public function, as the tests that are the same for all of them see it."""

    name: str
    arguments: tuple[str, ...]
    results: tuple[tuple[str | int, ...], ...]  # trailing axes, in the letters of `sizes`
    options: Mapping[str, Callable[[dtau.Model], Any]] = field(default_factory=dict)
    solves: bool = False  # needs every joint to carry inertia
    sees_positions: bool = False  # changes when a free base moves
    omitted: int = 0  # optional arrays that are not given
    flags: tuple[bool, ...] = ()  # what the core takes after the arrays
    core_name: str = ""  # where it is another one
    label: str = ""

    def __str__(self) -> str:
        return self.label or self.name

    def __call__(self, model: dtau.Model, state: State, **more: Any) -> tuple[Array, ...]:
        """The function's results as a tuple, whether it returns one array or several."""
        out = self.returned(model, state, **more)
        return tuple(out) if isinstance(out, tuple) else (out,)

    def returned(self, model: dtau.Model, state: State, **more: Any) -> Any:
        """What the function itself returns; `more` may be `out` and `threads`."""
        arrays = {name: state[name] for name in self.arguments}
        options = {name: option(model) for name, option in self.options.items()}
        return getattr(dtau, self.name)(model, **arrays, **options, **more)

    def in_core(self, module: Any, model: dtau.Model, state: State) -> tuple[Array, ...]:
        """The results of the function of this name in `dtau._core` or in one of its modules."""
        options = {name: option(model) for name, option in self.options.items()}
        frames: list[Any] = []
        for name in ("frames", "frame"):
            if name in options:
                frames.extend(kinematics._frame_arrays(model, options[name]))
        if "prescribed" in options:
            frames.append(hybrid._mask(model, options["prescribed"]))
        if "axes" in options:
            frames.append(kinematics._axes_code(options["axes"]))
        if "integrator" in options:
            frames.append(options["integrator"])
        if self.name.startswith("linearize"):
            frames.append(control_inputs.checked_inputs(model, options.get("inputs")))
        arrays = [*(state[name] for name in self.arguments), *[None] * self.omitted]
        out = getattr(module, self.core_name or self.name)(model, *frames, *arrays, *self.flags)
        return tuple(out) if isinstance(out, tuple) else (out,)

    def shapes(self, model: dtau.Model, batch: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
        sizes = {
            "q": model.nq,
            "v": model.nv,
            "b": model.nbodies,
            "f": len(model.frames),
            "p": dtau.packed_indices(model).shape[1],
            "z": 2 * model.nv,
            "u": len(actuated(model)),
        }
        return [
            batch + tuple(sizes[n] if isinstance(n, str) else n for n in axes)
            for axes in self.results
        ]


def actuated(model: dtau.Model) -> list[int]:
    """Where the velocities of all joints but free roots are."""
    joints = (j for j in model.joints if j.mimic is None)
    kept = (j for j in joints if not (isinstance(j.type, dtau.Free) and j.parent < 0))
    return [k for joint in kept for k in range(joint.v.start, joint.v.stop)]


def two_inputs(model: dtau.Model) -> Array:
    """A map from two inputs to all torques."""
    return np.cos(np.arange(2.0 * model.nv)).reshape(model.nv, 2)


def _integrator(name: str) -> Callable[[dtau.Model], str]:
    return lambda model: name


def _all_frames(model: dtau.Model) -> list[str]:
    return list(model.frames)


def _last_frame(model: dtau.Model) -> str:
    return str(model.bodies[-1])


def _axes(axes: str) -> Callable[[dtau.Model], str]:
    return lambda model: axes


def _true(model: dtau.Model) -> bool:
    return True


_V, _VV, _VVV = ("v",), ("v", "v"), ("v", "v", "v")


def _first_joint_of_several(model: dtau.Model) -> list[str]:
    return [joint.name for joint in model.joints[:1]] if len(model.joints) > 1 else []


_PRESCRIBED = {"prescribed": _first_joint_of_several}
FRAME_AXES = ("body", "world", "mixed")
INTEGRATORS = ("euler", "semi_implicit", "rk4")

FUNCTIONS: tuple[Function, ...] = (
    Function("inverse_dynamics", ("q", "v", "a", "f_ext"), (_V,)),
    Function("forward_dynamics", ("q", "v", "tau", "f_ext"), (_V,), solves=True),
    Function("mass_matrix", ("q",), (_VV,)),
    Function("mass_matrix_inverse", ("q",), (_VV,), solves=True),
    Function("coriolis_matrix", ("q", "v"), (_VV,)),
    Function("bias_torque", ("q", "v", "f_ext"), (_V,)),
    Function("gravity_torque", ("q",), (_V,)),
    Function("inverse_dynamics_derivatives", ("q", "v", "a", "f_ext"), (_VV, _VV, _VV)),
    Function(
        "forward_dynamics_derivatives", ("q", "v", "tau", "f_ext"), (_VV, _VV, _VV), solves=True
    ),
    Function("inverse_dynamics_jvp", ("q", "v", "a", "dq", "dv", "da", "f_ext", "df_ext"), (_V,)),
    Function(
        "forward_dynamics_jvp",
        ("q", "v", "tau", "dq", "dv", "dtau", "f_ext", "df_ext"),
        (_V,),
        solves=True,
    ),
    Function("inverse_dynamics_vjp", ("q", "v", "a", "lam", "f_ext"), (_V, _V, _V, ("b", 6))),
    Function(
        "forward_dynamics_vjp",
        ("q", "v", "tau", "lam", "f_ext"),
        (_V, _V, _V, ("b", 6)),
        solves=True,
    ),
    Function(
        "inverse_dynamics_vjp",
        ("q", "v", "a", "lam"),
        (_V, _V, _V),
        omitted=1,
        label="inverse_dynamics_vjp, no f_ext",
    ),
    Function(
        "forward_dynamics_vjp",
        ("q", "v", "tau", "lam"),
        (_V, _V, _V),
        solves=True,
        omitted=1,
        label="forward_dynamics_vjp, no f_ext",
    ),
    Function(
        "inverse_dynamics_hessian", ("q", "v", "a", "lam", "f_ext"), (_VV,) * 4, flags=(False,)
    ),
    Function(
        "forward_dynamics_hessian",
        ("q", "v", "tau", "lam", "f_ext"),
        (_VV,) * 4,
        solves=True,
        flags=(False,),
    ),
    Function(
        "inverse_dynamics_second_derivatives",
        ("q", "v", "a", "f_ext"),
        (_VVV,) * 4,
        flags=(False,),
    ),
    Function(
        "inverse_dynamics_second_derivatives",
        ("q", "v", "a", "f_ext"),
        (("p",),) * 4,
        {"packed": _true, "symmetric": _true},
        flags=(True,),
        core_name="inverse_dynamics_second_derivatives_packed",
        label="inverse_dynamics_second_derivatives packed, symmetric",
    ),
    Function(
        "forward_dynamics_second_derivatives",
        ("q", "v", "tau", "f_ext"),
        (_VVV,) * 4,
        solves=True,
        flags=(False,),
    ),
    Function(
        "hybrid_dynamics", ("q", "v", "a", "tau", "f_ext"), (_V, _V), _PRESCRIBED, solves=True
    ),
    Function(
        "inverse_dynamics_time_derivatives",
        ("q", "v_derivatives", "f_ext_derivatives"),
        ((ROWS, "v"),),
    ),
    Function(
        "forward_dynamics_time_derivatives",
        ("q", "v", "tau_derivatives", "f_ext_derivatives"),
        ((ROWS, "v"),),
        solves=True,
    ),
    Function(
        "hybrid_dynamics_time_derivatives",
        ("q", "v", "a_derivatives", "tau_derivatives", "f_ext_derivatives"),
        ((ROWS, "v"), (ROWS, "v")),
        _PRESCRIBED,
        solves=True,
    ),
    Function("mass_matrix_time_derivatives", ("q", "v_derivatives"), ((ROWS + 2, "v", "v"),)),
    Function("coriolis_matrix_time_derivatives", ("q", "v_derivatives"), ((ROWS + 1, "v", "v"),)),
    Function("gravity_torque_time_derivatives", ("q", "v_derivatives"), ((ROWS + 2, "v"),)),
    Function("bias_torque_time_derivatives", ("q", "v_derivatives"), ((ROWS + 1, "v"),), omitted=1),
    Function(
        "kinematics_time_derivatives",
        ("q", "v_derivatives"),
        ((ROWS + 2, "b", 3, 3), (ROWS + 2, "b", 3), (ROWS + 1, "b", 6)),
        sees_positions=True,
    ),
    Function(
        "linearize",
        ("q", "v", "tau", "f_ext"),
        (("z", "z"), ("z", "u"), _V),
        solves=True,
    ),
    Function(
        "linearize",
        ("q", "v", "tau", "f_ext"),
        (("z", "z"), ("z", 2), _V),
        {"inputs": two_inputs},
        solves=True,
        label="linearize, two inputs",
    ),
    *(
        Function(
            "linearize_discrete",
            ("q", "v", "tau", "dt", "f_ext"),
            (("z", "z"), ("z", "u"), ("q",), _V),
            {"integrator": _integrator(integrator)},
            solves=True,
            sees_positions=True,
            label=f"linearize_discrete {integrator}",
        )
        for integrator in INTEGRATORS
    ),
    *(
        Function(
            "step",
            ("q", "v", "tau", "dt", "f_ext"),
            (("q",), _V),
            {"integrator": _integrator(integrator)},
            solves=True,
            sees_positions=True,
            label=f"step {integrator}",
        )
        for integrator in INTEGRATORS
    ),
    *(
        Function(
            "step_vjp",
            ("q", "v", "tau", "dt", "lam_q", "lam_v", "f_ext"),
            (_V, _V, _V, ("b", 6)),
            {"integrator": _integrator(integrator)},
            solves=True,
            label=f"step_vjp {integrator}",
        )
        for integrator in INTEGRATORS
    ),
    Function(
        "step_vjp",
        ("q", "v", "tau", "dt", "lam_q", "lam_v"),
        (_V, _V, _V),
        {"integrator": _integrator("rk4")},
        solves=True,
        omitted=1,
        label="step_vjp rk4, no f_ext",
    ),
    Function("forward_kinematics", ("q",), (("b", 3, 3), ("b", 3)), sees_positions=True),
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
            {"frames": _all_frames, "axes": _axes(axes)},
            sees_positions=axes == "world",
            label=f"frame_jacobians {axes}",
        )
        for axes in FRAME_AXES
    ),
    *(
        Function(
            "wrench_at_frame",
            ("q", "wrench"),
            (("b", 6),),
            {"frame": _last_frame, "axes": _axes(axes)},
            sees_positions=axes == "world",
            label=f"wrench_at_frame {axes}",
        )
        for axes in FRAME_AXES
    ),
    Function("integrate", ("q", "dq"), (("q",),), sees_positions=True),
    Function("difference", ("q0", "q1"), (_V,), sees_positions=True),
    Function("normalize", ("q",), (("q",),), sees_positions=True),
)


# Comparisons


def _worst(bad: Array, error: Array) -> tuple[int, ...]:
    rank = np.where(bad, np.where(np.isnan(error), np.inf, error), -1.0)
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(rank)), rank.shape))


def assert_close(
    got: Any, want: Any, tolerance: float, what: str = "result", *, floor: float = 0.0
) -> None:
    """Every element of `got` is `want`'s within `tolerance` of the largest of `want`.

    `floor` is the least that counts as the largest: an array that vanishes for physical reasons
    comes out as rounding errors of the terms that cancel.
    """
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == np.float64, f"{what}: dtype {got.dtype}, expected float64"
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    assert np.isfinite(want).all(), f"{what}: the expected value is not finite"
    if want.size == 0:
        return
    scale = max(float(np.abs(want).max()), floor)
    error = np.abs(got - want)
    bad = ~(error <= tolerance * scale)  # true for NaN
    if bad.any():
        at = _worst(bad, error)
        raise AssertionError(
            f"{what}{list(at)}: {got[at]!r}, expected {want[at]!r}; "
            f"they differ by {error[at]:.3e}, allowed {tolerance * scale:.3e} "
            f"({tolerance:.1e} of the largest, {scale:.3e}); "
            f"{int(bad.sum())} of {bad.size} elements are off"
        )


def assert_same_bits(got: Any, want: Any, what: str = "result") -> None:
    """Both arrays hold the same floating-point numbers (any NaN equals any other)."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype == np.float64, f"{what}: dtypes {got.dtype}, {want.dtype}"
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    got, want = np.ascontiguousarray(got), np.ascontiguousarray(want)
    bits = got.view(np.uint64) != want.view(np.uint64)
    bad = bits & ~(np.isnan(got) & np.isnan(want))
    if bad.any():
        at = _worst(bad, np.abs(got - want))
        raise AssertionError(
            f"{what}{list(at)}: {float(got[at]).hex()}, expected the bits of "
            f"{float(want[at]).hex()} ({got[at]!r}, {want[at]!r}; "
            f"{int(bad.sum())} of {bad.size} elements differ)"
        )


def assert_same_results(got: Sequence[Any], want: Sequence[Any], what: str = "result") -> None:
    """All results of a function hold the same floating-point numbers."""
    assert len(got) == len(want)
    for i, (x, y) in enumerate(zip(got, want, strict=True)):
        assert_same_bits(x, y, f"{what} {i}")


def rows(state: State, at: int | slice | Array) -> State:
    """A part of a batch of states."""
    return {name: x[at] for name, x in state.items()}
