"""Exact derivatives of MuJoCo's step with contacts against differences of it."""

from __future__ import annotations

import copy
import gc

import numpy as np
import pytest
from benchmarks.peers.mujoco_pairs import CONES, EXACT, GEOMS, ROUGH, SCENE, sixth_order, touching
from benchmarks.peers.mujoco_pairs import pair as compiled_pair
from compare import assert_same_results
from mujoco_steps import check, errors

import dtau

mujoco = pytest.importorskip("mujoco")
from dtau.mujoco import transition_derivatives  # noqa: E402

STEPS = 2e-3, 1e-3, 3e-4, 1e-4, 1e-5, 3e-6, 1e-6


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("condim", [1, 3, 4, 6])
@pytest.mark.parametrize("pair", EXACT, ids="-".join)
def test_contacts(pair: tuple[str, str], condim: int, cone: str) -> None:
    mj_model = compiled_pair(*pair, condim, cone)
    for data in touching(mj_model, 1, 5):
        # Where a contact hardly slides, the cone's curvature needs a small step.
        first = errors(mj_model, data, 1e-5)
        assert max(first) < 3e-8 or max(errors(mj_model, data, 1e-6)) < 3e-7


@pytest.mark.parametrize("solid", ["box", "cylinder"])
def test_spheres_on_faces_edges_and_corners(solid: str) -> None:
    mj_model = compiled_pair("sphere", solid)
    seen = set()
    ball, other = np.flatnonzero(mj_model.geom_contype)
    size = mj_model.geom_size[other]
    for data in touching(mj_model, 1, 30):
        frame = data.geom_xmat[other].reshape(3, 3)
        place = frame.T @ (data.geom_xpos[ball] - data.geom_xpos[other])
        within = np.abs(place) < size
        if solid == "cylinder":
            within = np.array([np.hypot(*place[:2]) < size[0], abs(place[2]) < size[1]])
        seen.add(int(within.sum()) if solid == "box" else tuple(within.tolist()))
        if not within.all():
            check(mj_model, data, 1e-7, 1e-6)
        else:
            with pytest.raises(NotImplementedError, match=f"contacts of sphere and {solid}"):
                transition_derivatives(mj_model, data)
            check(mj_model, data, 1e-6, 1e-6, geometry="differences")
    assert len(seen) >= (3 if solid == "box" else 4)


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("integrator", ["implicitfast", "RK4"])
def test_other_integrators(integrator: str, cone: str) -> None:
    mj_model = compiled_pair("capsule", "capsule", 4, cone, f'integrator="{integrator}"')
    for data in touching(mj_model, 2, 3):
        check(mj_model, data, 1e-6, 1e-6)


@pytest.mark.parametrize("pair", [("plane", "capsule"), ("capsule", "capsule")], ids="-".join)
def test_friction_has_its_own_reference(pair: tuple[str, str]) -> None:
    mj_model = compiled_pair(*pair, 4, option='impratio="3"')
    mj_model.opt.o_solref[:], mj_model.opt.o_margin = (-900.0, -20.0), 0.02
    mj_model.opt.o_friction[:] = 0.5, 0.7, 0.1, 0.01, 0.02
    mj_model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)
    for data in touching(mj_model, 3, 3):
        check(mj_model, data, 1e-6, 1e-6)


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("pair", ROUGH, ids="-".join)
def test_differences_of_the_geometry(pair: tuple[str, str], cone: str) -> None:
    mj_model = compiled_pair(*pair, 3, cone)
    for data in touching(mj_model, 1, 4):
        with pytest.raises(NotImplementedError, match="unless geometry='differences'"):
            transition_derivatives(mj_model, data)
        first = errors(mj_model, data, 1e-5, geometry="differences")
        assert max(first) < 1e-7 or max(errors(mj_model, data, 1e-6, geometry="differences")) < 1e-6


