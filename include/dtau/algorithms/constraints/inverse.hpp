// Computes the torques of the driven velocities and the constraint forces of least norm that give a
// wanted acceleration: constrained_inverse_dynamics(). [Derivations] eq. 20.14
//
//   tau + J^T f = ID(q, v, a),   tau_u = 0                 u: the velocities that no input drives
//   f   = J_u (J_u^T J_u)^-1 ID_u                          J_u: their columns of J
//   tau = ID - J^T f
//
// The textbook's pseudo-inverse takes a singular value decomposition. Here H = J_u^T J_u, which is as
// small as the number of velocities u, is factorized as the Schur complement is
// (schur_complement.hpp); a rejected pivot tells which velocities no force reaches. With a regularization
// R > 0 there may be such velocities: f = J_u H^+ ID_u by the proximal iterations of forces.hpp, and the
// torques tau_u that are left have the least norm.
#pragma once

#include "dtau/algorithms/constraints/dynamics.hpp"
#include "dtau/algorithms/values/rnea.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct ConstrainedInverseWorkspace {
    using Scalar = T;
    RneaWorkspace<T> rnea;
    RootFrame<T> root_frame;
    const Constraints* constraints;
    Placement<T>* world;
    int stride, padded;  // distance of the rows of J^T, of the rows of H
    int count;           // velocities that no input drives
    int* loose;          // (count) their numbers
    int*
        row_of_all;  // (nrows) the rows in J, numbered as where inactive constraints are not left out
    double R;        // regularization
    T *J, *G, *whole;  // J^T (nv, nrows); H, overwritten by its factors; a copy of H if R > 0
    T *least, *y;      // (count) least pivots of H; the solution
    T *more, *rest;    // (count) room
    double* room;      // (count, count + 1): H and errors of one state, if forces do not reach all
    Failures<T>* failures;
    T *joint_torque, *torque;

    ConstrainedInverseWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : rnea(arena, tree, options),
          root_frame(arena, tree),
          constraints(options.contacts),
          world(arena.take<Placement<T>>(tree.nnodes)),
          stride(options.contacts->nrows),
          count(0),
          loose(arena.take<int>(tree.independent.n)),
          row_of_all(arena.take<int>(stride)),
          R(options.regularization) {
        const int n = tree.independent.n;
        for (int r = 0; r < stride && row_of_all; ++r) row_of_all[r] = -1;  // none yet
        for (int k = 0; k < n; ++k) {
            bool drives = false;
            for (int c = 0; c < options.driven.count; ++c) drives |= options.driven.columns[c] == k;
            if (drives) continue;
            if (loose) loose[count] = k;
            ++count;
        }
        padded = whole_packs<T>(count);
        J = arena.take<T>(n * stride);
        G = arena.take_zeros<T>(count * padded);
        whole = arena.take<T>(R > 0.0 ? count * padded : 0);
        arena.take_each(count, least, y, more, rest);
        room = arena.take<double>(count * (count + 1));
        failures = arena.make<Failures<T>>();
        joint_torque = arena.take<T>(tree.nv);
        torque = room_beside(arena, tree, joint_torque, n);
    }
    int size() const { return count; }
    int side() const { return padded; }
};

// Notes all velocities of state l that no force reaches: H is factorized again without the rejected
// rows, the first of which is `first`.
template <class T>
__attribute__((cold)) void note_unreached(int l, int first,
                                          const ConstrainedInverseWorkspace<T>& w) {
    const int n = w.count;
    double *const H = w.room, *const errors = H + n * n;
    const auto entry = [&](int i, int r) {
        return number_of_state(w.J[w.loose[i] * w.stride + r], l);
    };
    for (int i = 0; i < n; ++i) {
        errors[i] = 0.0;
        for (int j = i; j < n; ++j) {
            double sum = 0.0;
            for (int r = 0; r < w.constraints->nrows; ++r) sum = fma(entry(i, r), entry(j, r), sum);
            H[i * n + j] = sum;
        }
    }
    Failure failure = {Failure::Cause::unreached_velocities, 0, {}, 0};
    for (int k = 0; k < n; ++k) {
        const double *const row = H + k * n, size = number_of_state(w.more[k], l);
        const double error = errors[k] + (errors[k] < 0.0 ? -size : size);
        const double least =
            fma(least_pivot * errors[k], error + error - errors[k], number_of_state(w.least[k], l));
        if (k == first || !(row[k] > least)) {
            if (failure.count < Failure::most) failure.places[failure.count] = w.loose[k];
            ++failure.count;
            continue;
        }
        for (int i = k + 1; i < n; ++i) {
            const double share = row[i] / row[k];
            for (int p = i; p < n; ++p) H[i * n + p] = fma(-share, row[p], H[i * n + p]);
            errors[i] = fma(-share, error, errors[i]);
        }
    }
    w.failures->note(l, failure);
}

