"""`dtau.distances` against differences of coal's distance, and against MuJoCo's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import TOLERANCE, assert_close
from messages import message
from trees import Array

import dtau

coal = pytest.importorskip("coal")
from dtau.distances import Shape, read_shapes, shape_distances  # noqa: E402

INERTIAL = """<inertial><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>"""
ONE = '<origin xyz="0.1 -0.05 0.2" rpy="0.3 -0.2 0.5"/>'
TWO = '<origin xyz="-0.1 0.1 0.05" rpy="-0.4 0.7 0.1"/>'
URDF = {
    "box": '<box size="0.2 0.3 0.1"/>',
    "sphere": '<sphere radius="0.1"/>',
    "cylinder": '<cylinder radius="0.1" length="0.3"/>',
    "capsule": '<capsule radius="0.08" length="0.25"/>',
    "mesh": '<mesh filename="bolt.stl" scale="1 1.2 -0.8"/>',
}
MJCF = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="one" pos="0 0 1"><freejoint/><geom name="a" type="{}" size=".1 .2 .15" mass="1"/>
<geom size=".5" contype="0" conaffinity="0"/></body>
<body name="two" pos="1 0 1"><freejoint/><geom pos=".1 0 0" type="{}" size=".1 .2 .15" mass="1"/>
</body></worldbody></mujoco>"""
# coal's nearest points are off by the root of its tolerance where a surface is round; the others
# are exact, and the differences are off by rounding errors of 1e-16 over the step.
EXACT, ROUND = 1e-9, 1e-5
STEP = 1e-5  # curvature jumps where the nearest points pass an edge


def urdf(first: str, second: str) -> str:
    """Two bodies on a floating base; the second one has two shapes."""
    return f"""<robot name="r"><link name="base">{INERTIAL}</link>
<link name="one">{INERTIAL}<collision>{ONE}<geometry>{URDF[first]}</geometry></collision></link>
<link name="two">{INERTIAL}<collision>{TWO}<geometry>{URDF[second]}</geometry></collision>
<collision name="knob"><origin xyz="-0.4 0 0"/>
<geometry><sphere radius="0.05"/></geometry></collision></link>
<joint name="j" type="revolute"><parent link="base"/><child link="one"/>
<origin xyz="0.5 0 0"/><axis xyz="0 0.6 0.8"/><limit effort="1" velocity="1"/></joint>
<joint name="k" type="prismatic"><parent link="base"/><child link="two"/>
<origin xyz="-0.5 0 0"/><axis xyz="1 0 0"/><limit effort="1" velocity="1"/></joint></robot>"""


