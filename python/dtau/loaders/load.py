"""Models from files."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from numpy.typing import ArrayLike

from dtau.checks import integer, real_array
from dtau.errors import ModelError
from dtau.loaders import formats, urdf, xml
from dtau.model.editing import changed
from dtau.model.model import Model
from dtau.options import Inertias, MimicJoints, Root, require_option

_PIECE = 1 << 20  # bytes that are read at once


def load(
    source: str | os.PathLike[str],
    *,
    root: Root = "fixed",
    mimic: MimicJoints = "independent",
    inertia: Inertias = "keep",
    gravity: ArrayLike = (0, 0, -9.81),
    armature: ArrayLike | Mapping[str, ArrayLike] | None = None,
    damping: ArrayLike | Mapping[str, ArrayLike] | None = None,
    max_size: int = 64_000_000,
) -> Model:
    """Read a robot from a URDF file or text.

    Joints come depth first, siblings in the order of their joints' names. A continuous joint is
    one angle. What was ignored, repaired or found odd is said in `Model.notes`.

    Parameters
    ----------
    source : str or path-like
        A path; or the XML text itself, if its first character other than space is `<`.
    root : {"fixed", "free"}
        How the root link hangs from the world: fixed, or on a free joint named `root_joint`.
    mimic : {"independent", "exact"}
        What becomes of joints that mimic others: joints of their own, with a warning; or no
        coordinates of their own, see `dtau.Mimic`.
    inertia : {"keep", "repair"}
        What becomes of inertias that no rigid body has. As they are in the file, with a note if
        they break the triangle inequality, while negative principal moments are refused, all in
        one message; or the nearest that a rigid body has, with a note that says by how much. The
        nearest has the second moments of mass 1/2 tr(I) 1 - I about the centre of mass, I being
        the file's, with zeros in place of negative eigenvalues.
    gravity : array_like (3,)
        Acceleration of gravity along the world's axes, in m/s².
    armature, damping : float, or mapping of str to float or array_like (nv,), optional
        Inertia added to a joint's own, and viscous damping, in place of the file's; by the names of
        joints, or one number for all but the free root, as in `Model.replace`.
    max_size : int
        The most bytes that are read of a file, so that one without end does not fill the memory;
        text is counted as in UTF-8. Larger files need more: ``max_size=200_000_000``.

    Returns
    -------
    Model

    Raises
    ------
    OSError
        If the file cannot be read; FileNotFoundError if there is none.
    ModelError
        If the text is not a URDF that describes one tree with 1 to 26000 degrees of freedom, or
        larger than `max_size`; the message names the file and the line.
    ValueError, TypeError
        If an argument is not as described.

    Warns
    -----
    ModelWarning
        If joints mimic others and load as independent ones, or joints have no inertia to
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
    require_option("inertia", inertia, Inertias)
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"source: expected a path or XML text, got {type(source).__name__}")
    real_array("gravity", gravity, (3,))
    integer("max_size", max_size, 1)
    if isinstance(source, str) and not source.strip():
        raise ValueError(f"source: expected a path or XML text, got {source!r:.80}")
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        label = "XML text"
        _require_size(label, source, max_size)
        document = xml.parse(source.lstrip("\ufeff \t\r\n"), label, urdf.UNREAD)
    else:
        label = os.fsdecode(source)
        try:
            content = _bytes_of(label, max_size)
        except ModelError:
            raise
        except (ValueError, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.ENAMETOOLONG:
                raise
            # null characters, lone surrogates, or a text that is no XML and too long for a path
            raise ValueError(
                f"source: expected a path or XML text, got {label!r:.80} ({error!s:.80})"
            ) from None
        formats.refuse_other_files(label, content)
        document = xml.parse(content, label, urdf.UNREAD)
    if document.tag != "robot":
        raise document.error(
            f"expected <robot>, the root of a URDF, got <{document.tag}>"
            f"{formats.way_out(document.tag)}"
        )
    name, links, notes = urdf.read(document, root=root, mimic=mimic, inertia=inertia)
    numbered = changed(links, armature=armature, damping=damping)
    try:
        return Model(name, numbered, gravity=gravity, notes=notes)
    except ValueError as error:
        raise ModelError(f"{label}: {error}") from None


def _bytes_of(path: str, max_size: int) -> bytes:
    """Read a file, piece by piece: what has no end has no size that could be asked for."""
    content = bytearray()
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            content += piece
            if len(content) > max_size:
                raise _too_large(path, max_size)
    return bytes(content)


def _require_size(label: str, text: str, max_size: int) -> None:
    """Raise ModelError if a text is too large, in UTF-8."""
    longest = len(text) * (1 if text.isascii() else 4)
    if longest > max_size and len(text.encode("utf-8", "surrogatepass")) > max_size:
        raise _too_large(label, max_size)


def _too_large(label: str, max_size: int) -> ModelError:
    return ModelError(
        f"{label}: expected at most {max_size} bytes, got more; max_size= allows larger files"
    )
