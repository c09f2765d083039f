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
    LtdlWorkspace<T> ltdl;
    int stride;
    T *a, *dtau_dq, *dtau_dv, *M;

    FdsvaWorkspace(Arena& arena, const Tree& tree)
        : idsva(arena, tree),
          aba(arena, tree),
          ltdl(arena, tree),
          stride(LtdlWorkspace<T>::stride(tree)),
          a(arena.take<T>(tree.nv)),
          dtau_dq(arena.take_zeros<T>(tree.nv * stride)),
          dtau_dv(arena.take_zeros<T>(tree.nv * stride)),
          M(arena.take_zeros<T>(tree.nv * stride)) {}
};

template <class T>
void fdsva(const Tree& tree, const T* q, const T* v, const T* tau, const T* f_ext, T* da_dq,
           T* da_dv, T* da_dtau, const FdsvaWorkspace<T>& w) {
    ground_sweep(tree, q, v, w.idsva.ground);
    aba(tree, v, tau, f_ext, w.a, w.idsva.ground, w.aba);
    idsva_forward(tree, v, w.a, f_ext, w.idsva);
    idsva_backward(tree, {w.dtau_dq, w.dtau_dv, w.M, w.stride}, w.idsva);
    ltdl_factorize(tree, w.M, w.stride);
    ltdl_solve(tree, w.M, T(-1.0), w.dtau_dq, w.stride, da_dq, w.ltdl);
    ltdl_solve(tree, w.M, T(-1.0), w.dtau_dv, w.stride, da_dv, w.ltdl);
    ltdl_inverse(tree, w.M, w.stride, da_dtau, w.ltdl);
}

// M^-1 alone.
template <class T>
struct MassMatrixInverseWorkspace {
    Ground<T> ground;
    LtdlWorkspace<T> ltdl;
    T* M;

    MassMatrixInverseWorkspace(Arena& arena, const Tree& tree)
        : ground(arena, tree), ltdl(arena, tree), M(arena.take_zeros<T>(tree.nv * tree.nv)) {}
};

template <class T>
void mass_matrix_inverse(const Tree& tree, const T* q, T* M_inverse,
                         const MassMatrixInverseWorkspace<T>& w) {
    crba(tree, q, w.M, w.ground);
    ltdl_factorize(tree, w.M, tree.nv);
    ltdl_inverse(tree, w.M, tree.nv, M_inverse, w.ltdl);
}

}  // namespace dtau::DTAU_VARIANT
