// Computes forward dynamics and M^-1 by the factors of the mass matrix: factorized_dynamics(),
// mass_matrix_inverse(). O(N d^2).
//
//   M = L^T D L                     crba.hpp, ltdl.hpp; with mimic joints G^T M G (mimic.hpp)
//   bias = torques at a = 0         a_i = a_p + v_p x v_J,   f_i = I_i a_i + v_i x* I_i v_i - f_ext_i
//   a = M^-1 (tau - damping v - stiffness (q - rest) - friction - bias)
//
// The textbook's forward dynamics is the articulated-body algorithm (values/aba.hpp), O(N). This one
// costs less if derivatives need the factors anyway, and it takes mimic joints: their mass matrix is
// G^T M G, of the independent velocities.
//
// Symbols, for body i with parent p:
//   composite[i]  inertia, then of the subtree     bias_a[i], bias_f[i]  acceleration and force of
//   a[k]          acceleration of joint column k                         the body at a = 0
#pragma once

#include "dtau/algorithms/first/idsva.hpp"
#include "dtau/algorithms/solve/ltdl_columns.hpp"
#include "dtau/mimic.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct FactorizedWorkspace {
    IdsvaWorkspace<T> idsva;
    LtdlWorkspace<T> ltdl;
    T *a,
        *independent;  // of the joints; of the independent velocities (without mimic joints the same room)
    Inertia<T>* composite;
    Motion<T>* bias_a;
    Force<T>* bias_f;

    FactorizedWorkspace(Arena& arena, const Tree& tree, const Options& options);
};
// Outside of the class, so that it is not inline: it is compiled once.
template <class T>
FactorizedWorkspace<T>::FactorizedWorkspace(Arena& arena, const Tree& tree, const Options& options)
    : idsva(arena, tree, options),
      ltdl(arena, tree.independent),
      a(arena.take<T>(tree.nv)),
      independent(room_beside(arena, tree, a, tree.independent.n)) {
    arena.take_each(tree.nnodes, composite, bias_a, bias_f);
}

// Writes a lower triangle by paths.
template <class T> struct RowsByPaths {
    T* L;
    std::ptrdiff_t stride;
    const int* depth;

    DTAU_INLINE void entry(std::ptrdiff_t k, int j, T m) const { L[k * stride + depth[j]] = m; }
    // Also writes the upper triangle, in places that no path reaches. Not inlined: crba.hpp.
    __attribute__((noinline)) void free_root(std::ptrdiff_t j, const Inertia<T>& I) const {
        free_root_inertia(I, L + j * stride, static_cast<int>(stride));
    }
    DTAU_INLINE void beside_free_root(std::ptrdiff_t k, int, const Force<T>& F) const {
        store_components(F, L + k * stride);
    }
};

// Adds to the rows by paths of the independent velocities.
template <class T> struct ReducedRows {
    const Mimics& mimic;
    RowsByPaths<T> rows;

    DTAU_INLINE void entry(int k, int j, T m) const {
        const ReducedEntry to = reduced_entry(mimic, k, j);
        T& sum = rows.L[to.row * rows.stride + rows.depth[to.column]];
        sum = fma(T(to.scale), m, sum);
    }
    DTAU_INLINE void free_root(int j, const Inertia<T>& I) const {
        T block[36];
        free_root_inertia(I, block, 6);
        for (int r = 0; r < 6; ++r)
            for (int c = 0; c <= r; ++c) entry(j + r, j + c, block[6 * r + c]);
    }
    DTAU_INLINE void beside_free_root(int k, int j, const Force<T>& F) const {
        const Components<T> c = components(F);
        for (int r = 0; r < 6; ++r) entry(k, j + r, c.x[r]);
    }
};

// Computes M of the independent velocities, by paths, in w.L.
template <class T>
DTAU_INLINE void mass_matrix_by_paths(const Tree& tree, const Motion<T>* S, Inertia<T>* inertias,
                                      const LtdlWorkspace<T>& w) {
    const RowsByPaths<T> rows = {w.L, w.stride, tree.independent.depth};
    if (tree.mimic || w.padded) w.zero(tree.independent);
    if (!tree.mimic) {
        crba_backward(tree, S, inertias, rows);
        for (int k = 0; k < tree.nv; ++k) w.L[k * w.stride + rows.depth[k]] += armature<T>(tree, k);
        return;
    }
    const ReducedRows<T> reduced = {*tree.mimic, rows};
    crba_backward(tree, S, inertias, reduced);
    for (int k = 0; k < tree.nv; ++k) reduced.entry(k, k, armature<T>(tree, k));
}

