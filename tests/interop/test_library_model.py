"""What the C++ library says of a model: names, entries, limits, masses and gravity of Python's."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from c_interface import LIMITS, CModel, DtauError
from cases import ROBOTS, robot

import dtau
from dtau.model.joint_type import JointType

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="the package has no C++ library on Windows"
)


def odd() -> dtau.Model:
    """Return a model with all kinds of joints, and chains of mimics before what they mimic."""
    box = dtau.Inertia(1 / 3, (0.1, 0.0, 0.2), np.diag([0.1, 0.2, 0.25]))
    x, z = (1, 0, 0), (0, 0, 1)
    weight = {"inertia": box}
    pairs = {"velocity": (3.0, 4.0), "effort": (5.0, np.inf)}
    links = [
        dtau.Link("base", None, dtau.Fixed(), "mount", **weight),
        dtau.Link(
            *("a", "base", dtau.Revolute(x), "first"),
            limits=dtau.Limits(-9, 9, 8, 7),
            mimic=dtau.Mimic("middle", 2.0, 0.1),
            **weight,
        ),
        dtau.Link("b", "a", dtau.Universal(x, z), "wrist", limits=dtau.Limits(**pairs), **weight),
        dtau.Link("tool", "b", dtau.Fixed(), "mount", **weight),
        dtau.Link(
            *("c", "b", dtau.Prismatic(x), "middle"), mimic=dtau.Mimic("last", -1.0), **weight
        ),
        dtau.Link("d", "c", dtau.Spherical(), "ball", limits=dtau.Limits(effort=2), **weight),
        dtau.Link("e", "d", dtau.Helical(z, 0.1), "last", limits=dtau.Limits(-1, 0.5), **weight),
        dtau.Link("f", "e", dtau.Planar(z), "plane", limits=dtau.Limits(velocity=6), **weight),
        dtau.Link("g", "base", dtau.Cylindrical(x), "tube", **weight),
        dtau.Link("flyer", None, dtau.Free(), "air", **weight),
    ]
    return dtau.Model("odd", links, gravity=(0.1, -0.2, -1.6))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "robot.dtau"


@pytest.mark.parametrize("name", [*ROBOTS, "odd"])
def test_names_entries_and_numbers_are_pythons(name: str, path: Path) -> None:
    model = odd() if name == "odd" else robot(name)
    model.save(path)
    read = CModel(path)
    assert read.sizes == (model.nq, model.nv, model.nbodies, len(model.frames))
    joints = [joint.name for joint in model.joints]
    for kind, names in (("joint", joints), ("body", model.bodies), ("frame", model.frames)):
        assert read.names(kind) == list(names)
        assert [read.find(kind, x) for x in names] == list(range(len(names)))
    assert [read.entries(k) for k in range(len(joints))] == [(x.q, x.v) for x in model.joints]
    for limits in LIMITS:
        expected = getattr(model, limits)
        np.testing.assert_array_equal(read.numbers(limits, len(expected)), expected)
    masses = [inertia.mass for inertia in model.inertias]
    np.testing.assert_array_equal(read.numbers("masses", model.nbodies), masses)
    np.testing.assert_array_equal(read.numbers("gravity", 3), model.gravity)


def test_the_odd_robot_has_what_others_lack() -> None:
    model = odd()
    kinds = {type(link.joint) for link in model.links}
    assert kinds == set(JointType.__subclasses__())
    assert [model.joint(x).q for x in ("first", "middle")] == [model.joint("last").q] * 2


@pytest.mark.parametrize(
    ("kind", "name", "hint"),
    [
        ("joint", "LF_KEF", "; close names: 'LF_KFE', 'LF_HFE', 'LH_KFE'"),
        ("body", "shank", ""),
        ("frame", "LF_FOT", "; close names: 'LF_FOOT', 'LH_FOOT', 'RF_FOOT'"),
        ("frame", "", ""),
    ],
)
def test_unknown_names(kind: str, name: str, hint: str, path: Path) -> None:
    robot("quadruped").save(path)
    with pytest.raises(DtauError) as raised:
        CModel(path).find(kind, name)
    assert str(raised.value) == f"no {kind} named {name!r}{hint}"


def test_an_unknown_name_of_a_few_or_of_long_ones(path: Path) -> None:
    links = [
        dtau.Link("arm", None, dtau.Revolute((1, 0, 0)), "elbow", inertia=dtau.Inertia(1.0)),
        dtau.Link("x" * 100, "arm", dtau.Fixed(), "weld"),
    ]
    with pytest.warns(dtau.ModelWarning):
        dtau.Model("arm", links).save(path)
    model = CModel(path)
    with pytest.raises(DtauError, match=r"^no joint named 'knee'; there are: 'elbow'$"):
        model.find("joint", "knee")
    with pytest.raises(DtauError, match=r"^no frame named 'y{80}'; there are: 'arm'$"):
        model.find("frame", "y" * 1000)
    with pytest.raises(DtauError, match="index: expected a joint from 0 to 0, got 1"):
        model.entries(1)
