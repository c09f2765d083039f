"""The exception and the warning about models and their files: `ModelError`, `ModelWarning`."""

from __future__ import annotations


class ModelError(ValueError):
    """A robot's file cannot be read as a model; the message names the file and the line."""


class ModelWarning(UserWarning):
    """A model was accepted, but something in it is probably not what its author meant."""
