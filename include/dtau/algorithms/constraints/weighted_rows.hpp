// Adds weighted constraint rows to the function whose second derivatives second/hessian.hpp
// computes: add_weighted_rows(), add_row_curvature(). O(N d) for all constraints. [Derivations]
// eqs. 23.5 to 23.8
//
// Frame a is at r, moves with (w; u) and turns with its body. W = (M; F) weights its angular and
// classical acceleration along its axes. The function W . (w'; c) adds to the sums P, Z and D of
// the subtree, like a particle with the momentum F:
//
//   P = (M + r x F; F)        Z = w x M + 2 u x F        D = (E = 2 F^ r^ - M^, e = -2 F)       (23.6)
//
// Frame b of a loop has the weights -W, and w_a x w_b adds w_b x M to Z of a and M x w_a to Z of b.
// Two terms remain, for j on the path of k: the gains kd of velocities, and gravity, which the
// accelerations in second/hessian.hpp contain. F is the sum over the subtree, ds the angular part
// of s:
//
//   D_qj D_qk += kd (s_k x* W) . Psi'_j + (ds_k x F) . (gravity x ds_j)
//   D_qk D_vj += kd (s_k x* W) . s_j     j of a strictly shallower joint                        (23.8)
//
// spatial_rows.hpp has the rest of a spatial contact.
#pragma once

#include "dtau/algorithms/constraints/columns.hpp"
#include "dtau/algorithms/second/world_wrenches.hpp"

namespace dtau::DTAU_VARIANT {

// Weights of accelerations and, times kd, of velocities: of a body, then summed over its subtree.
template <class T> struct RowWeights {
    Vec3<T> F;
    Force<T> damped;
};

template <class T> struct WeightedRowsWorkspace {
    RowWeights<T>* sums;  // (nnodes)

    WeightedRowsWorkspace(Arena& arena, const Tree& tree, const Options&)
        : sums(arena.take<RowWeights<T>>(tree.nnodes)) {}
};

// Adds the weights W of one frame of body i, at X in its root frame, and the angular part `more` of
// the weights of its velocity.
template <class T>
void add_weighted_frame(int i, const Placement<T>& X, const Force<T>& W, T kd, const Vec3<T>& more,
                        const RootFrame<T>& g, const HessianWorkspace<T>& hessian,
                        const WeightedRowsWorkspace<T>& w) {
    const Motion<T> V = at_point(X, g.v[i]);
    const Force<T> about_origin = {cross(X.r, W.lin, W.ang), W.lin};
    const Vec3<T> F2 = W.lin + W.lin;
    const Mat3<T> r = skew(X.r), M = skew(W.ang);
    hessian.P[i] += about_origin;
    hessian.Z[i] += cross(V.ang, W.ang, cross(V.lin, F2, more));
    hessian.D[i] += {{cross(F2, r.x, -M.x), cross(F2, r.y, -M.y), cross(F2, r.z, -M.z)}, -F2};
    w.sums[i].F += W.lin;
    w.sums[i].damped += kd * about_origin;
}

// Adds the weights of the velocity in -F . (w x u), by which a spatial acceleration differs.
// [Derivations] eq. 23.20
template <class T>
inline void add_spatial_weights(int i, const Placement<T>& X, const Force<T>& W,
                                const RootFrame<T>& g, const WeightedRowsWorkspace<T>& w) {
    const Motion<T> V = at_point(X, g.v[i]);
    const Vec3<T> lin = cross(V.ang, W.lin);
    w.sums[i].damped += {cross(X.r, lin, cross(W.lin, V.lin)), lin};
}

// Runs after hessian_forward. weights: (nrows), along the axes of the frames.
template <class T>
void add_weighted_rows(const Tree& tree, const Constraints& constraints,
                       const ConstraintFrames<T>* frames, const T* weights, const RootFrame<T>& g,
                       const HessianWorkspace<T>& hessian, const WeightedRowsWorkspace<T>& w) {
    const Vec3<T> none = zero_vector<T>();
    for (int i = 0; i < tree.nnodes; ++i) w.sums[i] = {none, {none, none}};
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        const ConstraintFrames<T>& f = frames[c];
        const T kd(constraint.kd);
        const Force<T> W = constraint_wrench(constraint, f.E, weights + constraint.first);
        if (constraint.b.body < 0) {
            add_weighted_frame(constraint.a.body, f.a, W, kd, none, g, hessian, w);
            if (constraint.spatial) add_spatial_weights(constraint.a.body, f.a, W, g, w);
            continue;
        }
        const int a = constraint.a.body;
        Force<T> on_b = {-W.ang, -W.lin};
        Vec3<T> more = none;
        if (a >= 0) {
            const Vec3<T> w_b = velocity_of_b(constraint, f, g).ang;
            add_weighted_frame(a, f.a, W, kd, cross(w_b, W.ang), g, hessian, w);
            more = cross(W.ang, g.v[a].ang);
        }
        if (constraint.other_tree) {
            on_b = {transposed_mul(f.turn, on_b.ang), transposed_mul(f.turn, on_b.lin)};
            more = transposed_mul(f.turn, more);
        }
        add_weighted_frame(constraint.b.body, f.b, on_b, kd, more, g, hessian, w);
    }
}

// Runs after hessian_backward: adds the two remaining terms to the blocks of second derivatives.
template <class T>
void add_row_curvature(const Tree& tree, bool damped, const IdsvaWorkspace<T>& idsva,
                       const Blocks<T>& out, const WeightedRowsWorkspace<T>& w) {
    const RootFrame<T>& g = idsva.root_frame;
    const int n = out.n;
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const Vec3<T>& gravity = g.gravity[body.root];
        const int first = body.v, end = body.v + body.nv;
        // Above a free root's translations there are no terms, and hessian_backward leaves zeros there.
        const int turning = path_stop(tree, body) - 3;
        for (int k = first; k < end; ++k) {
            const Motion<T>& s = g.S[k];
            const Vec3<T> turned = cross(cross(s.ang, w.sums[i].F), gravity);
            const Force<T> rate = cross_star(s, w.sums[i].damped);
            const auto by_q = [&](int j) {
                const T x = dot(turned, g.S[j].ang);
                return damped ? dot(rate, idsva.Psidot[j], x) : x;
            };
            for (int j = first; j < end; ++j) add_entry(out.dqdq[k * n + j], by_q(j));
            for (int j = tree.dofs.parent[first]; j >= 0; j = tree.dofs.parent[j]) {
                if (j >= turning) {
                    const T x = by_q(j);
                    add_entry(out.dqdq[k * n + j], x), add_entry(out.dqdq[j * n + k], x);
                }
                if (damped) add_entry(out.dqdv[k * n + j], dot(rate, g.S[j]));
            }
        }
        if (body.parent < 0) continue;
        w.sums[body.parent].F += w.sums[i].F;
        w.sums[body.parent].damped += w.sums[i].damped;
    }
}

}  // namespace dtau::DTAU_VARIANT
