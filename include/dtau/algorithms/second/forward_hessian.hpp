// Computes the second derivatives of forward dynamics contracted with a vector, lam^T a, without a
// tensor: forward_dynamics_hessian().
//
// With mu = M^-1 lam held constant, H the blocks of hessian.hpp for mu^T tau at a = FD(q, v, tau),
// G = H_aq = mu^T dM/dq (rows a, columns q) and W = M^-1 G ([Derivations] eq. 8.6):
//
//   lam^T D_q D_q a = -H_qq + X + X^T,  X = W^T dtau/dq     as da/dq = -M^-1 dtau/dq
//   lam^T D_q D_v a = -H_qv + W^T dtau/dv                   rows q, columns v
//   lam^T D_v D_v a = -H_vv         lam^T D_tau D_q a = -W  rows tau, columns q
//
// The textbook differentiates da/dx = -M^-1 dID/dx once more and needs da/dq, da/dv and third-order
// tensors. Here neither da/dq nor da/dv is formed: one solve, and two products with matrices that have
// entries for related pairs only, O(n^2 d) for n degrees of freedom; the rest is O(N d).
#pragma once

#include "dtau/algorithms/second/world_wrenches.hpp"
#include "dtau/algorithms/solve/factorized.hpp"

namespace dtau::DTAU_VARIANT {

// Matrices (n, n) with entries for related pairs and zeros elsewhere; rows are whole packs.
template <class T> struct RelatedMatrices {
    T *dtau_dq, *dtau_dv;
    Blocks<T> H;

    RelatedMatrices(Arena& arena, int n, int stride)
        : dtau_dq(arena.take_zeros<T>(n * stride)),
          dtau_dv(arena.take_zeros<T>(n * stride)),
          H(related_blocks<T>(arena, n, stride)) {}
    // The matrices of all joints, before the mimic joints are reduced.
    RelatedMatrices of_joints(Arena& arena, const Tree& tree) const {
        const JointMatrix<T> dq(arena, tree), dv(arena, tree);
        RelatedMatrices x = *this;
        x.dtau_dq = dq.place(dtau_dq), x.dtau_dv = dv.place(dtau_dv);
        x.H = blocks_of_joints(arena, tree, H);
        return x;
    }
};

template <class T> struct ForwardHessianWorkspace {
    FactorizedWorkspace<T> dynamics;
    HessianWorkspace<T> hessian;
    RelatedMatrices<T> independent, joints;
    T *mu, *joint_mu;
    T* product;  // (n, n)
    WrenchHessianWorkspace<T> wrenches;

    ForwardHessianWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : dynamics(arena, tree, options),
          hessian(arena, tree, options),
          independent(arena, tree.independent.n, whole_packs<T>(tree.independent.n)),
          joints(independent.of_joints(arena, tree)),
          mu(arena.take<T>(tree.independent.n)),
          joint_mu(room_beside(arena, tree, mu, tree.nv)),
          product(arena.take<T>(tree.independent.n * tree.independent.n)),
          wrenches(arena, tree, options) {}
};

// A^T B for A with entries for related pairs, rows `stride` apart, and dense B (n, columns).
template <class T>
void related_transposed_product(const Paths& dofs, const T* A, int stride, const T* B, int columns,
                                T* product) {
    constexpr int width = Pack<T>::width;
    in_parts<8>(whole_packs<T>(columns) / width, [&]<int packs>(int first) {
        Pack<T> x[packs];
        const int begin = first * width;
        for (int r = 0; r < dofs.n; ++r) {
            unrolled<packs>([&](int p) { x[p] = {T(0.0)}; });
            const auto add = [&](int k) {
                const T a = A[k * stride + r];
                unrolled<packs>([&](int p) {
                    const int c = begin + p * width;
                    x[p] = fma(a, Pack<T>::load(B + k * columns + c, columns - c), x[p]);
                });
            };
            for (int k = dofs.parent[r]; k >= 0; k = dofs.parent[k]) add(k);
            for (int k = r; k < dofs.end[r]; ++k) add(k);
            unrolled<packs>([&](int p) {
                const int c = begin + p * width;
                x[p].store(product + r * columns + c, columns - c);
            });
        }
    });
}

// Computes the accelerations, in w.dynamics.a, and the factors of M. Returns the wrenches along body
// axes.
// q, v: of the joints; all else: of the independent velocities.
template <class T>
const T* forward_hessian_value(const Tree& tree, const T* q, const T* v, const T* tau,
                               const T* f_ext, const ForwardHessianWorkspace<T>& w) {
    const T* body_f_ext = along_body_axes(tree, q, f_ext, w.wrenches.first.value);
    factorized_dynamics(tree, q, v, tau, body_f_ext, w.dynamics);
    return body_f_ext;
}

// After that: lam^T of d2a_dqdq, d2a_dqdv, d2a_dvdv: (nv, nv); d2a_dtaudq in the place of dadq.
template <class T>
void forward_hessian_blocks(const Tree& tree, const T* lam, const T* body_f_ext,
                            const Blocks<T>& out, bool symmetric,
                            const ForwardHessianWorkspace<T>& w) {
    const Paths& dofs = tree.independent;
    const int n = dofs.n;
    const IdsvaWorkspace<T>& idsva = w.dynamics.idsva;
    const RelatedMatrices<T>&joints = w.joints, &m = w.independent;
    for (int k = 0; k < n; ++k) w.mu[k] = lam[k];
    ltdl_solve_vector(dofs, w.mu, w.dynamics.ltdl);
    expand_v(tree, w.mu, w.joint_mu);

    idsva_accelerations(tree, w.dynamics.a, idsva);
    hessian_forward(tree, w.joint_mu, idsva, w.hessian);
    T* const no_matrix = nullptr;
    idsva_backward(tree, {joints.dtau_dq, joints.dtau_dv, no_matrix, joints.H.n}, idsva);
    add_stiffness(tree, idsva.stretched, joints.dtau_dq, joints.H.n);
    hessian_backward(tree, joints.H, idsva, w.hessian);
    add_rotation_hessian(tree, idsva.stretched, w.joint_mu, joints.H.dqdq, joints.H.n);
    add_world_wrench_partials(tree, body_f_ext, idsva.root_frame, joints.dtau_dq, joints.H.n,
                              w.wrenches.first);
    add_world_wrench_hessian(tree, body_f_ext, idsva.root_frame, w.hessian, joints.H.dqdq,
                             joints.H.n, w.wrenches);
    const auto reduce = [&](const T* X, T* reduced) { reduce_matrix(tree, X, reduced, m.H.n); };
    reduce(joints.dtau_dq, m.dtau_dq), reduce(joints.dtau_dv, m.dtau_dv);
    reduce_blocks(tree, joints.H, m.H);

    ltdl_solve<1>(dofs, T(-1.0), m.H.dadq, m.H.n, {{out.dadq, n}}, w.dynamics.ltdl);  // -W
    const T* Y = w.product;                                                           // -X^T
    related_transposed_product(dofs, m.dtau_dv, m.H.n, out.dadq, n, w.product);
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j) {
            out.dqdv[k * n + j] = -m.H.dqdv[k * m.H.n + j] - Y[j * n + k];  // [Derivations] eq. 8.6
            out.dvdv[k * n + j] = T(0.0) - m.H.dvdv[k * m.H.n + j];
        }
    related_transposed_product(dofs, m.dtau_dq, m.H.n, out.dadq, n, w.product);
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
            // [Derivations] eq. 8.6
            out.dqdq[k * n + j] = -m.H.dqdq[k * m.H.n + j] - (Y[k * n + j] + Y[j * n + k]);
    if (symmetric) symmetrize(out.dqdq, n, n);
}

