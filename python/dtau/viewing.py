"""Show robots in the browser: `view`, which imports the viewer when it is called."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import ArrayLike

from dtau.model.model import Model
from dtau.support.checks import require
from dtau.support.options import Axes

if TYPE_CHECKING:
    from dtau.viewer.viewer import Viewer


def view(
    model: Model | Sequence[Model],
    q: ArrayLike | str | Sequence[ArrayLike | str] | None = None,
    *,
    v: ArrayLike | None = None,
    f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None,
    f_ext_axes: Axes = "body",
    geometry: str | os.PathLike[str] | None = None,
    meshes: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    dt: float = 0.02,
    host: str = "127.0.0.1",
    port: int = 8080,
) -> Viewer:
    """Show a robot or its motion in the browser; a notebook shows the page itself.

    The page has a slider for each joint, within its limits, a choice of the model's postures, and
    switches for arrows. For joints
    whose coordinates hold a quaternion, "move by hand" shows handles instead. A motion has a play
    button, a time slider and a choice of speeds.

    Parameters
    ----------
    model : Model, or sequence of Model
        Several robots are shown side by side. `v`, `f_ext` and `geometry` work with one robot only;
        `Viewer.add` shows more robots, each with its own.
    q : array_like (nq,) or (T, nq), or str, optional
        Configuration, or the configurations of a motion; or the name of a configuration in
        ``model.postures``; by default the neutral one, within the joints' limits. For several
        models, a sequence of these.
    v : array_like (nv,) or (T, nv), optional
        Velocities: the page then shows arrows for the bodies' twists and for momentum.
    f_ext : array_like (nbodies, 6) or (T, nbodies, 6), or mapping, optional
        External wrenches [force, moment], shown as arrows at the bodies' origins; or a mapping from
        names of frames to wrenches, each (6,) or (T, 6), shown at these frames.
    f_ext_axes : {"body", "mixed", "world"}
        Axes of the wrenches, as in `dtau.inverse_dynamics`: the axes of the bodies or frames; the
        world's axes, at their origins; or the world's axes, with moments about the world's origin.
    geometry : str or path-like, optional
        The robot's URDF, MJCF or xacro, a path or a text. The shapes of its links come from there,
        because a model does not keep them. Bodies without geometry are shown as ellipsoids of
        inertia: of uniform density, with the body's mass and principal moments.
    meshes : path, or sequence of paths
        Folders below which meshes may be read, in addition to the folder of the file: folders that
        contain packages (``package://name/...``), or that are a package. No file outside of them is
        opened, and nothing is downloaded.
    dt : float
        Seconds from one frame of a motion to the next.
    host, port : str, int
        Address of the page: by default it is served to this machine alone. If the port is taken,
        the next free one is used; 0 uses any free port.

    Returns
    -------
    Viewer
        Its ``url`` is the page's address; ``add`` shows more robots, ``play``, ``pause`` and
        ``seek`` move in time, and ``close``, or the end of a ``with``, stops the server and all
        threads.

    Raises
    ------
    ImportError
        If viser is missing; the extra ``dtau[view]`` installs it.
    OSError
        If a file or folder cannot be read.
    ModelError, ValueError, TypeError
        If the geometry is not a URDF or MJCF, or an argument is not as described.

    Warns
    -----
    ModelWarning
        If some of the geometry cannot be shown: meshes outside the folders, or meshes that cannot
        be read.

    Notes
    -----
    All poses and arrows of a motion are computed before it is shown, in one call per function.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> t = np.linspace(0.0, 2.0, 101)
    >>> dq = np.zeros((101, model.nv))
    >>> dq[:, model.joint("LF_HFE").v] = 0.5 * np.sin(np.pi * t)[:, None]
    >>> with dtau.view(model, dtau.integrate(model, dtau.neutral(model), dq), port=0) as viewer:
    ...     viewer.url.rpartition(":")[0]  # open it in a browser; port=0 uses any free port
    'http://127.0.0.1'
    """
    from dtau.viewer.viewer import Viewer

    several = not isinstance(model, Model)
    if not isinstance(model, Iterable):
        require("model", model, Model)
    models = list(model) if not isinstance(model, Model) else [model]
    for one in models:
        require("model", one, Model)
    if several and any(given is not None for given in (v, f_ext, geometry)):
        raise ValueError(
            "model: got several models; v, f_ext and geometry work with one only: show more robots "
            "by the method add of the viewer that dtau.view returns"
        )
    configurations: list[Any] = [q]
    if several:
        configurations = [None] * len(models) if q is None else list(cast("Sequence[Any]", q))
    if not models or len(configurations) != len(models):
        raise ValueError(
            f"q: expected one for each of {len(models)} models, got {len(configurations)}"
        )
    viewer = Viewer(dt=dt, host=host, port=port)
    try:
        for one, at in zip(models, configurations, strict=True):
            viewer.add(
                one, at, v=v, f_ext=f_ext, f_ext_axes=f_ext_axes, geometry=geometry, meshes=meshes
            )
    except BaseException:
        viewer.close()
        raise
    return viewer
