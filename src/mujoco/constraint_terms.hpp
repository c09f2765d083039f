// Differentiates the joint forces J^T lambda of limits, friction loss and polynomials of lengths of one
// state, at a constant active set: add_row_terms(); and of springs and dampers of fixed tendons:
// add_tendon_springs().
//
// With x = pos - margin and MuJoCo's stiffness K, damping B and impedance I(x), a row has
// a_ref = -B J v - K I x  and  lambda = -D (J a - a_ref),  D proportional to I / (1 - I).
#pragma once

#include <cmath>

#include "dtau/spatial.hpp"
#include "mujoco/dense_solve.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

using Vector = Vec3<double>;
using Matrix = Mat3<double>;
using Twist = Motion<double>;
using Wrench = Force<double>;

DTAU_INLINE Twist minus(const Twist& a, const Twist& b) { return {a.ang - b.ang, a.lin - b.lin}; }
DTAU_INLINE Matrix outer(const Vector& a, const Vector& b) { return {b.x * a, b.y * a, b.z * a}; }

// Of one state; all matrices are (nv, nv).
struct Terms {
    double *by_a, *by_q, *by_v;  // J^T H J, and d(J^T lambda) at constant acceleration
    Wrench* wrenches;            // (nv): on the axes of J, about the world's origin
    double* by_parameters;       // (nv, columns): d(J^T lambda) at constant acceleration
};

// Axes at the world's origin, and what a twist of the path of an axis has in common with it:
// own[r][j] = S_j x (sum of S_i rate_i over the axes i of the path that j does not move), for the
// rates a and v.
struct Axes {
    Twist *S, *own[2];

    Axes(const mujoco::Constants& m, const mujoco::Solutions& at, Index k, Twist* memory)
        : S(memory), own{memory + m.nv, memory + 2 * m.nv} {
        for (Index j = 0; j < m.nv; ++j) {
            const double* d = at.cdof + 6 * (k * m.nv + j);
            const Vector com = vec3(at.com + 3 * (k * m.nbody + m.dof_roots[j]));
            S[j] = {vec3(d), cross(com, vec3(d), vec3(d + 3))};
        }
        const double* rates[2] = {at.a + k * m.nv, at.v + k * m.nv};
        for (int r = 0; r < 2; ++r)
            for (Index j = 0; j < m.nv; ++j) own[r][j] = cross(S[j], sum(m.still, j, rates[r]));
    }
    // The sum of S_i rate_i over list `i`.
    Twist sum(const mujoco::Lists& lists, Index i, const double* rate) const {
        Twist out = zero_motion<double>();
        for (const Index* j = lists.begin(i); j != lists.end(i); ++j)
            out = fma(rate[*j], S[*j], out);
        return out;
    }
};

// The row of a ball joint's limit is  J = -n,  where n is the axis of the rotation by the angle x,
// along the body's axes. A displacement d turns it by  dn = (cot(x / 2) (d - n n.d) + n x d) / 2.
// False at the angle 0, where the axis jumps.
inline bool add_turning_axis(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                             Index row, const double* J, double D, double damping, double force,
                             const Terms& terms) {
    const Index joint = at.id[row], first = m.joint_dof[joint], nv = m.nv;
    const double *range = m.joint_range + 2 * joint, *a = at.a + k * nv, *v = at.v + k * nv;
    const double angle = std::fmax(range[0], range[1]) - at.position[row];
    if (angle <= 1e-10) return false;
    const Vector axis = -vec3(J + first);
    const double cotangent = 1.0 / std::tan(0.5 * angle);
    Matrix turned = skew(axis);
    turned += cotangent * Matrix::identity();
    turned += outer(-cotangent * axis, axis);
    turned = 0.5 * turned;
    const Vector rate = fma(damping, vec3(v + first), vec3(a + first));
    const Vector along = transposed_mul(turned, rate);
    const double by_rate[3] = {along.x, along.y, along.z};
    const Vector columns[3] = {turned.x, turned.y, turned.z};
    for (int c = 0; c < 3; ++c) {
        for (Index i = 0; i < nv; ++i) terms.by_q[i * nv + first + c] += D * J[i] * by_rate[c];
        const double moved[3] = {columns[c].x, columns[c].y, columns[c].z};
        for (int i = 0; i < 3; ++i) terms.by_q[(first + i) * nv + first + c] -= force * moved[i];
    }
    return true;
}

