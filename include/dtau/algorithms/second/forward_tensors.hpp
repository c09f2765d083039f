// Computes the second-order partial derivatives of forward dynamics as full tensors:
// forward_second_derivatives(). O(n^2 P) for n degrees of freedom and P related pairs of them.
//
// Row r of a tensor is the Hessian of a_r: forward_hessian.hpp with mu = row r of M^-1. All rows share
// the first derivatives and the data that hessian.hpp reads, which are computed once. H are the blocks
// of hessian.hpp for mu^T tau, and G = H_aq; both have entries for related pairs only
// ([Derivations] eq. 9.1):
//
//   D_q D_q a_r = -(H_qq + Y + Y^T),  Y = G^T da/dq        D_q D_v a_r = -(H_qv + G^T da/dv)
//   D_v D_v a_r = -H_vv               D_tau D_q a_r = -(G^T M^-1)^T      rows tau, columns q
//
// The textbook multiplies the dense tensors of inverse dynamics by M^-1, O(n^4). Here they are never
// formed, and one state at a time is computed: lanes hold neighboring rows r, and the data that the
// rows share are copied to every lane.
#pragma once

#include "dtau/algorithms/first/fdsva.hpp"
#include "dtau/algorithms/second/path_columns.hpp"
#include "dtau/algorithms/second/world_wrenches.hpp"

