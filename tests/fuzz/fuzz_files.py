"""Damaged robot files: the loader gives a model that can be used, or a `ModelError`."""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_models import endures
from odd_values import choose

import dtau

Rng = np.random.Generator

EVERYTHING = """<?xml version="1.0"?>
<!-- every element and attribute that is read, and many that are not -->
<robot name="Käfer" version="1.0" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="mass" value="2"/>
  <material name="grau"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base">
    <inertial>
      <origin xyz="0.1 -0.2 0.3" rpy="0 0 1.5707963"/>
      <mass value="2.5"/>
      <inertia ixx="0.3" ixy="0.01" ixz="-0.02" iyy="0.4" iyz="0.03" izz="0.5"/>
    </inertial>
    <visual><geometry><box size="1 2 3"/></geometry><material name="grau"/></visual>
    <collision><geometry><mesh filename="package://käfer/base.stl"/></geometry></collision>
  </link>
  <link name="Füße"><inertial><origin quat_xyzw="0 0.6 0 0.8"/><mass value="1e-3"/>
    <inertia ixx="1e-6" ixy="0" ixz="0" iyy="1e-6" iyz="0" izz="1e-6"/></inertial></link>
  <link name="关节"><inertial><mass value="+.5"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1."/></inertial></link>
  <link name="leaf &amp; &#x1F916;"><inertial><mass value="1e6"/>
    <inertia ixx="1E4" ixy="0" ixz="0" iyy="1e+4" iyz="0" izz="1e4"/></inertial></link>
  <link name="massless"/>
  <link name="drone"><inertial><mass value="3"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="puck"><inertial><mass value="0.2"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="finger"><inertial><mass value="0.1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="a" type="revolute">
    <origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><parent link="base"/><child link="Füße"/>
    <axis xyz="0 0.6 0.8"/><limit lower="-1" upper="1" velocity="3" effort="40"/>
    <dynamics damping="0.1" friction="0.2"/><calibration rising="0"/>
    <safety_controller k_velocity="10"/>
  </joint>
  <joint name="b" type="continuous">
    <parent link="Füße"/><child link="关节"/><axis xyz="1 0 0"/>
    <mimic joint="a" multiplier="2" offset="0.5"/>
  </joint>
  <joint name="c" type="prismatic">
    <parent link="关节"/><child link="leaf &amp; &#x1F916;"/><axis xyz="0 0 -1"/>
    <limit effort="1" velocity="1"/>
  </joint>
  <joint name="d" type="fixed"><parent link="base"/><child link="massless"/></joint>
  <joint name="e" type="floating"><parent link="massless"/><child link="drone"/></joint>
  <joint name="f" type="planar">
    <parent link="drone"/><child link="puck"/><axis xyz="0.6 0 0.8"/><limit effort="1"/>
  </joint>
  <joint name="g" type="prismatic">
    <parent link="puck"/><child link="finger"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.1" effort="1" velocity="1"/><mimic joint="b"/>
  </joint>
  <transmission name="t"><type>simple</type><joint name="a"/></transmission>
  <gazebo reference="base"><kp>1000000.0</kp></gazebo>
  <![CDATA[ text that is not read < & > ]]>
</robot>
"""
ARM = """<robot name="arm"><link name="base"/><link name="tip"><inertial><mass value="2"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="tip"/></joint></robot>"""


@cache
def originals() -> tuple[str, ...]:
    """Files that load, small ones more often than the large one."""
    quadruped = Path(dtau.robots.__file__).with_name("quadruped.urdf").read_text(encoding="utf-8")
    return (EVERYTHING, EVERYTHING, EVERYTHING, ARM, ARM, quadruped)


# Where things stand in a text

NUMBER = re.compile(r'(?<=[" ])[+-]?[\d.]+(?:[eE][+-]?\d+)?(?=[" ])')
ATTRIBUTE = re.compile(r'(?<![\w:])[\w:]+="[^"<]*"')
VALUE = re.compile(r'(?<==")[^"<]*(?=")')
NAME = re.compile(r"(?<=[</ ])[\w:]+(?=[\s=/>])")
TAG = re.compile(r"<(/?)([\w:.]+)[^<>]*?(/?)>")
GAP = re.compile(r"(?=<)|(?<=>)")

Span = tuple[int, int]


def elements(text: str) -> list[Span]:
    """Every element from its opening to its closing tag."""
    spans, unclosed = [], []
    for tag in TAG.finditer(text):
        closes, name, empty = tag.groups()
        if empty:
            spans.append(tag.span())
        elif not closes:
            unclosed.append((name, tag.start()))
        while closes and unclosed:
            opened, start = unclosed.pop()
            if opened == name:
                spans.append((start, tag.end()))
                break
    return spans


