// Computes the first derivatives of the rows (20.1) of constraints by q and q', column by column:
// for_constraint_partials(). O(d) for a constraint at depth d. The derivatives of the frames are
// as in [Derivations] §19; quantities of b turn relative to the axes of a. [Derivations] eqs. 20.4, 20.5
//
// Along a column of a's path, with its twist s = (ds; du) at a, D V and D A of (19.2), D c of
// (19.5), and primes for rates:
//   linear    D c + kd D u + kp (du - ds x (x_a - x_b)) + ds x (c_b + kd u_b)
//   angular   D w' + kd D w + D w x w_b - w_a x (ds x w_b) + kp D phi + ds x (w'_b + kd w_b)
// of b's path, in the axes of a:
//   linear    -(D c + kd D u + kp du + ds x (c_b + kd u_b))
//   angular   -(D w' + kd D w + kp D phi + ds x (w'_b + kd w_b)) + w_a x (D w + ds x w_b)
// By q' nothing is displaced: the terms with ds, du are zero, and D is the derivative by q'. The rows
// of a spatial contact (20.19) change by D A + kd D V + kp D log6.
//
// The rows of an impact are J u for velocities u, by u itself (20.13). They are the rows of bodies at rest,
// without gravity, whose accelerations are u, with 1 for kd and without kp: `impact`.
#pragma once

#include "dtau/algorithms/constraints/rows.hpp"

