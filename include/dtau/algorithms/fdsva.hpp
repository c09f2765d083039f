// First-order partial derivatives of forward dynamics: FDSVA, [IDSVA] section IV-E and eq. 5.
//
//   da/dtau = M^-1,   da/dx = -M^-1 dtau/dx for x = q, v,   at a = forward dynamics (q, v, tau)
//
// The paper multiplies by M^-1 (DMM) or repeats a reduced articulated-body algorithm for every
// column (AZA); here the branch-induced zeros of M = L^T D L are used instead (ltdl.hpp), for all
// columns at once. With M factorised, the acceleration is a solve too: a = M^-1 (tau - bias).
#pragma once

#include "dtau/algorithms/idsva.hpp"
#include "dtau/algorithms/ltdl.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct FdsvaWorkspace {
    IdsvaWorkspace<T> idsva;
    LtdlWorkspace<T> ltdl;
    // A lone state's matrices are solved for together, minus the identity with them: its vectors
    // hold neighbouring columns and want many. In lanes the inverse is cheaper by a triangle.
    static constexpr int matrices = Pack<T>::width > 1 ? 3 : 2;
    int stride;  // of their rows, side by side
    T *a, *dtau_dq, *dtau_dv;
    Inertia<T>* composite;
    Motion<T>* bias_a;  // accelerations and forces of the bodies at joint acceleration zero
    Force<T>* bias_f;

    FdsvaWorkspace(Arena& arena, const Tree& tree)
        : idsva(arena, tree),
          ltdl(arena, tree),
          stride(matrices * whole_packs<T>(tree.nv)),
          a(arena.take<T>(tree.nv)),
          dtau_dq(arena.take_zeros<T>(tree.nv * stride)),
          dtau_dv(dtau_dq + whole_packs<T>(tree.nv)),
          composite(arena.take<Inertia<T>>(tree.nbodies)),
          bias_a(arena.take<Motion<T>>(tree.nbodies)),
          bias_f(arena.take<Force<T>>(tree.nbodies)) {
        if (matrices == 3 && dtau_dq)
            for (int k = 0; k < tree.nv; ++k)
                dtau_dv[k * stride + whole_packs<T>(tree.nv) + k] = T(-1.0);
    }
};

// M, by paths, and its factors.
template <class T>
DTAU_INLINE void mass_matrix_factors(const Tree& tree, const Motion<T>* S, Inertia<T>* inertias,
                                     const LtdlWorkspace<T>& w) {
    crba_backward(tree, S, inertias,
                  [&](int k, int j, T m) { w.L[k * w.stride + tree.dof_depth[j]] = m; });
    for (int k = 0; k < tree.nv; ++k) w.L[k * w.stride + tree.dof_depth[k]] += T(tree.armature[k]);
    ltdl_factorize(tree, w);
}

// Right-hand side tau - damping v - (Coriolis, gravity, external torque), after idsva_velocities.
template <class T>
DTAU_INLINE void driving_torque(const Tree& tree, const T* v, const T* tau, T* torque,
                                const FdsvaWorkspace<T>& w) {
    const Ground<T>& g = w.idsva.ground;
    for (int i = 0; i < tree.nbodies; ++i) {
        const int p = tree.bodies[i].parent;
        const Motion<T> ap = p < 0 ? world_acceleration(g.gravity[i]) : w.bias_a[p];
        w.bias_a[i] = ap + w.idsva.a[i];
        w.bias_f[i] = w.idsva.f[i] + g.I[i] * w.bias_a[i];
    }
    for (int i = tree.nbodies - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        for (int k = body.v; k < body.v + body.nv; ++k)
            torque[k] = fma(T(-tree.damping[k]), v[k], tau[k]) - dot(g.S[k], w.bias_f[i]);
        if (body.parent >= 0) w.bias_f[body.parent] += w.bias_f[i];
    }
}

template <class T>
void fdsva(const Tree& tree, const T* q, const T* v, const T* tau, const T* f_ext, T* da_dq,
           T* da_dv, T* da_dtau, const FdsvaWorkspace<T>& w) {
    const Ground<T>& g = w.idsva.ground;
    ground_sweep(tree, q, v, g);
    for (int i = 0; i < tree.nbodies; ++i) w.composite[i] = g.I[i];
    mass_matrix_factors(tree, g.S, w.composite, w.ltdl);

    idsva_velocities(tree, v, f_ext, w.idsva);
    driving_torque(tree, v, tau, w.a, w);
    ltdl_solve_vector(tree, w.a, w.ltdl);

    idsva_accelerations(tree, w.a, w.idsva);
    idsva_backward(tree, {w.dtau_dq, w.dtau_dv, static_cast<T*>(nullptr), w.stride}, w.idsva);
    if constexpr (FdsvaWorkspace<T>::matrices == 3) {
        ltdl_solve<3>(tree, T(-1.0), w.dtau_dq, w.stride, {da_dq, da_dv, da_dtau}, w.ltdl);
        mirror(da_dtau, tree.nv);
    } else {
        ltdl_solve<2>(tree, T(-1.0), w.dtau_dq, w.stride, {da_dq, da_dv}, w.ltdl);
        ltdl_inverse(tree, da_dtau, w.ltdl);
    }
}

// M^-1 alone.
template <class T>
struct MassMatrixInverseWorkspace {
    Ground<T> ground;
    LtdlWorkspace<T> ltdl;

    MassMatrixInverseWorkspace(Arena& arena, const Tree& tree)
        : ground(arena, tree), ltdl(arena, tree) {}
};

template <class T>
void mass_matrix_inverse(const Tree& tree, const T* q, T* M_inverse,
                         const MassMatrixInverseWorkspace<T>& w) {
    ground_sweep<T>(tree, q, nullptr, w.ground);
    mass_matrix_factors(tree, w.ground.S, w.ground.I, w.ltdl);
    ltdl_inverse(tree, M_inverse, w.ltdl);
}

}  // namespace dtau::DTAU_VARIANT
