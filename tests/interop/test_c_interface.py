"""The C interface through ctypes: functions have the bits of Python's, mistakes give a sentence."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import c_interface
import cases
import numpy as np
import pytest
from c_interface import CFunction, CModel, DtauError
from function import Function
from functions import FUNCTIONS
from processes import python

import dtau
from dtau import _core, poses, rotations
from dtau.model import saving
from dtau.registry import FUNCTIONS as REGISTRY
from dtau.registry import POSE_FUNCTIONS, arrays_of

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="the package has no C++ library on Windows"
)

READ = (  # arrays beside the core's
    *("name", "gravity", "links.name", "links.joint_name", "links.joint", "links.mimicked"),
    *("links.lower", "links.upper", "links.velocity", "links.effort"),
)
FOOT = "point; frame=LF_FOOT"
PLACED = dtau.Pose(translation=(0.2, 0.1, 0.4))
STATES = 19  # whole groups of lanes, and an incomplete one
INVALID_ARGUMENT, INVALID_FILE = 1, 2


@cache
def model_of(name: str, folder: Path) -> CModel:
    path = folder / f"{name}.dtau"
    cases.robot(name).save(path)
    return CModel(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


def contact_text(contact: Any) -> str:
    """Write a contact or loop as the C interface takes it."""

    def numbers(*arrays: Any) -> str:
        return " ".join(repr(float(x)) for array in arrays for x in np.ravel(array))

    kinds = {dtau.PointContact: "point", dtau.FrameContact: "frame", dtau.Loop: "loop"}
    text = kinds[type(contact)]
    for name, value in vars(contact).items():
        if name == "name" or value is None:
            continue
        if isinstance(value, dtau.Pose):
            value = numbers(value.rotation, value.translation)
        text += f"; {name}={numbers(value) if isinstance(value, tuple) else value}"
    return text


def arguments(row: Function, model: dtau.Model, state: cases.State) -> Iterator[str]:
    """Write the options of a row as the C interface takes them."""
    options = row.options_for(model)
    known = REGISTRY[row.name].options
    if "order" in known and "order" not in options:
        stacks = {x.name: x.rows for x in REGISTRY[row.name].inputs if x.rows is not None}
        rows = {name: state[name].shape[1] for name in stacks if name in row.arguments}
        yield f"order={min(rows[name] - stacks[name] for name in rows)}"
    for name, value in options.items():
        if name == "contacts":
            yield from (f"contacts={contact_text(contact)}" for contact in value)
        elif name in ("frame", "frames"):
            for frame in [value] if isinstance(value, str) else value:
                yield f"frames={frame}"
        elif name in ("prescribed", "inputs"):
            mask = np.zeros(model.nv, dtype=int)
            if isinstance(value, np.ndarray):
                mask[:] = value
            else:
                for joint in value:
                    mask[model.joint(joint).v] = 1
            yield f"{name}={''.join(map(str, mask))}"
        elif isinstance(value, bool):
            yield f"{name}={int(value)}"
        else:
            yield f"{name}={value}"


@pytest.mark.parametrize("name", ["quadruped", "joints that mimic others"])
def test_every_function_has_the_bits_of_pythons(name: str, folder: Path) -> None:
    model, c_model = cases.robot(name), model_of(name, folder)
    state = cases.random_state(model, 3, (STATES,))
    called = set()
    for row in FUNCTIONS:
        if row.name not in REGISTRY or "inputs" in row.arguments:  # a map is an array
            continue
        expected = row(model, state)
        function = CFunction(c_model, row.name, list(arguments(row, model, state)), STATES)
        shapes = function.inputs
        given = {  # Python cuts longer stacks
            name: state[name][:, : shapes[name][0]] if "derivatives" in name else state[name]
            for name in row.arguments
        }
        results = function(STATES, given)
        for result, array in zip(results, expected, strict=False):
            assert array is None or result.tobytes() == np.ascontiguousarray(array).tobytes(), row
        alone = function(1, {argument: x[:1] for argument, x in given.items()})
        for result, array in zip(alone, results, strict=True):
            assert result.tobytes() == array[:1].tobytes(), row
        called.add(row.name)
    assert called == set(REGISTRY)


@pytest.mark.parametrize(
    ("function", "by"),
    [
        *itertools.product(
            ("linearize_discrete", "step_vjp", "step_hessian"),
            (("dt",), ("f_ext",), ("dt", "f_ext")),
        ),
        ("step_vjp", ("parameters",)),
        ("step_vjp", ("dt", "parameters")),
    ],
)
@pytest.mark.parametrize("name", ["quadruped", "joints that mimic others"])
def test_further_variables_add_results(name: str, function: str, by: Any, folder: Path) -> None:
    model = cases.robot(name)
    state = {**cases.random_state(model, 4, (STATES,)), "dt": np.full(STATES, 0.02)}
    texts = ["integrator=rk4", *(f"by={x}" for x in by)]
    called = CFunction(model_of(name, folder), function, texts, STATES)
    taken = ("q", "v", "tau", "dt", "lam_q", "lam_v", "f_ext")
    given = {x: state[x] for x in called.inputs if x in taken}
    expected = arrays_of(getattr(dtau, function)(model, **given, integrator="rk4", by=by))
    results = [x for x in called(STATES, given) if x.size]  # there are no contacts
    for got, want in zip(results, expected, strict=True):
        assert got.tobytes() == np.ascontiguousarray(want).tobytes()
    with pytest.raises(DtauError, match=r"by: expected 'dt'(, 'f_ext')? or '\w+', got 'h'"):
        CFunction(model_of(name, folder), function, ["by=h"])
    with pytest.raises(DtauError, match="step: does not take the argument by"):
        CFunction(model_of(name, folder), "step", ["by=dt"])


@pytest.mark.parametrize("states", [1, STATES])
@pytest.mark.parametrize("name", POSE_FUNCTIONS)
def test_functions_of_poses_take_no_model(name: str, states: int) -> None:
    rng = np.random.default_rng(len(name))
    pose = poses.exp(rng.uniform(-2.0, 2.0, (states, 6)))
    turned = rotations.to_matrix(pose[:, 3:])
    numbers = {
        **dict.fromkeys(("pose", "start", "end", "first", "second"), pose),
        "matrix": poses.to_matrix(pose),
        "rotation": turned,
        "t": rng.uniform(0.0, 1.0, states),
    }
    function = CFunction(None, name, most_states=states)
    given = {}
    for array, shape in function.inputs.items():
        if shape == (4,):
            given[array] = pose[:, 3:]
        elif array in numbers:
            given[array] = numbers[array]
        else:
            given[array] = rng.uniform(-2.0, 2.0, (states, *shape))
    expected = getattr(_core, name)(*given.values())
    wanted = expected if isinstance(expected, tuple) else (expected,)
    for result, array in zip(function(states, given), wanted, strict=True):
        assert np.isfinite(result).all()
        assert result.tobytes() == np.ascontiguousarray(array).tobytes()


def test_functions_with_and_without_a_model(folder: Path) -> None:
    with pytest.raises(DtauError, match="mass_matrix: expected a model, got none"):
        CFunction(None, "mass_matrix")
    with pytest.raises(DtauError, match="name: expected a function of dtau, got 'pose_lag'"):
        CFunction(None, "pose_lag")
    with pytest.raises(DtauError, match="name: expected a function of dtau, got 'pose_log'"):
        CFunction(model_of("quadruped", folder), "pose_log")
    with pytest.raises(DtauError, match="pose_log: does not take the argument axes"):
        CFunction(None, "pose_log", ["axes=body"])


def test_sizes_and_names(folder: Path) -> None:
    model, c_model = cases.robot("quadruped"), model_of("quadruped", folder)
    assert c_model.library.dtau_version().decode() == dtau.__version__
    assert c_model.sizes == (model.nq, model.nv, model.nbodies, len(model.frames))
    assert c_model.names("frame") == list(model.frames)
    function = CFunction(c_model, "frame_jacobians", ["frames=LF_FOOT", "frames=RF_FOOT"])
    assert function.inputs == {"q": (19,)}
    assert function.results == {"J": (2, 6, 18)}


@pytest.mark.parametrize("function", ["inverse_dynamics_jvp", "step_vjp", "step_hessian"])
@pytest.mark.parametrize("name", ["quadruped", "joints that mimic others"])
def test_derivatives_by_the_numbers_of_q(name: str, function: str, folder: Path) -> None:
    model = cases.robot(name)
    state = {**cases.random_state(model, 4, (STATES,)), "dt": np.full(STATES, 0.02)}
    changes = np.random.default_rng(5).standard_normal((STATES, model.nq))
    state |= {"dq": changes, "lam_q": changes}
    called = CFunction(model_of(name, folder), function, ["coordinates=numbers"], STATES)
    required = [x.name for x in REGISTRY[function].inputs if not x.optional]
    given = {x: state[x] for x in required}
    expected = arrays_of(getattr(dtau, function)(model, **given, coordinates="numbers"))
    for got, want in zip(called(STATES, given), expected, strict=False):
        assert got.tobytes() == np.ascontiguousarray(want).tobytes()


@pytest.mark.parametrize("states", [1, 5, 19, 500, 4000])
@pytest.mark.parametrize("threads", [0, 2, 5])
def test_threads_share_a_batch(threads: int, states: int, folder: Path) -> None:
    model = cases.robot("quadruped")
    state = cases.random_state(model, 11, (states,))
    given = {x: state[x] for x in ("q", "v", "tau")}
    # more and fewer states than one thread takes; the states that lift feet change their order
    options = [f"contacts={FOOT}; kd=2", "contacts=point; frame=RF_FOOT"]
    active = np.tile([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], (states, 1))[:states]
    for name, texts, more in (
        ("forward_dynamics", [], {}),
        ("mass_matrix", ["layout=pattern"], {}),
        ("constrained_dynamics", options, {"active": active}),
    ):
        one = CFunction(model_of("quadruped", folder), name, texts, states)
        several = CFunction(
            model_of("quadruped", folder), name, [*texts, f"threads={threads}"], states
        )
        arrays = {x: y for x, y in {**given, **more}.items() if x in one.inputs}
        for alone, together in zip(one(states, arrays), several(states, arrays), strict=True):
            assert np.isfinite(alone).all()
            assert alone.tobytes() == together.tobytes()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
def test_threads_are_there_before_the_first_call(folder: Path) -> None:
    state = cases.random_state(cases.robot("quadruped"), 12, (4000,))
    function = CFunction(model_of("quadruped", folder), "inverse_dynamics", ["threads=17"], 4000)
    there = set(os.listdir("/proc/self/task"))
    function(4000, {x: state[x] for x in ("q", "v", "a")})
    assert set(os.listdir("/proc/self/task")) <= there


@pytest.mark.parametrize("name", ["quadruped", "joints that mimic others"])
@pytest.mark.parametrize(
    "function",
    [
        "mass_matrix",
        "frame_jacobians",
        "inverse_dynamics_derivatives",
        "inverse_dynamics_second_derivatives",
        "linearize",
    ],
)
def test_results_on_their_pattern(function: str, name: str, folder: Path) -> None:
    model = cases.robot(name)
    state = cases.random_state(model, 7, (STATES,))
    frames = list(model.frames)[1:3] if function == "frame_jacobians" else []
    options: dict[str, Any] = {"frames": frames} if frames else {}
    given = [f"frames={frame}" for frame in frames]
    dense = CFunction(model_of(name, folder), function, given, STATES)
    packed = CFunction(model_of(name, folder), function, [*given, "layout=pattern"], STATES)
    arrays = {x: state[x] for x in ("q", "v", "a", "tau")}
    wanted, stored = dense(STATES, arrays), packed(STATES, arrays)
    for index, result in enumerate(dense.results):
        want, got, places = wanted[index].reshape(STATES, -1), stored[index], packed.entries(index)
        if function == "linearize" and result not in ("A", "B"):  # has no pattern
            assert (places, got.tobytes()) == ([], want.tobytes())
            continue
        pattern = dtau.pattern(model, function, result, **options)
        assert places == np.ravel_multi_index(pattern.coordinates, pattern.shape).tolist()
        assert got.tobytes() == np.ascontiguousarray(want[:, places]).tobytes()
        assert dense.entries(index) == []


@pytest.mark.parametrize("function", ["linearize", "linearize_discrete"])
@pytest.mark.parametrize("name", ["quadruped", "forest"])
def test_a_map_of_inputs_on_the_pattern(function: str, name: str, folder: Path) -> None:
    """With several trees, a map has numbers in B where the torques of joints have none."""
    model = cases.robot(name)
    state = cases.random_state(model, 7, (STATES,))
    arrays = {x: state[x] for x in ("q", "v", "tau")}
    if function == "linearize_discrete":
        arrays["dt"] = state["dt"]
    packed = CFunction(model_of(name, folder), function, ["layout=pattern"], STATES)
    dense = CFunction(model_of(name, folder), function, [], STATES)
    arrays["inputs"] = np.random.default_rng(8).normal(size=(STATES, *packed.inputs["inputs"]))
    if name == "forest":
        with pytest.raises(DtauError, match=r"inputs: expected none with layout=pattern"):
            packed(STATES, arrays)
        return
    want = dense(STATES, arrays)[1].reshape(STATES, -1)
    got = packed(STATES, arrays)[1]
    assert got.tobytes() == np.ascontiguousarray(want[:, packed.entries(1)]).tobytes()


def test_quaternions_are_normalized(folder: Path) -> None:
    model, c_model = cases.robot("quadruped"), model_of("quadruped", folder)
    state = cases.random_state(model, 5, (1,))
    scaled = state["q"].copy()
    scaled[:, 3:7] *= 3.0
    (M,) = CFunction(c_model, "mass_matrix")(1, {"q": scaled})
    np.testing.assert_allclose(M, dtau.mass_matrix(model, state["q"]), rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("rnea", [], "name: expected a function of dtau, got 'rnea'"),
        ("frame_jacobians", [], "expected the argument frames"),
        ("frame_jacobians", ["frames=tail"], "frames: no frame named 'tail'"),
        (
            "frame_jacobians",
            ["frames=LF_FOOT", "axes=LOCAL"],
            "expected 'body', 'world' or 'mixed'",
        ),
        ("mass_matrix", ["axes=body"], "does not take the argument axes"),
        ("mass_matrix", ["colour=red"], "expected name=value with an argument's name"),
        ("hybrid_dynamics", ["prescribed=01"], "prescribed: expected a mask of 18 velocities"),
        ("hybrid_dynamics", ["prescribed=ab"], "prescribed: expected a mask of 0 and 1"),
        ("constrained_dynamics", [], "expected the argument contacts"),
        ("mass_matrix", ["threads=-1"], "threads: expected a number from 0 to 1024, got -1"),
        ("mass_matrix", ["threads=two"], "threads: expected numbers with spaces between them"),
        ("mass_matrix", ["threads=1.5"], "threads: expected an integer, got '1.5'"),
        ("step", ["contacts_at=0 0"], "contacts_at: expected contacts with it"),
    ],
)
def test_wrong_arguments_are_refused(
    name: str, arguments: list[str], message: str, folder: Path
) -> None:
    with pytest.raises(DtauError, match=message) as raised:
        CFunction(model_of("quadruped", folder), name, arguments)
    assert raised.value.code == INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("LF_FOOT", "expected 'point', 'frame' or 'loop' and then '; name=value', got 'LF_FOOT'"),
        (f"{FOOT}; rows=3", "expected name=value of a point, got 'rows=3'"),
        (f"{FOOT}; kd", "expected name=value of a point, got 'kd'"),
        (f"{FOOT}; kd=-1", "kd: expected a number of at least 0, got -1"),
        (f"{FOOT}; kp=inf", "kp: expected numbers with spaces between them"),
        (f"{FOOT}; kp=3", "kp needs a position to hold"),
        (f"{FOOT}; axes=world", "axes: expected 'body' or 'mixed', got 'world'"),
        (f"{FOOT}; direction=0 0 0", "direction: expected a nonzero vector"),
        (f"{FOOT}; direction=0 1", "direction: expected 3 numbers, got 2"),
        ("point; frame=tail", "no frame named 'tail'"),
        ("frame; frame=LF_FOOT; kp=3", "kp needs a placement to hold"),
        ("frame; frame=LF_FOOT; acceleration=odd", "expected 'classical' or 'spatial'"),
        (
            "frame; frame=LF_FOOT; placement=1 0 0 0 1 0 0 0 2 0 0 0",
            "placement: expected a rotation by rows",
        ),
        ("loop; frame_a=LF_FOOT; frame_b=LF_FOOT", "both frames belong to one body"),
        ("loop; frame_a=LF_FOOT; frame_b=RF_FOOT; rows=4", "rows: expected 6, 5 or 3, got 4"),
        ("loop; frame_a=LF_FOOT; frame_b=RF_FOOT; rows=5", "expected 'x', 'y' or 'z', got none"),
        ("loop; frame_a=LF_FOOT; frame_b=RF_FOOT; hinge=x", "expected 5 rows with it, got 6"),
        (
            "loop; frame_a=LF_FOOT; frame_b=RF_FOOT; rows=5; hinge=x; axes=mixed",
            "axes: expected 'body' for a hinge",
        ),
    ],
)
def test_wrong_contacts_are_refused(text: str, message: str, folder: Path) -> None:
    with pytest.raises(DtauError, match=message) as raised:
        CFunction(model_of("quadruped", folder), "constrained_dynamics", [f"contacts={text}"])
    assert raised.value.code == INVALID_ARGUMENT


def test_a_frame_of_the_world_is_no_contact(tmp_path: Path) -> None:
    links = [
        dtau.Link("base", None, dtau.Fixed(), "weld"),
        dtau.Link(
            *("rod", "base", dtau.Revolute((1, 0, 0)), "hip"),
            inertia=dtau.Inertia(1.0, (0, 0, -0.5)),
        ),
    ]
    dtau.Model("fixed", links).save(tmp_path / "fixed.dtau")
    model = CModel(tmp_path / "fixed.dtau")
    with pytest.raises(DtauError, match="frame 'base' is fixed to the world, expected one that mo"):
        CFunction(model, "constrained_dynamics", ["contacts=point; frame=base"])
    CFunction(model, "constrained_dynamics", ["contacts=loop; frame_a=rod; frame_b=base"])


# Composed poses round differently in NumPy.
CLOSE: dict[str, float] = {"rtol": 1e-9, "atol": 1e-9}


@pytest.mark.parametrize("seed", range(12))
def test_contacts_and_loops_are_pythons(seed: int, folder: Path) -> None:
    model, c_model = cases.robot("quadruped"), model_of("quadruped", folder)
    rng = np.random.default_rng(seed)
    q, v, tau = dtau.random_state(model, rng, shape=(STATES,))
    kinds = ("body", "mixed")
    gains: Any = {"kp": 5.0 * (seed % 3 > 0), "kd": 2.0}
    pose = dtau.Pose.from_rpy(rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3))
    rows: Any
    hinge: Any
    rows, hinge = ((6, None), (5, "xyz"[seed % 3]), (3, None))[seed % 3]
    held = [
        dtau.PointContact("LF_FOOT", kinds[seed % 2], **gains, direction=rng.uniform(-1, 1, 3)),
        dtau.PointContact("RF_FOOT", kinds[seed % 2], **gains, position=rng.uniform(-1, 1, 3)),
        dtau.FrameContact(
            "LH_FOOT",
            kinds[seed % 2],
            **gains,
            placement=None if seed % 4 else pose,  # from `at`
            acceleration=("classical", "spatial")[seed % 2],
        ),
        dtau.Loop("RH_FOOT", model.bodies[0], rows, hinge, **gains, placement=pose),
    ]
    texts = [f"contacts={contact_text(x)}" for x in held]
    texts.append(f"contacts_at={' '.join(map(repr, q[0].tolist()))}")
    contacts = dtau.Contacts(model, held, at=q[0])
    expected = dtau.constrained_dynamics(model, q, v, tau, contacts, regularization=1e-3)
    results = CFunction(c_model, "constrained_dynamics", [*texts, "regularization=1e-3"], STATES)(
        STATES, {"q": q, "v": v, "tau": tau}
    )
    for result, array in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, array, **CLOSE)


def test_positions_of_loops_have_no_effect(tmp_path: Path) -> None:
    """Also positions of a loop that is closed to the world, which may be NaN."""
    robot = dtau.robots.chain(3)
    post = dtau.Link("post", None, dtau.Fixed(), "stand", PLACED)
    model = dtau.Model("chain", [*robot.links, post])
    model.save(tmp_path / "chain.dtau")
    tip, before = model.bodies[-1], model.bodies[-2]
    held = [
        dtau.PointContact(before, kp=5.0, kd=2.0, position=(0.3, 0.1, 0.2)),
        dtau.Loop(tip, "post", 3, kp=4.0, kd=1.0),
        dtau.PointContact(tip, kd=2.0),
    ]
    q, v, tau = dtau.random_state(model, np.random.default_rng(2), shape=(STATES,))
    positions = np.random.default_rng(3).normal(size=(STATES, 3, 3))
    contacts = dtau.Contacts(model, held)
    expected = [
        dtau.constrained_dynamics(
            model, *(x[k] for x in (q, v, tau)),
            dtau.Contacts(model, [replace(held[0], position=positions[k, 0]), *held[1:]]),
            regularization=1e-3,
        )
        for k in range(STATES)
    ]  # fmt: skip
    positions[:, 1:] = np.nan
    texts = [*(f"contacts={contact_text(x)}" for x in held), "regularization=1e-3"]
    given = {"q": q, "v": v, "tau": tau, "positions": positions}
    results = CFunction(CModel(tmp_path / "chain.dtau"), "constrained_dynamics", texts, STATES)(
        STATES, given
    )
    pythons = dtau.constrained_dynamics(
        model, q, v, tau, contacts, positions=positions, regularization=1e-3
    )
    for result, array, alone in zip(results, pythons, zip(*expected, strict=True), strict=True):
        np.testing.assert_array_equal(result, array)
        np.testing.assert_allclose(result, alone, **CLOSE)


def test_wrong_calls_are_refused(folder: Path) -> None:
    function = CFunction(model_of("quadruped", folder), "gravity_torque")
    with pytest.raises(DtauError, match="gravity_torque: q: expected an array, got none"):
        function(1, {})
    with pytest.raises(DtauError, match="expected at most the states that the call was made for"):
        function(2, {"q": np.zeros((2, 19))})
    for most, message in (
        (0, "most_states: expected a number of at least 1, got 0"),
        (2**63 - 1, "out of memory"),
    ):
        with pytest.raises(DtauError, match=message):
            CFunction(model_of("quadruped", folder), "gravity_torque", most_states=most)


NULLS = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.dtau_error.restype = ctypes.c_char_p
model, function, states = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_ssize_t(1)
assert library.dtau_model_load(sys.argv[2].encode(), ctypes.byref(model)) == 0
made = ctypes.byref(function)
name, no_text = b"gravity_torque", (ctypes.c_char_p * 1)()
assert library.dtau_function_make(model, name, None, 0, states, made) == 0
some = (ctypes.c_void_p * 10)()
for call, argument in (
    (lambda: library.dtau_model_load(None, ctypes.byref(model)), "path"),
    (lambda: library.dtau_model_load(sys.argv[2].encode(), None), "model"),
    (lambda: library.dtau_function_make(model, None, None, 0, states, made), "name"),
    (lambda: library.dtau_function_make(model, name, None, 1, states, made), "arguments"),
    (lambda: library.dtau_function_make(model, name, no_text, 1, states, made), "arguments"),
    (lambda: library.dtau_function_make(model, name, None, 0, states, None), "function"),
    (lambda: -library.dtau_model_find_joint(None, name), "model"),
    (lambda: -library.dtau_model_find_body(model, None), "name"),
    (lambda: -library.dtau_model_find_frame(None, name), "model"),
    (lambda: library.dtau_model_joint_entries(None, 0, some, some, some, some), "model"),
    (lambda: library.dtau_model_joint_entries(model, 0, None, some, some, some), "q"),
    (lambda: library.dtau_model_joint_entries(model, 0, some, some, some, None), "nv"),
    (lambda: library.dtau_function_run(None, some, some, states), "function"),
    (lambda: library.dtau_function_run(function, None, some, states), "inputs"),
    (lambda: library.dtau_function_run(function, some, None, states), "results"),
):
    assert call() == 1, argument
    assert library.dtau_error().startswith(argument.encode() + b": expected a pointer"), argument
assert library.dtau_function_run(function, some, some, ctypes.c_ssize_t(-1)) == 1
assert b"states: expected a number of at least 0, got a negative one" in library.dtau_error()
for what in ("model_nq", "model_nv", "model_nbodies", "model_nframes"):
    assert getattr(library, f"dtau_{what}")(None) == 0, what
for what in ("function_ninputs", "function_nresults"):
    assert getattr(library, f"dtau_{what}")(None) == 0, what
for what in ("model_frame", "function_input", "function_result", "function_entries"):
    assert not getattr(library, f"dtau_{what}")(None, 0, None, None), what
for what in ("joint", "body", "lower_limits", "upper_limits", "velocity_limits", "effort_limits"):
    assert not getattr(library, f"dtau_model_{what}")(None, 0), what
for what in ("masses", "gravity"):
    assert not getattr(library, f"dtau_model_{what}")(None), what
library.dtau_model_free(None)
library.dtau_function_free(None)
"""


