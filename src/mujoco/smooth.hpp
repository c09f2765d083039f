// Takes MuJoCo's states to dtau's coordinates, and derivatives of inverse dynamics back: to_dtau(),
// to_mujoco().
//
// MuJoCo's linear velocity of a free joint is along the world's axes, dtau's along the body's. With
// the rotation R of the body,
//
//   v_dtau = R^T v    a_dtau = R^T a - w x v_dtau    f = R f_dtau
//
// and R varies with the displacement: dR = R [d]x.
#pragma once

#include "mujoco/constraint_terms.hpp"
#include "mujoco/contact_motion.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

inline Matrix free_rotation(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                            Index joint) {
    return from_rows(at.xmat + 9 * (k * m.nbody + m.free_bodies[joint]));
}
DTAU_INLINE void put(double* at, const Vector& x) { at[0] = x.x, at[1] = x.y, at[2] = x.z; }

// Writes dtau's velocity and acceleration (nv) for accelerations a (nv) of MuJoCo.
inline void to_dtau(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                    const double* a, double* v_dtau, double* a_dtau) {
    const double* v = at.v + k * m.nv;
    for (Index i = 0; i < m.nv; ++i) v_dtau[i] = v[m.places[i]], a_dtau[i] = a[m.places[i]];
    for (Index f = 0; f < m.nfree; ++f) {
        const Index first = m.free[f];
        const Matrix R = free_rotation(m, at, k, f);
        const Vector lin = transposed_mul(R, vec3(v + first));
        const Vector faster = transposed_mul(R, vec3(a + first));
        double moved[3], accelerated[3];
        put(moved, lin), put(accelerated, faster - cross(vec3(v + first + 3), lin));
        for (Index i = 0; i < 3; ++i) {
            v_dtau[m.order[first + i]] = moved[i];
            a_dtau[m.order[first + i]] = accelerated[i];
        }
    }
}

// A free joint: its pose and motion, which take rows of derivatives of inverse dynamics to MuJoCo's.
struct FreeJoint {
    Index lin, ang;
    Matrix R;
    Vector w, fast, faster;

    FreeJoint(const mujoco::Constants& m, const mujoco::Solutions& at, Index k, const double* a,
              Index joint)
        : lin(m.free[joint]),
          ang(lin + 3),
          R(free_rotation(m, at, k, joint)),
          w(vec3(at.v + k * m.nv + ang)),
          fast(transposed_mul(R, vec3(at.v + k * m.nv + lin))),
          faster(transposed_mul(R, vec3(a + lin))) {}

    // Rows by q and by v in MuJoCo's order, and by a in dtau's.
    void move_row(const mujoco::Constants& m, const double* inertia, double* q, double* v) const {
        // Rows times cross product matrices: x [y]x = x x y
        const Vector column = {inertia[m.order[lin]], inertia[m.order[lin + 1]],
                               inertia[m.order[lin + 2]]};
        const Vector by_lin = vec3(v + lin), turned = cross(column, w);
        put(q + ang,
            vec3(q + ang) + cross(by_lin, fast) + cross(column, faster) - cross(turned, fast));
        put(q + lin, R * vec3(q + lin));
        put(v + ang, vec3(v + ang) + cross(column, fast));
        put(v + lin, R * (by_lin - turned));
    }
};

// Writes d(M a + c)/dq and /dv (nv, nv) of MuJoCo from dtau's; `mass` is dtau's, `torque` is M a + c
// without armature.
inline void to_mujoco(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                      const double* a, const double* torque, const double* by_q_dtau,
                      const double* by_v_dtau, const double* mass, double* by_q, double* by_v) {
    const Index nv = m.nv;
    for (Index i = 0; i < nv; ++i)
        for (Index j = 0; j < nv; ++j) {
            const Index place = m.order[i] * nv + m.order[j];
            by_q[i * nv + j] = by_q_dtau[place], by_v[i * nv + j] = by_v_dtau[place];
        }
    for (Index f = 0; f < m.nfree; ++f) {
        const FreeJoint joint(m, at, k, a, f);
        const Index lin = joint.lin, ang = joint.ang;
        const Matrix& R = joint.R;
        for (Index i = 0; i < nv; ++i)
            joint.move_row(m, mass + m.order[i] * nv, by_q + i * nv, by_v + i * nv);
        for (double* matrix : {by_q, by_v})
            for (Index j = 0; j < nv; ++j) {
                double* at_row = matrix + lin * nv + j;
                const Vector along = R * Vector{at_row[0], at_row[nv], at_row[2 * nv]};
                at_row[0] = along.x, at_row[nv] = along.y, at_row[2 * nv] = along.z;
            }
        const Matrix moved = skew(vec3(torque + lin)) * R;
        const Vector columns[3] = {moved.x, moved.y, moved.z};
        for (int j = 0; j < 3; ++j) {
            by_q[lin * nv + ang + j] -= columns[j].x;
            by_q[(lin + 1) * nv + ang + j] -= columns[j].y;
            by_q[(lin + 2) * nv + ang + j] -= columns[j].z;
        }
    }
}

}  // namespace dtau::DTAU_VARIANT::mujoco_step
