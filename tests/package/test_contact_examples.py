"""The examples with contacts and loops do what they say, on a small scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compare import TOLERANCE, assert_close
from scripts import Capture, Script

import dtau

pytestmark = pytest.mark.examples


def test_the_expansion_of_a_hop(script: Script) -> None:
    """Against differences of the cost, by inputs at the start, before and after the impact."""
    hop, ddp = script("examples/hop"), script("examples/ddp")
    task = hop.hop(0.1, 0.02)
    found = ddp.solve(task, False, 5, hop.simulate, hop.expand)  # away from the first guess
    at = hop.simulate(task, found.inputs)
    gradient = hop.expand(task, at).gradient
    steps = 1e-6 * np.arange(-2, 3)[:, None, None]  # short: what stands on legs goes far
    for first in (0, task.landing - 8, task.landing):
        change = np.zeros(at.u.shape)
        change[first : first + 5] = np.random.default_rng(first).standard_normal((5, 12))
        slope = np.array([1, -8, 0, 8, -1]) @ hop.simulate(task, at.u + steps * change).cost
        assert (gradient * change).sum() == pytest.approx(slope / (12 * 1e-6), rel=1e-5), first


def test_a_quadruped_hops(script: Script, capsys: Capture) -> None:
    hop, ddp = script("examples/hop"), script("examples/ddp")
    hop.main(["--step", "0.02", "--iterations", "40"])
    assert "feet in the air:" in capsys.readouterr().out
    task = hop.hop(step=0.02)
    record = ddp.solve(task, False, 40, hop.simulate, hop.expand)
    at = hop.simulate(task, record.inputs)
    leaving, landing = hop.flight(task)
    assert at.q[:leaving, 2].min() < task.start[2] - 0.03  # it squats
    assert at.q[:, 2].max() > task.start[2] + 0.145
    assert hop.heights(task, at.q[leaving + 1 : landing]).min() > 0.0
    assert np.abs(hop.heights(task, at.q[landing])).max() < 1e-3
    forces = hop.forces(task, at.q, at.v, at.u)
    assert not forces[leaving:landing].any()
    assert forces[task.active > 0][:, 2].min() > 0.5 * hop.LEAST
    assert np.abs(dtau.difference(task.model, task.start, at.q[-1])).max() < 0.01
    assert record.gradient[-1] < 1e-6


def test_the_exact_hessians_of_a_jump(script: Script) -> None:
    """Against differences of the gradient, by inputs before and after the impact."""
    jump, hop, ddp = (script(f"examples/{name}") for name in ("jump", "hop", "ddp"))
    task = jump.jump(step=0.02)
    found = ddp.solve(task, False, 25, hop.simulate, hop.expand)  # away from the solution
    at = hop.simulate(task, found.inputs)
    expansion = hop.expand(task, at)
    assert found.gradient[-1] > 10.0
    assert hop.beyond(task.active, hop.forces(task, at.q, at.v, at.u))[0].max() > 1.0  # feet slip

    def quadratic_form(hessians: np.ndarray, change: np.ndarray) -> float:
        x, total = np.zeros(2 * task.model.nv), 0.0
        for jacobian, hessian, u in zip(expansion.jacobians, hessians, change, strict=False):
            z = np.concatenate([x, u])
            total, x = total + z @ hessian @ z, jacobian @ z
        return float(total + x @ hessians[-1, : len(x), : len(x)] @ x)

    exact = jump.exact_hessians(task, at, expansion)
    assert_close(np.swapaxes(exact, -1, -2), exact, TOLERANCE["identity"], "symmetry")
    steps = 1e-5 * np.array([-2, -1, 1, 2])
    for first in (task.landing - 3, task.landing, task.landing + 5):
        change = np.zeros(at.u.shape)
        change[first : first + 5] = np.random.default_rng(first).standard_normal((5, 12))
        gradients = [
            hop.expand(task, hop.simulate(task, at.u + s * change)).gradient for s in steps
        ]
        slope = np.tensordot([1, -8, 8, -1], gradients, 1) / (12 * 1e-5)
        second = (slope * change).sum()
        assert second == pytest.approx(quadratic_form(exact, change), rel=1e-6), first
        assert second != pytest.approx(quadratic_form(expansion.hessians, change), rel=1e-4), first


def test_a_quadruped_jumps_and_turns(script: Script, capsys: Capture) -> None:
    jump, hop, ddp = (script(f"examples/{name}") for name in ("jump", "hop", "ddp"))
    jump.main(["--step", "0.02"])
    assert "exact DDP" in capsys.readouterr().out
    task = jump.jump(step=0.02)
    solver = (hop.simulate, hop.expand, jump.exact_hessians, jump.CONVERGED)
    exact, ilqr = (ddp.solve(task, way, 60, *solver) for way in (True, False))
    assert exact.gradient[-1] < jump.CONVERGED
    assert len(exact.cost) < 0.8 * len(ilqr.cost)
    assert exact.cost[-1] == pytest.approx(ilqr.cost[-1], rel=1e-6)
    at = hop.simulate(task, exact.inputs)
    moved = dtau.difference(task.model, task.start, at.q[-1])
    assert at.q[-1, 0] - task.start[0] == pytest.approx(0.4, abs=0.01)
    assert moved[5] == pytest.approx(np.pi / 2, abs=0.02)


def test_robots_trot_and_withstand_pushes(script: Script, capsys: Capture) -> None:
    trot, mpc = script("examples/trot"), script("examples/trot_mpc")
    g = trot.gait(0)
    plan = trot.first_plan(g, 1)
    for _ in range(12):
        plan = trot.improve(g, plan, plan.q[:, 0], plan.v[:, 0])
    direction = np.random.default_rng(0).standard_normal(plan.u.shape)
    changes = 1e-3 * np.array([-1.0, 0.0, 1.0])[:, None, None, None] * direction
    rolled = trot.follow(g, plan, plan.q[:, 0], plan.v[:, 0], changes=changes)
    less, best, more = trot.cost(g, *rolled, trot.ground(g, *rolled))[:, 0]
    assert less + more - 2.0 * best > 1e-6  # a minimum
    assert abs(more - less) < 1e-5 * (less + more - 2.0 * best)

    found = mpc.run(2, 1.8)  # pushed to the left and to the right
    assert mpc.tilt(found.q).max() < 10.0
    assert np.abs(found.q[:, :, 1]).max() > 0.05  # the push
    assert found.q[-1, :, 0] == pytest.approx(1.8 * trot.SPEED, abs=0.15)
    assert found.v[-10:, :, 0].mean() == pytest.approx(trot.SPEED, abs=0.05)
    mpc.report(found)
    assert "0 robots fell" in capsys.readouterr().out


def test_solvers_agree_about_a_jump_with_contact_phases(script: Script) -> None:
    pytest.importorskip("casadi")
    phases, program = script("examples/contact_phases"), script("examples/contact_program")
    step = 0.05
    task = phases.jumping(step)
    fatrop, exact, memory = (program.solve(task, way, step) for way in program.WAYS)
    for other in (exact, memory):
        assert other.cost == pytest.approx(fatrop.cost, rel=1e-4)
        assert_close(other.q, fatrop.q, 0.01, "the same motion", floor=1.0)
    assert max(fatrop.iterations, exact.iterations) < 0.5 * memory.iterations
    touch_down = dtau.frame_placements(task.model, fatrop.q[task.waypoint], phases.hop.FEET)
    assert np.abs(touch_down.translation[:, 2]).max() < 1e-5
    assert [len(f) for f in fatrop.forces] == [12 * (kind != "flight") for kind in task.kinds]
    assert min(np.array(task.margins(f)).min() for f in fatrop.forces if len(f)) > -1e-5
    moved = dtau.difference(task.model, task.q[-1], fatrop.q[-1])
    assert np.abs(moved[:6]).max() < 1e-5

    tau = np.pad(fatrop.u * task.model.effort_limits[6:], ((0, 0), (6, 0)))
    for k, kind in enumerate(task.kinds):  # the motion is as of the core's functions
        q, v = fatrop.q[k], fatrop.v[k]
        if kind == "landing":
            v = dtau.impulse_dynamics(task.model, q, v, task.contacts).v
        held = {} if kind == "flight" else {"contacts": task.contacts}
        after = dtau.step(task.model, q, v, tau[k], step, "semi_implicit", **held)
        assert_close(after.q, fatrop.q[k + 1], 1e-5, f"q after step {k}", floor=1.0)
        assert_close(after.v, fatrop.v[k + 1], 1e-5, f"v after step {k}", floor=1.0)


def test_a_humanoid_squats(script: Script, capsys: Capture) -> None:
    pytest.importorskip("casadi")
    phases = script("examples/contact_phases")
    if phases.program.robot_file(phases.humanoid_lqr.FILE) is None:
        pytest.skip("example-robot-data is not installed")
    task = phases.squatting(0.05)
    found = phases.solve(task, "fatrop", 0.05)
    phases.report(task, {"fatrop": found})
    assert "a humanoid squats by 0.2 m, 20 steps" in capsys.readouterr().out
    assert found.q[:, 2].min() == pytest.approx(found.q[0, 2] - 0.2, abs=0.02)
    soles = dtau.frame_placements(task.model, found.q, ["left_sole", "right_sole"]).translation
    assert np.abs(soles - soles[0]).max() < 1e-2
    assert min(np.array(task.margins(f)).min() for f in found.forces) > -1e-5


def test_energy_of_a_closed_loop_is_kept_to_the_integrators_order(
    script: Script, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    four_bar = script("examples/four_bar")
    counts = np.array([400, 800])
    found = four_bar.largest(dtau.robots.four_bar(), counts * 2)
    for method, order in four_bar.METHODS.items():
        for errors in found[method]:
            assert four_bar.slopes(counts, errors)[0] == pytest.approx(order, abs=0.25), method
    monkeypatch.setattr(four_bar, "LONG", 2.0)
    runs = four_bar.long_runs()
    assert runs["gains"].gap.max() < 1e-6 < 1e-5 < runs["no gains"].gap.max()
    four_bar.report(counts, found)
    four_bar.report_long(runs)
    assert "largest gap of the loop" in capsys.readouterr().out


def test_polynomials_of_a_delta_robot_gain_a_power_each_order(
    script: Script, capsys: Capture
) -> None:
    loops = script("examples/jerk_of_loops")
    loops.main([])
    assert "polynomial misses the platform" in capsys.readouterr().out
    ahead = loops.look_ahead()
    assert (ahead.powers() > [2.9, 3.9, 4.9, 5.7, 5.5]).all()
    assert (np.diff(ahead.errors, axis=1) < 0.0).all()


def test_rates_of_forces_on_a_handle_are_their_differences(script: Script) -> None:
    door = script("examples/jerk_of_loops").open_door()
    assert np.ptp(door.angle) > 0.5
    assert door.apart() < 5e-3


def test_a_humanoid_that_spares_torque_needs_the_forces_in_its_derivatives(
    script: Script, capsys: Capture
) -> None:
    lqr = script("examples/humanoid_lqr")
    if lqr.program.robot_file(lqr.FILE) is None:
        pytest.skip("example-robot-data is not installed")
    at = lqr.standing()
    found = lqr.compare(at, [1e-4, lqr.SHOWN])
    lqr.report([1e-4, lqr.SHOWN], found)
    assert "1.0e-04" in capsys.readouterr().out
    for forces in (True, False):
        assert found[forces][0].rate < -5.0
        assert found[forces][0].recovered >= 20.0
    assert found[True][1].rate < -3.0
    assert found[True][1].recovered >= 15.0
    assert found[False][1].rate > 2.0
    assert found[False][1].recovered == 0.0


def test_what_a_humanoids_regulator_is_made_of(script: Script) -> None:
    """Nothing leaves the basis; constant forces leave no regulator, projected they give A."""
    lqr = script("examples/humanoid_lqr")
    if lqr.program.robot_file(lqr.FILE) is None:
        pytest.skip("example-robot-data is not installed")
    at = lqr.standing()
    model, n, still = at.model, at.model.nv, np.zeros(at.model.nv)
    d = dtau.constrained_dynamics_derivatives(model, at.q, still, at.tau, at.contacts)
    motion = at.basis[:n, : n - 12]
    across = np.eye(n) - motion @ motion.T
    for block in (d.da_dq @ motion, d.da_dv @ motion, d.da_dtau):
        assert_close(across @ block, np.zeros_like(block), 1e-9, floor=100.0)

    hold = dtau.constrained_dynamics(model, at.q, still, at.tau, at.contacts)
    f_ext = sum(
        dtau.wrench_at_frame(model, at.q, contact.frame, wrench, "mixed")
        for contact, wrench in zip(at.contacts, hold.forces.reshape(2, 6), strict=True)
    )
    free = dtau.forward_dynamics_derivatives(model, at.q, still, at.tau, f_ext)
    momentum = dtau.centroidal_momentum_matrix(model, at.q) @ free.da_dtau[:, 6:]
    assert_close(momentum, np.zeros_like(momentum), 1e-9, floor=1.0)
    by_q = dtau.inverse_dynamics_derivatives(model, at.q, still, hold.a, f_ext).dtau_dq
    assert_close(-d.da_dtau @ by_q @ motion, d.da_dq @ motion, 1e-9, "projected")


def test_a_humanoid_stands_up_in_mujoco(script: Script, capsys: Capture) -> None:
    pytest.importorskip("mujoco")
    ilqr = script("examples/mujoco_ilqr")
    task = ilqr.stand_up(0.4, 0.005)
    slopes = ilqr.gradients(task, task.guess, 2)
    for exact in ilqr.METHODS:
        assert_close(slopes.of_gradient[exact], slopes.of_cost, 1e-6, f"exact: {exact}")
    records = {exact: ilqr.solve(task, exact, 6) for exact in ilqr.METHODS}
    ilqr.report(task, records, slopes)
    assert "a humanoid stands up: 80 steps" in capsys.readouterr().out
    exact, differences = (records[way].cost for way in (True, False))
    assert exact[-1] < 0.7 * exact[0]
    assert exact[:4] == pytest.approx(differences[:4], rel=1e-3)
    pelvis = records[True].found.states[:, 3]
    assert pelvis[-1] > pelvis[0] + 0.1


def test_a_hopper_learns_to_squat_in_mujoco(
    script: Script, tmp_path: Path, capsys: Capture
) -> None:
    pytest.importorskip("mujoco")
    pytest.importorskip("torch")
    pytest.importorskip("matplotlib")
    policy = script("examples/mujoco_policy")
    policy.ROBOTS = 6
    policy.main(["--iterations", "12", "--plot", str(tmp_path / "squat.png")])
    said = capsys.readouterr().out
    assert "6 hoppers, 120 steps, 6 degrees of freedom, 3 servos" in said
    error = float(said.split("beside differences: ")[1].split()[0])
    assert error < 1e-6
    before, after = (float(x.split(" cm")[0]) for x in said.split("height off by ")[1:])
    assert after < before
    assert (tmp_path / "squat.png").stat().st_size > 1000