def test_null_pointers_are_refused(folder: Path) -> None:
    model_of("quadruped", folder)
    model = str(folder / "quadruped.dtau")
    child = python(NULLS, c_interface.LIBRARY, model)
    assert child.returncode == 0, child.stderr


def test_a_joint_without_inertia_is_refused(tmp_path: Path) -> None:
    links = [dtau.Link("tip", None, dtau.Revolute((1, 0, 0)), "loose")]
    with pytest.warns(dtau.ModelWarning):
        dtau.Model("massless", links).save(tmp_path / "massless.dtau")
    model = CModel(tmp_path / "massless.dtau")
    CFunction(model, "inverse_dynamics")
    refused = "has inertia to accelerate, got none at joints 'loose'"
    with pytest.raises(DtauError, match=refused):
        CFunction(model, "forward_dynamics_time_derivatives", ["order=1"])
    state = {"q": np.zeros((1, 1)), "v": np.zeros((1, 1)), "tau": np.full((1, 1), 3.0)}
    function = CFunction(model, "forward_dynamics")
    with pytest.raises(DtauError, match=f"{refused}; .* or inertias in the argument parameters"):
        function(1, state)
    disk = dtau.Inertia(1.0, (0, 0, 0), np.diag([0.5, 0.25, 0.25])).parameters
    assert function(1, {**state, "parameters": disk[np.newaxis]})[0].tolist() == [[6.0]]
    of_joints = CFunction(model, "forward_dynamics", ["joint_parameters=1"])
    more = np.array([[*disk, 0.5, 0.0, 0.0, 0.0]])  # armature
    assert of_joints(1, {**state, "parameters": more})[0].tolist() == [[3.0]]


