// Corrects first derivatives by q for external wrenches along the world's axes:
// add_world_wrench_partials(), vary_along_body_axes(), gradient_along_world_axes(). [Derivations] §17.
//
// All other algorithms hold wrenches constant along body axes. A wrench W_i that is constant along
// the world's axes changes along body axes (wrench_axes.hpp): if body i moves with the twist x, by
// -x~ x* W_i. For wrenches about the world's origin x~ = x; for mixed wrenches x~ is the rotation x.ang
// about the body's origin. G_k s is the sum of s~ x* W_i over the subtree of column k:
//
//   dtau_k/dq_j += s_k . G_k s_j        dtau_j/dq_k += s_j . G_k s_k       j on the path of k    (17.2)
//   jvp   df_i = -x_i~ x* W_i           x_i = twist of body i if dq were the joint rates
//   vjp   by_q_k += s_k . (sum over the subtree of b_i x* W_i)      b = by_f_ext along body axes
//
// For mixed wrenches the force of b x* W is left out. O(N d), and O(N) for products.
#pragma once

#include "dtau/algorithms/values/wrench_axes.hpp"
#include "dtau/free_root.hpp"

namespace dtau::DTAU_VARIANT {

// to += x, where a zero becomes +0: its sign may differ between a lone state and lanes.
template <class T> inline void add_entry(T& to, T x) { to = (to + T(0.0)) + x; }

// ---------------------------------------------------------------- products

template <class T> struct WrenchVariationWorkspace {
    WrenchAxesWorkspace<T> value;
    Motion<T>* x;  // along the world's axes, at the bodies' origins
    T* df_ext;     // (nbodies, 6)

    WrenchVariationWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : value(arena, tree, options),
          x(arena.take<Motion<T>>(value.in_world() ? tree.nnodes : 0)),
          df_ext(arena.take<T>(value.in_world() ? 6 * tree.nbodies : 0)) {}
};

template <class T> struct WrenchVariation {
    const T *f_ext, *df_ext;
};

// Computes the wrenches along body axes, and their variation with dq (nv) and with df_ext, which may be
// null: zero.
template <class T>
WrenchVariation<T> vary_along_body_axes(const Tree& tree, const T* q, const T* dq, const T* f_ext,
                                        const T* df_ext, const WrenchVariationWorkspace<T>& w) {
    const WrenchAxesWorkspace<T>& value = w.value;
    if (!value.hold(f_ext) && !value.hold(df_ext)) return {f_ext, df_ext};
    place_in_world(tree, configuration(tree, q, value.angles), value.P);
    if (f_ext) f_ext = turned_wrenches(tree, f_ext, value);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const Placement<T>& P = value.P[i];
        const Motion<T> own = joint_twist(body, dq + body.v);
        Motion<T> x = {P.R * own.ang, P.R * own.lin};
        if (body.parent >= 0) {
            const Motion<T>& carried = w.x[body.parent];
            const Vec3<T> d = P.r - value.P[body.parent].r;
            x = {x.ang + carried.ang, cross(carried.ang, d, x.lin + carried.lin)};
        }
        w.x[i] = x;
        if (body.link < 0) continue;
        const Placement<T> user = user_axes(body, P);
        T* to = w.df_ext + 6 * body.link;
        Force<T> dW = zero_force<T>();
        if (df_ext) dW = seen_by_body(value.axes, user, read_wrench(df_ext + 6 * body.link));
        if (f_ext) {
            Motion<T> turn = {transposed_mul(user.R, x.ang), transposed_mul(user.R, x.lin)};
            if (value.axes == Axes::mixed) turn.lin = zero_vector<T>();
            // [Derivations] eq. 17.1
            dW = dW - cross_star(turn, read_wrench(f_ext + 6 * body.link));
        }
        write_wrench(dW, to);
    }
    return {f_ext, w.df_ext};
}

template <class T> struct WrenchGradientWorkspace {
    WrenchAxesWorkspace<T> value;
    Force<T>* turning;  // b x* W summed over the subtree, along world axes, at the body's origin

    WrenchGradientWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : value(arena, tree, options),
          turning(arena.take<Force<T>>(value.in_world() ? tree.nnodes : 0)) {}
};

// Converts a gradient at the wrenches of along_body_axes. Adds to by_q (nv) the change of these
// wrenches with q, and turns by_f_ext (nbodies, 6) into the gradient by the wrenches as given.
template <class T>
void gradient_along_world_axes(const Tree& tree, const T* body_f_ext, T* by_q, T* by_f_ext,
                               const WrenchGradientWorkspace<T>& w) {
    const WrenchAxesWorkspace<T>& value = w.value;
    if (!value.hold(body_f_ext)) return;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        w.turning[i] = zero_force<T>();
        if (body.link < 0) continue;
        const Placement<T> P = user_axes(body, value.P[i]);
        T* at = by_f_ext + 6 * body.link;
        const Force<T> dual = read_wrench(at);
        const Motion<T> b = {dual.ang, dual.lin};
        // [Derivations] eq. 17.4
        const Force<T> turning = cross_star(b, read_wrench(body_f_ext + 6 * body.link));
        w.turning[i].ang = P.R * turning.ang;
        if (value.axes == Axes::world) w.turning[i].lin = P.R * turning.lin;
        Force<T> given = {P.R * b.ang, P.R * b.lin};
        if (value.axes == Axes::world) given.lin = cross(P.r, given.ang, given.lin);
        write_wrench(given, at);
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const Placement<T>& P = value.P[i];
        const Force<T>& turning = w.turning[i];
        T torque[6];
        joint_torque<T>(body, {transposed_mul(P.R, turning.ang), transposed_mul(P.R, turning.lin)},
                        torque);
        for (int c = 0; c < body.nv; ++c) add_entry(by_q[body.v + c], torque[c]);
        if (body.parent < 0) continue;
        const Vec3<T> d = P.r - value.P[body.parent].r;
        w.turning[body.parent] += {cross(d, turning.lin, turning.ang), turning.lin};
    }
}

