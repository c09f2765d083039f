"""Every instruction set: the same bits in all places within one, small differences between them.

Also sine and cosine, which each of them has in vectors and in scalars.
"""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from cases import FEW_ROBOTS, lone, random_state, robot, rows
from compare import EPS, TOLERANCE, assert_close, assert_same_bits, assert_same_results
from core import (
    INSTRUCTION_SETS,
    alone_core,
    chosen_instruction_set,
    use_instruction_set,
    using_instruction_set,
)
from function import Function
from functions import FUNCTIONS, IN_BODY_AXES, everywhere
from processes import python
from selection import in_turn
from trees import Array

import dtau

ALL_JOINTS, *OTHERS = (*FEW_ROBOTS, "quadruped")
SETS = INSTRUCTION_SETS
LANES = 8  # the most states in a vector
ULPS = 2  # what sine and cosine may be off by, in units in the last place


@pytest.fixture(params=SETS)
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each instruction set of this processor in turn."""
    with using_instruction_set(request.param):
        yield request.param


# The choice


def test_the_best_is_the_default() -> None:
    assert SETS
    assert len(set(SETS)) == len(SETS)
    assert chosen_instruction_set() == (os.environ.get("DTAU_INSTRUCTION_SET") or SETS[0])


def test_selected_instruction_set_is_in_use(instruction_set: str) -> None:
    assert chosen_instruction_set() == instruction_set


@pytest.mark.parametrize("wrong", ["", "x86-64", "X86-64-V3", "avx2"])
def test_unknown_instruction_set(wrong: str) -> None:
    before = chosen_instruction_set()
    with pytest.raises(ValueError, match=f"'{wrong}'") as caught:
        use_instruction_set(wrong)
    assert all(name in str(caught.value) for name in SETS)
    assert chosen_instruction_set() == before


DIGEST = """
import hashlib, sys, numpy as np, dtau
from dtau import _core
model = dtau.robots.quadruped()
state = dtau.random_state(model, np.random.default_rng(0), shape=(11,))
results = dtau.forward_dynamics_derivatives(model, *state)
print(_core.instruction_set(), hashlib.sha256(b"".join(x.tobytes() for x in results)).hexdigest())
"""


def with_environment(value: str | None) -> subprocess.CompletedProcess[str]:
    return python(DIGEST, DTAU_INSTRUCTION_SET=value)


def test_environment_variable(instruction_set: str) -> None:
    done = with_environment(instruction_set)
    assert done.returncode == 0, done.stderr
    model = dtau.robots.quadruped()
    state = dtau.random_state(model, np.random.default_rng(0), shape=(11,))
    results = dtau.forward_dynamics_derivatives(model, *state)
    digest = hashlib.sha256(b"".join(x.tobytes() for x in results)).hexdigest()
    assert done.stdout.split() == [instruction_set, digest]


@pytest.mark.parametrize("value", [None, ""])
def test_no_environment_variable(value: str | None) -> None:
    done = with_environment(value)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == SETS[0]


def test_unknown_environment_variable() -> None:
    done = with_environment("x86-64-v9")
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError")
    assert all(name in last for name in ("x86-64-v9", *SETS))


# The same bits within one set


@pytest.mark.parametrize(
    ("function", "name"),
    [*((function, ALL_JOINTS) for function in IN_BODY_AXES), *in_turn(FUNCTIONS, OTHERS)],
    ids=str,
)
def test_a_state_has_the_same_bits_everywhere(
    function: Function, name: str, instruction_set: str
) -> None:
    """Alone; state by state; at every place of groups that are full or not; with threads."""
    model, count = robot(name), 2 * LANES + 3
    state = random_state(model, 1, (count,))
    alone = [function(model, rows(state, i)) for i in range(count)]
    want = [np.stack(results) for results in zip(*alone, strict=True)]
    if function.name in alone_core:  # the others never run in vectors
        one_by_one = function.in_core(alone_core, model, state)
        assert_same_results(one_by_one, want, "state by state, result")
        one = function.in_core(alone_core, model, rows(state, 5))
        assert_same_results(one, alone[5], "alone, result")
    for size in (*range(1, 10), 15, 16, 17, count):
        for first in (0, 1, count - size):
            part = slice(first, first + size)
            if part.stop > count:
                continue
            got = function(model, rows(state, part))
            assert_same_results(got, [x[part] for x in want], f"{part}, result")
    for threads in (2, 3, 7):
        assert_same_results(function(model, state, threads=threads), want, f"{threads}, result")


# Small differences between sets


@everywhere
@pytest.mark.parametrize("name", [ALL_JOINTS, *OTHERS])
def test_instruction_sets_agree_to_rounding(function: Function, name: str) -> None:
    """Each state's results to 1e-13 of the largest of their array, where nothing is solved.

    Sets round differently (with and without fused multiply-adds). A result that solves with the
    mass matrix M takes that up multiplied with cond(M), so for ill-conditioned M it may differ by
    8 eps cond(M); the most that was met is 1.2. Of contacts whose rows depend on each other, the
    damping amplifies it too: the most that was met is 4100, of a robot with one joint.
    """
    model = robot(name)
    count = 3 * LANES
    state = random_state(model, 4, (count,))
    tolerance = np.full(count, TOLERANCE["long sums"])
    if function.solves:
        amplified = 50 * function.steps if function.steps > 1 else 1
        tolerance = np.maximum(
            tolerance, 8.0 * EPS * amplified * np.linalg.cond(dtau.mass_matrix(model, state["q"]))
        )
    results = {}
    for chosen in SETS:
        with using_instruction_set(chosen):
            results[chosen] = function(model, state)
    want = results[SETS[-1]]
    floors = [function.floor(y[i] for y in want) for i in range(count)]
    for chosen in SETS[:-1]:
        for o, (x, y) in enumerate(zip(results[chosen], want, strict=True)):
            for i in range(count):
                what = f"{chosen} and {SETS[-1]}: state {i}, result {o}"
                assert_close(x[i], y[i], float(tolerance[i]), what, floor=floors[i])


# Sine and cosine


Exact = list[tuple[float, tuple[Any, Any]]]


def ordinary_angles() -> Array:
    """Below 1e5 in size: all magnitudes, and the doubles nearest to multiples of pi/4."""
    rng = np.random.default_rng(5)
    tiny = [0.0, 5e-324, 1e-310, 2.2250738585072014e-308, 1e-300, 1e-200, 1e-100, 1e-30, 1e-9]
    spread = 10.0 ** rng.uniform(-12.0, 5.0, 300)
    multiples = np.concatenate([np.arange(1, 40), rng.integers(40, 127_000, 150)]) * (np.pi / 4.0)
    # the doubles below 1e5 that are nearest to a multiple of pi/2, relative to their size
    near = np.array(
        [1.5707963267948966, 355.0, 710.0, 22.0, 104348.0 / 2.0, 52174.0, 3.1415926535897931]
    )
    border = np.array([np.nextafter(1e5, 0.0)])
    flat = np.concatenate([rng.uniform(0.0, 10.0, 1500), rng.uniform(0.0, 1e5, 1500)])
    hard = [9.48730140915206, 8.105293913634519, 63859.40574672273, 64118.08406983939]
    beside = (np.nextafter(multiples, 0.0), np.nextafter(multiples, 1e9))
    x = np.concatenate([tiny, spread, multiples, *beside, near, border, flat, hard])
    return np.concatenate([x, -x])


def huge_angles() -> Array:
    rng = np.random.default_rng(6)
    powers = [1e5, np.nextafter(1e5, 1e6), 1e6, 1e15, 2.0**53, 1e22, 1e300, 1.7976931348623157e308]
    near = [5319372648326541416707072.0, 6381956970095103.0 * 2.0**797]  # multiples of pi/2
    x = np.concatenate([powers, 10.0 ** rng.uniform(5.0, 22.0, 40), near])
    return np.concatenate([x, -x])


@pytest.fixture(scope="module")
def wheel() -> dtau.Model:
    """Its body's rotation holds the sine and the cosine of its angle."""
    return lone(dtau.Revolute((0, 0, 1)))


