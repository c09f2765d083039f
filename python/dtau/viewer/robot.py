"""A robot on the viewer's page, with arrows, sliders and gizmos: `Robot`."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dtau.model.pose import Pose
from dtau.support.arrays import Array
from dtau.support.checks import real_array
from dtau.viewer.controls import Slider, has_gizmo, sliders
from dtau.viewer.meshfiles import Color
from dtau.viewer.motion import ARROWS, Motion
from dtau.viewer.parts import Part, reach
from dtau.viewer.rotations import relative

_AT_FIRST = ("forces", "moments", "velocities")  # arrows that are shown by default
_SAME = 1e-9  # meters or radians: smaller motions are ignored


class Robot:
    """A robot that a viewer shows; made by `Viewer.add`.

    Attributes
    ----------
    name : str
        Name on the page.
    model : Model
    q : ndarray (nq,)
        The configuration that is shown.
    bounds : ndarray (2, 3)
        Corners of the robot's bounding box, along the world's axes.
    notes : tuple of str
        Geometry that could not be shown, with reasons.
    """

    def __init__(
        self,
        server: Any,
        lock: RLock,
        node: str,
        name: str,
        motion: Motion,
        parts: list[Part],
        placement: Pose,
        notes: tuple[str, ...],
        pause: Callable[[], None],
    ) -> None:
        self.name, self.model, self.notes = name, motion.model, notes
        self._server, self._lock, self._pause = server, lock, pause
        self._motion, self._shown, self._frame = motion, motion, 0
        self._parents = [joint.parent for joint in motion.model.joints]
        self._wxyz, self._place = relative(self._parents, motion.rotation, motion.translation)
        self._turns = (np.ptp(self._wxyz, axis=0) > _SAME).any(axis=-1)
        self._moves = (np.ptp(self._place, axis=0) > _SAME).any(axis=-1)
        self.bounds = _bounds(motion, parts, placement)
        self._draw(node, parts, placement)
        self._add_controls()

    @property
    def q(self) -> Array:
        """The configuration that is shown."""
        frame = self._frame if self._shown is self._motion else 0
        return np.array(self._shown.q[frame])

    def set(self, q: ArrayLike) -> None:
        """Show a configuration, with the velocities and wrenches of the current frame.

        Parameters
        ----------
        q : array_like (nq,)
            Configuration.

        Raises
        ------
        ValueError, TypeError
            If its shape is wrong, or a number is not finite.
        """
        with self._lock:
            self._change(real_array("q", q, (self.model.nq,)))
            self._pause()
            self.follow()

    def show(self, frame: int, *, always: bool = False) -> None:
        """Show a frame of the motion.

        Parameters
        ----------
        frame : int
            Index of the frame; the last frame if there are fewer.
        always : bool
            Show the frame even if there is only one and the robot was moved by hand.
        """
        frame = min(frame, self._motion.length - 1)
        if self._shown is not self._motion:
            if self._motion.length == 1 and not always:
                return  # it was moved by hand, while others play
            self._frame, self._shown = frame, self._motion
            self._pose(self._wxyz[frame], self._place[frame])
        elif frame != self._frame:
            self._frame = frame
            wxyz, place = self._wxyz[frame], self._place[frame]
            for body in np.flatnonzero(self._turns).tolist():
                self._nodes[body].wxyz = wxyz[body]
            for body in np.flatnonzero(self._moves).tolist():
                self._nodes[body].position = place[body]
        else:
            return
        self._point(frame)

    def follow(self) -> None:
        """Update sliders and gizmos to the robot's configuration."""
        q = self.q
        for slider, handle in self._sliders:
            handle.value = float(np.clip(q[slider.at], slider.lower, slider.upper))
        for body, gizmo in self._gizmos.items():
            gizmo.wxyz, gizmo.position = self._nodes[body].wxyz, self._nodes[body].position

    def _draw(self, node: str, parts: list[Part], placement: Pose) -> None:
        scene, model = self._server.scene, self.model
        frames = {"show_axes": False}
        wxyz = placement.quaternion(order="wxyz")
        scene.add_frame(node, **frames, wxyz=wxyz, position=placement.translation)
        self._base = node
        paths: list[str] = []
        self._nodes = []
        for body, parent in enumerate(self._parents):
            above = node if parent < 0 else paths[parent]
            paths.append(f"{above}/{body}")
            pose = {"wxyz": self._wxyz[0, body], "position": self._place[0, body]}
            self._nodes.append(scene.add_frame(paths[body], **frames, **pose))
        for i, part in enumerate(parts):
            above = node if part.body < 0 else paths[part.body]
            scene.add_mesh_simple(
                f"{above}/part{i}",
                part.mesh.vertices,
                part.mesh.faces,
                color=_bytes(part.color),
                side="double",
            )
        size = reach(model)
        self._gizmos = {
            joint.body: scene.add_transform_controls(
                f"{node if joint.parent < 0 else paths[joint.parent]}/gizmo{joint.body}",
                scale=0.35 * size,
                disable_axes=joint.type.nq == 4,
                disable_sliders=True,
                depth_test=False,
                visible=False,
                wxyz=self._wxyz[0, joint.body],
                position=self._place[0, joint.body],
            )
            for joint in model.joints
            if has_gizmo(joint)
        }
        self._arrows = {
            name: scene.add_arrows(
                f"{node}/{name}",
                arrows.ends(0),
                _bytes(_linear(ARROWS[name])),
                shaft_radius=0.006 * size,
                head_radius=0.016 * size,
                head_length=0.04 * size,
                visible=name in _AT_FIRST,
            )
            for name, arrows in self._motion.arrows.items()
        }
        self._center = None
        if self._motion.center_of_mass is not None:
            self._center = scene.add_icosphere(
                f"{node}/center_of_mass",
                radius=0.03 * size,
                color=(230, 180, 20),
                position=self._motion.center_of_mass[0],
                visible=False,
            )

    def _add_controls(self) -> None:
        gui = self._server.gui
        self._sliders: list[tuple[Slider, Any]] = []
        with gui.add_folder(self.name):
            for name, arrows in self._arrows.items():
                self._add_switch(name, [arrows], visible=name in _AT_FIRST)
            if self._center is not None:
                self._add_switch("center of mass", [self._center], visible=False)
            if self._gizmos:
                self._add_switch("move by hand", list(self._gizmos.values()), visible=False)
            if self.model.postures:
                self._add_postures()
            reset = gui.add_button("Reset")
            q = self.q
            for slider in sliders(self.model, self._motion.q):
                handle = gui.add_slider(
                    slider.label, slider.lower, slider.upper, slider.step, float(q[slider.at])
                )
                self._sliders.append((slider, handle))
                self._listen(slider, handle)

        async def back(_: Any) -> None:
            with self._lock, self._server.atomic():
                frame, self._frame = self._frame, -1
                self.show(frame, always=True)
                self.follow()

        reset.on_click(back)

        for body, gizmo in self._gizmos.items():
            self._listen_to_gizmo(body, gizmo)

    def _add_switch(self, label: str, nodes: list[Any], *, visible: bool) -> None:
        switch = self._server.gui.add_checkbox(label, initial_value=visible)

        async def turned(_: Any) -> None:
            with self._lock:
                for node in nodes:
                    node.visible = switch.value
                self._point(self._frame if self._shown is self._motion else 0)

        switch.on_update(turned)

    def _add_postures(self) -> None:
        """Add a choice of the model's postures."""
        choice = self._postures = self._server.gui.add_dropdown(
            "posture", ("", *self.model.postures)
        )

        async def chosen(_: Any) -> None:
            if choice.value:
                with self._server.atomic():
                    self.set(self.model.postures[choice.value])

        choice.on_update(chosen)

    def _listen(self, slider: Slider, handle: Any) -> None:
        async def moved(event: Any) -> None:
            if event.client is None:  # updated by the program
                return
            with self._lock, self._server.atomic():
                q = self.q
                q[slider.at] = handle.value
                self._change(q)
                self._pause()  # no frame may be shown in between

        handle.on_update(moved)

    def _listen_to_gizmo(self, body: int, gizmo: Any) -> None:
        joint = self.model.joints[body]

        async def moved(_: Any) -> None:
            with self._lock, self._server.atomic():
                pose = Pose.from_quaternion(gizmo.wxyz, gizmo.position, order="wxyz")
                taken = joint.placement.inverse() @ pose
                if joint.type.nq == 4:  # spherical: it rotates about its own center
                    taken = Pose(taken.rotation)
                q = self.q
                q[joint.q] = joint.type.coordinates(taken)
                self._change(q)
                self._pause()  # no frame may be shown in between

        gizmo.on_update(moved)

    def _change(self, q: Array) -> None:
        """Show a configuration that is not a frame of the motion."""
        frame = max(self._frame, 0)
        self._shown = self._motion.at(q, frame)
        wxyz, place = relative(self._parents, self._shown.rotation, self._shown.translation)
        self._pose(wxyz[0], place[0])
        self._point(0)

    def _pose(self, wxyz: Array, place: Array) -> None:
        for body, node in enumerate(self._nodes):
            node.wxyz, node.position = wxyz[body], place[body]

    def _point(self, frame: int) -> None:
        """Update the visible arrows and the center of mass."""
        for name, handle in self._arrows.items():
            if handle.visible and name in self._shown.arrows:
                handle.points = self._shown.arrows[name].ends(frame)
        if self._center is not None and self._center.visible:
            assert self._shown.center_of_mass is not None
            self._center.position = self._shown.center_of_mass[frame]


def _bytes(color: Color) -> tuple[int, int, int]:
    red, green, blue = (round(255 * part) for part in color)
    return red, green, blue


def _linear(color: Color) -> Color:
    """Return the linear intensities of a color, which viser expects for arrows."""
    red, green, blue = (part**2.2 for part in color)
    return red, green, blue


def _bounds(motion: Motion, parts: list[Part], placement: Pose) -> Array:
    """Return the box of all parts at the first frame and of all bodies' origins at all frames."""
    points = [motion.translation.reshape(-1, 3)]
    for part in parts:
        pose = Pose()
        if part.body >= 0:
            pose = Pose(motion.rotation[0, part.body], motion.translation[0, part.body])
        points.append(part.mesh.vertices @ pose.rotation.T + pose.translation)
    placed = np.concatenate(points) @ placement.rotation.T + placement.translation
    return np.stack([placed.min(axis=0), placed.max(axis=0)])