// The row of a polynomial is  J = J_1 - p'(x_2) J_2,  which varies with x_2.
inline void add_bend(const mujoco::Constants& m, const mujoco::Solutions& at, Index k, Index row,
                     const double* J, double D, double damping, double force, const Terms& terms) {
    const Index equality = at.id[row], nv = m.nv;
    const mujoco::Equality& of = m.equalities[equality];
    const mujoco::Lists& dofs = m.seconds.dofs;
    const double x = m.seconds.at(equality, at.q + k * m.nq) - of.origin;
    const double bend = fma(x, fma(x, of.bend[2], of.bend[1]), of.bend[0]);
    double rate = 0.0;
    for (Index l = dofs.starts[equality]; l < dofs.starts[equality + 1]; ++l) {
        const Index place = k * nv + dofs.items[l];
        rate += m.seconds.arms[l] * fma(damping, at.v[place], at.a[place]);
    }
    for (Index l = dofs.starts[equality]; l < dofs.starts[equality + 1]; ++l) {
        const double arm = bend * m.seconds.arms[l];
        double* column = terms.by_q + dofs.items[l];
        for (Index i = 0; i < nv; ++i) column[i * nv] += D * rate * arm * J[i];
        for (Index i = dofs.starts[equality]; i < dofs.starts[equality + 1]; ++i)
            column[dofs.items[i] * nv] -= force * arm * m.seconds.arms[i];
    }
}

inline void add_tendon_springs(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                               const Terms& terms) {
    const mujoco::Lists& dofs = m.tendons.dofs;
    for (Index tendon = 0; tendon < m.ntendons; ++tendon) {
        const mujoco::TendonSpring& spring = m.tendon_springs[tendon];
        const double length = m.tendons.at(tendon, at.q + k * m.nq);
        const bool taut = length < spring.low || length > spring.high;
        for (Index i = dofs.starts[tendon]; i < dofs.starts[tendon + 1]; ++i)
            for (Index j = dofs.starts[tendon]; j < dofs.starts[tendon + 1]; ++j) {
                const Index place = dofs.items[i] * m.nv + dofs.items[j];
                const double arms = m.tendons.arms[i] * m.tendons.arms[j];
                if (taut) terms.by_q[place] -= spring.stiffness * arms;
                terms.by_v[place] -= spring.damping * arms;
            }
    }
}

// Returns a row that has a force and no derivative; -1: there is none.
inline Index add_row_terms(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                           const Terms& terms) {
    Index refused = -1;
    const Index nv = m.nv, count = at.plain_starts[k + 1] - at.plain_starts[k];
    for (Index i = 0; i < count; ++i) {
        const Index row = at.row_starts[k] + i;
        const bool couples = at.kind[row] == mujoco::equality;
        if (couples && m.equalities[at.id[row]].holds_bodies()) continue;
        const bool limit =
            at.kind[row] == mujoco::limit_of_joint || at.kind[row] == mujoco::limit_of_tendon;
        const double* J = at.jacobian + (at.plain_starts[k] + i) * nv;
        const double* KBIP = at.parameters + 4 * row;
        const double D = at.weight[row];
        double acceleration = 0.0;
        for (Index j = 0; j < nv; ++j) acceleration += J[j] * at.a[k * nv + j];
        // The solver's efc_state may be of its last but one iterate.
        const double force = -D * (acceleration - at.reference[row]);
        if (!(couples || (limit ? force > 0.0 : std::fabs(force) < at.loss[row]))) {
            if (at.kind[row] == mujoco::friction_of_joint && m.parameters.loss >= 0) {
                const Index dof = at.id[row];  // it slides, and J is 1 there
                terms.by_parameters[dof * m.parameters.columns + m.parameters.loss + dof] +=
                    std::copysign(1.0, force);
            }
            continue;
        }
        const double damping = KBIP[1], impedance = KBIP[2], slope = KBIP[3];
        double by_position = 0.0;
        if (limit || couples) {
            const double x = at.position[row] - at.margin[row];
            by_position = force * slope / (impedance * (1.0 - impedance)) -
                          D * KBIP[0] * (impedance + slope * x);
        }
        for (Index j = 0; j < nv; ++j) {
            if (J[j] == 0.0) continue;
            add_scaled(terms.by_a + j * nv, D * J[j], J, nv);
            add_scaled(terms.by_q + j * nv, by_position * J[j], J, nv);
            add_scaled(terms.by_v + j * nv, -D * damping * J[j], J, nv);
        }
        if (couples) add_bend(m, at, k, row, J, D, damping, force, terms);
        if (at.kind[row] == mujoco::limit_of_joint && m.joint_type[at.id[row]] == mujoco::ball &&
            !add_turning_axis(m, at, k, row, J, D, damping, force, terms))
            refused = row;
    }
    return refused;
}

}  // namespace dtau::DTAU_VARIANT::mujoco_step
