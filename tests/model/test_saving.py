"""`Model.save`: the file loads as an equal model, and a damaged file is refused."""

from __future__ import annotations

import dataclasses
import pickle
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from cases import ROBOTS, robot
from test_pickles import same

import dtau
from dtau.model import saving
from dtau.model.array_file import MAGIC, VERSION, pack, unpack
from dtau.model.joint_type import JointType


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "robot.dtau"


def everything() -> dtau.Model:
    """Return a model with kinds of parts that the table of robots has not."""
    ball = dtau.Inertia(1 / 3, (0.1, -0.0, 5e-324), np.diag([0.1, 0.2, 0.25]))
    turned = dtau.Pose.from_rpy((0.1, 0.2, 0.3), (1, 2, 3))
    limits = dtau.Limits(-1 / 3, 0.7, 3.0, 40.0)
    axes = dtau.Universal((1, 0, 0), (0, 0.6, 0.8))
    arm = dtau.Helical((0, 0.6, 0.8), 0.1)
    links = [
        dtau.Link("base", None, dtau.Fixed(), "mount", turned, ball),
        dtau.Link("arm", "base", arm, "screw", turned, ball, 0.3, 0.2, limits, None, 5.0, 1 / 3),
        dtau.Link("hand", "arm", axes, "wrist", inertia=ball, damping=(0.1, 0.2)),
        dtau.Link("tool", "hand", dtau.Fixed(), "mount", turned, ball),
        dtau.Link(
            *("jaw", "arm", dtau.Prismatic((1, 1, 1)), "slide"), mimic=dtau.Mimic("screw", -2, 0.1)
        ),
    ]
    return dtau.Model(
        "Käfer",
        links,
        gravity=(0.1, -0.2, -1.6),
        notes=["a note", "ein Hinweis: größer"],
        postures={"rest": {"screw": 0.1}, "folded": {"wrist": [0.2, -0.3]}},
    )


@pytest.mark.parametrize("name", [*ROBOTS, "everything"])
def test_a_saved_model_loads_with_the_same_bits(name: str, path: Path) -> None:
    model = everything() if name == "everything" else robot(name)
    model.save(path)
    loaded = dtau.load(path)
    assert same(pickle.loads(pickle.dumps(model)), loaded)


def test_the_format_has_every_part_of_a_link_and_every_kind_of_joint() -> None:
    parts = {
        *("name", "parent", "joint", "joint_name", "placement", "inertia", "armature", "damping"),
        *("limits", "mimic", "stiffness", "rest_position", "friction", "friction_speed"),
    }
    assert {field.name for field in dataclasses.fields(dtau.Link)} == parts
    fields = {field.name for field in dataclasses.fields(dtau.Limits)}
    assert fields == {"lower", "upper", "velocity", "effort"}
    assert {kind for kind, _ in saving._JOINTS.values()} == set(JointType.__subclasses__())


def test_options_that_a_saved_model_takes(path: Path) -> None:
    robot("quadruped").save(path)
    loaded = dtau.load(path, gravity=(0, 0, -1.6), damping=0.5, friction_speed=0.1, friction=2.0)
    assert loaded.gravity.tolist() == [0.0, 0.0, -1.6]
    assert loaded.link("LF_THIGH").damping == (0.5,)
    assert loaded.link("LF_THIGH").friction == (2.0,)
    with pytest.raises(ValueError, match="root: expected None with a file of "):
        dtau.load(path, root="free")
    with pytest.raises(ValueError, match="srdf: expected it with a URDF, got a file of "):
        dtau.load(path, srdf="<robot/>")
    with pytest.raises(dtau.ModelError, match="expected XML, got a file of "):
        dtau.load_mechanism(path)


def test_a_truncated_file_is_refused(path: Path) -> None:
    content = saving.saved(robot("quadruped"))
    for size in (2, 7, 8, 23, 24, 25, 1000, len(content) - 1):
        path.write_bytes(content[:size])
        with pytest.raises(dtau.ModelError, match=r"robot\.dtau: .* expected .* got "):
            dtau.load(path)


def test_a_damaged_file_is_refused(path: Path) -> None:
    content = bytearray(saving.saved(robot("quadruped")))
    for place in range(24, len(content), 997):
        content[place] ^= 1
        path.write_bytes(content)
        with pytest.raises(dtau.ModelError, match="checksum does not match: the file is damaged"):
            dtau.load(path)
        content[place] ^= 1


def test_another_version_is_refused(path: Path) -> None:
    content = bytearray(saving.saved(robot("quadruped")))
    struct.pack_into("<I", content, len(MAGIC), VERSION + 1)
    path.write_bytes(content)
    with pytest.raises(dtau.ModelError, match=f"expected version {VERSION} .*, got {VERSION + 1}"):
        dtau.load(path)


@pytest.mark.parametrize("name", ["links.mass", "links.parent", "links.joint", "postures.q"])
def test_wrong_contents_with_a_right_checksum_are_refused(name: str, path: Path) -> None:
    arrays = unpack(saving.saved(everything()))
    values = arrays.pop(name)
    wrong = ["what"] * 5 if isinstance(values, list) else np.full_like(values, -7)
    for changed in ({}, {name: values[:-1]}, {name: wrong}):
        path.write_bytes(pack({**arrays, **changed}))
        if name == "postures.q" and changed and changed[name] is wrong:
            assert dtau.load(path).postures["rest"].tolist() == [-7.0, -7.0, -7.0]
            continue
        with pytest.raises(dtau.ModelError, match=r"robot\.dtau"):
            dtau.load(path)


def test_odd_arrays_with_a_right_checksum_are_refused(path: Path) -> None:
    """Nothing but ModelError comes out of a file, whatever array it has in any place."""
    arrays = unpack(saving.saved(everything()))
    read = [name for name in arrays if not name.startswith("core.")]  # the rest is for C++
    numbers = (-1, 0, 2**31 - 1, np.nan, np.inf, -np.inf, 1e308, 5e-324)
    anything = [["a text"], [], np.zeros(0), np.array(np.nan), np.zeros((1, 2, 3, 4)), np.ones(3)]
    refused = cases = 0
    for name in read:
        values = arrays[name]
        if isinstance(values, np.ndarray):
            other = np.int32 if values.dtype.kind == "f" else np.float64
            odd = [
                np.ones_like(values, other),
                values[np.newaxis],
                values.reshape(-1, 1),
                values[1:],
            ]
            odd += [np.resize(np.array(number), values.shape) for number in numbers]
        else:
            odd = [values[1:], [*values, "more"], ["world"] * len(values), ["\0"] * len(values)]
        for changed in (*anything, *odd):
            path.write_bytes(pack({**arrays, name: changed}))
            cases += 1
            try:
                dtau.load(path)
            except dtau.ModelError as error:
                assert "robot.dtau" in str(error), (name, changed)  # noqa: PT017
                refused += 1
            except Exception as error:
                raise AssertionError(f"{name}: {changed!r:.100}") from error
    assert refused > 0.7 * cases > 200, (refused, cases)


def test_random_bytes_with_a_right_checksum_are_refused(path: Path) -> None:
    rng = np.random.default_rng(5)
    for size in rng.integers(0, 200, 300):
        rest = rng.choice([0, 0, 0, 1, 2, 255], size).astype(np.uint8).tobytes()
        header = struct.pack("<8sIIQ", MAGIC, VERSION, zlib.crc32(rest), len(rest))
        path.write_bytes(header + rest)
        with pytest.raises(dtau.ModelError, match=r"robot\.dtau"):
            dtau.load(path)
