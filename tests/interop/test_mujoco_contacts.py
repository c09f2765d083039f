"""Exact derivatives of MuJoCo's step with contacts against differences of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from mujoco_steps import check, errors

import dtau

mujoco = pytest.importorskip("mujoco")
transition_derivatives = pytest.importorskip("dtau.mujoco").transition_derivatives

GEOMS = {
    "sphere": 'type="sphere" size=".1"',
    "capsule": 'type="capsule" size=".07 .15"',
    "box": 'type="box" size=".1 .12 .14"',
    "plane": 'type="plane" size="1 1 1" quat="1 .05 .1 .02"',
    "ellipsoid": 'type="ellipsoid" size=".1 .12 .14"',
    "cylinder": 'type="cylinder" size=".1 .12"',
    "mesh": 'type="mesh" mesh="tetrahedron"',
}
SCENE = """<mujoco>
<option tolerance="0" iterations="30" ls_iterations="200" ls_tolerance="1e-6" cone="{cone}"
 {option}/>
<asset><mesh name="tetrahedron" vertex=".2 0 -.1  -.1 .2 -.1  -.1 -.2 -.1  0 0 .2"/></asset>
<default><geom friction="0.8 0.02 0.01" condim="{condim}" margin=".03" {geom}
 solimp=".8 .97 .05 .4 2" solref=".03 .9"/></default>
