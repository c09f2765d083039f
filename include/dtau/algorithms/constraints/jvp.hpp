// Computes the product of the first derivatives of constrained dynamics with a variation, without a
// matrix (nv, nv): constrained_dynamics_jvp(). The passes of first/products.hpp and one solve with
// the factors that the value has. [Derivations] eq. 20.11
//
//   M da - J^T df = dtau - dID - J_b^T m,        J da = -drows
//
// with dID and drows along (dq, dv). m of loops, and the turn of forces along the world's axes, are
// as in derivatives.hpp. The textbook multiplies the (nv, nv) derivatives by dq and dv; here one
// column goes through the passes and the solve, O(N d).
#pragma once

#include "dtau/algorithms/constraints/motion.hpp"
#include "dtau/algorithms/first/parameter_products.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct ConstrainedJvpWorkspace {
    ConstrainedMotionWorkspace<T> value;
    TangentWorkspace<T> tangent;
    Motion<T>*d, *moved;  // S_i dq of the joints; twists of the bodies along dq
    T* torque;            // variations of the joints' torques
    JointColumns<T> of_joints;

    ConstrainedJvpWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : value(arena, tree, options),
          tangent(arena, tree, options),
          d(arena.take<Motion<T>>(tree.nnodes)),
          moved(arena.take<Motion<T>>(tree.nnodes)),
          torque(arena.take<T>(tree.nv)),
          of_joints(arena, tree, options.joint_parameters) {}
};

// How a frame's motion changes: its displacement, and D V, D A beside that displacement.
template <class T> struct FrameChange {
    Motion<T> s, dV, dA;
};
template <class T>
inline FrameChange<T> frame_change(const Tree& tree, int i, const Placement<T>& X, bool spatial,
                                   const ConstrainedJvpWorkspace<T>& w) {
    const RootFrame<T>& g = w.value.dynamics.idsva.root_frame;
    const Motion<T> V = at_point(X, g.v[i]);
    Motion<T> z = w.tangent.z[i];  // in w.tangent.z, Psi'' includes gravity
    z.lin = cross(g.gravity[tree.bodies[i].root], w.moved[i].ang, z.lin);
    FrameChange<T> d = {at_point(X, w.moved[i]), at_point(X, w.tangent.y[i]),
                        at_point(X, cross(w.tangent.y[i], g.v[i], z))};  // [Derivations] eq. 19.2
    if (!spatial) d.dA.lin = cross(d.dV.ang, V.lin, cross(V.ang, d.dV.lin, d.dA.lin));
    return d;
}

// Adds turn x W, the change of the force W of a loop on b, to the changes dF of the bodies' forces.
template <class T>
inline void turn_loop(const Constraint& constraint, const ConstraintFrames<T>& f,
                      const Vec3<T>& turn, const Force<T>& W, Force<T>* dF) {
    Motion<T> m = {cross(turn, W.ang), cross(turn, W.lin)};
    if (constraint.other_tree) m = {transposed_mul(f.turn, m.ang), transposed_mul(f.turn, m.lin)};
    dF[constraint.b.body] += {cross(f.b.r, m.lin, m.ang), m.lin};
}

// With a regularization, dforces += N dJ z along dq. [Derivations] eq. 20.10
template <class T>
void vary_range(const Tree& tree, const T* dq, const T* active, T* dforces,
                const ConstrainedMotionWorkspace<T>& w) {
    const Constraints& constraints = *w.equations.schur.constraints;
    const RootFrame<T> g = range_velocities(tree, w.forces, w.dynamics.idsva.root_frame,
                                            w.dynamics.ltdl, w.equations.schur, w.range);
    T* const rows = w.range.h;
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        const ConstraintFrames<T>& f = w.equations.frames[c];
        Motion<T> change = zero_motion<T>();
        for_velocity_partials(tree, constraint, f, g,
                              [&](int k, const Motion<T>&, const Motion<T>& by_q, const Vec3<T>&) {
                                  change = fma(dq[k], by_q, change);
                              });
        store_active_rows(c, constraint, f.E, change, active, rows + constraint.first);
    }
    project_unreachable<1>(rows, w.equations.schur);
    for (int r = 0; r < constraints.nrows; ++r) dforces[r] = dforces[r] + rows[r];
}

