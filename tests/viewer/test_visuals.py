"""Visual geometry of robots, read from their files."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from compare import assert_close
from messages import has_words, message

import dtau
from dtau.support.errors import ModelError
from dtau.viewer.meshfiles import GRAY
from dtau.viewer.parts import looks
from dtau.viewer.visuals import read_visuals

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
SIDES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def urdf(visual: str, extra: str = "") -> str:
    return f"""
    <robot name="r">{extra}
      <link name="base"/>
      <link name="arm"><inertial><mass value="2"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>{visual}</link>
      <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
    </robot>"""


def shape(geometry: str, rest: str = "") -> str:
    return f"<visual>{rest}<geometry>{geometry}</geometry></visual>"


def write_stl(path: Path) -> None:
    """A tetrahedron, binary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    faces = b"".join(struct.pack("<12fH", 0, 0, 0, *CORNERS[list(f)].ravel(), 0) for f in SIDES)
    path.write_bytes(bytes(80) + struct.pack("<I", len(SIDES)) + faces)


@pytest.mark.parametrize(
    ("geometry", "half"),
    [
        ('<box size="0.2 0.4 0.6"/>', (0.1, 0.2, 0.3)),
        ('<sphere radius="0.3"/>', (0.3, 0.3, 0.3)),
        ('<cylinder radius="0.1" length="0.5"/>', (0.1, 0.1, 0.25)),
        ('<capsule radius="0.1" length="0.5"/>', (0.1, 0.1, 0.35)),
    ],
)
def test_solids_of_a_urdf(geometry: str, half: tuple[float, ...]) -> None:
    origin = '<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>'
    found, notes = read_visuals(urdf(shape(geometry, origin)))
    assert not notes
    [(link, (mesh, _))] = found
    assert link == "arm"
    x, y, z = half
    assert_close(mesh.vertices.min(axis=0), np.array([1 - y, 2 - x, 3 - z]), 1e-12)
    assert_close(mesh.vertices.max(axis=0), np.array([1 + y, 2 + x, 3 + z]), 1e-12)
    assert_outwards(mesh.vertices, mesh.normals, mesh.faces, np.array([1.0, 2.0, 3.0]))


def assert_outwards(
    vertices: np.ndarray, normals: np.ndarray, faces: np.ndarray, centre: np.ndarray
) -> None:
    """Of a convex body: normals, and the order of corners."""
    assert_close(np.linalg.norm(normals, axis=1), np.ones(len(normals)), 1e-9)
    assert (np.einsum("ij,ij->i", normals, vertices - centre) > 0).all()
    a, b, c = vertices[faces].transpose(1, 0, 2)
    across = np.cross(b - a, c - a)
    assert (np.einsum("ij,ij->i", across, (a + b + c) / 3 - centre) > 0).all()