def matches(pattern: re.Pattern[str]) -> Callable[[str], list[Span]]:
    return lambda text: [match.span() for match in pattern.finditer(text)]


THINGS: tuple[Callable[[str], list[Span]], ...] = (
    *(elements, elements, matches(ATTRIBUTE), matches(VALUE), matches(NUMBER), matches(NUMBER)),
    *(matches(NAME), matches(GAP)),
)

# fmt: off
EXTREMES = (
    "1e308", "-1e308", "1.7976931348623157e308", "5e-324", "1e-308", "1e-160", "1e160", "1e77",
    "1e999", "-1e999", "nan", "NaN", "inf", "-inf", "Infinity", "-0", "0", "1", "-1", "0x10", "1_0",
    "", " ", "1,5", "1 2", "1e", "e1", ".", "--1", "+-1", "٣", "1.0000000000000002", "1e-17",
    "9" * 400, "0." + "0" * 400 + "1", "1" + "0" * 300, "1e-0000000000000000000001", "true", "1;2",
    "1e" + "9" * 30, "\t1\n", "\u00a01", "1\u20282", "&#0;", "&amp;", "&unknown;", "${mass}", "1/3",
)
# fmt: on
SNIPPETS = (
    "<!-- -->",
    "<!--",
    "]]>",
    "<![CDATA[x]]>",
    "<?php x?>",
    '<?xml version="1.0"?>',
    "<!DOCTYPE robot>",
    '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY a{k} "{("&a" + (str(k - 1) if k else "") + ";") * 10}">' for k in range(9))
    + "]><robot>&a8;</robot>",
    '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
    "&x;",
    "\0",
    "\ufffe",
    "<",
    ">",
    '"',
    "'",
    "\ufeff",
    '<xacro:include filename="x"/>',
    "<xacro:macro/>",
    "<xacro:property/>",
    '<mimic joint="a"/>',
    '<mimic joint="b" multiplier="-3" offset="1"/>',
    '<mimic joint="f" multiplier="1e200"/>',
    "<mimic/>",
    "<robot/>",
    "<link/>",
    '<link name="base"/>',
    '<link name="new"/>',
    '<joint name="root_joint" type="fixed"/>',
    '<joint name="z" type="planar"><parent link="base"/><child link="new"/></joint>',
    '<joint name="z" type="revolute"><parent link="base"/><child link="new"/></joint>',
    '<axis xyz="0 0 0"/>',
    "<limit/>",
    '<dynamics damping="-1"/>',
    '<origin xyz="1e300 0 0" rpy="1e300 0 0"/>',
    "<a>" * 99 + "</a>" * 99,
    "<a>" * 101 + "</a>" * 101,
    "<a>" * 20_000,
    "<joint>" * 5_000 + "</joint>" * 5_000,
    "<x " + " ".join(f'a{k}="{k}"' for k in range(500)) + "/>",
    "<" + "x" * 20_000 + "/>",
    "xacro",
)


def replaced(text: str, span: Span, by: str) -> str:
    return text[: span[0]] + by + text[span[1] :]


def some(rng: Rng, text: str) -> Span:
    """A thing of any sort in a text; the whole text if there is none."""
    return choose(rng, choose(rng, THINGS)(text) or [(0, len(text))])


def delete(rng: Rng, text: str) -> str:
    return replaced(text, some(rng, text), "")


def double(rng: Rng, text: str) -> str:
    start, end = some(rng, text)
    return replaced(text, (end, end), choose(rng, ["", " ", "\n"]) + text[start:end])


def swap(rng: Rng, text: str) -> str:
    """Two things of one sort change places, if neither lies within the other."""
    spans = choose(rng, THINGS)(text)
    if len(spans) < 2:
        return text
    first, second = sorted(choose(rng, spans) for _ in range(2))
    if first[1] > second[0]:
        return text
    return (
        text[: first[0]]
        + text[second[0] : second[1]]
        + text[first[1] : second[0]]
        + text[first[0] : first[1]]
        + text[second[1] :]
    )


def copy(rng: Rng, text: str) -> str:
    """A thing takes the place of another, of this file or of another one."""
    things = choose(rng, THINGS)
    source = choose(rng, [text, text, *originals()])
    spans, others = things(text), things(source)
    if not spans or not others:
        return text
    start, end = choose(rng, others)
    return replaced(text, choose(rng, spans), source[start:end])


def wrap(rng: Rng, text: str) -> str:
    start, end = choose(rng, elements(text) or [(0, len(text))])
    tag = choose(rng, ["robot", "link", "inertial", "joint", "x", "xacro:if"])
    depth = int(choose(rng, [1, 1, 2, 95, 120]))
    return replaced(text, (start, end), f"<{tag}>" * depth + text[start:end] + f"</{tag}>" * depth)


