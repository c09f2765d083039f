"""The examples do what they say, on a small scale."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from compare import TOLERANCE, assert_close
from scripts import Capture, Script

import dtau

pytestmark = pytest.mark.examples


def test_first_contact(script: Script, capsys: Capture) -> None:
    script("examples/first_contact").main()
    assert "(1000, 18, 18)" in capsys.readouterr().out


def test_attitude_sweep_blows_up_in_euler_angles_only(script: Script) -> None:
    sweep = script("examples/attitude_sweep")
    pitch = np.pi / 2 - np.array([1e-1, 1e-3, 1e-5])
    largest = sweep.largest_entries(np.full(3, 0.35), pitch)
    for name in ("A, Euler", "B, Euler"):
        growth = largest[name][1:] / largest[name][:-1]
        assert growth[-1] == pytest.approx(100.0, rel=0.05), name
    for name in ("A", "B"):
        assert np.ptp(largest[name]) < 0.1 * largest[name].max(), name


def test_the_regulator_holds_flights_that_begin_upside_down(
    script: Script, capsys: Capture
) -> None:
    lqr = script("examples/hover_lqr")
    flights = lqr.fly(20, seed=1)
    assert flights.tilt[0].max() > np.deg2rad(170)
    assert np.abs(flights.pitch).max() > np.deg2rad(89.9)
    assert lqr.report(flights)
    assert "held:                  20 of 20" in capsys.readouterr().out


def test_the_payload_is_found_within_its_standard_errors(script: Script, capsys: Capture) -> None:
    identification = script("examples/payload_identification")
    _, _, _, found = identification.identify(seed=1)
    assert identification.report(found)
    body, errors = identification.payload(found)
    assert body[0] == pytest.approx(identification.PAYLOAD.mass, rel=0.01)
    assert np.all(errors[4:] < 0.1 * identification.PAYLOAD.tensor.max())
    assert "largest error" in capsys.readouterr().out


def test_inverse_kinematics_reaches_what_is_in_reach(script: Script, capsys: Capture) -> None:
    ik = script("examples/inverse_kinematics")
    model = ik.arm()
    targets = ik.random_targets(model, 20)
    search = ik.reach(model, targets)
    ik.report(search)
    assert "reached: 20 of 20" in capsys.readouterr().out
    left = dtau.poses.difference(targets, dtau.frame_placements(model, search.q, ik.TOOL))
    assert_close(left, np.zeros((20, 6)), 10 * ik.REACHED, "error", floor=1.0)
    assert (search.q >= model.lower_limits).all()
    assert (search.q <= model.upper_limits).all()


def test_inverse_kinematics_ends_where_the_gradient_vanishes(script: Script) -> None:
    """Within the limits, by central differences; with the Jacobian of the tool it does not."""
    ik = script("examples/inverse_kinematics")
    model = ik.arm()
    far = ik.out_of_reach(ik.random_targets(model, 20))

    def cost(q: np.ndarray, target: np.ndarray) -> np.ndarray:
        error = dtau.frame_errors(model, q, ik.TOOL, target).error
        return 0.5 * ((ik.WEIGHT * error) ** 2).sum(axis=-1)

    largest = {}
    for exact in (True, False):
        q = ik.reach(model, far, exact=exact, restarts=False, steps=120).q
        inside = (np.abs(q) < 2.899).all(axis=-1)
        step = 1e-5 * np.eye(model.nv)
        gradients = [
            (cost(x + step, y) - cost(x - step, y)) / 2e-5
            for x, y in zip(q[inside], far[inside], strict=True)
        ]
        largest[exact] = np.abs(gradients).max(axis=-1)
    assert np.median(largest[True]) < 1e-6
    assert np.median(largest[False]) > 1e-2


def test_the_filter_knows_how_good_its_estimates_are(
    script: Script, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    ekf = script("examples/kalman_filter")
    monkeypatch.setattr(ekf, "SECONDS", 1.0)
    flights = ekf.fly(20, seed=1)
    assert flights.attitude[0].max() > np.deg2rad(170)
    assert ekf.report(flights)
    assert "20 flights" in capsys.readouterr().out


def test_what_the_filters_sensors_are_sensitive_to(script: Script) -> None:
    """Against differences of what they measure."""
    ekf, model = script("examples/kalman_filter"), dtau.robots.aerial_manipulator()
    q, v, tau = dtau.random_state(model, np.random.default_rng(2), shape=(1,))

    def sensors(z: np.ndarray) -> np.ndarray:
        dq, dv, dtau_ = np.split(z, 3, axis=-1)
        moved = dtau.integrate(model, q, dq), v + dv
        a = dtau.forward_dynamics(model, *moved, tau + dtau_)
        return np.asarray(ekf.measured(model, *moved, a))

    step = 1e-5 * np.eye(3 * model.nv)
    differences = (sensors(step) - sensors(-step)).T / 2e-5
    assert_close(ekf.sensitivity(model, q, v, tau)[1][0], differences, 1e-7)  # of second order


def test_a_swaying_quadruped_is_shown(script: Script, capsys: Capture, tmp_path: Path) -> None:
    view, model = script("examples/view"), dtau.robots.quadruped()
    q = view.sway(model)
    feet = dtau.frame_placements(model, q, view.FEET).translation
    assert_close(feet, np.broadcast_to(feet[0], feet.shape), 1e-9)
    forces = view.forces(model, q)
    leaning = np.argmax(q[:, 1])  # to the left
    assert forces["LF_FOOT"][leaning, 2] > 1.2 * forces["RF_FOOT"][leaning, 2]
    view.main(["--picture", str(tmp_path / "sway.png")])
    assert (tmp_path / "sway.png").stat().st_size > 10_000
    pytest.importorskip("viser")
    view.main(["--port", "0", "--seconds", "0.1"])
    assert "http://127.0.0.1:" in capsys.readouterr().out


def test_six_propellers_push_every_way(script: Script) -> None:
    propellers = script("examples/propellers")
    base = propellers.inputs(dtau.robots.aerial_manipulator())[:6, :6]
    assert np.linalg.cond(base) < 10


def test_propellers_as_equation_28_prints_them(script: Script) -> None:
    propellers = script("examples/propellers")
    model = dtau.robots.aerial_manipulator()
    alpha, beta = 0.3, -0.2
    base = propellers.printed(model, alpha=alpha, beta=beta)[:6, :6]
    for i in range(1, 7):  # W = Ad^-T (0 0 c_d 0 0 c_f), angular part first as in the paper
        angle = (2 - i) * np.pi / 3
        (c, s), (ca, sa), (cb, sb) = ((np.cos(x), np.sin(x)) for x in (angle, alpha, beta))
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        tilt = np.array([[1, 0, 0], [0, ca, -sa], [0, sa, ca]]) @ [
            [cb, 0, sb],
            [0, 1, 0],
            [-sb, 0, cb],
        ]
        rotation, (x, y, z) = turn @ tilt, turn @ [propellers.ARM, 0.0, 0.0]
        skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        adjoint = np.block([[rotation, np.zeros((3, 3))], [skew @ rotation, rotation]])
        wrench = np.linalg.inv(adjoint).T @ [0, 0, (-1) ** i * propellers.DRAG, 0, 0, 1]
        assert_close(base[:, i - 1], np.roll(wrench, 3), TOLERANCE["short sums"], f"propeller {i}")
    values = np.linalg.svd(base, compute_uv=False)
    assert values[2] > 0.5
    assert 0.0 < values[3] < 2.5 * propellers.DRAG  # by drag alone


@pytest.mark.parametrize("robot", ["arm", "quadruped"])
def test_the_expansion_of_exact_ddp_drops_nothing(script: Script, robot: str) -> None:
    """Against differences of the simulated cost along a random change of the inputs."""
    ddp, task = script("examples/ddp"), getattr(script("examples/ddp_tasks"), robot)()
    rng = np.random.default_rng(0)
    n = task.model.nv
    task = replace(task, way_cost=rng.uniform(0, 1, 2 * n), end_cost=rng.uniform(1, 20, 2 * n))
    u = task.guess[:15] + rng.standard_normal(task.guess[:15].shape)
    change = rng.standard_normal(u.shape)
    at = ddp.simulate(task, u)
    expansion = ddp.expand(task, at)

    steps = 3e-3 * np.arange(-2, 3)[:, None, None]
    cost = ddp.simulate(task, u + steps * change).cost
    first = np.array([1, -8, 0, 8, -1]) @ cost / (12 * 3e-3)
    second = np.array([-1, 16, -30, 16, -1]) @ cost / (12 * 3e-3**2)

    def quadratic_form(hessians: np.ndarray) -> float:
        x, total = np.zeros(2 * n), 0.0
        for jacobian, hessian, du in zip(expansion.jacobians, hessians, change, strict=False):
            z = np.concatenate([x, du])
            x, total = jacobian @ z, total + z @ hessian @ z
        return float(total + x @ hessians[-1, : 2 * n, : 2 * n] @ x)

    exact = ddp.exact_hessians(task, at, expansion)
    assert_close(np.swapaxes(exact, -1, -2), exact, TOLERANCE["identity"], "symmetry")
    # What differences of fourth order over steps of 3e-3 give; dropped terms are a thousandth.
    assert first == pytest.approx((expansion.gradient * change).sum(), rel=1e-8)
    assert second == pytest.approx(quadratic_form(exact), rel=1e-6)
    assert second != pytest.approx(quadratic_form(expansion.hessians), rel=1e-3)


def test_exact_ddp_converges_quadratically_where_ilqr_does_not(
    script: Script, capsys: Capture
) -> None:
    ddp, convergence = script("examples/ddp"), script("examples/ddp_convergence")
    task = script("examples/ddp_tasks").arm()
    task = replace(task, guess=task.guess[:30], start=0.3 * task.start)
    exact = ddp.solve(task, True, 40)
    ilqr = ddp.solve(task, False, len(exact.cost))
    assert exact.gradient[-1] < ddp.CONVERGED
    assert exact.gradient[-2] < 1e-2 * exact.gradient[-3]
    assert ilqr.gradient[-1] > 1e3 * exact.gradient[-2]
    assert exact.cost[-1] <= min(ilqr.cost)
    convergence.report(task, {False: ilqr, True: exact})
    assert "exact DDP" in capsys.readouterr().out


def test_motors_of_elastic_joints_need_the_torques_rates(script: Script, capsys: Capture) -> None:
    flexible, payload = (
        script("examples/flexible_joints"),
        script("examples/payload_identification"),
    )
    model = payload.arm(payload.FLANGE + payload.PAYLOAD, payload.FRICTION)
    times, q, torques = flexible.simulate(model, 2400)
    distances = flexible.errors(model, times, q)
    rigid, no_rates, exact, off = distances.max(axis=1)
    assert exact < 1e-9
    assert 1e-3 < off < 0.5 * no_rates < 0.1 * rigid
    flexible.report(times, distances, torques)
    assert "rigid model" in capsys.readouterr().out


def test_trajectories_with_exact_hessians(script: Script, capsys: Capture) -> None:
    pytest.importorskip("casadi")
    optimization = script("examples/trajectory_optimization")
    if optimization.program.robot_file(optimization.FILE) is None:
        pytest.skip("example-robot-data is not installed")
    optimization.main(["--short"])
    out = capsys.readouterr().out
    assert out.count("exact") == 2
    assert "did not converge" not in out


def test_minimum_time(script: Script, capsys: Capture) -> None:
    pytest.importorskip("scipy")
    example = script("examples/minimum_time")
    model = example.arm()
    motion, _ = example.solve(model, 8)
    assert np.abs(example.gaps(model, motion)).max() < 1e-5
    assert motion.at_limits() > 0.9
    assert 0.4 < motion.time < 0.6
    rng, z = np.random.default_rng(0), 0.1 + np.zeros(6 * 7 + 3 * 8 + 1)
    along, eps = rng.standard_normal(z.size), 1e-6
    far, near = (example.gaps(model, example.motion(z + e * along, 8)) for e in (eps, -eps))
    product = example.jacobian(model, example.motion(z, 8)) @ along
    np.testing.assert_allclose(product, (far - near) / (2 * eps), atol=1e-6)
    example.main(["--steps", "6"])
    assert "steps with a motor at a limit" in capsys.readouterr().out


def test_trajectories_within_limits_on_torque_rates(script: Script, capsys: Capture) -> None:
    pytest.importorskip("casadi")
    limits = script("examples/torque_rates")
    model = limits.ur5()
    if model is None:
        pytest.skip("example-robot-data is not installed")
    solutions = {way: limits.solve(model, way, 11) for way in limits.WAYS}
    limits.report(model, solutions)
    assert "finite differences" in capsys.readouterr().out
    rates, numerical, differences, nothing = solutions.values()
    assert numerical.duration == pytest.approx(rates.duration, rel=1e-4)
    assert nothing.duration < differences.duration < rates.duration
    assert differences.iterations < rates.iterations
    ends = limits.between(model, rates, 2)[1]  # at both ends of each interval
    assert np.abs(ends[:, 1]).max() < 1.0 + 1e-6
    assert np.abs(limits.between(model, differences, 2)[1][:, 1]).max() > 1.2


def test_an_arm_is_identified_and_its_bodies_exist(script: Script, capsys: Capture) -> None:
    arm = script("examples/arm_identification")
    result = arm.identify(seed=1, iterations=10)
    before = arm.errors(result, result.base.regressor.model_parameters)
    after = arm.errors(result, result.fit.parameters)
    assert np.all(after < 1.05 * arm.NOISE)
    assert np.all(before > 1.5 * arm.NOISE)
    assert result.ordinary[:70:10].min() < 0 < result.fit.parameters[:70:10].min()
    arm.report(result, arm.built(arm.designed(), np.random.default_rng(1)))
    assert "57 base parameters of 84" in capsys.readouterr().out