def sine_and_cosine(model: dtau.Model, x: Array) -> tuple[Array, Array]:
    """Of a batch of angles; one angle is a lone state."""
    rotation = dtau.forward_kinematics(model, x[..., np.newaxis]).rotation[..., 0, :, :]
    assert_same_bits(rotation[..., 1, 1], rotation[..., 0, 0], "cosine")
    assert_same_bits(np.abs(rotation[..., 0, 1]), np.abs(rotation[..., 1, 0]), "sine")
    return rotation[..., 1, 0], rotation[..., 0, 0]


@pytest.fixture(scope="module")
def exact() -> Exact:
    """Sine and cosine with 70 digits."""
    with mp.workdps(70):
        return [(x, (mp.sin(x), mp.cos(x))) for x in map(float, ordinary_angles())]


def test_sine_and_cosine_of_ordinary_angles(
    wheel: dtau.Model, exact: Exact, instruction_set: str
) -> None:
    """Within `ULPS` of the exact value, element by element."""
    got = sine_and_cosine(wheel, np.array([x for x, _ in exact]))
    errors = {}
    for i, (x, pair) in enumerate(exact):
        for name, values, want in zip(("sine", "cosine"), got, pair, strict=True):
            off = abs(float(mp.fsub(values[i], want, exact=True)))
            errors[name, x, float(values[i])] = off / math.ulp(float(want))
    (name, x, value), worst = max(errors.items(), key=lambda item: item[1])
    bad = sum(error > ULPS for error in errors.values())
    said = f"{name} of {x!r}: {value!r} is off by {worst:.3f} ulp"
    print(f"{instruction_set}: {said}")
    assert bad == 0, f"{said}; {bad} of {len(errors)} are off by more than {ULPS}"