def test_colors_of_a_urdf() -> None:
    material = '<material name="red"><color rgba="1 0 0 1"/></material>'
    by_name = shape('<box size="1 1 1"/>', '<material name="red"/>')
    own = shape('<box size="1 1 1"/>', '<material name="x"><color rgba="0 2 0 1"/></material>')
    none = shape('<box size="1 1 1"/>', '<material name="unknown"/>')
    found, _ = read_visuals(urdf(by_name + own + none, material))
    colors = [surface.color for _, surface in found]
    assert colors[:2] == [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
    assert len({*colors}) == 3


def test_meshes_of_a_urdf(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    write_stl(tmp_path / "pkg/meshes/a.stl")
    file = tmp_path / "pkg/urdf/r.urdf"
    file.parent.mkdir()
    file.write_text(urdf(shape('<mesh filename="package://pkg/meshes/a.stl" scale="1 2 -3"/>')))
    found, notes = read_visuals(file, tmp_path)
    assert not notes
    [(_, (mesh, _))] = found
    assert_close(mesh.vertices.max(axis=0), np.array([1.0, 2.0, 0.0]), 1e-6)
    assert_close(mesh.vertices.min(axis=0), np.array([0.0, 0.0, -3.0]), 1e-6)
    assert_outwards(mesh.vertices, mesh.normals, mesh.faces, np.array([0.25, 0.5, -0.75]))


def test_meshes_that_are_not_there_leave_the_ellipsoid(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    write_stl(tmp_path / "outside/a.stl")
    (tmp_path / "own").mkdir()
    (tmp_path / "own/bad.stl").write_text("no mesh")
    (tmp_path / "own/other.txt").write_text("no mesh")
    for name, word in (
        ("package://pkg/none.stl", "not found below the file's own folder and those of meshes="),
        ("../outside/a.stl", "outside"),
        ("bad.stl", "bad.stl"),
        ("other.txt", "expected a mesh"),
    ):
        file = tmp_path / "own/r.urdf"
        file.write_text(urdf(shape(f'<mesh filename="{name}"/>')))
        model = dtau.load(file)
        parts, notes = looks(model, file)
        assert len(notes) == 1
        has_words(notes[0], "link 'arm'", word)
        assert len(parts) == len(looks(model).parts)


def test_materials_of_an_obj_are_read_below_the_folders_alone(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    pytest.importorskip("PIL")
    vertices = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS)
    faces = "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in SIDES)
    for library in ("inside.mtl", "../outside.mtl"):
        (tmp_path / "own").mkdir(exist_ok=True)
        (tmp_path / "own" / library).write_text("newmtl red\nKd 1 0 0\n")
        (tmp_path / "own/a.obj").write_text(f"mtllib {library}\n{vertices}usemtl red\n{faces}")
        file = tmp_path / "own/r.urdf"
        file.write_text(urdf(shape('<mesh filename="a.obj"/>')))
        [(_, (_, color))] = read_visuals(file).found
        assert (color == (1.0, 0.0, 0.0)) == (library == "inside.mtl")


def test_meshes_with_broken_references_to_materials_are_shown(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    made = trimesh.Trimesh(CORNERS, SIDES).export(file_type="gltf")
    for name, content in made.items():
        (tmp_path / name).write_bytes(content)
    (name,) = (name for name in made if name.endswith(".gltf"))
    document = json.loads(made[name])
    document["meshes"][0]["primitives"][0]["material"] = 7
    (tmp_path / "a.gltf").write_text(json.dumps(document))
    vertices = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS)
    faces = "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in SIDES)
    (tmp_path / "a.obj").write_text(f"mtllib gone.mtl\n{vertices}usemtl red\n{faces}")
    for mesh in ("a.gltf", "a.obj"):
        file = tmp_path / "r.urdf"
        file.write_text(urdf(shape(f'<mesh filename="{mesh}"/>')))
        found, notes = read_visuals(file)
        assert (len(found), notes) == (1, [])
        assert len(found[0].surface.mesh.faces) == len(SIDES)


COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit meter="1"/><up_axis>Z_UP</up_axis></asset>
  <library_effects>{effects}</library_effects>
  <library_materials>{materials}</library_materials>
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="f" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
      <technique_common><accessor source="#f" count="4" stride="3"><param name="X" type="float"/>
        <param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common>
    </source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <triangles count="2" material="red"><input semantic="VERTEX" source="#v" offset="0"/>
      <p>0 2 1 0 1 3</p></triangles>
    <triangles count="2" material="bad"><input semantic="VERTEX" source="#v" offset="0"/>
      <p>0 3 2 1 2 3</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"><bind_material>
    <technique_common><instance_material symbol="red" target="#red"/>
      <instance_material symbol="bad" target="#bad"/></technique_common>
  </bind_material></instance_geometry></node></visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>"""
EFFECT = """<effect id="{0}-e"><profile_COMMON>{1}<technique sid="c"><lambert><diffuse>{2}
  </diffuse></lambert></technique></profile_COMMON></effect>"""
TEXTURE = '<newparam sid="t"><sampler2D><source>none</source></sampler2D></newparam>'


@pytest.mark.parametrize(
    ("bad", "material"),
    [
        ("", ""),
        ("", '<material id="bad"><instance_effect url="#bad-e"/></material>'),
        (
            EFFECT.format("bad", TEXTURE, '<texture texture="t" texcoord="u"/>'),
            '<material id="bad"><instance_effect url="#bad-e"/></material>',
        ),
    ],
)
def test_a_broken_material_leaves_the_mesh(tmp_path: Path, bad: str, material: str) -> None:
    """As in ANYmal's feet, whose surface names an image that is not declared."""
    pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    effects = EFFECT.format("red", "", "<color>1 0 0 1</color>") + bad
    materials = f'<material id="red"><instance_effect url="#red-e"/></material>{material}'
    (tmp_path / "a.dae").write_text(COLLADA.format(effects=effects, materials=materials))
    (tmp_path / "r.urdf").write_text(urdf(shape('<mesh filename="a.dae"/>')))
    found, notes = read_visuals(tmp_path / "r.urdf")
    assert not notes
    assert sorted(len(visual.surface.mesh.faces) for visual in found) == [2, 2]
    assert {visual.surface.color for visual in found} == {(1.0, 0.0, 0.0), GRAY}


def test_geometry_of_links_that_are_fixed_goes_with_their_body() -> None:
    text = urdf("").replace(
        "</robot>",
        f"""<link name="tool">{shape('<box size="0.1 0.1 0.1"/>')}</link>
        <joint name="weld" type="fixed"><parent link="arm"/><child link="tool"/>
          <origin xyz="0 0 5"/></joint></robot>""",
    )
    [part] = looks(dtau.load(text), text).parts
    assert part.body == 0
    assert_close(part.mesh.vertices.mean(axis=0), np.array([0.0, 0.0, 5.0]), 1e-12, floor=1.0)


def test_geometry_of_links_that_the_model_does_not_have() -> None:
    text = urdf(shape('<box size="1 1 1"/>'))
    other = dtau.load(text.replace('"arm"', '"leg"'))
    parts, notes = looks(other, text)
    has_words(notes[0], "arm", "no such link")
    assert len(parts) == len(looks(other).parts)


@pytest.mark.parametrize(
    ("visual", "words"),
    [
        (shape('<sphere radius="-1"/>'), ["radius", "positive"]),
        (shape('<sphere radius="x"/>'), ["radius"]),
        (shape("<cone/>"), ["box", "geometry"]),
        ("<visual/>", ["geometry"]),
        (shape('<mesh scale="1 1"/>'), ["scale"]),
        (shape("<mesh/>"), ["filename"]),
    ],
)
def test_what_a_urdf_must_not_say(visual: str, words: list[str]) -> None:
    has_words(message(ModelError, read_visuals, urdf(visual)), "line", *words)


@pytest.mark.parametrize("size", ["0 0 0", "1e200 1e200 1e200"])
def test_boxes_without_a_surface_leave_the_ellipsoid(size: str) -> None:
    text = urdf(shape(f'<box size="{size}"/>'))
    model = dtau.load(text)
    parts, notes = looks(model, text)
    has_words(notes[0], "link 'arm'", "surface")
    assert len(parts) == len(looks(model).parts)


def test_geometry_weighs_nothing_on_the_model() -> None:
    plain, shown = urdf(""), urdf(shape('<box size="1 1 1"/>'))
    assert dtau.load(plain) == dtau.load(shown)


def test_geoms_of_an_mjcf(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    write_stl(tmp_path / "own/assets/a.stl")
    write_stl(tmp_path / "outside/b.stl")
    text = """<mujoco><asset><mesh name="a" file="assets/a.stl"/>
        <mesh name="b" file="../outside/b.stl"/></asset>
      <worldbody><geom type="box" size="1 2 3" pos="0 0 -3"/><geom type="plane" size="1 1 1"/>
      <body name="arm" pos="0 0 1"><joint name="j" pos="0.1 0 0" axis="0 1 0"/>
        <geom type="capsule" size="0.1 0.3" rgba="1 0 0 1"/>
        <geom type="mesh" mesh="a" pos="0 0 2"/><geom type="mesh" mesh="b"/>
        <geom type="sphere" size="9" group="3"/></body></worldbody></mujoco>"""
    file = tmp_path / "own/r.xml"
    file.write_text(text)
    found, notes = read_visuals(file)
    links = [link for link, _ in found]
    assert links == [None, "arm", "arm"]
    assert_close(found[0].surface.mesh.vertices.min(axis=0), np.array([-1.0, -2.0, -6.0]), 1e-9)
    assert found[1].surface.color == (1.0, 0.0, 0.0)
    corners = found[2].surface.mesh.vertices  # where the file has them, not about their center
    assert_close(corners.max(axis=0), np.array([1.0, 1.0, 3.0]), 1e-6)
    has_words(notes[0], "arm", "outside")
    model = dtau.load(file)
    assert {part.body for part in looks(model, file).parts} == {-1, 0}
