"""A quadruped sways over its four feet, in the viewer, with the forces at its feet as arrows.

Its base follows a closed curve and tilts. Inverse kinematics, for all frames at once, keep the feet
where they are; the forces are those of `dtau.equilibrium` at each posture: larger on the feet that
the base leans over.

    python examples/view.py                            # serves a page until Ctrl-C (dtau[view])
    python examples/view.py --picture sway.png         # a picture of one posture, without a browser
    python examples/view.py --file talos.urdf --root free --meshes share   # a robot of yours
"""

from __future__ import annotations

import argparse
import contextlib
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import dtau
import dtau.viewer

FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
DT, SECONDS = 0.02, 8.0
REACHED = 1e-10  # m


def crouch(model: dtau.Model) -> np.ndarray:
    """Four bent legs."""
    angles = {}
    for leg in ("LF", "RF", "LH", "RH"):
        bend = 0.7 if leg.endswith("F") else -0.7
        angles |= {f"{leg}_HFE": bend, f"{leg}_KFE": -2 * bend}
    return dtau.configuration(model, angles)


def sway(model: dtau.Model) -> np.ndarray:
    """Configurations (T, nq): the base moves, the feet stay."""
    start = crouch(model)
    feet = dtau.frame_placements(model, start, FEET).translation
    t = 2 * np.pi * np.arange(0.0, SECONDS, DT) / SECONDS
    dq = np.zeros((len(t), model.nv))
    dq[:, 0], dq[:, 1] = 0.05 * np.sin(2 * t), 0.06 * np.sin(t)
    dq[:, 2] = 0.03 * (np.cos(t) - 1.0)
    dq[:, 3], dq[:, 4] = 0.15 * np.sin(t), 0.10 * np.sin(2 * t)
    q = dtau.integrate(model, start, dq)
    for _ in range(50):
        error = feet - dtau.frame_placements(model, q, FEET).translation
        if np.abs(error).max() < REACHED:
            return q
        jacobian = dtau.frame_jacobians(model, q, FEET, "mixed")[..., :3, 6:]
        square = jacobian.reshape(len(t), 12, 12)
        dq[:, :6] = 0.0
        dq[:, 6:] = np.linalg.solve(square, error.reshape(len(t), 12, 1))[..., 0]
        q = dtau.integrate(model, q, dq)
    raise RuntimeError("the feet do not reach their places")


def forces(model: dtau.Model, q: np.ndarray) -> dict[str, np.ndarray]:
    """What holds each posture: wrenches (T, 6) along the world's axes, by feet."""
    contacts = dtau.Contacts(model, [dtau.PointContact(foot, "mixed") for foot in FEET])
    hold = dtau.equilibrium(model, q, contacts=contacts)
    assert hold.exists.all()
    no_moment = np.zeros((len(q), 3))
    return {foot: np.hstack([hold.forces[:, contacts.rows(foot)], no_moment]) for foot in FEET}


def velocities(model: dtau.Model, q: np.ndarray) -> np.ndarray:
    """By differences, of a motion that is closed."""
    return dtau.difference(model, np.roll(q, 1, 0), np.roll(q, -1, 0)) / (2 * DT)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--file", type=Path, help="show this URDF, MJCF or xacro instead")
    parser.add_argument("--root", choices=["free", "fixed"], help="how its root hangs")
    parser.add_argument("--meshes", type=Path, default=[], nargs="*", help="folders of its meshes")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw this instead of a page")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--seconds", type=float, help="how long to serve; default: until Ctrl-C")
    args = parser.parse_args(arguments)

    if args.file:
        model = dtau.load(args.file, root=args.root)
        shown = {"geometry": args.file, "meshes": args.meshes}
    else:
        model = dtau.robots.quadruped()
        q = sway(model)
        shown = {"q": q, "f_ext": forces(model, q), "f_ext_axes": "mixed"}
    if args.picture:
        if not args.file:
            at = np.argmax(q[:, 1])
            shown |= {"q": q[at], "f_ext": {foot: w[at] for foot, w in shown["f_ext"].items()}}
        dtau.viewer.picture(model, path=args.picture, **shown)
        return
    if not args.file:
        shown["v"] = velocities(model, q)
    with dtau.view(model, dt=DT, port=args.port, **shown) as viewer:
        print(f"open {viewer.url} in a browser")
        viewer.play()
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait(args.seconds)


if __name__ == "__main__":
    main()
