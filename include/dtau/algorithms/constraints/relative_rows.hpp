// Adds three terms to second derivatives: the turn of frame a against frame b, position errors, and
// forces along the world's axes: add_relative_curvature(). O(d^2) for a constraint at depth d;
// nothing for a contact without kp whose forces are along body axes. [Derivations] eqs. 23.9 to
// 23.13
//
// A column on the paths of both a and b counts as two columns. Column j of a's path moves a with
// the twist (ds; du) and turns a against b by t = ds; column j of b's path moves b and has t = -ds.
// A vector y of b, seen from a, changes by D y - t x y, and t by
//
//   D_k t_j = -ds_k x ds_j     both of a, k of a deeper joint; both of b, k not of a deeper joint
//              ds_k x ds_j     k of a, j of b                                                   (23.9)
//
// and by 0 otherwise. So each y with a weight w, with T_j = D_j y x w and T = y x w, adds
//
//   D_k D_j (w . y) += -t_k . T_j - t_j . T_k - D_k t_j . T + w . (t_j x (t_k x y))            (23.10)
#pragma once

#include "dtau/algorithms/constraints/weighted_rows.hpp"

namespace dtau::DTAU_VARIANT {

// A column of the path of a or b. Vectors are along a's root frame.
template <class T> struct RelativeColumn {
    int k, joint, parent;
    bool of_b;
    Vec3<T> ds, t;          // its turn of its own frame, and of a against b
    Vec3<T> by_q, by_v;     // sums of T_j: D by q and by v
    Vec3<T> spin, follows;  // D w_a by q, and (D w_b) x M as a sees it
    Vec3<T> pull;           // the change of x_a - x_b, times kp F
    Vec3<T> curve, own;     // with which t_j is multiplied; in pairs of a's path alone
};

template <class T> struct RelativeWorkspace {
    RelativeColumn<T>* columns;

    RelativeWorkspace(Arena& arena, const Tree& tree, const Options&)
        : columns(arena.take<RelativeColumn<T>>(2 * (tree.dofs.max_depth + 1))) {}
};

// Sums over vectors y with weights w: T, and w . (t_j x (t_k x y)) = t_j . (these sums times t_k).
template <class T> struct TurnSums {
    Vec3<T> moment;
    Mat3<T> products;

    static TurnSums zero() { return {zero_vector<T>(), zero_matrix<T>()}; }
    void add(const Vec3<T>& y, const Vec3<T>& w) {
        moment = cross(y, w, moment);
        products += outer(y, w);
    }
    void add(const Motion<T>& y, const Force<T>& w) { add(y.lin, w.lin), add(y.ang, w.ang); }
    Vec3<T> operator*(const Vec3<T>& t) const {
        const T trace = products.x.x + products.y.y + products.z.z;
        return fma(-trace, t, products * t);
    }
};

// A constraint, the weights W of its rows, and a force f that weights -(V_a - V_b) for the twists
// in g. by_v: these twists belong to the velocity v. lam: the weights of forces along the world's
// axes.
template <class T> struct RelativeRows {
    const Tree& tree;
    const ConstraintPartials<T>& partials;
    Force<T> W, f, lam;
    bool by_v;
    const RootFrame<T>&state, &g;
    const Motion<T>* a;  // of the bodies, gravity included
};

// c + the moment y x w of a motion.
template <class T> inline Vec3<T> moment(const Motion<T>& y, const Force<T>& w, const Vec3<T>& c) {
    return cross(y.lin, w.lin, cross(y.ang, w.ang, c));
}

// Writes the columns of both paths, without curve and own. Returns their number.
template <class T> int relative_columns(const RelativeRows<T>& x, RelativeColumn<T>* columns) {
    const ConstraintPartials<T>& partials = x.partials;
    const Constraint& constraint = partials.constraint;
    const ConstraintFrames<T>& f = partials.frames;
    const Vec3<T>& M = x.W.ang;
    const Vec3<T> none = zero_vector<T>(), F = constraint.spatial ? none : partials.kp * x.W.lin;
    const Force<T> follows = {-x.W.ang, -x.W.lin};
    const Vec3<T> spun = cross(M, partials.w_a);  // weighs w_b in w_a x w_b
    int count = 0, at = 0;
    const auto begin = [&](int i, bool of_b) {
        for_moving_dofs(x.tree, i, [&](const Body& body, int k) {
            columns[count++] = {k,    body.v, body.parent, of_b, none, none, none,
                                none, none,   none,        none, none, none};
        });
    };
    begin(constraint.a.body, false), begin(constraint.b.body, true);
    const auto visit_a = [&](int, const FramePartials<T>& d) {
        RelativeColumn<T>& c = columns[at++];
        c.ds = c.t = d.s.ang;
        c.spin = d.dV.ang;
        c.follows = cross(cross(partials.w_b, c.t), M);
        c.pull = cross(d.s.lin - cross(d.s.ang, partials.at.e.lin), F);
    };
    const auto visit_b = [&](int k, const FramePartials<T>& own) {
        RelativeColumn<T>& c = columns[at++];
        const auto turned = [&](const Motion<T>& m) { return turned_to_a(constraint, f, m); };
        const Motion<T> s = turned(own.s), dV = turned(own.dV);
        c.ds = s.ang, c.t = -s.ang;
        c.by_q = moment(fma(partials.kd, dV, turned(own.dA)), follows, cross(dV.ang, spun));
        c.by_v = moment(fma(partials.kd, s, turned(own.dA_dv)), follows, cross(s.ang, spun));
        if (x.by_v) c.by_v = moment(s, x.f, c.by_v);
        if (c.parent >= 0) {
            const Motion<T> Phi = cross(x.g.v[c.parent], x.g.S[k]);
            c.by_q = moment(turned(at_point(f.b, Phi)), x.f, c.by_q);
        }
        c.follows = cross(cross(partials.w_b, c.t, dV.ang), M);
        c.pull = cross(s.lin, F);
    };
    for_frame_partials(x.tree, constraint.a.body, f.a, x.state, x.a, constraint.spatial, visit_a);
    for_frame_partials(x.tree, constraint.b.body, f.b, x.state, x.a, false, visit_b);
    return count;
}

// Second derivatives of phi, weighted with M, without the term in D_k t_j. [Derivations] eq. 23.12
template <class T>
inline Vec3<T> log_curvature(const Vec3<T>& phi, const Vec3<T>& M, const Vec3<T>& t) {
    const LogFunctions<T> log = log_functions(dot(phi, phi));
    const Vec3<T> rate = log_rate(phi, t), twice = cross(phi, M);
    const Vec3<T> even = cross(phi, cross(rate, M), cross(rate, twice));
    const T along = T(2.0) * log.de * dot(phi, rate);
    return fma(T(0.5), cross(M, rate), fma(along, cross(phi, twice), log.e * even));
}

// Adds to the blocks of second derivatives, of the joints.
template <class T>
void add_relative_curvature(const RelativeRows<T>& x, const Blocks<T>& out,
                            const RelativeWorkspace<T>& w) {
    const ConstraintPartials<T>& partials = x.partials;
    const Constraint& constraint = partials.constraint;
    const Vec3<T>& M = x.W.ang;
    RelativeColumn<T>* const columns = w.columns;
    const int n = out.n, count = relative_columns(x, columns);
    TurnSums<T> both = TurnSums<T>::zero(), of_a = both;
    if (constraint.b.body >= 0) {
        both.add(partials.follows, {-x.W.ang, -x.W.lin});
        both.add(partials.w_b, cross(M, partials.w_a));
        both.add(velocity_of_b(constraint, partials.frames, x.g), x.f);
    }
    of_a.add(Motion<T>{x.lam.ang, x.lam.lin}, {-x.f.ang, -x.f.lin});
    Vec3<T> T_0 = both.moment;
    const bool angular = constraint.positions && constraint.count > 3 && !constraint.spatial;
    const bool log = angular && constraint.hinge < 0;
    const Vec3<T> kp_M = partials.kp * M;
    if (log) T_0 = T_0 - log_rate(-partials.at.e.ang, kp_M);
    if (angular && !log) {
        both.add(partials.at.z_b, cross(hinge_axis(constraint, partials.frames), kp_M));
        T_0 = both.moment;
    }
    const Vec3<T> T_a = T_0 + of_a.moment;
    for (int k = 0; k < count; ++k) {
        RelativeColumn<T>& c = columns[k];
        c.curve = both * c.t - c.by_q;
        if (log) c.curve += log_curvature(partials.at.e.ang, kp_M, c.t);
        c.own = of_a * c.t;
    }
    for (int outer = 0; outer < count; ++outer)
        for (int inner = 0; inner < count; ++inner) {
            const RelativeColumn<T>&k = columns[outer], &j = columns[inner];
            const bool deeper = k.joint > j.joint;
            T qq = dot(j.t, k.curve) - dot(k.t, j.by_q);
            qq = dot(j.spin, k.follows, dot(k.spin, j.follows, qq));
            if (!k.of_b && !j.of_b) {
                const RelativeColumn<T>&deep = deeper ? k : j, &other = deeper ? j : k;
                qq = dot(j.t, k.own, qq) - dot(deep.ds, other.pull);
                if (deeper) qq = dot(cross(k.ds, j.ds), T_a, qq);
            } else if (k.of_b && j.of_b) {
                const RelativeColumn<T>&deep = deeper ? k : j, &other = deeper ? j : k;
                qq = qq - dot(other.ds, deep.pull);
                if (!deeper) qq = dot(cross(k.ds, j.ds), T_0, qq);
            } else {
                qq = k.of_b ? dot(j.ds, k.pull, qq) : dot(k.ds, j.pull, qq);
                if (j.of_b) qq = qq - dot(cross(k.ds, j.ds), T_0);
            }
            add_entry(out.dqdq[j.k * n + k.k], qq);
            T qv = negated(dot(k.t, j.by_v));
            qv = j.of_b ? dot(k.spin, cross(j.ds, M), qv) : dot(j.ds, k.follows, qv);
            add_entry(out.dqdv[k.k * n + j.k], qv);
            if (k.of_b == j.of_b) continue;
            const RelativeColumn<T>&a = k.of_b ? j : k, &b = k.of_b ? k : j;
            add_entry(out.dvdv[k.k * n + j.k], dot(a.ds, cross(b.ds, M)));
        }
}

}  // namespace dtau::DTAU_VARIANT
