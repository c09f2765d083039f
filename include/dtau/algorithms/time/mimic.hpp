// Computes the time derivatives of forward and hybrid dynamics of robots whose joints mimic others:
// mimic_time_derivatives(). With M of the independent velocities factorized once (factorized.hpp),
// order by order
//
//   M a^(k) = tau^(k) - (torque of order k at a^(k) = 0, with lower orders and prescribed motion as they are)
//
// for the velocities whose motion is not prescribed. The articulated-body recursion of forward.hpp cannot
// eliminate joints that share a velocity; here it runs with all motion prescribed, as inverse dynamics
// order by order, and gives the torques in parentheses.
#pragma once

#include "dtau/algorithms/solve/factorized.hpp"
#include "dtau/algorithms/time/forward.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct MimicSeriesWorkspace {
    ForwardSeriesWorkspace<T> series;
    WorldWrenchWorkspace<T> wrenches;
    SpringSeries<T> springs;
    FrictionSeries<T> friction;
    RootFrame<T> root_frame;
    LtdlWorkspace<T> ltdl;
    T *a, *torque, *x;  // of one order: of the joints, of the joints, of the independent velocities
    T* world_torque;    // of wrenches along world axes, springs and friction, of the joints

    MimicSeriesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : series(arena, tree, options),
          wrenches(arena, tree, options),
          springs(arena, tree, options.order + 1),
          friction(arena, tree, options.order + 1),
          root_frame(arena, tree),
          ltdl(arena, tree.independent),
          a(arena.take<T>(tree.nv)),
          torque(arena.take<T>(tree.nv)),
          x(arena.take<T>(tree.independent.n)),
          world_torque(arena.take<T>(tree.nv)) {}
};

// Factorizes M with the rows and columns of prescribed velocities replaced by those of the identity.
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
    const Prescribed all = {nullptr, true};
    const int nv = tree.nv;
    const T* no_torque = nullptr;
    const bool in_world = w.wrenches.take(f_ext), passive = has_springs_or_friction(tree);
    const T *no_wrenches = nullptr, *rates = nullptr, *const accelerations = a_out;
    factors_without(tree, q, given, w);
    const Configuration<T> angles = configuration(tree, q, w.series.angles);
    for (int i = 0; i < tree.nnodes; ++i) {
        start_body<false>(tree, i, angles, v, w.series);
        w.series.passed[tree.bodies[i].level].m = zero_motion<T>();  // nothing is solved for
    }
    for (int k = 0; k <= order; ++k, a = a ? a + nv : a, tau += tree.independent.n, a_out += nv) {
        for (int j = 0; j < nv && passive; ++j) w.world_torque[j] = T(0.0);
        if (in_world)
            world_wrench_torques(tree, k, k, q, k == 0 ? v : rates, f_ext, w.wrenches,
                                 [&](int, int j, T torque) { w.world_torque[j] = torque; });
        w.springs.add_next(tree, -1.0, k, q, v, accelerations, w.series.scale, w.world_torque);
        w.friction.subtract_next(tree, k, v, accelerations, w.series.scale, w.world_torque);
        rates = k == 0 ? v : a_out - nv;
        const auto torque_at = [&](T* acceleration) {
            for (int i = 0; i < tree.nnodes; ++i)
                bias_motion<false, T>(tree, i, k, acceleration, in_world ? no_wrenches : f_ext, all,
                                      w.series);
            for (int i = tree.nnodes - 1; i >= 0; --i) {
                const ForwardBody<T>& b = w.series.bodies[i];
                bias_force<false>(tree, i, k, rates, no_torque, all, w.series);
                b.force[k].set(b.p.a(), b.p.b());
                prescribed_torque(tree, tree.bodies[i], i, k, rates, acceleration, w.torque,
                                  w.series);
            }
            for (int j = 0; j < nv && (in_world || passive); ++j)
                w.torque[j] = w.torque[j] - w.world_torque[j];
        };
        const auto is_given = [&](int j) { return given && given[independent_dof(tree, j)]; };
        for (int j = 0; j < nv; ++j) a_out[j] = is_given(j) ? a[j] : T(0.0);
        torque_at(a_out);
        reduce_columns(tree, w.torque, 1, w.x);
        for (int j = 0; j < tree.independent.n; ++j)
            w.x[j] = given && given[j] ? T(0.0) : tau[j] - w.x[j];
        ltdl_solve_vector(tree.independent, w.x, w.ltdl);  // [Derivations] eq. 13.10
        expand_v(tree, w.x, w.a);
        for (int j = 0; j < nv; ++j) a_out[j] = is_given(j) ? a_out[j] : w.a[j];
        torque_at(a_out);
        for (int i = 0; i < tree.nnodes && (k < order || w.series.complete); ++i)
            extend_motion<false>(tree, i, k, a_out, w.series);
        if (f_ext) f_ext += 6 * tree.nbodies;
        if (!torque_out) continue;
        to_owners(tree, tau, torque_out);
        for (int j = 0; j < nv; ++j) torque_out[j] = is_given(j) ? w.torque[j] : torque_out[j];
        torque_out += nv;
    }
}

}  // namespace dtau::DTAU_VARIANT