def write_bolt(path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    corners = np.random.default_rng(5).normal(size=(30, 3))
    corners *= 0.15 / np.linalg.norm(corners, axis=1)[:, None]
    path.write_bytes(trimesh.Trimesh(corners).convex_hull.export(file_type="stl"))


def robot(tmp_path: Path, first: str, second: str, **options: Any) -> tuple[dtau.Model, Any]:
    write_bolt(tmp_path / "bolt.stl")
    file = tmp_path / "r.urdf"
    file.write_text(urdf(first, second))
    model = dtau.load(file, root="free")
    return model, read_shapes(model, file, **options)


def states(model: dtau.Model, shape: tuple[int, ...]) -> Array:
    return dtau.random_state(model, np.random.default_rng(0), shape=shape)[0]


def coal_distance(model: dtau.Model, q: Array, first: Any, second: Any) -> float:
    """Ask coal directly, for shapes where `frame_placements` has their links."""
    at = []
    for shape in (first, second):
        pose = shape.placement
        if shape.frame is not None:
            rotation, translation = dtau.frame_placements(model, q, shape.frame)
            pose = dtau.Pose(rotation, translation) @ pose
        at += [shape.geometry, coal.Transform3s(pose.rotation, pose.translation)]
    request = coal.DistanceRequest()
    request.gjk_tolerance, request.gjk_max_iterations = 1e-12, 1000
    return coal.distance(*at, request, coal.DistanceResult())


def differences(model: dtau.Model, q: Array, first: Any, second: Any) -> Array:
    """Central differences of coal's distance, of fourth order."""
    columns = []
    for dq in STEP * np.eye(model.nv):
        near, far = (
            coal_distance(model, dtau.integrate(model, q, h * dq), first, second)
            - coal_distance(model, dtau.integrate(model, q, -h * dq), first, second)
            for h in (1, 2)
        )
        columns.append((8 * near - far) / (12 * STEP))
    return np.array(columns)


CASES = [(x, y, hulls) for x in URDF for y in URDF for hulls in sorted({False, "mesh" in (x, y)})]


@pytest.mark.parametrize(("first", "second", "hulls"), CASES)
def test_gradients(tmp_path: Path, first: str, second: str, hulls: bool) -> None:
    model, shapes = robot(tmp_path, first, second, hulls=hulls)
    assert [shape.name for shape in shapes] == ["one/0", "two/0", "knob"]
    wall = Shape("wall", None, coal.Box(0.1, 3.0, 2.0), dtau.Pose(translation=(3.0, 0.2, 0.1)))
    shapes = (*shapes, wall)
    by_name = {shape.name: shape for shape in shapes}
    q = states(model, (4,))
    pairs = [("one/0", "two/0"), ("two/0", "wall"), ("wall", "one/0"), ("knob", "one/0")]
    near = shape_distances(model, q, shapes, pairs)
    assert near.pairs == tuple(pairs)
    assert (near.distance > 0.05).all()
    apart = near.points[..., 1, :] - near.points[..., 0, :]
    assert_close(near.distance[..., None] * near.normal, apart, TOLERANCE["identity"])
    for k, (a, b) in enumerate(pairs):
        tolerance = ROUND if "cylinder" in (first, second) else EXACT
        for i in range(4):
            want = coal_distance(model, q[i], by_name[a], by_name[b])
            assert_close(near.distance[i, k], want, TOLERANCE["rounding"])
            want = differences(model, q[i], by_name[a], by_name[b])
            assert_close(near.ddistance_dq[i, k], want, tolerance, f"{a}, {b}")


def test_shapes_have_different_names() -> None:
    text = urdf("box", "sphere").replace('name="knob"', 'name="two/0"')
    model = dtau.load(text, root="free")
    assert [shape.name for shape in read_shapes(model, text)] == ["one/0", "two/0_", "two/0"]


def test_overlapping_shapes_have_a_depth(tmp_path: Path) -> None:
    model, _ = robot(tmp_path, "box", "box")
    one = Shape("a", "one", coal.Box(0.4, 0.5, 0.3))
    for geometry, tolerance in ((coal.Box(3.0, 4.0, 5.0), EXACT), (coal.Sphere(2.0), EXACT)):
        big = Shape("b", None, geometry, dtau.Pose.from_rpy((0.1, 0.2, 0.3), (0.3, 0.2, 0.1)))
        q = dtau.integrate(model, dtau.neutral(model), 0.1 * np.arange(model.nv))
        near = shape_distances(model, q, [one, big])
        assert near.distance < -0.1
        apart = near.points[:, 1] - near.points[:, 0]
        assert_close(near.distance[:, None] * near.normal, apart, TOLERANCE["identity"])
        assert_close(near.ddistance_dq[0], differences(model, q, one, big), tolerance)


def test_intersecting_triangles_have_no_depth(tmp_path: Path) -> None:
    model, shapes = robot(tmp_path, "mesh", "mesh")
    q = dtau.neutral(model)
    q[model.joint("k").q] = 1.05  # both bolts at nearly the same place
    near = shape_distances(model, q, shapes, [("one/0", "two/0")])
    assert near.distance == 0.0
    assert not near.ddistance_dq.any()
    assert not near.normal.any()
    model, shapes = robot(tmp_path, "mesh", "mesh", hulls=True)
    assert shape_distances(model, q, shapes, [("one/0", "two/0")]).distance < -0.01


def test_a_link_is_as_far_as_its_nearest_shape(tmp_path: Path) -> None:
    model, shapes = robot(tmp_path, "box", "capsule")
    q = states(model, (2, 3))
    q[..., model.joint("k").q] = np.linspace(0.0, 2.0, 6).reshape(2, 3, 1)  # past the other body
    of_shapes = shape_distances(model, q, shapes, [("one", "two/0"), ("one", "knob")])
    of_links = shape_distances(model, q, shapes, [("one", "two")])
    nearest = of_shapes.distance.argmin(axis=-1)[..., None]
    assert len(np.unique(nearest)) == 2
    for field in ("distance", "points", "normal", "ddistance_dq"):
        every, got = getattr(of_shapes, field), getattr(of_links, field)
        index = nearest.reshape(nearest.shape + (1,) * (every.ndim - 3))
        want = np.take_along_axis(every, index, axis=2)
        assert np.array_equal(got, want), field


def test_batches_equal_single_states(tmp_path: Path) -> None:
    model, shapes = robot(tmp_path, "box", "cylinder")
    q = states(model, (2, 3))
    near = shape_distances(model, q, shapes)
    assert near.points.shape == (2, 3, 1, 2, 3)
    for index in np.ndindex(2, 3):
        one = shape_distances(model, q[index], shapes)
        assert all(np.array_equal(x[index], y) for x, y in zip(near[:4], one[:4], strict=True))
    assert shape_distances(model, q[:, :0], shapes).ddistance_dq.shape == (2, 0, 1, model.nv)


def test_pairs_by_default_leave_out_neighbors() -> None:
    builder = dtau.ModelBuilder("chain")
    parent = None
    for name in ("base", "a", "bare", "b", "c"):
        joint = dtau.Revolute((0, 1, 0)) if parent else dtau.Free()
        builder.add(
            joint, name=name, parent=parent, inertia=dtau.Inertia(1.0, (0, 0, 0), np.eye(3))
        )
        parent = name
    model = builder.build()
    ball = coal.Sphere(0.01)
    shapes = [Shape(f"{link}/0", link, ball) for link in ("base", "a", "b", "c")]
    shapes += [Shape("rock", None, ball), Shape("floor", None, coal.Halfspace(0, 0, 1, 0))]
    pairs = shape_distances(model, dtau.neutral(model), shapes).pairs
    links = (("base", "b"), ("base", "c"), ("a", "c"))
    world = tuple((x, y) for y in ("rock", "floor") for x in ("base", "a", "b", "c"))
    assert pairs == links + world


@pytest.mark.parametrize("second", ["sphere", "capsule", "ellipsoid", "cylinder", "box"])
@pytest.mark.parametrize("first", ["sphere", "capsule", "box"])
def test_distances_of_an_mjcf(first: str, second: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    text = MJCF.format(first, second)
    model = dtau.load(text)
    shapes = read_shapes(model, text)
    assert [(shape.name, shape.frame) for shape in shapes] == [
        ("floor", None),
        ("a", "one"),
        ("two/0", "two"),
    ]
    m = mujoco.MjModel.from_xml_string(text)
    data, fromto = mujoco.MjData(m), np.zeros(6)
    rng = np.random.default_rng(1)
    for _ in range(5):
        dq = 0.5 * rng.normal(size=6)
        mujoco.mj_resetData(m, data)
        mujoco.mj_integratePos(m, data.qpos, np.r_[np.zeros(6), dq], 1.0)
        mujoco.mj_forward(m, data)
        q, _, _ = dtau.conventions.mujoco(model, m).to_dtau(data.qpos)
        near = shape_distances(model, q, shapes, [("one", "two"), ("floor", "two")])
        want = mujoco.mj_geomDistance(m, data, 1, 3, 10.0, fromto)
        assert_close(near.distance[0], want, 1e-6)  # the tolerance of MuJoCo's solver
        assert_close(near.points[0].ravel(), fromto, 2e-3)
        want = mujoco.mj_geomDistance(m, data, 0, 3, 10.0, fromto)
        assert_close(near.distance[1], want, 1e-6)


def one_triangle() -> Any:
    triangle = coal.BVHModelOBBRSS()
    triangle.beginModel(1, 3)
    triangle.addTriangle(*np.eye(3))
    triangle.endModel()
    return triangle


@pytest.mark.parametrize(
    "geometry",
    [
        *(coal.Sphere(x) for x in (0.0, -1.0, np.nan, np.inf, 1e200)),
        *(coal.Box(*x) for x in ((0, 0, 0), (-1.0, 1.0, 1.0), (np.nan, 1.0, 1.0), (1.0, 1e7, 1.0))),
        *(coal.Cylinder(*x) for x in ((np.nan, 1.0), (0.1, np.nan), (0.0, 0.0))),
        coal.Capsule(-0.1, -1.0),
        coal.Ellipsoid(0.0, 0.0, 0.0),
        coal.TriangleP(np.zeros(3), np.zeros(3), np.zeros(3)),
        *(coal.Halfspace(np.array([0.0, 0.0, 1.0]), x) for x in (np.nan, np.inf, 1e200)),
        coal.Plane(np.array([0.0, 0.0, 1.0]), np.nan),
        coal.BVHModelOBBRSS(),
        coal.Convex(),
    ],
    ids=lambda x: type(x).__name__,
)
def test_geometries_without_a_size_are_refused(geometry: Any) -> None:
    model = dtau.robots.chain(2)
    ball = Shape("ball", model.frames[-1], coal.Sphere(0.1))
    with pytest.raises(ValueError, match=r"^geometry of shape 'odd': expected a (size|plane) "):
        shape_distances(model, np.zeros(2), [ball, Shape("odd", None, geometry)])


def test_geometries_and_placements_may_change_until_they_are_used() -> None:
    model = dtau.robots.chain(2)
    ball, sphere = Shape("ball", model.frames[-1], coal.Sphere(0.1)), coal.Sphere(0.1)
    other = Shape("other", None, sphere)
    assert np.isfinite(shape_distances(model, np.zeros(2), [ball, other]).distance).all()
    sphere.radius = np.nan
    with pytest.raises(ValueError, match=r"^geometry of shape 'other': expected a size"):
        shape_distances(model, np.zeros(2), [ball, other])
    flat = Shape("flat", None, coal.Box(0.0, 1.0, 1.0))  # a plate
    mesh = Shape("mesh", None, one_triangle())
    near = shape_distances(model, np.zeros(2), [ball, flat, mesh])
    assert np.isfinite(near.distance).all()
    far = Shape("far", None, coal.Sphere(0.1), dtau.Pose(translation=(1e200, 0.0, 0.0)))
    with pytest.raises(ValueError, match=r"^placement of shape 'far': expected at most 1e"):
        shape_distances(model, np.zeros(2), [ball, far])
    unmade = coal.Sphere.__new__(coal.Sphere)
    with pytest.raises(TypeError, match=r"^geometry of shape 'new': expected a geometry that coal"):
        shape_distances(model, np.zeros(2), [ball, Shape("new", None, unmade)])


def test_messages(tmp_path: Path) -> None:
    model, shapes = robot(tmp_path, "box", "box")
    q = dtau.neutral(model)
    knot = Shape("knob", "one", coal.Sphere(1.0))
    floor = Shape("floor", None, coal.Halfspace(0, 0, 1, 0))
    roof = Shape("roof", None, coal.Plane(0, 0, 1, 0))
    for said, kind, arguments in (
        ("different names, got 'knob' twice", ValueError, (q, (*shapes, knot))),
        (
            "no shape or link with shapes named 'on'; close",
            ValueError,
            (q, shapes, [("on", "two")]),
        ),
        (
            "names that no link has, got 'one'",
            ValueError,
            (q, [Shape("one", "one", knot.geometry)]),
        ),
        ("pairs: a shape and itself", ValueError, (q, shapes, [("knob", "knob")])),
        (
            "shapes, of dtau.distances.Shape, got a single Shape; put it in a list",
            TypeError,
            (q, knot),
        ),
        ("pairs: a plane and a plane", ValueError, (q, [floor, roof], [("roof", "floor")])),
        ("pairs: expected pairs of names, got 'one'", TypeError, (q, shapes, ["one"])),
        ("shapes: expected shapes", TypeError, (q, [coal.Sphere(1.0)])),
        ("q: expected finite numbers", ValueError, (np.nan * q, shapes)),
        ("q has shape (3,), expected (..., 9)", ValueError, (q[:3], shapes)),
    ):
        assert said in message(kind, lambda given=arguments: shape_distances(model, *given))
    assert "geometry: expected a path" in message(TypeError, lambda: read_shapes(model, 3))
    text = urdf("box", "box")
    assert "meshes: expected a path" in message(
        TypeError, lambda: read_shapes(model, text, meshes=3)
    )
    file = tmp_path / "r.urdf"
    (tmp_path / "bolt.stl").unlink()
    file.write_text(urdf("mesh", "box"))
    with pytest.warns(dtau.ModelWarning, match="left out: 1; mesh of link 'one': not found below"):
        assert len(read_shapes(model, file)) == 2
