// Computes the first derivatives of inverse dynamics: idsva(). [IDSVA] algorithm 1, in the world's
// coordinates, O(N d).
//
//   Psi'_j = v_p x s_j        Psi''_j = a_p x s_j + v_p x Psi'_j        S'_j = v_i x s_j    (eq. 31)
//   2B_i = v_i x* I_i - I_i v_i x + (I_i v_i) xbar*        f_i = I_i a_i + v_i x* I_i v_i   (eq. 28)
//
// with I, B and f summed over the subtree of body i (composites). For column k of body i and every
// column j of a joint on its path (eqs. 30, 32):
//
//   dtau_k/dq_j = s_k . (2B Psi'_j + I Psi''_j)
//   dtau_j/dq_k = s_j . (2B Psi'_k + I Psi''_k + s_k x* f)        j's joint strictly shallower
//   dtau_k/dv_j = s_k . (2B s_j + I (Psi'_j + S'_j))
//   dtau_j/dv_k = s_j . (2B s_k + I (Psi'_k + S'_k))              j's joint strictly shallower
//   dtau_k/da_j = dtau_j/da_k = s_k . I s_j
//
// The fast form is algorithms/first/idsva.hpp.
#pragma once

#include "dtau/textbook/spatial.hpp"

namespace dtau::DTAU_VARIANT::textbook {

// Everything is in the world's coordinates; arrays of columns (nv) and of bodies (nnodes).
template <class T> struct IdsvaWorkspace {
    Configuration<T> angles;
    Placement<T>* P;
    Vector<T>*S, *Psid, *Psidd, *Sd;
    Vector<T>*v, *a, *f;
    Matrix<T>*I, *B2;
    T *slope, *curvature;   // of friction (nv)
    Stretch<T>* stretched;  // of springs of spherical joints

    IdsvaWorkspace(Arena& arena, const Tree& tree, const Options&)
        : angles(arena, tree),
          slope(friction_room<T>(arena, tree)),
          curvature(friction_room<T>(arena, tree)),
          stretched(stretch_room<T>(arena, tree)) {
        arena.take_each(tree.nnodes, P, v, a, f, I, B2);
        arena.take_each(tree.nv, S, Psid, Psidd, Sd);
    }
};

// Passes before the column loops: motions from the root to the leaves, and composites back.
template <class T>
void idsva_passes(const Tree& tree, const T* q, const T* qd, const T* qdd, const T* f_ext,
                  const IdsvaWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    friction_partials(tree, qd, w.slope, w.curvature);
    stretch_rotations(tree, q, w.stretched);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const int p = body.parent, at = body.v;
        const Placement<T> P = jcalc(body, x, w.S + at);
        w.P[i] = p < 0 ? P : Placement<T>{w.P[p].R * P.R, mul_add(w.P[p].R, P.r, w.P[p].r)};
        const Placement<T> world = {transposed(w.P[i].R), -transposed_mul(w.P[i].R, w.P[i].r)};
        const Matrix<T> from_body = motion_transform(world), to_body = motion_transform(w.P[i]);
        const Vector<T> vp = p < 0 ? Vector<T>::zero() : w.v[p];
        const Vector<T> ap = p < 0 ? minus_gravity<T>(tree) : w.a[p];
        for (int k = at; k < at + body.nv; ++k) {
            w.S[k] = from_body * w.S[k];
            w.Psid[k] = crm(vp) * w.S[k];
            w.Psidd[k] = crm(ap) * w.S[k] + crm(vp) * w.Psid[k];
        }
        const Vector<T> vJ = times(w.S + at, qd + at, body.nv);
        const Vector<T> v = w.v[i] = vp + vJ;
        for (int k = at; k < at + body.nv; ++k) w.Sd[k] = crm(v) * w.S[k];
        w.a[i] = ap + times(w.S + at, qdd + at, body.nv) + crm(vp) * vJ;
        const Matrix<T> I = w.I[i] = transposed(to_body) * rigid_body_inertia<T>(body) * to_body;
        w.B2[i] = crf(v) * I - I * crm(v) + crf_bar(I * v);
        w.f[i] = I * w.a[i] + crf(v) * (I * v) - transposed(to_body) * external_force(body, f_ext);
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const int p = tree.bodies[i].parent;
        if (p >= 0) w.I[p] += w.I[i], w.B2[p] += w.B2[i], w.f[p] += w.f[i];
    }
}

// dtau_dq, dtau_dv, dtau_da: (nv, nv)
template <class T>
void idsva(const Tree& tree, const T* q, const T* qd, const T* qdd, const T* f_ext, T* dtau_dq,
           T* dtau_dv, T* dtau_da, const IdsvaWorkspace<T>& w) {
    idsva_passes(tree, q, qd, qdd, f_ext, w);
    const int n = tree.nv;
    for (int k = 0; k < n * n; ++k) dtau_dq[k] = dtau_dv[k] = dtau_da[k] = T(0.0);
    for (int i = 0; i < tree.nnodes; ++i)
        for (int k = tree.bodies[i].v; k < tree.bodies[i].v + tree.bodies[i].nv; ++k) {
            const Vector<T> s = w.S[k];
            const Matrix<T>&B2 = w.B2[i], &I = w.I[i];
            const Vector<T> by_q = B2 * w.Psid[k] + I * w.Psidd[k] + crf(s) * w.f[i];
            const Vector<T> by_v = B2 * s + I * (w.Psid[k] + w.Sd[k]);
            for (int b = i; b >= 0; b = tree.bodies[b].parent)
                for (int j = tree.bodies[b].v; j < tree.bodies[b].v + tree.bodies[b].nv; ++j) {
                    dtau_dq[k * n + j] = dot(s, B2 * w.Psid[j] + I * w.Psidd[j]);
                    dtau_dv[k * n + j] = dot(s, B2 * w.S[j] + I * (w.Psid[j] + w.Sd[j]));
                    dtau_da[k * n + j] = dtau_da[j * n + k] = dot(s, I * w.S[j]);
                    if (b == i) continue;
                    dtau_dq[j * n + k] = dot(w.S[j], by_q);
                    dtau_dv[j * n + k] = dot(w.S[j], by_v);
                }
            dtau_da[k * n + k] = dtau_da[k * n + k] + T(tree.armature[k]);
            dtau_dv[k * n + k] = dtau_dv[k * n + k] + T(tree.damping[k]);
        }
    add_stiffness(tree, w.stretched, dtau_dq, n);
    add_friction_diagonal(tree, w.slope, dtau_dv, n);
}

}  // namespace dtau::DTAU_VARIANT::textbook
