"""Write a model in formats that others read: `Writable`."""

from __future__ import annotations

import os
from typing import Any

from dtau.model.base import ModelBase
from dtau.model.pinocchio_writing import pinocchio_model
from dtau.model.saving import saved
from dtau.model.writing import urdf_text
from dtau.support.files import write_file


class Writable(ModelBase):
    """The methods of a model that write it: as a URDF, a binary file, a Pinocchio model."""

    def to_urdf(
        self, path: str | os.PathLike[str] | None = None, *, root_link: str | None = None
    ) -> str:
        """Write the model as a URDF that loads as an equal model.

        Numbers are written with all digits, so that reading them gives the same bits. If no roll,
        pitch and yaw give a rotation exactly, its nine numbers are in the additional attribute
        ``dtau:rotation``. If the root's joint is not called ``root_joint``, its name is in
        ``dtau:root_joint``. Other readers ignore both attributes. Of rotational inertias the
        symmetric parts are written. `notes` and rest positions without a spring are not written.
        Parts of a model that a URDF cannot represent are refused, all in one message.

        Parameters
        ----------
        path : str or path-like, optional
            A file to write, in UTF-8.
        root_link : str, optional
            Name of a link to add as the root, which carries all links on the world. Needed for
            models of several trees, and for models whose first joint is neither fixed nor free at
            the world's origin. The loaded model then has this additional link.

        Returns
        -------
        str
            The text. Its first line has the options with which `dtau.load` gives an equal model:
            also the speeds of friction, which a URDF does not have.

        Raises
        ------
        ValueError
            If a URDF cannot represent the model: other gravity, armature, springs, other kinds of
            joint, siblings that are not in the order of their joints' names, limits, damping or
            friction of joints with several coordinates, ranges with one bound.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import dtau
        >>> model = dtau.robots.quadruped()
        >>> text = model.to_urdf()
        >>> dtau.load(text, root="free") == model
        True
        """
        text = urdf_text(self, root_link)
        if path is not None:
            write_file(path, text.encode())
        return text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of the model to a binary file, which programs read without Python.

        `dtau.load` reads it as an equal model with the same notes and postures, to the last bit.
        Every model can be written. The format has a version and a checksum; a damaged file or one
        of another version is refused.

        Parameters
        ----------
        path : str or path-like
            The file to write, usually named ``*.dtau``.

        Raises
        ------
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import dtau, os, tempfile
        >>> model = dtau.robots.quadruped()
        >>> path = os.path.join(tempfile.mkdtemp(), "quadruped.dtau")
        >>> model.save(path)
        >>> dtau.load(path) == model
        True
        """
        write_file(path, saved(self))

    def to_pinocchio(self) -> Any:
        """Write the model as a `pinocchio.Model`; `dtau.conventions.pinocchio` converts states.

        Joints keep their names, all frames become frames of type BODY, and postures reference
        configurations. Universal and cylindrical joints become `JointModelComposite`.

        Returns
        -------
        pinocchio.Model

        Raises
        ------
        ValueError
            If the model has springs, or Pinocchio has no such joint: a planar joint whose normal is
            not (0, 0, 1), or a mimic joint that is not revolute or prismatic along the axis of the
            mimicked joint.
        ImportError
            If Pinocchio is not installed.

        Examples
        --------
        >>> import dtau
        >>> pin_model = dtau.robots.quadruped().to_pinocchio()
        >>> pin_model.nv, pin_model.existFrame("LF_FOOT")
        (18, True)
        """
        return pinocchio_model(self)


for _method in (Writable.to_urdf, Writable.save, Writable.to_pinocchio):
    _method.__qualname__ = f"Model.{_method.__name__}"  # as users know it
