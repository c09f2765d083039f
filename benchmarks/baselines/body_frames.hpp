// Runs the first pass of the baselines in body coordinates, body_sweep(), and moves the quantities of
// subtrees to the parent's axes.
//
// Symbols, for body i with parent p, in the axes of body i about its origin:
//   X[i]    placement of the body in its parent        I[i]   inertia, constant
//   S[k]    column of the motion subspace, constant    B[i]   Coriolis operator (inertia.hpp)
//   v[i]    twist                                      vJ[i]  twist of the joint, S_i q'
//   end[i]  one past the last body of the subtree
#pragma once

#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct BodyFrames {
    Configuration<T> angles;
    Placement<T>* X;
    Motion<T>*S, *v, *vJ;
    Inertia<double>* I;
    Coriolis<T>* B;
    int* end;

    BodyFrames(Arena& arena, const Tree& tree)
        : angles(arena, tree),
          X(arena.take<Placement<T>>(tree.nnodes)),
          S(arena.take<Motion<T>>(tree.nv)),
          v(arena.take<Motion<T>>(tree.nnodes)),
          vJ(arena.take<Motion<T>>(tree.nnodes)),
          I(arena.take<Inertia<double>>(tree.nnodes)),
          B(arena.take<Coriolis<T>>(tree.nnodes)),
          end(arena.take<int>(tree.nnodes)) {
        if (!end) return;  // the arena only measures
        const Placement<T> own = {Mat3<T>::identity(), zero_vector<T>()};
        for (int i = 0; i < tree.nnodes; ++i) {
            const Body& body = tree.bodies[i];
            I[i] = own_inertia<double>(body);
            motion_subspace(body, own, S + body.v);
            end[i] = i + 1;
        }
        for (int i = tree.nnodes - 1; i >= 0; --i)
            if (const int p = tree.bodies[i].parent; p >= 0 && end[p] < end[i]) end[p] = end[i];
    }
};

// Computes placements, twists and Coriolis operators.
template <class T>
void body_sweep(const Tree& tree, const T* q, const T* v, const BodyFrames<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        Placement<T> X = joint_placement(body, constant_placement<T>(body), x);
        if (body.parent < 0) X.r = zero_vector<T>();  // the base's position is never read
        const Motion<T> vJ = joint_twist(body, v + body.v);
        const Motion<T> vi = body.parent < 0 ? vJ : seen_from(X, w.v[body.parent]) + vJ;
        w.X[i] = X, w.vJ[i] = vJ, w.v[i] = vi;
        const Inertia<T> I = own_inertia<T>(body);
        w.B[i] = coriolis(I, vi, I * vi);
    }
}

// The parent's motion, in the axes of the body; the world's acceleration is minus gravity.
template <class T>
DTAU_INLINE Motion<T> motion_of_parent(const Body& body, const Placement<T>& X,
                                       const Motion<T>* motions) {
    return body.parent < 0 ? zero_motion<T>() : seen_from(X, motions[body.parent]);
}
template <class T>
DTAU_INLINE Motion<T> acceleration_of_parent(const Tree& tree, const Body& body,
                                             const Placement<T>& X, const Motion<T>* a) {
    if (body.parent >= 0) return seen_from(X, a[body.parent]);
    return {zero_vector<T>(), -transposed_mul(X.R, lift<T>(vec3(tree.gravity)))};
}

// m x vJ for the twist of the body's joint.
template <class T>
DTAU_INLINE Motion<T> cross_joint(const Body& body, const Motion<T>& m, const Motion<T>& vJ) {
    if (body.kind != JointKind::revolute) return cross(m, vJ);
    const T w = vJ.ang.z, zero(0.0);
    return {{m.ang.y * w, -(m.ang.x * w), zero}, {m.lin.y * w, -(m.lin.x * w), zero}};
}

// The derivative of v x* I v + I a: along m by the twist v, along da by the acceleration a.
// v x* I m + m x* I v = 2B m + I (v x m), with 2B of [IDSVA] eq. 28.
template <class T>
DTAU_INLINE Force<T> force_derivative(const BodyFrames<T>& w, int i, const Motion<T>& m,
                                      const Motion<T>& da) {
    return mul_add(w.B[i], m, w.I[i] * cross(w.v[i], m, da));
}

// Writes S^T f into a column of a matrix whose rows are `stride` apart.
template <class T>
DTAU_INLINE void store_joint_torque(const Body& body, const Force<T>& f, T* to, int stride) {
    if (body.kind == JointKind::revolute) {
        *to = f.ang.z;
        return;
    }
    T tau[6] = {};
    joint_torque(body, f, tau);
    for (int r = 0; r < body.nv; ++r) to[r * stride] = tau[r];
}

// n = A w and f = w x 2p become R A R^T w + r x f and w x 2 R p.
template <class T>
DTAU_INLINE Coriolis<T> transformed(const Placement<T>& P, const Coriolis<T>& B) {
    const Vec3<T>& r = P.r;
    const Vec3<T> p2 = P.R * B.p2;
    const T along = dot(r, p2);
    Mat3<T> A = P.R * B.A * transposed(P.R);
    A.x = fma(-r.x, p2, A.x), A.y = fma(-r.y, p2, A.y), A.z = fma(-r.z, p2, A.z);
    A.x.x += along, A.y.y += along, A.z.z += along;
    return {A, p2};
}

}  // namespace dtau::DTAU_VARIANT
