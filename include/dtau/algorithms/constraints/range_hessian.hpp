// Adds the derivatives of the pseudo-inverse to the second derivatives of constrained dynamics, for
// constraint rows that depend on each other: range_weights(), range_dual(), range_products(). Such
// rows need a regularization. [Derivations] eqs. 23.15 to 23.18
//
// r and z of (20.10) solve two more equations, J^T r = 0 and f = J z, whose weights are
//
//   kappa = M^-1 J^T G^+ (-nu),   rho = N lam_f        r . J kappa - rho . J z   joins y^T F
//
// H_qq gets the second derivatives of this term by q. With P = D_q (J kappa), Q = D_q (J z), and
// e = G^+ J M^-1 D_q (J^T r) of (20.10), its mixed derivatives lead to
//
//   G_f <- G_f' = G_f - G^+ J M^-1 D_q (J^T rho),   U <- U + N P
//   X_q += (N G_f' - (G_f' - G_f))^T Q - P^T e                                            (23.18)
#pragma once

#include "dtau/algorithms/constraints/force_curvature.hpp"
#include "dtau/algorithms/constraints/pseudo_inverse.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct RangeHessianWorkspace {
    RangeWorkspace<T> residual, kappa, z;
    T *rho, *minus_nu;         // (nrows)
    T *P, *Q, *minus_e, *G_f;  // (nrows, padded)
    bool any;

    RangeHessianWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : residual(arena, tree, options),
          kappa(arena, tree, options),
          z(arena, tree, options),
          any(options.regularization > 0.0) {
        const int nrows = options.contacts->nrows;
        arena.take_each(nrows, rho, minus_nu);
        arena.take_each(any ? nrows * whole_packs<T>(tree.independent.n) : 0, P, Q, minus_e, G_f);
    }
};

// Rows by q from columns of constraints, side by side.
template <class T> void copy_rows(const ConstraintColumns<T>& from, int nrows, T* to) {
    for (int r = 0; r < nrows; ++r)
        for (int k = 0; k < from.padded; ++k)
            to[r * from.padded + k] = from.rows[r * from.width + k];
}

// X <- N X, for nrows rows.
template <class T> void project_rows(T* X, int padded, const SchurComplement<T>& schur) {
    constexpr int width = Pack<T>::width;
    const int nrows = schur.constraints->nrows;
    in_parts<ConstraintCorrection<T>::most_packs>(padded / width, [&]<int packs>(int p) {
        const auto at = [&](int r, int k) { return X + r * padded + (p + k) * width; };
        for (int r = 0; r < nrows; ++r)
            for (int k = 0; k < packs; ++k) schur.block[r * packs + k] = Pack<T>::load(at(r, k));
        project_unreachable<packs>(schur.block, schur);
        for (int r = 0; r < nrows; ++r)
            for (int k = 0; k < packs; ++k) schur.block[r * packs + k].store(at(r, k));
    });
}

// product (n, n) += rows^T X, for rows that velocities of the list `dofs` move.
template <class T>
void add_transposed_product(const int* dofs, int ndofs, const T* rows, int stride, int count,
                            const T* X, int X_stride, int n, T* product) {
    constexpr int width = Pack<T>::width;
    in_parts<8>(whole_packs<T>(n) / width, [&]<int packs>(int first) {
        for (int d = 0; d < ndofs; ++d) {
            const int k = dofs ? dofs[d] : d;
            Pack<T> x[packs];
            const auto at = [&](int p) { return (first + p) * width; };
            unrolled<packs>(
                [&](int p) { x[p] = Pack<T>::load(product + k * n + at(p), n - at(p)); });
            for (int r = 0; r < count; ++r) {
                const T by = rows[r * stride + k];
                unrolled<packs>([&](int p) {
                    x[p] = fma(by, Pack<T>::load(X + r * X_stride + at(p), n - at(p)), x[p]);
                });
            }
            unrolled<packs>([&](int p) { x[p].store(product + k * n + at(p), n - at(p)); });
        }
    });
}

