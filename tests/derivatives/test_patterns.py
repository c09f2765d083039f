"""Results with ``layout="pattern"``, and the patterns that say where their numbers belong."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from cases import State, contacts, on_robots, random_state, robot
from compare import assert_same_bits
from trees import Array

import dtau
from dtau.registry import FUNCTIONS, arrays_of

# Each function with the option, and the arrays that it is called with.
ARGUMENTS = {
    name: [x.name for x in row.inputs if not x.optional or x.name == "f_ext"]
    for name, row in FUNCTIONS.items()
    if "layout" in row.options
}
# Results that have no pattern, or that these calls leave out.
WITHOUT = {
    "linearize": ("a", "residual"),
    "linearize_discrete": ("q", "v", "residual", "forces", "dforces_dz", "dforces_du"),
    "constrained_dynamics_derivatives": ("residual", "a", "forces"),
}


def several_frames(model: dtau.Model) -> list[str]:
    """The first, the last, and the frame in the middle, twice."""
    names = list(model.frames)
    return [names[k] for k in (0, -1, len(names) // 2, len(names) // 2)]


def options_of(name: str, model: dtau.Model) -> dict[str, Any]:
    """Options of a function's calls that `dtau.pattern` takes, too."""
    if name.startswith("frame_"):
        return {"frames": several_frames(model)}
    if name in ("constrained_dynamics_derivatives", "impulse_dynamics_derivatives"):
        return {"contacts": contacts(model)}
    return {}


def results(
    name: str, model: dtau.Model, state: State, at: Any = ..., **more: Any
) -> Mapping[str, Array]:
    """The results of a function by their names."""
    arrays = {x: state[x][at] for x in ARGUMENTS[name]}
    options = options_of(name, model) | more
    if "contacts" in options:  # whose rows may depend on each other
        options = {"regularization": 1e-8} | options
    found = getattr(dtau, name)(model, **arrays, **options)
    names = [x.name for x in FUNCTIONS[name].results]
    return dict(zip(names, arrays_of(found), strict=False))


def patterns(name: str, model: dtau.Model, **more: Any) -> dict[str, dtau.Pattern]:
    """The pattern of each result that has one."""
    given = options_of(name, model) | more
    return {
        x.name: dtau.pattern(model, name, x.name, **given)
        for x in FUNCTIONS[name].results
        if x.name not in WITHOUT.get(name, ())
    }


def check(
    found: Mapping[str, Array], want: Mapping[str, Array], where: Mapping[str, dtau.Pattern]
) -> None:
    """The values have the bits of dense results, which are zero elsewhere."""
    for name, dense in want.items():
        if dense is None:
            assert found[name] is None
        elif name in where:
            assert found[name].shape[-1] == where[name].size
            assert_same_bits(found[name], dense[(..., *where[name].coordinates)], name)
            numbers = where[name].dense(found[name])
            assert np.array_equal(numbers, dense, equal_nan=True), name
        else:
            assert_same_bits(found[name], dense, name)


@pytest.mark.parametrize("function", ARGUMENTS)
@on_robots
def test_values_are_those_of_dense_results(function: str, name: str) -> None:
    model, name = robot(name), function
    where = patterns(name, model)
    state = random_state(model, 3, (11,))
    dense = results(name, model, state)
    check(results(name, model, state, layout="pattern"), dense, where)
    alone = {key: x[4] for key, x in dense.items()}
    check(results(name, model, state, 4, layout="pattern"), alone, where)
    if name.endswith("second_derivatives"):
        return
    for key, pattern in where.items():  # columns in order, and rows in each of them
        matrix = pattern.indices, pattern.indptr
        rows, columns = matrix[0], np.repeat(np.arange(pattern.shape[-1]), np.diff(matrix[1]))
        places = columns * np.prod(pattern.shape[:-1]) + rows
        assert (np.diff(places) > 0).all(), key
        flat = alone[key].reshape(np.prod(pattern.shape[:-1]), pattern.shape[-1])
        assert_same_bits(flat[rows, columns], alone[key][pattern.coordinates], key)


