"""The extension that records functions, where it cannot be loaded."""

from __future__ import annotations

import sys

import pytest
from messages import has_words
from processes import sanitized, script

from dtau.codegen import recorder

SHORT_OF_ADDRESSES = """
import resource
import dtau.codegen
model, made = chain(2), ""
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**18,) * 2)
try:
    dtau.generate(model, ["gravity_torque"], sys.argv[1])
except MemoryError as error:
    made = str(error)
print(json.dumps(made))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
@pytest.mark.skipif(sanitized(), reason="the sanitizer needs address space")
def test_no_room_for_it_is_a_memory_error(tmp_path: object) -> None:
    said = script(SHORT_OF_ADDRESSES, f"{tmp_path}/x.c")
    has_words(said, "dtau.generate", "no memory to load", "dtau._recorder")


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
