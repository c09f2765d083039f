"""The front door of the viewer, which is imported when it is called."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import ArrayLike

from dtau.checks import require
from dtau.model.model import Model
from dtau.options import Axes

if TYPE_CHECKING:
    from dtau.viewer.viewer import Viewer


def view(
    model: Model | Sequence[Model],
    q: ArrayLike | Sequence[ArrayLike] | None = None,
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
    """Show a robot, or its motion, on a page in the browser; a notebook shows the page itself.

    The page has a slider for each joint, within its limits, and switches for arrows. Where a
    joint's coordinates hold a quaternion, "move by hand" shows handles instead. A motion has a
    button that plays it, a slider of its time and a choice of speeds.

    Parameters
    ----------
    model : Model, or sequence of Model
        Several stand side by side. `v`, `f_ext` and `geometry` are for one alone: `Viewer.add`
        shows more, each with its own.
    q : array_like (nq,) or (T, nq), optional
        Configuration, or those of a motion; by default the neutral one, within the joints' limits.
        Of several models a sequence of these.
    v : array_like (nv,) or (T, nv), optional
        Velocities: for arrows of the bodies' twists and of momentum.
    f_ext : array_like (nbodies, 6) or (T, nbodies, 6), or mapping, optional
        External wrenches [force, moment], for arrows at the bodies' origins; or by the names of
        frames, each (6,) or (T, 6), for arrows at those.
    f_ext_axes : {"body", "mixed", "world"}
        Along which axes they are, as for `dtau.inverse_dynamics`: those of the bodies or frames,
        the world's at their origins, or the world's with moments about its origin.
    geometry : str or path-like, optional
        The robot's URDF, MJCF or xacro, a path or a text: what its links look like, which a model
        does not keep. Bodies without geometry are shown as ellipsoids of inertia: of uniform
        density, with the body's mass and principal moments.
    meshes : path, or sequence of paths
        Folders below which meshes may be read, beside that of the file: those that packages
        (``package://name/...``) are in, or that are a package. Nothing outside is opened, whatever
        the file says, and nothing is fetched.
    dt : float
        Seconds from one frame of a motion to the next.
    host, port : str, int
        Where the page is served: by default to this machine alone. If the port is taken, the next
        one that is free; 0 is any that is free.

    Returns
    -------
    Viewer
        Its ``url`` is the page's address; ``add`` shows more robots, ``play``, ``pause`` and
        ``seek`` move in time, and ``close``, or the end of a ``with``, stops the server and all
        threads.

    Raises
    ------
    ImportError
        If viser is missing, which the extra ``dtau[view]`` installs.
    OSError
        If a file or folder cannot be read.
    ModelError, ValueError, TypeError
        If the geometry is no URDF or MJCF, or an argument is not as described.

    Warns
    -----
    ModelWarning
        If some of the geometry cannot be shown: meshes that are not below the folders, or cannot be
        read.

    Notes
    -----
    All poses and arrows of a motion come from one call of each function, before it is shown.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> t = np.linspace(0.0, 2.0, 101)
    >>> dq = np.zeros((101, model.nv))
    >>> dq[:, model.joint("LF_HFE").v] = 0.5 * np.sin(np.pi * t)[:, None]
    >>> with dtau.view(model, dtau.integrate(model, dtau.neutral(model), dq), port=0) as viewer:
    ...     viewer.url.rpartition(":")[0]  # open it in a browser; the port is any that is free
    'http://127.0.0.1'
    """
    from dtau.viewer.viewer import Viewer

    several = not isinstance(model, Model)
    models = list(model) if not isinstance(model, Model) else [model]
    for one in models:
        require("model", one, Model)
    if several and any(given is not None for given in (v, f_ext, geometry)):
        raise ValueError(
            "model: got several of them, to which v, f_ext and geometry do not belong: show them "
            "by the method add of what dtau.view returns"
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
                one,
                at,
                v=v,
                f_ext=f_ext,
                f_ext_axes=f_ext_axes,
                geometry=geometry,
                meshes=meshes,
            )
    except BaseException:
        viewer.close()
        raise
    return viewer
