// Computes the rows of constraints: placements of their frames (constraint_frames), rows at given
// accelerations (constraint_accelerations), columns of J. O(d) at depth d. [Derivations] §20.
//
// A constraint holds frame a of body i where frame b is: in the world (a contact), or on body j (a
// loop). With velocities u, classical accelerations c and angular accelerations w' of the frames,
// its rows are
//
//   linear    c_a - c_b                  + kd (u_a - u_b)     + kp (x_a - x_b)
//   angular   w'_a - w'_b + w_a x w_b    + kd (w_a - w_b)     + kp phi              (20.1)
//
// along the axes of a, or of the world. w'_a - w'_b + w_a x w_b is the rate of w_a - w_b in the axes of
// a. phi is the rotation vector of a in b; for a hinge about z it is z_b x z_a, of which a row along z
// is missing. The rows are zero if the constraint holds; as they are linear in a, that is J a = aref,
// where aref is minus the rows at a = 0 (dynamics.hpp). All is computed in the root frame of a's tree;
// quantities of a frame b in another tree are turned there.
#pragma once

#include "dtau/algorithms/first/frames.hpp"
#include "dtau/algorithms/steps/manifold.hpp"
#include "dtau/constraints.hpp"
#include "dtau/mimic.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
DTAU_INLINE T component(const Vec3<T>& a, int k) {
    return k == 0 ? a.x : k == 1 ? a.y : a.z;
}

// The rotation vector of a rotation matrix, of angle at most pi: by the products of its quaternion
// with the largest of the quaternion's parts, so that none loses digits.
template <class T>
Vec3<T> rotation_log(const Mat3<T>& R) {
    const T &xx = R.x.x, &yy = R.y.y, &zz = R.z.z, one(1.0);
    const T xy = R.x.y + R.y.x, yz = R.y.z + R.z.y, zx = R.z.x + R.x.z;
    const T xw = R.y.z - R.z.y, yw = R.z.x - R.x.z, zw = R.x.y - R.y.x;
    T most = one + xx + yy + zz;
    Quaternion<T> x = {{xw, yw, zw}, most};
    const auto take = [&](T square, const Quaternion<T>& by) {
        const auto larger = less(most - square, 0.0);
        x.v.x = select(larger, by.v.x, x.v.x), x.v.y = select(larger, by.v.y, x.v.y);
        x.v.z = select(larger, by.v.z, x.v.z), x.w = select(larger, by.w, x.w);
        most = select(larger, square, most);
    };
    const T x2 = one + xx - yy - zz, y2 = one - xx + yy - zz, z2 = one - xx - yy + zz;
    take(x2, {{x2, xy, zx}, xw});
    take(y2, {{xy, y2, yz}, yw});
    take(z2, {{zx, yz, z2}, zw});
    const auto back = less(x.w, 0.0);
    const T n = square_root(dot(x.v, x.v)), w = select(back, -x.w, x.w);
    const auto tiny = less(n, 1e-10);
    const T scale = T(2.0) * select(tiny, T(1.0), angle_of(n, w)) / select(tiny, w, n);
    return select(back, -scale, scale) * x.v;
}

// The change of the rotation vector phi, in its own axes, when the rotated frame turns by `turn` in
// that frame's axes. [Derivations] eq. 16.1
template <class T>
DTAU_INLINE Vec3<T> log_rate(const Vec3<T>& phi, const Vec3<T>& turn) {
    const Vec3<T> x = cross(phi, turn);
    return fma(T(0.5), x, fma(log_functions(dot(phi, phi)).e, cross(phi, x), turn));
}

// ---------------------------------------------------------------- where the frames are

// Which constraints hold in a state: active (ncontacts), null: all; and where contacts with the world
// are held: positions (ncontacts, 3), null: at their frames b.
template <class T>
struct Hold {
    const T *active, *positions;
};

template <class T>
struct ConstraintFrames {
    Placement<T> a, b;  // in the root frame of their trees
    Mat3<T> E;          // axes of the rows, in a's root frame
    Mat3<T> turn;       // from the root frame of b's tree to that of a's, if the trees differ
    Vec3<T> held;       // of a contact with the world: where it is held
};

template <class T>
void place_constraints_in_world(const Tree& tree, const Constraints& constraints,
                                const Configuration<T>& x, Placement<T>* world) {
    for (int k = 0; k < constraints.nplaced; ++k) {
        const int i = constraints.bodies[k];
        world[i] = world_placement(tree.bodies[i], world, x);
    }
}

template <class T>
ConstraintFrames<T> constraint_frames(const Tree& tree, int c, const Constraint& constraint,
                                      const T* positions, const Placement<T>* P,
                                      const Placement<T>* world) {
    const bool moves = constraint.b.body >= 0;
    const Body& a = tree.bodies[constraint.a.body];
    ConstraintFrames<T> f;
    f.a = frame_placement(tree, constraint.a, P);
    f.b = moves ? frame_placement(tree, constraint.b, P) : f.a;
    f.E = constraint.axes == Axes::mixed ? transposed(world[a.root].R) : f.a.R;
    f.turn = f.E;
    if (constraint.other_tree)
        f.turn = transposed(world[a.root].R) * world[tree.bodies[constraint.b.body].root].R;
    const double* r = constraint.b.translation;
    f.held = {T(r[0]), T(r[1]), T(r[2])};
    if (positions) f.held = {positions[3 * c], positions[3 * c + 1], positions[3 * c + 2]};
    return f;
}

