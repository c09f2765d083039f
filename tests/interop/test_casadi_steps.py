"""A compiled time step in CasADi equals the same step composed of compiled dynamics.

CasADi differentiates the composition by all inputs: also by the length of the step and by wrenches.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import cases
import numpy as np
import pytest
from adapter_cases import near, robot
from trees import Array

import dtau
from dtau.autodiff.manifold import displacement_rate
from dtau.autodiff.steps import time_step
from dtau.options import Axes, Integrator

ca = pytest.importorskip("casadi")
import dtau.casadi as dc  # noqa: E402

H = 0.03
SCHEMES: tuple[Integrator, ...] = ("euler", "semi_implicit", "rk4")
VALUE, FIRST, SECOND = 1e-12, 1e-11, 1e-10


class Case(NamedTuple):
    """A robot, with contacts or without."""

    model: dtau.Model
    contacts: dtau.Contacts | None = None
    active: tuple[float, ...] = ()
    regularization: float = 0.0

    @property
    def options(self) -> dict[str, Any]:
        if self.contacts is None:
            return {}
        return {"contacts": self.contacts, "regularization": self.regularization}


@cache
def case(name: str) -> Case:
    if name == "feet":
        model = dtau.robots.quadruped()
        feet = [dtau.PointContact(x, axes="mixed", kd=20.0) for x in dtau.robots.QUADRUPED_FEET]
        return Case(model, dtau.Contacts(model, feet), (1.0, 0.0, 1.0, 1.0))
    if name == "loop":
        model, contacts, _ = dtau.robots.four_bar(kp=9.0, kd=6.0)
        return Case(model, contacts)
    if name == "held":  # where it is held, far away, so that positions matter
        model = robot("few joints")
        held = [dtau.PointContact(model.bodies[-1], axes="mixed", kp=5.0, kd=2.0)]
        at = cases.random_state(model, 4)["q"]
        return Case(model, dtau.Contacts(model, held, at=at), (), 1e-4)
    return Case(robot(name))


def composed(of: Case, integrator: Integrator, wrenches: bool, axes: Axes) -> Any:
    """The step as a composition, like the function of `dtau.casadi`."""
    name = "forward_dynamics" if of.contacts is None else "constrained_dynamics"
    active = bool(of.active)
    dynamics = dc.function(
        of.model, name, f_ext=wrenches, f_ext_axes=axes, active=active, **of.options
    )
    inputs = [ca.MX.sym(dynamics.name_in(k), *dynamics.size_in(k)) for k in range(dynamics.n_in())]
    (q, v, tau, *more), dt = inputs, ca.MX.sym("dt")
    theta, speed = ca.SX.sym("theta", of.model.nv), ca.SX.sym("v", of.model.nv)
    parts = (np.array(ca.vertsplit(x), dtype=object) for x in (theta, speed))
    rates = ca.vertcat(*displacement_rate(np, of.model, *parts))
    after = time_step(
        q,
        v,
        dt,
        integrator,
        acceleration=lambda q, v: dynamics.call([q, v, tau, *more])[0],
        integrate=dc.function(of.model, "integrate"),
        displacement_rate=ca.Function("rates", [theta, speed], [rates]),
    )
    return ca.Function("composed", [q, v, tau, dt, *more], after)


def derivatives(f: Any, of: Case) -> Any:
    """Value, Jacobian, gradient and Hessian of weighted results, by all inputs but the mask."""
    symbols = [ca.MX.sym(f.name_in(k), *f.size_in(k)) for k in range(f.n_in())]
    by = symbols[: len(symbols) - bool(of.active)]
    result = ca.vertcat(*f(*symbols))
    lam = np.random.default_rng(1).standard_normal(result.numel())
    gradient = ca.vertcat(*(ca.vec(ca.gradient(ca.dot(lam, result), x)) for x in by))
    jacobian, hessian = (ca.horzcat(*(ca.jacobian(y, x) for x in by)) for y in (result, gradient))
    return ca.Function("derivatives", symbols, [result, jacobian, gradient, hessian])


def state(of: Case, wrenches: bool) -> list[Any]:
    s = cases.random_state(of.model, 5)
    at = [1.1 * s["q"], s["v"], s["tau"], H]  # quaternions need no unit norm
    return [*at, *([s["f_ext"]] if wrenches else []), *([of.active] if of.active else [])]


def dense(x: Any) -> Array:
    return np.array(ca.densify(x))


@pytest.mark.parametrize("integrator", SCHEMES)
@pytest.mark.parametrize(
    ("name", "axes"),
    [
        ("small", None),
        ("free, spherical, planar", None),
        ("free, spherical, planar", "world"),
        ("few joints with mimics", "mixed"),
        ("every joint", None),
        ("feet", None),
        ("loop", None),
        ("held", None),
        ("held", "world"),
        ("held", "body"),
    ],
)
def test_steps_equal_their_composition(
    name: str, axes: Axes | None, integrator: Integrator
) -> None:
    of, wrenches = case(name), axes is not None
    options = {"f_ext": wrenches, "f_ext_axes": axes or "body"}
    f = dc.function(
        of.model, "step", integrator=integrator, active=bool(of.active), **options, **of.options
    )
    reference = composed(of, integrator, wrenches, axes or "body")
    at = state(of, wrenches)
    assert [f.size_in(k) for k in range(f.n_in())] == [
        reference.size_in(k) for k in range(reference.n_in())
    ]
    found = derivatives(f, of)(*at)
    want = derivatives(reference, of)(*at)
    for x, y, tolerance in zip(found, want, (VALUE, FIRST, FIRST, SECOND), strict=True):
        near(dense(x), dense(y), tolerance)
        assert x.nnz() <= y.nnz()


@pytest.mark.parametrize("integrator", SCHEMES)
@pytest.mark.parametrize("name", ["free, spherical, planar", "few joints with mimics", "feet"])
def test_values_are_those_of_the_package(name: str, integrator: Integrator) -> None:
    of = case(name)
    f = dc.function(of.model, "step", integrator=integrator, active=bool(of.active), **of.options)
    at = state(of, False)
    q = dtau.normalize(of.model, at[0])
    active = {"active": np.array(of.active) > 0} if of.active else {}
    want = dtau.step(of.model, q, at[1], at[2], H, integrator, **active, **of.options)
    for x, y in zip(f(*at), want, strict=True):
        near(dense(x)[:, 0], y, VALUE)


def test_the_jacobian_of_the_jacobian() -> None:
    of = case("free, spherical, planar")
    x = [ca.MX.sym(name, n) for name, n in (("q", of.model.nq), ("v", of.model.nv), ("dt", 1))]
    at = state(of, False)
    found = []
    for f in (
        dc.function(of.model, "step", integrator="rk4"),
        composed(of, "rk4", False, "body"),
    ):
        by = ca.vertcat(*x)
        jacobian = ca.jacobian(ca.vertcat(*f(x[0], x[1], at[2], x[2])), by)
        second = ca.Function("second", x, [ca.jacobian(jacobian, by)])
        found.append(dense(second(at[0], at[1], at[3])))
    near(found[0], found[1], SECOND)


def test_many_gradients_multiply_one_jacobian() -> None:
    """Seeds at once are a product with the matrix, also where CasADi works backwards."""
    model = case("feet").model
    f = dc.function(model, "step")
    x = ca.vertcat(*(ca.MX.sym(f.name_in(k), *f.size_in(k)) for k in range(3)))
    q, v, tau = ca.vertsplit(x, [0, model.nq, model.nq + model.nv, x.numel()])
    jacobian = ca.Function("jacobian", [x], [ca.jacobian(ca.vertcat(*f(q, v, tau, H)), x)])
    called = [
        jacobian.instruction_MX(k).which_function().name()
        for k in range(jacobian.n_instructions())
        if jacobian.instruction_id(k) == ca.OP_CALL
    ]
    assert len(called) == 1
    assert called[0].startswith("jac_dtau_slot")