@pytest.mark.parametrize("tolerance", [1e-6, 1e-12])
@pytest.mark.parametrize(
    "pair",
    [
        *(("cylinder", other) for other in ("cylinder", "box", "capsule", "mesh")),
        *(("ellipsoid", other) for other in ("box", "cylinder", "ellipsoid")),
        *(("mesh", other) for other in ("mesh", "box")),
    ],
    ids="-".join,
)
def test_iterative_collision_is_right_or_refused(pair: tuple[str, str], tolerance: float) -> None:
    """MuJoCo's collision has errors that spoil differences: no result with them comes back.

    Without a mesh the curvature of the geoms takes the place of such differences. The reference has
    the same errors, which a larger step divides by more.
    At its default tolerance of 1e-6 the contact itself is off, so the derivatives belong to a
    contact close by. Differences of the step take the model with 1e-12.
    """
    mj_model = compiled_pair(*pair)
    mj_model.opt.ccd_tolerance = tolerance
    reference = copy.copy(mj_model)
    reference.opt.ccd_tolerance, reference.opt.ccd_iterations = 1e-12, 200
    found = []
    for data in touching(mj_model, 1, 8):
        try:
            A = transition_derivatives(mj_model, data, geometry="differences").A
        except NotImplementedError as error:
            message = str(error)
            if "collision is not smooth" not in message and "that jump when" not in message:
                raise
            continue
        numeric = [sixth_order(reference, data, step)[0] for step in STEPS]
        scale = np.abs(numeric[0][mj_model.nv :]).max() + 1e-3
        found.append(min(np.abs(A - x).max() for x in numeric) / scale)
    assert mj_model.opt.ccd_tolerance == tolerance
    print(max(found, default=0.0))
    if "mesh" in pair:
        assert max(found, default=0.0) < (1e-4 if tolerance == 1e-12 else 5e-3)
    else:
        assert max(found) < 1e-2
    assert len(found) >= (6 if "mesh" not in pair else 2 if "box" in pair else 0)


def test_formulas_and_differences_of_the_geometry_meet_in_one_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    step = '/><geom pos="0 .3 .02" type="box" size=".1 .1 .1"'
    monkeypatch.setitem(GEOMS, "plane", GEOMS["plane"] + step)
    mj_model = compiled_pair("plane", "capsule")
    kinds = set()
    for data in touching(mj_model, 6, 12):
        kinds |= set(mj_model.geom_type[data.contact.geom[:, 0]].tolist())
        check(mj_model, data, 1e-6, 1e-6, geometry="differences")
    assert len(kinds) == 2


def test_differences_follow_a_model_that_changes() -> None:
    mj_model = compiled_pair("sphere", "mesh")
    (data,) = touching(mj_model, 1, 1)
    mj_model.opt.ccd_tolerance = 1e-6
    transition_derivatives(mj_model, data, geometry="differences")
    mj_model.geom_size[mj_model.geom_type == mujoco.mjtGeom.mjGEOM_SPHERE] += 0.01
    check(mj_model, data, 1e-6, 1e-6, geometry="differences")


def test_feet_on_each_other_and_on_a_floor() -> None:
    # The boxes move at once, but for the one that another stands on.
    boxes = """<body pos="{} {} {}"><freejoint/><geom type="box" size=".1 .1 .05"/></body>"""
    places = ((0.0, 0.0, 0.049), (0.02, 0.01, 0.147), (0.5, 0.0, 0.049), (0.0, 0.6, 0.0485))
    mj_model = mujoco.MjModel.from_xml_string(
        '<mujoco><option timestep="0.002" tolerance="0" iterations="50"/><worldbody>'
        '<geom type="box" size="2 2 .1" pos="0 0 -.1"/>'
        + "".join(boxes.format(*place) for place in places)
        + "</worldbody></mujoco>"
    )
    data = mujoco.MjData(mj_model)
    rng = np.random.default_rng(3)
    mujoco.mj_integratePos(mj_model, data.qpos, 1e-3 * rng.normal(size=mj_model.nv), 1.0)
    data.qvel[:] = 0.1 * rng.normal(size=mj_model.nv)
    mujoco.mj_forward(mj_model, data)
    assert len(np.unique(data.contact.geom, axis=0)) == 4
    check(mj_model, data, 1e-6, 1e-6, geometry="differences")


def test_a_finalizer_differentiates_in_the_middle() -> None:
    """The collector runs it anywhere. It solves in other data."""
    mj_model = compiled_pair("capsule", "capsule")
    one, other = touching(mj_model, 4, 2)
    wanted, calls = transition_derivatives(mj_model, one), []

    class Cycle:
        def __init__(self) -> None:
            self.own = self

        def __del__(self) -> None:
            calls.append(transition_derivatives(mj_model, other))

    before = gc.get_threshold()
    try:
        for k in range(40):
            Cycle()
            gc.set_threshold(1 + k)
            got = transition_derivatives(mj_model, one)
            gc.set_threshold(0)
            assert_same_results(got, wanted)
            gc.collect()  # counts new objects from 0
    finally:
        gc.set_threshold(*before)
    assert len(calls) == 40


