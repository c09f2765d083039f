// First-order partial derivatives of inverse dynamics: IDSVA in ground coordinates, O(N d).
// [IDSVA] algorithm 1, eqs. 30 and 32, with two changes: the body Coriolis operator is held in its
// 12 numbers (spatial.hpp), and ground is the frame of the root body (kinematics.hpp), so that the
// rows and columns of a free root need no products.
//
// Symbols, for body i with parent p and column s_j of the motion subspace of joint j:
//   Psi'_j  = v_p x s_j            Psidot    (nv)     rate of s_j due to the parent's motion
//   Psi''_j = a_p x s_j + v_p x Psi'_j   Psiddot  (nv)
//   Psi'_j + S'_j, S'_j = v_j x s_j      Upsilondot   (nv)
//   a_i                            a         (nbodies) spatial acceleration, gravity included
//   B_i, f_i                       B, f      (nbodies) Coriolis operator; force; then subtree sums
//
// Row k of the partial derivatives is a product of t1, t2 with the columns of its ancestors j, and
// column k of the ancestors' rows a product of their s_j with two forces of k:
//   dtau_k/dq_j = t1 . Psi'_j + t2 . Psi''_j       dtau_j/dq_k = s_j . (2B Psi'_k + I Psi''_k + s_k
//   x* f) dtau_k/dv_j = t1 . s_j + t2 . (Psi'_j + S'_j)  dtau_j/dv_k = s_j . (2B s_k + I (Psi'_k +
//   S'_k)) M_kj = M_jk = t2 . s_j                         t1 = (2B)^T s_k, t2 = I s_k   (composites
//   of k)
#pragma once

#include "dtau/algorithms/crba.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct IdsvaWorkspace {
    Ground<T> ground;
    Motion<T>*Psidot, *Psiddot, *Upsilondot, *a;
    Coriolis<T>* B;
    Force<T>* f;

    IdsvaWorkspace(Arena& arena, const Tree& tree)
        : ground(arena, tree),
          Psidot(arena.take<Motion<T>>(tree.nv)),
          Psiddot(arena.take<Motion<T>>(tree.nv)),
          Upsilondot(arena.take<Motion<T>>(tree.nv)),
          a(arena.take<Motion<T>>(tree.nbodies)),
          B(arena.take<Coriolis<T>>(tree.nbodies)),
          f(arena.take<Force<T>>(tree.nbodies)) {}
};

// Forward sweep over bodies whose placements, twists and inertias ground holds.
template <class T>
DTAU_INLINE void idsva_forward(const Tree& tree, const T* v, const T* a, const T* f_ext,
                               const IdsvaWorkspace<T>& w) {
    const Ground<T>& g = w.ground;
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        const int p = body.parent;
        const Motion<T> vp = p < 0 ? zero_motion<T>() : g.v[p];
        const Motion<T> ap = p < 0 ? world_acceleration(g.gravity[i]) : w.a[p];
        const Motion<T> vi = g.v[i];
        for (int k = body.v; k < body.v + body.nv; ++k) {
            const Motion<T> s = g.S[k], Psidot = cross(vp, s);
            w.Psidot[k] = Psidot;
            w.Psiddot[k] = cross(ap, s, cross(vp, Psidot));
            w.Upsilondot[k] = body.nv == 1 ? Psidot + Psidot : cross(vi, s, Psidot);
        }
        const Motion<T> vJ = subspace_times(body, g.S, v, zero_motion<T>());
        w.a[i] = subspace_times(body, g.S, a, cross(vp, vJ, ap));

        const Force<T> momentum = g.I[i] * vi;
        w.B[i] = coriolis(g.I[i], vi, momentum);
        Force<T> f = cross_star(vi, momentum, g.I[i] * w.a[i]);
        if (f_ext) f = f - transformed(g.P[i], body_wrench(body, f_ext + 6 * i));
        w.f[i] = f;
    }
}

