"""The cache of `dtau.compile`: nothing in it is trusted, and nothing is left behind."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cases import random_state, robot
from compare import assert_close
from compiled import CC, needs_compiler
from messages import has_words
from processes import PRELUDE, script

import dtau
from dtau.codegen import libraries

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
pytestmark = [needs_compiler, posix, pytest.mark.compilers]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where code is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "dtau"


# In a process of its own: what is loaded may crash it.
COMPILE = """
import warnings
model = chain(3)
q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(33,))
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    fast = dtau.compile(model, "inverse_dynamics")
got, want = dtau.inverse_dynamics(fast, q, v, a), dtau.inverse_dynamics(model, q, v, a)
right = bool((abs(got - want) <= 1e-13 * abs(want).max()).all())
print(json.dumps([right, [str(x.message) for x in seen]]))
"""


def kept(cache: Path) -> Path:
    (library,) = cache.glob("*.so")
    return library


def flip(library: Path) -> None:
    content = bytearray(library.read_bytes())
    content[len(content) // 2] ^= 0x10
    library.write_bytes(content)


def replace_by_another(library: Path) -> None:
    """Of this package and of this user, under the name of this function."""
    before = set(library.parent.iterdir())
    dtau.compile(robot("one spherical"), "gravity_torque")
    (other,) = set(library.parent.iterdir()) - before
    other.replace(library)


def replace_by_a_link(library: Path) -> None:
    elsewhere = library.parent.parent / "elsewhere"
    library.rename(elsewhere)
    library.symlink_to(elsewhere)


def replace_by_a_folder(library: Path) -> None:
    library.unlink()
    library.mkdir()
    (library / "file").write_text("")


def replace_by_a_pipe(library: Path) -> None:
    library.unlink()
    os.mkfifo(library)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut short": lambda x: os.truncate(x, x.stat().st_size // 2),
    "its last byte": lambda x: os.truncate(x, x.stat().st_size - 1),
    "empty": lambda x: os.truncate(x, 0),
    "a bit flipped": flip,
    "rubbish": lambda x: x.write_bytes(b"rubbish" * 9000),
    "another library": replace_by_another,
    "a link": replace_by_a_link,
    "a folder": replace_by_a_folder,
    "a pipe": replace_by_a_pipe,
    "written by others": lambda x: x.chmod(0o666),
}


@pytest.fixture(scope="module")
def compiled_before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the library that a process has kept."""
    folder = tmp_path_factory.mktemp("before")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        assert script(COMPILE) == [True, []]
    return folder / "dtau"


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_library_is_compiled_again(
    damage: str, cache: Path, compiled_before: Path
) -> None:
    shutil.copytree(compiled_before, cache)
    library = kept(cache)
    good = library.read_bytes()
    DAMAGES[damage](library)
    assert script(COMPILE) == [True, []]
    assert not library.is_symlink()
    assert library.read_bytes() == good
    assert library.stat().st_mode & 0o777 == 0o600
    assert list(cache.iterdir()) == [library]


CUT_WHILE_IT_RUNS = """
import pathlib
model = chain(3)
q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(33,))
fast = dtau.compile(model, "inverse_dynamics")
for library in (pathlib.Path(os.environ["XDG_CACHE_HOME"]) / "dtau").iterdir():
    os.truncate(library, 0)
got, want = dtau.inverse_dynamics(fast, q, v, a), dtau.inverse_dynamics(model, q, v, a)
print(json.dumps(bool((abs(got - want) <= 1e-13 * abs(want).max()).all())))
"""


def test_a_file_that_is_cut_short_while_its_code_runs_does_no_harm() -> None:
    assert script(CUT_WHILE_IT_RUNS) is True


def compiled_with_warning(*words: str) -> None:
    """The code runs, and a warning has these words and names this file."""
    model = robot("one free")
    state = random_state(model, 5, (20,))
    arrays = [state[x] for x in ("q", "v", "a")]
    with pytest.warns(dtau.ModelWarning) as seen:
        fast = dtau.compile(model, "inverse_dynamics")
    (warning,) = seen
    has_words(str(warning.message), "kept", *words)
    assert warning.filename.endswith("test_compile_cache.py")
    got, want = dtau.inverse_dynamics(fast, *arrays), dtau.inverse_dynamics(model, *arrays)
    assert_close(got, want, 1e-13)
    assert not np.array_equal(got, want), "the core has other roundings"


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_can_write_to_is_not_used(mode: int, cache: Path) -> None:
    cache.mkdir(parents=True)
    cache.chmod(mode)
    compiled_with_warning("chmod 700", str(cache))
    assert list(cache.iterdir()) == []
    cache.chmod(0o700)
    assert script(COMPILE) == [True, []]
    assert kept(cache).is_file()


