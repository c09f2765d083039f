// Multiplies series of forces by the columns of a free root, and series of inertias and Coriolis
// operators by series of twists: free_root_entries(), free_root_block(), inertia_times(),
// coriolis_series(). These are the formulas of free_root.hpp and inertia.hpp as products of Taylor
// series (taylor.hpp), in the moving root frame (root_frame_series.hpp). There the columns of a
// free root are constant unit motions. [Derivations] eqs. 4.8, 21.1.
#pragma once

#include "dtau/algorithms/first/idsva.hpp"
#include "dtau/algorithms/time/root_frame_series.hpp"

namespace dtau::DTAU_VARIANT {

// ---------------------------------------------------------------- products of series

// Sum of a_m x b_{k-m}.
template <class T> inline Motion<T> cross_series(int k, const Motion<T>* a, const Motion<T>* b) {
    Motion<T> sum = cross(a[0], b[k]);
    for (int m = 1; m <= k; ++m) sum = cross(a[m], b[k - m], sum);
    return sum;
}

// Sum of I_m s_{k-m}. Only order 0 of I has a mass.
template <class T> inline Force<T> inertia_times(int k, const Inertia<T>* I, const Motion<T>* s) {
    Force<T> sum = I[0] * s[k];
    for (int m = 1; m <= k; ++m) {
        const Motion<T>& x = s[k - m];
        sum = {cross(I[m].h, x.lin, sum.ang + I[m].J * x.ang), cross(x.ang, I[m].h, sum.lin)};
    }
    return sum;
}

// Order k of the Coriolis operator of a body with the twist v; momentum: I v of order k.
template <class T>
inline Coriolis<T> coriolis_series(int k, const Inertia<T>* I, const Motion<T>* v,
                                   const Force<T>& momentum) {
    Coriolis<T> sum = coriolis(I[0], v[k], momentum);
    for (int m = 1; m <= k; ++m) sum.A += coriolis(I[m], v[k - m], momentum).A;
    return sum;
}

// ---------------------------------------------------------------- the free root above

// The products of one column with the composites of its subtree (idsva.hpp). If the order is known
// at compile time, they are local numbers, which stay in registers.
template <int fixed, class T> struct ColumnSeries {
    Vec3<T> t1[fixed + 1];
    Force<T> t2[fixed + 1], by_q[fixed + 1], by_v[fixed + 1];

    explicit ColumnSeries(const ColumnSeries<any_order, T>&) {}
};
template <class T> struct ColumnSeries<any_order, T> {
    Vec3<T>* t1;
    Force<T>*t2, *by_q, *by_v;

    ColumnSeries(Arena& arena, int length) { arena.take_each(length, t1, t2, by_q, by_v); }
};

// Entries of the three matrices, of one order.
template <class T> struct Entries {
    T dq, dv, da;
};

// Stores the entries of all orders at one place of the matrices that of_order(k) gives. Known orders
// are all computed by entries(k) before one is stored, so that the compiler loads once what they have
// in common.
template <int fixed, class T, class OfOrder, class Compute>
inline void store_orders(int order, int at, const OfOrder& of_order, const Compute& entries) {
    const auto store = [&](int k, const Entries<T>& e) __attribute__((always_inline)) {
        const Partials<T> to = of_order(k);
        to.dq[at] = e.dq, to.dv[at] = e.dv, to.da[at] = e.da;
    };
    if constexpr (fixed == any_order) {
        for (int k = 0; k <= order; ++k) store(k, entries(k));
    } else {
        Entries<T> all[fixed + 1];
        unrolled<fixed + 1>([&](int k) __attribute__((always_inline)) { all[k] = entries(k); });
        unrolled<fixed + 1>([&](int k) __attribute__((always_inline)) { store(k, all[k]); });
    }
}

// Its twist, and minus gravity in its axes.
template <class T> struct FreeRootSeries {
    const Motion<T>* v;
    const Vec3<T>* G;
};

// Order k of column c's entries with the free root above it, whose rows and columns are
// base ... base + 5.
template <int fixed, class T>
inline void free_root_entries(int k, T factor, const FreeRootSeries<T>& root,
                              const ColumnSeries<fixed, T>& x, int c, int base,
                              const Partials<T>& out) {
    Vec3<T> dq = cross(x.t2[k].lin, root.G[0]);
    Force<T> dv = {x.t1[k], zero_vector<T>()};
    for (int m = 1; m <= k; ++m) dq = cross(x.t2[k - m].lin, root.G[m], dq);
    for (int m = 0; m <= k; ++m) {
        const Force<T>& t2 = x.t2[k - m];
        const Motion<T>& v = root.v[m];
        dv = {cross(t2.lin, v.lin, cross(t2.ang, v.ang, dv.ang)), cross(t2.lin, v.ang, dv.lin)};
    }
    const int n = out.n, row = c * n + base, column = base * n + c;
    const Force<T> da = factor * x.t2[k];
    store_angular(factor * dq, out.dq + row);
    store_components(factor * dv, out.dv + row);
    store_components(da, out.da + row);
    store_components(factor * x.by_q[k], out.dq + column, n);
    store_components(factor * x.by_v[k], out.dv + column, n);
    store_components(da, out.da + column, n);
}

// ---------------------------------------------------------------- its own block

// a^ b^ + sum, as a^ b^ = b a^T - (a . b) 1.
template <class T>
inline Mat3<T> skew_product(const Vec3<T>& a, const Vec3<T>& b, const Mat3<T>& sum) {
    Mat3<T> result = {fma(a.x, b, sum.x), fma(a.y, b, sum.y), fma(a.z, b, sum.z)};
    const T ab = dot(a, b);
    result.x.x = result.x.x - ab, result.y.y = result.y.y - ab, result.z.z = result.z.z - ab;
    return result;
}

// 3 x 3 entries, rows n apart.
template <class T> inline void store_block(T factor, const Mat3<T>& block, T* to, int n) {
    const Mat3<T> rows = transposed(block);
    const Vec3<T> scaled[3] = {factor * rows.x, factor * rows.y, factor * rows.z};
    for (int r = 0; r < 3; ++r, to += n)
        to[0] = scaled[r].x, to[1] = scaled[r].y, to[2] = scaled[r].z;
}

// Order k of the block of the root's own columns, from `first` on. I, B: composites of the tree, B
// of order k. Column j is I Psi''_j by q and 2B s_j + I S'_j by v, [Derivations] eq. 4.8.
template <class T>
inline void free_root_block(int k, T factor, const FreeRootSeries<T>& root, const Inertia<T>* I,
                            const Coriolis<T>& B, int first, const Partials<T>& out) {
    Mat3<T> hG = zero_matrix<T>(), hW = hG, moment = B.A;
    for (int m = 0; m <= k; ++m) {
        const Inertia<T>& I_m = I[k - m];
        const Mat3<T> W = skew(root.v[m].ang);
        hG = skew_product(I_m.h, root.G[m], hG);
        hW = skew_product(I_m.h, root.v[m].ang, hW);
        moment = skew_product(I_m.h, root.v[m].lin, moment);
        moment += {I_m.J * W.x, I_m.J * W.y, I_m.J * W.z};
    }
    const int n = out.n, at = first * n + first;
    T *const dq = out.dq + at, *const dv = out.dv + at;
    const T m = I[0].m;
    const Vec3<T>& omega = root.v[k].ang;
    store_block(factor, m * skew(root.G[k]), dq + 3, n);
    store_block(factor, hG, dq + 3 * n + 3, n);
    Mat3<T> force = skew(fma(m, root.v[k].lin, -B.p2));
    force += T(-1.0) * hW;
    store_block(factor, m * skew(omega), dv, n);
    store_block(factor, force, dv + 3, n);
    store_block(factor, hW, dv + 3 * n, n);
    store_block(factor, moment, dv + 3 * n + 3, n);
    Inertia<T> of_order = I[k];
    of_order = {factor * of_order.m,
                factor * of_order.h,
                {factor * of_order.J.xx, factor * of_order.J.xy, factor * of_order.J.xz,
                 factor * of_order.J.yy, factor * of_order.J.yz, factor * of_order.J.zz}};
    free_root_inertia(of_order, out.da + at, n);
}

}  // namespace dtau::DTAU_VARIANT
