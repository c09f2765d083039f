// Computes the second derivatives of inverse dynamics contracted with a vector, L = lam^T tau, in
// all blocks, without a tensor: hessian_forward(), hessian_backward(). O(N d), in root-frame
// coordinates.
//
// The textbook forms the tensors of [IDSVA-SO] and contracts them, O(N d^2). Here the sum over the
// outputs comes first: it turns the output's column into the twist Lam that the bodies would have if
// lam were the joint rates. What is left are pairs of columns, as of first derivatives. Symbols, beside
// idsva.hpp's:
//   Lam[i]   twist of body i if lam were the joint rates    Phi[j]   Lam_p x s_j
//   P, Z     I Lam and (2B)^T Lam of the subtree; Z is a moment
//   D        of the subtree: D u = (2B[u])^T Lam for the Coriolis operator of the twist u
//
// For column k, with the composites of its body ([Derivations] eqs. 8.2 to 8.4):
//   alpha = s_k x* f + I Psi''_k + 2B Psi'_k        gamma = I Phi_k + s_k x* P
//   zeta  = (2B)^T Phi_k + D Psi'_k + s_k x* Z      eta   = D s_k
//
// and j on its path, where D_x D_y L is the derivative along x of the derivative by y:
//   D_qj D_qk L = alpha . Phi_j + zeta . Psi'_j + gamma . Psi''_j      (symmetric across joints)
//   D_qj D_vk L = (2B s_k + I (Psi'_k + S'_k)) . Phi_j + eta . Psi'_j
//   D_qj D_ak L = I s_k . Phi_j
//   D_vj D_vk L = eta . s_j                         less (s_k x* P) . s_j inside one joint,
//                                              and lam_k times friction's curvature for j = k
// and for j of a strictly shallower joint
//   D_qk D_vj L = zeta . s_j + gamma . (Psi'_j + S'_j)      D_qk D_aj L = gamma . s_j
#pragma once

#include "dtau/algorithms/first/idsva.hpp"
#include "dtau/mimic.hpp"

namespace dtau::DTAU_VARIANT {

// Quantities beside the workspace of idsva, which must be filled first.
template <class T> struct HessianWorkspace {
    Motion<T>*Lam, *Phi;
    Force<T>* P;
    Vec3<T>* Z;
    CoriolisDual<T>* D;
    T* friction;  // lam times friction's curvature; null if there is none

    HessianWorkspace(Arena& arena, const Tree& tree, const Options&)
        : Phi(arena.take<Motion<T>>(tree.nv)), friction(friction_room<T>(arena, tree)) {
        arena.take_each(tree.nnodes, Lam, P, Z, D);
    }
};

// The blocks (nv, nv): rows by the first variable of the name, columns by the second; rows are n apart.
template <class T> struct Blocks {
    T *dqdq, *dqdv, *dvdv, *dadq;
    int n;
};

// Room for blocks of n independent velocities, zero for unrelated pairs. With mimic joints,
// blocks_of_joints gives room for the blocks of all joints, and reduce_blocks maps one to the other.
template <class T> Blocks<T> related_blocks(Arena& arena, int n, int stride) {
    const auto block = [&] { return arena.take_zeros<T>(n * stride); };
    T *dqdq = block(), *dqdv = block(), *dvdv = block(), *dadq = block();
    return {dqdq, dqdv, dvdv, dadq, stride};
}
template <class T>
Blocks<T> blocks_of_joints(Arena& arena, const Tree& tree, const Blocks<T>& reduced) {
    const JointMatrix<T> qq(arena, tree), qv(arena, tree), vv(arena, tree), aq(arena, tree);
    return {qq.place(reduced.dqdq), qv.place(reduced.dqdv), vv.place(reduced.dvdv),
            aq.place(reduced.dadq), qq.stride(reduced.n)};
}
template <class T> void clear_blocks(const Blocks<T>& blocks, int n) {
    for (T* block : {blocks.dqdq, blocks.dqdv, blocks.dvdv, blocks.dadq})
        for (int k = 0; k < n * blocks.n; ++k) block[k] = T(0.0);
}
template <class T>
void reduce_blocks(const Tree& tree, const Blocks<T>& joints, const Blocks<T>& reduced) {
    reduce_matrix(tree, joints.dqdq, reduced.dqdq, reduced.n);
    reduce_matrix(tree, joints.dqdv, reduced.dqdv, reduced.n);
    reduce_matrix(tree, joints.dvdv, reduced.dvdv, reduced.n);
    reduce_matrix(tree, joints.dadq, reduced.dadq, reduced.n);
}

// Forward pass for lam (nv), after the forward passes of idsva.
template <class T>
void hessian_forward(const Tree& tree, const T* lam, const IdsvaWorkspace<T>& idsva,
                     const HessianWorkspace<T>& w) {
    const RootFrame<T>& g = idsva.root_frame;
    free_root_accelerations(tree, idsva.root_frame, idsva.Psiddot);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const Motion<T> Lam_p = body.parent < 0 ? zero_motion<T>() : w.Lam[body.parent];
        for (int k = body.v; k < body.v + body.nv; ++k)
            // [Derivations] §6
            w.Phi[k] = body.parent < 0 ? zero_motion<T>() : cross(Lam_p, g.S[k]);
        const Motion<T> Lam = subspace_times(body, g.S, lam, Lam_p);
        w.Lam[i] = Lam;
        w.P[i] = g.I[i] * Lam;
        w.Z[i] = transposed_mul(idsva.B[i], Lam);
        w.D[i] = coriolis_dual(g.I[i], Lam, w.P[i]);
    }
    for (int k = tree.friction.first; k < tree.friction.end; ++k)
        w.friction[k] = lam[k] * idsva.curvature[k];
}