template <class T>
void forward_dynamics_hessian(const Tree& tree, const T* q, const T* v, const T* tau, const T* lam,
                              const T* f_ext, const Blocks<T>& out, bool symmetric,
                              const ForwardHessianWorkspace<T>& w) {
    const T* body_f_ext = forward_hessian_value(tree, q, v, tau, f_ext, w);
    forward_hessian_blocks(tree, lam, body_f_ext, out, symmetric, w);
}

// After the blocks: the gradients by q, v and tau of other weights lam of the acceleration.
template <class T>
void forward_hessian_gradient(const Tree& tree, const T* lam, T* by_q, T* by_v, T* by_tau,
                              const ForwardHessianWorkspace<T>& w) {
    const Paths& dofs = tree.independent;
    const RelatedMatrices<T>& m = w.independent;
    for (int k = 0; k < dofs.n; ++k) by_tau[k] = lam[k];
    ltdl_solve_vector(dofs, by_tau, w.dynamics.ltdl);
    for (int k = 0; k < dofs.n; ++k) w.mu[k] = -by_tau[k];  // [Derivations] eq. 6.7
    related_transposed_product(dofs, m.dtau_dq, m.H.n, w.mu, 1, by_q);
    related_transposed_product(dofs, m.dtau_dv, m.H.n, w.mu, 1, by_v);
}

}  // namespace dtau::DTAU_VARIANT
