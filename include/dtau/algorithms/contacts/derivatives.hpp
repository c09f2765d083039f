// First derivatives of constrained dynamics. [Notes] eqs. 20.6 to 20.9. With the wrenches of the
// contacts among the external ones, constant along body axes, and a the solution:
//
//   [M  -J^T] [da]     [dID/dx (q, v, a)]                  [1]
//   [J    0 ] [df] = - [drows/dx        ],  and for tau:   [0]
//
// FDSVA (fdsva.hpp) with the forces of the contacts between the two sweeps of its solve:
//
//   X = L^-T dID/dx,   df = G^-1 (Z^T X - drows/dx),   X <- X - Y df,   da = -L^-1 D^-1 X
//
// A loop's force on b turns with a: with the turns m of it along the columns, m = (turn x W), J_b^T m
// joins dID/dq. Forces along the world's axes do not turn with a: to df by q their turns are added.
#pragma once

#include "dtau/algorithms/contacts/dynamics.hpp"
#include "dtau/algorithms/contacts/partials.hpp"
#include "dtau/algorithms/first/fdsva.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct ConstrainedDerivativesWorkspace {
    FdsvaWorkspace<T> fdsva;
    ContactWorkspace<T> contacts;
    int padded, width;  // columns by one of q, v and tau; by all
    T *forces, *residual;
    T* rows;           // (nrows, width): -drows/dx
    T *turns, *loops;  // of each loop: m (6, padded), and L^-T J_b^T (nv, loop_columns)
    static constexpr int loop_columns = (6 + Pack<T>::width - 1) / Pack<T>::width * Pack<T>::width;

    ConstrainedDerivativesWorkspace(Arena& arena, const Tree& tree, const Contacts& all,
                                    Axes wrench_axes, double damping)
        : fdsva(arena, tree, wrench_axes),
          contacts(arena, tree, all, damping),
          padded(whole_packs<T>(tree.independent.n)),
          width(3 * padded),
          forces(arena.take<T>(all.nrows)),
          residual(arena.take<T>(all.nrows)),
          rows(arena.take_zeros<T>(all.nrows * width)) {
        int count = 0;
        for (int c = 0; c < all.count; ++c) count += all.at[c].b.body >= 0;
        turns = arena.take_zeros<T>(count * 6 * padded);
        loops = arena.take_zeros<T>(count * tree.independent.n * loop_columns);
    }
};

// Calls visit(c, contact, number) for the loops.
template <class Visit>
DTAU_INLINE void for_loops(const Contacts& contacts, const Visit& visit) {
    for (int c = 0, number = 0; c < contacts.count; ++c)
        if (contacts.at[c].b.body >= 0) visit(c, contacts.at[c], number++);
}

// -drows/dx of all contacts, and the turns of loops.
template <class T>
DTAU_INLINE void constraint_partials(const Tree& tree, const T* active,
                                     const ConstrainedDerivativesWorkspace<T>& w) {
    const Contacts& contacts = *w.contacts.solver.contacts;
    const Ground<T>& g = w.fdsva.dynamics.idsva.ground;
    for (int r = 0; r < contacts.nrows; ++r)
        for (int k = 0; k < 2 * w.padded; ++k) w.rows[r * w.width + k] = T(0.0);
    int loop = 0;
    for (int c = 0; c < contacts.count; ++c) {
        const Contact& contact = contacts.at[c];
        const ContactFrames<T>& f = w.contacts.frames[c];
        T* const rows = w.rows + contact.first * w.width;
        T* turns = nullptr;
        if (contact.b.body >= 0) turns = w.turns + loop++ * 6 * w.padded;
        for (int k = 0; turns && k < 6 * w.padded; ++k) turns[k] = T(0.0);
        const Force<T> W = row_force(contact, f.E, w.forces + contact.first);
        const Motion<T>* a = w.fdsva.dynamics.idsva.a;
        const RowChanges<T> changes(tree, contact, f, g, a, w.contacts.world);
        for_row_partials(
            tree, changes, g, a,
            [&](int k, const Motion<T>& by_q, const Motion<T>& by_v, const Vec3<T>& turn) {
                const int at = independent_dof(tree, k);
                T q_rows[6], v_rows[6];
                store_rows(contact, f.E, -by_q, q_rows);
                store_rows(contact, f.E, -by_v, v_rows);
                for (int r = 0; r < contact.count; ++r) {
                    T* to = rows + r * w.width + at;
                    add_share(tree, k, if_active(active, c, q_rows[r]), to[0]);
                    add_share(tree, k, if_active(active, c, v_rows[r]), to[w.padded]);
                }
                if (!turns) return;
                T m[6];
                store_motion(Motion<T>{cross(turn, W.ang), cross(turn, W.lin)}, m);
                for (int r = 0; r < 6; ++r) add_share(tree, k, m[r], turns[r * w.padded + at]);
            });
    }
}

