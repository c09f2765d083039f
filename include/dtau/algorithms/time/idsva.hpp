// Computes the first derivatives of inverse dynamics along a motion and their time derivatives:
// idsva_time_derivatives(). O(N d r^2) for order r. This is IDSVA (first/idsva.hpp) on truncated
// Taylor series, as H-GRNE is the RNEA on Taylor series: each product becomes a convolution.
// [Derivations] eq. 21.1.
//
// Coefficients of order k (taylor.hpp) in the moving root frame, with the columns s, inertias I and
// twists u relative to the root of root_frame_series.hpp, v_0 the root's twist and G minus gravity:
//
//   forward    v_i = v_0 + u_i        Psi'_j = v_p x s_j        Psi''_j = a_p x s_j + v_p x Psi'_j
//              a_i = a_p + S q'' + Psi' q'                      a_world = (0; G),  G' = G x omega_0
//              2B_i = v_i x* I_i - I_i v_i x + (I_i v_i) xbar*  f_i = I_i a_i + v_i x* I_i v_i - f_ext_i
//   backward   the entries of first/idsva.hpp for each order, as sums over m of orders m and k - m
//
// Differences from IDSVA: in the moving root frame the columns of a free root are constant unit
// motions at all orders, so its rows and columns are components of forces. Order 1 is compiled
// separately, with unrolled sums.
//
// Symbols, series of `length` coefficients:
//   Psidot[j], Psiddot[j], Upsilondot[j]   of first/idsva.hpp (nv)
//   v[i], a[i], B[i], f[i]                 of first/idsva.hpp (nnodes)
//   G[i]                                   of root bodies (nnodes)
//   t1, t2, by_q, by_v                     products of one column with its subtree's composites
#pragma once

#include "dtau/algorithms/time/free_root_series.hpp"
#include "dtau/algorithms/time/spring_series.hpp"
#include "dtau/algorithms/time/world_wrench_partials.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct IdsvaSeriesWorkspace {
    RootFrameSeries<T> series;
    Motion<T>*Psidot, *Psiddot, *Upsilondot, *v, *a;
    Coriolis<T>* B;
    Force<T>* f;
    Vec3<T>* G;
    Force<T>* momentum;  // of one body
    ColumnSeries<any_order, T> column;
    WrenchSeries<T> wrenches;
    SpringSeries<T> springs;
    FrictionSeries<T> friction;

    IdsvaSeriesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : series(arena, tree, options.order + 1),
          momentum(arena.take<Force<T>>(series.length)),
          column(arena, series.length),
          wrenches(arena, tree, options),
          springs(arena, tree, series.length),
          friction(arena, tree, series.length) {
        arena.take_each(tree.nv * series.length, Psidot, Psiddot, Upsilondot);
        arena.take_each(tree.nnodes * series.length, v, a, B, f, G);
    }

    // Where the series of body or column i begins.
    std::ptrdiff_t at(int i) const { return std::ptrdiff_t(i) * series.length; }
};

// ---------------------------------------------------------------- forward pass

// Order k of v, a, Psi', Psi'' and Upsilon' of a root: v_p = 0, a_p = (0; G). v: the stack.
template <int fixed, class T>
DTAU_INLINE void root_motion(const Tree& tree, const Body& body, int k, const T* v, Motion<T>* v_i,
                             Motion<T>* a_i, const Vec3<T>& G, const IdsvaSeriesWorkspace<T>& w) {
    const T factor = factor_of<fixed, T>(w.series.scale.inverse_factorial, k);
    T rates[6], second[6];
    for (int c = 0; c < body.nv; ++c) {
        rates[c] = factor * v[k * tree.nv + body.v + c];
        second[c] = factor * v[(k + 1) * tree.nv + body.v + c];
    }
    v_i[k] = joint_twist(body, rates);
    a_i[k] = Motion<T>{zero_vector<T>(), G} + joint_twist(body, second);
    for (int j = body.v; j < body.v + body.nv; ++j) {
        const Motion<T>& s = w.series.column(j)[0];
        w.Psidot[w.at(j) + k] = zero_motion<T>();
        w.Psiddot[w.at(j) + k] = {zero_vector<T>(), cross(G, s.ang)};
        w.Upsilondot[w.at(j) + k] = body.nv == 1 ? zero_motion<T>() : cross(v_i[k], s);
    }
}

