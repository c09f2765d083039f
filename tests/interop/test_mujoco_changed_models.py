"""Changed models: the derivatives are of MuJoCo's step, or an error says what it does not read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mujoco_steps import check, random_data

mujoco = pytest.importorskip("mujoco")
from dtau.mujoco import StepFunction, transition_derivatives  # noqa: E402

SCENE = """<mujoco><option density="100"/><default><geom contype="0" conaffinity="0"/></default>
<worldbody><body name="loose" pos="0 0 3"><freejoint/><geom type="box" size=".1 .2 .3" mass="1"/>
</body><body name="arm"><joint axis="0 1 .2" damping=".1"/><geom size=".1" mass="1"/>
<site name="thrust"/><body name="hand" pos="0 0 -.5"><joint axis="1 0 .3" damping=".1"/>
<geom name="wing" type="ellipsoid" size=".1 .15 .02" mass=".5" pos=".02 0 -.2" quat="1 .2 0 0"
 fluidshape="ellipsoid"/></body></body></worldbody>
<actuator><motor site="thrust" gear="1 .2 .3 .1 .2 .3"/></actuator></mujoco>"""
TURN = np.array([0.9, 0.1, 0.3, 0.3])


def set_constants(m: Any) -> None:
    mujoco.mj_setConst(m, mujoco.MjData(m))


def of(name: str, index: int, numbers: Any) -> Any:
    def change(m: Any) -> None:
        getattr(m, name)[index] = numbers

    return change


@pytest.mark.parametrize(
    ("change", "named", "way_out"),
    [
        (of("body_mass", 1, 2.0), r"dof_M0.*\(body 'loose'\).*mj_setConst", set_constants),
        (of("body_inertia", 1, (0.1, 0.08, 0.06)), r"dof_M0.*'loose'", set_constants),
        (of("dof_armature", 1, 0.5), r"dof_M0.*'loose'", set_constants),
        (of("body_ipos", 1, (0.1, 0, 0)), r"body_sameframe.*\(body 'loose'\)", None),
        (of("body_ipos", 2, (0, 0, 0.1)), r"body_sameframe.*'arm'", of("body_sameframe", 2, 0)),
        (
            of("body_iquat", 2, TURN / np.linalg.norm(TURN)),
            r"body_sameframe.*'arm'",
            of("body_sameframe", 2, 0),
        ),
        (of("site_pos", 0, (0, 0.1, 0.2)), "site_sameframe.*'thrust'", of("site_sameframe", 0, 0)),
        (of("geom_pos", 2, (0, 0.1, 0.2)), "geom_sameframe.*'wing'", of("geom_sameframe", 2, 0)),
        (of("body_mass", 2, 3.0), None, None),
        (of("body_ipos", 3, (0.1, 0.2, 0.3)), None, None),
    ],
)
def test_arrays_that_the_step_does_not_read_are_refused(
    change: Any, named: str | None, way_out: Any
) -> None:
    mj_model = mujoco.MjModel.from_xml_string(SCENE)
    data = random_data(mj_model, 0)
    transition_derivatives(mj_model, data)
    mj_model.geom_sameframe[2] *= named is not None  # else the wing keeps its place
    change(mj_model)
    if named:
        with pytest.raises(ValueError, match=f"^mj_model: expected numbers that fit {named}"):
            transition_derivatives(mj_model, data)
        with pytest.raises(ValueError, match=named):
            StepFunction(mj_model, data)
    if way_out:
        way_out(mj_model)
    if way_out or not named:
        check(mj_model, data)


def test_a_body_that_is_simple_no_more_is_refused() -> None:
    mj_model = mujoco.MjModel.from_xml_string(SCENE)
    data = random_data(mj_model, 0)
    mj_model.body_ipos[1], mj_model.body_sameframe[1] = (0.1, 0.0, 0.0), 0
    # MuJoCo's mass matrix of such a body stays diagonal.
    with pytest.raises(ValueError, match='principal axes needs simple="false"'):
        transition_derivatives(mj_model, data)