// L^-T J_b^T of the loops, for the force and moment on b along a's ground.
template <class T>
DTAU_INLINE void loop_factors(const Tree& tree, const ConstrainedDerivativesWorkspace<T>& w) {
    const Motion<T>* S = w.fdsva.dynamics.idsva.ground.S;
    const int stride = w.loop_columns;
    for_loops(*w.contacts.solver.contacts, [&](int c, const Contact& contact, int number) {
        const ContactFrames<T>& f = w.contacts.frames[c];
        T* const Y = w.loops + number * tree.independent.n * stride;
        for (int d = 0; d < contact.ndofs; ++d)
            for (int r = 0; r < 6; ++r) Y[contact.dofs[d] * stride + r] = T(0.0);
        for_moving_bodies(tree, contact.b.body, [&](const Body& body, int) {
            for (int k = body.v; k < body.v + body.nv; ++k) {
                T m[6];
                store_motion(turned_to_a(contact, f, at_point(f.b, S[k])), m);
                T* to = Y + independent_dof(tree, k) * stride;
                for (int r = 0; r < 6; ++r) add_share(tree, k, m[r], to[r]);
            }
        });
        inwards_on_paths(tree.independent, contact.dofs, contact.ndofs, Y, stride, stride,
                         w.fdsva.dynamics.ltdl);
    });
}

// What happens between the sweeps of the solve, for a block of columns: ltdl_columns.hpp.
template <class T>
struct ContactChange {
    const Tree& tree;
    const ConstrainedDerivativesWorkspace<T>& w;
    T* dforces[3];  // by q, v, tau
    int offset;     // of the first column
    double scale;   // of the solve

    ContactChange of_matrix(int m) const {
        return {tree, w, {dforces[0], dforces[1], dforces[2]}, m * w.padded, m < 2 ? -1.0 : 1.0};
    }
    // Not inlined: the registers of the sweeps are theirs.
    template <int packs>
    __attribute__((noinline)) void operator()(int first, T* X, std::ptrdiff_t stride) const {
        constexpr int width = Pack<T>::width;
        const ContactSolver<T>& solver = w.contacts.solver;
        const Contacts& contacts = *solver.contacts;
        const int n = tree.independent.n, begin = offset + first;
        if (begin < w.padded)
            for_loops(contacts, [&](int, const Contact& contact, int number) {
                add_turns<packs>(contact, number, begin, X, stride);
            });
        for_contacts<T>(contacts, [&](int, const Contact& contact, int column) {
            in_groups<together<packs>>(contact.count, [&]<int rows>(int r) {
                wanted_rows<rows, packs>(contact, r, column + r, begin, X, stride);
            });
        });
        solve_contacts<packs>(solver.block, solver.more_block, solver.rest_block, solver);
        for (int r = 0; r < contacts.nrows; ++r)
            unrolled<packs>([&](int p) {
                const int c = begin + p * width, column = c % w.padded;
                solver.block[r * packs + p].store(dforces[c / w.padded] + r * n + column,
                                                  n - column);
            });
        for_contacts<T>(contacts, [&](int, const Contact& contact, int column) {
            in_groups<together<packs>>(contact.ndofs, [&]<int count>(int d) {
                add_forces<count, packs>(contact, contact.dofs + d, column, X, stride);
            });
        });
    }

  private:
    // So many rows of X or of the contacts are in registers at once.
    template <int packs>
    static constexpr int together = packs > 9 ? 2 : 3;

