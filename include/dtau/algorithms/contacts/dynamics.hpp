// Forward dynamics of a robot whose contacts and loops hold: accelerations and forces, O(N d^2) for the
// tree, O(d^2 + nrows d) a contact and O(nrows^3). [Notes] eq. 20.2:
//
//   M a - J^T f = tau - bias        J a = -(rows (20.1) at a = 0)
//
// The rows' residual is what is left of (20.1): rounding errors, but for rows that contradict each
// other, with a damping.
#pragma once

#include "dtau/algorithms/contacts/forces.hpp"
#include "dtau/algorithms/solve/factorized.hpp"

namespace dtau::DTAU_VARIANT {

// What contacts need of a state beside the dynamics of the tree.
template <class T>
struct ContactWorkspace {
    ContactSolver<T> solver;
    Placement<T>* world;
    ContactFrames<T>* frames;
    T* wanted;  // (nrows) what the rows want of J a

    ContactWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : solver(arena, tree, options),
          world(arena.take<Placement<T>>(tree.nnodes)),
          frames(arena.take<ContactFrames<T>>(options.contacts->count)),
          wanted(arena.take<T>(options.contacts->nrows)) {}
};

// Frames, J and its solver, after the factors of M; ground: placements and subspaces.
template <class T>
DTAU_INLINE void factorize_state(const Tree& tree, const T* q, const T* active,
                                 const Ground<T>& ground, const LtdlWorkspace<T>& ltdl,
                                 const ContactWorkspace<T>& w) {
    const Contacts& contacts = *w.solver.contacts;
    place_contacts_in_world(tree, contacts, Configuration<T>(q, ground.angles), w.world);
    for_contacts<T>(contacts, [&](int c, const Contact& contact, int column) {
        w.frames[c] = contact_frames(tree, contact, ground.P, w.world);
        T* const Y = w.solver.Y + column;
        contact_jacobian(tree, c, contact, w.frames[c], ground.S, active, Y, w.solver.stride);
        if (w.solver.damping == 0.0)
            least_pivots(contact, w.frames[c], Y, w.solver.stride, w.solver.least + contact.first);
    });
    factorize_contacts(tree, active, ltdl, w.solver);
}

// Velocities of all joints from independent ones.
template <class T>
void joint_velocities(const Tree& tree, const T* x, T* joint) {
    for (int k = 0; k < tree.nv && !tree.coupling; ++k) joint[k] = x[k];
    expand_v(tree, x, joint);
}

// As idsva_velocities, but only what no derivative needs: forces and accelerations of the bodies.
template <class T>
void bias_velocities(const Tree& tree, const T* v, const T* f_ext, const IdsvaWorkspace<T>& w) {
    const Ground<T>& g = w.ground;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        w.a[i] = zero_motion<T>();
        if (body.parent >= 0)
            w.a[i] = cross(g.v[body.parent], subspace_times(body, g.S, v, zero_motion<T>()));
        w.f[i] = cross_star(g.v[i], g.I[i] * g.v[i]);
        if (acts_on(f_ext, body)) w.f[i] = w.f[i] - transformed(g.P[i], body_wrench(body, f_ext));
    }
}

// q, v: of the joints; tau: of the independent velocities; active (ncontacts) may be null: all.
// Leaves the acceleration of the joints in w.a, of the independent velocities in w.independent; and
// for derivatives what they need of velocities.
template <class T>
void constrained_dynamics(bool derivatives, const Tree& tree, const T* q, const T* v, const T* tau,
                          const T* active, const T* f_ext, T* forces, T* residual,
                          const FactorizedWorkspace<T>& w, const ContactWorkspace<T>& rows) {
    const Contacts& contacts = *rows.solver.contacts;
    const Ground<T>& ground = w.idsva.ground;
    T* x = w.independent;
    factorize_mass_matrix(tree, q, v, w);
    if (derivatives)
        idsva_velocities(tree, v, f_ext, w.idsva);
    else
        bias_velocities(tree, v, f_ext, w.idsva);
    independent_torque(tree, v, tau, w);
    ltdl_solve_inwards(tree.independent, x, w.ltdl);
    factorize_state(tree, q, active, ground, w.ltdl, rows);
    for (int c = 0; c < contacts.count; ++c) {
        const Contact& contact = contacts.at[c];
        const ContactFrames<T>& f = rows.frames[c];
        const Motion<T> at_rest = row_accelerations(tree, contact, f, ground, w.bias_a, rows.world);
        T* wanted = rows.wanted + contact.first;
        store_rows(contact, f.E, -at_rest, wanted);
        for (int r = 0; r < contact.count; ++r) {
            wanted[r] = if_active(active, c, wanted[r]);
            forces[contact.first + r] = wanted[r];
        }
    }
    solve_with_contacts(tree.independent.n, x, forces, rows.solver);
    for (int r = 0; r < contacts.nrows; ++r) residual[r] = rows.wanted[r];
    subtract_from_rows(x, residual, rows.solver);
    for (int r = 0; r < contacts.nrows; ++r) residual[r] = T(0.0) - residual[r];
    ltdl_solve_outwards(tree.independent, x, w.ltdl);
    expand_v(tree, x, w.a);
}

}  // namespace dtau::DTAU_VARIANT
