"""Errors of `dtau.casadi`; and that it costs nothing where it is not used."""

from __future__ import annotations

import gc
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from messages import has_words, message
from processes import process, script

import dtau

ca = pytest.importorskip("casadi")
import dtau.casadi as dc  # noqa: E402

MODEL = dtau.robots.quadruped()
Q, V = dtau.neutral(MODEL), np.zeros(MODEL.nv)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dc.inverse_dynamics(MODEL, Q[1:], V, V), ("q: expected (19,)", "got (18,)")),
        (lambda: dc.inverse_dynamics(MODEL, Q, V, V, V), ("f_ext: expected (13, 6)", "got (18,)")),
        (lambda: dc.gravity_torque(MODEL, [Q[1:]]), ("q: expected (19,)", "got (1, 18)")),
        (lambda: dc.gravity_torque(MODEL, ca.MX.sym("q", 20)), ("q: expected (19,)", "(20, 1)")),
        (lambda: dc.function(MODEL, "rnea"), ("name: expected one of inverse_dynamics", "'rnea'")),
        (lambda: dc.function(MODEL, "momentum", f_ext=True), ("f_ext: momentum takes no",)),
        (lambda: dc.function(MODEL, "frame_placements"), ("frames: expected the names", "None")),
        (lambda: dc.function(MODEL, "momentum", frames="x"), ("frames: expected none", "'x'")),
        (lambda: dc.frame_placements(MODEL, Q, "LF_FOT"), ("LF_FOT", "LF_FOOT")),
        (lambda: dc.step(MODEL, Q, V, V, 0.1, "heun"), ("integrator: expected 'euler'", "'heun'")),  # type: ignore[arg-type]
        (
            lambda: dc.inverse_dynamics(MODEL, np.stack([Q] * 3, 1), np.stack([V] * 2, 1), V),
            ("states: expected one number", "got q 3, v 2, a 1"),
        ),
    ],
)
def test_values_that_do_not_fit(call: Callable[[], Any], words: tuple[str, ...]) -> None:
    has_words(message(ValueError, call), *words)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dc.inverse_dynamics(MODEL, ca.SX.sym("q", 19), V, V), ("q: expected", "got SX")),
        (lambda: dc.gravity_torque(MODEL, Q * 1j), ("q: expected real numbers", "j")),
        (lambda: dc.gravity_torque(MODEL, "upright"), ("q: expected real numbers", "upright")),
        (lambda: dc.frame_placements(MODEL, Q, 3), ("frames: expected names, got 3",)),  # type: ignore[arg-type]
        (
            lambda: dc.integrate(MODEL, ca.SX.sym("q", 19), ca.MX.sym("dq", 18)),
            ("expected no SX beside MX, got q SX, dq MX",),
        ),
        (lambda: dc.gravity_torque(None, Q), ("model: expected", "NoneType")),  # type: ignore[arg-type]
        (
            lambda: dc.function(MODEL, "forward_dynamics_time_derivatives"),
            ("order: expected an integer, got None",),
        ),
    ],
)
def test_types_that_do_not_fit(call: Callable[[], Any], words: tuple[str, ...]) -> None:
    has_words(message(TypeError, call), *words)


def test_what_has_no_second_derivative_by_parameters_says_so(capfd: Any) -> None:
    model, p = dtau.robots.chain(2), ca.MX.sym("p", 20)
    a = dc.forward_dynamics(model, np.ones(2), np.ones(2), np.ones(2), parameters=p)
    second = ca.Function("second", [p], [ca.hessian(ca.sum1(a), p)[0]])
    with pytest.raises(RuntimeError, match="Evaluation failed"):
        second(model.parameters.ravel())
    has_words(capfd.readouterr().err, "second derivative by parameters", "does not exist")
    with pytest.raises(ValueError, match=r"parameters: dtau\.casadi\.momentum takes none"):
        dc.function(model, "momentum", parameters=True)


def test_matrices_as_casadi_users_have_them() -> None:
    want = dtau.gravity_torque(MODEL, Q)
    for q in (Q, list(Q), Q[:, None], Q[None], ca.DM(Q), ca.DM(Q).T, Q.astype(np.float32)):
        assert np.array_equal(np.array(ca.DM(dc.gravity_torque(MODEL, q)))[:, 0], want)