<worldbody>{fixed}
<body><joint type="slide" axis="1 .1 0" damping="1"/><joint axis="0 1 .3" damping=".3"/>{moving}
<geom type="sphere" size=".05" pos="0 0 -2" contype="0" conaffinity="0"/></body>
<body pos="0 0 .2"><freejoint/><geom {other}/>
<body pos="0 0 .4"><joint name="swing" axis="1 0 0"/><joint axis="0 1 .3" damping=".3"/>
<geom type="sphere" size=".05" pos="0.1 .1 .1" contype="0" conaffinity="0"/></body></body>
</worldbody><actuator><motor joint="swing"/></actuator></mujoco>"""
CONES = ("pyramidal", "elliptic")
EXACT = (
    ("plane", "sphere"),
    ("plane", "capsule"),
    ("plane", "box"),
    ("plane", "mesh"),
    ("plane", "ellipsoid"),
    ("plane", "cylinder"),
    ("sphere", "sphere"),
    ("sphere", "capsule"),
    ("sphere", "box"),
    ("sphere", "cylinder"),
    ("capsule", "capsule"),
)


def compiled(
    one: str, other: str, condim: int = 3, cone: str = "elliptic", option: str = "", geom: str = ""
) -> Any:
    first = f"<geom {GEOMS[one]}/>"
    return mujoco.MjModel.from_xml_string(
        SCENE.format(
            cone=cone,
            condim=condim,
            option=option,
            geom=geom,
            fixed=first if one == "plane" else "",
            moving="" if one == "plane" else first,
            other=GEOMS[other],
        )
    )


def touching(mj_model: Any, seed: int, count: int) -> Iterator[Any]:
    """Yield `count` random states with contacts that have a force."""
    rng, data = np.random.default_rng(seed), mujoco.MjData(mj_model)
    while count:
        mujoco.mj_resetData(mj_model, data)
        q = data.qpos.copy()
        sizes = np.repeat((0.05, 0.15, 1.0), (2, 3, 5))
        mujoco.mj_integratePos(mj_model, q, sizes * rng.normal(size=mj_model.nv), 1.0)
        data.qpos[:], data.qvel[:] = q, 0.5 * rng.normal(size=mj_model.nv)
        data.qfrc_applied[:] = rng.normal(size=mj_model.nv)
        mujoco.mj_forward(mj_model, data)
        if data.nefc and np.abs(data.efc_force).max() > 1.0:
            count -= 1
            yield data


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("condim", [1, 3, 4, 6])
@pytest.mark.parametrize("pair", EXACT, ids="-".join)
def test_contacts(pair: tuple[str, str], condim: int, cone: str) -> None:
    mj_model = compiled(*pair, condim, cone)
    for data in touching(mj_model, 1, 5):
        # Where a contact hardly slides, the cone's curvature needs a small step.
        first = errors(mj_model, data, 1e-5)
        assert max(first) < 3e-8 or max(errors(mj_model, data, 1e-6)) < 3e-7


@pytest.mark.parametrize("solid", ["box", "cylinder"])
def test_spheres_on_faces_edges_and_corners(solid: str) -> None:
    mj_model = compiled("sphere", solid)
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
    mj_model = compiled("capsule", "capsule", 4, cone, f'integrator="{integrator}"')
    for data in touching(mj_model, 2, 3):
        check(mj_model, data, 1e-6, 1e-6)


@pytest.mark.parametrize("pair", [("plane", "capsule"), ("capsule", "capsule")], ids="-".join)
def test_friction_has_its_own_reference(pair: tuple[str, str]) -> None:
    mj_model = compiled(*pair, 4, option='impratio="3"')
    mj_model.opt.o_solref[:], mj_model.opt.o_margin = (-900.0, -20.0), 0.02
    mj_model.opt.o_friction[:] = 0.5, 0.7, 0.1, 0.01, 0.02
    mj_model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)
    for data in touching(mj_model, 3, 3):
        check(mj_model, data, 1e-6, 1e-6)


ROUGH = (
    ("sphere", "mesh"),
    ("capsule", "box"),
    ("box", "box"),
)


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("pair", ROUGH, ids="-".join)
def test_differences_of_the_geometry(pair: tuple[str, str], cone: str) -> None:
    mj_model = compiled(*pair, 3, cone)
    for data in touching(mj_model, 1, 4):
        with pytest.raises(NotImplementedError, match="unless geometry='differences'"):
            transition_derivatives(mj_model, data)
        first = errors(mj_model, data, 1e-5, geometry="differences")
        assert max(first) < 1e-7 or max(errors(mj_model, data, 1e-6, geometry="differences")) < 1e-6


def test_formulas_and_differences_of_the_geometry_meet_in_one_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    step = '/><geom pos="0 .3 .02" type="box" size=".1 .1 .1"'
    monkeypatch.setitem(GEOMS, "plane", GEOMS["plane"] + step)
    mj_model = compiled("plane", "capsule")
    kinds = set()
    for data in touching(mj_model, 6, 12):
        kinds |= set(mj_model.geom_type[data.contact.geom[:, 0]].tolist())
        check(mj_model, data, 1e-6, 1e-6, geometry="differences")
    assert len(kinds) == 2


def test_batches_with_contacts_equal_single_states() -> None:
    mj_model = compiled("capsule", "capsule")
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states, singles = [], []
    for data in touching(mj_model, 4, 6):
        data.qfrc_applied[:] = 0.0
        if len(states) == 2:
            data.qpos[2:5] = 5.0  # apart
        states.append(np.empty(mujoco.mj_stateSize(mj_model, kind)))
        mujoco.mj_getState(mj_model, data, states[-1], kind)
        singles.append(transition_derivatives(mj_model, data))
    A, B = dtau.mujoco.transition_derivatives_batch(
        mj_model, mujoco.MjData(mj_model), states, np.zeros((6, 1))
    )
    np.testing.assert_allclose(A, [one.A for one in singles], atol=1e-8)
    np.testing.assert_allclose(B, [one.B for one in singles], atol=1e-8)
    arguments = mj_model, mujoco.MjData(mj_model), states, np.zeros((6, 1))
    for threads in (2, 4):
        several = dtau.mujoco.transition_derivatives_batch(*arguments, threads=threads)
        np.testing.assert_allclose(several.A, A, atol=1e-12)
        np.testing.assert_allclose(several.B, B, atol=1e-12)
    with pytest.raises(ValueError, match="threads: expected an integer of 1 to 1024, got 0"):
        dtau.mujoco.transition_derivatives_batch(*arguments, threads=0)


def test_errors_in_threads_reach_the_caller() -> None:
    mj_model = compiled("box", "box")
    (data,) = touching(mj_model, 1, 1)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states = np.empty((5, mujoco.mj_stateSize(mj_model, kind)))
    for state in states:
        mujoco.mj_getState(mj_model, data, state, kind)
    arguments = mj_model, data, states, np.zeros((5, 1))
    with pytest.raises(NotImplementedError, match="contacts of box and box"):
        dtau.mujoco.transition_derivatives_batch(*arguments, threads=2)


def test_an_unknown_geometry_is_refused() -> None:
    mj_model = compiled("plane", "sphere")
    with pytest.raises(ValueError, match="geometry: expected 'exact' or 'differences', got 'fd'"):
        transition_derivatives(mj_model, mujoco.MjData(mj_model), geometry="fd")


def test_sparse_and_dense_jacobians_agree() -> None:
    results = []
    for kind in ("dense", "sparse"):
        mj_model = compiled("capsule", "capsule", option=f'jacobian="{kind}"')
        results.append([transition_derivatives(mj_model, x) for x in touching(mj_model, 1, 3)])
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one.A, other.A, atol=1e-9)
        np.testing.assert_allclose(one.B, other.B, atol=1e-9)


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
