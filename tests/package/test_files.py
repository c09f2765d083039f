"""Everything that writes a file replaces it whole: a failure leaves the former one as it was."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dtau
from dtau.support.files import write_file

WRITERS = {
    "Model.save": ("robot.dtau", "model.save(path)"),
    "Model.to_urdf": ("robot.urdf", "model.to_urdf(path)"),
    "viewer.picture": (
        "robot.png",
        "import dtau.viewer; dtau.viewer.picture(model, None, path, size=(160, 120))",
    ),
    "generate": ("robot.c", 'dtau.generate(model, ["inverse_dynamics"], path)'),
    "generate's header": (
        "robot.h",
        'dtau.generate(model, ["inverse_dynamics"], str(path)[:-1] + "c")',
    ),
    "dtau convert": ("robot.urdf", 'command("convert", source, str(path), "--force")'),
    "dtau view": ("robot.png", 'command("view", source, "--picture", str(path))'),
    "dtau generate": ("robot.c", 'command("generate", source, str(path), "--force")'),
}
# A file may have no more than so many bytes, as on a disk that is full.
SCRIPT = """
import resource, signal, sys
import dtau
path, source = sys.argv[1:]
model = dtau.robots.quadruped()
def command(*arguments):
    from dtau.cli import main
    if code := main(arguments):
        raise OSError(f"exit {{code}}")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    {write}
except OSError as error:
    print("OSError", error)
"""


@pytest.mark.parametrize("what", ["Model.save", "Model.to_urdf", "viewer.picture", "generate"])
@pytest.mark.parametrize(("path", "kind"), [(3, TypeError), ("", ValueError), ("a\0b", ValueError)])
def test_what_is_no_path_is_named(what: str, path: object, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=f"^path: expected a path, got {re.escape(repr(path))}$"):
        exec(WRITERS[what][1], {"dtau": dtau, "model": dtau.robots.quadruped(), "path": path})


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")
@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_leaves_the_former_file(writer: str, tmp_path: Path) -> None:
    if writer.startswith("dtau "):
        pytest.importorskip("click")
        pytest.importorskip("rich")
    name, write = WRITERS[writer]
    path, source = tmp_path / name, tmp_path / "source.urdf"
    source.write_text(dtau.robots.quadruped().to_urdf())
    path.write_bytes(b"former")
    before = sorted(tmp_path.iterdir())
    child = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(write=write), str(path), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.stdout.strip().splitlines()[-1:], child.stderr
    assert child.stdout.strip().splitlines()[-1].startswith("OSError"), child.stdout
    assert path.read_bytes() == b"former"
    assert [x for x in sorted(tmp_path.iterdir()) if x.suffix == ".tmp"] == []
    assert set(before) <= set(tmp_path.iterdir())


def test_a_new_file_has_the_permissions_of_others(tmp_path: Path) -> None:
    write_file(tmp_path / "ours", b"content")
    (tmp_path / "others").write_bytes(b"content")
    assert (tmp_path / "ours").read_bytes() == b"content"
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "others").stat().st_mode


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")
def test_permissions_and_links_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"former")
    file.chmod(0o640)
    link.symlink_to(file)
    write_file(link, b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o640
    assert sorted(x.name for x in tmp_path.iterdir()) == ["file", "link"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")
def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_file(pipe, b"content")
        assert os.read(reader, 100) == b"content"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_what_cannot_be_written_names_the_path(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        write_file(tmp_path / "missing" / "file", b"")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_file(tmp_path / "folder", b"")
