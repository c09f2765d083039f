"""Packages on JAX, in a process of their own: JAX is nothing that the benchmarks need.

Run by an interpreter that has them, with nothing of dtau. A request and its answer are pickles
over the standard streams: ("open", library, joints, root, urdf), ("prepare", function, key, arrays,
frame), ("run", key, passes), ("cores", list of cores). An answer is ("done", result), ("refused",
why) where the library raises, or ("defect", why) where this file does. Arrays are those of the
library's own conventions: the other end converts.
"""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
import traceback
from pathlib import Path
from time import perf_counter
from typing import Any

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dtau-benchmarks"
os.environ |= {
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_X64": "1",
    "JAX_TRACEBACK_FILTERING": "off",  # the last frame is where an error was raised
    "OPENBLAS_NUM_THREADS": "1",
    "JAX_COMPILATION_CACHE_DIR": str(_CACHE / "jax"),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.2",
}

import jax  # noqa: E402  (it reads these variables when it is imported)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

GRAVITY = 9.81


class Adam:
    """adam-robotics: a base and joints, twists in body axes; x = (base transform, angles)."""

    def __init__(self, urdf: str, joints: list[str], root: str) -> None:
        from adam import Representations
        from adam.jax import KinDynComputations

        gravity = jnp.array([0.0, 0.0, -GRAVITY, 0.0, 0.0, 0.0])
        self.of = KinDynComputations(urdf, joints, gravity=gravity)
        self.of.set_frame_velocity_representation(Representations.BODY_FIXED_REPRESENTATION)
        self.free, self.n = root == "free", len(joints)

    def base(self, q: Any) -> tuple[Any, Any]:
        """The base's transform and the angles; q: position, quaternion (x, y, z, w), angles."""
        if not self.free:
            return jnp.eye(4), q
        x, y, z, w = q[3:7]
        cross = jnp.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        turn = jnp.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross
        top = jnp.concatenate([turn, q[:3, None]], axis=1)
        return jnp.concatenate([top, jnp.array([[0.0, 0.0, 0.0, 1.0]])]), q[7:]

    def moved(self, q: Any, dq: Any) -> tuple[Any, Any]:
        """As `base`, a small displacement away, right to first order."""
        base, s = self.base(q)
        if not self.free:
            return base, s + dq
        x, y, z = dq[3:6]
        zero = jnp.zeros(())
        rows = [[zero, -z, y, dq[0]], [z, zero, -x, dq[1]], [-y, x, zero, dq[2]], [zero] * 4]
        return base + base @ jnp.array(rows), s + dq[6:]

    def split(self, v: Any) -> tuple[Any, Any]:
        """The base's velocity and the joints'."""
        return (v[:6], v[6:]) if self.free else (jnp.zeros(6), v)

    def at(self, name: str, x: Any, rest: Any, frame: str) -> Any:
        """A value, where x is what `base` gives."""
        cut = 0 if self.free else 6
        if name == "mass_matrix":
            return self.of.mass_matrix(*x)[cut:, cut:]
        if name == "mass_matrix_inverse":
            return jnp.linalg.inv(self.of.mass_matrix(*x)[cut:, cut:])
        if name == "gravity_torque":
            return self.of.gravity_term(*x)[cut:]
        if name == "bias_torque":
            return self.of.bias_force(*x, *self.split(rest[0]))[cut:]
        if name == "inverse_dynamics":
            matrix = self.of.mass_matrix(*x)[cut:, cut:]
            return matrix @ rest[1] + self.of.bias_force(*x, *self.split(rest[0]))[cut:]
        if name == "forward_dynamics":
            if not self.free:
                bias = self.of.bias_force(*x, *self.split(rest[0]))[cut:]
                matrix = self.of.mass_matrix(*x)[cut:, cut:]
                return jax.scipy.linalg.solve(matrix, rest[1] - bias, assume_a="pos")
            tau = rest[1]
            wrench = {self.of.rbdalgos.root_link: tau[:6]}
            return self.of.aba(*x, *self.split(rest[0]), tau[6:], wrench)
        if name == "frame_placements":
            pose = self.of.forward_kinematics(frame, *x)
            return pose[:3, :3], pose[:3, 3]
        if name == "center_of_mass":
            return self.of.CoM_position(*x)
        raise KeyError(name)

    def function(self, name: str, frame: str) -> Any:
        """A function of one state."""
        base, _, what = name.partition("_dynamics_")
        if not what:
            return lambda q, *rest: self.at(name, self.base(q), rest, frame)
        value = base + "_dynamics"

        def near(dq: Any, q: Any, *rest: Any) -> Any:
            return self.at(value, self.moved(q, dq), rest, frame)

        return _derivatives(what, near, lambda q: 6 * self.free + self.n)