// With a regularization, the right-hand sides of the rows += G^+ J M^-1 dJ^T r along dq.
// [Derivations] eq. 20.10
template <class T>
void vary_residual(const Tree& tree, T* right_sides, const ConstrainedJvpWorkspace<T>& w) {
    const ConstrainedMotionWorkspace<T>& value = w.value;
    const SchurComplement<T>& schur = value.equations.schur;
    const Constraints& constraints = *schur.constraints;
    Force<T>*F = value.F, *dF = w.tangent.dF;
    for (int i = 0; i < tree.nnodes; ++i) F[i] = dF[i] = zero_force<T>();
    subtract_constraint_wrenches(constraints, value.equations.frames, value.residual, F);
    for_loops(constraints, [&](int c, const Constraint& constraint, int) {
        const ConstraintFrames<T>& f = value.equations.frames[c];
        const Motion<T> moved_b = turned_to_a(constraint, f, w.moved[constraint.b.body]);
        const int i = constraint.a.body;
        const Vec3<T> turn_a = i < 0 ? zero_vector<T>() : w.moved[i].ang;
        turn_loop(constraint, f, turn_a - moved_b.ang,
                  constraint_wrench(constraint, f.E, value.residual + constraint.first), dF);
    });
    T *const x = value.range.x, *const rows = value.range.h;
    T* const torque = tree.mimic ? value.range.z : x;  // as reduce_columns has it
    vary_torques(tree, value.dynamics.idsva.root_frame.S, w.d, F, dF, torque);
    reduce_columns(tree, torque, 1, x);
    ltdl_solve_inwards(tree.independent, x, value.dynamics.ltdl);
    for (int r = 0; r < constraints.nrows; ++r) rows[r] = T(0.0);
    subtract_acceleration(x, rows, schur);
    solve_forces<1>(rows, schur.more, schur.rest, schur);
    for (int r = 0; r < constraints.nrows; ++r) right_sides[r] = right_sides[r] - rows[r];
}

// Runs after the motion: computes the variations of the torques without springs, damping and friction,
// in w.torque, and minus the variations of the rows, in dforces. a: accelerations of which the rows are;
// impact: see ConstraintPartials. df_ext and dparameters may be null: zero.
template <class T>
void motion_variation(const Tree& tree, const T* dq, const T* dv, const T* df_ext,
                      const T* dparameters, const T* active, const Motion<T>* a, bool impact,
                      T* dforces, const ConstrainedJvpWorkspace<T>& w) {
    const ConstrainedMotionWorkspace<T>& value = w.value;
    const Constraints& constraints = *value.equations.schur.constraints;
    const RootFrame<T>& g = value.dynamics.idsva.root_frame;
    const T* const zero = nullptr;
    Force<T>* const dF = w.tangent.dF;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const int p = body.parent;
        w.d[i] = tangent_outwards(tree, i, g, value.a, value.momentum[i], dq, dv, zero, df_ext,
                                  w.tangent);
        w.moved[i] = p < 0 ? w.d[i] : w.moved[p] + w.d[i];
        if (dparameters) dF[i] += wrench_of_parameters(body, i, g, value.a, dparameters);
    }
    for (int i = 0; i < tree.nnodes && impact; ++i) {  // D A of the rows' own accelerations
        const int p = tree.bodies[i].parent;
        if (p >= 0) w.tangent.z[i] = cross(a[p], w.d[i], w.tangent.z[p]);
    }
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        const ConstraintFrames<T>& f = value.equations.frames[c];
        const ConstraintPartials<T> partials(tree, constraint, f, g, a, value.equations.world,
                                             impact);
        Motion<T> change = zero_motion<T>();
        Vec3<T> turn_a = zero_vector<T>();
        if (constraint.a.body >= 0) {
            const FrameChange<T> a =
                frame_change(tree, constraint.a.body, f.a, constraint.spatial, w);
            change = partials.displaced_a(a.s, partials.of_a(a.dV, a.dA));
            turn_a = a.s.ang;
        }
        if (constraint.b.body >= 0) {
            const FrameChange<T> own = frame_change(tree, constraint.b.body, f.b, false, w);
            const Motion<T> s = turned_to_a(constraint, f, own.s);
            change =
                change + partials.displaced_b(s, partials.of_b(turned_to_a(constraint, f, own.dV),
                                                               turned_to_a(constraint, f, own.dA)));
            turn_loop(constraint, f, turn_a - s.ang,
                      constraint_wrench(constraint, f.E, value.forces + constraint.first), dF);
        }
        store_active_rows(c, constraint, f.E, -change, active, dforces + constraint.first);
    }
    vary_torques(tree, g.S, w.d, value.F, dF, w.torque);
}

