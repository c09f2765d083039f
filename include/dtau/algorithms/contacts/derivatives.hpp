// First derivatives of constrained dynamics. [Notes] eqs. 20.6 to 20.9. With the wrenches of the
// contacts among the external ones, constant along body axes, and a the solution:
//
//   [M  -J^T] [da]     [dID/dx (q, v, a)]                  [1]
//   [J    0 ] [df] = - [drows/dx        ],  and for tau:   [0]
//
// FDSVA (fdsva.hpp) with the forces of the contacts between the two sweeps of its solve:
//
//   X = L^-T dID/dx,   df = G^-1 (Z^T X - drows/dx),   X <- X - Y df,   da = -L^-1 D^-1 X
// Rows that depend on each other, with a damping: ranges.hpp, [Notes] eq. 20.10.
//
// A loop's force on b turns with a: with the turns m of it along the columns, m = (turn x W), J_b^T m
// joins dID/dq. Forces along the world's axes do not turn with a: to df by q their turns are added.
#pragma once

#include "dtau/algorithms/contacts/ranges.hpp"
#include "dtau/algorithms/first/fdsva.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct ConstrainedDerivativesWorkspace {
    FdsvaWorkspace<T> fdsva;
    ContactWorkspace<T> contacts;
    ContactColumns<T> columns;  // by q, v and tau
    T *forces, *residual;
    RangeWorkspace<T> range;

    ConstrainedDerivativesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : fdsva(arena, tree, options),
          contacts(arena, tree, options),
          columns(arena, tree, *options.contacts, 3),
          forces(arena.take<T>(options.contacts->nrows)),
          residual(arena.take<T>(options.contacts->nrows)),
          range(arena, tree, options) {}
};

// -drows/dx of all contacts, and the turns of loops.
template <class T>
void constraint_partials(const Tree& tree, const T* active, const T* forces,
                         const IdsvaWorkspace<T>& idsva, const ContactWorkspace<T>& rows,
                         const ContactColumns<T>& columns) {
    const Contacts& contacts = *rows.solver.contacts;
    const Ground<T>& g = idsva.ground;
    const Motion<T>* a = idsva.a;
    clear_columns(contacts, 2, columns);
    int loop = 0;
    for (int c = 0; c < contacts.count; ++c) {
        const Contact& contact = contacts.at[c];
        const ContactFrames<T>& f = rows.frames[c];
        const int number = contact.b.body < 0 ? -1 : loop++;
        const Force<T> W = row_force(contact, f.E, forces + contact.first);
        const RowChanges<T> changes(tree, contact, f, g, a, rows.world);
        for_row_partials(
            tree, changes, g, a,
            [&](int k, const Motion<T>& by_q, const Motion<T>& by_v, const Vec3<T>& turn) {
                add_column(tree, c, contact, f, active, 0, k, by_q, columns);
                add_column(tree, c, contact, f, active, 1, k, by_v, columns);
                if (number >= 0) add_turn(tree, number, k, turn, W, columns);
            });
    }
}

// q, v: of the joints; tau and all results: of the independent velocities. Rows of da_dq and da_dv are
// `stride` apart; those of the forces may be null: not wanted. Leaves the residual in w.
template <class T>
void constrained_dynamics_derivatives(const Tree& tree, const T* q, const T* v, const T* tau,
                                      const T* active, const T* f_ext, T* da_dq, T* da_dv,
                                      int stride, T* da_dtau, T* dforces_dq, T* dforces_dv,
                                      T* dforces_dtau,
                                      const ConstrainedDerivativesWorkspace<T>& w) {
    const FactorizedWorkspace<T>& dynamics = w.fdsva.dynamics;
    const Contacts& contacts = *w.contacts.solver.contacts;
    const T* body_f_ext = along_body_axes(tree, q, f_ext, w.fdsva.wrenches.value);
    constrained_dynamics(true, tree, q, v, tau, active, body_f_ext, w.forces, w.residual, dynamics,
                         w.contacts);
    add_contact_forces(contacts, w.contacts.frames, w.forces, dynamics.idsva.f);
    idsva_accelerations(tree, dynamics.a, dynamics.idsva);
    constraint_partials(tree, active, w.forces, dynamics.idsva, w.contacts, w.columns);
    if (w.contacts.solver.damping > 0.0)
        residual_columns(tree, w.contacts.frames, w.residual, dynamics.idsva.ground, dynamics.ltdl,
                         w.contacts.solver, w.range, w.columns);
    if (w.contacts.solver.damping > 0.0 && dforces_dq)
        range_columns(tree, contacts, w.contacts.frames, active,
                      range_velocities(tree, w.forces, dynamics.idsva.ground, dynamics.ltdl,
                                       w.contacts.solver, w.range),
                      w.columns);
    loop_factors(tree, contacts, w.contacts.frames, dynamics.idsva.ground.S, dynamics.ltdl,
                 w.columns);
    fdsva_matrices(
        tree, body_f_ext, da_dq, da_dv, stride, da_dtau, w.fdsva,
        ContactChange<T>{
            tree, w.contacts.solver, w.columns, {dforces_dq, dforces_dv, dforces_dtau}, 0, -1.0});
    if (dforces_dq)
        turn_forces(tree, contacts, w.contacts.frames, dynamics.idsva.ground.S, w.forces,
                    dforces_dq);
}

}  // namespace dtau::DTAU_VARIANT