def test_joints_without_inertia_are_named() -> None:
    builder = dtau.ModelBuilder("light")
    builder.add(dtau.Revolute((0, 0, 1)), name="hinge")
    with pytest.warns(dtau.ModelWarning):
        model = builder.build()
    has_words(message(ValueError, dc.forward_dynamics, model, [0], [0], [0]), "'hinge'", "inertia")


FILE = """
import casadi, dtau.casadi
model = dtau.robots.quadruped()
f = dtau.casadi.function(model, "gravity_torque")
"""


@pytest.mark.processes
def test_a_function_of_another_process_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "f.casadi"
    save = process(FILE + "f.save(sys.argv[1])", path)
    assert save.returncode == 0, save.stderr
    load = "import casadi, dtau.casadi\ncasadi.Function.load(sys.argv[1])(0)"
    # The slot is empty there; or it holds another function.
    for text in (load, FILE + load):
        done = process(text, path)
        assert done.returncode == 1
        has_words(done.stderr, "dtau.casadi: dtau_slot0", "make it here, from its model")


def test_a_copy_through_a_file_is_refused_and_the_function_can_be_made_again(
    capfd: pytest.CaptureFixture[str],
) -> None:
    f = dc.function(MODEL, "gravity_torque")
    want = np.array(f(Q))
    copy = pickle.loads(pickle.dumps(f))
    for refused in (f, copy):
        with pytest.raises(RuntimeError):
            refused(Q)
        has_words(capfd.readouterr().err, "dtau.casadi", "make it here, from its model")
    assert np.array_equal(np.array(dc.function(MODEL, "gravity_torque")(Q)), want)


@pytest.mark.processes
def test_a_function_from_a_file_does_not_claim_a_slot_that_is_being_filled(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Another thread loads it between the slot's filling and its function's making."""
    gc.collect()  # of slots that other tests hold in cycles, so that none is emptied below
    heavy, light = (MODEL.replace(gravity=(0.0, 0.0, -g)) for g in (50.0, 2.0))
    name = dc.function(heavy, "gravity_torque").name()
    stale = pickle.dumps(dc.function(heavy, "gravity_torque"))
    del heavy
    gc.collect()
    computed: list[Any] = []
    external = ca.external

    def load() -> None:
        try:
            computed.append(pickle.loads(stale)(Q))
        except RuntimeError:
            computed.append("refused")

    def interrupted(wanted: str, library: str, options: dict[str, Any]) -> Any:
        if wanted == name and not computed:
            thread = threading.Thread(target=load)
            thread.start()
            thread.join()
        return external(wanted, library, options)

    monkeypatch.setattr(ca, "external", interrupted)
    f = dc.function(light, "gravity_torque")
    assert computed == ["refused"]
    has_words(capfd.readouterr().err, "dtau.casadi", "make it here, from its model")
    assert np.array_equal(np.array(f(Q))[:, 0], dtau.gravity_torque(light, Q))


RACE = """
import casadi, pickle, gc, warnings, dtau.casadi
warnings.simplefilter("ignore")
model = dtau.robots.chain(3)
q = np.array([0.3, -0.4, 0.5])
def on(g):
    return model.replace(gravity=(0.0, 0.0, -float(g)))
def function(g):
    return dtau.casadi.function(on(g), "gravity_torque")
def right(f, g):
    return np.array_equal(np.array(f(q)).ravel(), dtau.gravity_torque(on(g), q))
stale = [pickle.dumps(f) for f in [function(g) for g in range(1000, 1004)]]
gc.collect()
sys.setswitchinterval(1e-6)
ended, wrong = threading.Event(), []
def make():
    g = 0
    while not ended.is_set():
        g += 1
        try:
            if not right(function(g), g):
                wrong.append(g)
        except RuntimeError:  # found by another one after it was made
            pass
makers = [threading.Thread(target=make) for _ in range(2)]
for thread in makers:
    thread.start()
until = time.monotonic() + 3.0
k = 0
while time.monotonic() < until:
    k += 1
    try:
        if not right(pickle.loads(stale[k % 4]), 1000 + k % 4):
            wrong.append("stale")
    except RuntimeError:
        pass
ended.set()
for thread in makers:
    thread.join()
print(json.dumps(wrong))
"""


@pytest.mark.processes
def test_functions_from_files_race_with_new_ones() -> None:
    assert script(RACE) == []
