// Computes the second derivatives of inverse dynamics: idsva_so(). [IDSVA-SO] algorithm 1 in the
// world's coordinates, O(N d^2), in the grouping of [Derivations] §7: every entry belongs to the deepest
// of its three indices, column m, with the composites I, 2B, f of m's body and their rates when m
// moves:
//
//   I'_m = s x* I - I s x          2B'_m = s x* 2B - 2B s x + 2B[Psi'_m]          s = s_m
//   2B[u] = u x* I - I u x + (I u) xbar*      the Coriolis operator of a subtree that moves with u
//   alpha = 2B Psi'_m + I Psi''_m + s x* f    beta = 2B s + I (Psi'_m + S'_m)
//   t1 = (2B)^T s      t2 = I s               D u = (2B[u])^T s
//
// Output m, column j on its path ([Derivations] eqs. 7.2, 7.3), i of a joint not deeper than j's:
//
//   zeta = D Psi'_j + s_j x* t1         gamma = s_j x* t2          eta = D s_j
//   d2 tau_m / dq_i dq_j = zeta . Psi'_i + gamma . Psi''_i
//   d2 tau_m / dq_i dv_j = eta . Psi'_i
//   d2 tau_m / dq_j dv_i = zeta . s_i + gamma . (Psi'_i + S'_i)    i's joint strictly shallower
//   d2 tau_m / dv_i dv_j = eta . s_i       less gamma . s_i inside one joint; and friction's curvature
//   d M_mi / dq_j        = gamma . s_i                             i's joint strictly shallower
//
// Output k of a joint strictly shallower than m's, column i on the path of m ([Derivations] eqs. 7.4,
// 7.5); {} is there if k's joint is strictly shallower than i's:
//
//   d2 tau_k / dq_i dq_m = s_k . (2B' Psi'_i + I' Psi''_i + {s_i x* alpha})
//   d2 tau_k / dq_i dv_m = s_k . (2B[s] Psi'_i + {s_i x* beta})
//   d2 tau_k / dq_m dv_i = s_k . (2B' s_i + I' (Psi'_i + S'_i))    i's joint strictly shallower
//   d2 tau_k / dv_i dv_m = s_k . 2B[s] s_i     inside one joint s_k . (2B[s_i] s + I (s_i x s))
//   d M_ki / dq_m        = s_k . I' s_i                            i's joint strictly shallower
//   d M_km / dq_i        = s_k . {s_i x* t2}
//
// Derivatives by q across joints commute. Inside one joint d2 tau / dq_i dq_j means first along j,
// then along i: the entry [output, j, i]. The fast form is algorithms/second/idsva_so.hpp.
#pragma once

#include "dtau/textbook/idsva.hpp"

