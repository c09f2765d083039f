// Computes the first-order partial derivatives of forward dynamics by eq. 5 of [IDSVA], in the variants that
// the paper compares: da/dx = -M^-1 dtau/dx for x = q, v, and da/dtau = M^-1.
//
//   FDSVA  dtau/dx by IDSVA in root-frame coordinates, with the core's functions
//   FDCR   the same by RNEACR
//   DMM    M^-1 by the articulated-body algorithm, then products with it    (dmm.hpp)
//   AZA    the articulated-body algorithm for every column                  (articulated_columns.hpp)
//
// M^-1 alone by the articulated-body algorithm is articulated_mass_matrix_inverse().
// The core's own FDSVA solves with the factors M = L^T D L instead (first/fdsva.hpp).
#pragma once

#include "articulated_columns.hpp"
#include "dmm.hpp"
#include "dtau/algorithms/first/fdsva.hpp"
#include "rneacr.hpp"

namespace dtau::DTAU_VARIANT {

// Room for the acceleration with the factors of the articulated-body algorithm, for the partial
// derivatives of inverse dynamics, and for the solution.
template <class T> struct ArticulatedSolutionWorkspace {
    ArticulatedFactors<T> factors;
    ColumnsWorkspace<T> columns;
    DmmWorkspace<T> dmm;
    T* a;
    int stride;  // distance of the rows of the two matrices, side by side
    T *dtau_dq, *dtau_dv;

    ArticulatedSolutionWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : factors(arena, tree, options),
          columns(arena, tree, options),
          dmm(arena, tree, options),
          a(arena.take<T>(tree.nv)),
          stride(2 * whole_packs<T>(tree.nv)),
          dtau_dq(arena.take_zeros<T>(static_cast<std::size_t>(tree.nv) * stride)),
          dtau_dv(dtau_dq + whole_packs<T>(tree.nv)) {}
};

// Results (nv, nv).
template <class T> struct ForwardPartials {
    T *dq, *dv, *dtau;
};

template <class T>
void solve_by_aza(const Tree& tree, const Motion<T>* S, const ForwardPartials<T>& da,
                  const ArticulatedSolutionWorkspace<T>& w) {
    articulated_inverse(tree, S, da.dtau, w.factors, w.columns);
    aza(tree, S, w.dtau_dq, w.stride, {{da.dq, tree.nv}, {da.dv, tree.nv}}, w.factors, w.columns);
}
template <class T>
void solve_by_dmm(const Tree& tree, const Motion<T>* S, const ForwardPartials<T>& da,
                  const ArticulatedSolutionWorkspace<T>& w) {
    articulated_inverse(tree, S, da.dtau, w.factors, w.columns);
    dmm(tree, da.dtau, w.dtau_dq, w.stride, {{da.dq, tree.nv}, {da.dv, tree.nv}}, w.dmm);
}

template <class T> struct FdsvaArticulatedWorkspace {
    IdsvaWorkspace<T> idsva;
    ArticulatedSolutionWorkspace<T> solution;

    FdsvaArticulatedWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : idsva(arena, tree, options), solution(arena, tree, options) {}
};

// Computes the acceleration, and the partial derivatives of inverse dynamics at it.
template <class T>
void fdsva_partials(const Tree& tree, const T* q, const T* v, const T* tau,
                    const FdsvaArticulatedWorkspace<T>& w) {
    const ArticulatedSolutionWorkspace<T>& to = w.solution;
    T* const no_matrix = nullptr;
    const T* const no_wrenches = nullptr;
    root_frame_sweep(tree, q, v, w.idsva.root_frame);
    articulated_factors(tree, v, tau, no_wrenches, to.a, w.idsva.root_frame, to.factors);
    idsva_velocities(tree, q, v, no_wrenches, w.idsva);
    idsva_accelerations(tree, to.a, w.idsva);
    idsva_backward(tree, {to.dtau_dq, to.dtau_dv, no_matrix, to.stride}, w.idsva);
}

// Room for M^-1 by the articulated-body algorithm.
template <class T> struct ArticulatedInverseWorkspace {
    RootFrame<T> root_frame;
    ArticulatedFactors<T> factors;
    ColumnsWorkspace<T> columns;

    ArticulatedInverseWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : root_frame(arena, tree), factors(arena, tree, options), columns(arena, tree, options) {}
};

// Computes M^-1: U and d of each column need neither velocities nor torques.
template <class T>
void articulated_mass_matrix_inverse(const Tree& tree, const T* q, T* M_inverse,
                                     const ArticulatedInverseWorkspace<T>& w) {
    const ArticulatedFactors<T>& factors = w.factors;
    const Motion<T>* S = w.root_frame.S;
    root_frame_sweep<T>(tree, q, nullptr, w.root_frame);
    for (int i = 0; i < tree.nnodes; ++i) factors.IA[i] = articulated(w.root_frame.I[i]);
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        ArticulatedInertia<T> IA = factors.IA[i];
        for (int k = body.v + body.nv - 1; k >= body.v; --k) {
            const Force<T> U = IA * S[k];
            const T d_inverse = T(1.0) / (dot(S[k], U) + T(tree.armature[k]));
            subtract_rank_one(IA, U, d_inverse);
            factors.U[k] = U, factors.d_inverse[k] = d_inverse;
        }
        if (body.parent >= 0) factors.IA[body.parent] += IA;
    }
    articulated_inverse(tree, S, M_inverse, factors, w.columns);
}

template <class T> struct FdcrWorkspace {
    RootFrame<T> root_frame;
    RneacrWorkspace<T> rneacr;
    ArticulatedSolutionWorkspace<T> solution;

    FdcrWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : root_frame(arena, tree), rneacr(arena, tree, options), solution(arena, tree, options) {}
};

template <class T>
void fdcr_partials(const Tree& tree, const T* q, const T* v, const T* tau,
                   const FdcrWorkspace<T>& w) {
    const ArticulatedSolutionWorkspace<T>& to = w.solution;
    const T* const no_wrenches = nullptr;
    root_frame_sweep(tree, q, v, w.root_frame);
    articulated_factors(tree, v, tau, no_wrenches, to.a, w.root_frame, to.factors);
    rneacr(tree, q, v, to.a, to.dtau_dq, to.dtau_dv, to.stride, w.rneacr);
}

}  // namespace dtau::DTAU_VARIANT
