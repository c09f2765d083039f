"""Second derivatives in other conventions: complex step of first ones by the chain rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from alien_models import healthy
from cases import NEAR, State, random_state, robot
from compare import TOLERANCE, assert_close, assert_same_bits, cancelled, solved
from complex_step import STEP
from conversions import CONVERSIONS, Conversion
from core import complex_core
from hypothesis import given, settings
from textbook import CONVENTIONS, Textbook, each_convention
from trees import SEEDS, Array, Tree, trees

import dtau
from dtau.conventions.convention import Convention
from dtau.conventions.twists import TwistMap

Tensors = dict[str, Array]


def inverse_first(book: Textbook, q: Any, v: Any, a: Any, f_ext: Array) -> list[Any]:
    """Derivatives of tau' by q', v' and a', each [i, j]; of arguments that may be complex."""
    forward = book.matrix(q)
    back = np.linalg.inv(forward)
    ours = back @ v
    rate = back @ (a - book.rate(q, ours))
    tau = complex_core("inverse_dynamics", book.model, q, ours, rate, f_ext)
    torque = back.T @ tau
    d = complex_core("inverse_dynamics_derivatives", book.model, q, ours, rate, f_ext)
    by_q = []
    for step in back.T:
        change = book.matrix_change(q, step)
        dv = -back @ change @ ours
        da = -back @ (change @ rate + book.rate_change(q, ours, step, dv))
        by_q.append(back.T @ (d[0] @ step + d[1] @ dv + d[2] @ da - change.T @ torque))
    none = np.zeros(len(v))
    by_v = [
        back.T @ (d[1] @ dv - d[2] @ back @ book.rate_change(q, ours, none, dv)) for dv in back.T
    ]
    return [np.stack(by_q, axis=-1), np.stack(by_v, axis=-1), back.T @ d[2] @ back]


def forward_first(book: Textbook, q: Any, v: Any, torque: Any, f_ext: Array) -> list[Any]:
    """Derivatives of a' by q', v' and tau'."""
    forward = book.matrix(q)
    back = np.linalg.inv(forward)
    ours, tau = back @ v, forward.T @ torque
    a = complex_core("forward_dynamics", book.model, q, ours, tau, f_ext)
    d = complex_core("forward_dynamics_derivatives", book.model, q, ours, tau, f_ext)
    by_q = []
    for step in back.T:
        change = book.matrix_change(q, step)
        dv = -back @ change @ ours
        da = d[0] @ step + d[1] @ dv + d[2] @ (change.T @ torque)
        by_q.append(change @ a + forward @ da + book.rate_change(q, ours, step, dv))
    none = np.zeros(len(v))
    by_v = [forward @ d[1] @ dv + book.rate_change(q, ours, none, dv) for dv in back.T]
    return [np.stack(by_q, axis=-1), np.stack(by_v, axis=-1), forward @ d[2] @ forward.T]


def expected(book: Textbook, first: Any, q: Array, v: Array, x: Array, f_ext: Array) -> Tensors:
    """Every second derivative [i, j, k] by q', v' and x', in both orders where they differ."""
    unit = np.eye(book.model.nv)

    def steps(points: list[tuple[Any, Any]]) -> list[Array]:
        columns = [first(book, *point, x, f_ext) for point in points]
        return [np.stack(each, axis=-1).imag / STEP for each in zip(*columns, strict=True)]

    by_q = steps([(book.moved(q, e), v) for e in unit])
    by_v = steps([(q, v + 1j * STEP * e) for e in unit])
    return {
        "dqdq": by_q[0],
        "dqdv": by_v[0],
        "dvdq": by_q[1],
        "dvdv": by_v[1],
        "dxdq": by_q[2],
        "dxdv": by_v[2],
    }


class Side:
    """Inverse or forward dynamics at a state: what is converted, and what is expected."""

    def __init__(self, name: str, kind: str, model: dtau.Model, s: State) -> None:
        self.convention, self.book = CONVENTIONS[kind](model), Textbook(kind, model)
        self.inverse, self.model = name == "inverse", model
        q, v, a, tau, f_ext = (s[x] for x in ("q", "v", "a", "tau", "f_ext"))
        if self.inverse:
            tau, x = dtau.inverse_dynamics(model, q, v, a, f_ext), a
        else:
            a, x = dtau.forward_dynamics(model, q, v, tau, f_ext), tau
        self.q, self.f_ext = q, f_ext
        self.given = (q, v, x)
        self.dynamics = f"{name}_dynamics"
        self.d = getattr(dtau, f"{self.dynamics}_derivatives")(model, q, v, x, f_ext)
        self.at = {"q": q, "v": v, "a": a, "tau": tau, "d": self.d}
        self.theirs = self.convention.from_dtau(q, v, a)
        self.torque = self.convention.convert(tau, of="tau", at={"q": q})

    def expected(self) -> Tensors:
        first, x = (inverse_first, self.theirs.a) if self.inverse else (forward_first, self.torque)
        return expected(self.book, first, self.q, self.theirs.v, x, self.f_ext)

    def tensors(self) -> Any:
        function = getattr(dtau, f"{self.dynamics}_second_derivatives")
        d2 = function(self.model, *self.given, self.f_ext)
        return self.convention.convert(d2, at=self.at)

    def hessian(self, there: Array) -> Any:
        """Of these weights of the convention."""
        q = self.theirs.q
        lam = (
            self.convention.to_dtau(q, there).v
            if self.inverse
            else self.convention.convert(there, of="tau", at={"q": q}, to_dtau=True)
        )
        function = getattr(dtau, f"{self.dynamics}_hessian")
        h = function(self.model, *self.given, lam, self.f_ext)
        return self.convention.convert(h, at=self.at | {"lam": lam})


