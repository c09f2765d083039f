// Computes the time derivatives of forward and hybrid dynamics of robots whose joints mimic others:
// mimic_time_derivatives(). With M of the independent velocities factorized once (factorized.hpp),
// order by order
//
//   M a^(k) = tau^(k) - (torque of order k at a^(k) = 0, with lower orders and prescribed motion as they are)
//
// for the velocities whose motion is not prescribed. The articulated-body recursion of forward.hpp cannot
// eliminate joints that share a velocity. inverse_by_order.hpp has the torques in parentheses.
#pragma once

#include "dtau/algorithms/solve/factorized.hpp"
#include "dtau/algorithms/time/inverse_by_order.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct MimicSeriesWorkspace : InverseByOrder<T> {
    RootFrame<T> root_frame;
    LtdlWorkspace<T> ltdl;
    T *a, *x;  // of one order: of the joints, of the independent velocities

    MimicSeriesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : InverseByOrder<T>(arena, tree, options),
          root_frame(arena, tree),
          ltdl(arena, tree.independent),
          a(arena.take<T>(tree.nv)),
          x(arena.take<T>(tree.independent.n)) {}
};

// Factorizes M with the rows and columns of prescribed velocities replaced by the identity's.
template <class T>
inline void factors_without(const Tree& tree, const T* q, const bool* given,
                            const MimicSeriesWorkspace<T>& w) {
    const Paths& dofs = tree.independent;
    root_frame_sweep<T>(tree, q, nullptr, w.root_frame);
    mass_matrix_by_paths(tree, w.root_frame.S, w.root_frame.I, w.ltdl);
    for (int k = 0; k < dofs.n && given; ++k)
        for (int j = k; j >= 0; j = dofs.parent[j])
            if (given[k] || given[j])
                w.ltdl.L[k * w.ltdl.stride + dofs.depth[j]] = T(j == k ? 1.0 : 0.0);
    ltdl_factorize(dofs, w.ltdl);
}

// Arguments as of hybrid_time_derivatives. q, v, a and the results: of the joints; tau: of the independent
// velocities. torque_out: of the joints; reduced, it is the torque of the independent velocities.
template <class T>
void mimic_time_derivatives(const Tree& tree, int order, const T* q, const T* v, const T* a,
                            const T* tau, const T* f_ext, const bool* given, T* a_out,
                            T* torque_out, const MimicSeriesWorkspace<T>& w) {
    const int nv = tree.nv;
    const T* const accelerations = a_out;
    factors_without(tree, q, given, w);
    w.start(tree, q, v);
    for (int k = 0; k <= order; ++k, a = a ? a + nv : a, tau += tree.independent.n, a_out += nv) {
        w.compute(tree, k, q, v, accelerations, f_ext, w.series.scale);
        const auto is_given = [&](int j) { return given && given[independent_dof(tree, j)]; };
        for (int j = 0; j < nv; ++j) a_out[j] = is_given(j) ? a[j] : T(0.0);
        w.at(tree, k, v, accelerations, f_ext, a_out);
        reduce_columns(tree, w.torque, 1, w.x);
        for (int j = 0; j < tree.independent.n; ++j)
            w.x[j] = given && given[j] ? T(0.0) : tau[j] - w.x[j];
        ltdl_solve_vector(tree.independent, w.x, w.ltdl);  // [Derivations] eq. 13.10
        expand_v(tree, w.x, w.a);
        for (int j = 0; j < nv; ++j) a_out[j] = is_given(j) ? a_out[j] : w.a[j];
        w.at(tree, k, v, accelerations, f_ext, a_out);
        if (k < order || w.series.complete) w.extend(tree, k, a_out);
        if (!torque_out) continue;
        to_owners(tree, tau, torque_out);
        for (int j = 0; j < nv; ++j) torque_out[j] = is_given(j) ? w.torque[j] : torque_out[j];
        torque_out += nv;
    }
}

// Accelerations of all joints that no motion is prescribed for, orders 0 ... `order`.
template <class T>
inline void accelerations(const Tree& tree, int order, const T* q, const T* v, const T* tau,
                          const T* f_ext, T* a, const HybridSeriesWorkspace<T>& w) {
    hybrid_time_derivatives<T>(tree, order, q, v, nullptr, tau, f_ext, nullptr, a, nullptr, w);
}
template <class T>
inline void accelerations(const Tree& tree, int order, const T* q, const T* v, const T* tau,
                          const T* f_ext, T* a, const MimicSeriesWorkspace<T>& w) {
    mimic_time_derivatives<T>(tree, order, q, v, nullptr, tau, f_ext, nullptr, a, nullptr, w);
}

}  // namespace dtau::DTAU_VARIANT
