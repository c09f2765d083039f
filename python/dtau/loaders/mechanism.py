"""Load models with their closed loops from files: `load_mechanism`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from numpy.typing import ArrayLike

from dtau.functions.constraints_projection import dependent_rows
from dtau.functions.manifold_states import configuration
from dtau.loaders import mjcf
from dtau.loaders.load import Changes, naming, open_document, with_changes
from dtau.loaders.source import Options
from dtau.model.contacts import Contacts
from dtau.model.mechanism import Mechanism
from dtau.model.model import Model
from dtau.support.checks import integer, real_array
from dtau.support.errors import warn_of_model
from dtau.support.options import MimicJoints, require_option


def load_mechanism(
    source: str | os.PathLike[str],
    *,
    kp: float = 0.0,
    kd: float = 0.0,
    mimic: MimicJoints = "independent",
    gravity: ArrayLike | None = None,
    armature: ArrayLike | Mapping[str, ArrayLike] | None = None,
    damping: ArrayLike | Mapping[str, ArrayLike] | None = None,
    stiffness: ArrayLike | Mapping[str, ArrayLike] | None = None,
    friction: ArrayLike | Mapping[str, ArrayLike] | None = None,
    friction_speed: ArrayLike | Mapping[str, ArrayLike] | None = None,
    max_size: int = 64_000_000,
) -> Mechanism:
    """Load a robot and its closed loops from an MJCF: its equalities `connect` and `weld`.

    A `connect` becomes a `dtau.Loop` with three rows, a `weld` a loop with six, with the equality's
    name. Without a second body they become a `dtau.PointContact` or `dtau.FrameContact` with its
    placement in the world. These constraints hold exactly, while MuJoCo's are soft: ``solref`` and
    ``solimp`` are not read.

    Parameters
    ----------
    source : str or path-like
        A path; or the XML text itself, if its first character after white space is `<`.
    kp, kd : float
        Gains of Baumgarte's stabilization for all constraints, in 1/s² and 1/s, see `dtau.Loop`.
    mimic, gravity, armature, damping, stiffness, friction, friction_speed, max_size
        As `dtau.load`.

    Returns
    -------
    Mechanism
        ``model``: the model of `dtau.load`, with a frame for each equality, with its name, at the
        point that it holds on its first moving body. ``contacts``: in the file's order. ``q``: the
        posture that the file draws. Equalities with an ``anchor`` are closed in it; equalities with
        sites or ``relpose`` may be open, and `dtau.project` closes them.

    Raises
    ------
    ModelError
        If the file is not an MJCF, or in the same cases as `dtau.load`.
    OSError, ValueError, TypeError
        As `dtau.load` and `dtau.Loop`.

    Warns
    -----
    ModelWarning
        As `dtau.load`; and if rows of the constraints depend on each other at the posture, as in a
        planar linkage of hinges. It names the rows, and `regularization`, with which functions of
        constrained dynamics take them.

    Notes
    -----
    Equalities that are not active, or within one body, are left out with a note in `Model.notes`. A
    `weld` whose ``torquescale`` is 0 has three rows.

    Examples
    --------
    >>> import dtau
    >>> pendulums = '''
    ... <mujoco>
    ...   <worldbody>
    ...     <body name="left">
    ...       <joint axis="0 1 0"/>
    ...       <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -1"/>
    ...     </body>
    ...     <body name="right" pos="0.5 0 0">
    ...       <joint axis="0 1 0"/>
    ...       <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -1"/>
    ...       <body name="bar" pos="0 0 -1">
    ...         <joint type="ball"/>
    ...         <geom type="capsule" size="0.02" fromto="0 0 0 -0.5 0 0"/>
    ...       </body>
    ...     </body>
    ...   </worldbody>
    ...   <equality><connect name="pin" body1="bar" body2="left" anchor="-0.5 0 0"/></equality>
    ... </mujoco>
    ... '''
    >>> model, contacts, q = dtau.load_mechanism(pendulums)
    >>> contacts.names, contacts.nrows
    (('pin',), 3)
    """
    require_option("mimic", mimic, MimicJoints)
    if gravity is not None:
        real_array("gravity", gravity, (3,))
    integer("max_size", max_size, 1)
    text, document = open_document(source, max_size)
    if document.tag != "mujoco":
        raise document.error(
            f"expected <mujoco>, the root of an MJCF, got <{document.tag}>; other formats say no "
            "loops: dtau.load reads the model, and dtau.Contacts closes it"
        )
    options = Options(None, mimic, "keep", loops=True, friction=friction_speed is not None)
    changes = Changes(armature, damping, stiffness, friction, friction_speed)
    parts, gravity = with_changes(mjcf.read(text, options), gravity, changes)
    with naming(text):
        model = Model(
            parts.name, parts.links, gravity=gravity, notes=parts.notes, postures=parts.postures
        )
    contacts = Contacts(model, [replace(loop, kp=kp, kd=kd) for loop in parts.loops])
    own = {joint.name for joint in model.joints if joint.mimic is None}
    q = configuration(model, {name: x for name, x in parts.posture.items() if name in own})
    if redundant := dependent_rows(model, contacts, q):
        named = "; ".join(
            f"{name!r}: {', '.join(map(str, rows))}" for name, rows in redundant.items()
        )
        warn_of_model(
            f"rows of these constraints depend on rows before them at the file's posture: {named} "
            "(counted from 0); functions with contacts refuse that, unless regularization=1e-6 is "
            "given, which changes nothing where the rows agree, or these rows are left out",
            stacklevel=2,
        )
    return Mechanism(model, contacts, q)
