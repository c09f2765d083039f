"""Results of all kinds in other conventions, against differences of values in the convention."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import taylor
from cases import random_state, robot
from compare import TOLERANCE, assert_close, assert_same_bits
from textbook import CONVENTIONS, each_convention
from trees import Array

import dtau
from dtau.conventions.convention import Convention

DIFFERENCES = 1e-8  # of fourth order, with a step of 1e-3
FRAMES = ("LF_FOOT", "base")
QUADRUPED = robot("quadruped")
STATE = random_state(QUADRUPED, 1)
FEET = dtau.Contacts(
    QUADRUPED, [dtau.PointContact(foot) for foot in dtau.robots.QUADRUPED_FEET], at=STATE["q"]
)


@dataclass(frozen=True)
class Case:
    """A function, its derivatives, and the variables beside q."""

    function: Callable[..., Any]
    derivatives: Callable[..., Any]
    variables: tuple[str, ...] = ()
    others: tuple[Any, ...] = ()

    def call(self, of: Callable[..., Any], at: Mapping[str, Array]) -> Any:
        inputs = (at[name] for name in ("q", *self.variables))
        return of(QUADRUPED, *inputs, *self.others)

    def results(self, convention: Convention, at: Mapping[str, Array]) -> tuple[Array, ...]:
        """The results in the convention, at values in dtau's."""
        value = self.call(self.function, at)
        if isinstance(value, tuple):
            return tuple(convention.convert(value, at=at))[:2]
        return (convention.convert(value, of=self.function, at=at),)


CASES = {
    "center_of_mass_velocity": Case(
        dtau.center_of_mass_velocity, dtau.center_of_mass_velocity_derivatives, ("v",)
    ),
    "center_of_mass_acceleration": Case(
        dtau.center_of_mass_acceleration, dtau.center_of_mass_acceleration_derivatives, ("v", "a")
    ),
    "centroidal_momentum": Case(
        dtau.centroidal_momentum, dtau.centroidal_momentum_derivatives, ("v",)
    ),
    "centroidal_momentum_rate": Case(
        dtau.centroidal_momentum_rate, dtau.centroidal_momentum_rate_derivatives, ("v", "a")
    ),
    "kinetic_energy": Case(dtau.kinetic_energy, dtau.kinetic_energy_derivatives, ("v",)),
    "potential_energy": Case(dtau.potential_energy, dtau.potential_energy_derivatives),
    "frame_velocities": Case(
        dtau.frame_velocities, dtau.frame_velocities_derivatives, ("v",), (FRAMES, "mixed")
    ),
    "frame_accelerations": Case(
        dtau.frame_accelerations, dtau.frame_accelerations_derivatives, ("v", "a"), (FRAMES,)
    ),
    "a single frame": Case(
        dtau.frame_velocities, dtau.frame_velocities_derivatives, ("v",), ("LF_FOOT",)
    ),
}
each_case = pytest.mark.parametrize("name", CASES)


def dtaus(convention: Convention, q: Array, there: Mapping[str, Array]) -> dict[str, Array]:
    """Values in dtau's convention, at dtau's q."""
    place = convention.from_dtau(q).q
    out = {"q": q, **convention.to_dtau(place, there["v"], there["a"])._asdict()}
    at = {"q": place}
    return out | {"tau": convention.convert(there["tau"], of="tau", at=at, to_dtau=True)}


def theirs(convention: Convention, at: Mapping[str, Array]) -> dict[str, Array]:
    """The same values in the convention."""
    out: dict[str, Any] = convention.from_dtau(at["q"], at["v"], at["a"])._asdict()
    return out | {"tau": convention.convert(at["tau"], of="tau", at=at)}


def differences(f: Callable[[float], tuple[Array, ...]], h: float = 1e-3) -> list[Array]:
    near = [f(k * h) for k in (-2, -1, 1, 2)]
    return [(x - 8.0 * y + 8.0 * z - w) / (12.0 * h) for x, y, z, w in zip(*near, strict=True)]


def by_differences(
    case: Case, convention: Convention, at: Mapping[str, Array], variable: str
) -> list[Array]:
    """Derivatives of all results by one variable of the convention, others of it held."""
    there, q = theirs(convention, at), at["q"]

    def moved(unit: Array) -> list[Array]:
        step = convention.to_dtau(there["q"], unit).v

        def results(t: float) -> tuple[Array, ...]:
            if variable == "q":
                now = dtaus(convention, dtau.integrate(convention.model, q, t * step), there)
            else:
                now = dtaus(convention, q, there | {variable: there[variable] + t * unit})
            return case.results(convention, now)

        return differences(results)

    columns = [moved(unit) for unit in np.eye(convention.nv)]
    return [np.stack(each, axis=-1) for each in zip(*columns, strict=True)]