// The same for another body, after its parent.
template <int fixed, class T>
DTAU_INLINE void body_motion(const Tree& tree, const Body& body, int k, const T* v, Motion<T>* v_i,
                             Motion<T>* a_i, const Motion<T>& relative,
                             const IdsvaSeriesWorkspace<T>& w) {
    const Motion<T>*v_p = w.v + w.at(body.parent), *a_p = w.a + w.at(body.parent);
    v_i[k] = w.v[w.at(body.root) + k] + relative;
    Motion<T> a = a_p[k];
    for (int j = body.v; j < body.v + body.nv; ++j) {
        const Motion<T>* s = w.series.column(j);
        Motion<T>* Psidot = w.Psidot + w.at(j);
        Psidot[k] = cross_series(k, v_p, s);
        w.Psiddot[w.at(j) + k] = cross_sum(k, v_p, Psidot, cross_series(k, a_p, s));
        w.Upsilondot[w.at(j) + k] =
            body.nv == 1 ? Psidot[k] + Psidot[k] : cross_sum(k, v_i, s, Psidot[k]);
        for (int m = 0; m <= k; ++m) {
            const T factor = factor_of<fixed, T>(w.series.scale.inverse_factorial, m);
            const T rate = factor * v[m * tree.nv + j], second = factor * v[(m + 1) * tree.nv + j];
            a = fma(second, s[k - m], fma(rate, Psidot[k - m], a));
        }
    }
    a_i[k] = a;
}

// Order k of B and f of body i.
template <class T> DTAU_INLINE void body_force(int i, int k, const IdsvaSeriesWorkspace<T>& w) {
    const Inertia<T>* I = w.series.inertia(i);
    const Motion<T>*v = w.v + w.at(i), *a = w.a + w.at(i);
    w.momentum[k] = inertia_times(k, I, v);
    w.B[w.at(i) + k] = coriolis_series(k, I, v, w.momentum[k]);
    Force<T> f = inertia_times(k, I, a);
    for (int m = 0; m <= k; ++m) f = cross_star(v[m], w.momentum[k - m], f);
    w.f[w.at(i) + k] = f;
}

template <int fixed, class T>
DTAU_INLINE void forward_series(const Tree& tree, int order, const T* q, const T* v, const T* f_ext,
                                const IdsvaSeriesWorkspace<T>& w) {
    const RootFrameSeries<T>& g = w.series;
    const Configuration<T> x = configuration(tree, q, g.angles);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const std::ptrdiff_t at = w.at(i);
        relative_body<fixed>(tree, i, order, order + 1, x, v, g);
        Vec3<T>* G = w.G + at;
        if (body.parent < 0) G[0] = minus_gravity(tree, body, x);
        for_orders<fixed>(order, [&](int k) __attribute__((always_inline)) {
            if (body.parent < 0) {
                root_motion<fixed>(tree, body, k, v, w.v + at, w.a + at, G[k], w);
                Vec3<T> rate = zero_vector<T>();
                for (int m = 0; m <= k; ++m) rate = cross(G[m], w.v[at + k - m].ang, rate);
                if (k < order) G[k + 1] = factor_of<fixed, T>(g.scale.inverse, k + 1) * rate;
            } else {
                body_motion<fixed>(tree, body, k, v, w.v + at, w.a + at, g.twist(i)[k], w);
            }
        });
        for_orders<fixed>(order,
                          [&](int k) __attribute__((always_inline)) { body_force(i, k, w); });
        if (acts_on(f_ext, body))
            subtract_wrench(tree, i, order, f_ext, g.P[i], g.twist(i), g.scale, w.f + at,
                            w.wrenches);
    }
}

// ---------------------------------------------------------------- backward pass