def test_the_pattern_has_no_more_entries_than_the_tree_says() -> None:
    """Of the mass matrix only the free root's own entries, and M of its points, can vanish."""
    model = robot("free root, branches")
    M = dtau.mass_matrix(model, random_state(model, 3)["q"])
    pattern = dtau.pattern(model, "mass_matrix")
    zeros = M[pattern.coordinates] == 0.0
    i, j = (x[zeros] for x in pattern.coordinates)
    assert ((i < 6) & (j < 6)).all()
    A = dtau.linearize(model, *(random_state(model, 3)[x] for x in ("q", "v", "tau"))).A
    by_position = dtau.pattern(model, "linearize", "A").coordinates
    upper = by_position[0] < model.nv
    assert np.count_nonzero(A[: model.nv]) <= upper.sum() < 5 * model.nv


def test_frames_that_nothing_moves() -> None:
    model = robot("every joint in a chain")
    fixed = next(name for name in model.frames if model.frame(name).body < 0)
    first = model.joints[0].type
    for frames, size in ((fixed, 0), ([fixed, model.bodies[0]], 6 * first.nv)):
        pattern = dtau.pattern(model, "frame_jacobians", frames=frames)
        assert pattern.size == size
        for batch in ((), (5,)):
            q = np.broadcast_to(dtau.neutral(model), (*batch, model.nq))
            values = dtau.frame_jacobians(model, q, frames, layout="pattern")
            assert values.shape == (*batch, size)
            dense = dtau.frame_jacobians(model, q, frames)
            assert np.array_equal(pattern.dense(values), dense)
            assert pattern.indptr[-1] == size


@pytest.mark.parametrize("integrator", ["euler", "semi_implicit", "rk4"])
@pytest.mark.parametrize("driven", ["default", "mask", "map"])
def test_forces_of_a_step_have_patterns(integrator: str, driven: str) -> None:
    """Forces of a tree depend on its velocities and torques alone, and on all inputs of a map."""
    model = two_robots()
    apart = [dtau.PointContact("a1", kd=2.0), dtau.PointContact("b2", kd=3.0)]
    loop = dtau.Loop("a2", "b1", 3, name="loop")
    state, rng = random_state(model, 4, (9,)), np.random.default_rng(5)
    inputs: Array | None = None
    if driven != "default":
        inputs = rng.random(model.nv) < 0.6 if driven == "mask" else rng.random((model.nv, 4))
    shares = []
    for several in (apart, [*apart, loop]):
        held: dict[str, Any] = {"contacts": dtau.Contacts(model, several), "inputs": inputs}
        options = held | {"integrator": integrator, "forces": True}
        options["active"] = rng.integers(0, 2, (9, len(several)))
        want = results("linearize_discrete", model, state, **options)
        got = results("linearize_discrete", model, state, layout="pattern", **options)
        given = held | {"integrator": integrator}
        where = {
            name: dtau.pattern(model, "linearize_discrete", name, **given)
            for name in ("A", "B", "dforces_dz", "dforces_du")
        }
        check(got, want, where)
        alone = results(
            "linearize_discrete",
            model,
            state,
            3,
            layout="pattern",
            **options | {"active": options["active"][3]},
        )
        check(alone, {key: x[3] for key, x in want.items()}, where)
        shares.append({key: x.size / np.prod(x.shape) for key, x in where.items()})
    assert shares[0]["dforces_dz"] == 0.5 * (8 + 3) / 11  # two contacts of three rows each
    assert shares[1]["dforces_dz"] == 1.0
    assert (shares[0]["dforces_du"] == 1.0) == (driven == "map")
    with pytest.raises(ValueError, match=r"^result: expected 'A' or 'B', got 'dforces_dz'$"):
        dtau.pattern(model, "linearize_discrete", "dforces_dz")


@pytest.mark.parametrize("name", ARGUMENTS)
def test_states_without_results_are_nan_everywhere(name: str) -> None:
    """Dense results of a state that is refused or not finite are NaN, off the pattern too."""
    model = two_robots()
    state = random_state(model, 6, (7,))
    options: dict[str, Any] = {}
    if "contacts" in FUNCTIONS[name].options:
        twice = [dtau.FrameContact("a1"), dtau.PointContact("a1", name="again")]
        contacts = dtau.Contacts(model, twice)
        active = np.array([[1, 0]] * 5 + [[1, 1]] * 2)  # rows of both depend on each other
        options = {"contacts": contacts, "active": active, "regularization": 0.0}
    else:
        state["q"][5:] = np.nan
    want = results(name, model, state, **options)
    got = results(name, model, state, layout="pattern", **options)
    keep = {key: x for key, x in options.items() if key == "contacts"}
    where = patterns(name, model, **keep)
    if name.startswith("linearize"):  # B has rows of zeros, which do not depend on the forces
        rows = np.unique(where["B"].coordinates[0])
        dense = where["B"].dense(got["B"])
        assert np.array_equal(dense[:, rows], want["B"][:, rows], equal_nan=True)
        del where["B"], want["B"]
    check(got, want, where)
    for key, pattern in where.items():
        dense = pattern.dense(got[key])
        off = np.ones(pattern.shape, dtype=bool)
        off[pattern.coordinates] = False
        assert np.isnan(dense[5:, off]).any() == off.any(), key
        assert np.isfinite(dense[:5]).all(), key
        assert np.array_equal(pattern.dense(got[key][6]), want[key][6], equal_nan=True), key


