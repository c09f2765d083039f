// Linearizes the equations of motion of a robot whose contacts and loops hold:
// constrained_linearize().
//
//   z' = A z + B u,   A = ( -ad_v    1     )      B = (      0        )
//                         (  da_dq   da_dv )          ( da_dtau map   )
//
// These are the matrices of steps/linearization.hpp. The one difference is the lower rows: a is the
// acceleration that the constraints leave, with its derivatives from derivatives.hpp.
#pragma once

#include "dtau/algorithms/constraints/derivatives.hpp"
#include "dtau/algorithms/steps/linearization.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct ConstrainedLinearizationWorkspace {
    ConstrainedDerivativesWorkspace<T> derivatives;
    T* da_dtau;

    ConstrainedLinearizationWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : derivatives(arena, tree, options),
          da_dtau(arena.take<T>(tree.independent.n * tree.independent.n)) {}
};

// Arguments as of linearize.
template <class T>
void constrained_linearize(const Tree& tree, const InputMap<T>& inputs, const T* q, const T* v,
                           const T* tau, const Hold<T>& hold, const T* f_ext, T* A, T* B, T* a,
                           T* residual, const ConstrainedLinearizationWorkspace<T>& w) {
    const int n = tree.independent.n;
    T *const lower = A + 2 * n * n, *const no_matrix = nullptr;
    constrained_dynamics_derivatives(tree, q, v, tau, hold, f_ext, lower, lower + n, 2 * n,
                                     w.da_dtau, no_matrix, no_matrix, no_matrix, w.derivatives);
    kinematic_rows(tree, v, A);
    input_rows(n, inputs, w.da_dtau, B + static_cast<std::ptrdiff_t>(n) * inputs.driven.count);
    for (int k = 0; k < tree.nv; ++k) a[k] = w.derivatives.fdsva.dynamics.a[k];
    const int nrows = w.derivatives.constraints.schur.constraints->nrows;
    for (int r = 0; r < nrows; ++r) residual[r] = w.derivatives.residual[r];
}

}  // namespace dtau::DTAU_VARIANT