// Order k of the products of column c of body i with the composites of its subtree, for row c of
// the matrices.
template <int fixed, class T>
DTAU_INLINE void row_products(int i, int c, int k, ColumnSeries<fixed, T>& x,
                              const IdsvaSeriesWorkspace<T>& w) {
    const Coriolis<T>* B = w.B + w.at(i);
    const Motion<T>* s = w.series.column(c);
    Vec3<T> t1 = transposed_mul(B[0], s[k]);  // [Derivations] eq. 4.5
    for (int m = 1; m <= k; ++m) t1 = t1 + transposed_mul(B[m], s[k - m]);
    x.t1[k] = t1, x.t2[k] = inertia_times(k, w.series.inertia(i), s);
}
// The same for column c of the matrices.
template <int fixed, class T>
DTAU_INLINE void column_products(int i, int c, int k, ColumnSeries<fixed, T>& x,
                                 const IdsvaSeriesWorkspace<T>& w) {
    const Inertia<T>* I = w.series.inertia(i);
    const Coriolis<T>* B = w.B + w.at(i);
    const Force<T>* f = w.f + w.at(i);
    const Motion<T>*s = w.series.column(c), *Psidot = w.Psidot + w.at(c);
    Force<T> by_q = inertia_times(k, I, w.Psiddot + w.at(c));
    Force<T> by_v = inertia_times(k, I, w.Upsilondot + w.at(c));
    for (int m = 0; m <= k; ++m) {  // [Derivations] eq. 4.7
        by_q = mul_add(B[k - m], Psidot[m], cross_star(s[m], f[k - m], by_q));
        by_v = mul_add(B[k - m], s[m], by_v);
    }
    x.by_q[k] = by_q, x.by_v[k] = by_v;
}

// Order k of the entries in a row, of a column j of its own joint or above.
template <int fixed, class T>
DTAU_INLINE Entries<T> row_entries(int j, int k, T factor, const ColumnSeries<fixed, T>& x,
                                   const IdsvaSeriesWorkspace<T>& w) {
    const Motion<T>*s = w.series.column(j), *Psidot = w.Psidot + w.at(j);
    const Motion<T>*Psiddot = w.Psiddot + w.at(j), *Upsilondot = w.Upsilondot + w.at(j);
    T dq = dot(x.t1[k], Psidot[0].ang, dot(x.t2[k], Psiddot[0]));  // [Derivations] eq. 4.6
    T dv = dot(x.t1[k], s[0].ang, dot(x.t2[k], Upsilondot[0])), da = dot(x.t2[k], s[0]);
    for (int m = 1; m <= k; ++m) {
        const Vec3<T>& t1 = x.t1[k - m];
        const Force<T>& t2 = x.t2[k - m];
        dq = dot(t1, Psidot[m].ang, dot(t2, Psiddot[m], dq));
        dv = dot(t1, s[m].ang, dot(t2, Upsilondot[m], dv));
        da = dot(t2, s[m], da);
    }
    return {factor * dq, factor * dv, factor * da};
}

// The same for the entries in column c, of a row j above. The entries of dtau/da are already in row
// c.
template <int fixed, class T>
DTAU_INLINE Entries<T> column_entries(int j, int k, T factor, const ColumnSeries<fixed, T>& x,
                                      const T* da, const IdsvaSeriesWorkspace<T>& w) {
    const Motion<T>* s = w.series.column(j);
    T by_q = dot(x.by_q[k], s[0]), by_v = dot(x.by_v[k], s[0]);  // [Derivations] eq. 4.7
    for (int m = 1; m <= k; ++m)
        by_q = dot(x.by_q[k - m], s[m], by_q), by_v = dot(x.by_v[k - m], s[m], by_v);
    return {factor * by_q, factor * by_v, da[j]};
}

