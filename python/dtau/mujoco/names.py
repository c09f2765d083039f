"""Name contacts and joints in error messages: `Names`."""

from __future__ import annotations

from typing import Any

import mujoco

from dtau.mujoco.solved import Contacts


class Names:
    """Names of what has no derivative in the states of a run.

    Parameters
    ----------
    mj_model : mujoco.MjModel
    first : int, optional
        Number of the run's first state in the batch; None: there is a single state.
    stage : int, optional
        Number of the stage of the Runge-Kutta method; None: the step has a single one.
    """

    def __init__(self, mj_model: Any, first: int | None, stage: int | None) -> None:
        self._model, self._first, self._stage = mj_model, first, stage

    def contact(self, contacts: Contacts, i: int) -> str:
        """Return contact `i` as "contact 0 of box 'table' and sphere (geom 2), state 3"."""
        both = " and ".join(self._geom(geom) for geom in contacts.geom[i].tolist())
        return f"contact {contacts.number[i]} of {both}{self._place(int(contacts.state[i]))}"

    def joint(self, joint: int, state: int) -> str:
        """Return a joint as "joint 'hip', state 3"."""
        return f"joint {self._model.joint(joint).name or joint!r}{self._place(state)}"

    def step(self, state: int) -> str:
        """Return the step from a state as "the step from state 3"."""
        return "the step" if self._first is None else f"the step from state {self._first + state}"

    def kinds(self, contacts: Contacts, i: int) -> str:
        """Return the types of the geoms of a contact, such as "box and sphere"."""
        return " and ".join(self._kind(geom) for geom in contacts.geom[i].tolist())

    def _kind(self, geom: int) -> str:
        return str(mujoco.mjtGeom(self._model.geom_type[geom]).name[7:].lower())

    def _geom(self, geom: int) -> str:
        name = self._model.geom(geom).name
        return f"{self._kind(geom)} {name!r}" if name else f"{self._kind(geom)} (geom {geom})"

    def _place(self, state: int) -> str:
        of_batch = "" if self._first is None else f", state {self._first + state}"
        return of_batch if self._stage is None else f"{of_batch}, stage {self._stage} of RK4"
