// Adds the second derivatives by q of forces between frames times the rows' velocities:
// add_force_curvature(). O(N d). [Derivations] eq. 23.14
//
// Let the forces f and the joint velocities y be constant, and g hold the twists of the bodies
// under y. The function -f . J y is the power of the wrenches -f on the bodies. With F, the sum of
// these wrenches over the subtree:
//
//   D_qj D_qk = (s_k x* F) . (v_p x s_j)     j on the path of k, p the parent of j's body
//   D_qk D_yj = (s_k x* F) . s_j             j of a strictly shallower joint, where y is v
//
// relative_rows.hpp adds the turn, with a, of a loop's force on b.
#pragma once

#include "dtau/algorithms/constraints/relative_rows.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct ForceCurvatureWorkspace {
    Force<T>* F;
    RelativeWorkspace<T> relative;

    ForceCurvatureWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : F(arena.take<Force<T>>(tree.nnodes)), relative(arena, tree, options) {}
};

// forces: (nrows), along the axes of the frames. state: the state of the constraint rows. by_v: the
// twists in g belong to v; add the mixed derivatives by v too.
template <class T>
void add_force_curvature(const Tree& tree, const Constraints& constraints,
                         const ConstraintFrames<T>* frames, const Placement<T>* world,
                         const T* forces, const RootFrame<T>& state, const Motion<T>* a,
                         const RootFrame<T>& g, bool by_v, const Blocks<T>& out,
                         const ForceCurvatureWorkspace<T>& w) {
    const int n = out.n;
    const Force<T> none = zero_force<T>();
    for (int i = 0; i < tree.nnodes; ++i) w.F[i] = none;
    subtract_constraint_wrenches(constraints, frames, forces, w.F);
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const int first = body.v, end = body.v + body.nv;
        for (int k = first; k < end && body.parent >= 0; ++k) {
            const Force<T> rate = cross_star(g.S[k], w.F[i]);
            const Motion<T>& v_p = g.v[body.parent];
            for (int j = first; j < end; ++j)
                add_entry(out.dqdq[k * n + j], dot(rate, cross(v_p, g.S[j])));
            for_moving_dofs(tree, body.parent, [&](const Body& above, int j) {
                if (by_v) add_entry(out.dqdv[k * n + j], dot(rate, g.S[j]));
                if (above.parent < 0) return;
                const T x = dot(rate, cross(g.v[above.parent], g.S[j]));
                add_entry(out.dqdq[k * n + j], x), add_entry(out.dqdq[j * n + k], x);
            });
        }
        if (body.parent >= 0) w.F[body.parent] += w.F[i];
    }
    for_loops(constraints, [&](int c, const Constraint& constraint, int) {
        const ConstraintPartials<T> partials(tree, constraint, frames[c], state, a, world);
        const Force<T> f = constraint_wrench(constraint, frames[c].E, forces + constraint.first);
        add_relative_curvature<T>({tree, partials, none, f, none, by_v, state, g, a}, out,
                                  w.relative);
    });
}

}  // namespace dtau::DTAU_VARIANT
