// Products with the first derivatives of constrained dynamics, without a matrix (nv, nv): the sweeps of
// products.hpp and one solve with the factors that the value has. [Notes] eqs. 20.11, 20.12
//
//   jvp   M da - J^T df = dtau - dID - J_b^T m,        J da = -drows
//   vjp   M mu + J^T nu = lam,  -J mu = lam_f;         by_tau = mu,
//         by_x = -(dID/dx)^T mu - (drows/dx)^T nu
//
// with dID and drows along (dq, dv), or along each column; m, and that forces along the world's axes do
// not turn with frame a, as in derivatives.hpp.
#pragma once

#include "dtau/algorithms/contacts/ranges.hpp"
#include "dtau/algorithms/first/products.hpp"

namespace dtau::DTAU_VARIANT {

// The value, with all wrenches in the forces of the bodies.
template <class T>
struct ConstrainedMotionWorkspace {
    FactorizedWorkspace<T> dynamics;
    ContactWorkspace<T> contacts;
    T *forces, *residual;
    Motion<T>* a;
    Force<T>*F, *momentum;
    RangeWorkspace<T> range;

    ConstrainedMotionWorkspace(Arena& arena, const Tree& tree, const Contacts& all, double damping)
        : dynamics(arena, tree),
          contacts(arena, tree, all, damping),
          forces(arena.take<T>(all.nrows)),
          residual(arena.take<T>(all.nrows)),
          a(arena.take<Motion<T>>(tree.nbodies)),
          F(arena.take<Force<T>>(tree.nbodies)),
          momentum(arena.take<Force<T>>(tree.nbodies)),
          range(arena, tree, all) {}
};
template <class T>
void constrained_motion(const Tree& tree, const T* q, const T* v, const T* tau, const T* active,
                        const T* f_ext, const ConstrainedMotionWorkspace<T>& w) {
    const Ground<T>& g = w.dynamics.idsva.ground;
    constrained_dynamics(false, tree, q, v, tau, active, f_ext, w.forces, w.residual, w.dynamics,
                         w.contacts);
    for (int i = 0; i < tree.nbodies; ++i) {
        w.a[i] = body_acceleration(tree.bodies[i], i, v, w.dynamics.a, g, w.a);
        w.momentum[i] = g.I[i] * g.v[i];
        w.F[i] = w.dynamics.idsva.f[i] + g.I[i] * w.a[i];
    }
    add_contact_forces(*w.contacts.solver.contacts, w.contacts.frames, w.forces, w.F);
}

// What the range of J adds to dforces and to by_q, with a damping: N dJ/dq z, and its transpose.
template <class T>
DTAU_INLINE Ground<T> range_motion(const Tree& tree, const ConstrainedMotionWorkspace<T>& w) {
    return range_velocities(tree, w.forces, w.dynamics.idsva.ground, w.dynamics.ltdl,
                            w.contacts.solver, w.range);
}
template <class T>
void vary_range(const Tree& tree, const T* dq, const T* active, T* dforces,
                const ConstrainedMotionWorkspace<T>& w) {
    const Contacts& contacts = *w.contacts.solver.contacts;
    const Ground<T> g = range_motion(tree, w);
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
template <class T>
void gradient_of_range(const Tree& tree, const T* lam_forces, const T* active, T* by_q,
                       const ConstrainedMotionWorkspace<T>& w) {
    const Contacts& contacts = *w.contacts.solver.contacts;
    const Ground<T> g = range_motion(tree, w);
    T* const rows = w.range.h;
    for (int c = 0; c < contacts.count; ++c)
        for (int r = contacts.at[c].first; r < contacts.at[c].first + contacts.at[c].count; ++r)
            rows[r] = if_active(active, c, lam_forces[r]);
    without_forces<1>(rows, w.contacts.solver);
    for (int c = 0; c < contacts.count; ++c) {
        const Contact& contact = contacts.at[c];
        const ContactFrames<T>& f = w.contacts.frames[c];
        const Force<T> weight = row_force(contact, f.E, rows + contact.first);
        for_velocity_partials(tree, contact, f, g,
                              [&](int k, const Motion<T>&, const Motion<T>& dq, const Vec3<T>&) {
                                  by_q[k] = dot(weight, dq, by_q[k]);
                              });
    }
}

// ---------------------------------------------------------------- jvp

template <class T>
struct ConstrainedJvpWorkspace {
    ConstrainedMotionWorkspace<T> value;
    TangentWorkspace<T> tangent;
    Motion<T>*d, *moved;  // of the joints, and of the bodies along dq

    ConstrainedJvpWorkspace(Arena& arena, const Tree& tree, const Contacts& all, double damping)
        : value(arena, tree, all, damping),
          tangent(arena, tree),
          d(arena.take<Motion<T>>(tree.nbodies)),
          moved(arena.take<Motion<T>>(tree.nbodies)) {}
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
    Force<T>*F = value.F, *dF = w.tangent.dF;
    constrained_motion(tree, q, v, tau, active, f_ext, value);
    for (int i = 0; i < tree.nbodies; ++i) {
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
            const Force<T> W = row_force(contact, f.E, value.forces + contact.first);
            const Vec3<T> turn = a.s.ang - s.ang;
            Motion<T> m = {cross(turn, W.ang), cross(turn, W.lin)};
            if (contact.other_tree)
                m = {transposed_mul(f.turn, m.ang), transposed_mul(f.turn, m.lin)};
            dF[contact.b.body] += {cross(f.b.r, m.lin, m.ang), m.lin};
        }
        T* to = dforces + contact.first;
        store_rows(contact, f.E, -change, to);
        for (int r = 0; r < contact.count; ++r) to[r] = if_active(active, c, to[r]);
    }
    T *const torque = dynamics.a, *const x = dynamics.independent;
    for (int i = tree.nbodies - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        joint_force(body, g.S, dF[i], torque);
        if (body.parent < 0) continue;
        F[body.parent] += F[i];
        dF[body.parent] += cross_star(w.d[i], F[i], dF[i]);  // [Notes] eq. 6.3
    }
    for (int k = 0; k < tree.nv; ++k) torque[k] = fma(T(tree.damping[k]), dv[k], torque[k]);
    reduce_columns(tree, torque, 1, x);
    for (int k = 0; k < tree.independent.n; ++k) x[k] = dtau[k] - x[k];
    ltdl_solve_inwards(tree.independent, x, dynamics.ltdl);
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

// ---------------------------------------------------------------- vjp

template <class T>
struct ConstrainedVjpWorkspace {
    ConstrainedMotionWorkspace<T> value;
    AdjointWorkspace<T> adjoint;
    T *mu, *weights;  // of the joints; minus nu

    ConstrainedVjpWorkspace(Arena& arena, const Tree& tree, const Contacts& all, double damping)
        : value(arena, tree, all, damping),
          adjoint(arena, tree),
          mu(arena.take<T>(tree.nv)),
          weights(arena.take<T>(all.nrows)) {}
};

// The force and moment of W weighted with (a turn) x W: w . (turn x W) = turn . result.
template <class T>
DTAU_INLINE Vec3<T> turning(const Force<T>& W, const Motion<T>& w) {
    return cross(W.lin, w.lin, cross(W.ang, w.ang));
}

// q, v and results: of the joints; tau, lam: of the independent velocities; lam_forces (nrows) may be
// null: zero.
template <class T>
void constrained_dynamics_vjp(const Tree& tree, const T* q, const T* v, const T* tau, const T* lam,
                              const T* lam_forces, const T* active, const T* f_ext, T* by_q,
                              T* by_v, T* by_tau, T* by_f_ext,
                              const ConstrainedVjpWorkspace<T>& w) {
    const ConstrainedMotionWorkspace<T>& value = w.value;
    const Contacts& contacts = *value.contacts.solver.contacts;
    const FactorizedWorkspace<T>& dynamics = value.dynamics;
    const Ground<T>& g = dynamics.idsva.ground;
    Motion<T>* Lam = w.adjoint.Lam;
    T *const x = dynamics.independent, *const by_a = nullptr;
    constrained_motion(tree, q, v, tau, active, f_ext, value);
    for (int k = 0; k < tree.independent.n; ++k) x[k] = lam[k];
    for (int c = 0; c < contacts.count; ++c)
        for (int r = contacts.at[c].first; r < contacts.at[c].first + contacts.at[c].count; ++r)
            w.weights[r] = lam_forces ? if_active(active, c, -lam_forces[r]) : T(0.0);
    ltdl_solve_inwards(tree.independent, x, dynamics.ltdl);
    solve_with_contacts(tree.independent.n, x, w.weights, value.contacts.solver);
    ltdl_solve_outwards(tree.independent, x, dynamics.ltdl);
    joint_velocities(tree, x, by_tau);

    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        Lam[i] = joint_motion(body, g.S, by_tau);
        if (body.parent >= 0) Lam[i] = Lam[i] + Lam[body.parent];
        adjoint_outwards(i, g, value.momentum[i], w.adjoint);
        if (acts_on(by_f_ext, body)) store_twist(body, seen_from(g.P[i], Lam[i]), by_f_ext);
    }
    for (int i = tree.nbodies - 1; i >= 0; --i) {
        const int p = tree.bodies[i].parent;
        adjoint_inwards(tree, i, g, value.a, value.F[i], by_q, by_v, by_a, w.adjoint);
        if (p >= 0) value.F[p] += value.F[i];
    }
    for (int k = 0; k < tree.nv; ++k) by_v[k] = fma(T(-tree.damping[k]), by_tau[k], by_v[k]);
    if (value.contacts.solver.damping > 0.0 && lam_forces)
        gradient_of_range(tree, lam_forces, active, by_q, value);

    for (int c = 0; c < contacts.count; ++c) {
        const Contact& contact = contacts.at[c];
        const ContactFrames<T>& f = value.contacts.frames[c];
        const RowChanges<T> rows(tree, contact, f, g, value.a, value.contacts.world);
        const Force<T> W = row_force(contact, f.E, value.forces + contact.first);
        const Force<T> weight = row_force(contact, f.E, w.weights + contact.first);
        Vec3<T> turns = zero_vector<T>();
        if (contact.b.body >= 0)
            turns =
                -turning(W, turned_to_a(contact, f, at_point(f.b, w.adjoint.Lam[contact.b.body])));
        for_row_partials(tree, rows, g, value.a,
                         [&](int k, const Motion<T>& dq, const Motion<T>& dv, const Vec3<T>& turn) {
                             by_q[k] = dot(weight, dq, dot(turns, turn, by_q[k]));
                             by_v[k] = dot(weight, dv, by_v[k]);
                         });
        if (contact.axes == Axes::body || !lam_forces) continue;
        const Force<T> given = row_force(contact, f.E, lam_forces + contact.first);
        turns = turning(W, Motion<T>{given.ang, given.lin});
        for_moving_bodies(tree, contact.a.body, [&](const Body& body, int) {
            for (int k = body.v; k < body.v + body.nv; ++k)
                by_q[k] = dot(turns, g.S[k].ang, by_q[k]);
        });
    }
}

}  // namespace dtau::DTAU_VARIANT
