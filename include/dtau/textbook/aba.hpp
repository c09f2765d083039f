// Computes forward dynamics by the articulated-body algorithm in body coordinates, O(N): aba().
// [RBDA] table 7.1.
//
//   v_i = X_i v_p + S_i q'_i        c_i = v_i x S_i q'_i        pA_i = v_i x* I_i v_i - f_ext_i
//   U = IA_i S_i        D = S_i^T U + armature        u = tau_i - damping q'_i - S_i^T pA_i
//                                                   tau_i: without springs and friction
//   Ia = IA_i - U D^-1 U^T              IA_p += X_i^T Ia X_i
//   pa = pA_i + Ia c_i + U D^-1 u       pA_p += X_i^T pa
//   a' = X_i a_p + c_i                  q''_i = D^-1 (u - U^T a')        a_i = a' + S_i q''_i
//
// The fast form is algorithms/values/aba.hpp.
#pragma once

#include "dtau/textbook/spatial.hpp"

namespace dtau::DTAU_VARIANT::textbook {

template <class T> struct AbaWorkspace {
    Configuration<T> angles;
    Vector<T>*S, *U, *UDinv;   // columns (nv), UDinv: U D^-1
    T *u, *Dinv;               // (nv); (nv, 6), by rows: the block of a joint
    T* torque;                 // tau without springs and friction, if there are any
    Vector<T>*v, *c, *pA, *a;  // (nnodes)
    Matrix<T>*X, *IA;          // (nnodes)

    AbaWorkspace(Arena& arena, const Tree& tree, const Options&)
        : angles(arena, tree),
          Dinv(arena.take<T>(6 * tree.nv)),
          torque(room_for_drive<T>(arena, tree)) {
        arena.take_each(tree.nv, S, U, UDinv, u);
        arena.take_each(tree.nnodes, v, c, pA, a, X, IA);
    }
};

// The inverse of D, symmetric and positive definite (n, n) with rows of 6, by Gauss-Jordan
// elimination in place.
template <class T> void invert(int n, T* D) {
    for (int k = 0; k < n; ++k) {
        const T pivot = T(1.0) / D[6 * k + k];
        D[6 * k + k] = T(1.0);
        for (int j = 0; j < n; ++j) D[6 * k + j] = pivot * D[6 * k + j];
        for (int i = 0; i < n; ++i) {
            if (i == k) continue;
            const T factor = D[6 * i + k];
            D[6 * i + k] = T(0.0);
            for (int j = 0; j < n; ++j) D[6 * i + j] = D[6 * i + j] - factor * D[6 * k + j];
        }
    }
}

template <class T>
void aba(const Tree& tree, const T* q, const T* qd, const T* tau, const T* f_ext, T* qdd,
         const AbaWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    tau = left_by_springs_and_friction(tree, q, qd, tau, w.torque);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const int p = body.parent, k = body.v;
        w.X[i] = motion_transform(jcalc(body, x, w.S + k));
        const Vector<T> vJ = times(w.S + k, qd + k, body.nv);
        w.v[i] = p < 0 ? vJ : w.X[i] * w.v[p] + vJ;
        w.c[i] = crm(w.v[i]) * vJ;
        w.IA[i] = rigid_body_inertia<T>(body);
        w.pA[i] = crf(w.v[i]) * (w.IA[i] * w.v[i]) - external_force(body, f_ext);
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const int n = body.nv, at = body.v;
        const Vector<T>*S = w.S + at, *U = w.U + at, *UDinv = w.UDinv + at;
        T* Dinv = w.Dinv + 6 * at;
        for (int k = 0; k < n; ++k) {
            w.U[at + k] = w.IA[i] * S[k];
            w.u[at + k] = tau[at + k] - T(tree.damping[at + k]) * qd[at + k] - dot(S[k], w.pA[i]);
            for (int l = 0; l <= k; ++l) Dinv[6 * k + l] = Dinv[6 * l + k] = dot(S[l], U[k]);
            Dinv[6 * k + k] = Dinv[6 * k + k] + T(tree.armature[at + k]);
        }
        invert(n, Dinv);
        for (int k = 0; k < n; ++k) w.UDinv[at + k] = times(U, Dinv + 6 * k, n);
        if (body.parent < 0) continue;
        Matrix<T> Ia = w.IA[i];
        for (int k = 0; k < n; ++k)
            for (int r = 0; r < 6; ++r) Ia.row[r] = Ia.row[r] - UDinv[k][r] * U[k];
        const Vector<T> pa = w.pA[i] + Ia * w.c[i] + times(UDinv, w.u + at, n);
        w.IA[body.parent] += transposed(w.X[i]) * Ia * w.X[i];
        w.pA[body.parent] += transposed(w.X[i]) * pa;
    }
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const int p = body.parent, n = body.nv, at = body.v;
        const Vector<T> a = w.X[i] * (p < 0 ? minus_gravity<T>(tree) : w.a[p]) + w.c[i];
        for (int k = 0; k < n; ++k) {
            qdd[at + k] = T(0.0) - dot(w.UDinv[at + k], a);
            for (int l = 0; l < n; ++l)
                qdd[at + k] = qdd[at + k] + w.Dinv[6 * (at + k) + l] * w.u[at + l];
        }
        w.a[i] = a + times(w.S + at, qdd + at, n);
    }
}

}  // namespace dtau::DTAU_VARIANT::textbook