class TestDamagedFiles:
    CONTENT = staticmethod(lambda: saving.saved(cases.robot("quadruped")))

    def refused(self, path: Path, content: bytes) -> str:
        path.write_bytes(content)
        with pytest.raises(DtauError, match=r"robot\.dtau: ") as raised:
            CModel(path)
        assert raised.value.code == INVALID_FILE
        return str(raised.value)

    def test_missing(self, tmp_path: Path) -> None:
        with pytest.raises(DtauError, match="No such file or directory"):
            CModel(tmp_path / "robot.dtau")

    def test_truncated(self, tmp_path: Path) -> None:
        content = self.CONTENT()
        for size in (0, 7, 23):
            assert "expected a file of Model.save" in self.refused(
                tmp_path / "robot.dtau", content[:size]
            )
        for size in (24, 1000, len(content) - 1):
            message = self.refused(tmp_path / "robot.dtau", content[:size])
            assert f"bytes after the header, got {size - 24}" in message

    def test_damaged(self, tmp_path: Path) -> None:
        content = bytearray(self.CONTENT())
        content[5000] ^= 1
        assert "the file is damaged" in self.refused(tmp_path / "robot.dtau", content)

    def test_another_version(self, tmp_path: Path) -> None:
        content = bytearray(self.CONTENT())
        content[8] = 3
        message = self.refused(tmp_path / "robot.dtau", content)
        assert "expected version 2 of the format, got 3" in message

    def test_wrong_contents_with_a_right_checksum(self, tmp_path: Path) -> None:
        arrays = saving.unpack(self.CONTENT())
        for name, values in arrays.items():
            if not name.startswith("core.") and name not in READ:
                continue  # C++ does not read them
            for wrong in (None, values[:-1], np.zeros(3, np.int32), ["what"] * len(values)):
                changed = {key: x for key, x in arrays.items() if key != name}
                if wrong is not None:
                    changed[name] = wrong
                names = isinstance(values, list) and name not in ("core.kind", "links.joint")
                if names and isinstance(wrong, list) and len(wrong) == len(values):
                    continue  # other names
                if name == "core.massless_joints":
                    continue  # there are none
                self.refused(tmp_path / "robot.dtau", saving.pack(changed))

    def test_an_array_of_a_later_version(self, tmp_path: Path) -> None:
        arrays = {**saving.unpack(self.CONTENT()), "core.elasticity": np.zeros(3)}
        message = self.refused(tmp_path / "robot.dtau", saving.pack(arrays))
        assert "core.elasticity: this version of dtau does not know this array" in message

    def test_wild_indices(self, tmp_path: Path) -> None:
        core = ("core.parent", "core.link", "core.mimicked", "core.frame_link")
        for name in (*core, "links.mimicked"):
            for index in (-9 if name in core else 2, 9999, 2**31 - 1):  # 2: itself
                arrays = saving.unpack(self.CONTENT())
                values = arrays[name].copy()
                values[2] = index
                changed = saving.pack({**arrays, name: values})
                assert "expected" in self.refused(tmp_path / "robot.dtau", changed)
