// Stores the right-hand sides S of the constraint equations, one column for each variable, for the
// solves by columns (correction.hpp): add_column(). The force W of a loop on its frame b turns with
// frame a: add_turn() stores the change m = turn x W of that force along each q, where `turn` is the
// rotation of a relative to b.
#pragma once

#include "dtau/algorithms/constraints/dynamics.hpp"
#include "dtau/algorithms/constraints/partials.hpp"

namespace dtau::DTAU_VARIANT {

// S for several matrices side by side, each padded to whole packs.
template <class T> struct ConstraintColumns {
    int padded, width;  // columns of one matrix, and of all
    T* rows;            // (nrows, width)
    T *turns, *loops;   // for each loop: m (6, padded), and L^-T J_b^T (nv, loop_columns)
    T* ranges;          // (nrows, padded): dJ/dq z, with a regularization
    static constexpr int loop_columns = (6 + Pack<T>::width - 1) / Pack<T>::width * Pack<T>::width;

    ConstraintColumns(Arena& arena, const Tree& tree, const Constraints& all, int matrices)
        : padded(whole_packs<T>(tree.independent.n)),
          width(matrices * padded),
          rows(arena.take<T>(all.nrows * width)) {
        // Columns by q and v are cleared for each state; the others stay zero.
        for (int r = 0; r < all.nrows && rows; ++r)
            for (int k = 2 * padded; k < width; ++k) rows[r * width + k] = T(0.0);
        int count = 0;
        for (int c = 0; c < all.count; ++c) count += all.at[c].b.body >= 0;
        turns = arena.take_zeros<T>(count * 6 * padded);
        loops = arena.take_zeros<T>(count * tree.independent.n * loop_columns);
        ranges = arena.take<T>(all.nrows * padded);
    }
};

// Calls visit(c, constraint, number) for the loops.
template <class Visit> inline void for_loops(const Constraints& constraints, const Visit& visit) {
    for (int c = 0, number = 0; c < constraints.count; ++c)
        if (constraints.at[c].b.body >= 0) visit(c, constraints.at[c], number++);
}

// Sets the first `count` matrices and the turns to zero.
template <class T>
void clear_columns(const Constraints& constraints, int count, const ConstraintColumns<T>& w) {
    for (int r = 0; r < constraints.nrows; ++r)
        for (int k = 0; k < count * w.padded; ++k) w.rows[r * w.width + k] = T(0.0);
    for_loops(constraints, [&](int, const Constraint&, int number) {
        for (int k = 0; k < 6 * w.padded; ++k) w.turns[number * 6 * w.padded + k] = T(0.0);
    });
}
// Subtracts the change of constraint c's rows along joint velocity k from that column of a matrix.
template <class T>
inline void add_column(const Tree& tree, int c, const Constraint& constraint,
                       const ConstraintFrames<T>& f, const T* active, int matrix, int k,
                       const Motion<T>& change, const ConstraintColumns<T>& w) {
    add_rows(tree, c, constraint, f.E, -change, active, k,
             w.rows + constraint.first * w.width + matrix * w.padded, w.width);
}
// Computes dJ/dq z by columns, from the twists in g for the velocities z. [Derivations] eq. 20.10
template <class T>
void range_columns(const Tree& tree, const Constraints& constraints,
                   const ConstraintFrames<T>* frames, const T* active, const RootFrame<T>& g,
                   const ConstraintColumns<T>& w) {
    for (int k = 0; k < constraints.nrows * w.padded; ++k) w.ranges[k] = T(0.0);
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        for_velocity_partials(tree, constraint, frames[c], g,
                              [&](int k, const Motion<T>&, const Motion<T>& by_q, const Vec3<T>&) {
                                  add_rows(tree, c, constraint, frames[c].E, by_q, active, k,
                                           w.ranges + constraint.first * w.padded, w.padded);
                              });
    }
}
// Adds m = turn x W for a loop with the force W, in the column of joint velocity k.
template <class T>
inline void add_turn(const Tree& tree, int number, int k, const Vec3<T>& turn, const Force<T>& W,
                     const ConstraintColumns<T>& w) {
    T m[6];
    store_motion(Motion<T>{cross(turn, W.ang), cross(turn, W.lin)}, m);
    T* to = w.turns + number * 6 * w.padded + independent_dof(tree, k);
    for (int r = 0; r < 6; ++r) add_share(tree, k, m[r], to[r * w.padded]);
}

// L^-T J_b^T of the loops; J_b^T maps a force and moment on b, along a's root frame, to torques.
template <class T>
void loop_factors(const Tree& tree, const Constraints& constraints,
                  const ConstraintFrames<T>* frames, const Motion<T>* S,
                  const LtdlWorkspace<T>& ltdl, const ConstraintColumns<T>& w) {
    const int stride = w.loop_columns;
    for_loops(constraints, [&](int c, const Constraint& constraint, int number) {
        const ConstraintFrames<T>& f = frames[c];
        T* const Y = w.loops + number * tree.independent.n * stride;
        for (int d = 0; d < constraint.ndofs; ++d)
            for (int r = 0; r < 6; ++r) Y[constraint.dofs[d] * stride + r] = T(0.0);
        for_moving_dofs(tree, constraint.b.body, [&](const Body&, int k) {
            T m[6];
            store_motion(turned_to_a(constraint, f, at_point(f.b, S[k])), m);
            T* to = Y + independent_dof(tree, k) * stride;
            for (int r = 0; r < 6; ++r) add_share(tree, k, m[r], to[r]);
        });
        inwards_on_paths(tree.independent, constraint.dofs, constraint.ndofs, Y, stride, stride,
                         ltdl);
    });
}

// Corrects df by q for forces along the world's axes, which do not turn with their frames; rows of
// dforces_dq are `stride` apart.
template <class T>
void turn_forces(const Tree& tree, const Constraints& constraints,
                 const ConstraintFrames<T>* frames, const Motion<T>* S, const T* forces,
                 T* dforces_dq, int stride) {
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        if (constraint.axes == Axes::body) continue;
        const ConstraintFrames<T>& f = frames[c];
        const Force<T> W = constraint_wrench(constraint, f.E, forces + constraint.first);
        const T* const all = nullptr;
        for_moving_dofs(tree, constraint.a.body, [&](const Body&, int k) {
            const Motion<T> turned = {cross(S[k].ang, W.ang), cross(S[k].ang, W.lin)};
            add_rows(tree, c, constraint, f.E, turned, all, k,
                     dforces_dq + constraint.first * stride, stride);
        });
    }
}

}  // namespace dtau::DTAU_VARIANT
