"""Linearizations with motors: of the closed loop, by differences of x -> step(x, tau(x))."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compare import assert_close, assert_same_bits
from numpy.typing import NDArray

import dtau
from dtau.registry import arrays_of

Array = NDArray[np.float64]
Law = Callable[[Array, Array, Array], Array]  # torque of u, q, v
INTEGRATORS: tuple[dtau.support.options.Integrator, ...] = ("euler", "semi_implicit", "rk4")
DT = 0.01


class Case:
    """A quadruped with servos and a differential; at its state some are beyond limits, or none."""

    def __init__(self, *, clipped: bool, contacts: bool) -> None:
        rng = np.random.default_rng(5)
        self.model = model = dtau.robots.quadruped()
        legs = [joint.name for joint in model.joints if joint.name != "root_joint"]
        gears: dict[str, Any] = {name: 3.0 + k for k, name in enumerate(legs[:9])}
        gears["left"], gears["right"] = ({legs[9]: 2.0, legs[10]: 2.0 * sign} for sign in (1, -1))
        nu = len(gears)
        bias = np.stack(
            [rng.uniform(-1, 1, nu), -rng.uniform(0.2, 1, nu), -rng.uniform(0.1, 0.3, nu)], axis=-1
        )
        limits = {"force_limits": (-12.0, 10.0), "input_limits": (-1.0, 1.0)} if clipped else {}
        if clipped:
            limits |= {
                "stall_force": np.where(np.arange(nu) % 3, np.inf, 8.0),
                "no_load_speed": 40.0,
            }
        self.motors = dtau.Motors(model, gears, gain=rng.uniform(1, 3, nu), bias=bias, **limits)
        self.q, self.v, _ = dtau.random_state(model, rng)
        self.u = 1.4 * rng.uniform(-1, 1, nu)
        self.law: Law = self._clipped if clipped else self.motors.torque
        near = self.motors.clipped(self.u, self.q, self.v)
        self.inputs = near if clipped else self.motors
        if clipped:  # some at each kind of limit, and some within
            kinds = near.bias[:, 1] != 0.0, near.bias[:, 2] * (near.bias[:, 1] == 0.0)
            assert 0 < kinds[0].sum() < nu
            assert kinds[1].any()
            assert ((near.gain == 0.0) & kinds[0]).any()  # of u alone
        self.tau = self.law(self.u, self.q, self.v)
        feet = [dtau.PointContact(f"{leg}_FOOT", "mixed", kd=5) for leg in ("LF", "RH")]
        self.contacts = dtau.Contacts(model, feet) if contacts else None
        self.given = {"contacts": self.contacts} if contacts else {}

    def _clipped(self, u: Array, q: Array, v: Array) -> Array:
        m = self.motors
        force = m.gain * np.clip(u, m.input_limits[:, 0], m.input_limits[:, 1]) + m.bias[:, 0]
        force = force + m.bias[:, 1] * m.angles(q) + m.bias[:, 2] * m.speeds(v)
        least, largest = m.force_range(v)
        return np.asarray(np.clip(force, least, largest) @ m.G.T)

    def moved(self, z: Array) -> tuple[Array, Array, Array, Array]:
        """The state and the inputs at a displacement (xi, dv, du), and the torque of the law."""
        n = self.model.nv
        q, v = dtau.integrate(self.model, self.q, z[:n]), self.v + z[n : 2 * n]
        u = self.u + z[2 * n :]
        return q, v, u, self.law(u, q, v)

    def after(self, z: Array, integrator: dtau.support.options.Integrator) -> Array:
        """The state after a step, from the one without displacement."""
        q, v, _, tau = self.moved(z)
        end = dtau.step(self.model, q, v, tau, DT, integrator, **self.given)
        still = dtau.step(self.model, self.q, self.v, self.tau, DT, integrator, **self.given)
        return np.concatenate([dtau.difference(self.model, still.q, end.q), end.v - still.v])

    def slopes(self, function: Callable[[Array], Array], h: float = 1e-4) -> Array:
        """Differences of fourth order by (xi, dv, du)."""
        columns = []
        for z in np.eye(2 * self.model.nv + len(self.u)):
            near, far = (function(k * h * z) - function(-k * h * z) for k in (1, 2))
            columns.append((8 * near - far) / (12 * h))
        return np.stack(columns, axis=-1)


CASES = [(clipped, contacts) for clipped in (False, True) for contacts in (False, True)]


@pytest.fixture(scope="module", params=CASES, ids=lambda p: f"clipped={p[0]},contacts={p[1]}")
def case(request: pytest.FixtureRequest) -> Case:
    clipped, contacts = request.param
    return Case(clipped=clipped, contacts=contacts)


def close(found: Array, expected: Array, what: str, tolerance: float = 1e-7) -> None:
    assert_close(found, expected, tolerance, what, floor=float(np.abs(expected).max()))


def test_the_law_at_the_state(case: Case) -> None:
    assert_close(case.inputs.torque(case.u, case.q, case.v), case.tau, 1e-13, "tau", floor=10.0)


def test_continuous(case: Case) -> None:
    n = case.model.nv
    given = (case.model, case.q, case.v, case.tau)
    lin = dtau.linearize(*given, inputs=case.inputs, **case.given)

    def acceleration(z: Array) -> Array:
        q, v, _, tau = case.moved(z)
        if case.contacts is None:
            return dtau.forward_dynamics(case.model, q, v, tau)
        return dtau.constrained_dynamics(case.model, q, v, tau, case.contacts).a

    close(np.hstack([lin.A, lin.B])[n:], case.slopes(acceleration), "da")
    plain = dtau.linearize(*given, **case.given)
    assert_same_bits(lin.A[:n], plain.A[:n])
    assert_same_bits(lin.a, plain.a)
    assert not lin.B[:n].any()
    assert np.abs(lin.A - plain.A).max() > 1.0


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_steps(case: Case, integrator: dtau.support.options.Integrator) -> None:
    given = (case.model, case.q, case.v, case.tau, DT, integrator)
    lin = dtau.linearize_discrete(*given, inputs=case.inputs, **case.given)
    close(np.hstack([lin.A, lin.B]), case.slopes(lambda z: case.after(z, integrator)), "z+")


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_forces(integrator: dtau.support.options.Integrator) -> None:
    case = Case(clipped=False, contacts=True)
    given = (case.model, case.q, case.v, case.tau, DT, integrator)
    lin = dtau.linearize_discrete(*given, inputs=case.inputs, forces=True, contacts=case.contacts)

    def forces(z: Array) -> Array:
        q, v, _, tau = case.moved(z)
        assert case.contacts is not None
        return dtau.constrained_dynamics(case.model, q, v, tau, case.contacts).forces

    close(np.hstack([lin.dforces_dz, lin.dforces_du]), case.slopes(forces), "forces")


def test_stages(case: Case) -> None:
    given = (case.model, case.q, case.v, case.tau, DT)
    lin = dtau.linearize_stages(*given, inputs=case.inputs, **case.given)
    whole = dtau.linearize_discrete(*given, "rk4", inputs=case.inputs, **case.given)
    close(lin.A, whole.A, "A", 1e-12)
    close(lin.B, whole.B, "B", 1e-12)

    def stages(z: Array) -> Array:
        q, v, _, tau = case.moved(z)
        end = dtau.linearize_stages(case.model, q, v, tau, DT, **case.given)
        moved = dtau.difference(case.model, lin.q_stages, end.q_stages)
        return np.concatenate([moved, end.v_stages - lin.v_stages], axis=-1)

    close(np.concatenate([lin.A_stages, lin.B_stages], axis=-1), case.slopes(stages), "stages")


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_hessians(case: Case, integrator: dtau.support.options.Integrator) -> None:
    n, rng, h = case.model.nv, np.random.default_rng(6), 2e-3
    lam = rng.standard_normal(2 * n)
    given = (case.model, case.q, case.v, case.tau, DT, lam[:n], lam[n:], integrator)
    H = dtau.step_hessian(*given, inputs=case.inputs, **case.given)
    assert H.shape == (2 * n + len(case.u),) * 2
    assert_same_bits(H, H.T)
    for z in rng.uniform(-0.3, 0.3, (3, len(H))):
        at = [lam @ case.after(k * h * z, integrator) for k in (-2, -1, 0, 1, 2)]
        second = (-at[0] + 16 * at[1] - 30 * at[2] + 16 * at[3] - at[4]) / (12 * h * h)
        assert_close(z @ H @ z, second, 1e-5, "z H z", floor=float(np.abs(H).max()))


def test_time_derivatives() -> None:
    """Along the motion of an arm under constant torques, the law of the motors stays."""
    model, rng, h = dtau.robots.chain(3), np.random.default_rng(7), 1e-3
    gears = {joint.name: 2.0 for joint in model.joints}
    motors = dtau.Motors(model, gears, gain=3.0, bias=(0.1, -5.0, -0.7))
    q, v, tau = dtau.random_state(model, rng)
    series = dtau.linearize_time_derivatives(model, q, v, [tau, 0.0 * tau], inputs=motors)

    def after(t: float) -> Any:
        end = dtau.step(model, q, v, tau, t, "rk4")
        return dtau.linearize(model, end.q, end.v, tau, inputs=motors)

    now = after(0.0)
    for name in ("A", "B"):
        near, far = (getattr(after(k * h), name) - getattr(after(-k * h), name) for k in (1, 2))
        row = getattr(series, name)
        close(row[0], getattr(now, name), name, 1e-12)
        close(row[1], (8 * near - far) / (12 * h), f"d{name}/dt")


def test_batches_and_given_arrays(case: Case) -> None:
    """A batch has the bits of its states, each with its own limits; `out` is filled."""
    n, nu, rng = case.model.nv, len(case.u), np.random.default_rng(8)
    q, v, _ = dtau.random_state(case.model, rng, shape=(3,))
    u = 1.4 * rng.uniform(-1, 1, (3, nu))
    motors = case.motors.clipped(u, q, v) if case.inputs is not case.motors else case.motors
    tau = motors.torque(u, q, v)
    assert_close(
        tau, np.stack([case.law(*x) for x in zip(u, q, v, strict=True)]), 1e-13, "tau", floor=10.0
    )
    size = {"nv": n, "forces": case.contacts is not None}

    def check(call: Callable[..., Any]) -> None:
        whole = call(q, v, tau, motors)
        for k in range(3):
            own = case.motors.clipped(u[k], q[k], v[k]) if motors is not case.motors else motors
            alone = call(q[k], v[k], tau[k], own)
            for one, all_of_them in zip(arrays_of(alone), arrays_of(whole), strict=True):
                assert_same_bits(one, all_of_them[k])
        out = whole._replace(**{x: np.full_like(y, 7.0) for x, y in whole._asdict().items()})
        again = call(q, v, tau, motors, out=out)
        for given, back, expected in zip(*map(arrays_of, (out, again, whole)), strict=True):
            assert back is given
            assert_same_bits(given, expected)
        short = list(out)
        short[1] = np.zeros((3, 2 * n, nu + 1))
        with pytest.raises(ValueError, match=f"out: expected a writable .* with {nu} columns"):
            call(q, v, tau, motors, out=short)

    more = {"forces": True} if size["forces"] else {}
    check(
        lambda q, v, tau, m, **out: dtau.linearize(
            case.model, q, v, tau, inputs=m, **case.given, **out
        )
    )
    check(
        lambda q, v, tau, m, **out: dtau.linearize_discrete(
            case.model, q, v, tau, DT, inputs=m, **case.given, **more, **out
        )
    )
    check(
        lambda q, v, tau, m, **out: dtau.linearize_stages(
            case.model, q, v, tau, DT, inputs=m, **case.given, **out
        )
    )
    lam = rng.standard_normal((2, n))
    at = (case.model, q, v, tau, DT, *lam)
    whole = dtau.step_hessian(*at, inputs=motors, **case.given)
    out = np.full_like(whole, 7.0)
    assert dtau.step_hessian(*at, inputs=motors, out=out, **case.given) is out
    assert_same_bits(out, whole)
    with pytest.raises(ValueError, match="out: expected an array of float64 of shape"):
        dtau.step_hessian(*at, inputs=motors, out=out[:2], **case.given)


def test_layouts_with_patterns_are_refused() -> None:
    case = Case(clipped=False, contacts=False)
    said = "layout: expected 'dense' with motors whose forces depend on the state"
    given = (case.model, case.q, case.v, case.tau)
    for call in (
        lambda m: dtau.linearize(*given, inputs=m, layout="pattern"),
        lambda m: dtau.linearize_discrete(*given, DT, inputs=m, layout="pattern"),
        lambda m: dtau.pattern(case.model, "linearize", "A", inputs=m),
    ):
        with pytest.raises(ValueError, match=said):
            call(case.motors)
        call(dtau.Motors(case.model, {"LF_HFE": 3.0}, bias=(1.0, 0.0, 0.0)))


def test_equilibrium_of_servos() -> None:
    """At the inputs of the equilibrium, the motors' torque holds the robot."""
    model, rng = dtau.robots.chain(3), np.random.default_rng(9)
    gears = {joint.name: 2.0 for joint in model.joints}
    q = dtau.random_state(model, rng, shape=(2,)).q
    for bias in ((0.1, -5.0, -0.7), (0.3, 0.0, 0.0)):
        motors = dtau.Motors(model, gears, gain=3.0, bias=bias)
        held = dtau.equilibrium(model, q, inputs=motors)
        assert held.exists.all()
        tau = motors.torque(held.u, q, np.zeros((2, 3)))
        assert_close(tau, dtau.gravity_torque(model, q), 1e-12, "gravity", floor=10.0)
        assert_close(held.tau, tau, 1e-12, "tau", floor=10.0)