def check(name: str, kind: str, model: dtau.Model, seed: int) -> None:
    s = random_state(model, seed)
    side = Side(name, kind, model, s)
    want, got = side.expected(), side.tensors()
    mass = dtau.mass_matrix(model, s["q"])
    tolerance = 2 * TOLERANCE["complex_step"]
    if name == "forward":
        tolerance = 4 * solved(TOLERANCE["complex_step"], mass)
    # Tensors that vanish for some joints come out as rounding errors of what cancels.
    floor = max(1e-2, *(cancelled(x) for x in want.values()))
    for x, block in zip(got, ("dqdq", "dqdv", "dvdv", "dxdq"), strict=True):
        assert_close(x, want[block], tolerance, block, floor=floor)
    assert_close(np.swapaxes(got[1], -1, -2), want["dvdq"], tolerance, "dvdq", floor=floor)
    assert not want["dxdv"].any()
    for sign in (1.0, -1.0):
        x, y = (z + sign * np.swapaxes(z, -1, -2) for z in (got[0], want["dqdq"]))
        assert_close(x, y, tolerance, f"dqdq {sign:+}", floor=floor)

    hessian = side.hessian(s["lam"])
    size = float(np.einsum("i,ijk->jk", np.abs(s["lam"]), np.abs(got[0])).max())
    for block, x, y in zip(hessian._fields, hessian, got, strict=True):
        contracted = np.einsum("i,ijk->jk", s["lam"], y)
        assert_close(x, contracted, TOLERANCE["identity"], f"h {block}", floor=max(size, floor))


each_side = pytest.mark.parametrize("name", ["inverse", "forward"])
SOME = ("one revolute", "one free", NEAR, "forest", "quadruped", "joints that mimic others")


@each_side
@each_convention
@pytest.mark.parametrize("of", SOME)
def test_robots(name: str, kind: str, of: str) -> None:
    check(name, kind, robot(of), 1)


@each_side
@each_convention
@settings(max_examples=8)
@given(trees(max_bodies=4), SEEDS)
def test_trees(name: str, kind: str, tree: Tree, seed: int) -> None:
    check(name, kind, tree.model(), seed)


FOUR = [c for c in CONVERSIONS if c.kind.endswith(("SecondDerivatives", "Hessian"))]
each_conversion = pytest.mark.parametrize("conversion", FOUR, ids=str)


@each_conversion
def test_any_order(conversion: Conversion) -> None:
    """Every axis stands in the convention's order."""
    model = robot("forest")
    order = np.random.default_rng(5).permutation(model.nv)
    convention = CONVENTIONS["half mixed"](model)
    other = Convention("any order", model, twists=TwistMap(model), velocities=order)
    arrays = conversion.arrays(convention, 5, (2,))
    for x, y in zip(conversion(other, arrays), conversion(convention, arrays), strict=True):
        assert_same_bits(x, y[np.ix_(range(2), *(order for _ in y.shape[1:]))])


@each_conversion
@pytest.mark.parametrize(("package", "kind"), [("mujoco", "half mixed"), ("pinocchio", "none")])
def test_models_of_other_packages(package: str, kind: str, conversion: Conversion) -> None:
    """MuJoCo's have its velocities of the base, both their orders of the joints."""
    pytest.importorskip(package)
    model = robot("quadruped")
    theirs = getattr(dtau.conventions, package)(model, healthy(package))
    order = theirs.from_dtau(dtau.neutral(model), np.arange(model.nv)).v.astype(int)
    assert (order != np.arange(model.nv)).any() == (package == "mujoco")
    arrays = conversion.arrays(theirs, 6)
    want = (
        conversion(CONVENTIONS[kind](model), arrays)
        if kind in CONVENTIONS
        else [x for name, x in arrays.items() if name.startswith("result.")]
    )
    for x, y in zip(conversion(theirs, arrays), want, strict=True):
        assert_same_bits(x, y[np.ix_(*(order for _ in y.shape))])


class TestErrors:
    convention = CONVENTIONS["mixed"](robot(NEAR))

    @each_conversion
    def test_other_tuples(self, conversion: Conversion) -> None:
        arrays = conversion.arrays(self.convention, 10)
        result, at = conversion.given(arrays)
        wrong = dtau.results.NextState(at["q"], at["v"])
        with pytest.raises(TypeError, match=f"^d: expected {type(at['d']).__name__}, got Next"):
            self.convention.convert(result, at=at | {"d": wrong})
        with pytest.raises(TypeError, match=r"^result: there is no conversion of .*NextState has"):
            self.convention.convert(wrong, at=at)
        with pytest.raises(ValueError, match=r"^to_dtau: expected False, for "):
            self.convention.convert(result, at=at, to_dtau=True)

    def test_packed(self) -> None:
        model = self.convention.model
        s = random_state(model, 11)
        state = (s["q"], s["v"], s["a"])
        d = dtau.inverse_dynamics_derivatives(model, *state)
        d2 = dtau.inverse_dynamics_second_derivatives(model, *state, layout="pattern")
        with pytest.raises(ValueError, match=r"^result\.d2tau_dqdq has shape .*, expected "):
            self.convention.convert(d2, at=s | {"d": d})
