// First-order partial derivatives of forward dynamics: FDSVA, [IDSVA] section IV-E and eq. 5.
//
//   da/dtau = M^-1,   da/dx = -M^-1 dtau/dx for x = q, v,   at a = forward dynamics (q, v, tau)
//
// IDSVA gives M for nothing. The paper multiplies by M^-1 (DMM) or repeats a reduced
// articulated-body algorithm for every column (AZA); here the branch-induced zeros of M = L^T D L
// are used instead (ltdl.hpp), for all columns at once.
#pragma once

#include "dtau/algorithms/aba.hpp"
#include "dtau/algorithms/idsva.hpp"
#include "dtau/algorithms/ltdl.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct FdsvaWorkspace {
    IdsvaWorkspace<T> idsva;
    AbaWorkspace<T> aba;
    T *a, *M;

    FdsvaWorkspace(Arena& arena, const Tree& tree)
        : idsva(arena, tree),
          aba(arena, tree),
          a(arena.take<T>(tree.nv)),
          M(arena.take<T>(tree.nv * tree.nv)) {}
};

template <class T>
void fdsva(const Tree& tree, const T* q, const T* v, const T* tau, const T* f_ext, T* da_dq,
           T* da_dv, T* da_dtau, const FdsvaWorkspace<T>& w) {
    const int n = tree.nv;
    ground_sweep(tree, q, v, w.idsva.ground);
    aba(tree, v, tau, f_ext, w.a, w.idsva.ground, w.aba);
    idsva_forward(tree, v, w.a, f_ext, w.idsva);
    idsva_backward(tree, da_dq, da_dv, w.M, w.idsva);  // dtau_dq, dtau_dv
    ltdl_factorize(tree, w.M);
    for (int k = 0; k < n * n; ++k) da_dq[k] = -da_dq[k], da_dv[k] = -da_dv[k];
    ltdl_solve(tree, w.M, da_dq, n);
    ltdl_solve(tree, w.M, da_dv, n);
    ltdl_inverse(tree, w.M, da_dtau);
}

// M^-1 alone.
template <class T>
struct MassMatrixInverseWorkspace {
    Ground<T> ground;
    T* M;

    MassMatrixInverseWorkspace(Arena& arena, const Tree& tree)
        : ground(arena, tree), M(arena.take<T>(tree.nv * tree.nv)) {}
};

template <class T>
void mass_matrix_inverse(const Tree& tree, const T* q, T* M_inverse,
                         const MassMatrixInverseWorkspace<T>& w) {
    crba(tree, q, w.M, w.ground);
    ltdl_factorize(tree, w.M);
    ltdl_inverse(tree, w.M, M_inverse);
}

}  // namespace dtau::DTAU_VARIANT