template <class T>
void mass_matrix_factors(const Tree& tree, const Motion<T>* S, Inertia<T>* inertias,
                         const LtdlWorkspace<T>& w) {
    mass_matrix_by_paths(tree, S, inertias, w);
    ltdl_factorize(tree.independent, w);
}

// Computes tau - damping v - bias of the joints, after idsva_velocities; bias: the torque at a = 0.
// tau may be null: zero.
template <class T>
void driving_torque(const Tree& tree, const T* v, const T* tau, T* torque,
                    const FactorizedWorkspace<T>& w) {
    const RootFrame<T>& g = w.idsva.root_frame;
    for (int i = 0; i < tree.nnodes; ++i) {
        const int p = tree.bodies[i].parent;
        const Motion<T> ap = p < 0 ? world_acceleration(g.gravity[i]) : w.bias_a[p];
        w.bias_a[i] = ap + w.idsva.a[i];
        w.bias_f[i] = w.idsva.f[i] + g.I[i] * w.bias_a[i];
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        for (int k = body.v; k < body.v + body.nv; ++k)
            torque[k] =
                fma(-damping<T>(tree, k), v[k], tau ? tau[k] : T(0.0)) - dot(g.S[k], w.bias_f[i]);
        if (body.parent >= 0) w.bias_f[body.parent] += w.bias_f[i];
    }
}

// Runs root_frame_sweep and factorizes M.
template <class T>
DTAU_INLINE void factorize_mass_matrix(const Tree& tree, const T* q, const T* v,
                                       const FactorizedWorkspace<T>& w) {
    const RootFrame<T>& g = w.idsva.root_frame;
    root_frame_sweep(tree, q, v, g);
    for (int i = 0; i < tree.nnodes; ++i) w.composite[i] = g.I[i];
    mass_matrix_factors(tree, g.S, w.composite, w.ltdl);
}

// Factorizes M, and runs idsva_velocities.
template <class T>
DTAU_INLINE void factorize_dynamics(const Tree& tree, const T* q, const T* v, const T* f_ext,
                                    const FactorizedWorkspace<T>& w) {
    factorize_mass_matrix(tree, q, v, w);
    idsva_velocities(tree, q, v, f_ext, w.idsva);
}

// After factorize_dynamics: computes tau - bias of the independent velocities, in w.independent, with
// the torques of springs and friction in the bias.
template <class T>
DTAU_INLINE void independent_torque(const Tree& tree, const T* q, const T* v, const T* tau,
                                    const FactorizedWorkspace<T>& w) {
    if (tree.mimic) {
        driving_torque<T>(tree, v, nullptr, w.a, w);
        subtract_springs_and_friction(tree, q, v, w.a);
        reduce_columns(tree, w.a, 1, w.independent);
        for (int k = 0; k < tree.independent.n; ++k) w.independent[k] = w.independent[k] + tau[k];
    } else {
        driving_torque(tree, v, tau, w.a, w);
        subtract_springs_and_friction(tree, q, v, w.a);
    }
}

// Forward dynamics: solves for the acceleration w.a of the joints. q, v: of the joints; tau: of the
// independent velocities.
template <class T>
void factorized_dynamics(const Tree& tree, const T* q, const T* v, const T* tau, const T* f_ext,
                         const FactorizedWorkspace<T>& w) {
    factorize_dynamics(tree, q, v, f_ext, w);
    independent_torque(tree, q, v, tau, w);
    ltdl_solve_vector(tree.independent, w.independent, w.ltdl);
    expand_v(tree, w.independent, w.a);
}

// Forward dynamics with mimic joints; a: of the joints.
template <class T>
void mimic_forward_dynamics(const Tree& tree, const T* q, const T* v, const T* tau, const T* f_ext,
                            T* a, const FactorizedWorkspace<T>& w) {
    factorized_dynamics(tree, q, v, tau, f_ext, w);
    for (int k = 0; k < tree.nv; ++k) a[k] = w.a[k];
}

template <class T> struct MassMatrixInverseWorkspace {
    RootFrame<T> root_frame;
    LtdlWorkspace<T> ltdl;

    MassMatrixInverseWorkspace(Arena& arena, const Tree& tree, const Options&)
        : root_frame(arena, tree), ltdl(arena, tree.independent) {}
};

template <class T>
void mass_matrix_inverse(const Tree& tree, const T* q, T* M_inverse,
                         const MassMatrixInverseWorkspace<T>& w) {
    root_frame_sweep<T>(tree, q, nullptr, w.root_frame);
    mass_matrix_factors(tree, w.root_frame.S, w.root_frame.I, w.ltdl);
    ltdl_inverse(tree.independent, M_inverse, w.ltdl);
}

}  // namespace dtau::DTAU_VARIANT
