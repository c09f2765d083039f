"""The peers that are here, opened for one robot, and why others are not."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.checks import UnavailableError
from benchmarks.compilers import c_compiler, cxx_compilers
from benchmarks.peers import headers, jax_peer, mujoco_peer
from benchmarks.peers.cases import Peer
from benchmarks.peers.mujoco_calls import MuJoCo
from benchmarks.peers.pinocchio_peer import Compiled, Python
from benchmarks.robots import Robot

ORDERS = (0, 1, 2)  # of what Pinocchio's headers are compiled for
NEEDS_MODEL = "needs Pinocchio"  # whose model of the robot it is given


@dataclass
class Peers:
    """Which peers there are, in the order of the columns."""

    quick: bool
    notes: list[str]
    missing: dict[str, str] = field(default_factory=dict)  # name: what its cells say
    _headers: dict[str, list[headers.Headers]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.quick:
            return
        for order in ORDERS:
            for compiled in headers.compiled(order, self._note):
                self._headers.setdefault(compiled.name, []).append(compiled)
        here = [Path(path).name for path in cxx_compilers()]
        for compiler in ("clang++", "g++"):
            if not any(name.startswith(compiler) for name in self._headers):
                there = any(name.startswith(compiler) for name in here)
                self._miss(f"headers, {compiler}", "left out" if there else "not installed")

    def columns(self) -> list[str]:
        """The names of all peers, missing ones too."""
        compilers = [f"headers, {name}" for name in self._headers]
        libraries = [] if self.quick else ["CasADi's C", *jax_peer.LIBRARIES]
        names = ["Pinocchio", *compilers, "CasADi", "MuJoCo", *libraries]
        return names + [name for name in self.missing if name not in names]

    @contextlib.contextmanager
    def opened(self, robot: Robot) -> Iterator[list[Peer]]:
        """Open the peers that take a robot."""
        peers: list[Peer] = []
        try:
            peers += self._pinocchio(robot)
            peers += self._casadi(robot)
            peers += self._mujoco(robot)
            if not self.quick:
                peers += self._jax(robot)
            yield peers
        finally:
            for peer in peers:
                peer.close()

    def _pinocchio(self, robot: Robot) -> list[Peer]:
        """Its Python package, and its headers by the compilers."""
        if robot.peer is None:
            self._miss("Pinocchio", "not installed")
            return []
        compiled = (Compiled(robot, x, f"headers, {name}") for name, x in self._headers.items())
        return [Python(robot), *compiled]

    def _casadi(self, robot: Robot) -> list[Peer]:
        """Its virtual machine, and the C code that it generates."""
        if importlib.util.find_spec("casadi") is None:
            self._miss("CasADi", "not installed")
            return []
        from benchmarks.peers import casadi_calls

        functions = casadi_calls.Functions(robot)
        machine = casadi_calls.VirtualMachine(functions)
        if self.quick:
            return [machine]
        if not c_compiler():
            self._miss("CasADi's C", "no compiler")
            return [machine]
        return [machine, casadi_calls.Code(functions)]

    def _mujoco(self, robot: Robot) -> list[Peer]:
        if not mujoco_peer.available():
            self._miss("MuJoCo", "not installed")
            return []
        try:
            return [MuJoCo(robot)]
        except UnavailableError as reason:
            self._note(f"MuJoCo does not open {robot.label}: {reason}")
            return []

    def _jax(self, robot: Robot) -> list[Peer]:
        peers: list[Peer] = []
        for library in jax_peer.LIBRARIES:
            if robot.peer is None:
                self._miss(library, NEEDS_MODEL)
                continue
            try:
                peers.append(jax_peer.Jax(robot, library))
            except (jax_peer.ChildError, UnavailableError) as reason:
                if str(reason) == "not installed":
                    self._miss(library, "not installed")
                else:
                    self._note(f"{library} does not open {robot.label}: {reason}")
        return peers

    def _miss(self, name: str, why: str) -> None:
        if name not in self.missing:
            self.missing[name] = why
            asked = name in jax_peer.LIBRARIES and why == "not installed"
            hint = f" (the variable {jax_peer.INTERPRETER} names an interpreter that has it)"
            self._note(f"{name}: {why}{hint if asked else ''}.")

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
