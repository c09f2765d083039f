"""Frames, centre of mass and momentum, on PyTorch's tensors."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from dtau.autodiff.results import Placements
from dtau.checks import frame_names
from dtau.model.model import Model
from dtau.options import Axes
from dtau.torch.arguments import results


def frame_placements(model: Model, q: Tensor, frames: str | Sequence[str]) -> Placements[Tensor]:
    """Poses of frames in the world: `dtau.frame_placements` for PyTorch.

    Parameters
    ----------
    model : Model
    q : Tensor (..., nq)
        Configuration; quaternions need no unit norm.
    frames : str or sequence of str
        Names from ``model.frames``.

    Returns
    -------
    Placements
        ``rotation`` (..., nframes, 3, 3) and ``translation`` (..., nframes, 3) in metres; a single
        name drops the axis of the frames.

    Raises
    ------
    TypeError, ValueError
        As `dtau.torch.inverse_dynamics`; also ValueError if a name is unknown.

    Notes
    -----
    Derivatives by q of every order exist.

    Examples
    --------
    How fast a foot rises with each of the numbers of q:

    >>> import dtau, dtau.torch, torch
    >>> model = dtau.robots.quadruped()
    >>> q = torch.from_numpy(dtau.neutral(model))
    >>> q.requires_grad_()  # doctest: +ELLIPSIS
    tensor(...
    >>> dtau.torch.frame_placements(model, q, "LF_FOOT").translation[2].backward()
    >>> q.grad.shape
    torch.Size([19])
    """
    return Placements(*results(model, "frame_placements", q, frames=frame_names(frames)))


def frame_jacobians(
    model: Model, q: Tensor, frames: str | Sequence[str], axes: Axes = "body"
) -> Tensor:
    """Jacobians of frames, whose twists are ``J @ v``: `dtau.frame_jacobians` for PyTorch.

    Parameters
    ----------
    model : Model
    q : Tensor (..., nq)
        Configuration; quaternions need no unit norm.
    frames : str or sequence of str
        Names from ``model.frames``.
    axes : {"body", "world", "mixed"}
        Axes and point of the twist, as `dtau.frame_velocities` has them.

    Returns
    -------
    Tensor (..., nframes, 6, nv)
        Rows [linear, angular]; of a single name (..., 6, nv). A frame of the world has zeros.

    Raises
    ------
    TypeError, ValueError
        As `dtau.torch.inverse_dynamics`; also ValueError if a name or ``axes`` is unknown.

    Notes
    -----
    Derivatives by q of every order exist.

    Examples
    --------
    >>> import dtau, dtau.torch, torch
    >>> model = dtau.robots.quadruped()
    >>> q = torch.from_numpy(dtau.neutral(model))
    >>> v = torch.arange(18, dtype=torch.float64)
    >>> J = dtau.torch.frame_jacobians(model, q, "LF_FOOT")
    >>> twist = dtau.torch.frame_velocities(model, q, v, "LF_FOOT")
    >>> bool(torch.allclose(J @ v, twist))
    True
    """
    result: Tensor = results(model, "frame_jacobians", q, frames=frame_names(frames), axes=axes)[0]
    return result


def frame_velocities(
    model: Model, q: Tensor, v: Tensor, frames: str | Sequence[str], axes: Axes = "body"
) -> Tensor:
    """Twists of frames: `dtau.frame_velocities` for PyTorch.

    Parameters
    ----------
    model : Model
    q : Tensor (..., nq)
        Configuration; quaternions need no unit norm.
    v : Tensor (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.
    frames : str or sequence of str
        Names from ``model.frames``.
    axes : {"body", "world", "mixed"}
        Axes and point of the twist, as `dtau.frame_velocities` has them.

    Returns
    -------
    Tensor (..., nframes, 6)
        [linear, angular] in m/s and rad/s; of a single name (..., 6). A frame of the world has
        zeros.

    Raises
    ------
    TypeError, ValueError
        As `dtau.torch.inverse_dynamics`; also ValueError if a name or ``axes`` is unknown.

    Notes
    -----
    Derivatives of every order exist, by each of the arrays.

    Examples
    --------
    >>> import dtau, dtau.torch, torch
    >>> model = dtau.robots.quadruped()
    >>> q = torch.from_numpy(dtau.neutral(model))
    >>> v = torch.arange(18, dtype=torch.float64)
    >>> dtau.torch.frame_velocities(model, q, v, "LF_FOOT").shape
    torch.Size([6])
    >>> dtau.torch.frame_velocities(model, q, v, ["LF_FOOT", "RF_FOOT"], "mixed").shape
    torch.Size([2, 6])
    """
    result: Tensor = results(
        model, "frame_velocities", q, v, frames=frame_names(frames), axes=axes
    )[0]
    return result


def center_of_mass(model: Model, q: Tensor) -> Tensor:
    """Centre of mass of all moving bodies: `dtau.center_of_mass` for PyTorch.

    Parameters
    ----------
    model : Model
    q : Tensor (..., nq)
        Configuration; quaternions need no unit norm.

    Returns
    -------
    Tensor (..., 3)
        Along the world's axes, in metres.

    Raises
    ------
    TypeError, ValueError
        As `dtau.torch.inverse_dynamics`.

    Notes
    -----
    Derivatives by q of every order exist.

    Examples
    --------
    >>> import dtau, dtau.torch, torch
    >>> model = dtau.robots.quadruped()
    >>> q = torch.from_numpy(dtau.neutral(model))
    >>> torch.func.jacrev(lambda q: dtau.torch.center_of_mass(model, q))(q).shape
    torch.Size([3, 19])
    """
    result: Tensor = results(model, "center_of_mass", q)[0]
    return result


def center_of_mass_velocity(model: Model, q: Tensor, v: Tensor) -> Tensor:
    """Velocity of the centre of mass: `dtau.center_of_mass_velocity` for PyTorch.

    Parameters
    ----------
    model : Model
    q : Tensor (..., nq)
        Configuration; quaternions need no unit norm.
    v : Tensor (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.

    Returns
    -------
    Tensor (..., 3)
        Along the world's axes, in m/s.

    Raises
    ------
    TypeError, ValueError
        As `dtau.torch.inverse_dynamics`.

    Notes
    -----
    Derivatives of every order exist, by each of the arrays.

    Examples
    --------
    >>> import dtau, dtau.torch, torch
    >>> model = dtau.robots.quadruped()
    >>> q = torch.from_numpy(dtau.neutral(model))
    >>> v = torch.arange(18, dtype=torch.float64)
    >>> velocity = dtau.torch.center_of_mass_velocity(model, q, v)
    >>> bool(torch.allclose(model.mass * velocity, dtau.torch.momentum(model, q, v)[:3]))
    True
    """
    result: Tensor = results(model, "center_of_mass_velocity", q, v)[0]
    return result


def momentum(model: Model, q: Tensor, v: Tensor) -> Tensor:
    """Momentum about the world's origin: `dtau.momentum` for PyTorch.

    Parameters
    ----------
    model : Model
    q : Tensor (..., nq)
        Configuration; quaternions need no unit norm.
    v : Tensor (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.

    Returns
    -------
    Tensor (..., 6)
        [linear, angular] along the world's axes, in kg m/s and kg m²/s.

    Raises
    ------
    TypeError, ValueError
        As `dtau.torch.inverse_dynamics`.

    Notes
    -----
    Derivatives of every order exist, by each of the arrays.

    Examples
    --------
    >>> import dtau, dtau.torch, torch
    >>> model = dtau.robots.quadruped()
    >>> q = torch.from_numpy(dtau.neutral(model))
    >>> v = torch.arange(18, dtype=torch.float64)
    >>> torch.func.jacrev(lambda v: dtau.torch.momentum(model, q, v))(v).shape
    torch.Size([6, 18])
    """
    result: Tensor = results(model, "momentum", q, v)[0]
    return result


def centroidal_momentum(model: Model, q: Tensor, v: Tensor) -> Tensor:
    """Momentum about the centre of mass: `dtau.centroidal_momentum` for PyTorch.

    Parameters
    ----------
    model : Model
    q : Tensor (..., nq)
        Configuration; quaternions need no unit norm.
    v : Tensor (..., nv)
        Velocity in rad/s and m/s; of a free joint [linear, angular] in the body frame.

    Returns
    -------
    Tensor (..., 6)
        [linear, angular] along the world's axes, in kg m/s and kg m²/s.

    Raises
    ------
    TypeError, ValueError
        As `dtau.torch.inverse_dynamics`.

    Notes
    -----
    Derivatives of every order exist, by each of the arrays.

    Examples
    --------
    >>> import dtau, dtau.torch, torch
    >>> model = dtau.robots.quadruped()
    >>> q = torch.from_numpy(dtau.neutral(model))
    >>> v = torch.arange(18, dtype=torch.float64)
    >>> h = dtau.torch.centroidal_momentum(model, q, v)
    >>> bool(torch.allclose(h[:3], dtau.torch.momentum(model, q, v)[:3]))
    True
    """
    result: Tensor = results(model, "centroidal_momentum", q, v)[0]
    return result
