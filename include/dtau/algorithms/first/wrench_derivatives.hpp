// Computes derivatives by external wrenches: inverse_dynamics_wrench_derivatives(), O(N d), and
// forward_dynamics_wrench_derivatives(). Matrices (nv, nbodies, 6). [Derivations] §17.
//
//   dtau/df_i = -J_i^T       da/df_i = M^-1 J_i^T       J_i v: twist of body i
//
// J_i is the Jacobian of the body's origin along the body's axes, or along the world's axes
// ("mixed"); for "world", of the body's point at the world's origin. The textbook applies J_i^T by
// moving the wrench from body to body. In root-frame coordinates (kinematics.hpp) column k of J_i is
// s_k seen from body i, one transform for each entry. M^-1 is applied to all columns by the factors
// M = L^T D L, so that the zeros of J_i^T are skipped (ltdl_columns.hpp).
#pragma once

#include "dtau/algorithms/solve/factorized.hpp"
#include "dtau/algorithms/values/wrench_axes.hpp"

namespace dtau::DTAU_VARIANT {

// Writes -C_i^T of all bodies, by rows of the independent velocities, for matrices C_i whose columns
// column_of(k, number, P) are in root-frame coordinates: of joint k, for the body `number` whose user's
// frame is at P.
template <class T, class Column>
inline void minus_transposed(const Tree& tree, const T* q, const RootFrame<T>& root_frame,
                             T* dtau_df, const WrenchAxesWorkspace<T>& w, const Column& column_of) {
    const std::ptrdiff_t row = 6 * tree.nbodies;
    for (std::ptrdiff_t e = 0; e < tree.independent.n * row; ++e) dtau_df[e] = T(0.0);
    if (w.in_world()) place_in_world(tree, configuration(tree, q, w.angles), w.P);
    for (int i = 0; i < tree.nbodies; ++i) {
        const int number = tree.link_body[i];
        const Body& body = tree.bodies[number];
        const Placement<T> P = user_axes(body, root_frame.P[number]);
        const Mat3<T> axes = w.in_world() ? w.P[body.root].R : transposed(P.R);
        for (int k = body.v + body.nv - 1; k >= 0; k = tree.dofs.parent[k]) {
            const Motion<T> s = column_of(k, number, P);
            Motion<T> t = {axes * s.ang, axes * cross(s.ang, P.r, s.lin)};
            if (w.axes == Axes::world) t.lin = cross(w.P[number].r, t.ang, t.lin);
            const T column[6] = {t.lin.x, t.lin.y, t.lin.z, t.ang.x, t.ang.y, t.ang.z};
            const T minus(tree.mimic ? -tree.mimic->v_scale[k] : -1.0);
            T* to = dtau_df + independent_dof(tree, k) * row + 6 * i;
            for (int c = 0; c < 6; ++c) to[c] = fma(minus, column[c], to[c]);
        }
    }
}

// Writes -J_i^T of all bodies. root_frame: placements and subspaces.
template <class T>
void minus_transposed_jacobians(const Tree& tree, const T* q, const RootFrame<T>& root_frame,
                                T* dtau_df, const WrenchAxesWorkspace<T>& w) {
    minus_transposed(tree, q, root_frame, dtau_df, w,
                     [&](int k, int, const Placement<T>&) { return root_frame.S[k]; });
}

template <class T> struct InverseWrenchDerivativesWorkspace {
    RootFrame<T> root_frame;
    WrenchAxesWorkspace<T> wrenches;

    InverseWrenchDerivativesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : root_frame(arena, tree), wrenches(arena, tree, options) {}
};

template <class T>
void inverse_dynamics_wrench_derivatives(const Tree& tree, const T* q, T* dtau_df,
                                         const InverseWrenchDerivativesWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.root_frame.angles);
    for (int i = 0; i < tree.nnodes; ++i) place_body(tree, i, x, w.root_frame);
    minus_transposed_jacobians(tree, q, w.root_frame, dtau_df, w.wrenches);
}

template <class T> struct ForwardWrenchDerivativesWorkspace {
    MassMatrixInverseWorkspace<T> mass_matrix;
    WrenchAxesWorkspace<T> wrenches;

    ForwardWrenchDerivativesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : mass_matrix(arena, tree, options), wrenches(arena, tree, options) {}
};

template <class T>
void forward_dynamics_wrench_derivatives(const Tree& tree, const T* q, T* da_df,
                                         const ForwardWrenchDerivativesWorkspace<T>& w) {
    const RootFrame<T>& g = w.mass_matrix.root_frame;
    root_frame_sweep<T>(tree, q, nullptr, g);
    mass_matrix_factors(tree, g.S, g.I, w.mass_matrix.ltdl);
    minus_transposed_jacobians(tree, q, g, da_df, w.wrenches);
    ltdl_solve_in_place(tree.independent, da_df, 6 * tree.nbodies, w.mass_matrix.ltdl);
}

}  // namespace dtau::DTAU_VARIANT