// Clears the columns of J^T in which other constraints had rows in the state before: a constraint
// writes the velocities that move it alone.
template <class T>
void clear_other_rows(int n, const Constraint& constraint,
                      const ConstrainedInverseWorkspace<T>& w) {
    for (int r = 0; r < constraint.count; ++r) {
        int& row = w.row_of_all[constraint.first + r];
        if (row == constraint.first_of_all + r) continue;
        row = constraint.first_of_all + r;
        for (int k = 0; k < n; ++k) w.J[k * w.stride + constraint.first + r] = T(0.0);
    }
}

// q, v, a and tau: of the joints; mimic joints have no torque. active may be null: all are.
template <class T>
void constrained_inverse_dynamics(const Tree& tree, const T* q, const T* v, const T* a,
                                  const T* active, const T* f_ext, T* tau, T* forces,
                                  const ConstrainedInverseWorkspace<T>& w) {
    const Constraints& constraints = *w.constraints;
    const T *const no_velocities = nullptr, *const no_positions = nullptr;
    rnea(tree, q, v, a, f_ext, w.joint_torque, w.rnea);
    reduce_columns(tree, w.joint_torque, 1, w.torque);
    root_frame_sweep(tree, q, no_velocities, w.root_frame);
    place_constraints_in_world(tree, constraints, Configuration<T>(q, w.root_frame.angles),
                               w.world);
    T scale(0.0);  // bound of squared columns of J: far smaller squares are rounding errors
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        const ConstraintFrames<T> f =
            constraint_frames(tree, c, constraint, no_positions, w.root_frame.P, w.world);
        clear_other_rows(tree.independent.n, constraint, w);
        constraint_jacobian(tree, c, constraint, f, w.root_frame.S, active, w.J + constraint.first,
                            w.stride);
        const T turns(constraint.count > 3 ? constraint.turning : 0.0);
        scale = scale + if_active(active, c, turns + linear_scale(constraint, f));
    }
    for (int i = 0; i < w.count; ++i) {
        const T* row = w.J + w.loose[i] * w.stride;
        for (int j = i; j < w.count; ++j) {
            const T* column = w.J + w.loose[j] * w.stride;
            T sum(0.0);
            for (int r = 0; r < constraints.nrows; ++r) sum = fma(row[r], column[r], sum);
            w.G[i * w.padded + j] = sum;
        }
        T& entry = w.G[i * w.padded + i];
        if (w.R > 0.0) {
            for (int j = 0; j < w.padded; ++j) w.whole[i * w.padded + j] = w.G[i * w.padded + j];
            entry = entry + T(w.R);
        }
        const T own = T(least_pivot) * entry;
        const T noise = w.R > 0.0 ? own : T(least_square) * scale;
        w.least[i] = select(less(noise - own, 0.0), own, noise);
        w.y[i] = w.torque[w.loose[i]];
    }
    factorize_utdu(w.count, w.padded, w.least, w.R > 0.0 ? 0.0 : least_pivot, w.more, w.rest, w.G);
    if_rejected(w.count, w.padded, w.more, w.rest, w.G,
                [&](int l, int k) { note_unreached(l, k, w); });
    solve_forces<1>(w.y, w.more, w.rest, w);
    if (w.R > 0.0) {
        for (int i = 0; i < w.count; ++i) w.more[i] = T(0.0);
        replace_null_space<1>(w.y, w.more, w);
    }
    for (int r = 0; r < constraints.nrows; ++r) {
        forces[r] = T(0.0);
        for (int i = 0; i < w.count; ++i)
            forces[r] = fma(w.J[w.loose[i] * w.stride + r], w.y[i], forces[r]);
    }
    // NaN if no force reaches one of these velocities.
    const T reached = w.count > 0 ? T(0.0) * w.y[0] : T(0.0);
    for (int k = 0; k < tree.independent.n; ++k) {
        const T* row = w.J + k * w.stride;
        T sum = w.torque[k] + reached;
        for (int r = 0; r < constraints.nrows; ++r) sum = fma(-row[r], forces[r], sum);
        w.torque[k] = sum;
    }
    to_owners(tree, w.torque, tau);
}

}  // namespace dtau::DTAU_VARIANT