// A motion of b, in a's root frame.
template <class T>
DTAU_INLINE Motion<T> turned_to_a(const Constraint& constraint, const ConstraintFrames<T>& f,
                                  const Motion<T>& m) {
    return constraint.other_tree ? Motion<T>{f.turn * m.ang, f.turn * m.lin} : m;
}

// The axis of a hinge, fixed to a.
template <class T>
DTAU_INLINE Vec3<T> hinge_axis(const Constraint& constraint, const ConstraintFrames<T>& f) {
    return constraint.hinge == 0 ? f.a.R.x : constraint.hinge == 1 ? f.a.R.y : f.a.R.z;
}

// How far apart the frames are, in a's root frame: x_a - x_b and phi, zero unless the constraint uses
// positions. For a hinge also the axis z_b.
template <class T>
struct PositionError {
    Motion<T> e;
    Vec3<T> z_b;
};
template <class T>
PositionError<T> position_error(const Tree& tree, const Constraint& constraint,
                                const ConstraintFrames<T>& f, const Placement<T>* world) {
    const Vec3<T> zero = zero_vector<T>();
    if (!constraint.positions) return {{zero, zero}, zero};
    Placement<T> a = f.a, b = f.b;
    if (constraint.in_world) {
        a = frame_placement(tree, constraint.a, world);
        b = frame_placement(tree, constraint.b, world);
        if (constraint.b.body < 0) b.r = f.held;
    }
    Vec3<T> e = a.r - b.r;
    if (constraint.in_world) e = transposed_mul(world[tree.bodies[constraint.a.body].root].R, e);
    if (constraint.count == 3) return {{zero, e}, zero};
    const Mat3<T> Q = transposed(b.R) * a.R;
    if (constraint.hinge < 0) return {{f.a.R * rotation_log(Q), e}, zero};
    const int h = constraint.hinge;
    const Vec3<T> z_b = f.a.R * Vec3<T>{component(Q.x, h), component(Q.y, h), component(Q.z, h)};
    return {{cross(z_b, hinge_axis(constraint, f)), e}, z_b};
}
// The change of the angular part phi when a turns relative to b.
template <class T>
Vec3<T> error_rate(const Constraint& constraint, const ConstraintFrames<T>& f,
                   const PositionError<T>& at, const Vec3<T>& turn) {
    if (constraint.hinge < 0) return log_rate(at.e.ang, turn);
    return cross(cross(at.z_b, turn), hinge_axis(constraint, f));
}

// ---------------------------------------------------------------- how they move

// A frame's twist, and its acceleration with the classical one of its origin.
template <class T>
struct FrameMotion {
    Motion<T> V, A;
};
template <class T>
DTAU_INLINE FrameMotion<T> frame_motion(const Placement<T>& X, const Motion<T>& v,
                                        const Motion<T>& a) {
    const Motion<T> V = at_point(X, v);
    Motion<T> A = at_point(X, a);
    A.lin = cross(V.ang, V.lin, A.lin);
    return {V, A};
}

// The motion of a frame; v, a: twists and accelerations of all bodies, gravity included.
template <class T>
DTAU_INLINE Motion<T> without_gravity(const Tree& tree, int i, const RootFrame<T>& g,
                                      const Motion<T>* a) {
    return {a[i].ang, a[i].lin + g.gravity[tree.bodies[i].root]};
}
template <class T>
DTAU_INLINE FrameMotion<T> motion_of_a(const Tree& tree, const Constraint& constraint,
                                       const ConstraintFrames<T>& f, const RootFrame<T>& g,
                                       const Motion<T>* a) {
    const int i = constraint.a.body;
    return frame_motion(f.a, g.v[i], without_gravity(tree, i, g, a));
}
template <class T>
DTAU_INLINE FrameMotion<T> motion_of_b(const Tree& tree, const Constraint& constraint,
                                       const ConstraintFrames<T>& f, const RootFrame<T>& g,
                                       const Motion<T>* a) {
    const int i = constraint.b.body;
    if (i < 0) return {zero_motion<T>(), zero_motion<T>()};
    const FrameMotion<T> m = frame_motion(f.b, g.v[i], without_gravity(tree, i, g, a));
    return {turned_to_a(constraint, f, m.V), turned_to_a(constraint, f, m.A)};
}

