"""Models from files."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from numpy.typing import ArrayLike

from dtau.checks import real_array
from dtau.errors import ModelError
from dtau.loaders import urdf, xml
from dtau.model.model import Model
from dtau.options import MimicJoints, Root, require_option


def load(
    source: str | os.PathLike[str],
    *,
    root: Root = "fixed",
    mimic: MimicJoints = "independent",
    gravity: ArrayLike = (0, 0, -9.81),
) -> Model:
    """Read a robot from a URDF file or text.

    Joints come depth first, siblings in the order of their joints' names. A continuous joint is
    one angle. What was ignored is said in `Model.notes`.

    Parameters
    ----------
    source : str or path-like
        A path; or the XML text itself, if its first character other than space is `<`.
    root : {"fixed", "free"}
        How the root link hangs from the world: fixed, or on a free joint named `root_joint`.
    mimic : {"independent", "exact"}
        What becomes of joints that mimic others: joints of their own, with a warning; or no
        coordinates of their own, see `dtau.Mimic`.
    gravity : array_like (3,)
        Acceleration of gravity along the world's axes, in m/s².

    Returns
    -------
    Model

    Raises
    ------
    OSError
        If the file cannot be read; FileNotFoundError if there is none.
    ModelError
        If the text is not a URDF that describes one tree with at least one moving joint; the
        message names the file and the line.
    ValueError, TypeError
        If an argument is not as described.

    Warns
    -----
    ModelWarning
        If joints mimic others, an inertia belongs to no rigid body, or joints have no inertia to
        accelerate.

    Examples
    --------
    >>> import dtau
    >>> pendulum = '''
    ... <robot name="pendulum">
    ...   <link name="support"/>
    ...   <link name="bob">
    ...     <inertial>
    ...       <origin xyz="0 0 -1"/>
    ...       <mass value="1"/>
    ...       <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>
    ...     </inertial>
    ...   </link>
    ...   <joint name="pivot" type="continuous">
    ...     <parent link="support"/>
    ...     <child link="bob"/>
    ...     <axis xyz="0 1 0"/>
    ...   </joint>
    ... </robot>
    ... '''
    >>> dtau.load(pendulum)
    <Model 'pendulum': 1 body, nq = 1, nv = 1>
    """
    require_option("root", root, Root)
    require_option("mimic", mimic, MimicJoints)
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"source: expected a path or XML text, got {type(source).__name__}")
    real_array("gravity", gravity, (3,))
    if isinstance(source, str) and not source.strip():
        raise ValueError(f"source: expected a path or XML text, got {source!r:.80}")
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        label = "XML text"
        document = xml.parse(source.lstrip("\ufeff \t\r\n"), label)
    else:
        label = os.fsdecode(source)
        try:
            content = Path(label).read_bytes()
        except (ValueError, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.ENAMETOOLONG:
                raise
            # null characters, lone surrogates, or a text that is no XML and too long for a path
            raise ValueError(
                f"source: expected a path or XML text, got {label!r:.80} ({error!s:.80})"
            ) from None
        document = xml.parse(content, label)
    if document.tag != "robot":
        raise document.error(f"expected <robot>, the root of a URDF, got <{document.tag}>")
    name, links, notes = urdf.read(document, root=root, mimic=mimic)
    try:
        return Model(name, links, gravity=gravity, notes=notes)
    except ValueError as error:
        raise ModelError(f"{label}: {error}") from None