@each_convention
@each_case
def test_first_derivatives(name: str, kind: str) -> None:
    case, convention = CASES[name], CONVENTIONS[kind](QUADRUPED)
    at: dict[str, Any] = dict(STATE)
    given = case.call(case.derivatives, at)
    of: dict[str, Any] = {} if isinstance(given, tuple) else {"of": case.derivatives}
    got = convention.convert(given, at=at, **of)
    back = convention.convert(got, at=theirs(convention, at), to_dtau=True, **of)
    if of:
        given, got, back = (given,), (got,), (back,)
    for variable, x, y, z in zip(("q", *case.variables), got, back, given, strict=True):
        (want,) = by_differences(case, convention, at, variable)
        floor = float(np.abs(z).max())
        assert_close(x, want, DIFFERENCES, f"by {variable}", floor=floor)
        assert_close(y, z, TOLERANCE["identity"], f"by {variable}, back", floor=floor)


@each_convention
def test_with_contacts(kind: str) -> None:
    """Accelerations and the velocity after an impact convert; forces and impulses stay."""
    convention, at = CONVENTIONS[kind](QUADRUPED), dict(STATE)
    case = Case(dtau.constrained_dynamics, dtau.constrained_dynamics_derivatives, ("v", "tau"))
    case = Case(case.function, case.derivatives, case.variables, (FEET,))
    at["a"] = case.call(case.function, at).a
    d = case.call(case.derivatives, at)
    check_two(case, convention, at, d)
    with_values = dtau.constrained_dynamics_derivatives(
        QUADRUPED, at["q"], at["v"], at["tau"], FEET, forces=True
    )
    got = convention.convert(with_values, at=at)
    want = convention.from_dtau(at["q"], at["v"], with_values.a).a
    assert_close(got.a, want, TOLERANCE["short sums"], "a")
    assert_same_bits(got.forces, with_values.forces)

    impact = Case(dtau.impulse_dynamics, dtau.impulse_dynamics_derivatives, ("v",), (FEET,))
    at["v_after"] = impact.call(impact.function, at).v
    check_two(impact, convention, at, impact.call(impact.derivatives, at))


def check_two(case: Case, convention: Convention, at: dict[str, Any], d: Any) -> None:
    """Derivatives of two results, the first result's before the second's."""
    got, n = convention.convert(d, at=at), 1 + len(case.variables)
    there = theirs(convention, at)
    if "v_after" in at:
        there["v_after"] = convention.from_dtau(at["q"], at["v_after"]).v
    back = convention.convert(got, at=there, to_dtau=True)
    for k, variable in enumerate(("q", *case.variables)):
        for first, want in zip(
            (k, n + k), by_differences(case, convention, at, variable), strict=True
        ):
            what, floor = f"{d._fields[first]}", float(np.abs(d[first]).max())
            assert_close(got[first], want, 10 * DIFFERENCES, what, floor=floor)
            assert_close(back[first], d[first], TOLERANCE["identity"], f"{what} back", floor=floor)


@each_convention
def test_named_tuples_of_values(kind: str) -> None:
    """Each array converts by its name."""
    convention, s = CONVENTIONS[kind](QUADRUPED), STATE
    q, v, a, tau = (s[name] for name in ("q", "v", "a", "tau"))
    hybrid = dtau.hybrid_dynamics(QUADRUPED, q, v, a, tau, ["LF_HAA", "RH_KFE"])
    got = convention.convert(hybrid, at=s)
    assert_close(got.a, convention.from_dtau(q, v, hybrid.a).a, TOLERANCE["short sums"], "a")
    assert_same_bits(got.tau, convention.convert(hybrid.tau, of="tau", at=s))
    back = convention.convert(got, at=convention.from_dtau(q, v), to_dtau=True)
    for x, y in zip(back, hybrid, strict=True):
        assert_close(x, y, TOLERANCE["identity"], "back")
    held = dtau.constrained_inverse_dynamics(QUADRUPED, q, v, a, FEET)
    there = convention.convert(held, at=s)
    assert_same_bits(there.tau, convention.convert(held.tau, of=dtau.inverse_dynamics, at=s))
    assert_same_bits(there.forces, held.forces)


@each_convention
def test_matrices(kind: str) -> None:
    """The inverse mass matrix, regressors, and the matrix and the error of frames and momentum."""
    convention, s = CONVENTIONS[kind](QUADRUPED), STATE
    q, v, a = s["q"], s["v"], s["a"]
    close = TOLERANCE["identity"]
    M = convention.convert(dtau.mass_matrix(QUADRUPED, q), of=dtau.mass_matrix, at=s)
    inverse = dtau.mass_matrix_inverse(QUADRUPED, q)
    got = convention.convert(inverse, of=dtau.mass_matrix_inverse, at=s)
    assert_close(got, np.linalg.inv(M), 1e-11, "inverse")
    Y = dtau.inverse_dynamics_regressor(QUADRUPED, q, v, a)
    Y = convention.convert(Y, of=dtau.inverse_dynamics_regressor, at=s)
    tau = dtau.inverse_dynamics(QUADRUPED.replace(damping=0.0, armature=0.0), q, v, a)
    want = convention.convert(tau, of="tau", at=s)
    assert_close(Y @ QUADRUPED.parameters.ravel(), want, close, "regressor")
    there = convention.from_dtau(q, v).v
    A = dtau.centroidal_momentum_matrix(QUADRUPED, q)
    got = convention.convert(A, of=dtau.centroidal_momentum_matrix, at=s) @ there
    assert_close(got, A @ v, close, "momentum")
    h = dtau.momentum(QUADRUPED, q, v)
    assert_same_bits(convention.convert(h, of=dtau.momentum, at=s), h)
    target = dtau.frame_placements(QUADRUPED, dtau.neutral(QUADRUPED), "LF_FOOT")
    errors = dtau.frame_errors(QUADRUPED, q, "LF_FOOT", target)
    got = convention.convert(errors, at=s)
    assert_same_bits(got.error, errors.error)
    assert_close(got.J @ there, errors.J @ v, close, "error")


