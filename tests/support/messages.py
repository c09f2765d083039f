"""Read the message of a call that fails: `message`, `has_words`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

Errors = type[Exception] | tuple[type[Exception], ...]


def message(error: Errors, call: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """What the call says when it raises this error."""
    with pytest.raises(error) as caught:
        call(*args, **kwargs)
    return str(caught.value)


def has_words(text: str, *words: object) -> None:
    for word in words:
        pattern = rf"(?<!\w){re.escape(str(word))}(?!\w)"
        assert re.search(pattern, text), f"{word!r} is not in the message {text!r}"