    template <int most, class Visit>
    static DTAU_INLINE void in_groups(int count, const Visit& visit) {
        int k = 0;
        for (; k + most <= count; k += most) visit.template operator()<most>(k);
        if constexpr (most > 1)
            for (; k < count; ++k) visit.template operator()<1>(k);
    }
    // -drows/dx + scale Z^T X, of rows first ... of a contact, in columns of Z.
    template <int rows, int packs>
    DTAU_INLINE void wanted_rows(const Contact& contact, int first, int column, int begin,
                                 const T* X, std::ptrdiff_t stride) const {
        constexpr int width = Pack<T>::width;
        const ContactSolver<T>& solver = w.contacts.solver;
        Pack<T> x[rows][packs];
        const T* from = w.rows + (contact.first + first) * w.width + begin;
        unrolled<rows>([&](int r) __attribute__((always_inline)) {
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                x[r][p] = Pack<T>::load(from + r * w.width + p * width);
            });
        });
        for (int d = 0; d < contact.ndofs; ++d) {
            const int k = contact.dofs[d];
            const T* z = solver.Z + k * solver.stride + column;
            T by[rows];
            unrolled<rows>([&](int r) { by[r] = T(-scale) * z[r]; });
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                const Pack<T> of = {in_register(Pack<T>::load(X + k * stride + p * width).value)};
                unrolled<rows>([&](int r) { x[r][p] = fma(by[r], of, x[r][p]); });
            });
        }
        unrolled<rows>([&](int r) __attribute__((always_inline)) {
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                solver.block[(contact.first + first + r) * packs + p] = x[r][p];
            });
        });
    }
    // X += scale Y df, in so many rows of X.
    template <int count, int packs>
    DTAU_INLINE void add_forces(const Contact& contact, const int* dofs, int column, T* X,
                                std::ptrdiff_t stride) const {
        constexpr int width = Pack<T>::width;
        const ContactSolver<T>& solver = w.contacts.solver;
        Pack<T> x[count][packs];
        unrolled<count>([&](int d) __attribute__((always_inline)) {
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                x[d][p] = Pack<T>::load(X + dofs[d] * stride + p * width);
            });
        });
        for (int r = 0; r < contact.count; ++r) {
            const Pack<T>* df = solver.block + (contact.first + r) * packs;
            T by[count];
            unrolled<count>(
                [&](int d) { by[d] = T(scale) * solver.Y[dofs[d] * solver.stride + column + r]; });
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                const Pack<T> force = {in_register(df[p].value)};
                unrolled<count>([&](int d) { x[d][p] = fma(by[d], force, x[d][p]); });
            });
        }
        unrolled<count>([&](int d) __attribute__((always_inline)) {
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                x[d][p].store(X + dofs[d] * stride + p * width);
            });
        });
    }
    // X += L^-T J_b^T m, for the columns by q of a block.
    template <int packs>
    DTAU_INLINE void add_turns(const Contact& contact, int number, int begin, T* X,
                               std::ptrdiff_t stride) const {
        constexpr int width = Pack<T>::width;
        const T* m = w.turns + number * 6 * w.padded + begin;
        const T* Y = w.loops + number * tree.independent.n * w.loop_columns;
        for (int d = 0; d < contact.ndofs; ++d) {
            const int k = contact.dofs[d];
            for (int p = 0; p < packs && begin + p * width < w.padded; ++p) {
                T* const to = X + k * stride + p * width;
                Pack<T> sum = Pack<T>::load(to);
                for (int r = 0; r < 6; ++r)
                    sum = fma(Y[k * w.loop_columns + r],
                              Pack<T>::load(m + r * w.padded + p * width), sum);
                sum.store(to);
            }
        }
    }
};

// Forces along the world's axes do not turn with their frames.
template <class T>
DTAU_INLINE void turn_forces(const Tree& tree, T* dforces_dq,
                             const ConstrainedDerivativesWorkspace<T>& w) {
    const Contacts& contacts = *w.contacts.solver.contacts;
    const Motion<T>* S = w.fdsva.dynamics.idsva.ground.S;
    const int n = tree.independent.n;
    for (int c = 0; c < contacts.count; ++c) {
        const Contact& contact = contacts.at[c];
        if (contact.axes == Axes::body) continue;
        const ContactFrames<T>& f = w.contacts.frames[c];
        const Force<T> W = row_force(contact, f.E, w.forces + contact.first);
        for_moving_bodies(tree, contact.a.body, [&](const Body& body, int) {
            for (int k = body.v; k < body.v + body.nv; ++k) {
                T rows[6];
                store_rows(contact, f.E, Motion<T>{cross(S[k].ang, W.ang), cross(S[k].ang, W.lin)},
                           rows);
                for (int r = 0; r < contact.count; ++r)
                    add_share(tree, k, rows[r],
                              dforces_dq[(contact.first + r) * n + independent_dof(tree, k)]);
            }
        });
    }
}

// q, v: of the joints; tau and all results: of the independent velocities.
template <class T>
void constrained_dynamics_derivatives(const Tree& tree, const T* q, const T* v, const T* tau,
                                      const T* active, const T* f_ext, T* da_dq, T* da_dv,
                                      T* da_dtau, T* dforces_dq, T* dforces_dv, T* dforces_dtau,
                                      const ConstrainedDerivativesWorkspace<T>& w) {
    const FactorizedWorkspace<T>& dynamics = w.fdsva.dynamics;
    const T* body_f_ext = along_body_axes(tree, q, f_ext, w.fdsva.wrenches.value);
    constrained_dynamics(tree, q, v, tau, active, body_f_ext, w.forces, w.residual, dynamics,
                         w.contacts);
    for_contact_wrenches(
        *w.contacts.solver.contacts, w.contacts.frames, w.forces,
        [&](int body, const Force<T>& W) { dynamics.idsva.f[body] = dynamics.idsva.f[body] - W; });
    idsva_accelerations(tree, dynamics.a, dynamics.idsva);
    constraint_partials(tree, active, w);
    loop_factors(tree, w);
    fdsva_matrices(tree, body_f_ext, da_dq, da_dv, tree.independent.n, da_dtau, w.fdsva,
                   ContactChange<T>{tree, w, {dforces_dq, dforces_dv, dforces_dtau}, 0, -1.0});
    turn_forces(tree, dforces_dq, w);
}

}  // namespace dtau::DTAU_VARIANT
