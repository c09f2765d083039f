"""The benchmarks' baselines against complex step and against the package, on generated trees."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import compilers
from benchmarks.baselines import library
from benchmarks.baselines.curves import Key, crossover, said, slope
from benchmarks.baselines.library import FORWARD, INVERSE, INVERTED
from benchmarks.checks import UnavailableError
from cases import without_friction
from compare import TOLERANCE, assert_close, solved
from complex_step import dynamics_derivatives
from trees import MOVING, Array, random_tree

import dtau

pytestmark = pytest.mark.benchmarks

KINDS = tuple(kind for kind in MOVING if kind != "universal")
MODELS = {
    **{
        f"tree {seed}": without_friction(random_tree(seed, 8, KINDS).model().replace(stiffness=0.0))
        for seed in range(3)
    },
    "quadruped": dtau.robots.quadruped(),
    "chain of 40": dtau.robots.chain(40),  # more columns than a block has
    "binary tree": dtau.robots.chain(21, branching=2),
}


@pytest.fixture(scope="module")
def compiled() -> library.Library:
    """The baselines, compiled once."""
    if not compilers.cxx_compilers():
        pytest.skip("there is no C++ compiler")
    return library.compiled()[0][0]


def state(model: dtau.Model, count: int) -> tuple[Array, Array, Array, Array]:
    q, v, a = dtau.random_state(model, np.random.default_rng(7), shape=(count,))
    return q, v, a, dtau.inverse_dynamics(model, q, v, a)


@pytest.mark.parametrize("name", MODELS)
def test_complex_step(compiled: library.Library, name: str) -> None:
    model = MODELS[name]
    tree, (q, v, a, tau) = compiled.tree(model), state(model, 1)
    want = dynamics_derivatives("inverse_dynamics", model, q[0], v[0], a[0], None)
    for function in INVERSE:
        for got, right in zip(tree(function, q, v, a, way="alone"), want, strict=False):
            assert_close(got[0], right, TOLERANCE["complex_step"], function)
    want = dynamics_derivatives("forward_dynamics", model, q[0], v[0], tau[0], None)
    tolerance = solved(TOLERANCE["complex_step"], dtau.mass_matrix(model, q[0]))
    for function in FORWARD:
        for got, right in zip(tree(function, q, v, tau, way="alone"), want, strict=True):
            assert_close(got[0], right, tolerance, function)
    for function in INVERTED:
        (got,) = tree(function, q, v, tau, way="alone")
        assert_close(got[0], want[2], tolerance, function)


@pytest.mark.parametrize("name", MODELS)
def test_lanes_give_the_bits_of_lone_states(compiled: library.Library, name: str) -> None:
    model = MODELS[name]
    tree, (q, v, a, tau) = compiled.tree(model), state(model, 11)
    for function in INVERSE + FORWARD + INVERTED:
        arrays = q, v, a if function in INVERSE else tau
        lone = tree(function, *arrays, way="alone")
        for got, want in zip(tree(function, *arrays), lone, strict=True):
            np.testing.assert_array_equal(got, want, function)


def test_the_core_among_them_gives_the_package_s_results(compiled: library.Library) -> None:
    model = MODELS["binary tree"]
    q, v, a, tau = state(model, 11)
    tree, core = compiled.tree(model), dtau.inverse_dynamics_derivatives(model, q, v, a)
    for got, want in zip(tree("idsva", q, v, a), (core.dtau_dq, core.dtau_dv), strict=True):
        assert_close(got, want, TOLERANCE["rounding"])
    forward = dtau.forward_dynamics_derivatives(model, q, v, tau)
    for got, want in zip(tree("fdsva_ltdl", q, v, tau), forward, strict=True):
        assert_close(got, want, TOLERANCE["identity"])


def test_complex_and_counted_numbers(compiled: library.Library) -> None:
    model = MODELS["tree 1"]
    q, v, a, tau = state(model, 2)
    real = compiled.tree(model)
    exact, counting = (library.of_scalars(x).tree(model) for x in ("Complex", "Counted"))
    for function in INVERSE + FORWARD + INVERTED:
        arrays = q, v, a if function in INVERSE else tau
        numbers = (x.astype(complex) for x in arrays)
        for got, want in zip(
            exact(function, *numbers, way="alone"), real(function, *arrays), strict=True
        ):
            assert_close(got.real, want, TOLERANCE["identity"], function)
            assert not got.imag.any()
        assert all(count > 0 for count in counting.counts(function, *arrays)[:2])


def test_what_the_library_refuses(compiled: library.Library) -> None:
    builder = dtau.ModelBuilder("wrist")
    joint = dtau.Universal((1, 0, 0), (0, 1, 0))
    inertia = dtau.Inertia(1.0, (0, 0, 0.1), np.eye(3))
    builder.add(joint, name="hand", parent=None, placement=dtau.Pose(), inertia=inertia)
    with pytest.raises(ValueError, match="without universal joints"):
        compiled.tree(builder.build())
    model = MODELS["quadruped"]
    with pytest.raises(LookupError, match="rnea_cr"):
        compiled.tree(model)("rnea_cr", *state(model, 1)[:3])


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "cxx_compilers", dict)
    with pytest.raises(UnavailableError, match="by clang\\+\\+ are left out: there is no clang"):
        library.compiled()


def test_crossovers_and_slopes() -> None:
    key = Key("g++", 1, "alone")
    times = {
        key: {
            n: {"cubic": np.full(3, n**3.0), "square": np.full(3, 50.0 * n**2)}
            for n in (8, 64, 128)
        }
    }
    assert slope(times, key, "cubic", 8) == pytest.approx(3.0)
    assert crossover(times, key, "cubic", "square") == pytest.approx(50.0)
    assert said(crossover(times, key, "square", "cubic"), (8, 128)) == "above 128"
    assert said(0.0, (8, 128)) == "below 8"
