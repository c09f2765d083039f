"""Packages on JAX, compiled by jit and vmap, each in a child process: see `jax_child`."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pickle
import select
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array
from benchmarks.peers.cases import CHECKED, LONE_STATES, Case, Way
from benchmarks.peers.mujoco_calls import MuJoCo
from benchmarks.peers.plain_urdf import plain_urdf
from benchmarks.robots import Robot
from dtau.cli.timing import Contender

LIBRARIES = {"adam": "adam-robotics", "frax": "frax"}  # module: name in the package index
INTERPRETER = "DTAU_BENCHMARKS_JAX"  # the variable that names an interpreter with them
PATIENCE = 60.0  # seconds for a function to compile
ALLOWANCE = 60.0  # seconds of compiling for all functions of a robot
FUNCTIONS = (
    *("inverse_dynamics", "forward_dynamics", "mass_matrix", "mass_matrix_inverse"),
    *("bias_torque", "gravity_torque", "center_of_mass", "frame_placements"),
    *("inverse_dynamics_derivatives", "forward_dynamics_derivatives"),
    *("inverse_dynamics_jvp", "inverse_dynamics_vjp", "forward_dynamics_vjp"),
)


class ChildError(Exception):
    """What a library could not do in its child process; the message says why.

    An error of `jax_child` itself is not one: that is a RuntimeError, which nobody takes for a
    limit of the library's.
    """


def interpreter(library: str) -> str | None:
    """An interpreter that has the library, or None."""
    named = os.environ.get(INTERPRETER)
    if named:
        command = [named, "-c", f"import importlib.util as u; print(u.find_spec({library!r}))"]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return None if found.strip() == "None" else named
    return sys.executable if importlib.util.find_spec(library) else None


class Jax:
    """One robot in one library."""

    def __init__(self, robot: Robot, library: str) -> None:
        self.name, self._library, self._robot = library, library, robot
        self._child: subprocess.Popen[bytes] | None = None
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  (what the child prints, to its end)
        self._joints: list[str] = []
        self._spent, self.loading = 0.0, 0.0  # seconds
        self._mujoco = MuJoCo(robot) if library == "frax" else None  # whose convention it has
        self._open()

    def _open(self) -> None:
        """Start the process, and read the robot there."""
        python = interpreter(self._library)
        if python is None:
            raise ChildError("not installed")
        self._child = subprocess.Popen(
            [python, "-W", "ignore", str(Path(__file__).with_name("jax_child.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
        )
        order = sorted(self._robot.joints, key=lambda joint: joint.v.start)
        names = [joint.name for joint in order if joint.type.nv == 1]
        root = self._robot.root
        self._joints, self.loading = self._ask(
            "open", self._library, names, root, plain_urdf(self._robot)
        )
        if self._mujoco is not None:
            names = self._mujoco.joints()
        first = self._robot.model.nv - len(names)
        columns = [names.index(name) + first for name in self._joints]
        self._columns = np.array([*range(first), *columns])

    def _ask(self, *request: object) -> Any:
        """Send a request and wait for its answer, for a limited time."""
        child = self._child
        if child is None or child.stdin is None or child.stdout is None:
            raise ChildError("its process has ended")
        try:
            pickle.dump(request, child.stdin)
            child.stdin.flush()
            if not select.select([child.stdout], [], [], PATIENCE)[0]:
                self.close()
                self._spent += PATIENCE
                raise ChildError(f"over {PATIENCE:.0f} s to compile")
            kind, answer = pickle.load(child.stdout)
        except (OSError, EOFError) as error:
            status = child.wait(PATIENCE)
            self.close()
            if status == 1:  # by an exception, as of an import
                self._said.seek(0)
                *_, last = self._said.read().decode(errors="replace").splitlines()
                raise RuntimeError(f"{self._library}'s process: {last}") from error
            raise ChildError("its process has ended") from error
        if kind == "defect":
            raise RuntimeError(f"{self._library}'s process: {answer}")
        if kind == "refused":
            raise ChildError(answer)
        return answer

    def way(self, case: Case) -> Way | str:
        """Calls of its function, compiled; batches by vmap."""
        name = case.function
        if name not in FUNCTIONS:
            return ""
        if self._spent > ALLOWANCE:
            return f"{ALLOWANCE:.0f} s of compiling used up"
        if self._child is None:
            self._open()
        given = self._arguments(case)
        self._ask("forget")
        found = self._ask("prepare", name, "lone", [x[:LONE_STATES] for x in given], case.frame)
        if found is None:
            return ""
        got, seconds = found
        self._spent += seconds
        each = Contender(lambda passes: self._ask("run", name, "lone", passes), LONE_STATES)
        facts = {"seconds to compile": seconds}
        return Way(got, self._wanted(case), each, self._batch(name, given, case), facts=facts)

    def _batch(
        self, name: str, given: list[Array], case: Case
    ) -> Callable[[int, int], Contender | None]:
        prepared: set[int] = set()

        def batch(count: int, threads: int) -> Contender:
            if count not in prepared:
                rows = [x[:count] for x in given]
                self._spent += self._ask("prepare", name, count, rows, case.frame)[1]
                prepared.add(count)
            return Contender(lambda passes: self._ask("run", name, count, passes), count)

        return batch

    def keep_on(self, threads: int) -> None:
        """Keep it on so many cores; one: that of `harness.one_core`."""
        if self._child is not None and hasattr(os, "sched_setaffinity"):
            self._ask("cores", sorted(os.sched_getaffinity(0))[-threads:])

    def _arguments(self, case: Case) -> list[Array]:
        """The arguments at all states, as the library writes them."""
        at = case.at
        if self._mujoco is None:  # velocities are the package's
            return list(case.arguments.values())
        convention = self._mujoco.convention
        q = at["q"]
        there = convention.from_dtau(q, at["v"], at["a"])
        known = {"q": there.q, "v": there.v, "a": there.a}
        out = []
        for name in case.arguments:
            if name in known:
                x = known[name]
            elif name == "dq":
                x = convention.from_dtau(q, at["dq"], at["a"]).v
            else:
                x = convention.convert(at[name], of="tau", at={"q": q})
            if name == "q":
                nq = x.shape[1] - len(self._joints)
                free = len(self._columns) - len(self._joints)
                columns = np.array([*range(nq), *(self._columns[free:] - free + nq)])
                out.append(np.ascontiguousarray(x[:, columns]))
            else:
                out.append(np.ascontiguousarray(x[:, self._columns]))
        return out

    def _wanted(self, case: Case) -> list[Array]:
        """The package's results in the library's convention."""
        if self._mujoco is None:
            return case.wanted
        out = []
        for axes, result in zip(case.axes, self._there(case), strict=True):
            for i, axis in enumerate(axes):
                if axis == "nv":
                    result = np.take(result, self._columns, axis=i + 1)
            out.append(result)
        return out

    def _there(self, case: Case) -> list[Array]:
        """The package's results in MuJoCo's convention."""
        assert self._mujoco is not None
        convention, name = self._mujoco.convention, case.function
        at = {key: x[:CHECKED] for key, x in case.at.items()}
        q, v, a, tau = (at[x] for x in ("q", "v", "a", "tau"))
        if name == "mass_matrix_inverse":
            matrix = dtau.mass_matrix(case.robot.model, q)
            return [np.asarray(np.linalg.inv(self._mujoco.matrix(q, v, matrix)))]
        if name == "forward_dynamics_derivatives":
            found = dtau.forward_dynamics_derivatives(case.robot.model, q, v, tau)
            return list(convention.convert(found, at={"q": q, "v": v, "a": a, "tau": tau}))
        if name.endswith(("_vjp", "_jvp")):
            inverse = name.startswith("inverse")
            model = case.robot.model
            if inverse:
                d: Any = convention.convert(
                    dtau.inverse_dynamics_derivatives(model, q, v, a),
                    at={"q": q, "v": v, "a": a, "tau": tau},
                )
            else:
                d = convention.convert(
                    dtau.forward_dynamics_derivatives(model, q, v, tau),
                    at={"q": q, "v": v, "a": a, "tau": tau},
                )
            back = np.argsort(self._columns)
            given = [x[:CHECKED][:, back] for x in self._arguments(case)[3:]]
            if name.endswith("_jvp"):
                return [sum(np.einsum("nij,nj->ni", J, x) for J, x in zip(d, given, strict=True))]
            return [np.einsum("nij,ni->nj", J, given[0]) for J in d]
        return self._mujoco.wanted(case)

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            child, self._child = self._child, None
            with contextlib.suppress(OSError):
                child.kill()
            child.wait()
            for stream in (child.stdin, child.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
