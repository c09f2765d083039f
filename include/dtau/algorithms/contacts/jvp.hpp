// The product of the first derivatives of constrained dynamics with a variation, without a matrix
// (nv, nv): the sweeps of first/products.hpp and one solve with the factors that the value has. [Notes]
// eq. 20.11
//
//   M da - J^T df = dtau - dID - J_b^T m,        J da = -drows
//
// with dID and drows along (dq, dv); m, and that forces along the world's axes do not turn with frame a,
// as in derivatives.hpp.
#pragma once

#include "dtau/algorithms/contacts/motion.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct ConstrainedJvpWorkspace {
    ConstrainedMotionWorkspace<T> value;
    TangentWorkspace<T> tangent;
    Motion<T>*d, *moved;  // of the joints, and of the bodies along dq

    ConstrainedJvpWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : value(arena, tree, options),
          tangent(arena, tree, options),
          d(arena.take<Motion<T>>(tree.nnodes)),
          moved(arena.take<Motion<T>>(tree.nnodes)) {}
};

// How a frame's motion changes: its displacement, and D V, D A beside that.
template <class T>
struct FrameChange {
    Motion<T> s, dV, dA;
};
template <class T>
DTAU_INLINE FrameChange<T> frame_change(const Tree& tree, int i, const Placement<T>& X,
                                        const ConstrainedJvpWorkspace<T>& w) {
    const Ground<T>& g = w.value.dynamics.idsva.ground;
    const Motion<T> V = at_point(X, g.v[i]);
    Motion<T> z = w.tangent.z[i];  // Psi'' there are of accelerations with gravity
    z.lin = cross(g.gravity[tree.bodies[i].root], w.moved[i].ang, z.lin);
    FrameChange<T> d = {at_point(X, w.moved[i]), at_point(X, w.tangent.y[i]),
                        at_point(X, cross(w.tangent.y[i], g.v[i], z))};  // [Notes] eq. 19.2
    d.dA.lin = cross(d.dV.ang, V.lin, cross(V.ang, d.dV.lin, d.dA.lin));
    return d;
}

// Adds to the changes dF of the bodies' forces that the force W of a loop on b turns with a.
template <class T>
DTAU_INLINE void turn_loop(const Contact& contact, const ContactFrames<T>& f, const Vec3<T>& turn,
                           const Force<T>& W, Force<T>* dF) {
    Motion<T> m = {cross(turn, W.ang), cross(turn, W.lin)};
    if (contact.other_tree) m = {transposed_mul(f.turn, m.ang), transposed_mul(f.turn, m.lin)};
    dF[contact.b.body] += {cross(f.b.r, m.lin, m.ang), m.lin};
}

// Torques of the joints for the forces F of the bodies, whose changes beside their motion are in dF, by
// what they vary. Uses up both.
template <class T>
DTAU_INLINE void vary_torques(const Tree& tree, const Motion<T>* S, const Motion<T>* d, Force<T>* F,
                              Force<T>* dF, T* torque) {
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        joint_force(body, S, dF[i], torque);
        if (body.parent < 0) continue;
        F[body.parent] += F[i];
        dF[body.parent] += cross_star(d[i], F[i], dF[i]);  // [Notes] eq. 6.3
    }
}

// With a damping, dforces += N dJ z along dq. [Notes] eq. 20.10
template <class T>
void vary_range(const Tree& tree, const T* dq, const T* active, T* dforces,
                const ConstrainedMotionWorkspace<T>& w) {
    const Contacts& contacts = *w.contacts.solver.contacts;
    const Ground<T> g = range_velocities(tree, w.forces, w.dynamics.idsva.ground, w.dynamics.ltdl,
                                         w.contacts.solver, w.range);
    T* const rows = w.range.h;
    for (int c = 0; c < contacts.count; ++c) {
        const Contact& contact = contacts.at[c];
        const ContactFrames<T>& f = w.contacts.frames[c];
        Motion<T> change = zero_motion<T>();
        for_velocity_partials(tree, contact, f, g,
                              [&](int k, const Motion<T>&, const Motion<T>& by_q, const Vec3<T>&) {
                                  change = fma(dq[k], by_q, change);
                              });
        T* to = rows + contact.first;
        store_rows(contact, f.E, change, to);
        for (int r = 0; r < contact.count; ++r) to[r] = if_active(active, c, to[r]);
    }
    without_forces<1>(rows, w.contacts.solver);
    for (int r = 0; r < contacts.nrows; ++r) dforces[r] = dforces[r] + rows[r];
}

