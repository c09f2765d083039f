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
// quantities of a frame b in another tree are turned there. A single row is the linear one along a's z
// axis. For an axis that is fixed to the world, the moving frame is b, and a is fixed.
//
// A spatial contact has the spatial acceleration A of a, its twist V, and the logarithm of the whole
// placement of a in b:
//
//   A + kd V + kp log6(b^-1 a)                                                      (20.19)
#pragma once

#include "dtau/algorithms/constraints/logarithm.hpp"
#include "dtau/algorithms/first/frames.hpp"
#include "dtau/constraints.hpp"
#include "dtau/mimic.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> inline T component(const Vec3<T>& a, int k) {
    return k == 0 ? a.x : k == 1 ? a.y : a.z;
}

// ---------------------------------------------------------------- where the frames are

// Which constraints hold in a state: active (ncontacts), null: all; and where contacts with the world
// are held: positions (ncontacts, 3), null: at their frames b. Loops do not read it, not even loops
// that are closed to the world.
template <class T> struct Hold {
    const T *active, *positions;
};

template <class T> struct ConstraintFrames {
    Placement<T> a, b;  // in the root frame of their trees
    Mat3<T> E;          // axes of the rows, in a's root frame
    Mat3<T> turn;       // from b's root frame to a's root frame, if the trees differ
    Vec3<T> held;       // of a constraint with the world: where it is held
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
    const bool moves = constraint.b.body >= 0, fixed = constraint.a.body < 0;
    const int root = constraint.root;
    ConstraintFrames<T> f;
    f.a = frame_placement(tree, constraint.a, P);
    if (fixed) f.a = {transposed(world[root].R) * f.a.R, zero_vector<T>()};  // its origin is `held`
    f.b = moves ? frame_placement(tree, constraint.b, P) : f.a;
    f.E = constraint.axes == Axes::mixed ? transposed(world[root].R) : f.a.R;
    f.turn = f.E;
    if (constraint.other_tree)
        f.turn = transposed(world[root].R) * world[tree.bodies[constraint.b.body].root].R;
    const double* r = fixed ? constraint.a.translation : constraint.b.translation;
    f.held = {T(r[0]), T(r[1]), T(r[2])};
    if (positions && constraint.held_by_call)
        f.held = {positions[3 * c], positions[3 * c + 1], positions[3 * c + 2]};
    return f;
}

// A motion of b, in a's root frame.
template <class T>
inline Motion<T> turned_to_a(const Constraint& constraint, const ConstraintFrames<T>& f,
                             const Motion<T>& m) {
    return constraint.other_tree ? Motion<T>{f.turn * m.ang, f.turn * m.lin} : m;
}

// The axis of a hinge, fixed to a.
template <class T>
inline Vec3<T> hinge_axis(const Constraint& constraint, const ConstraintFrames<T>& f) {
    return constraint.hinge == 0 ? f.a.R.x : constraint.hinge == 1 ? f.a.R.y : f.a.R.z;
}

// How far apart the frames are, in a's root frame: x_a - x_b and phi, or log6, zero unless the constraint
// uses positions. For a hinge also the axis z_b.
template <class T> struct PositionError {
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
        if (constraint.a.body < 0) a.r = f.held;
        if (constraint.b.body < 0) b.r = f.held;
    }
    Vec3<T> e = a.r - b.r;
    if (constraint.spatial) {
        const Vec3<T> phi = rotation_log(transposed(b.R) * a.R);
        const Vec3<T> rho = log_translation(phi, transposed_mul(b.R, e));
        return {{f.a.R * phi, f.a.R * rho}, zero};  // log6 has the same components along a and b
    }
    if (constraint.in_world) e = transposed_mul(world[constraint.root].R, e);
    if (constraint.count <= 3) return {{zero, e}, zero};
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

// A frame's twist, and its spatial acceleration, or the one with the classical acceleration of its
// origin.
template <class T> struct FrameMotion {
    Motion<T> V, A;
};
template <class T>
inline FrameMotion<T> frame_motion(const Placement<T>& X, const Motion<T>& v, const Motion<T>& a,
                                   bool spatial) {
    const Motion<T> V = at_point(X, v);
    Motion<T> A = at_point(X, a);
    if (!spatial) A.lin = cross(V.ang, V.lin, A.lin);
    return {V, A};
}

// The motion of a frame; v, a: twists and accelerations of all bodies, gravity included.
template <class T>
inline Motion<T> without_gravity(const Tree& tree, int i, const RootFrame<T>& g,
                                 const Motion<T>* a) {
    return {a[i].ang, a[i].lin + g.gravity[tree.bodies[i].root]};
}
template <class T>
inline FrameMotion<T> motion_of_a(const Tree& tree, const Constraint& constraint,
                                  const ConstraintFrames<T>& f, const RootFrame<T>& g,
                                  const Motion<T>* a) {
    const int i = constraint.a.body;
    if (i < 0) return {zero_motion<T>(), zero_motion<T>()};
    return frame_motion(f.a, g.v[i], without_gravity(tree, i, g, a), constraint.spatial);
}
template <class T>
inline FrameMotion<T> motion_of_b(const Tree& tree, const Constraint& constraint,
                                  const ConstraintFrames<T>& f, const RootFrame<T>& g,
                                  const Motion<T>* a) {
    const int i = constraint.b.body;
    if (i < 0) return {zero_motion<T>(), zero_motion<T>()};
    const FrameMotion<T> m = frame_motion(f.b, g.v[i], without_gravity(tree, i, g, a), false);
    return {turned_to_a(constraint, f, m.V), turned_to_a(constraint, f, m.A)};
}