namespace dtau::DTAU_VARIANT::textbook {

// The Coriolis operator of a subtree with composite inertia I that moves as a whole with the twist u.
template <class T> Matrix<T> coriolis_of(const Matrix<T>& I, const Vector<T>& u) {
    return crf(u) * I - I * crm(u) + crf_bar(I * u);
}

// Calls visit(body, column) for all columns of the joints from body b to the root.
template <class Visit> void on_path(const Tree& tree, int b, const Visit& visit) {
    for (; b >= 0; b = tree.bodies[b].parent)
        for (int j = tree.bodies[b].v; j < tree.bodies[b].v + tree.bodies[b].nv; ++j) visit(b, j);
}

// Four tensors (nv, nv, nv): d2 tau/dq dq and d2 tau/dv dv [output, first, then], d2 tau/dq dv [output, q, v],
// dM/dq [output, a, q].
template <class T> struct SecondDerivatives {
    T *dqdq, *dqdv, *dvdv, *dadq;
};

template <class T>
void idsva_so(const Tree& tree, const T* q, const T* qd, const T* qdd, const T* f_ext,
              const SecondDerivatives<T>& out, const IdsvaWorkspace<T>& w) {
    idsva_passes(tree, q, qd, qdd, f_ext, w);
    const int n = tree.nv;
    const auto at = [n](int i, int j, int k) { return (std::ptrdiff_t(i) * n + j) * n + k; };
    for (T* tensor : {out.dqdq, out.dqdv, out.dvdv, out.dadq})
        for (std::ptrdiff_t e = 0; e < at(n, 0, 0); ++e) tensor[e] = T(0.0);
    for (int b = 0; b < tree.nnodes; ++b)
        for (int m = tree.bodies[b].v; m < tree.bodies[b].v + tree.bodies[b].nv; ++m) {
            const Matrix<T>&I = w.I[b], &B2 = w.B2[b];
            const Vector<T> s = w.S[m], t1 = transposed(B2) * s, t2 = I * s;
            const Vector<T> alpha = B2 * w.Psid[m] + I * w.Psidd[m] + crf(s) * w.f[b];
            const Vector<T> beta = B2 * s + I * (w.Psid[m] + w.Sd[m]);
            const Matrix<T> E = coriolis_of(I, s), I_rate = crf(s) * I - I * crm(s);
            const Matrix<T> B_rate = crf(s) * B2 - B2 * crm(s) + coriolis_of(I, w.Psid[m]);
            const auto D = [&](const Vector<T>& u) { return transposed(coriolis_of(I, u)) * s; };

            on_path(tree, b, [&](int bj, int j) {  // output m
                const Vector<T> zeta = D(w.Psid[j]) + crf(w.S[j]) * t1;
                const Vector<T> gamma = crf(w.S[j]) * t2, eta = D(w.S[j]);
                on_path(tree, bj, [&](int bi, int i) {
                    const T by_qq = dot(zeta, w.Psid[i]) + dot(gamma, w.Psidd[i]);
                    const T by_vv = dot(eta, w.S[i]), by_aq = dot(gamma, w.S[i]);
                    out.dqdq[at(m, j, i)] = by_qq;
                    out.dqdv[at(m, i, j)] = dot(eta, w.Psid[i]);
                    out.dvdv[at(m, i, j)] = bi == bj ? by_vv - by_aq : by_vv;
                    if (bi == bj) return;
                    out.dqdq[at(m, i, j)] = by_qq;
                    out.dqdv[at(m, j, i)] = dot(zeta, w.S[i]) + dot(gamma, w.Psid[i] + w.Sd[i]);
                    out.dvdv[at(m, j, i)] = by_vv;
                    out.dadq[at(m, i, j)] = by_aq;
                });
            });
            on_path(tree, tree.bodies[b].parent, [&](int bk, int k) {  // shallower outputs
                const Vector<T>& sk = w.S[k];
                on_path(tree, b, [&](int bi, int i) {
                    const Vector<T>& si = w.S[i];
                    const bool between = bk < bi;  // on one path: k's joint is strictly shallower
                    const Vector<T> none = Vector<T>::zero();
                    const T by_qq = dot(sk, B_rate * w.Psid[i] + I_rate * w.Psidd[i] +
                                                (between ? crf(si) * alpha : none));
                    out.dqdq[at(k, m, i)] = by_qq;
                    out.dqdv[at(k, i, m)] =
                        dot(sk, E * w.Psid[i] + (between ? crf(si) * beta : none));
                    out.dadq[at(k, m, i)] = between ? dot(sk, crf(si) * t2) : T(0.0);
                    if (bi == b) {
                        out.dvdv[at(k, i, m)] = dot(sk, coriolis_of(I, si) * s + I * (crm(si) * s));
                        return;
                    }
                    out.dqdq[at(k, i, m)] = by_qq;
                    out.dqdv[at(k, m, i)] = dot(sk, B_rate * si + I_rate * (w.Psid[i] + w.Sd[i]));
                    out.dvdv[at(k, i, m)] = out.dvdv[at(k, m, i)] = dot(sk, E * si);
                    out.dadq[at(k, i, m)] = dot(sk, I_rate * si);
                });
            });
            if (m >= tree.friction.first && m < tree.friction.end)
                out.dvdv[at(m, m, m)] += w.curvature[m];
        }
    for (int s = 0; s < tree.nrotation_springs; ++s)
        for (int m = 0; m < 3; ++m) {
            const RotationSpring& spring = tree.rotation_springs[s];
            const Vec3<T> axis = {T(m == 0 ? 1.0 : 0.0), T(m == 1 ? 1.0 : 0.0),
                                  T(m == 2 ? 1.0 : 0.0)};
            add_rotation_block(spring, spring.stiffness, rotation_hessian(w.stretched[s], axis),
                               out.dqdq + at(spring.v + m, 0, 0), n);
        }
}

}  // namespace dtau::DTAU_VARIANT::textbook