// Computes -e from the rows c before residual_columns, in w.minus_e, and after it.
template <class T>
void range_change(const ConstraintColumns<T>& columns, int nrows,
                  const RangeHessianWorkspace<T>& w) {
    for (int r = 0; r < nrows; ++r)
        for (int k = 0; k < columns.padded; ++k) {
            T& minus_e = w.minus_e[r * columns.padded + k];
            minus_e = minus_e - columns.rows[r * columns.width + k];
        }
}

// Inputs of one state: the frames, the factors, the forces, and the weights nu.
template <class T> struct RangeState {
    const Tree& tree;
    const ConstraintFrames<T>* frames;
    const Placement<T>* world;
    const T *active, *forces, *residual, *nu;
    const IdsvaWorkspace<T>& idsva;
    const LtdlWorkspace<T>& ltdl;
    const SchurComplement<T>& schur;
    const ForceCurvatureWorkspace<T>& curvature;
};

// Computes P and Q, and adds to H_qq. In: rho.
template <class T>
void range_weights(const RangeState<T>& x, const ConstraintColumns<T>& columns,
                   const Blocks<T>& out, const RangeHessianWorkspace<T>& w) {
    const Constraints& constraints = *x.schur.constraints;
    const RootFrame<T>& g = x.idsva.root_frame;
    for (int r = 0; r < constraints.nrows; ++r) w.minus_nu[r] = -x.nu[r];
    ConstraintColumns<T> to = columns;
    const auto velocities = [&](const T* rows, const RangeWorkspace<T>& range, T* by_q) {
        const RootFrame<T> moved = range_velocities(x.tree, rows, g, x.ltdl, x.schur, range);
        to.ranges = by_q;
        range_columns(x.tree, constraints, x.frames, x.active, moved, to);
        return moved;
    };
    const RootFrame<T> kappa = velocities(w.minus_nu, w.kappa, w.P);
    const RootFrame<T> z = velocities(x.forces, w.z, w.Q);
    add_force_curvature(x.tree, constraints, x.frames, x.world, x.residual, g, x.idsva.a, kappa,
                        false, out, x.curvature);
    add_force_curvature(x.tree, constraints, x.frames, x.world, w.rho, g, x.idsva.a, z, false, out,
                        x.curvature);
}

// Replaces G_f by G_f'.
template <class T>
void range_dual(const RangeState<T>& x, const ConstraintColumns<T>& dual,
                const RangeHessianWorkspace<T>& w) {
    const int nrows = x.schur.constraints->nrows;
    copy_rows(dual, nrows, w.G_f);
    residual_columns(x.tree, x.frames, w.rho, x.idsva.root_frame, x.ltdl, x.schur, w.residual,
                     dual);
    for (int k = 0; k < nrows * dual.padded; ++k) dual.ranges[k] = T(0.0);
}

// Runs after the solve for U (nrows, n): adds N P to U, and the products to X_q (n, n), of which
// only the symmetric part matters.
template <class T>
void range_products(const RangeState<T>& x, const ConstraintColumns<T>& dual, T* U, T* X,
                    const RangeHessianWorkspace<T>& w) {
    const int n = x.tree.independent.n, nrows = x.schur.constraints->nrows, stride = dual.padded;
    add_transposed_product<T>(nullptr, n, w.P, stride, nrows, w.minus_e, stride, n, X);
    for (int k = 0; k < nrows * stride; ++k) w.G_f[k] = w.G_f[k] - dual.rows[k];
    project_rows(dual.rows, stride, x.schur);
    for (int k = 0; k < nrows * stride; ++k) w.G_f[k] = w.G_f[k] + dual.rows[k];
    add_transposed_product<T>(nullptr, n, w.G_f, stride, nrows, w.Q, stride, n, X);
    project_rows(w.P, stride, x.schur);
    for (int r = 0; r < nrows; ++r)
        for (int k = 0; k < n; ++k) U[r * n + k] = U[r * n + k] + w.P[r * stride + k];
}

}  // namespace dtau::DTAU_VARIANT