// Backward sweep: composites, and the three matrices (nv, nv), complete.
template <class T>
DTAU_INLINE void idsva_backward(const Tree& tree, T* dtau_dq, T* dtau_dv, T* dtau_da,
                                const IdsvaWorkspace<T>& w) {
    const Ground<T>& g = w.ground;
    const int n = tree.nv;
    fill_zero(dtau_dq, n * n);
    fill_zero(dtau_dv, n * n);
    fill_zero(dtau_da, n * n);
    for (int i = tree.nbodies - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const Inertia<T>& I = g.I[i];
        const Coriolis<T>& B = w.B[i];
        const int first = body.v, end = body.v + body.nv, stop = path_stop(tree, body);

        for (int k = first; k < end; ++k) {
            const Motion<T> s = g.S[k];
            const Vec3<T> t1 = transposed_mul(B, s);
            const Force<T> t2 = I * s;
            const auto row = [&](int j) {
                dtau_dq[k * n + j] = dot(t1, w.Psidot[j].ang, dot(t2, w.Psiddot[j]));
                dtau_dv[k * n + j] = dot(t1, g.S[j].ang, dot(t2, w.Upsilondot[j]));
                dtau_da[k * n + j] = dot(t2, g.S[j]);
            };
            for (int j = first; j < end; ++j) row(j);

            if (body.parent < 0) continue;
            const Force<T> by_q = mul_add(B, w.Psidot[k], cross_star(s, w.f[i], I * w.Psiddot[k]));
            const Force<T> by_v = mul_add(B, s, I * w.Upsilondot[k]);
            for (int j = tree.dof_parent[first]; j >= stop; j = tree.dof_parent[j]) {
                row(j);
                dtau_dq[j * n + k] = dot(g.S[j], by_q);
                dtau_dv[j * n + k] = dot(g.S[j], by_v);
                dtau_da[j * n + k] = dtau_da[k * n + j];
            }
            if (stop > 0)
                free_root_entries(g.v[body.root], g.gravity[body.root], t1, t2, by_q, by_v, k,
                                  stop - 6, n, dtau_dq, dtau_dv, dtau_da);
        }
        if (body.parent >= 0) {
            g.I[body.parent] += I;
            w.B[body.parent] += B;
            w.f[body.parent] += w.f[i];
        }
    }
    for (int k = 0; k < n; ++k) {
        dtau_da[k * n + k] += T(tree.armature[k]);
        dtau_dv[k * n + k] += T(tree.damping[k]);
    }
}

// The entries above for the columns j = base ... base + 5 of a free root: S = 1 (linear first),
// Psi'_j = 0, S'_j = v x s_j and Psi''_j = -gravity x s_j, with v the root's twist.
template <class T>
DTAU_INLINE void free_root_entries(const Motion<T>& v, const Vec3<T>& gravity, const Vec3<T>& t1,
                                   const Force<T>& t2, const Force<T>& by_q, const Force<T>& by_v,
                                   int k, int base, int n, T* dtau_dq, T* dtau_dv, T* dtau_da) {
    const Vec3<T> lin = cross(t2.lin, v.ang);
    const Vec3<T> ang = cross(t2.lin, v.lin, cross(t2.ang, v.ang, t1));
    const Vec3<T> weight = cross(gravity, t2.lin);
    const T zero(0.0);
    const T row_q[6] = {zero, zero, zero, weight.x, weight.y, weight.z};
    const T row_v[6] = {lin.x, lin.y, lin.z, ang.x, ang.y, ang.z};
    const T row_a[6] = {t2.lin.x, t2.lin.y, t2.lin.z, t2.ang.x, t2.ang.y, t2.ang.z};
    const T column_q[6] = {by_q.lin.x, by_q.lin.y, by_q.lin.z, by_q.ang.x, by_q.ang.y, by_q.ang.z};
    const T column_v[6] = {by_v.lin.x, by_v.lin.y, by_v.lin.z, by_v.ang.x, by_v.ang.y, by_v.ang.z};
    for (int j = 0; j < 6; ++j) {
        dtau_dq[k * n + base + j] = row_q[j];
        dtau_dv[k * n + base + j] = row_v[j];
        dtau_da[k * n + base + j] = dtau_da[(base + j) * n + k] = row_a[j];
        dtau_dq[(base + j) * n + k] = column_q[j];
        dtau_dv[(base + j) * n + k] = column_v[j];
    }
}

template <class T>
void idsva(const Tree& tree, const T* q, const T* v, const T* a, const T* f_ext, T* dtau_dq,
           T* dtau_dv, T* dtau_da, const IdsvaWorkspace<T>& w) {
    ground_sweep(tree, q, v, w.ground);
    idsva_forward(tree, v, a, f_ext, w);
    idsva_backward(tree, dtau_dq, dtau_dv, dtau_da, w);
}

}  // namespace dtau::DTAU_VARIANT