def test_frames_of_a_batch() -> None:
    """One axis more than the state has is the axis of the frames."""
    s = random_state(QUADRUPED, 2, (2, 3))
    convention, q = dtau.conventions.spatial_twist(QUADRUPED), s["q"]
    J = dtau.frame_jacobians(QUADRUPED, q, FRAMES)
    got = convention.convert(J, of=dtau.frame_jacobians, at=s)
    assert got.shape == (2, 3, 2, 6, QUADRUPED.nv)
    inserted = convention.convert(J, of=dtau.frame_jacobians, at={"q": q[:, :, np.newaxis]})
    assert_same_bits(got, inserted)
    for k in range(2):
        one = convention.convert(J[:, :, k], of=dtau.frame_jacobians, at=s)
        assert_same_bits(one, convention.convert(J[:, :, k], of="J", at=s))
        assert_same_bits(got[:, :, k], one)


@each_convention
def test_stacks(kind: str) -> None:
    """Accelerations continue the velocity, and J v is the same in every convention."""
    model, rng = robot("free root, branches"), np.random.default_rng(3)
    convention, q = CONVENTIONS[kind](model), random_state(model, 3)["q"]
    v = rng.uniform(-1.0, 1.0, (5, model.nv))
    tau = dtau.inverse_dynamics_time_derivatives(model, q, v)
    of = dtau.forward_dynamics_time_derivatives
    a = of(model, q, v[0], tau)
    rates = convention.convert(np.concatenate([v[:1], a]), of="v_derivatives", at={"q": q})
    got = convention.convert(a, of=of, at={"q": q, "v": v[0]})
    assert_same_bits(got, rates[1:])
    at = {"q": convention.from_dtau(q).q, "v": rates[0]}
    back = convention.convert(got, of=of, at=at, to_dtau=True)
    assert_close(back, a, TOLERANCE["identity"], "a back", floor=float(np.abs(rates).max()))

    of = dtau.frame_jacobians_time_derivatives
    J = of(model, q, v[:4], model.bodies[:2])
    there = convention.convert(J, of=of, at={"q": q, "v_derivatives": v})
    for k, (x, y) in enumerate(zip(products(there, rates), products(J, v), strict=True)):
        assert_close(x, y, TOLERANCE["identity"], f"J v of order {k}", floor=10.0)


def products(J: Array, v: Array) -> Array:
    """Derivatives of J v."""
    series = (taylor.coefficients(x) for x in (J, v[: len(J)]))
    return taylor.derivatives(taylor.product(*series))


@each_convention
def test_linearizations_by_all_that_may_be_asked(kind: str) -> None:
    """Contact forces by z and u, and the state after the step by its length and wrenches."""
    convention, s = CONVENTIONS[kind](QUADRUPED), STATE
    q, v, tau, n = s["q"], s["v"], s["tau"], QUADRUPED.nv
    lin = dtau.linearize_discrete(
        QUADRUPED, q, v, tau, 1e-3, contacts=FEET, forces=True, by=("dt", "f_ext")
    )
    got = convention.convert(lin, at={"q": q, "v": v, "inputs": None})

    def state_map(q: Array, v: Array) -> Array:
        """T, by differences."""

        def moved(z: Array) -> Array:
            def there(t: float) -> tuple[Array, ...]:
                now = convention.from_dtau(dtau.integrate(QUADRUPED, q, t * z[:n]), v + t * z[n:])
                return (now.v,)

            return np.concatenate([convention.from_dtau(q, z[:n]).v, *differences(there)])

        return np.stack([moved(z) for z in np.eye(2 * n)], axis=-1)

    before, after = state_map(q, v), state_map(lin.q, lin.v)
    close, size = DIFFERENCES, float(np.abs(lin.A).max())
    assert_close(got.A @ before, after @ lin.A, close, "A", floor=size)
    assert_close(got.dforces_dz @ before, lin.dforces_dz, close, "forces by z")
    for x in ("residual", "forces"):
        assert_same_bits(getattr(got, x), getattr(lin, x))
        assert getattr(got, x).flags.writeable
    for by in ("dt", "f_ext"):
        x, y = (
            np.concatenate([getattr(z, f"d{part}_d{by}").reshape(n, -1) for part in "qv"])
            for z in (got, lin)
        )
        assert_close(x, after @ y, close, f"by {by}")
    assert_same_bits(got.dforces_df_ext, lin.dforces_df_ext)
