"""Mutants of the core, include/dtau: time derivatives, solving, steps, mimic joints, contacts."""

from __future__ import annotations

from .core import INCLUDE
from .mutant import Mutant

TIME, SOLVE, STEPS, CONSTRAINTS = (
    INCLUDE + f"algorithms/{folder}/" for folder in ("time", "solve", "steps", "constraints")
)

SOLVING = (
    # ------------------------------------------------------------ time derivatives
    Mutant(
        "time/centripetal_middle",
        "The square of a series leaves out its middle term at even orders.",
        TIME + "taylor.hpp",
        "k % 2 == 0",
        "k == 0",
        (
            "tests/time_derivatives/test_time_derivatives.py::test_taylor_series",
            "tests/time_derivatives/test_time_derivatives.py::test_complex_step",
        ),
    ),
    Mutant(
        "time/wrench_factorial",
        "The time derivatives of external wrenches are divided by k, not by k!.",
        TIME + "inverse.hpp",
        "-w.scale.inverse_factorial[k]",
        "-w.scale.inverse[k]",
        (
            "tests/time_derivatives/test_time_derivatives.py::test_taylor_series",
            "tests/time_derivatives/test_time_derivatives.py::test_complex_step",
            "tests/time_derivatives/test_time_derivatives.py::test_torque_time_derivatives_match_taylor_arithmetic_on_trees",
        ),
    ),
    Mutant(
        "time/prescribed_rows",
        "Rows of the mass matrix keep the columns of prescribed velocities.",
        TIME + "mimic.hpp",
        "given[k] || given[j]",
        "given[k]",
        ("tests/model/test_mimic.py::test_time_derivatives_reduce",),
    ),
    Mutant(
        "time/kinematics_sum",
        "The twist of a body leaves out one product of the series of omega and r.",
        TIME + "kinematics.hpp",
        "cross_sum(0, k, omega_p, w.r, v_p[k])",
        "cross_sum(1, k, omega_p, w.r, v_p[k])",
        (
            "tests/time_derivatives/test_time_derivatives.py::test_taylor_series",
            "tests/time_derivatives/test_time_derivatives.py::test_twists_turn_and_move_the_poses",
        ),
    ),
    Mutant(
        "time/momentum_weight",
        "A product of momentum's series has the weight k + 1 where it is k + 1 - 2 m.",
        TIME + "momentum.hpp",
        "fma(T(k + 1.0 - 2.0 * m), spin, sum)",
        "fma(T(k + 1.0), spin, sum)",
        ("tests/centroidal/test_momentum_time_derivatives.py",),
    ),
    # ------------------------------------------------------------ solving with the mass matrix
    Mutant(
        "solve/ltdl_pair",
        "The elimination of a pair of rows misses the diagonal entry of the second.",
        SOLVE + "ltdl.hpp",
        "b < depth",
        "b < depth - 1",
        ("tests/derivatives/test_derivatives.py",),
    ),
    Mutant(
        "solve/damping",
        "The derivatives of forward dynamics are taken at an acceleration without damping.",
        SOLVE + "factorized.hpp",
        "fma(T(-tree.damping[k]), v[k], tau ? tau[k] : T(0.0))",
        "(tau ? tau[k] : T(0.0))",
        (
            "tests/products/test_products.py::test_damping_and_armature",
            "tests/derivatives/test_derivatives.py",
            "tests/dynamics/test_dynamics.py::test_armature_and_damping",
        ),
    ),
    # ------------------------------------------------------------ time steps
    Mutant(
        "steps/second_bracket",
        "Runge-Kutta steps leave out the second bracket of the displacement's rate.",
        STEPS + "step.hpp",
        "fma(T(1.0 / 12.0), cross(x, xy), fma(T(0.5), xy, y))",
        "fma(T(0.5), xy, y)",
        ("tests/steps/test_steps.py",),
    ),
    Mutant(
        "steps/semi_implicit",
        "The semi-implicit step moves with the velocity before it.",
        STEPS + "step.hpp",
        "total[k] = h * v_next[k];",
        "total[k] = h * v[k];",
        ("tests/steps/test_steps.py::test_definitions",),
        statement=True,
    ),
    Mutant(
        "steps/semi_implicit_matrices",
        "The linearization of a semi-implicit step is that of the explicit one in q.",
        STEPS + "discrete_linearization.hpp",
        "implicit ? h * w.a_sum[k] : w.rate_sum[k]",
        "w.rate_sum[k]",
        ("tests/steps/test_steps.py::test_robots",),
    ),
    Mutant(
        "steps/rows_by_length",
        "The second stage of a longer step leaves out how its displacement grows.",
        STEPS + "discrete_linearization.hpp",
        "const bool all_rows = i > 1 || (i == 1 && start.has_length());",
        "const bool all_rows = i > 1;",
        ("tests/steps/test_steps.py::test_robots",),
        statement=True,
    ),
    Mutant(
        "steps/gradient_by_length",
        "The gradient by the length takes the last stage's acceleration for zero.",
        STEPS + "step_products.hpp",
        "i + 1 < stage_count(method) || implicit || by_h",
        "i + 1 < stage_count(method) || implicit",
        ("tests/steps/test_steps.py::test_robots",),
    ),
    Mutant(
        "steps/longer_velocity",
        "The variation of a step leaves out how its length moves the stages' velocities.",
        STEPS + "step_jvp.hpp",
        "fma(by_ahead, w.step.a(i - 1)[k], w.v[k])",
        "w.v[k]",
        ("tests/steps/test_steps.py::test_robots",),
    ),
    Mutant(
        "steps/kinematic_rows",
        "The linearization has the velocity's bracket with the wrong sign.",
        STEPS + "linearization.hpp",
        "ad(-joint_twist(body, v + body.v))",
        "ad(joint_twist(body, v + body.v))",
        ("tests/steps/test_linearization.py::test_complex_step_of_robots",),
    ),
    Mutant(
        "steps/input_map",
        "A map of inputs reaches B without the rows of all torques but the last.",
        STEPS + "linearization.hpp",
        "B[c] = fma(row[c], da_dtau[j], B[c]);",
        "B[c] = row[c] * da_dtau[j];",
        ("tests/steps/test_linearization.py::test_inputs",),
        statement=True,
    ),
    # ------------------------------------------------------------ mimic joints
    Mutant(
        "mimic/offset",
        "A joint that mimics another forgets its offset.",
        INCLUDE + "mimic.hpp",
        "fma(T(c.q_scale[k]), q[c.q_source[k]], T(c.q_offset[k]))",
        "T(c.q_scale[k]) * q[c.q_source[k]]",
        ("tests/model/test_mimic.py",),
    ),
    Mutant(
        "mimic/both_triangles",
        "Two joints of one velocity add to its inertia once, not twice.",
        INCLUDE + "mimic.hpp",
        "(k != j && r == s ? 2.0 : 1.0)",
        "1.0",
        ("tests/model/test_mimic.py",),
    ),
    # ------------------------------------------------------------ contacts, loops, impulses
    Mutant(
        "constraints/turning_loop",
        "The acceleration of a loop forgets that both of its frames turn.",
        CONSTRAINTS + "rows.hpp",
        "rows.ang = cross(ma.V.ang, mb.V.ang, rows.ang);",
        "",
        (
            "tests/constraints/test_constrained_dynamics.py",
            "tests/constraints/test_contact_derivatives.py",
        ),
        statement=True,
    ),
    Mutant(
        "constraints/stale_jacobian",
        "The Jacobian of inverse dynamics keeps numbers of the contacts of states before.",
        CONSTRAINTS + "inverse.hpp",
        "if (row == constraint.first_of_all + r) continue;",
        "if (row >= 0) continue;",
        ("tests/constraints/test_mixed_contacts.py",),
        statement=True,
    ),
    Mutant(
        "constraints/position_gain",
        "The position error does not enter the rows.",
        CONSTRAINTS + "rows.hpp",
        "fma(T(constraint.kp), e, fma(T(constraint.kd), ma.V + -mb.V, rows))",
        "fma(T(constraint.kd), ma.V + -mb.V, rows)",
        ("tests/constraints/test_constrained_dynamics.py",),
    ),
    Mutant(
        "constraints/reaction",
        "A loop pushes both of its bodies the same way.",
        CONSTRAINTS + "rows.hpp",
        "W = {-W.ang, -W.lin};",
        "",
        ("tests/constraints/test_contact_derivatives.py",),
        statement=True,
    ),
    Mutant(
        "constraints/inactive",
        "The Jacobian keeps the rows of contacts that are not active.",
        CONSTRAINTS + "schur_complement.hpp",
        "if_active(active, c, rows[r])",
        "rows[r]",
        ("tests/constraints/test_constrained_dynamics.py",),
    ),
    Mutant(
        "constraints/dependent_rows",
        "Rows that depend on others are not refused.",
        CONSTRAINTS + "schur_complement.hpp",
        'select(regular, T(1.0) / pivot, T(__builtin_nan("")))',
        "(T(1.0) / pivot)",
        (
            "tests/constraints/test_constrained_dynamics.py::test_dependent_rows_are_named",
            "tests/constraints/test_contradictions.py",
        ),
    ),
    Mutant(
        "constraints/regularization",
        "The least-squares iteration forgets the regularization of its residual.",
        CONSTRAINTS + "forces.hpp",
        "b[k] = T(w.R) * b[k];",
        "",
        ("tests/constraints/test_contradictions.py",),
        statement=True,
    ),
    Mutant(
        "constraints/restitution",
        "A restitution of one takes the velocity away instead of reversing it.",
        CONSTRAINTS + "impulse.hpp",
        "-(T(1.0) + restitution)",
        "-(T(1.0) - restitution)",
        (
            "tests/constraints/test_contact_derivatives.py",
            "tests/constraints/test_impulses.py",
        ),
    ),
    Mutant(
        "constraints/lanes_scale",
        "In lanes, the constraints' part of the inverse mass matrix has the wrong sign.",
        CONSTRAINTS + "correction.hpp",
        "m < 2 ? -1.0 : 1.0",
        "-1.0",
        (
            "tests/constraints/test_constrained_dynamics.py",
            "tests/batch/test_instruction_sets.py::test_a_state_has_the_same_bits_everywhere",
        ),
    ),
    Mutant(
        "constraints/stage_of_failure",
        "The message of dependent rows takes a later stage of a step for the first.",
        CONSTRAINTS + "failures.hpp",
        "of_state[l].stage += stage;",
        "",
        ("tests/constraints",),
        statement=True,
    ),
)
