"""Load models from files: `load`."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dtau.loaders import formats, mjcf, saved, urdf, xacro, xml
from dtau.loaders.source import Options, Parts, Source
from dtau.loaders.srdf import with_srdf
from dtau.model.link_changes import changed
from dtau.model.model import Model
from dtau.support.checks import class_name, integer, listing, plain, real_array
from dtau.support.errors import ModelError
from dtau.support.options import Inertias, MimicJoints, Root, require_option

_PIECE = 1 << 20  # bytes read at once
_GRAVITY = (0, 0, -9.81)  # for formats without gravity

# Root element: the name of the format and its reader.
_Reader = Callable[[Source, Options], Parts]
_READERS: dict[str, tuple[str, _Reader]] = {
    "robot": ("a URDF", urdf.read),
    "mujoco": ("an MJCF", mjcf.read),
}
_SAVED: tuple[str, _Reader] = ("a file of Model.save", saved.read)


def load(
    source: str | os.PathLike[str],
    *,
    root: Root | None = None,
    mimic: MimicJoints = "independent",
    inertia: Inertias = "keep",
    srdf: str | os.PathLike[str] | None = None,
    gravity: ArrayLike | None = None,
    armature: ArrayLike | Mapping[str, ArrayLike] | None = None,
    damping: ArrayLike | Mapping[str, ArrayLike] | None = None,
    stiffness: ArrayLike | Mapping[str, ArrayLike] | None = None,
    friction: ArrayLike | Mapping[str, ArrayLike] | None = None,
    friction_speed: ArrayLike | Mapping[str, ArrayLike] | None = None,
    xacro_args: Mapping[str, str | float] | None = None,
    max_size: int = 64_000_000,
) -> Model:
    """Load a robot from a URDF, MJCF or xacro file, or from the text of a URDF or MJCF.

    The root element determines the format. Joints are ordered depth first, siblings by their
    joints' names (URDF) or as in the file (MJCF). A continuous joint has one angle. `Model.notes`
    lists parts that were ignored, repaired or found odd. A file of `Model.save` has the whole
    model: of the options it takes gravity, armature, damping and max_size.

    MuJoCo reads MJCF; the extra ``dtau[mjcf]`` installs it. Coordinates of hinges and slides are
    MuJoCo's ``qpos``, including ``ref``; `dtau.conventions.mujoco` converts states. xacrodoc
    (``dtau[xacro]``) expands files named ``*.xacro``, which are then read as URDF.

    Parameters
    ----------
    source : str or path-like
        A path; or the XML text itself, if its first character after white space is `<`.
    root : {"fixed", "free"}, optional
        Joint between the root link and the world: fixed, the default for a URDF, or a free joint
        named `root_joint` (or as `Model.to_urdf` wrote), `root_joint_` if the file has a joint of
        this name. An MJCF defines this itself; the option must not contradict it.
    mimic : {"independent", "exact"}
        Mimic joints. ``"independent"``: they get their own coordinates, with a warning.
        ``"exact"``: they have no coordinates and mimic their joint, see `dtau.Mimic`.
    inertia : {"keep", "repair"}
        Inertias of a URDF that no rigid body can have. ``"keep"``: they stay as in the file, with a
        note if they break the triangle inequality; negative principal moments are refused, all in
        one message. ``"repair"``: each is replaced by the nearest inertia of a rigid body, with a
        note about the change. With I the file's inertia, the nearest one has the second moments of
        mass 1/2 tr(I) 1 - I about the center of mass, with zeros in place of negative eigenvalues.
        A missing ``<mass>``, ``<inertia>`` or product of inertia is refused, or counts as 0 with a
        note. MuJoCo checks the inertias of an MJCF.
    srdf : str or path-like, optional
        The SRDF of a URDF, a path or a text. Its group states become `Model.postures`; group states
        with one name, of several groups, become one posture. Its rotor parameters (Pinocchio's
        ``rotor_params``) become armature: ``mass`` times the square of ``gear_ratio``. An MJCF has
        keyframes instead; those without a name are called ``key_0``, ``key_1``, ... by their index.
    gravity : array_like (3,), optional
        Acceleration of gravity along the world's axes, in m/s². By default the MJCF's, and (0, 0,
        -9.81) for a URDF.
    armature, damping, stiffness : float, or mapping of str to float or array_like (nv,), optional
        Rotor inertia, added to the diagonal of the mass matrix, viscous damping, and stiffness of
        springs, in place of the file's: by the names of joints, or one number for all except the
        free root, as in `Model.replace`.
    friction, friction_speed : float, or mapping of str to float or array_like (nv,), optional
        Coulomb friction in N m or N, in place of the file's, and the speed in rad/s or m/s that
        smooths it, as in `Model.replace`. The file's friction (``dynamics friction`` of a URDF,
        ``frictionloss`` of an MJCF) becomes part of the model where a speed is stated. Elsewhere it
        is left out, and a note or a warning names it.
    xacro_args : mapping of str to str or number, optional
        Values of the arguments (``xacro:arg``) of a file named ``*.xacro``, and of an SRDF of this
        kind, by their names: texts, numbers, True and False, in place of the file's defaults.
    max_size : int
        Largest number of bytes of a file, so that an endless file does not fill the memory; text is
        counted as UTF-8. Larger files need a larger value: ``max_size=200_000_000``. Files that an
        MJCF or a xacro file includes are not counted.

    Returns
    -------
    Model

    Raises
    ------
    OSError
        If the file cannot be read; FileNotFoundError if there is none.
    ModelError
        If the text is neither a URDF of one tree with 1 to 26000 degrees of freedom nor an MJCF
        that MuJoCo compiles, or is larger than `max_size`; the message names the file and the line.
        If the package that reads the format is missing; the message names the extra.
    ValueError, TypeError
        If an argument is not as described.

    Warns
    -----
    ModelWarning
        If mimic joints load as independent joints, joints have no inertia to accelerate, or an MJCF
        has friction, tendons or other forces that a model does not carry.

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
    if root is not None:
        require_option("root", root, Root)
    require_option("mimic", mimic, MimicJoints)
    require_option("inertia", inertia, Inertias)
    if gravity is not None:
        real_array("gravity", gravity, (3,))
    integer("max_size", max_size, 1)
    arguments = xacro.Arguments(xacro_args)
    text = open_source(source, max_size)
    text, what, read = (text, *_SAVED) if saved.is_saved(text) else _reader(text, arguments)
    if srdf is not None and read is not urdf.read:
        raise ValueError(f"srdf: expected it with a URDF, got {what}, which has its own postures")
    parts = read(text, Options(root, mimic, inertia, friction=friction_speed is not None))
    if srdf is not None:
        parts = with_srdf(parts, open_document(srdf, max_size, "srdf", arguments)[0])
    arguments.require_asked(text.path or text.label)
    changes = Changes(armature, damping, stiffness, friction, friction_speed)
    parts, gravity = with_changes(parts, gravity, changes)
    with naming(text):
        return Model(
            parts.name, parts.links, gravity=gravity, notes=parts.notes, postures=parts.postures
        )