def test_batches_on_threads() -> None:
    mj_model = compiled_pair("capsule", "capsule")
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states = np.empty((6, mujoco.mj_stateSize(mj_model, kind)))
    for k, (state, data) in enumerate(zip(states, touching(mj_model, 4, 6), strict=True)):
        if k == 2:
            data.qpos[2:5] = 5.0  # apart
        mujoco.mj_getState(mj_model, data, state, kind)
    arguments = mj_model, mujoco.MjData(mj_model), states, np.zeros((6, 1))
    A, B = dtau.mujoco.transition_derivatives_batch(*arguments, threads=1)
    for threads in (2, 4):
        several = dtau.mujoco.transition_derivatives_batch(*arguments, threads=threads)
        np.testing.assert_allclose(several.A, A, atol=1e-12)
        np.testing.assert_allclose(several.B, B, atol=1e-12)
    with pytest.raises(ValueError, match="threads: expected an integer of 1 to 1024, got 0"):
        dtau.mujoco.transition_derivatives_batch(*arguments, threads=0)


def test_errors_in_threads_reach_the_caller() -> None:
    mj_model = compiled_pair("box", "box")
    (data,) = touching(mj_model, 1, 1)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states = np.empty((5, mujoco.mj_stateSize(mj_model, kind)))
    for state in states:
        mujoco.mj_getState(mj_model, data, state, kind)
    arguments = mj_model, data, states, np.zeros((5, 1))
    with pytest.raises(NotImplementedError, match="contacts of box and box"):
        dtau.mujoco.transition_derivatives_batch(*arguments, threads=2)


def test_an_unknown_geometry_is_refused() -> None:
    mj_model = compiled_pair("plane", "sphere")
    with pytest.raises(ValueError, match="geometry: expected 'exact' or 'differences', got 'fd'"):
        transition_derivatives(mj_model, mujoco.MjData(mj_model), geometry="fd")


def test_contacts_and_equalities_of_sparse_models() -> None:
    spec = mujoco.MjSpec.from_string(
        SCENE.format(
            cone="elliptic", condim=3, option='jacobian="sparse"', geom="", moving="",
            fixed=f"<geom {GEOMS['plane']}/>", other=GEOMS["capsule"],
        )
    )  # fmt: skip
    equality = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, name1="swing")
    equality.objtype, equality.data[0] = mujoco.mjtObj.mjOBJ_JOINT, 0.3
    mj_model = spec.compile()
    for data in touching(mj_model, 1, 3):
        assert data.ne == 1
        check(mj_model, data, 1e-6, 1e-6)


def test_calls_in_turn_do_not_mix() -> None:
    """A thread keeps memory between calls: for other models, states and sizes, and for results."""
    first, second = compiled_pair("plane", "box"), compiled_pair("capsule", "capsule", 6)
    states = [(m, copy.copy(data)) for m in (first, second) for data in touching(m, 5, 2)]
    states[1][1].qpos[2] = 9.0  # apart
    alone = [transition_derivatives(*state) for state in states]
    kept = [(one.A.copy(), one.B.copy()) for one in alone]
    for order in ((0, 1, 2, 3), (3, 0, 2, 1), (1, 1, 0, 3)):
        for i in order:
            again = transition_derivatives(*states[i])
            assert np.array_equal(again.A, kept[i][0])
            assert np.array_equal(again.B, kept[i][1])
    for one, (A, B) in zip(alone, kept, strict=True):
        assert np.array_equal(one.A, A)
        assert np.array_equal(one.B, B)


def test_batches_have_the_bits_of_single_states() -> None:
    """If the solver starts the same: from the warm start of the data."""
    mj_model = compiled_pair("plane", "mesh")
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    data = mujoco.MjData(mj_model)
    states = np.empty((9, mujoco.mj_stateSize(mj_model, kind)))
    for state, touched in zip(states, touching(mj_model, 2, 9), strict=True):
        mujoco.mj_getState(mj_model, touched, state, kind)
    found = dtau.mujoco.transition_derivatives_batch(
        mj_model, data, states, np.zeros((9, 1)), threads=1
    )
    for state, A, B in zip(states, *found, strict=True):
        mujoco.mj_setState(mj_model, data, state, kind)
        one = transition_derivatives(mj_model, data)
        assert np.array_equal(one.A, A)
        assert np.array_equal(one.B, B)


def test_the_core_refuses_other_arrays() -> None:
    for arrays in ((), (np.zeros(13),), (np.zeros(12, dtype=np.intp),)):
        with pytest.raises(ValueError, match="expected"):
            dtau._core.mujoco_constants(arrays)