// The velocities u_a - u_b and w_a - w_b.
template <class T>
inline Motion<T> velocity_of_b(const Constraint& constraint, const ConstraintFrames<T>& f,
                               const RootFrame<T>& g) {
    const int i = constraint.b.body;
    return i < 0 ? zero_motion<T>() : turned_to_a(constraint, f, at_point(f.b, g.v[i]));
}
template <class T>
inline Motion<T> constraint_velocities(const Constraint& constraint, const ConstraintFrames<T>& f,
                                       const RootFrame<T>& g) {
    const int i = constraint.a.body;
    const Motion<T> V = i < 0 ? zero_motion<T>() : at_point(f.a, g.v[i]);
    return V + -velocity_of_b(constraint, f, g);
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
inline void store_rows(const Constraint& constraint, const Mat3<T>& E, const Motion<T>& m, T* to) {
    if (constraint.count == 1) {
        to[0] = dot(E.z, m.lin);
        return;
    }
    const Vec3<T> lin = transposed_mul(E, m.lin);
    to[0] = lin.x, to[1] = lin.y, to[2] = lin.z;
    if (constraint.count == 3) return;
    const Vec3<T> ang = transposed_mul(E, m.ang);
    for (int r = 3; r < constraint.count; ++r) to[r] = component(ang, constraint.angular[r - 3]);
}
// The force and moment of the rows' forces f, in a's root frame, at the origin of a: they act on a,
// and their negative acts on b.
template <class T>
inline Force<T> constraint_wrench(const Constraint& constraint, const Mat3<T>& E, const T* rows) {
    if (constraint.count == 1) return {zero_vector<T>(), rows[0] * E.z};
    Force<T> W = {zero_vector<T>(), E * Vec3<T>{rows[0], rows[1], rows[2]}};
    for (int r = 3; r < constraint.count; ++r) {
        const int k = constraint.angular[r - 3];
        W.ang = fma(rows[r], k == 0 ? E.x : k == 1 ? E.y : E.z, W.ang);
    }
    return W;
}

// x, or zero if constraint c is not active. active (ncontacts); null: all are active.
template <class T> inline T if_active(const T* active, int c, T x) {
    return active ? select(less(active[c], 0.5), T(0.0), x) : x;
}

// Writes the rows of a relative motion; zeros if constraint c is not active.
template <class T>
inline void store_active_rows(int c, const Constraint& constraint, const Mat3<T>& E,
                              const Motion<T>& m, const T* active, T* to) {
    store_rows(constraint, E, m, to);
    for (int r = 0; r < constraint.count; ++r) to[r] = if_active(active, c, to[r]);
}
// Calls visit(body, i) for the bodies on the path of body i; none if i is the world.
template <class Visit>
inline void for_moving_bodies(const Tree& tree, int body, const Visit& visit) {
    for (; body >= 0; body = tree.bodies[body].parent) visit(tree.bodies[body], body);
}
// Calls visit(body, k) for the joint velocities k of these bodies.
template <class Visit> inline void for_moving_dofs(const Tree& tree, int body, const Visit& visit) {
    for_moving_bodies(tree, body, [&](const Body& b, int) __attribute__((always_inline)) {
        for (int k = b.v; k < b.v + b.nv; ++k) visit(b, k);
    });
}
// Calls add(k, m) for the columns k of all joints that move rows; m: relative motion of the frames.
template <class T, class Add>
inline void for_constraint_columns(const Tree& tree, const Constraint& constraint,
                                   const ConstraintFrames<T>& f, const Motion<T>* S,
                                   const Add& add) {
    for_moving_dofs(tree, constraint.a.body,
                    [&](const Body&, int k) { add(k, at_point(f.a, S[k])); });
    for_moving_dofs(tree, constraint.b.body, [&](const Body&, int k) {
        add(k, -turned_to_a(constraint, f, at_point(f.b, S[k])));
    });
}

// to += x times the factor between joint velocity k and the independent velocity it mimics.
template <class T> inline void add_share(const Tree& tree, int k, T x, T& to) {
    to = tree.mimic ? fma(T(tree.mimic->v_scale[k]), x, to) : to + x;
}
// Adds the rows of a relative motion to the column of joint velocity k; its entries are `stride` apart.
template <class T>
inline void add_rows(const Tree& tree, int c, const Constraint& constraint, const Mat3<T>& E,
                     const Motion<T>& m, const T* active, int k, T* columns, int stride) {
    T rows[6];
    store_rows(constraint, E, m, rows);
    T* const to = columns + independent_dof(tree, k);
    for (int r = 0; r < constraint.count; ++r)
        add_share(tree, k, if_active(active, c, rows[r]), to[r * stride]);
}
// Subtracts the wrenches of the constraint forces from the forces F of the bodies, in root frames.
template <class T>
void subtract_constraint_wrenches(const Constraints& constraints, const ConstraintFrames<T>* frames,
                                  const T* forces, Force<T>* F) {
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        const ConstraintFrames<T>& f = frames[c];
        Force<T> W = constraint_wrench(constraint, f.E, forces + constraint.first);
        if (constraint.a.body >= 0) {
            Force<T>& on_a = F[constraint.a.body];
            on_a = on_a - Force<T>{cross(f.a.r, W.lin, W.ang), W.lin};
        }
        if (constraint.b.body < 0) continue;
        W = {-W.ang, -W.lin};
        if (constraint.other_tree)
            W = {transposed_mul(f.turn, W.ang), transposed_mul(f.turn, W.lin)};
        Force<T>& on_b = F[constraint.b.body];
        on_b = on_b - Force<T>{cross(f.b.r, W.lin, W.ang), W.lin};
    }
}

}  // namespace dtau::DTAU_VARIANT