// ---------------------------------------------------------------- matrices

// tr(M) 1 - M
template <class T> inline Mat3<T> trace_less(const Mat3<T>& M) {
    const T trace = M.x.x + M.y.y + M.z.z;
    Mat3<T> result = {-M.x, -M.y, -M.z};
    result.x.x += trace, result.y.y += trace, result.z.z += trace;
    return result;
}

// Sums of the wrenches on a subtree, in root-frame coordinates. For mixed wrenches: n sums the moments
// about the bodies' origins p, F the forces, K the products F p^T; f = 0. For wrenches about the
// world's origin: n is about the root frame's origin, f = F and K = 0.
template <class T> struct WrenchSums {
    Vec3<T> n, F, f;
    Mat3<T> K;
    WrenchSums& operator+=(const WrenchSums& b) {
        n += b.n, F += b.F, f += b.f, K += b.K;
        return *this;
    }
};

// G s, the sum of s~ x* W, and its transpose. [Derivations] eq. 17.3.
template <class T> struct TurningWrenches {
    Mat3<T> A;
    Vec3<T> F, f;
    explicit TurningWrenches(const WrenchSums<T>& W) : A(trace_less(W.K)), F(W.F), f(W.f) {
        A += skew(-W.n);
    }
    Force<T> operator*(const Motion<T>& s) const {
        return {mul_add(A, s.ang, cross(s.lin, f)), cross(s.ang, F)};
    }
    Force<T> transposed_mul(const Motion<T>& s) const {
        return {cross(F, s.lin, DTAU_VARIANT::transposed_mul(A, s.ang)), cross(f, s.ang)};
    }
};

template <class T> struct WrenchPartialsWorkspace {
    WrenchAxesWorkspace<T> value;
    WrenchSums<T>* sums;

    WrenchPartialsWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : value(arena, tree, options),
          sums(arena.take<WrenchSums<T>>(value.in_world() ? tree.nnodes : 0)) {}
};

// The wrench of body i, before its subtree is added. body_f_ext: along body axes.
template <class T>
inline WrenchSums<T> own_wrench_sums(Axes axes, const Body& body, const Placement<T>& P,
                                     const T* body_f_ext) {
    const Vec3<T> zero = zero_vector<T>();
    if (body.link < 0) return {zero, zero, zero, zero_matrix<T>()};
    const Force<T> own = body_wrench(body, body_f_ext);
    const Vec3<T> n = P.R * own.ang, F = P.R * own.lin;
    if (axes == Axes::world) return {cross(P.r, F, n), F, F, zero_matrix<T>()};
    return {n, F, zero, {P.r.x * F, P.r.y * F, P.r.z * F}};
}

// Adds to six neighbors in a row of a matrix, or in a column (free_root.hpp).
template <class T> inline void add_components(const Force<T>& f, T* to, int stride = 1) {
    const Components<T> c = components(f);
    for (int r = 0; r < 6; ++r) add_entry(to[r * stride], c.x[r]);
}

// Calls clear(k, c) for the columns c of a free root that shift its tree, and for the degrees of
// freedom k of the tree from number `first` on. Wrenches along body axes give no derivative by these
// columns, so their entries are not written and would keep the numbers of another state.
template <class Clear> inline void for_shifts(const Tree& tree, int first, const Clear& clear) {
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        if (!is_free_root(body)) continue;
        for (int k = body.v + first; k < tree.dofs.end[body.v]; ++k)
            for (int c = body.v; c < body.v + 3; ++c) clear(k, c);
    }
}

// Adds eq. 17.2 to dtau/dq, whose rows are n apart. body_f_ext: the result of along_body_axes.
// root_frame: placements and subspaces.
template <class T>
void add_world_wrench_partials(const Tree& tree, const T* body_f_ext,
                               const RootFrame<T>& root_frame, T* dtau_dq, int n,
                               const WrenchPartialsWorkspace<T>& w) {
    if (!w.value.hold(body_f_ext)) return;
    const Motion<T>* S = root_frame.S;
    for_shifts(tree, 0, [&](int k, int c) { dtau_dq[k * n + c] = T(0.0); });
    for (int i = 0; i < tree.nnodes; ++i)
        w.sums[i] = own_wrench_sums(w.value.axes, tree.bodies[i], root_frame.P[i], body_f_ext);
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const TurningWrenches<T> G(w.sums[i]);
        const int first = body.v, end = body.v + body.nv;
        const int stop = body.parent < 0 ? 0 : path_stop(tree, body);
        for (int k = first; k < end; ++k) {  // [Derivations] eq. 17.2
            const Force<T> row = G.transposed_mul(S[k]), column = G * S[k];
            for (int j = first; j < end; ++j) add_entry(dtau_dq[k * n + j], dot(row, S[j]));
            for (int j = tree.dofs.parent[first]; j >= stop; j = tree.dofs.parent[j]) {
                add_entry(dtau_dq[k * n + j], dot(row, S[j]));
                add_entry(dtau_dq[j * n + k], dot(column, S[j]));
            }
            if (stop == 0) continue;
            add_components(row, dtau_dq + k * n + stop - 6);
            add_components(column, dtau_dq + (stop - 6) * n + k, n);
        }
        if (body.parent >= 0) w.sums[body.parent] += w.sums[i];
    }
}

}  // namespace dtau::DTAU_VARIANT
