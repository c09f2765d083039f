"""Register the results of functions as PyTorch's trees, which saved programs name."""

from __future__ import annotations

import torch
from torch.utils import _pytree

import dtau.results

_KINDS = [getattr(dtau.results, name) for name in dtau.results.__all__]

for kind in _KINDS:  # they are trees already; the names are for `torch.export.save`
    name = f"{kind.__module__}.{kind.__name__}"
    _pytree._register_namedtuple(kind, serialized_type_name=name)
torch.serialization.add_safe_globals(_KINDS)  # for the examples of inputs in saved programs
