// The admissible Coriolis matrix in ground coordinates, O(N d): C v is the Coriolis and centripetal
// torque, and dM/dt = C + C^T. [Echeandia] algorithm 1, with 12 numbers for the operator B:
// [Notes] eq. 3.7.
//
// For j on the path from the world to k, with composites of k, and S'_j = v_j x s_j with v_j the
// twist of the body of joint j:
//   C_kj = (B^T s_k) . s_j + (I s_k) . S'_j
//   C_jk = s_j . (B s_k + I S'_k)
#pragma once

#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct CoriolisWorkspace {
    Ground<T> ground;
    Motion<T>* Sdot;
    Coriolis<T>* B;

    CoriolisWorkspace(Arena& arena, const Tree& tree, const Options&)
        : ground(arena, tree),
          Sdot(arena.take<Motion<T>>(tree.nv)),
          B(arena.take<Coriolis<T>>(tree.nnodes)) {}
};

// C: into zeros.
template <class T>
void coriolis_matrix(const Tree& tree, const T* q, const T* v, T* C,
                     const CoriolisWorkspace<T>& w) {
    const Ground<T>& g = w.ground;
    const int n = tree.nv;
    const T half(0.5);
    ground_sweep(tree, q, v, g);
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
            const Vec3<T> t1 = half * transposed_mul(w.B[i], s);  // [Notes] eq. 3.7
            const Force<T> t2 = g.I[i] * s;
            const Force<T> F = fma(half, mul_add(w.B[i], s, zero_force<T>()), g.I[i] * w.Sdot[k]);
            const auto row = [&](int j) { C[k * n + j] = dot(t1, g.S[j].ang, dot(t2, w.Sdot[j])); };
            for (int j = first; j < end; ++j) row(j);
            for (int j = tree.dofs.parent[first]; j >= 0; j = tree.dofs.parent[j]) {
                row(j);
                C[j * n + k] = dot(g.S[j], F);  // [Notes] eq. 3.7
            }
        }
        if (body.parent >= 0) {
            g.I[body.parent] += g.I[i];
            w.B[body.parent] += w.B[i];
        }
    }
}

}  // namespace dtau::DTAU_VARIANT
