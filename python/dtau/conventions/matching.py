"""Match the joints of another package's model to a model's joints: `match_joints`."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dtau.model.joints import Free
from dtau.model.model import Model
from dtau.support.checks import listing, require, unknown_name


def match_joints(
    model: Model,
    argument: str,
    names: Sequence[str],
    free_roots: Collection[int],
    stand_ins: Sequence[str] = (),
    mimics: Collection[int] = (),
) -> list[int]:
    """Return the index in `names` of each joint of the model.

    A single free joint at the root of each model matches under any names. Unnamed joints match by
    their stand-in names, if there are any. A mimic joint matches one of `mimics`.

    Raises
    ------
    ValueError
        If one model has a joint that the other does not have, or a joint of ours is a mimic joint
        and its counterpart is none; the message names it.
    """
    require("model", model, Model)
    ours = [j.name for j in model.joints if isinstance(j.type, Free) and j.parent < 0]
    index = {name: i for i, name in enumerate(stand_ins or names) if name}
    if len(ours) == 1 and len(free_roots) == 1:
        (index[ours[0]],) = free_roots
    for joint in model.joints:
        if joint.mimic is not None and index.get(joint.name) not in mimics:
            raise ValueError(
                f"model: joint {joint.name!r} mimics {joint.mimic.joint!r}, which has no "
                "counterpart; load it with mimic='independent'"
            )
    if lacking := [joint.name for joint in model.joints if joint.name not in index]:
        raise ValueError(
            f"{argument}: {unknown_name('joint', lacking[0], index)}; it lacks joints of the "
            f"model: {listing(lacking)} (Model.lock fixes them, for a reduced model)"
        )
    found = [index[joint.name] for joint in model.joints]
    extra = sorted(set(range(len(names))) - set(found))
    if extra:
        name = repr(names[extra[0]]) if names[extra[0]] else f"number {extra[0]}, without a name"
        raise ValueError(f"model: no joint for {argument}'s joint {name}")
    return found