class Frax:
    """frax: MuJoCo's convention, q = (position, quaternion w first, angles)."""

    def __init__(self, urdf: str, joints: list[str], root: str) -> None:
        import frax

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.urdf"
            path.write_text(urdf, encoding="utf-8")
            kind = "quaternion" if root == "free" else None
            self.of = frax.Robot(str(path), floating_base=kind)
        self.names = list(self.of.joint_names)[6 * (root == "free") :]

    def function(self, name: str, frame: str) -> Any:
        """A function of one state."""
        of, lift = self.of, jnp.array([0.0, 0.0, GRAVITY, 0.0, 0.0, 0.0])
        values = {
            "inverse_dynamics": lambda q, v, a: of.rnea(q, v, a, lift, None),
            "forward_dynamics": lambda q, v, tau: of.forward_dynamics(q, v, tau, None),
            "mass_matrix": of.crba,
            "mass_matrix_inverse": lambda q: of.mass_matrix_inverse(of.crba(q)),
            "bias_torque": of.nonlinear_bias,
            "gravity_torque": of.gravity_vector,
            "center_of_mass": of.center_of_mass,
        }
        base, _, what = name.partition("_dynamics_")
        if not what:
            return values[name]
        value = values[base + "_dynamics"]

        def near(dq: Any, q: Any, *rest: Any) -> Any:
            return value(q + of.velocity_to_qdot_map(q) @ dq, *rest)

        return _derivatives(what, near, lambda q: of.nv)


def _derivatives(what: str, near: Any, size: Any) -> Any:
    """Derivatives of near(dq, q, v, u) at dq = 0 by dq, v and u."""
    if what == "derivatives":
        by = jax.jacfwd(near, argnums=(0, 2, 3))
        return lambda q, v, u: by(jnp.zeros(size(q)), q, v, u)
    if what == "vjp":

        def vjp(q: Any, v: Any, u: Any, lam: Any) -> Any:
            def function(dq: Any, v: Any, u: Any) -> Any:
                return near(dq, q, v, u)

            return jax.vjp(function, jnp.zeros(size(q)), v, u)[1](lam)

        return vjp
    if what == "jvp":

        def jvp(q: Any, v: Any, u: Any, dq: Any, dv: Any, du: Any) -> Any:
            def function(dq: Any, v: Any, u: Any) -> Any:
                return near(dq, q, v, u)

            return jax.jvp(function, (jnp.zeros(size(q)), v, u), (dq, dv, du))[1]

        return jvp
    raise KeyError(what)


class Server:
    """What answers requests."""

    def __init__(self) -> None:
        self.robot: Any = None
        self.prepared: dict[Any, Any] = {}

    def open(self, library: str, joints: list[str], root: str, urdf: str) -> Any:
        """Read a robot; the names of its joints in order, and the seconds."""
        start = perf_counter()
        self.robot = {"adam": Adam, "frax": Frax}[library](urdf, joints, root)
        self.prepared.clear()
        return getattr(self.robot, "names", joints), perf_counter() - start

    def prepare(self, name: str, key: Any, arrays: list[Any], frame: str) -> Any:
        """Compile a function for so many states; its first results, or None, and the seconds."""
        start = perf_counter()
        try:
            function = self.robot.function(name, frame)
        except KeyError:
            return None
        lone = key == "lone"
        compiled = jax.jit(function if lone else jax.vmap(function))
        if lone:
            given = [tuple(map(jnp.asarray, row)) for row in zip(*arrays, strict=True)]
            results = [_arrays(compiled(*row)) for row in given]
            found = [np.array(x) for x in zip(*results, strict=True)]
        else:
            given = [tuple(map(jnp.asarray, arrays))]
            found = _arrays(compiled(*given[0]))
        self.prepared[name, key] = compiled, given
        return [x[:8] for x in found], perf_counter() - start

    def run(self, name: str, key: Any, passes: int) -> None:
        """Call what was prepared so many times, and wait for the results of each call."""
        compiled, given = self.prepared[name, key]
        for _ in range(passes):
            for row in given:
                jax.block_until_ready(compiled(*row))

    def forget(self) -> None:
        """Drop what was prepared."""
        self.prepared.clear()

    def cores(self, cores: list[int]) -> None:
        """Keep all threads of this process on these cores."""
        for thread in os.listdir("/proc/self/task"):
            os.sched_setaffinity(int(thread), set(cores))


def _arrays(results: Any) -> list[Any]:
    return [np.asarray(x) for x in (results if isinstance(results, tuple | list) else (results,))]


def main() -> None:
    """Answer until the other end closes."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what packages print is no answer
    server = Server()
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = "done", getattr(server, request[0])(*request[1:])
        except Exception as error:
            *_, last = traceback.extract_tb(error.__traceback__)
            kind = "defect" if last.filename == __file__ else "refused"
            answer = kind, f"{type(error).__name__}: {error}"
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main()
