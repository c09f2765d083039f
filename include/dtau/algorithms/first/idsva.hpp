// Computes the first-order partial derivatives of inverse dynamics by IDSVA: idsva(). O(N d).
// [IDSVA] algorithm 1, eqs. 30 and 32; without fast paths: textbook/idsva.hpp.
//
// For body i with parent p and column s_j of joint j, in the coordinates of the root frame:
//
//   forward    Psi'_j  = v_p x s_j         Psi''_j = a_p x s_j + v_p x Psi'_j        S'_j = v_i x s_j
//              2B_i = v_i x* I_i - I_i v_i x + (I_i v_i) xbar*       f_i = I_i a_i + v_i x* I_i v_i - f_ext_i
//   backward   for each column k of body i, with t1 = (2B_i)^T s_k and t2 = I_i s_k, and j on its path:
//                dtau_k/dq_j = t1 . Psi'_j + t2 . Psi''_j
//                dtau_j/dq_k = s_j . (2B_i Psi'_k + I_i Psi''_k + s_k x* f_i)
//                dtau_k/dv_j = t1 . s_j + t2 . (Psi'_j + S'_j)
//                dtau_j/dv_k = s_j . (2B_i s_k + I_i (Psi'_k + S'_k))
//                M_kj = M_jk = t2 . s_j
//              I_p = I_p + I_i        B_p = B_p + B_i        f_p = f_p + f_i         (composites)
//
// In dtau_k/dq_j and dtau_k/dv_j, j may belong to k's own joint; in dtau_j/dq_k and dtau_j/dv_k its
// joint is strictly shallower.
//
// Two things differ from the paper ([Derivations] §4). Each 6x6 operator is held in the fewest numbers:
// the body Coriolis operator in 12 (inertia.hpp), and (2B)^T s_k is a moment alone. And coordinates
// are the root frame's, not the world's (kinematics.hpp): the columns of a free root are
// unit motions there, so that its rows and columns are components, without products
// (free_root.hpp).
//
// Here is the form for groups of states in lanes. A lone state takes that of idsva_alone.hpp: the same
// passes, with packs of bodies and of columns in vectors. Symbols, and what is done for one body:
// idsva_bodies.hpp.
#pragma once

#include "dtau/algorithms/first/idsva_alone.hpp"

namespace dtau::DTAU_VARIANT {

// Writes row and column k at the six columns base ... base + 5 of the free root above k.
template <class T>
DTAU_INLINE void free_root_entries(const FreeRoot<T>& root, const Vec3<T>& t1, const Force<T>& t2,
                                   const Force<T>& by_q, const Force<T>& by_v, int k, int base,
                                   const Partials<T>& out) {
    const int n = out.n, row = k * n + base, column = base * n + k;
    store_angular(dot_Psiddot(root, t2), out.dq + row);
    store_components(dot_Sdot(root, t2, t1), out.dv + row);
    store_components(by_q, out.dq + column, n);
    store_components(by_v, out.dv + column, n);
    if (!out.da) return;
    store_components(t2, out.da + row);
    store_components(t2, out.da + column, n);
}

// Backward pass of a group of states: composites and the matrices but for diagonal terms.
template <class T>
DTAU_INLINE void idsva_backward_in_lanes(const Tree& tree, const Partials<T>& out,
                                         const IdsvaWorkspace<T>& w) {
    const RootFrame<T>& g = w.root_frame;
    const int n = out.n;
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const Inertia<T>& I = g.I[i];
        const Coriolis<T>& B = w.B[i];
        const int first = body.v, end = body.v + body.nv, stop = path_stop(tree, body);
        if (first < stop) {  // body i is the free root
            const int block = first * n + first;
            free_root_partials(I, B, free_root_above(body, g), out.dq + block, out.dv + block, n);
            if (out.da) free_root_inertia(I, out.da + block, n);
            continue;
        }
        for (int k = first; k < end; ++k) {
            const Motion<T> s = g.S[k];
            const Vec3<T> t1 = transposed_mul(B, s);  // [Derivations] eq. 4.5
            const Force<T> t2 = I * s;
            const auto row = [&](int j, const Motion<T>& sj) {
                // [IDSVA] eqs. 30, 32, left; [Derivations] eq. 4.6
                const T dq = dot(t1, w.Psidot[j].ang, dot(t2, w.Psiddot[j]));
                const T dv = dot(t1, sj.ang, dot(t2, w.Upsilondot[j])), da = dot(t2, sj);
                out.dq[k * n + j] = dq, out.dv[k * n + j] = dv;
                if (out.da) out.da[k * n + j] = da;
                return da;
            };
            for (int j = first; j < end; ++j) row(j, g.S[j]);
            if (body.parent < 0) continue;

            const Force<T> by_q = mul_add(B, w.Psidot[k], cross_star(s, w.f[i], I * w.Psiddot[k]));
            const Force<T> by_v = mul_add(B, s, I * w.Upsilondot[k]);  // [Derivations] eq. 4.7
            // All columns above i's joint, but for those of a free root.
            for (int j = tree.dofs.parent[first]; j >= stop; j = tree.dofs.parent[j]) {
                const Motion<T> sj = in_register(g.S[j]);
                const T da = row(j, sj);
                out.dq[j * n + k] = dot(sj, by_q);  // [IDSVA] eq. 30
                out.dv[j * n + k] = dot(sj, by_v);  // [IDSVA] eq. 32
                if (out.da) out.da[j * n + k] = da;
            }
            if (stop > 0)
                free_root_entries(free_root_above(body, g), t1, t2, by_q, by_v, k, stop - 6, out);
        }
        if (body.parent >= 0) add_composites(body, i, w);
    }
}

// Backward pass for composites and the three matrices, which are zero before. dq: without stiffness.
template <class T>
void idsva_backward(const Tree& tree, const Partials<T>& out, const IdsvaWorkspace<T>& w) {
    const int n = out.n;
    if constexpr (Pack<T>::width > 1)
        idsva_backward_alone(tree, out, w);
    else
        idsva_backward_in_lanes(tree, out, w);
    for (int k = 0; k < tree.nv; ++k) {
        if (out.da) out.da[k * n + k] += armature<T>(tree, k);
        out.dv[k * n + k] += damping<T>(tree, k);
    }
    add_friction_diagonal(tree, w.slope, out.dv, n);
}

// dtau_dq, dtau_dv, dtau_da: (nv, nv), zero before.
template <class T>
void idsva(const Tree& tree, const T* q, const T* v, const T* a, const T* f_ext, T* dtau_dq,
           T* dtau_dv, T* dtau_da, const IdsvaWorkspace<T>& w) {
    friction_partials(tree, v, w.slope, w.curvature);
    const Configuration<T> x = configuration(tree, q, w.root_frame.angles);
    // A lone state, whose bodies go into vectors together.
    const bool together = Pack<T>::width > 1 && !f_ext && !tree.inertias;
    if constexpr (Pack<T>::width > 1)
        if (together) idsva_forward_alone(tree, x, v, a, w);
    for (int i = 0; i < tree.nnodes && !together; ++i) {
        move_body(tree, i, x, v, w.root_frame);
        body_velocities(tree, i, v, f_ext, w);
        body_accelerations(tree, i, a, w);
    }
    stretch_rotations(tree, q, w.stretched);
    idsva_backward(tree, {dtau_dq, dtau_dv, dtau_da, tree.nv}, w);
    add_stiffness(tree, w.stretched, dtau_dq, tree.nv);
}

}  // namespace dtau::DTAU_VARIANT
