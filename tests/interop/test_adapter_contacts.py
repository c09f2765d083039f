"""Contacts and loops in the array libraries: memory, lifetimes, threads, zeros and errors."""

from __future__ import annotations

import gc
import importlib
import weakref
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from adapter_cases import near
from cases import random_state, robot
from messages import has_words, message

import dtau

NAMES = ["jax", "torch", "casadi"]


class Case(NamedTuple):
    """A robot with contacts, at one state, or at several with masks."""

    model: dtau.Model
    contacts: dtau.Contacts
    regularization: float = 0.0


@cache
def case(name: str) -> Case:
    """Points with gains and a loop of two feet; a loop alone; rows that depend on each other."""
    if name == "four-bar":
        model, contacts, _ = dtau.robots.four_bar(kp=9.0, kd=6.0)
        return Case(model, contacts)
    model, feet = robot("quadruped"), dtau.robots.QUADRUPED_FEET
    if name == "feet":
        held: list[Any] = [
            dtau.PointContact(feet[0], kp=40.0, kd=8.0),
            dtau.PointContact(feet[1], axes="mixed", kd=2.0),
            dtau.Loop(feet[2], feet[3], 5, "y", kp=30.0, kd=9.0),
        ]
        return Case(model, dtau.Contacts(model, held, at=dtau.neutral(model)))
    twice = [dtau.PointContact(feet[0], kd=2.0, name=f"foot {k}") for k in range(2)]
    return Case(model, dtau.Contacts(model, twice), 1e-5)


def adapter(name: str) -> Any:
    pytest.importorskip(name)
    if name == "jax":
        importlib.import_module("jax_cases")  # float64
    return importlib.import_module(f"dtau.{name}")


def state(model: dtau.Model, contacts: dtau.Contacts) -> Any:
    s = random_state(model, 3)
    mask = np.ones(len(contacts))
    mask[1:2] = 0.0
    return s["q"], s["v"], s["tau"], s["f_ext"], mask


def test_columns_of_casadi_have_the_bits_of_lone_calls() -> None:
    ca = pytest.importorskip("casadi")
    module, (model, contacts, _) = adapter("casadi"), case("feet")
    s = random_state(model, 5, (6,))
    active = np.random.default_rng(1).integers(0, 2, (3, 6))
    x = s["q"].T, s["v"].T, s["tau"].T
    got = module.constrained_dynamics(model, *x, contacts, active=active)
    want = dtau.constrained_dynamics(
        model, s["q"], s["v"], s["tau"], contacts, active=active.T.astype(float)
    )
    for one, expected in zip(got, want, strict=True):
        assert np.array_equal(np.array(ca.densify(one)).T, expected)
    f = module.function(model, "constrained_dynamics", contacts=contacts).jacobian()
    inputs = [*map(ca.DM, x), *(ca.DM(f.sparsity_in(k), 0.0) for k in range(3, 6))]
    together = f.map(6, "thread", 3)(*inputs[:3], *(ca.repmat(y, 1, 6) for y in inputs[3:]))
    for k, y in enumerate(f(*(z[:, 2] for z in inputs[:3]), *inputs[3:])):
        columns = f.size2_out(k)
        one = together[k][:, 2 * columns : 3 * columns]
        assert np.array_equal(np.array(ca.densify(one)), np.array(ca.densify(y)))


@pytest.mark.parametrize("name", ["constrained_dynamics", "impulse_dynamics"])
def test_casadi_calls_keep_to_the_memory_that_they_ask_for(name: str) -> None:
    pytest.importorskip("casadi")
    from through_casadi import check_memory

    from dtau.casadi import builder, table

    model, contacts, _ = case("feet")
    q, v, tau, _, active = state(model, contacts)
    none = {"parameters": False, "joint_parameters": False}
    slot = table.constrained(model, name, contacts, active=True, regularization=0.0, **none)
    f = builder._in_a_slot(slot)  # frees slots that are kept, if all are taken
    derivatives = {
        **{"jac_": f.jacobian(), "adj1_": f.reverse(1)},
        **{"jac_adj1_": f.reverse(1).jacobian(), "jac_jac_": f.jacobian().jacobian()},
    }
    given = [q, v, *([tau] if name == "constrained_dynamics" else []), active]
    check_memory(f, derivatives, given)


