"""The example of the aerial manipulator's 30 seconds, against numbers of an independent program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import TOLERANCE, assert_close
from time_oracle import oracle

import dtau

pytestmark = pytest.mark.examples


@pytest.fixture
def example(script: Any) -> Any:
    return script("examples/aerial_manipulator")


@pytest.mark.parametrize("t", [0.0, 7.5, 30.0])
def test_the_reference_and_its_torques_are_those_of_the_paper(example: Any, t: float) -> None:
    o = oracle(f"table3_t{t}")
    model = dtau.robots.aerial_manipulator()
    way = example.reference(np.array([t]), len(o.tau) - 1)
    names = [f"arm{arm}_link{link}" for arm in (1, 2) for link in (1, 2, 3)]
    columns = np.r_[0:6, [model.joint(name).v.start for name in names]]
    theirs = np.r_[0:6, [o.model.joint(f"body{j}").v.start for j in range(1, 7)]]

    pose, want = (m.joints[0].type.placement(x[:7]) for m, x in ((model, way.q[0]), (o.model, o.q)))
    assert_close(pose.rotation, want.rotation, TOLERANCE["short sums"], "rotation")
    assert_close(pose.translation, want.translation, TOLERANCE["short sums"], "translation")
    assert_close(way.q[0, 1 + columns[6:]], o.q[1 + theirs[6:]], TOLERANCE["short sums"], "angles")
    tau = dtau.inverse_dynamics_time_derivatives(model, way.q, way.v_derivatives)
    for k in range(len(o.v)):
        got, numbers = way.v_derivatives[0, k, columns], o.v[k, theirs]
        assert_close(got, numbers, TOLERANCE["short sums"], f"velocity's derivative of order {k}")
    for k in range(len(o.tau)):
        size = float(max(np.abs(o.tau[k]).max(), np.abs(o.wrench[k]).max()))
        got, numbers = tau[0, k, columns[6:]], o.tau[k, theirs[6:] - 6]
        assert_close(
            got, numbers, TOLERANCE["time oracle"], f"torque's derivative of order {k}", floor=size
        )


@pytest.mark.parametrize("t", [0.0, 7.5, 30.0])
def test_wrenches_in_spatial_axes_are_those_of_the_paper(example: Any, t: float) -> None:
    o = oracle(f"table3_t{t}")
    model = dtau.robots.aerial_manipulator()
    way = example.reference(np.array([t]), len(o.wrench) - 1)
    flight = example.fly(model, way)
    moved, spatial = example.in_spatial_axes(model, way, flight)
    for k, want in enumerate(o.wrench):
        got = np.roll(spatial.tau[0, k, :6], 3)  # the paper has the moment first
        assert_close(got, want, TOLERANCE["time oracle"], f"wrench of order {k}")
        back, given = spatial.a[0, k], moved.v_derivatives[0, k + 1]
        assert_close(back, given, 1e-11 * 10.0**k, f"acceleration of order {k}")


def test_forward_dynamics_gives_the_reference_back(
    example: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    way = example.reference(np.linspace(0.0, 30.0, 31), 5)
    flight = example.fly(dtau.robots.aerial_manipulator(), way)
    assert flight.tau.shape == flight.a.shape == (31, 6, 12)
    assert (flight.residual < TOLERANCE["long sums"]).all()
    for k in range(6):
        want = way.v_derivatives[:, k + 1]
        # Each order solves with the results of those before.
        assert_close(flight.a[:, k], want, 1e-11 * 10.0**k, f"acceleration of order {k}")
    example.report(way, flight)
    assert "31 instants" in capsys.readouterr().out


def test_figures_are_drawn(
    example: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("matplotlib")
    files = [tmp_path / "orders.png", tmp_path / "robot.png"]
    options = ["--orders", "1", "--step", "1", "--plot", str(files[0]), "--picture", str(files[1])]
    options.append("--spatial")
    monkeypatch.setattr("sys.argv", ["aerial_manipulator.py", *options])
    example.main()
    assert "31 instants, orders 0 to 1" in capsys.readouterr().out
    assert all(file.stat().st_size > 10_000 for file in files)
