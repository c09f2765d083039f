"""Name models and contacts by text for PyTorch's operators: `text_of`, `model_of`.

Operators take only numbers, texts and tensors. The text is a digest of the content and the model's
name, and the programs of `torch.export` have the content behind it, so that they run anywhere. All
other programs find the living object by its digest.
"""

from __future__ import annotations

import base64
import hashlib
import json
import weakref
import zlib
from collections.abc import Callable
from dataclasses import fields
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import torch

from dtau.model.contact_kinds import AnyContact, FrameContact, Loop, PointContact
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.model.pose import Pose
from dtau.model.saving import restored, saved
from dtau.support.checks import class_name
from dtau.support.locks import fork_safe_lock

_DIGEST = 32  # letters
_END = "\n"  # of the digest and the name

_lock = fork_safe_lock()
_living: weakref.WeakValueDictionary[str, Model | Contacts] = weakref.WeakValueDictionary()
_known: dict[int, tuple[str, str]] = {}  # id of a living object: its text, and its content


def text_of(model: Model | Contacts) -> str:
    """Return the text of a model or of contacts, with their content while a program is exported."""
    if torch.compiler.is_compiling():
        id(model)  # makes a compiled program specific to this object
        constant: str = _constant_text(model)
        return constant
    return (_known.get(id(model)) or _register(model))[0]


def _text(model: Model | Contacts) -> str:
    text, content = _known.get(id(model)) or _register(model)
    return text + content if torch.compiler.is_exporting() else text


_constant_text = torch.compiler.assume_constant_result(_text)


def _register(model: Model | Contacts) -> tuple[str, str]:
    if not isinstance(model, Model | Contacts):
        raise TypeError(f"model: expected a dtau.Model, got {class_name(model)}")
    if isinstance(model, Model):
        name, content = model.name, saved(model, core=False)
        digest = _digest(content)
    else:
        name, content = model.model.name, _written(model)
        digest = _digest_of_contacts(model.model, content)
    packed = base64.b64encode(zlib.compress(content, 9)).decode()
    with _lock:
        if id(model) not in _known:
            _known[id(model)] = f"{digest} {name}{_END}", packed
            first = _living.setdefault(digest, model)
            # The first of equal objects lives as long as any of them.
            others = (first,) if first is not model else ()
            weakref.finalize(model, _forget, id(model), *others)
        return _known[id(model)]


def _forget(key: int, *others: Model | Contacts) -> None:
    _known.pop(key, None)


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=_DIGEST // 2).hexdigest()


def _digest_of_contacts(model: Model, content: bytes) -> str:
    return _digest(text_of(model)[:_DIGEST].encode() + content)


def model_of(text: str) -> Model:
    """Find the model with this text, or make it of the content that the text has."""
    found = _living.get(text[:_DIGEST])
    return _decoded_model(text) if found is None else found  # type: ignore[return-value]


def contacts_of(text: str, model: Model) -> Contacts:
    """Find the contacts with this text, or make them for a model of the content in the text."""
    found = _living.get(text[:_DIGEST])
    return _decoded_contacts(text, model) if found is None else found  # type: ignore[return-value]


@lru_cache(maxsize=256)  # keeps the objects alive
def _decoded_model(text: str) -> Model:
    return _decoded("model", text, _read_model)


@lru_cache(maxsize=256)
def _decoded_contacts(text: str, model: Model) -> Contacts:
    return _decoded("contacts", text, lambda content: _read_contacts(content, model))


_Kind = TypeVar("_Kind", Model, Contacts)


def _decoded(kind: str, text: str, read: Callable[[bytes], _Kind]) -> _Kind:
    named, _, packed = text.rpartition(_END)
    digest, _, name = named.partition(" ")
    if not packed:
        raise RuntimeError(
            f"dtau.torch: a program calls a function of the {kind} {name!r} (digest {digest}), "
            f"which no longer lives in this process: keep the {kind} as long as the program, trace "
            "it again, or save it by torch.export, which puts the content into the program"
        )
    try:
        made = read(zlib.decompress(base64.b64decode(packed, validate=True)))
        if text_of(made)[:_DIGEST] != digest:
            raise ValueError("the digest does not match")
    except (ValueError, TypeError, KeyError, IndexError, zlib.error) as error:
        raise RuntimeError(
            f"dtau.torch: a program has the {kind} {name!r} in a form that this version of dtau "
            f"cannot read; export the program again with this version: {error}"
        ) from None
    return made


def _read_model(content: bytes) -> Model:
    model = Model.__new__(Model)
    model.__setstate__(restored(content)._asdict())  # no warnings: whoever exported it had them
    return model


# ------------------------------------------------------------------ contacts as JSON

_CONTACTS: dict[str, type[AnyContact]] = {
    kind.__name__: kind for kind in (PointContact, FrameContact, Loop)
}


def _written(contacts: Contacts) -> bytes:
    def row(contact: AnyContact) -> list[Any]:
        return [type(contact).__name__, {x.name: getattr(contact, x.name) for x in fields(contact)}]

    def pose(value: Pose) -> list[Any]:
        return [value.rotation.tolist(), value.translation.tolist()]

    return json.dumps([row(contact) for contact in contacts], default=pose).encode()


def _read_contacts(content: bytes, model: Model) -> Contacts:
    given = []
    for kind, attributes in json.loads(content):
        contact = _CONTACTS[kind].__new__(_CONTACTS[kind])
        contact.__setstate__({name: _value(name, x) for name, x in attributes.items()})
        given.append(contact)
    return Contacts(model, given)


def _value(name: str, value: Any) -> Any:
    if not isinstance(value, list):
        return value
    if name != "placement":
        return tuple(value)
    pose = Pose.__new__(Pose)
    rotation, translation = value
    pose.__setstate__({"rotation": np.array(rotation), "translation": np.array(translation)})
    return pose
