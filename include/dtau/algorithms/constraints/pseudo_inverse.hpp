// Differentiates the forces f = G^+ b through J if rows depend on each other, which only a
// regularization allows: residual_columns(), range_velocities(). The formula is the full derivative of
// the pseudo-inverse [Golub-Pereyra], with the part r = b - G f that no force gives:
//
//   df = G^+ (db - dG f) + G^+ G^+ dG r + N dG G^+ f                                   (20.10)
//      = G^+ (db - dG f + G^+ J M^-1 dJ^T r) + N dJ z,      z = M^-1 J^T G^+ f
//
// N projects on the accelerations that no force gives (forces.hpp). This file computes the velocities
// that the two terms after dG f need, and the first of these terms for all columns by q.
#pragma once

#include "dtau/algorithms/constraints/correction.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct RangeWorkspace {
    T *h, *x, *z;  // (nrows); velocities: independent ones, of the joints
    Motion<T>* twists;

    RangeWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : h(arena.take<T>(options.contacts->nrows)),
          x(arena.take<T>(tree.independent.n)),
          z(arena.take<T>(tree.nv)),
          twists(arena.take<Motion<T>>(tree.nnodes)) {}
};

// root_frame with the twists of the bodies at the velocities M^-1 J^T h; h is in w.h.
template <class T>
RootFrame<T> response_velocities(const Tree& tree, const RootFrame<T>& root_frame,
                                 const LtdlWorkspace<T>& ltdl, const SchurComplement<T>& schur,
                                 const RangeWorkspace<T>& w) {
    for (int k = 0; k < tree.independent.n; ++k) w.x[k] = T(0.0);
    add_constraint_forces(w.h, w.x, schur);
    ltdl_solve_outwards(tree.independent, w.x, ltdl);
    joint_velocities(tree, w.x, w.z);
    RootFrame<T> g = root_frame;
    g.v = w.twists;
    for (int i = 0; i < tree.nnodes; ++i) twist_body(tree, i, w.z, g);
    return g;
}
// The same for z = M^-1 J^T G^+ f.
template <class T>
RootFrame<T> range_velocities(const Tree& tree, const T* forces, const RootFrame<T>& root_frame,
                              const LtdlWorkspace<T>& ltdl, const SchurComplement<T>& schur,
                              const RangeWorkspace<T>& w) {
    for (int r = 0; r < schur.constraints->nrows; ++r) w.h[r] = forces[r];
    solve_forces<1>(w.h, schur.more, schur.rest, schur);
    return response_velocities(tree, root_frame, ltdl, schur, w);
}

// by_q += the derivative of rows . J y at constant y; g.v are the bodies' twists at y.
template <class T>
void add_row_gradient(const Tree& tree, const Constraints& constraints,
                      const ConstraintFrames<T>* frames, const T* rows, const RootFrame<T>& g,
                      T* by_q) {
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        const Force<T> weight = constraint_wrench(constraint, frames[c].E, rows + constraint.first);
        for_velocity_partials(tree, constraint, frames[c], g,
                              [&](int k, const Motion<T>&, const Motion<T>& dq, const Vec3<T>&) {
                                  by_q[k] = dot(weight, dq, by_q[k]);
                              });
    }
}

// Adds G^+ J M^-1 dJ^T r to the right-hand sides of the rows by q; residual = -r. Row i of J M^-1 dJ^T r
// is the derivative of r . J w_i, where w_i is row i of J M^-1. [Derivations] eq. 20.10
template <class T>
void residual_columns(const Tree& tree, const ConstraintFrames<T>* frames, const T* residual,
                      const RootFrame<T>& root_frame, const LtdlWorkspace<T>& ltdl,
                      const SchurComplement<T>& schur, const RangeWorkspace<T>& range,
                      const ConstraintColumns<T>& w) {
    constexpr int width = Pack<T>::width;
    const Constraints& constraints = *schur.constraints;
    for (int i = 0; i < constraints.nrows; ++i) {
        T* const row = w.ranges + i * w.padded;
        for (int k = 0; k < w.padded; ++k) row[k] = T(0.0);
        for (int r = 0; r < constraints.nrows; ++r) range.h[r] = T(r == i ? 1.0 : 0.0);
        const RootFrame<T> g = response_velocities(tree, root_frame, ltdl, schur, range);
        for (int k = 0; k < tree.nv; ++k) range.z[k] = T(0.0);
        add_row_gradient(tree, constraints, frames, residual, g, range.z);
        for (int k = 0; k < tree.nv; ++k)
            add_share(tree, k, range.z[k], row[independent_dof(tree, k)]);
    }
    in_parts<ConstraintCorrection<T>::most_packs>(w.padded / width, [&]<int packs>(int p) {
        const int begin = p * width;
        for (int r = 0; r < constraints.nrows; ++r)
            for (int k = 0; k < packs; ++k)
                schur.block[r * packs + k] =
                    Pack<T>::load(w.ranges + r * w.padded + begin + k * width);
        solve_forces<packs>(schur.block, schur.more_block, schur.rest_block, schur);
        for (int r = 0; r < constraints.nrows; ++r)
            for (int k = 0; k < packs; ++k) {
                T* const to = w.rows + r * w.width + begin + k * width;
                fma(T(-1.0), schur.block[r * packs + k], Pack<T>::load(to)).store(to);
            }
    });
}

}  // namespace dtau::DTAU_VARIANT