// With a damping, the right sides of the rows += G^+ J M^-1 dJ^T r along dq. [Notes] eq. 20.10
template <class T>
void vary_residual(const Tree& tree, T* right_sides, const ConstrainedJvpWorkspace<T>& w) {
    const ConstrainedMotionWorkspace<T>& value = w.value;
    const ContactSolver<T>& solver = value.contacts.solver;
    const Contacts& contacts = *solver.contacts;
    Force<T>*F = value.F, *dF = w.tangent.dF;
    for (int i = 0; i < tree.nnodes; ++i) F[i] = dF[i] = zero_force<T>();
    add_contact_forces(contacts, value.contacts.frames, value.residual, F);
    for_loops(contacts, [&](int c, const Contact& contact, int) {
        const ContactFrames<T>& f = value.contacts.frames[c];
        const Motion<T> moved_b = turned_to_a(contact, f, w.moved[contact.b.body]);
        turn_loop(contact, f, w.moved[contact.a.body].ang - moved_b.ang,
                  row_force(contact, f.E, value.residual + contact.first), dF);
    });
    T *const x = value.range.x, *const rows = value.range.h;
    T* const torque = tree.coupling ? value.range.z : x;  // as reduce_columns has it
    vary_torques(tree, value.dynamics.idsva.ground.S, w.d, F, dF, torque);
    reduce_columns(tree, torque, 1, x);
    ltdl_solve_inwards(tree.independent, x, value.dynamics.ltdl);
    for (int r = 0; r < contacts.nrows; ++r) rows[r] = T(0.0);
    subtract_from_rows(x, rows, solver);
    solve_contacts<1>(rows, solver.more, solver.rest, solver);
    for (int r = 0; r < contacts.nrows; ++r) right_sides[r] = right_sides[r] - rows[r];
}

// q, v, dq, dv and da: of the joints; tau and dtau: of the independent velocities. f_ext and df_ext,
// along body axes, and active may be null.
template <class T>
void constrained_dynamics_jvp(const Tree& tree, const T* q, const T* v, const T* tau, const T* dq,
                              const T* dv, const T* dtau, const T* active, const T* f_ext,
                              const T* df_ext, T* da, T* dforces,
                              const ConstrainedJvpWorkspace<T>& w) {
    const ConstrainedMotionWorkspace<T>& value = w.value;
    const Contacts& contacts = *value.contacts.solver.contacts;
    const FactorizedWorkspace<T>& dynamics = value.dynamics;
    const Ground<T>& g = dynamics.idsva.ground;
    const T* const zero = nullptr;
    Force<T>* const dF = w.tangent.dF;
    constrained_motion(tree, q, v, tau, active, f_ext, value);
    for (int i = 0; i < tree.nnodes; ++i) {
        const int p = tree.bodies[i].parent;
        w.d[i] = tangent_outwards(tree, i, g, value.a, value.momentum[i], dq, dv, zero, df_ext,
                                  w.tangent);
        w.moved[i] = p < 0 ? w.d[i] : w.moved[p] + w.d[i];
    }
    for (int c = 0; c < contacts.count; ++c) {
        const Contact& contact = contacts.at[c];
        const ContactFrames<T>& f = value.contacts.frames[c];
        const RowChanges<T> rows(tree, contact, f, g, value.a, value.contacts.world);
        const FrameChange<T> a = frame_change(tree, contact.a.body, f.a, w);
        Motion<T> change = rows.displaced_a(a.s, rows.of_a(a.dV, a.dA));
        if (contact.b.body >= 0) {
            const FrameChange<T> own = frame_change(tree, contact.b.body, f.b, w);
            const Motion<T> s = turned_to_a(contact, f, own.s);
            change = change + rows.displaced_b(s, rows.of_b(turned_to_a(contact, f, own.dV),
                                                            turned_to_a(contact, f, own.dA)));
            turn_loop(contact, f, a.s.ang - s.ang,
                      row_force(contact, f.E, value.forces + contact.first), dF);
        }
        T* to = dforces + contact.first;
        store_rows(contact, f.E, -change, to);
        for (int r = 0; r < contact.count; ++r) to[r] = if_active(active, c, to[r]);
    }
    T *const torque = dynamics.a, *const x = dynamics.independent;
    vary_torques(tree, g.S, w.d, value.F, dF, torque);
    for (int k = 0; k < tree.nv; ++k) torque[k] = fma(T(tree.damping[k]), dv[k], torque[k]);
    reduce_columns(tree, torque, 1, x);
    for (int k = 0; k < tree.independent.n; ++k) x[k] = dtau[k] - x[k];
    ltdl_solve_inwards(tree.independent, x, dynamics.ltdl);
    if (value.contacts.solver.damping > 0.0) vary_residual(tree, dforces, w);
    solve_with_contacts(tree.independent.n, x, dforces, value.contacts.solver);
    ltdl_solve_outwards(tree.independent, x, dynamics.ltdl);
    joint_velocities(tree, x, da);
    if (value.contacts.solver.damping > 0.0) vary_range(tree, dq, active, dforces, value);
    for (int c = 0; c < contacts.count; ++c) {
        const Contact& contact = contacts.at[c];
        if (contact.axes == Axes::body) continue;
        const ContactFrames<T>& f = value.contacts.frames[c];
        const Force<T> W = row_force(contact, f.E, value.forces + contact.first);
        const Vec3<T> turn = w.moved[contact.a.body].ang;
        T rows[6];
        store_rows(contact, f.E, Motion<T>{cross(turn, W.ang), cross(turn, W.lin)}, rows);
        for (int r = 0; r < contact.count; ++r)
            dforces[contact.first + r] = dforces[contact.first + r] + rows[r];
    }
}

}  // namespace dtau::DTAU_VARIANT
