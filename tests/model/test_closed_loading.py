"""Loading a file reads that file, and does nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from test_urdf import arm

import dtau

ARM = arm()

# Every name of a file or an address that a robot's file can hold, and what could run code.
MENTIONS = """
<link name="eye"><visual><geometry><mesh filename="{secret}"/></geometry>
<material name="m"><texture filename="file://{secret}"/></material></visual>
<collision><geometry><mesh filename="package://secret/mesh.stl"/></geometry></collision></link>
<joint name="k" type="fixed"><parent link="tip"/><child link="eye"/></joint>
<gazebo><plugin filename="{secret}.so" name="os.system('true')"/></gazebo>
<xacro:property name="x" value="${{load_yaml('{secret}')}}"/>
<transmission name="http://127.0.0.1:9/"/>
<?python import os; os.system("true")?>
<?xml-stylesheet href="{secret}"?>
"""

WATCHED = """
import json, sys, warnings
import dtau
warnings.simplefilter("ignore")
text = open(sys.argv[1]).read()
for source in (sys.argv[1], text):  # once before: modules that are imported late
    dtau.load(source)
seen = []
sys.addaudithook(lambda event, args: seen.append([event, repr(args[0]) if args else ""]))
model = dtau.load(sys.argv[1])
path = list(seen)
seen.clear()
dtau.load(text)
print(json.dumps([path, list(seen), sorted(model.frames)]))
"""
HARMLESS = ("object.", "sys._getframe", "builtins.id", "marshal.", "code.__new__")


def test_loading_a_urdf_opens_and_runs_nothing_else(tmp_path: Path) -> None:
    secret = tmp_path / "secret.dae"
    secret.write_text("secret")
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.replace("</robot>", MENTIONS.format(secret=secret) + "</robot>"))
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(path)], capture_output=True, text=True, check=True
    )
    of_path, of_text, frames = json.loads(done.stdout)
    assert frames == ["base", "eye", "tip"]
    assert [event for event in of_path if not event[0].startswith(HARMLESS)] == [
        ["open", repr(str(path))]
    ]
    assert not [event for event in of_text if not event[0].startswith(HARMLESS)]


@pytest.mark.parametrize(
    "before",
    [
        '<!DOCTYPE robot [<!ENTITY a "b">]>',
        '<!DOCTYPE robot [<!ENTITY a SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE robot [<!ENTITY % a SYSTEM "http://127.0.0.1:9/"> %a;]>',
        '<!DOCTYPE robot SYSTEM "robot.dtd">',
        "<!DOCTYPE robot>",
    ],
)
@pytest.mark.parametrize("use", ["r", "&a;"])
def test_entities_are_refused(before: str, use: str) -> None:
    with pytest.raises(dtau.ModelError, match="document type declaration"):
        dtau.load(before + ARM.replace('"r"', f'"{use}"'))


@pytest.mark.parametrize(
    "number", ["${1+1}", "$(eval 2)", "1+1", "2*1", "0x2", "__import__('os')", "1_0", "1,0", "inf"]
)
def test_expressions_are_refused_as_numbers(number: str) -> None:
    with pytest.raises(dtau.ModelError, match=r"value of <mass>: (expected a finite|got xacro)"):
        dtau.load(ARM.replace('mass value="2"', f'mass value="{number}"'))


@pytest.mark.large
@pytest.mark.parametrize(
    "piece", ["<a/>", "<link/>", '<link name="abc"/>', '<a b="1"/>', "<!---->"]
)
def test_memory_grows_with_the_file(piece: str) -> None:
    for count in (10_000, 40_000):
        text = f'<robot name="r">{piece * count}</robot>'
        tracemalloc.start()
        try:
            with pytest.raises(dtau.ModelError):
                dtau.load(text)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert most < 100 * len(text)
