// Computes an admissible Coriolis matrix C: coriolis_matrix(). O(N d). [Echeandia] algorithm 1.
// Admissible: C v is the Coriolis and centripetal torque, and dM/dt = C + C^T.
//
//   forward    S'_k = v_i x s_k                       for each column k of body i
//              2B_i = v_i x* I_i - I_i v_i x + (I_i v_i) xbar*
//   backward   for each column k of body i:           t1 = B_i^T s_k,  t2 = I_i s_k,  F = B_i s_k + I_i S'_k
//                for each j on the path of k:         C_kj = t1 . s_j + t2 . S'_j
//                for each j of a shallower joint:     C_jk = s_j . F
//              I_p = I_p + I_i,  B_p = B_p + B_i      (composites)
//
// Two things differ from the paper: the operator B has 12 numbers, and B^T s_k is a moment alone
// ([Derivations] eq. 3.7); coordinates are the root frame's (kinematics.hpp).
#pragma once

#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct CoriolisWorkspace {
    RootFrame<T> root_frame;
    Motion<T>* Sdot;
    Coriolis<T>* B;

    CoriolisWorkspace(Arena& arena, const Tree& tree, const Options&)
        : root_frame(arena, tree),
          Sdot(arena.take<Motion<T>>(tree.nv)),
          B(arena.take<Coriolis<T>>(tree.nnodes)) {}
};

// C: zero before.
template <class T>
void coriolis_matrix(const Tree& tree, const T* q, const T* v, T* C,
                     const CoriolisWorkspace<T>& w) {
    const RootFrame<T>& g = w.root_frame;
    const int n = tree.nv;
    const T half(0.5);
    root_frame_sweep(tree, q, v, g);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        for (int k = body.v; k < body.v + body.nv; ++k) w.Sdot[k] = cross(g.v[i], g.S[k]);
        w.B[i] = coriolis(g.I[i], g.v[i], g.I[i] * g.v[i]);
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const int first = body.v, end = body.v + body.nv;
        for (int k = first; k < end; ++k) {
            const Motion<T> s = g.S[k];
            const Vec3<T> t1 = half * transposed_mul(w.B[i], s);  // [Derivations] eq. 3.7
            const Force<T> t2 = g.I[i] * s;
            const Force<T> F = fma(half, mul_add(w.B[i], s, zero_force<T>()), g.I[i] * w.Sdot[k]);
            const auto row = [&](int j) { C[k * n + j] = dot(t1, g.S[j].ang, dot(t2, w.Sdot[j])); };
            for (int j = first; j < end; ++j) row(j);
            for (int j = tree.dofs.parent[first]; j >= 0; j = tree.dofs.parent[j]) {
                row(j);
                C[j * n + k] = dot(g.S[j], F);  // [Derivations] eq. 3.7
            }
        }
        if (body.parent >= 0) {
            g.I[body.parent] += g.I[i];
            w.B[body.parent] += w.B[i];
        }
    }
}

}  // namespace dtau::DTAU_VARIANT