// Adds the three matrices of all orders to zeros.
template <int fixed, class T>
DTAU_INLINE void backward_series(const Tree& tree, int order, const Partials<T>& out,
                                 const IdsvaSeriesWorkspace<T>& w) {
    const RootFrameSeries<T>& g = w.series;
    const auto factor = [&](int k) __attribute__((always_inline)) {
        return factor_of<fixed, T>(g.scale.factorial, k);
    };
    const auto of_order = [&](int k) __attribute__((always_inline)) {
        const std::ptrdiff_t at = std::ptrdiff_t(k) * out.n * out.n;
        return Partials<T>{out.dq + at, out.dv + at, out.da + at, out.n};
    };
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const int first = body.v, end = body.v + body.nv, stop = path_stop(tree, body);
        const FreeRootSeries<T> root = {w.v + w.at(body.root), w.G + w.at(body.root)};
        if (first < stop) {
            for_orders<fixed>(order, [&](int k) __attribute__((always_inline)) {
                free_root_block(k, factor(k), root, g.inertia(i), w.B[w.at(i) + k], first,
                                of_order(k));
            });
            continue;
        }
        for (int c = first; c < end; ++c) {
            ColumnSeries<fixed, T> x(w.column);
            for_orders<fixed>(order, [&](int k) __attribute__((always_inline)) {
                row_products<fixed>(i, c, k, x, w);
            });
            const auto row = [&](int j) __attribute__((always_inline)) {
                store_orders<fixed, T>(order, c * out.n + j, of_order,
                                       [&](int k) __attribute__((always_inline)) {
                                           return row_entries<fixed>(j, k, factor(k), x, w);
                                       });
            };
            const auto column = [&](int j) __attribute__((always_inline)) {
                store_orders<fixed, T>(order, j * out.n + c, of_order,
                                       [&](int k) __attribute__((always_inline)) {
                                           const T* da = of_order(k).da + c * out.n;
                                           return column_entries<fixed>(j, k, factor(k), x, da, w);
                                       });
            };
            for (int j = first; j < end; ++j) row(j);
            if (body.parent < 0) continue;
            for (int j = tree.dofs.parent[first]; j >= stop; j = tree.dofs.parent[j]) row(j);
            for_orders<fixed>(order, [&](int k) __attribute__((always_inline)) {
                column_products<fixed>(i, c, k, x, w);
            });
            for (int j = tree.dofs.parent[first]; j >= stop; j = tree.dofs.parent[j]) column(j);
            if (stop == 0) continue;
            for_orders<fixed>(order, [&](int k) __attribute__((always_inline)) {
                free_root_entries<fixed>(k, factor(k), root, x, c, stop - 6, of_order(k));
            });
        }
        if (body.parent < 0) continue;
        const std::ptrdiff_t at = w.at(i), parent = w.at(body.parent);
        for (int k = 0; k <= order; ++k) {
            g.inertia(body.parent)[k] += g.inertia(i)[k];
            w.B[parent + k] += w.B[at + k];
            w.f[parent + k] += w.f[at + k];
        }
    }
    for (int k = 0; k < tree.nv; ++k) {
        out.da[k * out.n + k] += T(tree.armature[k]);
        out.dv[k * out.n + k] += T(tree.damping[k]);
    }
}

// v: (order + 2, nv). f_ext: (order + 1, nbodies, 6), may be null: zero. Results: (order + 1, nv,
// nv), into zeros.
template <class T>
void idsva_time_derivatives(const Tree& tree, int order, const T* q, const T* v, const T* f_ext,
                            T* dtau_dq, T* dtau_dv, T* dtau_da, const IdsvaSeriesWorkspace<T>& w) {
    const Partials<T> out = {dtau_dq, dtau_dv, dtau_da, tree.nv};
    turn_wrenches(tree, order, q, v, f_ext, w.wrenches);
    const auto both_passes = [&]<int fixed>() __attribute__((noinline)) {
        forward_series<fixed>(tree, order, q, v, f_ext, w);
        backward_series<fixed>(tree, order, out, w);
    };
    if (order == 1)
        both_passes.template operator()<1>();
    else
        both_passes.template operator()<any_order>();
    add_wrench_partials(tree, order, f_ext, w.series, dtau_dq, w.wrenches);
    for (int k = 0; k <= order && (k == 0 || tree.nrotation_springs > 0); ++k) {
        w.springs.extend(tree, k, q, v, v + tree.nv, w.series.scale);
        w.springs.add_stiffness(tree, k, w.series.scale,
                                dtau_dq + std::ptrdiff_t(k) * tree.nv * tree.nv, tree.nv);
    }
    for (int k = 0; k <= order && has_friction(tree); ++k) {
        w.friction.extend(tree, k, v, v + tree.nv, w.series.scale.inverse_factorial);
        w.friction.add_slopes(tree, k, w.series.scale.factorial[k],
                              dtau_dv + std::ptrdiff_t(k) * tree.nv * tree.nv, tree.nv);
    }
}

}  // namespace dtau::DTAU_VARIANT