namespace dtau::DTAU_VARIANT {

// The data that hessian.hpp reads, copied to every lane.
template <class T> struct SharedByRows {
    IdsvaWorkspace<Wide<T>> own, composite;  // they differ in the inertias and Coriolis operators

    SharedByRows(Arena& arena, const Tree& tree, const Options& options)
        : own(arena, tree, options), composite(own) {
        composite.root_frame.I = arena.take<Inertia<Wide<T>>>(tree.nnodes);
        composite.B = arena.take<Coriolis<Wide<T>>>(tree.nnodes);
    }
    // Call it before the inertias and operators of idsva become composites.
    void take_own(const Tree& tree, const IdsvaWorkspace<T>& idsva) const {
        const RootFrame<T>& g = idsva.root_frame;
        const RootFrame<Wide<T>>& to = own.root_frame;
        for (int i = 0; i < tree.nnodes; ++i) {
            own.B[i] = spread(idsva.B[i]);
            to.I[i] = spread(g.I[i]), to.P[i] = spread(g.P[i]);
            if (tree.bodies[i].parent < 0)
                to.v[i] = spread(g.v[i]), to.gravity[i] = spread(g.gravity[i]);
        }
        for (int k = 0; k < tree.nv; ++k) {
            to.S[k] = spread(g.S[k]);
            own.Psidot[k] = spread(idsva.Psidot[k]), own.Psiddot[k] = spread(idsva.Psiddot[k]);
            own.Upsilondot[k] = spread(idsva.Upsilondot[k]);
        }
        for (int k = tree.friction.first; k < tree.friction.end; ++k)
            own.curvature[k] = Wide<T>(idsva.curvature[k]);
        for (int s = 0; s < tree.nrotation_springs; ++s) {
            const Stretch<T>& x = idsva.stretched[s];
            own.stretched[s] = {spread(x.phi), Wide<T>(x.e), Wide<T>(x.de), Wide<T>(x.K)};
        }
    }
    void take_composites(const Tree& tree, const IdsvaWorkspace<T>& idsva) const {
        for (int i = 0; i < tree.nnodes; ++i) {
            composite.root_frame.I[i] = spread(idsva.root_frame.I[i]);
            composite.B[i] = spread(idsva.B[i]), composite.f[i] = spread(idsva.f[i]);
        }
    }
};

// Products of G^T with the first derivatives, a few columns of these at a time.
template <class T> struct RowProducts {
    using Row = Wide<T>;
    // Rows of G^T and packs of the first derivatives: as many as registers hold.
    static constexpr int rows = 3;
    static constexpr int columns = Pack<T>::width == 8 ? 8 : 4;

    int n, stride;
    T* first;           // (n, stride): da/dq, da/dv and M^-1 side by side, then zeros
    Row *qq, *qv, *aq;  // the tensors; aq has room for some rows more
    int* related;

    RowProducts(Arena& arena, int n_)
        : n(n_),
          stride((3 * n + columns - 1) / columns * columns),
          first(arena.take_zeros<T>(n * stride)),
          qq(arena.take<Row>(n * n)),
          qv(arena.take<Row>(n * n)),
          aq(arena.take<Row>((n + columns) * n)),
          related(arena.take<int>(n)) {}

    // Multiplies the rows j, j + 1, ... of G^T, whose entries are in the columns `related`.
    template <int count> void block(const Blocks<Row>& H, int j, int nrelated) const {
        for (int c = 0; c < stride; c += columns) {
            Row sum[count][columns];
            unrolled<count>(
                [&](int r) { unrolled<columns>([&](int k) { sum[r][k] = Row(0.0); }); });
            for (int e = 0; e < nrelated; ++e) {
                const Row* G = H.dadq + related[e] * n + j;
                const T* x = first + related[e] * stride + c;
                unrolled<columns>([&](int k) {
                    const Row x_k(x[k]);
                    unrolled<count>([&](int r) { sum[r][k] = fma(x_k, G[r], sum[r][k]); });
                });
            }
            unrolled<columns>([&](int k) __attribute__((always_inline)) {
                const int at = c + k;
                unrolled<count>([&](int r) __attribute__((always_inline)) {
                    const int row = (j + r) * n;
                    if (at < n)
                        qq[row + at] = sum[r][k];
                    else if (at < 2 * n)
                        qv[row + at - n] = H.dqdv[row + at - n] + sum[r][k];
                    else
                        aq[(at - 2 * n) * n + j + r] = sum[r][k];
                });
            });
        }
    }
    // Computes the tensors, but of qq only Y.
    void multiply(const Paths& dofs, const Blocks<Row>& H) const {
        for (int j = 0, count; j < n; j += count) {
            const int end = dofs.end[j];
            const auto follows = [&](int k) {  // no branch between: related to the same columns
                return k < end && dofs.parent[k] == k - 1 && dofs.end[k] == end;
            };
            count = !follows(j + 1) ? 1 : !follows(j + 2) ? 2 : rows;
            int nrelated = 0;
            for (int k = dofs.parent[j]; k >= 0; k = dofs.parent[k]) related[nrelated++] = k;
            for (int k = j; k < end; ++k) related[nrelated++] = k;
            if (count == 1) block<1>(H, j, nrelated);
            if (count == 2) block<2>(H, j, nrelated);
            if (count == 3) block<3>(H, j, nrelated);
        }
    }
    // Replaces Y by H_qq + Y + Y^T.
    void add_transpose(const Blocks<Row>& H) const {
        for (int j = 0; j < n; ++j)
            for (int k = 0; k <= j; ++k) {
                const int x = j * n + k, y = k * n + j;
                const Row sum = qq[x] + qq[y];
                qq[x] = H.dqdq[x] + sum, qq[y] = H.dqdq[y] + sum;
            }
    }
};

template <class T> struct ForwardSecondWorkspace {
    using Row = Wide<T>;
    FdsvaWorkspace<T> fdsva;
    SharedByRows<T> shared;
    T* da_dtau;
    RowProducts<T> products;
    HessianWorkspace<Row> hessian;
    Blocks<Row> independent, joints;
    Row *mu, *joint_mu;
    WrenchHessianWorkspace<Row> wrenches;

    ForwardSecondWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : fdsva(arena, tree, options),
          shared(arena, tree, options),
          da_dtau(arena.take<T>(tree.independent.n * tree.independent.n)),
          products(arena, tree.independent.n),
          hessian(arena, tree, options),
          independent(related_blocks<Row>(arena, tree.independent.n, tree.independent.n)),
          joints(blocks_of_joints(arena, tree, independent)),
          mu(arena.take<Row>(tree.independent.n)),
          joint_mu(room_beside(arena, tree, mu, tree.nv)),
          wrenches(arena, tree, options) {}
};

// Computes the blocks of hessian.hpp for the rows of -M^-1 from `begin` on, one in each lane.
template <class T>
inline void hessians_of_rows(const Tree& tree, int begin, const Wide<T>* f_ext,
                             const ForwardSecondWorkspace<T>& w) {
    const int n = tree.independent.n;
    for (int k = 0; k < n; ++k)
        w.mu[k] = -Pack<T>::load(w.da_dtau + k * n + begin, n - begin).value;
    expand_v(tree, w.mu, w.joint_mu);
    hessian_forward(tree, w.joint_mu, w.shared.own, w.hessian);
    hessian_backward(tree, w.joints, w.shared.composite, w.hessian);
    add_rotation_hessian(tree, w.shared.own.stretched, w.joint_mu, w.joints.dqdq, w.joints.n);
    add_world_wrench_hessian(tree, f_ext, w.shared.own.root_frame, w.hessian, w.joints.dqdq,
                             w.joints.n, w.wrenches);
    reduce_blocks(tree, w.joints, w.independent);
}

// Computes the tensors (n, n, n), a few outputs at a time: send(begin, x) receives the matrices (n, n)
// of the outputs from `begin` on, one output in each lane, with d2a_dtaudq in x.dadq. q, v: of the
// joints; tau: of the independent velocities.
template <class T, class Send>
void forward_second_derivatives(const Tree& tree, const T* q, const T* v, const T* tau,
                                const T* f_ext, bool symmetric, const ForwardSecondWorkspace<T>& w,
                                const Send& send) {
    using Row = Wide<T>;
    const int n = tree.independent.n;
    const IdsvaWorkspace<T>& idsva = w.fdsva.dynamics.idsva;
    const RowProducts<T>& p = w.products;
    const T* body_f_ext = fdsva_sweeps(tree, q, v, tau, f_ext, w.fdsva);
    w.shared.take_own(tree, idsva);
    fdsva_matrices(tree, body_f_ext, p.first, p.first + n, p.stride, w.da_dtau, w.fdsva);
    w.shared.take_composites(tree, idsva);
    for (int l = 0; l < n; ++l)
        for (int t = 0; t < n; ++t) p.first[l * p.stride + 2 * n + t] = w.da_dtau[l * n + t];
    Row* wrenches = nullptr;
    if (w.fdsva.wrenches.value.hold(body_f_ext)) {
        wrenches = w.wrenches.first.value.f_ext;
        for (int k = 0; k < 6 * tree.nbodies; ++k) wrenches[k] = Row(body_f_ext[k]);
    }

    const Blocks<Row>& minus_H = w.independent;
    for (int begin = 0; begin < n; begin += Pack<T>::width) {  // [Derivations] eq. 9.1
        hessians_of_rows<T>(tree, begin, wrenches, w);
        if (symmetric) symmetrize(minus_H.dqdq, n, n);
        p.multiply(tree.independent, minus_H);
        p.add_transpose(minus_H);
        send(begin, Tensors<const Row*>{p.qq, p.qv, minus_H.dvdv, p.aq});
    }
}

}  // namespace dtau::DTAU_VARIANT
