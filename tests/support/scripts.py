"""Types of the fixtures that tests of scripts take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Script = Callable[[str], Any]  # imports one by its folder and name
Capture = pytest.CaptureFixture[str]