def number(rng: Rng, text: str) -> str:
    spans = matches(NUMBER)(text) or [(0, 0)]
    return replaced(text, choose(rng, spans), choose(rng, EXTREMES))


def value(rng: Rng, text: str) -> str:
    spans = matches(VALUE)(text) or [(0, 0)]
    long = choose(rng, ["x", "0 ", "ß", "<", "&", "a" * 100]) * int(choose(rng, [1, 3, 3000]))
    return replaced(text, choose(rng, spans), choose(rng, [*EXTREMES, long]))


def insert(rng: Rng, text: str) -> str:
    at = choose(rng, [0, len(text), some(rng, text)[0], int(rng.integers(len(text) + 1))])
    return replaced(text, (at, at), choose(rng, SNIPPETS))


def truncate(rng: Rng, text: str) -> str:
    return text[: rng.integers(len(text) + 1)]


CHANGES = (delete, double, swap, copy, wrap, number, number, number, value, insert, truncate)

# Bytes


def spoilt(rng: Rng, data: bytes) -> bytes:
    """Some bytes changed, dropped, doubled or drawn."""
    copy = bytearray(data)
    for _ in range(rng.integers(1, 5)):
        at, length = int(rng.integers(len(copy) + 1)), int(rng.integers(1, 60))
        damage = rng.integers(4)
        if damage == 0 and at < len(copy):
            copy[at] ^= 1 << rng.integers(8)
        elif damage == 1:
            del copy[at : at + length]
        elif damage == 2:
            copy[at:at] = copy[at : at + length]
        else:
            copy[at : at + length] = rng.bytes(length)
    return bytes(copy)


ENCODINGS = (
    *("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "ascii", "cp037"),
    *("utf-7", "shift_jis"),
)


def encoded(rng: Rng, text: str) -> bytes:
    """The text as bytes, most often in UTF-8, and most often declared as it is."""
    if rng.random() < 0.7:
        return text.encode("utf-8", "surrogatepass")
    encoding, declared = choose(rng, ENCODINGS), choose(rng, [*ENCODINGS, "klingon", ""])
    if rng.random() < 0.6:
        declared = encoding.removesuffix("-sig")
    declaration = f'<?xml version="1.0" encoding="{declared}"?>'
    text = re.sub(r"^<\?xml.*?\?>", declaration, text, count=1)
    return text.encode(encoding, "replace")


def check(rng: Rng) -> str:
    """Load a damaged file or text; return "model" or "refused", or raise AssertionError."""
    text = choose(rng, originals())
    for _ in range(rng.integers(0, 4)):
        text = choose(rng, CHANGES)(rng, text)[:200_000]
    data = encoded(rng, text)
    if rng.random() < 0.15:
        data = spoilt(rng, data)
    elif rng.random() < 0.02:
        data = rng.bytes(int(rng.integers(200)))
    options = {
        "root": choose(rng, ["fixed", "free"]),
        "mimic": choose(rng, ["independent", "exact"]),
        "inertia": choose(rng, ["keep", "repair"]),
    }
    if rng.random() < 0.5:
        return loaded(text, options, text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / choose(rng, ["robot.urdf", "Käfer", "x" * 200])
        path.write_bytes(data)
        return loaded(choose(rng, [path, str(path)]), options, data)


def loaded(source: str | Path, options: dict[str, Any], content: str | bytes) -> str:
    what = f"{options}, {content!r:.3000}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", dtau.ModelWarning)
            model = dtau.load(source, **options)
    except Exception as error:
        said = str(error)
        if isinstance(error, dtau.ModelError) and said:
            return "refused"
        # a text that does not begin as XML is taken for a path
        path = isinstance(source, str) and not source.lstrip("\ufeff \t\r\n").startswith("<")
        named = type(error) is ValueError and said.startswith("source: ")
        if path and (named or isinstance(error, FileNotFoundError)):
            return "refused"
        raise AssertionError(f"{type(error).__name__}: {error!s:.200}: {what}") from error
    endures(model, what)
    written = written_back(model, what)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtau.ModelWarning)
        assert not written or dtau.load(written, root=options["root"], mimic="exact") == model, what
    return "model"


def written_back(model: dtau.Model, what: str) -> str:
    """The model as a URDF; empty if it has something that a URDF cannot say."""
    try:
        return model.to_urdf()
    except ValueError as refused:
        if "a URDF cannot represent all of it" in str(refused):
            return ""
        raise AssertionError(what) from refused