// Writes the entries of column k and the six columns base ... base + 5 of the free root above it,
// for which Phi = 0. [Derivations] eq. 8.5
template <class T>
inline void free_root_blocks(const FreeRoot<T>& root, const Vec3<T>& zeta, const Force<T>& gamma,
                             const Vec3<T>& eta, int k, int base, const Blocks<T>& out) {
    const int n = out.n, row = k * n + base, column = base * n + k;
    const Vec3<T> qq = dot_Psiddot(root, gamma);
    store_angular(qq, out.dqdq + row), store_angular(qq, out.dqdq + column, n);
    store_components(dot_Sdot(root, gamma, zeta), out.dqdv + row);
    store_angular(eta, out.dvdv + row), store_angular(eta, out.dvdv + column, n);
    store_components(gamma, out.dadq + column, n);
}

// Backward pass for the blocks, which are zero before. The inertias, Coriolis operators and forces of
// idsva must be composites (idsva_composites).
template <class T>
void hessian_backward(const Tree& tree, const Blocks<T>& out, const IdsvaWorkspace<T>& idsva,
                      const HessianWorkspace<T>& w) {
    const RootFrame<T>& g = idsva.root_frame;
    const int n = out.n;
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const Inertia<T>& I = g.I[i];
        const Coriolis<T>& B = idsva.B[i];
        const CoriolisDual<T>& D = w.D[i];
        const Force<T>& P = w.P[i];
        const int first = body.v, end = body.v + body.nv, stop = path_stop(tree, body);
        for (int k = first; k < end; ++k) {
            const Motion<T> s = g.S[k], Phi = w.Phi[k], Psidot = idsva.Psidot[k];
            const Force<T> t2 = I * s;
            const Force<T> alpha =
                mul_add(B, Psidot, cross_star(s, idsva.f[i], I * idsva.Psiddot[k]));
            // [Derivations] eq. 4.7
            const Force<T> by_v = mul_add(B, s, I * idsva.Upsilondot[k]);
            // [Derivations] eq. 8.2
            const Force<T> P_rate = cross_star(s, P), gamma = P_rate + I * Phi;
            const Vec3<T> zeta = cross(s.ang, w.Z[i], mul_add(D, Psidot, transposed_mul(B, Phi)));
            const Vec3<T> eta = D * s;
            const auto by_q = [&](int j) {  // [Derivations] eq. 8.3
                return dot(alpha, w.Phi[j],
                           dot(zeta, idsva.Psidot[j].ang, dot(gamma, idsva.Psiddot[j])));
            };
            const auto shared = [&](int j) {  // the same inside a joint and across joints
                out.dqdv[j * n + k] = dot(by_v, w.Phi[j], dot(eta, idsva.Psidot[j].ang));
                out.dadq[k * n + j] = dot(t2, w.Phi[j]);
            };
            for (int j = first; j < end; ++j) {
                out.dqdq[k * n + j] = by_q(j);
                out.dvdv[k * n + j] = dot(eta, g.S[j].ang) - dot(P_rate, g.S[j]);
                shared(j);
            }
            if (body.parent < 0) continue;

            for (int j = tree.dofs.parent[first]; j >= stop; j = tree.dofs.parent[j]) {
                out.dqdq[k * n + j] = out.dqdq[j * n + k] = by_q(j);
                out.dvdv[k * n + j] = out.dvdv[j * n + k] = dot(eta, g.S[j].ang);
                // [Derivations] eq. 8.4
                out.dqdv[k * n + j] = dot(zeta, g.S[j].ang, dot(gamma, idsva.Upsilondot[j]));
                out.dadq[j * n + k] = dot(gamma, g.S[j]);  // [Derivations] eq. 8.4
                shared(j);
            }
            if (stop > 0)
                free_root_blocks(free_root_above(body, g), zeta, gamma, eta, k, stop - 6, out);
        }
        if (body.parent >= 0) {
            const int p = body.parent;
            w.P[p] += P, w.Z[p] += w.Z[i], w.D[p] += D;
        }
    }
    add_friction_diagonal(tree, w.friction, out.dvdv, n);
}

}  // namespace dtau::DTAU_VARIANT