def test_single_numbers_that_are_nan_stay_alone() -> None:
    pattern = dtau.pattern(two_robots(), "mass_matrix")
    values = np.ones((3, pattern.size))
    values[1, 5] = np.nan
    values[2] = np.nan
    dense = pattern.dense(values)
    assert np.isnan(dense).sum(axis=(-2, -1)).tolist() == [0, 1, 121]
    assert np.isnan(pattern.dense(values[1])).sum() == 1
    assert np.isnan(pattern.dense(values[2])).all()
    assert pattern.dense(values[:0]).shape == (0, 11, 11)


ON_TREES = (
    "mass_matrix_inverse",
    "forward_dynamics_derivatives",
    "constrained_dynamics_derivatives",
    "impulse_dynamics_derivatives",
    "linearize",
    "linearize_discrete",
)


def two_robots() -> dtau.Model:
    """Two robots in one model, of 8 and 3 velocities."""
    builder = dtau.ModelBuilder("two robots")
    inertia = dtau.Inertia(1.0, (0.1, 0.2, 0.3), np.diag([0.5, 0.6, 0.7]))
    for tree, first in (("a", dtau.Free()), ("b", dtau.Revolute((0, 0, 1)))):
        below = builder.add(first, parent=None, inertia=inertia, name=f"{tree}0")
        for k, parent in enumerate((below, below)):
            axis = (1, k, 0)
            builder.add(dtau.Revolute(axis), parent=parent, inertia=inertia, name=f"{tree}{k + 1}")
    return builder.build()


@pytest.mark.parametrize("name", ON_TREES)
def test_trees_do_not_accelerate_each_other(name: str) -> None:
    """Many numbers are zeros, until a loop joins the two trees."""
    model = two_robots()
    state = random_state(model, 2, (9,))
    apart = [
        dtau.PointContact("a1", kd=2.0),
        dtau.PointContact("b2", kp=3.0, position=(0.1, 0.2, 0.3)),
    ]
    joined = [*apart, dtau.Loop("a2", "b1", 3, name="loop")]
    given = name not in ("mass_matrix_inverse", "forward_dynamics_derivatives")
    sizes = []
    for several in (apart, joined) if given else ([],):
        options: dict[str, Any] = {"contacts": dtau.Contacts(model, several)} if given else {}
        for _ in range(2):  # lists that a tree keeps are not those with a loop
            want = results(name, model, state, **options)
            where = patterns(name, model, **options)
            check(results(name, model, state, layout="pattern", **options), want, where)
            lone = {key: x[2] for key, x in want.items() if x is not None}
            check(results(name, model, state, 2, layout="pattern", **options), lone, where)
        sizes.append({key: x.size / np.prod(x.shape) for key, x in where.items()})
    assert all(share < 0.7 for share in sizes[0].values())
    if given:
        assert all(sizes[1][key] > share for key, share in sizes[0].items())
    else:
        assert set(sizes[0].values()) == {(8 * 8 + 3 * 3) / 11**2}


@pytest.mark.parametrize("integrator", ["euler", "semi_implicit", "rk4"])
@on_robots
def test_time_steps(integrator: str, name: str) -> None:
    model, options = robot(name), {"integrator": integrator}
    state = random_state(model, 3, (9,))
    where = patterns("linearize_discrete", model, **options)
    want = results("linearize_discrete", model, state, **options)
    found = results("linearize_discrete", model, state, layout="pattern", **options)
    check(found, want, where)
    if integrator == "euler":  # the configuration follows the velocity of its own joint
        for key, places in where.items():
            rows = places.coordinates[0][places.coordinates[0] < model.nv]
            joints = model.joints if key == "A" else ()
            sizes = [
                [1, 1] if isinstance(x.type, dtau.Universal) else [x.v.stop - x.v.start]
                for x in joints
                if x.mimic is None
            ]
            assert len(rows) == 2 * sum(size**2 for each in sizes for size in each), key


