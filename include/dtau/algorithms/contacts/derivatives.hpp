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

#include "dtau/algorithms/contacts/columns.hpp"
#include "dtau/algorithms/first/fdsva.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct ConstrainedDerivativesWorkspace {
    FdsvaWorkspace<T> fdsva;
    ContactWorkspace<T> contacts;
    ContactColumns<T> columns;  // by q, v and tau
    T *forces, *residual;
    T *h, *x, *z;  // with a damping: J z = forces
    Motion<T>* twists;

    ConstrainedDerivativesWorkspace(Arena& arena, const Tree& tree, const Contacts& all,
                                    Axes wrench_axes, double damping)
        : fdsva(arena, tree, wrench_axes),
          contacts(arena, tree, all, damping),
          columns(arena, tree, all, 3),
          forces(arena.take<T>(all.nrows)),
          residual(arena.take<T>(all.nrows)),
          h(arena.take<T>(all.nrows)),
          x(arena.take<T>(tree.independent.n)),
          z(arena.take<T>(tree.nv)),
          twists(arena.take<Motion<T>>(tree.nbodies)) {}
};

// Where rows depend on each other, the shortest forces f = J z stay in the range of J, which moves:
// dJ/dq z at the z = M^-1 J^T G^-1 f. [Notes] eq. 20.10
template <class T>
DTAU_INLINE void range_partials(const Tree& tree, const T* active,
                                const ConstrainedDerivativesWorkspace<T>& w) {
    const ContactSolver<T>& solver = w.contacts.solver;
    const Contacts& contacts = *solver.contacts;
    for (int r = 0; r < contacts.nrows; ++r) w.h[r] = w.forces[r];
    for (int k = 0; k < tree.independent.n; ++k) w.x[k] = T(0.0);
    solve_contacts<1>(w.h, solver.more, solver.rest, solver);
    add_rows(w.h, w.x, solver);
    ltdl_solve_outwards(tree.independent, w.x, w.fdsva.dynamics.ltdl);
    joint_velocities(tree, w.x, w.z);
    Ground<T> g = w.fdsva.dynamics.idsva.ground;
    g.v = w.twists;
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        g.v[i] = body.parent < 0 ? joint_twist(body, w.z + body.v)
                                 : subspace_times(body, g.S, w.z, g.v[body.parent]);
    }
    const int padded = w.columns.padded;
    for (int k = 0; k < contacts.nrows * padded; ++k) w.columns.ranges[k] = T(0.0);
    for (int c = 0; c < contacts.count; ++c) {
        const Contact& contact = contacts.at[c];
        const ContactFrames<T>& f = w.contacts.frames[c];
        for_velocity_partials(
            tree, contact, f, g,
            [&](int k, const Motion<T>&, const Motion<T>& by_q, const Vec3<T>&) {
                T rows[6];
                store_rows(contact, f.E, by_q, rows);
                T* to = w.columns.ranges + contact.first * padded + independent_dof(tree, k);
                for (int r = 0; r < contact.count; ++r)
                    add_share(tree, k, if_active(active, c, rows[r]), to[r * padded]);
            });
    }
}

// -drows/dx of all contacts, and the turns of loops.
template <class T>
DTAU_INLINE void constraint_partials(const Tree& tree, const T* active,
                                     const ConstrainedDerivativesWorkspace<T>& w) {
    const Contacts& contacts = *w.contacts.solver.contacts;
    const Ground<T>& g = w.fdsva.dynamics.idsva.ground;
    const Motion<T>* a = w.fdsva.dynamics.idsva.a;
    clear_columns(contacts, 2, w.columns);
    int loop = 0;
    for (int c = 0; c < contacts.count; ++c) {
        const Contact& contact = contacts.at[c];
        const ContactFrames<T>& f = w.contacts.frames[c];
        const int number = contact.b.body < 0 ? -1 : loop++;
        const Force<T> W = row_force(contact, f.E, w.forces + contact.first);
        const RowChanges<T> changes(tree, contact, f, g, a, w.contacts.world);
        for_row_partials(
            tree, changes, g, a,
            [&](int k, const Motion<T>& by_q, const Motion<T>& by_v, const Vec3<T>& turn) {
                add_column(tree, c, contact, f, active, 0, k, by_q, w.columns);
                add_column(tree, c, contact, f, active, 1, k, by_v, w.columns);
                if (number >= 0) add_turn(tree, number, k, turn, W, w.columns);
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
    const Contacts& contacts = *w.contacts.solver.contacts;
    const T* body_f_ext = along_body_axes(tree, q, f_ext, w.fdsva.wrenches.value);
    constrained_dynamics(tree, q, v, tau, active, body_f_ext, w.forces, w.residual, dynamics,
                         w.contacts);
    for_contact_wrenches(
        *w.contacts.solver.contacts, w.contacts.frames, w.forces,
        [&](int body, const Force<T>& W) { dynamics.idsva.f[body] = dynamics.idsva.f[body] - W; });
    idsva_accelerations(tree, dynamics.a, dynamics.idsva);
    constraint_partials(tree, active, w);
    if (w.contacts.solver.damping > 0.0) range_partials(tree, active, w);
    loop_factors(tree, contacts, w.contacts.frames, dynamics.idsva.ground.S, dynamics.ltdl,
                 w.columns);
    fdsva_matrices(
        tree, body_f_ext, da_dq, da_dv, tree.independent.n, da_dtau, w.fdsva,
        ContactChange<T>{
            tree, w.contacts.solver, w.columns, {dforces_dq, dforces_dv, dforces_dtau}, 0, -1.0});
    turn_forces(tree, contacts, w.contacts.frames, dynamics.idsva.ground.S, w.forces, dforces_dq);
}

}  // namespace dtau::DTAU_VARIANT
