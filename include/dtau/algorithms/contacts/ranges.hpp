// Where rows depend on each other, in every configuration, the shortest forces f = J z stay in the range
// of J, which moves with q: to what the solve gives comes N dJ/dq z, with z = M^-1 J^T G^-1 f and N what
// no force can give (solver.hpp). With a damping only. [Notes] eq. 20.10
#pragma once

#include "dtau/algorithms/contacts/dynamics.hpp"
#include "dtau/algorithms/contacts/partials.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct RangeWorkspace {
    T *h, *x, *z;  // (nrows); of the independent velocities; of the joints
    Motion<T>* twists;

    RangeWorkspace(Arena& arena, const Tree& tree, const Contacts& all)
        : h(arena.take<T>(all.nrows)),
          x(arena.take<T>(tree.independent.n)),
          z(arena.take<T>(tree.nv)),
          twists(arena.take<Motion<T>>(tree.nbodies)) {}
};

// Ground, with the twists of the bodies for the joint velocities z.
template <class T>
Ground<T> range_velocities(const Tree& tree, const T* forces, const Ground<T>& ground,
                           const LtdlWorkspace<T>& ltdl, const ContactSolver<T>& solver,
                           const RangeWorkspace<T>& w) {
    for (int r = 0; r < solver.contacts->nrows; ++r) w.h[r] = forces[r];
    for (int k = 0; k < tree.independent.n; ++k) w.x[k] = T(0.0);
    solve_contacts<1>(w.h, solver.more, solver.rest, solver);
    add_rows(w.h, w.x, solver);
    ltdl_solve_outwards(tree.independent, w.x, ltdl);
    joint_velocities(tree, w.x, w.z);
    Ground<T> g = ground;
    g.v = w.twists;
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        g.v[i] = body.parent < 0 ? joint_twist(body, w.z + body.v)
                                 : subspace_times(body, g.S, w.z, g.v[body.parent]);
    }
    return g;
}

}  // namespace dtau::DTAU_VARIANT