// The velocities u_a - u_b and w_a - w_b.
template <class T>
DTAU_INLINE Motion<T> velocity_of_b(const Constraint& constraint, const ConstraintFrames<T>& f,
                                    const RootFrame<T>& g) {
    const int i = constraint.b.body;
    return i < 0 ? zero_motion<T>() : turned_to_a(constraint, f, at_point(f.b, g.v[i]));
}
template <class T>
DTAU_INLINE Motion<T> constraint_velocities(const Constraint& constraint,
                                            const ConstraintFrames<T>& f, const RootFrame<T>& g) {
    return at_point(f.a, g.v[constraint.a.body]) + -velocity_of_b(constraint, f, g);
}

// The rows (20.1), in a's root frame; a: accelerations of the bodies, gravity included.
template <class T>
Motion<T> constraint_accelerations(const Tree& tree, const Constraint& constraint,
                                   const ConstraintFrames<T>& f, const RootFrame<T>& g,
                                   const Motion<T>* a, const Placement<T>* world) {
    const FrameMotion<T> ma = motion_of_a(tree, constraint, f, g, a);
    const FrameMotion<T> mb = motion_of_b(tree, constraint, f, g, a);
    const Motion<T> e = position_error(tree, constraint, f, world).e;
    Motion<T> rows = ma.A + -mb.A;
    rows.ang = cross(ma.V.ang, mb.V.ang, rows.ang);
    return fma(T(constraint.kp), e, fma(T(constraint.kd), ma.V + -mb.V, rows));
}

// ---------------------------------------------------------------- rows of a state

// Writes the rows of a relative motion given in a's root frame.
template <class T>
DTAU_INLINE void store_rows(const Constraint& constraint, const Mat3<T>& E, const Motion<T>& m,
                            T* to) {
    const Vec3<T> lin = transposed_mul(E, m.lin);
    to[0] = lin.x, to[1] = lin.y, to[2] = lin.z;
    if (constraint.count == 3) return;
    const Vec3<T> ang = transposed_mul(E, m.ang);
    for (int r = 3; r < constraint.count; ++r) to[r] = component(ang, constraint.angular[r - 3]);
}
// The force and moment of the rows' forces f, in a's root frame, at the origin of a: they act on a,
// and their negative acts on b.
template <class T>
DTAU_INLINE Force<T> constraint_wrench(const Constraint& constraint, const Mat3<T>& E,
                                       const T* rows) {
    Force<T> W = {zero_vector<T>(), E * Vec3<T>{rows[0], rows[1], rows[2]}};
    for (int r = 3; r < constraint.count; ++r) {
        const int k = constraint.angular[r - 3];
        W.ang = fma(rows[r], k == 0 ? E.x : k == 1 ? E.y : E.z, W.ang);
    }
    return W;
}

// x, or zero if constraint c is not active. active (ncontacts); null: all are active.
template <class T>
DTAU_INLINE T if_active(const T* active, int c, T x) {
    return active ? select(less(active[c], 0.5), T(0.0), x) : x;
}

// Calls visit(body, i) for the bodies on the path of body i; none if i is the world.
template <class Visit>
DTAU_INLINE void for_moving_bodies(const Tree& tree, int body, const Visit& visit) {
    for (; body >= 0; body = tree.bodies[body].parent) visit(tree.bodies[body], body);
}

// Calls add(k, m) for the columns k of all joints that move rows; m: relative motion of the frames.
template <class T, class Add>
DTAU_INLINE void for_constraint_columns(const Tree& tree, const Constraint& constraint,
                                        const ConstraintFrames<T>& f, const Motion<T>* S,
                                        const Add& add) {
    for_moving_bodies(tree, constraint.a.body, [&](const Body& body, int) {
        for (int k = body.v; k < body.v + body.nv; ++k) add(k, at_point(f.a, S[k]));
    });
    for_moving_bodies(tree, constraint.b.body, [&](const Body& body, int) {
        for (int k = body.v; k < body.v + body.nv; ++k)
            add(k, -turned_to_a(constraint, f, at_point(f.b, S[k])));
    });
}

// to += x times the factor between joint velocity k and the independent velocity it mimics.
template <class T>
DTAU_INLINE void add_share(const Tree& tree, int k, T x, T& to) {
    to = tree.mimic ? fma(T(tree.mimic->v_scale[k]), x, to) : to + x;
}

// Subtracts the wrenches of the constraint forces from the forces F of the bodies, in root frames.
template <class T>
void subtract_constraint_wrenches(const Constraints& constraints, const ConstraintFrames<T>* frames,
                                  const T* forces, Force<T>* F) {
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        const ConstraintFrames<T>& f = frames[c];
        Force<T> W = constraint_wrench(constraint, f.E, forces + constraint.first);
        Force<T>& on_a = F[constraint.a.body];
        on_a = on_a - Force<T>{cross(f.a.r, W.lin, W.ang), W.lin};
        if (constraint.b.body < 0) continue;
        W = {-W.ang, -W.lin};
        if (constraint.other_tree)
            W = {transposed_mul(f.turn, W.ang), transposed_mul(f.turn, W.lin)};
        Force<T>& on_b = F[constraint.b.body];
        on_b = on_b - Force<T>{cross(f.b.r, W.lin, W.ang), W.lin};
    }
}

}  // namespace dtau::DTAU_VARIANT
