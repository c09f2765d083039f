// Second-order partial derivatives of inverse dynamics: IDSVA-SO in ground coordinates, O(N d^2).
// The formulas are those of idsva_so_tables.hpp, the sweeps those of idsva.hpp.
#pragma once

#include "dtau/algorithms/idsva_so_tables.hpp"

namespace dtau::DTAU_VARIANT {

// Makes the path that of body i: what it shares with the path before stays.
template <class T>
DTAU_INLINE void follow_columns(const Tree& tree, int i, const IdsvaWorkspace<T>& idsva,
                                const IdsvaSoWorkspace<T>& w) {
    for (; i >= 0; i = tree.bodies[i].parent) {
        const Body& body = tree.bodies[i];
        const int begin = tree.dofs.depth[body.v], end = begin + body.nv;
        if (w.path[begin] == body.v) return;
        for (int e = begin; e < end; ++e) {
            const int k = body.v + e - begin;
            w.path[e] = k, w.joint_begin[e] = begin, w.joint_end[e] = end;
            w.S.set(e, idsva.ground.S[k]);
            w.Psidot.set(e, idsva.Psidot[k]);
            w.Psiddot.set(e, idsva.Psiddot[k]);
            w.Upsilondot.set(e, idsva.Upsilondot[k]);
        }
    }
}

// Column k, of body i.
template <class T>
DTAU_INLINE DeepColumn<T> deep_column(int i, int k, const IdsvaWorkspace<T>& w) {
    const Inertia<T>& I = w.ground.I[i];
    const Coriolis<T>& B = w.B[i];
    DeepColumn<T> m;
    m.s = w.ground.S[k], m.Psidot = w.Psidot[k], m.Psiddot = w.Psiddot[k];
    m.Upsilondot = w.Upsilondot[k];
    m.t1 = transposed_mul(B, m.s);
    m.t2 = I * m.s;
    m.alpha = mul_add(B, m.Psidot, cross_star(m.s, w.f[i], I * m.Psiddot));
    m.beta = mul_add(B, m.s, I * m.Upsilondot);
    m.I_rate = moving(m.s, I);
    m.B_rate = moving(m.s, B, I, m.Psidot);
    m.E = coriolis(I, m.s, m.t2);
    m.D = coriolis_dual(I, m.s, m.t2);
    return m;
}

// Of the second derivatives by q inside a joint, those in the exponential chart: the symmetric part.
// [out, j, k] are in table 0 where out is the deepest, or in tables 1 and 2.
template <class T>
DTAU_INLINE void symmetrize_group(int d, const IdsvaSoWorkspace<T>& w) {
    const auto average = [&](int x, int y) {
        T* dqdq = w.tables.dqdq;
        dqdq[x] = dqdq[y] = T(0.5) * (dqdq[x] + dqdq[y]);
    };
    const int n = d + 1;
    for (int e = 0; e <= d; ++e)
        for (int f = e + 1; f < w.joint_end[e] && f <= d; ++f) average(e * n + f, f * n + e);
    for (int e = w.joint_begin[d]; e < d; ++e)
        for (int f = 0; f < d; ++f) average(n * n + e * d + f, n * n + (n + e) * d + f);
}

// Calls emit(m, tables) for every group, when the inertias, Coriolis operators and forces of idsva
// are composites.
template <class T, class Emit>
DTAU_INLINE void idsva_so_backward(const Tree& tree, bool symmetric, const IdsvaWorkspace<T>& idsva,
                                   const IdsvaSoWorkspace<T>& w, const Emit& emit) {
    forget_path(tree.dofs, w.path);
    for (int i = tree.nbodies - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const bool free = body.parent >= 0 && path_stop(tree, body) > 0;
        const FreeRoot<T> root = {free ? 6 : 0, idsva.ground.v[body.root],
                                  idsva.ground.gravity[body.root]};
        const int joint = tree.dofs.depth[body.v];
        follow_columns(tree, i, idsva, w);
        for (int c = 0; c < body.nv; ++c) {
            w.own[c] = deep_column(i, body.v + c, idsva);
            output_column(w.own[c], joint + body.nv, w.output[c], w);
        }
        for (int c = 0; c < body.nv; ++c) {
            const int d = joint + c;
            deepest_output(root, d, w.output[c], w);
            shallower_outputs(root, idsva.ground.I[i], d, w);
            if (symmetric) symmetrize_group(d, w);
            emit(body.v + c, w.tables);
        }
    }
}

template <class T>
struct InverseSecondWorkspace {
    IdsvaWorkspace<T> idsva;
    IdsvaSoWorkspace<T> so;

    InverseSecondWorkspace(Arena& arena, const Tree& tree) : idsva(arena, tree), so(arena, tree) {}
};

// The groups of d2tau_dqdq, d2tau_dqdv, d2tau_dvdv, d2tau_dadq.
template <class T, class Emit>
void idsva_so(const Tree& tree, const T* q, const T* v, const T* a, const T* f_ext, bool symmetric,
              const InverseSecondWorkspace<T>& w, const Emit& emit) {
    ground_sweep(tree, q, v, w.idsva.ground);
    idsva_velocities(tree, v, f_ext, w.idsva);
    idsva_accelerations(tree, a, w.idsva);
    free_root_accelerations(tree, w.idsva);
    idsva_composites(tree, w.idsva);
    idsva_so_backward(tree, symmetric, w.idsva, w.so, emit);
}

}  // namespace dtau::DTAU_VARIANT