def test_sine_and_cosine_of_huge_angles(wheel: dtau.Model, instruction_set: str) -> None:
    """The library's own, which Python's are, too."""
    angles = huge_angles()
    sine, cosine = sine_and_cosine(wheel, angles)
    assert_same_bits(sine, np.array([math.sin(x) for x in angles]), "sine")
    assert_same_bits(cosine, np.array([math.cos(x) for x in angles]), "cosine")


def test_no_angle_at_all(wheel: dtau.Model, instruction_set: str) -> None:
    for x in (np.inf, -np.inf, np.nan):
        for angles in (np.array(x), np.full(5, x)):
            assert all(np.isnan(y).all() for y in sine_and_cosine(wheel, angles))


def test_sine_and_cosine_have_the_same_bits_everywhere(
    wheel: dtau.Model, instruction_set: str
) -> None:
    """Ordinary, huge and impossible angles, alone and side by side in a vector."""
    rng = np.random.default_rng(7)
    angles = np.concatenate([ordinary_angles(), huge_angles(), np.repeat([np.inf, np.nan], 30)])
    alone = [sine_and_cosine(wheel, np.array(x)) for x in angles]
    want = [np.array(values) for values in zip(*alone, strict=True)]
    for _ in range(10):
        order = rng.permutation(angles.size)
        got = sine_and_cosine(wheel, angles[order])
        assert_same_results(got, [x[order] for x in want])


def test_sine_and_cosine_are_odd_and_even(wheel: dtau.Model, instruction_set: str) -> None:
    angles = np.concatenate([ordinary_angles(), huge_angles()])
    sine, cosine = sine_and_cosine(wheel, angles)
    other_sine, other_cosine = sine_and_cosine(wheel, -angles)
    np.testing.assert_array_equal(other_sine, -sine)
    assert_same_bits(other_cosine, cosine, "cosine")
