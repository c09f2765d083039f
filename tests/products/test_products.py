"""Products with first derivatives: their arguments and results, and what is known exactly."""

from __future__ import annotations

import numpy as np
import pytest
from cases import State, on_robots, random_state, robot
from compare import TOLERANCE, assert_close

import dtau

PROBLEMS = ("inverse_dynamics", "forward_dynamics")
both = pytest.mark.parametrize("problem", PROBLEMS)


def x_of(problem: str) -> str:
    """The argument beside q and v."""
    return "a" if problem == "inverse_dynamics" else "tau"


@both
@on_robots
def test_wrenches_alone(problem: str, name: str) -> None:
    """df_ext without f_ext is df_ext beside wrenches of zero, which the law of derivatives has."""
    model = robot(name)
    s = random_state(model, 4)
    given = [s[x] for x in ("q", "v", x_of(problem), "dq", "dv", f"d{x_of(problem)}")]
    function = getattr(dtau, f"{problem}_jvp")
    got = function(model, *given, df_ext=s["df_ext"])
    with_zeros = function(model, *given, np.zeros((model.nbodies, 6)), s["df_ext"])
    assert_close(with_zeros, got, TOLERANCE["rounding"], "f_ext of zeros")


# Results


@both
def test_out_has_as_many_arrays_as_there_are_results(problem: str) -> None:
    model = robot("forest")
    s: State = random_state(model, 6)
    function = getattr(dtau, f"{problem}_vjp")
    point = (s["q"], s["v"], s[x_of(problem)], s["lam"])
    three = [np.full(model.nv, np.nan) for _ in range(3)]
    four = [*three, np.full((model.nbodies, 6), np.nan)]
    for f_ext, out, want in ((None, four, 3), (s["f_ext"], three, 4)):
        with pytest.raises(ValueError, match=rf"out: expected a tuple of {want} arrays, got"):
            function(model, *point, f_ext, out=out)
    assert all(np.isnan(x).all() for x in four)
    got = function(model, *point, out=three)
    assert all(x is y for x, y in zip(got, three, strict=True))
    with pytest.raises(ValueError, match=r"out: expected a tuple of 4 arrays, got 3"):
        function(model, *point, s["f_ext"], out=got)
    more = function(model, *point, s["f_ext"], out=four)
    assert all(np.isfinite(x).all() for x in four)
    again = function(model, *point, out=more)  # an earlier result may have more
    assert not vars(again)
    assert all(x is y for x, y in zip(again, three, strict=True))