namespace dtau::DTAU_VARIANT {

// Changes of a frame along one column: the column's twist, D V and D A by q, D A by q'; A is classical
// unless it is spatial.
template <class T> struct FramePartials {
    Motion<T> s, dV, dA, dA_dv;
};
template <class T>
FramePartials<T> frame_partials(const Placement<T>& X, const Motion<T>& V,
                                const JointBelow<T>& joint, const Motion<T>& a_p,
                                const Motion<T>& S, bool spatial) {
    const Motion<T> Psidot = cross(joint.v_p, S);
    FramePartials<T> d = {at_point(X, S), at_point(X, Psidot),
                          at_point(X, cross(a_p, S, cross(Psidot, joint.w))),
                          at_point(X, cross(S, joint.o, Psidot))};
    if (spatial) return d;
    d.dA.lin = cross(d.dV.ang, V.lin, cross(V.ang, d.dV.lin, d.dA.lin));  // [Derivations] eq. 19.5
    d.dA_dv.lin = cross(d.s.ang, V.lin, cross(V.ang, d.s.lin, d.dA_dv.lin));
    return d;
}

// Calls visit(k, d) for the columns on the path of a frame of body i.
template <class T, class Visit>
inline void for_frame_partials(const Tree& tree, int i, const Placement<T>& X,
                               const RootFrame<T>& g, const Motion<T>* a, bool spatial,
                               const Visit& visit) {
    if (i < 0) return;
    const Motion<T> V = at_point(X, g.v[i]);
    for_moving_bodies(tree, i, [&](const Body& body, int b) {
        const int p = body.parent;
        const Motion<T> v_p = p < 0 ? zero_motion<T>() : g.v[p];
        const Motion<T> a_p = p < 0 ? zero_motion<T>() : without_gravity(tree, p, g, a);
        const JointBelow<T> joint = {p, v_p, g.v[i] + -v_p, g.v[i] + -g.v[b]};
        for (int k = body.v; k < body.v + body.nv; ++k)
            visit(k, frame_partials(X, V, joint, a_p, g.S[k], spatial));
    });
}

// Quantities that all partial derivatives of one constraint's rows share.
template <class T> struct ConstraintPartials {
    const Constraint& constraint;
    const ConstraintFrames<T>& frames;
    bool positions;
    T kp, kd;
    Vec3<T> w_a, w_b;
    Motion<T> follows;  // of b, along the axes of a
    PositionError<T> at;

    ConstraintPartials(const Tree& tree, const Constraint& of, const ConstraintFrames<T>& f,
                       const RootFrame<T>& g, const Motion<T>* a, const Placement<T>* world,
                       bool impact = false)
        : constraint(of),
          frames(f),
          positions(of.positions && !impact),
          kp(of.kp),
          kd(impact ? 1.0 : of.kd),
          w_a(zero_vector<T>()) {
        if (of.a.body >= 0) w_a = g.v[of.a.body].ang;
        const FrameMotion<T> mb = motion_of_b(tree, of, f, g, a);
        w_b = mb.V.ang;
        follows = fma(kd, mb.V, mb.A);
        at = position_error(tree, of, f, world);
    }

    // Changes of the rows by D V, D A of frame a (of_a) or b (of_b), without a displacement.
    Motion<T> of_a(const Motion<T>& dV, const Motion<T>& dA) const {
        Motion<T> rows = fma(kd, dV, dA);
        if (constraint.b.body >= 0) rows.ang = cross(dV.ang, w_b, rows.ang);
        return rows;
    }
    Motion<T> of_b(const Motion<T>& dV, const Motion<T>& dA) const {
        Motion<T> rows = -fma(kd, dV, dA);
        rows.ang = cross(w_a, dV.ang, rows.ang);
        return rows;
    }
    // Adds the change by a displacement s at the frame. [Derivations] eqs. 20.4, 20.5
    Motion<T> displaced_a(const Motion<T>& s, Motion<T> rows) const {
        if (positions && constraint.spatial) {
            rows = fma(kp, log_rate(at.e, s), rows);
        } else if (positions) {
            rows.lin = fma(kp, s.lin - cross(s.ang, at.e.lin), rows.lin);
            if (constraint.count > 3)
                rows.ang = fma(kp, error_rate(constraint, frames, at, s.ang), rows.ang);
        }
        if (constraint.b.body < 0) return rows;
        const Vec3<T> turned = cross(w_a, cross(s.ang, w_b));
        return {cross(s.ang, follows.ang, rows.ang) - turned, cross(s.ang, follows.lin, rows.lin)};
    }
    Motion<T> displaced_b(const Motion<T>& s, Motion<T> rows) const {
        if (positions) {
            rows.lin = fma(-kp, s.lin, rows.lin);
            if (constraint.count > 3)
                rows.ang = fma(-kp, error_rate(constraint, frames, at, s.ang), rows.ang);
        }
        const Vec3<T> turned = cross(w_a, cross(s.ang, w_b));
        return {cross(follows.ang, s.ang, rows.ang) + turned, cross(follows.lin, s.ang, rows.lin)};
    }
};

// Calls visit(k, by_q, by_v, turn) for the columns k that move rows: the changes of the rows, and the
// rotation of frame a relative to b, in a's root frame. a: accelerations of the bodies, gravity
// included.
template <class T, class Visit>
inline void for_constraint_partials(const Tree& tree, const ConstraintPartials<T>& partials,
                                    const RootFrame<T>& g, const Motion<T>* a, const Visit& visit) {
    const Constraint& constraint = partials.constraint;
    const ConstraintFrames<T>& f = partials.frames;
    const auto of_a = [&](int k, const FramePartials<T>& d) {
        visit(k, partials.displaced_a(d.s, partials.of_a(d.dV, d.dA)), partials.of_a(d.s, d.dA_dv),
              d.s.ang);
    };
    const auto of_b = [&](int k, const FramePartials<T>& own) {
        const FramePartials<T> d = {
            turned_to_a(constraint, f, own.s), turned_to_a(constraint, f, own.dV),
            turned_to_a(constraint, f, own.dA), turned_to_a(constraint, f, own.dA_dv)};
        visit(k, partials.displaced_b(d.s, partials.of_b(d.dV, d.dA)), partials.of_b(d.s, d.dA_dv),
              -d.s.ang);
    };
    for_frame_partials(tree, constraint.a.body, f.a, g, a, constraint.spatial, of_a);
    for_frame_partials(tree, constraint.b.body, f.b, g, a, false, of_b);
}

// The same for the rows' velocities: visit(k, s, by_q, turn), where s is the change by q'.
template <class T, class Visit>
inline void for_velocity_partials(const Tree& tree, const Constraint& constraint,
                                  const ConstraintFrames<T>& f, const RootFrame<T>& g,
                                  const Visit& visit) {
    const Motion<T> V_b = velocity_of_b(constraint, f, g);
    const auto rate = [&](const Body& body, int k) {
        return body.parent < 0 ? zero_motion<T>() : cross(g.v[body.parent], g.S[k]);
    };
    for_moving_dofs(tree, constraint.a.body, [&](const Body& body, int k) {
        const Motion<T> s = at_point(f.a, g.S[k]);
        visit(k, s, turned(s.ang, V_b, at_point(f.a, rate(body, k))), s.ang);
    });
    for_moving_dofs(tree, constraint.b.body, [&](const Body& body, int k) {
        const Motion<T> s = -turned_to_a(constraint, f, at_point(f.b, g.S[k]));
        const Motion<T> dV = turned_to_a(constraint, f, at_point(f.b, rate(body, k)));
        visit(k, s, turned(s.ang, V_b, -dV), s.ang);
    });
}

}  // namespace dtau::DTAU_VARIANT
