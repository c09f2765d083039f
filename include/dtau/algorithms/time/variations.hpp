// Computes the derivatives of the torque and of its time derivatives by the configuration, the
// velocity and all time derivatives of the velocity: inverse_series_derivatives(). O(N^2 r^2),
// zeros included, and O(N r^3) for each joint whose displacements do not commute. [Derivations]
// eqs. 21.4, 21.5.
//
// Let D_q, D_v, M be dtau/dq, dtau/dv, dtau/da, with their rates from idsva.hpp. A variation (eta,
// dv) of the motion, with eta in the tangent space, varies the torque by
//
//   dtau^(k) = sum over j of binomial(k, j) (D_q^(k-j) eta^(j) + D_v^(k-j) dv^(j) + M^(k-j) dv^(j+1))
//   eta^(k+1) = dv^(k) - sum over i of binomial(k, i) ad_(v^(i)) eta^(k-i)
//
// ad is zero for joints whose displacements add. Joint by joint eta^(j) = E_j x, where only x
// varies: eta at this instant (f = 0), or dv^(f-1):
//
//   E_f = 1,   E_(k+1) = -sum over i of binomial(k, i) ad_(v^(i)) E_(k-i)
#pragma once

#include "dtau/algorithms/steps/exponential.hpp"
#include "dtau/algorithms/time/idsva.hpp"

namespace dtau::DTAU_VARIANT {

// Rates of the brackets of one joint, and of E: matrices of its own velocities, 36 numbers each.
template <class T> struct BracketSeries {
    T *ad, *E;

    BracketSeries(Arena& arena, int length) { arena.take_each(36 * length, ad, E); }
};

// The rates of -ad_v up to `order`. v: the stack of velocities.
template <class T>
inline void start_brackets(const Tree& tree, const Body& body, int order, const T* v,
                           const BracketSeries<T>& w) {
    for (int k = 0; k <= order; ++k)
        joint_matrix(body.kind, ad(-joint_twist(body, v + k * tree.nv + body.v)), w.ad + 36 * k);
}

// E of orders f ... `order`; E of order f is the unit matrix.
template <class T>
inline void bracket_series(int nv, int f, int order, const Binomials& binomial,
                           const BracketSeries<T>& w) {
    for (int e = 0; e < nv * nv; ++e) w.E[36 * f + e] = T(e % (nv + 1) == 0 ? 1.0 : 0.0);
    for (int k = f; k < order; ++k) {
        T* to = w.E + 36 * (k + 1);
        for (int e = 0; e < nv * nv; ++e) to[e] = T(0.0);
        for (int i = 0; i <= k - f; ++i) {  // [Derivations] eq. 21.4
            const T factor(binomial(k, i));
            const T *ad = w.ad + 36 * i, *E = w.E + 36 * (k - i);
            for (int r = 0; r < nv; ++r)
                for (int c = 0; c < nv; ++c)
                    for (int e = 0; e < nv; ++e)
                        to[r * nv + c] =
                            fma(factor * ad[r * nv + e], E[e * nv + c], to[r * nv + c]);
        }
    }
}

template <class T> struct InverseVariationWorkspace {
    IdsvaSeriesWorkspace<T> idsva;
    Binomials binomial;
    BracketSeries<T> brackets;
    T *D_q, *D_v, *M;  // (order + 1, nv, nv)

    InverseVariationWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : idsva(arena, tree, options),
          binomial(arena, options.order + 1),
          brackets(arena, options.order + 1),
          D_q(arena.take_zeros<T>((options.order + 1) * std::ptrdiff_t(tree.nv) * tree.nv)),
          D_v(arena.take_zeros<T>((options.order + 1) * std::ptrdiff_t(tree.nv) * tree.nv)),
          M(arena.take_zeros<T>((options.order + 1) * std::ptrdiff_t(tree.nv) * tree.nv)) {}
};

// Adds factor D_q E to columns first ... first + nv - 1 of a matrix (n, n).
template <class T>
inline void add_joint_columns(int n, int first, int nv, T factor, const T* D_q, const T* E, T* to) {
    for (int r = 0; r < n; ++r, D_q += n, to += n)
        for (int c = 0; c < nv; ++c)
            for (int e = 0; e < nv; ++e)
                to[first + c] = fma(factor * D_q[first + e], E[e * nv + c], to[first + c]);
}

// v: (order + 2, nv). f_ext: (order + 1, nbodies, 6), may be null. dtau_dq: (order + 1, nv, nv);
// dtau_dv: (order + 1, order + 2, nv, nv), at [k, m] the derivative of order k of the torque by
// order m of v.
template <class T>
void inverse_series_derivatives(const Tree& tree, int order, const T* q, const T* v, const T* f_ext,
                                T* dtau_dq, T* dtau_dv, const InverseVariationWorkspace<T>& w) {
    const int n = tree.nv;
    const std::ptrdiff_t all = std::ptrdiff_t(n) * n;
    idsva_time_derivatives(tree, order, q, v, f_ext, w.D_q, w.D_v, w.M, w.idsva);
    const auto by_v = [&](int k, int m) { return dtau_dv + (k * (order + 2) + m) * all; };
    for (std::ptrdiff_t e = 0; e < (order + 1) * all; ++e) dtau_dq[e] = w.D_q[e];
    for (int k = 0; k <= order; ++k)
        for (int m = 0; m <= order + 1; ++m) {  // [Derivations] eq. 21.5
            T* to = by_v(k, m);
            for (std::ptrdiff_t e = 0; e < all; ++e) to[e] = T(0.0);
            const auto add = [&](int j, const T* matrices) {
                if (j < 0 || j > k) return;
                const T factor(w.binomial(k, j));
                const T* matrix = matrices + (k - j) * all;
                for (std::ptrdiff_t e = 0; e < all; ++e) to[e] = fma(factor, matrix[e], to[e]);
            };
            add(m + 1, w.D_q), add(m, w.D_v), add(m - 1, w.M);
        }
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        if (traits(body.kind).commutes) continue;
        start_brackets(tree, body, order, v, w.brackets);
        for (int f = 0; f <= order; ++f) {
            bracket_series(body.nv, f, order, w.binomial, w.brackets);
            for (int k = f + 1; k <= order; ++k)
                for (int j = f + 1; j <= k; ++j)
                    add_joint_columns(n, body.v, body.nv, T(w.binomial(k, j)),
                                      w.D_q + (k - j) * all, w.brackets.E + 36 * j,
                                      f == 0 ? dtau_dq + k * all : by_v(k, f - 1));
        }
    }
}

}  // namespace dtau::DTAU_VARIANT
