// Computes the second derivatives of inverse dynamics contracted with a vector:
// inverse_dynamics_hessian(). O(N d).
//
//   L = lam^T tau(q, v, a)        results: D_q D_q L, D_q D_v L, D_v D_v L, D_a D_q L
//
// It runs the recursion of hessian.hpp as written there: forward passes, composites, backward
// pass. External wrenches along the world's axes add second/world_wrenches.hpp to D_q D_q L. Option
// `symmetric` takes the symmetric part of D_q D_q L, the Hessian in the exponential chart.
#pragma once

#include "dtau/algorithms/second/world_wrenches.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct InverseHessianWorkspace {
    IdsvaWorkspace<T> idsva;
    HessianWorkspace<T> hessian;
    WrenchHessianWorkspace<T> wrenches;

    InverseHessianWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : idsva(arena, tree, options),
          hessian(arena, tree, options),
          wrenches(arena, tree, options) {}
};

// lam^T of d2tau_dqdq, d2tau_dqdv, d2tau_dvdv, d2tau_dadq: (nv, nv), into zeros.
template <class T>
void inverse_dynamics_hessian(const Tree& tree, const T* q, const T* v, const T* a, const T* lam,
                              const T* f_ext, const Blocks<T>& out, bool symmetric,
                              const InverseHessianWorkspace<T>& w) {
    const T* body_f_ext = along_body_axes(tree, q, f_ext, w.wrenches.first.value);
    root_frame_sweep(tree, q, v, w.idsva.root_frame);
    idsva_velocities(tree, q, v, body_f_ext, w.idsva);
    idsva_accelerations(tree, a, w.idsva);
    hessian_forward(tree, lam, w.idsva, w.hessian);
    idsva_composites(tree, w.idsva);
    hessian_backward(tree, out, w.idsva, w.hessian);
    add_rotation_hessian(tree, w.idsva.stretched, lam, out.dqdq, out.n);
    add_world_wrench_hessian(tree, body_f_ext, w.idsva.root_frame, w.hessian, out.dqdq, out.n,
                             w.wrenches);
    if (symmetric) symmetrize(out.dqdq, out.n, out.n);
}

}  // namespace dtau::DTAU_VARIANT
