"""Notice changes of crocoddyl's sums of costs, contacts and impulses: `Members`."""

from __future__ import annotations

from operator import attrgetter
from typing import Any


class Members:
    """The members of a sum at one time.

    crocoddyl reads status, weights and references at each evaluation. A member that joins or leaves
    needs other data.

    Parameters
    ----------
    kind : str
        "cost", "contact" or "impulse".
    total : crocoddyl.CostModelSum, ContactModelMultiple or ImpulseModelMultiple

    Attributes
    ----------
    items : dict
        crocoddyl's items by name; each has a member and its present status.
    """

    def __init__(self, kind: str, total: Any) -> None:
        self._kind, self._total = kind, total
        self.items: dict[str, Any] = self._read()
        # The rows of all members, in one call: `_read` takes as long as the dynamics.
        self._count = attrgetter("nr_total" if kind == "cost" else "nc_total")
        self._rows = self._count(total)

    def _read(self) -> dict[str, Any]:
        items: dict[str, Any] = getattr(self._total, f"{self._kind}s").todict()
        return items

    def __iter__(self) -> Any:
        return (getattr(item, self._kind) for item in self.items.values())

    def have_moved(self) -> bool:
        """Whether one has joined or left."""
        return self._count(self._total) != self._rows  # type: ignore[no-any-return]

    def check(self) -> None:
        """Raise a ValueError if one has joined or left."""
        if self._count(self._total) == self._rows:
            return
        names, known = self._read().keys(), self.items.keys()
        changes = [f"{name!r} joined" for name in sorted(names - known)]
        changes += [f"{name!r} left" for name in sorted(known - names)]
        raise ValueError(
            f"{self._kind}s: expected those for which createData made this data, but "
            f"{', '.join(changes) or 'one was replaced'}; call createData again, or make the "
            "problem again"
        )
