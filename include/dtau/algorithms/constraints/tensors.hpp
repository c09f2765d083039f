// Computes the second derivatives of constrained dynamics and of impacts as full tensors:
// constrained_second_derivatives(), impulse_second_derivatives(). O((nv + nrows) nv^2 (d + nrows)).
//
// Row r of a tensor is the Hessian contracted with a unit weight (hessian.hpp, impulse_hessian.hpp). All rows
// share the value, the factors and the first derivatives of the constraint rows. What the backward passes sum
// over subtrees is restored for each.
#pragma once

#include "dtau/algorithms/constraints/hessian.hpp"
#include "dtau/algorithms/constraints/impulse_hessian.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct UnitWeights {
    T *of_velocities, *of_rows;
    Inertia<T>* I;  // of the bodies, as B and f
    Coriolis<T>* B;
    Force<T>* f;

    UnitWeights(Arena& arena, const Tree& tree, const Options& options)
        : of_velocities(arena.take<T>(tree.independent.n)),
          of_rows(arena.take<T>(options.contacts->nrows)) {
        arena.take_each(tree.nnodes, I, B, f);
    }

    // Calls row(r) with a unit weight of each velocity, then row(n + r) with one of each of the rows.
    template <class F>
    void for_rows(const Tree& tree, int nrows, const IdsvaWorkspace<T>& idsva, const F& row) const {
        const int n = tree.independent.n;
        for (int i = 0; i < tree.nnodes; ++i)
            I[i] = idsva.root_frame.I[i], B[i] = idsva.B[i], f[i] = idsva.f[i];
        for (int k = 0; k < n; ++k) of_velocities[k] = T(0.0);
        for (int k = 0; k < nrows; ++k) of_rows[k] = T(0.0);
        for (int r = 0; r < n + nrows; ++r) {
            for (int i = 0; i < tree.nnodes; ++i)
                idsva.root_frame.I[i] = I[i], idsva.B[i] = B[i], idsva.f[i] = f[i];
            T& weight = r < n ? of_velocities[r] : of_rows[r - n];
            weight = T(1.0);
            row(r);
            weight = T(0.0);
        }
    }
};

template <class T> struct ConstrainedTensorsWorkspace {
    ConstrainedHessianWorkspace<T> hessian;
    UnitWeights<T> weights;

    ConstrainedTensorsWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : hessian(arena, tree, options), weights(arena, tree, options) {}
};

// One row of tensors (rows, n, n) that begin at these blocks.
template <class T> inline Blocks<T> row_of_tensors(const Blocks<T>& t, int r, int n) {
    const std::ptrdiff_t at = std::ptrdiff_t(r) * n * n;
    return {t.dqdq + at, t.dqdv + at, t.dvdv + at, t.dadq + at, n};
}

// Arguments as of constrained_dynamics_hessian. a (n, n, n), forces (nrows, n, n); dtaudq is in the place of dadq.
template <class T>
void constrained_second_derivatives(const Tree& tree, const T* q, const T* v, const T* tau,
                                    const Hold<T>& hold, const T* f_ext, const Blocks<T>& a,
                                    const Blocks<T>& forces, bool symmetric,
                                    const ConstrainedTensorsWorkspace<T>& w) {
    const ConstrainedHessianWorkspace<T>& h = w.hessian;
    const int n = tree.independent.n;
    const T* const body_f_ext = constrained_hessian_value(tree, q, v, tau, hold, f_ext, h);
    constrained_partials(tree, hold.active, h);
    w.weights.for_rows(tree, h.given->nrows, h.dynamics.idsva, [&](int r) {
        constrained_curvature(tree, w.weights.of_velocities, w.weights.of_rows, hold.active,
                              body_f_ext, h);
        add_joint_stiffness(tree, h);
        const Blocks<T> to = r < n ? row_of_tensors(a, r, n) : row_of_tensors(forces, r - n, n);
        constrained_results(tree, hold.active, to, symmetric, h);
    });
}

template <class T> struct ImpulseTensorsWorkspace {
    ImpulseHessianWorkspace<T> impulse;
    UnitWeights<T> weights;

    ImpulseTensorsWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : impulse(arena, tree, options), weights(arena, tree, options) {}
};

// Arguments as of impulse_dynamics_hessian. By q twice and by q and v: of the velocities after (n, n, n), of
// the impulses (nrows, n, n).
template <class T>
void impulse_second_derivatives(const Tree& tree, const T* q, const T* v, T restitution,
                                const T* active, T* v_dqdq, T* v_dqdv, T* impulses_dqdq,
                                T* impulses_dqdv, bool symmetric,
                                const ImpulseTensorsWorkspace<T>& w) {
    const ConstrainedHessianWorkspace<T>& h = w.impulse.hessian;
    const int n = tree.independent.n;
    const std::ptrdiff_t size = std::ptrdiff_t(n) * n;
    impulse_hessian_value(tree, q, v, restitution, active, w.impulse);
    w.weights.for_rows(tree, h.given->nrows, h.dynamics.idsva, [&](int r) {
        T* const dqdq = r < n ? v_dqdq + r * size : impulses_dqdq + (r - n) * size;
        T* const dqdv = r < n ? v_dqdv + r * size : impulses_dqdv + (r - n) * size;
        impulse_hessian_blocks(tree, w.weights.of_velocities, w.weights.of_rows, restitution,
                               active, dqdq, dqdv, symmetric, w.impulse);
    });
}

}  // namespace dtau::DTAU_VARIANT