def test_casadi_knows_what_contacts_connect() -> None:
    """Trees that a loop connects depend on each other, and others do not."""
    module, model = adapter("casadi"), robot("forest")
    first, last = model.bodies[0], model.bodies[-1]
    apart = dtau.Contacts(model, [dtau.PointContact(first), dtau.PointContact(last)])
    joined = dtau.Contacts(model, [dtau.Loop(first, last, 3)])
    entries = [
        module.function(model, "constrained_dynamics", contacts=x, regularization=1e-6)
        .jacobian()
        .sparsity_out(1)
        .nnz()
        for x in (apart, joined)
    ]
    assert entries[0] < entries[1] <= model.nv**2


# ------------------------------------------------------------------ lifetimes and errors


@pytest.mark.parametrize("name", ["torch", "casadi"])
def test_contacts_are_let_go(name: str) -> None:
    """As soon as neither the caller nor a graph holds them."""
    module, library = adapter(name), importlib.import_module(name)
    model = dtau.robots.quadruped()
    contacts = dtau.Contacts(model, [dtau.PointContact("LF_FOOT")])
    convert = {"torch": "from_numpy", "casadi": "MX"}[name]
    q, v = map(getattr(library, convert), (dtau.neutral(model), np.zeros(model.nv)))
    module.constrained_dynamics(model, q, v, v, contacts)
    held = weakref.ref(contacts)
    del contacts
    gc.collect()
    assert held() is None


def test_a_graph_of_pytorch_keeps_its_contacts() -> None:
    torch = pytest.importorskip("torch")
    model, module = dtau.robots.quadruped(), adapter("torch")
    q, v = torch.from_numpy(dtau.neutral(model)), torch.zeros(model.nv, dtype=torch.float64)
    v.requires_grad_()
    held = dtau.Contacts(model, [dtau.PointContact("LF_FOOT")])
    a = module.constrained_dynamics(model, q, v, v, held).a
    numbers = q.numpy(), v.detach().numpy(), v.detach().numpy()
    d = dtau.constrained_dynamics_derivatives(model, *numbers, held)
    del held, model
    gc.collect()
    a.sum().backward()
    near(v.grad, (d.da_dv + d.da_dtau).sum(axis=0), 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_contacts_that_do_not_fit(name: str) -> None:
    module, (model, contacts, _) = adapter(name), case("feet")
    other = dtau.robots.chain(3)
    q, v = dtau.neutral(model), np.zeros(model.nv)
    if name == "torch":
        q, v = map(importlib.import_module("torch").from_numpy, (q, v))
    dynamics, step = module.constrained_dynamics, module.step
    elsewhere = dtau.Contacts(other, [dtau.PointContact(other.bodies[-1])])
    say = message(ValueError, dynamics, model, q, v, v, elsewhere)
    has_words(say, "contacts: expected those of this model")
    has_words(
        message(ValueError, step, model, q, v, v, 0.1, active=v), "active: goes with contacts"
    )
    for wrong in (None, [dtau.PointContact("LF_FOOT")]):
        has_words(message(TypeError, dynamics, model, q, v, v, wrong), "contacts: expected")
    has_words(message(ValueError, dynamics, model, q, v, v, contacts, active=v), "active: expected")
    say = message(ValueError, dynamics, model, q, v, v, contacts, regularization=-1.0)
    has_words(say, "regularization: expected")
    library, array = importlib.import_module(name), {"torch": "tensor", "casadi": "DM"}
    variable = getattr(library, array[name])(1e-3) if name in array else library.numpy.array(1e-3)
    for of, more in ((dynamics, (contacts,)), (step, (0.1,))):
        say = message(TypeError, of, model, q, v, v, *more, regularization=variable)
        has_words(say, "regularization: expected a number", "derivatives by it do not exist")
    small = np.float32(1e-3)
    both = (dynamics(model, q, v, v, contacts, regularization=x).a for x in (small, float(small)))
    assert np.array_equal(*map(np.asarray, both))


def test_a_third_derivative_is_refused() -> None:
    jax = pytest.importorskip("jax")
    module, (model, contacts, _) = adapter("jax"), case("four-bar")
    q, v = dtau.neutral(model), np.zeros(model.nv)

    def of(q: Any) -> Any:
        return module.constrained_dynamics(model, q, v, v, contacts).a[0]

    with pytest.raises(NotImplementedError, match=r"constrained_dynamics, and .* second order"):
        jax.jacfwd(jax.jacfwd(jax.grad(of)))(q)


def test_rows_that_depend_on_each_other_give_nan_in_jax() -> None:
    module, (model, contacts, _) = adapter("jax"), case("twice")
    q, v = dtau.neutral(model), np.zeros(model.nv)
    assert np.isnan(module.constrained_dynamics(model, q, v, v, contacts).forces).any()