def test_a_folder_of_another_user_is_not_used(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.mkdir(parents=True)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    compiled_with_warning("another user", "XDG_CACHE_HOME", str(cache))
    assert list(cache.iterdir()) == []


@pytest.mark.skipif(os.name == "posix" and os.getuid() != 0, reason="only root can give files away")
def test_a_library_of_another_user_is_compiled_again(cache: Path) -> None:
    assert script(COMPILE) == [True, []]
    os.chown(kept(cache), 12345, 12345)
    assert script(COMPILE) == [True, []]
    assert kept(cache).stat().st_uid == os.getuid()


def test_only_the_user_can_access_new_folders(cache: Path) -> None:
    before = os.umask(0)
    try:
        dtau.compile(robot("one spherical"), "gravity_torque")
    finally:
        os.umask(before)
    assert cache.stat().st_mode & 0o777 == 0o700
    assert kept(cache).stat().st_mode & 0o777 == 0o600


def test_a_relative_cache_home_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("XDG_CACHE_HOME", "caches")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    dtau.compile(robot("one spherical"), "gravity_torque")
    assert list((tmp_path / "here").iterdir()) == []
    assert kept(tmp_path / "home" / ".cache" / "dtau").is_file()


def test_code_compiles_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    compiled_with_warning("home", "XDG_CACHE_HOME")


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    compiled_with_warning("Not a directory", str(tmp_path / "file"))


def test_a_full_disk(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    compiled_with_warning("No space left")
    assert list(cache.iterdir()) == []


def test_a_cache_that_cannot_be_written(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = libraries.tempfile.mkdtemp

    def read_only(*arguments: object, dir: Path | None = None, **options: object) -> str:
        if dir is not None:
            raise OSError(errno.EROFS, "Read-only file system")
        return str(real(dir=cache.parent))  # of another file system, as it were

    monkeypatch.setattr(libraries.tempfile, "mkdtemp", read_only)
    monkeypatch.setattr(Path, "replace", lambda self, to: read_only(dir=to))
    compiled_with_warning("Read-only")
    assert list(cache.parent.iterdir()) == [cache]


# The compiler


def compiler(folder: Path, text: str) -> str:
    """A compiler that is a script of the shell."""
    path = folder / "compiler"
    path.write_text(f'#!/bin/sh\ncase "$*" in *--version*) echo one; exit 0;; esac\n{text}\n')
    path.chmod(0o755)
    return str(path)


WAITS = "sleep 60 &\necho $! > {started}.new\nmv {started}.new {started}\nwait"


def test_a_library_without_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f'while [ "$1" != -o ]; do shift; done\necho "int x;" | {CC} -fPIC -shared -xc - -o "$2"'
    monkeypatch.setenv("CC", compiler(tmp_path, text))
    for _ in range(2):
        with pytest.warns(dtau.ModelWarning, match="not compiled, the core.* without functions"):
            dtau.compile(robot("one spherical"), "gravity_torque")


def test_many_libraries_are_told_apart() -> None:
    """Files that are loaded get the numbers of files that were closed before."""
    model = robot("one spherical")
    state = random_state(model, 5, (20,))
    names = {"inverse_dynamics": "qva", "gravity_torque": "q", "bias_torque": "qv"}
    fast = [dtau.compile(model, name) for name in names]
    for one, (name, arguments) in zip(fast, names.items(), strict=True):
        arrays = [state[x] for x in arguments]
        assert_close(getattr(dtau, name)(one, *arrays), getattr(dtau, name)(model, *arrays), 1e-13)


def wait_for(path: Path) -> None:
    end = time.monotonic() + 300.0
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert path.exists()


def test_folders_of_killed_compilations_are_removed(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder is removed by the next one, but not the folder of a compilation that goes on."""
    started = tmp_path / "started"
    environment = {**os.environ, "CC": compiler(tmp_path, WAITS.format(started=started))}
    killed = subprocess.Popen([sys.executable, "-c", PRELUDE + COMPILE], env=environment)
    wait_for(started)
    killed.kill()
    killed.wait()
    os.kill(int(started.read_text()), signal.SIGKILL)
    (abandoned,) = cache.iterdir()
    with libraries.work_folder(cache) as used:
        for folder in (abandoned, used):
            os.utime(folder, (time.time() - 100.0,) * 2)
        assert script(COMPILE) == [True, []]
        assert sorted(cache.iterdir()) == sorted([used, kept(cache)])
    assert list(cache.iterdir()) == [kept(cache)]


INTERRUPTED = """
import pathlib
started = pathlib.Path(sys.argv[1])
sent = []

def interrupt():
    while not started.exists():
        time.sleep(0.01)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

model = chain(3)
threading.Thread(target=interrupt).start()
os.environ["CC"] = sys.argv[2]
said = None
try:
    dtau.compile(model, "inverse_dynamics")
except KeyboardInterrupt:
    said = time.monotonic() - sent[0]
child = int(started.read_text())
end = time.monotonic() + 20.0
def runs():
    try:
        state = pathlib.Path(f"/proc/{child}/stat").read_text().split(")")[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
while runs() and time.monotonic() < end:
    time.sleep(0.01)
left = os.listdir(pathlib.Path(os.environ["XDG_CACHE_HOME"]) / "dtau")
del os.environ["CC"]
fast = dtau.compile(model, "inverse_dynamics")
q, v, a = dtau.random_state(model, np.random.default_rng(0))
right = np.allclose(dtau.inverse_dynamics(fast, q, v, a), dtau.inverse_dynamics(model, q, v, a))
print(json.dumps([said, runs(), left, bool(right)]))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_ctrl_c_stops_the_compiler(tmp_path: Path) -> None:
    """And what the compiler started, which knows nothing of the signal."""
    started = tmp_path / "started"
    slow = compiler(tmp_path, WAITS.format(started=started))
    seconds, runs, left, right = script(INTERRUPTED, started, slow)
    assert seconds < 20.0  # of 60
    assert [runs, left, right] == [False, [], True]