// Runs after motion_variation: solves for da of the joints and dforces. dtau may be null: zero.
template <class T>
void solve_variation(const Tree& tree, const T* dq, const T* dtau, const T* active, T* da,
                     T* dforces, const ConstrainedJvpWorkspace<T>& w) {
    const ConstrainedMotionWorkspace<T>& value = w.value;
    const Constraints& constraints = *value.equations.schur.constraints;
    const FactorizedWorkspace<T>& dynamics = value.dynamics;
    T* const x = tree.mimic ? dynamics.independent : w.torque;
    reduce_columns(tree, w.torque, 1, x);
    for (int k = 0; k < tree.independent.n; ++k) x[k] = (dtau ? dtau[k] : T(0.0)) - x[k];
    ltdl_solve_inwards(tree.independent, x, dynamics.ltdl);
    if (value.equations.schur.R > 0.0) vary_residual(tree, dforces, w);
    solve_linearized(tree.independent.n, x, dforces, value.equations.schur);
    ltdl_solve_outwards(tree.independent, x, dynamics.ltdl);
    joint_velocities(tree, x, da);
    if (value.equations.schur.R > 0.0) vary_range(tree, dq, active, dforces, value);
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        if (constraint.axes == Axes::body) continue;
        const ConstraintFrames<T>& f = value.equations.frames[c];
        const Force<T> W = constraint_wrench(constraint, f.E, value.forces + constraint.first);
        const Vec3<T> turn = w.moved[constraint.a.body].ang;
        T rows[6];
        store_rows(constraint, f.E, Motion<T>{cross(turn, W.ang), cross(turn, W.lin)}, rows);
        for (int r = 0; r < constraint.count; ++r)
            dforces[constraint.first + r] = dforces[constraint.first + r] + rows[r];
    }
}

// q, v, dq, dv and da: of the joints; tau and dtau: of the independent velocities. f_ext and df_ext
// are along body axes; they and dparameters may be null: zero.
template <class T>
void constrained_dynamics_jvp(const Tree& tree, const T* q, const T* v, const T* tau, const T* dq,
                              const T* dv, const T* dtau, const Hold<T>& hold, const T* f_ext,
                              const T* df_ext, const T* dparameters, T* da, T* dforces,
                              const ConstrainedJvpWorkspace<T>& w) {
    const bool impact = false;
    T* const torque = w.torque;
    constrained_motion(tree, q, v, tau, hold, f_ext, w.value);
    motion_variation(tree, dq, dv, df_ext, dparameters, hold.active, w.value.a, impact, dforces, w);
    for (int k = 0; k < tree.nv; ++k) torque[k] = fma(damping<T>(tree, k), dv[k], torque[k]);
    add_spring_variations(tree, 1.0, q, dq, torque);
    add_friction_times(tree, 1.0, v, dv, torque);
    if (dparameters && w.of_joints.s) {
        w.of_joints.compute(tree, q, v);
        add_joint_torques(tree, w.value.dynamics.a, v, dparameters + body_parameters * tree.nbodies,
                          w.of_joints, torque);
    }
    solve_variation(tree, dq, dtau, hold.active, da, dforces, w);
}

}  // namespace dtau::DTAU_VARIANT