@pytest.mark.parametrize("name", [x for x in ARGUMENTS if not x.endswith("second_derivatives")])
def test_sparse_matrices_of_scipy(name: str) -> None:
    pytest.importorskip("scipy.sparse")
    model = robot("joints that mimic others")
    state = random_state(model, 3)
    dense = results(name, model, state)
    values = results(name, model, state, layout="pattern")
    for key, pattern in patterns(name, model).items():
        matrix = pattern.matrix(values[key])
        assert matrix.has_canonical_format
        assert matrix.nnz == pattern.size
        assert np.shares_memory(matrix.data, values[key])
        assert np.array_equal(matrix.toarray(), dense[key].reshape(matrix.shape)), key


def test_generated_code_writes_the_values(tmp_path: Any) -> None:
    model = dtau.robots.quadruped()
    function = {"mass": ("mass_matrix", {"layout": "pattern"})}
    code = dtau.generate(model, function, tmp_path / "robot.c")
    assert str(dtau.pattern(model, "mass_matrix").size) in code.header.read_text()


MODEL = dtau.robots.quadruped()
REST = dtau.neutral(MODEL)
LISTED = r"'constrained_dynamics_derivatives', .*'mass_matrix' or 'mass_matrix_inverse'"


def pattern(function: str, *result: str, **options: Any) -> Any:
    return dtau.pattern(MODEL, function, *result, **options)


@pytest.mark.parametrize(
    ("function", "result", "options", "message"),
    [
        ("linearize", [], {}, "result: expected 'A' or 'B', got None"),
        ("mass_matrix", ["C"], {}, "result: expected 'M', got 'C'"),
        ("forward_dynamics", [], {}, f"function: expected {LISTED}, got 'forward_dynamics'"),
        ("frame_jacobians", [], {"frames": "LF_FOO"}, "LF_FOO"),
    ],
)
def test_wrong_names(function: str, result: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pattern(function, *result, **options)


@pytest.mark.parametrize(
    ("function", "result", "options", "message"),
    [
        ("frame_jacobians", "J", {}, "missing the option 'frames'"),
        ("impulse_dynamics_derivatives", "dv_dq", {}, "missing the option 'contacts'"),
        ("mass_matrix", "M", {"frames": "LF_FOOT"}, "got an unexpected argument 'frames'"),
        ("linearize", "A", {"integrator": "rk4"}, "got an unexpected argument 'integrator'"),
        ("mass_matrix", "M", {"inputs": np.eye(18)}, "got an unexpected argument 'inputs'"),
    ],
)
def test_wrong_options(function: str, result: str, options: Any, message: str) -> None:
    with pytest.raises(TypeError, match=f"{function}: {message}"):
        pattern(function, result, **options)


def test_wrong_values() -> None:
    said = r"values: expected those of one state, shape \(216,\), got \(3, 216\)"
    with pytest.raises(ValueError, match=said):
        pattern("mass_matrix").matrix(np.ones((3, 216)))
    with pytest.raises(ValueError, match=r"values: expected shape \(\.\.\., 216\), got \(3, 9\)"):
        pattern("mass_matrix").dense(np.ones((3, 9)))
    said = (
        r"matrix\(\): expected the pattern of a matrix, got one of tensors of shape "
        r"\(18, 18, 18\); use coordinates or dense\(\)"
    )
    with pytest.raises(ValueError, match=said):
        pattern("inverse_dynamics_second_derivatives").matrix([1.0])
    with pytest.raises(ValueError, match=r"out: expected shape \(216,\), got \(18, 18\)"):
        dtau.mass_matrix(MODEL, REST, layout="pattern", out=np.empty((18, 18)))


def test_matrices_need_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    pattern = dtau.pattern(MODEL, "mass_matrix")
    with pytest.raises(ImportError, match=r"Pattern.matrix needs SciPy.*pip install scipy"):
        pattern.matrix(np.ones(pattern.size))


def test_large_patterns_are_advised_where_memory_ends() -> None:
    many = np.broadcast_to(REST, (10**10, MODEL.nq))
    with pytest.raises(MemoryError, match="or layout='pattern'"):
        dtau.mass_matrix(MODEL, many)
