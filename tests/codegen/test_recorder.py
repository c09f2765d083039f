"""The extension that records functions, where it cannot be loaded."""

from __future__ import annotations

import sys

import pytest
from messages import has_words
from processes import sanitized, script

from dtau.codegen import recorder

# Room for half of the extension.
SHORT_OF_ADDRESSES = """
import os, resource
import numpy.ma, numpy.random
from importlib.util import find_spec
from dtau.codegen.recorder import load_recorder
made = ""
room = os.path.getsize(find_spec("dtau._recorder").origin) // 2
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + room,) * 2)
try:
    load_recorder()
except MemoryError as error:
    made = str(error)
print(json.dumps(made))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
@pytest.mark.skipif(sanitized(), reason="the sanitizer needs address space")
def test_no_room_for_it_is_a_memory_error() -> None:
    has_words(script(SHORT_OF_ADDRESSES), "dtau.generate", "no memory to load", "dtau._recorder")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("x.so: failed to map segment from shared object", MemoryError),
        ("x.so: cannot allocate memory in static TLS block", ImportError),
        ("x.so: undefined symbol: y", ImportError),
    ],
)
def test_other_errors_are_the_loaders(
    words: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing:
        def __getattr__(self, name: str) -> object:
            raise ImportError(words)

    monkeypatch.delitem(sys.modules, "dtau._recorder", raising=False)
    monkeypatch.setitem(sys.modules, "dtau", Failing())  # type: ignore[arg-type]
    with pytest.raises(error):
        recorder.load_recorder()


def test_no_room_for_what_it_imports_is_the_same_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def short(name: str) -> None:
        raise MemoryError

    monkeypatch.setattr(recorder.importlib, "import_module", short)
    with pytest.raises(MemoryError) as error:
        recorder.load_recorder()
    has_words(str(error.value), "dtau.generate", "no memory to load", "dtau._recorder")