def _reader(text: Source, arguments: xacro.Arguments) -> tuple[Source, str, _Reader]:
    """Expand xacro; return the source, the name of its format and the format's reader."""
    text, document = _document(text, arguments)
    if document.tag not in _READERS:
        known = " or ".join(f"<{tag}>, the root of {what}" for tag, (what, _) in _READERS.items())
        way_out = formats.way_out(document.tag)
        raise document.error(f"expected {known}, got <{document.tag}>{way_out}")
    return (text, *_READERS[document.tag])


class Changes(NamedTuple):
    """The numbers of joints that `load` takes; None: the file's numbers."""

    armature: ArrayLike | Mapping[str, ArrayLike] | None = None
    damping: ArrayLike | Mapping[str, ArrayLike] | None = None
    stiffness: ArrayLike | Mapping[str, ArrayLike] | None = None
    friction: ArrayLike | Mapping[str, ArrayLike] | None = None
    friction_speed: ArrayLike | Mapping[str, ArrayLike] | None = None


def with_changes(
    parts: Parts, gravity: ArrayLike | None, changes: Changes
) -> tuple[Parts, ArrayLike]:
    """Return parts and gravity with the changes that `load` takes."""
    if gravity is None:
        gravity = _GRAVITY if parts.gravity is None else parts.gravity
    given, notes = changes._asdict(), parts.notes
    friction = given.pop("friction")
    links = changed(parts.links, **given)
    if parts.friction:
        smooth = {link.joint_name for link in links if all(np.atleast_1d(link.friction_speed))}
        own = {joint: x for joint, x in parts.friction.items() if joint in smooth}
        links = changed(links, friction=own)
        if left_out := [joint for joint in parts.friction if joint not in smooth]:
            notes = [
                *notes,
                f"ignored friction without a friction_speed: joints {listing(left_out)}",
            ]
    links = changed(links, friction=friction)
    return parts._replace(links=list(links), notes=notes), gravity


@contextmanager
def naming(text: Source) -> Iterator[None]:
    """Add the file's name to errors of its model."""
    try:
        yield
    except ValueError as error:
        raise ModelError(f"{text.label}: {error}") from None


def open_document(
    source: str | os.PathLike[str],
    max_size: int,
    argument: str = "source",
    arguments: xacro.Arguments | None = None,
) -> tuple[Source, xml.Element]:
    """Read a file or a text, and expand xacro; return the source and its root element.

    `argument` is the source's name in errors, `arguments` are a xacro file's.

    Raises
    ------
    OSError, ModelError, ValueError, TypeError
        In the same cases as `load`.
    """
    return _document(open_source(source, max_size, argument), arguments or xacro.Arguments())


def _document(text: Source, arguments: xacro.Arguments) -> tuple[Source, xml.Element]:
    if text.path is not None:
        formats.refuse_other_files(text)
    document = xml.root(text.content, text.label)
    if xacro.is_xacro(text):
        text = xacro.expand(text, arguments)
        document = xml.root(text.content, text.label)
    return text, document


def open_source(source: str | os.PathLike[str], max_size: int, argument: str = "source") -> Source:
    """Read a file or a text.

    Raises
    ------
    OSError, ModelError, ValueError, TypeError
        In the same cases as `load`.
    """
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"{argument}: expected a path or XML text, got {class_name(source)}")
    source = plain(source)
    if isinstance(source, str) and not source.strip():
        raise ValueError(f"{argument}: expected a path or XML text, got {source!r:.80}")
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        text = Source("XML text", source.lstrip("\ufeff \t\r\n"), None)
        _require_size(text.label, source, max_size)
        return text
    return _file(os.fsdecode(source), max_size, argument)


def _file(path: str, max_size: int, argument: str) -> Source:
    try:
        return Source(path, _bytes_of(path, max_size), path)
    except ModelError:
        raise
    except (ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.ENAMETOOLONG:
            raise
        # null characters, lone surrogates, or a text that is not XML and too long for a path
        raise ValueError(
            f"{argument}: expected a path or XML text, got {path!r:.80} ({error!s:.80})"
        ) from None


def _bytes_of(path: str, max_size: int) -> bytes:
    """Read a file piece by piece, because an endless file has no size to check."""
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
        f"{label}: expected at most {max_size} bytes, got more; max_size= of dtau.load allows "
        "larger files"
    )
