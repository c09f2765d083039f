"""The viewer in the browser, with viser: robots, motions and controls: `Viewer`."""

from __future__ import annotations

import importlib
import math
import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dtau.model.model import Model
from dtau.model.pose import Pose
from dtau.support.checks import integer, real_array, require
from dtau.support.options import Axes
from dtau.viewer.controls import start
from dtau.viewer.folders import Paths
from dtau.viewer.guard import serve_guarded, url
from dtau.viewer.motion import motion
from dtau.viewer.parts import looks, warn_of_missing
from dtau.viewer.player import Player
from dtau.viewer.robot import Robot

_SEEN = 0.2  # s: interval between updates of the time slider
_SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "5", "10")


class Viewer:
    """A page in the browser that shows robots; made by `dtau.view`.

    Attributes
    ----------
    url : str
        The address of the page.
    robots : tuple of Robot
        The robots on the page.
    server : viser.ViserServer
        The server, to add other elements to the page.
    """

    def __init__(self, *, dt: float, host: str, port: int) -> None:
        viser = _viser()
        seconds = float(real_array("dt", dt, ()))
        if not seconds > 0:
            raise ValueError(f"dt: expected a positive number of seconds, got {dt}")
        require("host", host, str)
        integer("port", port, 0, 65535)
        _require_host(host)
        self._dt = seconds
        self._lock = threading.RLock()
        self._robots: list[Robot] = []
        self._closed = False
        self._player = Player(self._show)
        with _quiet():
            self.server = serve_guarded(
                lambda at: viser.ViserServer(host=at, port=port, label="dtau", verbose=False), host
            )
        self.url = url(host, self.server.get_port())
        self.server.gui.configure_theme(show_logo=False, show_share_button=False)
        self._grid: Any = None
        self._slider: Any = None
        self._speed: Any = None

    @property
    def robots(self) -> tuple[Robot, ...]:
        """The robots on the page."""
        return tuple(self._robots)

    def add(
        self,
        model: Model,
        q: ArrayLike | str | None = None,
        *,
        v: ArrayLike | None = None,
        f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None,
        f_ext_axes: Axes = "body",
        geometry: str | os.PathLike[str] | None = None,
        meshes: Paths = (),
        placement: Pose | None = None,
        name: str | None = None,
    ) -> Robot:
        """Show another robot, or another motion of the same robot.

        Parameters
        ----------
        model, q, v, f_ext, f_ext_axes, geometry, meshes
            As `dtau.view`.
        placement : Pose, optional
            Pose of the model's world on the page; by default beside the robots shown so far.
        name : str, optional
            Name on the page; by default the model's name.

        Returns
        -------
        Robot
            Its ``q`` is the configuration that is shown, and ``set`` shows another.

        Raises
        ------
        ImportError, OSError, ModelError, ValueError, TypeError
            As `dtau.view`.
        RuntimeError
            If the viewer is closed.
        """
        require("model", model, Model)
        if self._closed:
            raise RuntimeError("this viewer is closed: dtau.view opens another")
        shown = motion(model, start(model, q), v, f_ext, f_ext_axes)
        parts, notes = looks(model, geometry, meshes)
        warn_of_missing(model, notes)
        with self._lock, self.server.atomic():
            if placement is None:
                placement = self._beside()
            require("placement", placement, Pose)
            robot = Robot(
                self.server,
                self._lock,
                f"/robot{len(self._robots)}",
                name or model.name,
                shown,
                parts,
                placement,
                tuple(notes),
                self.pause,
            )
            self._robots.append(robot)
            self._furnish()
        if shown.length > 1:
            self._player.extend((shown.length - 1) * self._dt)
            self._add_playback()
        return robot

    def play(self, speed: float | None = None) -> None:
        """Play the motions from the current time.

        Parameters
        ----------
        speed : float, optional
            Factor of the speed; by default the last one.

        Raises
        ------
        ValueError, TypeError
            If ``speed`` is not a positive number.
        """
        if speed is not None:
            times = float(real_array("speed", speed, ()))
            if not times > 0:
                raise ValueError(f"speed: expected a positive number, got {speed}")
            self._player.speed = times
            if self._speed is not None and f"{times:g}" in _SPEEDS:
                self._speed.value = f"{times:g}"
        self._player.play()
        self._show_state()

    def pause(self) -> None:
        """Pause at the current frame."""
        if self._player.playing:
            self._player.pause()
            self._show_state()

    def seek(self, seconds: float) -> None:
        """Go to a time of the motions.

        Parameters
        ----------
        seconds : float
            Time from the start; values beyond the end mean the end.
        """
        self._player.seek(float(real_array("seconds", seconds, ())))
        self._show(self._player.time, always=True)

    def close(self) -> None:
        """Stop the server and end all threads."""
        if self._closed:
            return
        self._closed = True
        self._player.close()
        with _quiet():
            self.server.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        robots = ", ".join(repr(robot.name) for robot in self._robots)
        return f"<Viewer of {robots}: {'closed' if self._closed else self.url}>"

    def _repr_html_(self) -> str:
        """Return the page as a frame, for notebooks."""
        if self._closed:
            return "<p>This viewer is closed.</p>"
        return f'<iframe src="{self.url}" style="width: 100%; height: 480px; border: 0"></iframe>'

    def _beside(self) -> Pose:
        """Return the placement of the next robot: left of the present ones, along y."""
        if not self._robots:
            return Pose()
        far = max(robot.bounds[1][1] for robot in self._robots)
        size = max(float((robot.bounds[1] - robot.bounds[0]).max()) for robot in self._robots)
        return Pose(translation=(0.0, far + 0.75 * size, 0.0))

    def _furnish(self) -> None:
        """Place the floor below all robots, and the camera in front of them."""
        low = np.min([robot.bounds[0] for robot in self._robots], axis=0)
        high = np.max([robot.bounds[1] for robot in self._robots], axis=0)
        middle, size = 0.5 * (low + high), float(np.linalg.norm(high - low))
        cell = 0.5 * 10.0 ** math.floor(math.log10(size))
        self._grid = self.server.scene.add_grid(
            "/floor",
            width=round(4 * size / cell) * cell,
            height=round(4 * size / cell) * cell,
            cell_size=0.2 * cell,
            section_size=cell,
            cell_color=(225, 225, 228),
            section_color=(195, 197, 202),
            shadow_opacity=0.25,
            position=(*(np.round(middle[:2] / cell) * cell), low[2]),
        )
        camera = self.server.initial_camera
        aside = 0.12 * size * np.array([0.6, 0.8, 0.0])  # the panel is on the right
        camera.look_at = tuple(middle + aside)
        camera.position = tuple(middle + aside + 1.1 * size * np.array([1.0, -0.75, 0.45]))
        camera.fov = math.radians(45.0)

    def _add_playback(self) -> None:
        end = self._player.end
        if self._slider is not None:
            self._slider.max = end
            return
        gui = self.server.gui
        with gui.add_folder("Motion", order=-1.0):
            self._button = gui.add_button("Play")
            self._slider = gui.add_slider("time (s)", 0.0, end, self._dt, 0.0)
            speed = self._speed = gui.add_dropdown("speed", _SPEEDS, initial_value="1")
            loop = gui.add_checkbox("repeat", initial_value=True)

        async def pressed(_: Any) -> None:
            if self._player.playing:
                self.pause()
            else:
                self.play()

        async def moved(event: Any) -> None:
            if event.client is not None:
                self.seek(self._slider.value)

        async def hurried(_: Any) -> None:
            self._player.speed = float(speed.value)

        async def repeated(_: Any) -> None:
            self._player.loop = loop.value

        self._button.on_click(pressed)
        self._slider.on_update(moved)
        speed.on_update(hurried)
        loop.on_update(repeated)

    def _show(self, seconds: float, *, always: bool = False) -> None:
        """Show all robots at a time; sliders are updated when the motion pauses."""
        frame = int(seconds / self._dt + 1e-6)
        with self._lock:
            stopped = not self._player.playing and seconds < self._player.end
            if self._closed or (stopped and not always):
                return
            with self.server.atomic():
                for robot in self._robots:
                    robot.show(frame)
            self._tell_time(seconds)
            if not self._player.playing:
                self._show_state()

    def _tell_time(self, seconds: float) -> None:
        """Move the time slider, no more often than is visible."""
        if self._slider is None:
            return
        still = not self._player.playing
        if still or abs(seconds - self._slider.value) >= _SEEN * self._player.speed:
            self._slider.value = min(max(seconds, 0.0), self._player.end)

    def _show_state(self) -> None:
        """Update the label of the play button; update sliders if nothing moves."""
        with self._lock:
            if self._closed or self._slider is None:
                return
            self._button.label = "Pause" if self._player.playing else "Play"
            if not self._player.playing:
                for robot in self._robots:
                    robot.follow()


def _viser() -> Any:
    try:
        return importlib.import_module("viser")
    except ModuleNotFoundError as error:
        raise ImportError(
            "dtau.view needs viser, which is not installed: pip install 'viser>=1.1'"
        ) from error


def _require_host(host: str) -> None:
    """Raise OSError if this machine cannot serve on a host, because viser would wait forever."""
    if "\0" in host:  # C functions read the name up to a null character
        raise ValueError(f"host: expected a name or an address, got {host!r:.80}")
    try:
        family, *_, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.bind(address)
    except (OSError, UnicodeError) as error:
        raise OSError(f"host: cannot serve on {host!r:.80}: {error}") from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress viser's messages about starting and stopping."""
    console = importlib.import_module("rich").get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
