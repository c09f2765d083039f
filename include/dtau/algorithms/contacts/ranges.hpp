// How the forces f = G^+ b move with J where rows depend on each other, with a damping only: the full
// derivative of the pseudo-inverse, [Golub-Pereyra], with r = b - G f, which no force can give:
//
//   df = G^+ (db - dG f) + G^+ G^+ dG r + N dG G^+ f                                   (20.10)
//      = G^+ (db - dG f + G^+ J M^-1 dJ^T r) + N dJ z,      z = M^-1 J^T G^+ f
//
// N projects on what no force can give (forces.hpp). This file has the velocities that both additions
// need, and the first addition along all columns by q.
#pragma once

#include "dtau/algorithms/contacts/change.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct RangeWorkspace {
    T *h, *x, *z;  // (nrows); of the independent velocities; of the joints
    Motion<T>* twists;

    RangeWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : h(arena.take<T>(options.contacts->nrows)),
          x(arena.take<T>(tree.independent.n)),
          z(arena.take<T>(tree.nv)),
          twists(arena.take<Motion<T>>(tree.nnodes)) {}
};

// Ground, with the twists of the bodies for the velocities M^-1 J^T h, h in w.h.
template <class T>
Ground<T> response_velocities(const Tree& tree, const Ground<T>& ground,
                              const LtdlWorkspace<T>& ltdl, const ContactSolver<T>& solver,
                              const RangeWorkspace<T>& w) {
    for (int k = 0; k < tree.independent.n; ++k) w.x[k] = T(0.0);
    add_rows(w.h, w.x, solver);
    ltdl_solve_outwards(tree.independent, w.x, ltdl);
    joint_velocities(tree, w.x, w.z);
    Ground<T> g = ground;
    g.v = w.twists;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        g.v[i] = body.parent < 0 ? joint_twist(body, w.z + body.v)
                                 : subspace_times(body, g.S, w.z, g.v[body.parent]);
    }
    return g;
}
// The same for M^-1 J^T G^+ forces.
template <class T>
Ground<T> range_velocities(const Tree& tree, const T* forces, const Ground<T>& ground,
                           const LtdlWorkspace<T>& ltdl, const ContactSolver<T>& solver,
                           const RangeWorkspace<T>& w) {
    for (int r = 0; r < solver.contacts->nrows; ++r) w.h[r] = forces[r];
    solve_contacts<1>(w.h, solver.more, solver.rest, solver);
    return response_velocities(tree, ground, ltdl, solver, w);
}

// by_q += the derivative of rows . J y at constant y, of which g has the twists.
template <class T>
void add_row_gradient(const Tree& tree, const Contacts& contacts, const ContactFrames<T>* frames,
                      const T* rows, const Ground<T>& g, T* by_q) {
    for (int c = 0; c < contacts.count; ++c) {
        const Contact& contact = contacts.at[c];
        const Force<T> weight = row_force(contact, frames[c].E, rows + contact.first);
        for_velocity_partials(tree, contact, frames[c], g,
                              [&](int k, const Motion<T>&, const Motion<T>& dq, const Vec3<T>&) {
                                  by_q[k] = dot(weight, dq, by_q[k]);
                              });
    }
}

// Adds G^+ J M^-1 dJ^T r to the right sides of the rows by q; residual: -r. Row i of J M^-1 dJ^T r has
// the derivatives of r . J w_i, with row i of J M^-1 for w_i. [Notes] eq. 20.10
template <class T>
void residual_columns(const Tree& tree, const ContactFrames<T>* frames, const T* residual,
                      const Ground<T>& ground, const LtdlWorkspace<T>& ltdl,
                      const ContactSolver<T>& solver, const RangeWorkspace<T>& range,
                      const ContactColumns<T>& w) {
    constexpr int width = Pack<T>::width;
    const Contacts& contacts = *solver.contacts;
    for (int i = 0; i < contacts.nrows; ++i) {
        T* const row = w.ranges + i * w.padded;
        for (int k = 0; k < w.padded; ++k) row[k] = T(0.0);
        for (int r = 0; r < contacts.nrows; ++r) range.h[r] = T(r == i ? 1.0 : 0.0);
        const Ground<T> g = response_velocities(tree, ground, ltdl, solver, range);
        for (int k = 0; k < tree.nv; ++k) range.z[k] = T(0.0);
        add_row_gradient(tree, contacts, frames, residual, g, range.z);
        for (int k = 0; k < tree.nv; ++k)
            add_share(tree, k, range.z[k], row[independent_dof(tree, k)]);
    }
    in_parts<ContactChange<T>::most_packs>(w.padded / width, [&]<int packs>(int p) {
        const int begin = p * width;
        for (int r = 0; r < contacts.nrows; ++r)
            for (int k = 0; k < packs; ++k)
                solver.block[r * packs + k] =
                    Pack<T>::load(w.ranges + r * w.padded + begin + k * width);
        solve_contacts<packs>(solver.block, solver.more_block, solver.rest_block, solver);
        for (int r = 0; r < contacts.nrows; ++r)
            for (int k = 0; k < packs; ++k) {
                T* const to = w.rows + r * w.width + begin + k * width;
                fma(T(-1.0), solver.block[r * packs + k], Pack<T>::load(to)).store(to);
            }
    });
}

}  // namespace dtau::DTAU_VARIANT
