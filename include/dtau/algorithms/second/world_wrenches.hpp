// Corrects second derivatives by q for external wrenches along the world's axes, which do not turn with
// the bodies: add_world_wrench_hessian(), tensor_wrenches(). [Derivations] §17.
//
// With G and ~ of first/world_wrenches.hpp, Lam the twists of the bodies if lam were the joint rates,
// and
//   N_k   s . N_k u = sum over the subtree of k of (u~ x* W_i) . (s~ x Lam_i)
// the second derivatives of lam^T tau get, for j on the path of k,
//   D_qj D_qk += Phi_k . G_k s_j + Phi_j . G_k s_k + s_k . N_k s_j     (17.6), symmetric across joints
// In the tensors, output i has Lam = s_i on the subtree of i, and zero elsewhere. O(N d) contracted,
// O(N d^2) for the tensors.
#pragma once

#include "dtau/algorithms/first/world_wrenches.hpp"
#include "dtau/algorithms/second/hessian.hpp"
#include "dtau/algorithms/second/packed.hpp"

namespace dtau::DTAU_VARIANT {

// ---------------------------------------------------------------- contracted

// N of a subtree, whose bodies have twists of their own: with Z the sum of M Lam_ang^T + F V^T and
// R of f Lam_ang^T, N = (tr(Z) 1 - Z, tr(R) 1 - R; tr(R) 1 - R, 0). [Derivations] eq. 17.5.
template <class T> struct WrenchCurvature {
    Mat3<T> Z, R;
    WrenchCurvature& operator+=(const WrenchCurvature& b) {
        Z += b.Z, R += b.R;
        return *this;
    }
};
template <class T> inline Mat3<T> outer(const Vec3<T>& a, const Vec3<T>& b) {  // a b^T
    return {b.x * a, b.y * a, b.z * a};
}

template <class T> struct WrenchHessianWorkspace {
    WrenchPartialsWorkspace<T> first;
    WrenchCurvature<T>* curvature;

    WrenchHessianWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : first(arena, tree, options),
          curvature(arena.take<WrenchCurvature<T>>(first.value.in_world() ? tree.nnodes : 0)) {}
};

// Adds eq. 17.6 to the block dqdq, whose rows are n apart; after the passes of hessian.hpp.
template <class T>
void add_world_wrench_hessian(const Tree& tree, const T* body_f_ext, const RootFrame<T>& root_frame,
                              const HessianWorkspace<T>& hessian, T* dqdq, int n,
                              const WrenchHessianWorkspace<T>& w) {
    const Axes axes = w.first.value.axes;
    if (!w.first.value.hold(body_f_ext)) return;
    const Motion<T>*S = root_frame.S, *Phi = hessian.Phi;
    WrenchSums<T>* sums = w.first.sums;
    for_shifts(tree, 6, [&](int k, int c) { dqdq[k * n + c] = dqdq[c * n + k] = T(0.0); });
    for (int i = 0; i < tree.nnodes; ++i) {
        const Placement<T>& P = root_frame.P[i];
        const Motion<T>& Lam = hessian.Lam[i];
        sums[i] = own_wrench_sums(axes, tree.bodies[i], P, body_f_ext);
        const WrenchSums<T>& W = sums[i];
        const Vec3<T> V = axes == Axes::world ? Lam.lin : cross(Lam.ang, P.r, Lam.lin);
        w.curvature[i].Z = outer(W.n, Lam.ang);
        w.curvature[i].Z += outer(W.F, V);
        w.curvature[i].R = outer(W.f, Lam.ang);
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const TurningWrenches<T> G(sums[i]);
        const Mat3<T> N = trace_less(w.curvature[i].Z), Q = trace_less(w.curvature[i].R);
        const int first = body.v, end = body.v + body.nv;
        for (int k = first; k < end; ++k) {
            const Motion<T> s = S[k];
            const Force<T> with_Phi = G * s,
                           with_s = G.transposed_mul(Phi[k]) +
                                    Force<T>{transposed_mul(N, s.ang) + transposed_mul(Q, s.lin),
                                             transposed_mul(Q, s.ang)};
            const auto entry = [&](int j) {  // [Derivations] eq. 17.6
                return dot(with_s, S[j], dot(with_Phi, Phi[j]));
            };
            for (int j = first; j < end; ++j) add_entry(dqdq[k * n + j], entry(j));
            for (int j = tree.dofs.parent[first]; j >= 0; j = tree.dofs.parent[j]) {
                const T x = entry(j);
                add_entry(dqdq[k * n + j], x), add_entry(dqdq[j * n + k], x);
            }
        }
        if (body.parent < 0) continue;
        sums[body.parent] += sums[i];
        w.curvature[body.parent] += w.curvature[i];
    }
}

// ---------------------------------------------------------------- tensors

// N^T s of a subtree whose bodies have one twist Lam. [Derivations] eq. 17.7.
template <class T>
inline Force<T> common_curvature(const WrenchSums<T>& W, const Motion<T>& Lam, const Motion<T>& s) {
    const Vec3<T> c = {W.K.y.z - W.K.z.y, W.K.z.x - W.K.x.z, W.K.x.y - W.K.y.x};  // sum of p x F
    const Vec3<T>&w = Lam.ang, &u = s.ang;
    const T trace = dot(W.n + c, w, dot(W.F, Lam.lin)), fw = dot(W.f, w);
    const Vec3<T> n = fma(negated(dot(W.n, u)) - dot(W.f, s.lin), w, fma(fw, s.lin, trace * u));
    return {fma(negated(dot(W.F, u)), Lam.lin, cross(transposed_mul(W.K, u), w, n)),
            fma(negated(dot(W.f, u)), w, fw * u)};
}

// The path of the deepest column m, and the wrench sums of its body.
template <class T> struct WrenchTensorsWorkspace {
    WrenchPartialsWorkspace<T> first;
    Force<T>* h;  // N^T s_e for Lam = s_m, by the depth e

    WrenchTensorsWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : first(arena, tree, options),
          h(arena.take<Force<T>>(first.value.in_world() ? tree.dofs.max_depth + 1 : 0)) {}
};

// Wrenches along the world's axes, for the tensors. Wrenches along body axes add nothing.
template <class T> struct TensorWrenches {
    const WrenchTensorsWorkspace<T>* w;  // null: no wrenches along the world's axes
    const WrenchSums<T>* of(int i) const { return w ? w->first.sums + i : nullptr; }
    Force<T>* h() const { return w ? w->h : nullptr; }
};

// Computes the wrench sums over the subtrees, before the rows.
template <class T>
TensorWrenches<T> tensor_wrenches(const Tree& tree, const T* body_f_ext,
                                  const RootFrame<T>& root_frame,
                                  const WrenchTensorsWorkspace<T>& w) {
    if (!w.first.value.hold(body_f_ext)) return {nullptr};
    WrenchSums<T>* sums = w.first.sums;
    for (int i = 0; i < tree.nnodes; ++i)
        sums[i] = own_wrench_sums(w.first.value.axes, tree.bodies[i], root_frame.P[i], body_f_ext);
    for (int i = tree.nnodes - 1; i >= 0; --i)
        if (tree.bodies[i].parent >= 0) sums[tree.bodies[i].parent] += sums[i];
    return {&w};
}

// The part of D_qj D_qk tau_f, with the wrench sums W at the deepest of f, j and k, which are depths; j
// is not deeper than k's joint. Path: S, joint_begin and joint_end by depth.
template <class T, class Path>
inline T world_wrench_entry(const WrenchSums<T>& W, const TurningWrenches<T>& G, int f, int k,
                            int j, const Path& path) {
    const Motion<T> output = path.S[f], s_k = path.S[k], s_j = path.S[j];
    T x = dot(common_curvature(W, output, s_k), s_j);
    const int end = path.joint_end[f];
    if (end <= path.joint_begin[k]) x = x + dot(G * s_j, cross(output, s_k));
    if (end <= path.joint_begin[j]) x = x + dot(G * s_k, cross(output, s_j));
    return x;
}

// Adds to the row [m, e, 0 ... d] of d2tau_dqdq; h: of column m.
template <class T, class Path>
inline void add_to_deepest_row(const Force<T>* h, int e, int d, const Path& path, T* dqdq) {
    for (int f = 0; f <= d; ++f)
        add_entry(dqdq[f], f < path.joint_end[e] ? dot(h[e], path.S[f]) : dot(h[f], path.S[e]));
}

// Adds to the rows [f, m, 0 ... d] and, behind them, [f, 0 ... d - 1, m].
template <class T, class Path>
inline void add_to_shallower_rows(const WrenchSums<T>& W, const TurningWrenches<T>& G, int f, int d,
                                  const Path& path, T* dqdq) {
    for (int e = 0; e <= d; ++e) {
        const T x = world_wrench_entry(W, G, f, d, e, path);
        add_entry(dqdq[e], x);
        if (e < d)
            add_entry(dqdq[d + 1 + e],
                      e < path.joint_begin[d] ? x : world_wrench_entry(W, G, f, e, d, path));
    }
}

}  // namespace dtau::DTAU_VARIANT
