// Computes derivatives of inverse and forward dynamics by the inertial parameters pi: products
// without a matrix in O(N), and da/dpi as a matrix. In root-frame coordinates; [Derivations] §18, symbols
// of regressor.hpp.
//
//   inverse   jvp  dtau = Y dpi             vjp  by_pi = Y^T lam
//   forward   jvp  da = -M^-1 Y dpi         vjp  by_pi = -Y^T mu,  mu = M^-1 lam,
//             da/dpi = -M^-1 Y              with Y at a = FD(q, v, tau)
//
// The textbook forms Y (regressor.hpp) and multiplies. Here Y dpi is the inverse dynamics of bodies with
// dpi in place of their parameters: W_i dpi, summed over subtrees. Entry i of Y^T lam is W_i^T Lam_i,
// where Lam_i is the twist of body i if lam were the joint rates.
#pragma once

#include "dtau/algorithms/first/forward_products.hpp"
#include "dtau/algorithms/first/regressor.hpp"

namespace dtau::DTAU_VARIANT {

// ---------------------------------------------------------------- one body

// W x in the axes of `motion`: the body's wrench for parameters x.
template <class T> inline Force<T> wrench_of_parameters(const BodyMotion<T>& motion, const T* x) {
    const auto& [w, alpha, d] = motion;
    const Vec3<T> h = {x[1], x[2], x[3]};
    const Sym3<T> J = {x[4], x[5], x[7], x[6], x[8], x[9]};
    return {cross(h, d, cross(w, J * w, J * alpha)),
            fma(x[0], d, cross(alpha, h, cross(w, cross(w, h))))};  // [Derivations] eq. 18.1
}

// W^T m for a motion m in the same axes.
template <class T>
inline void parameters_of_motion(const BodyMotion<T>& motion, const Motion<T>& m, T* x) {
    const auto& [w, al, d] = motion;
    const Vec3<T> s = m.ang, u = cross(s, w);
    const Vec3<T> by_h = cross(d, s, cross(m.lin, al, cross(w, cross(w, m.lin))));
    x[0] = dot(m.lin, d);
    x[1] = by_h.x, x[2] = by_h.y, x[3] = by_h.z;
    const auto twice = [&](T Vec3<T>::* i, T Vec3<T>::* j) {
        return fma(s.*i, al.*j, fma(s.*j, al.*i, fma(u.*i, w.*j, (u.*j) * (w.*i))));
    };
    using V = Vec3<T>;
    x[4] = fma(s.x, al.x, u.x * w.x), x[5] = twice(&V::x, &V::y);  // [Derivations] eq. 18.4
    x[6] = fma(s.y, al.y, u.y * w.y), x[7] = twice(&V::x, &V::z);
    x[8] = twice(&V::y, &V::z), x[9] = fma(s.z, al.z, u.z * w.z);
}

// W x of body i, in the root frame.
template <class T>
inline Force<T> wrench_of_parameters(const Body& body, int i, const RootFrame<T>& g,
                                     const Motion<T>* a, const T* x) {
    if (body.link < 0) return zero_force<T>();
    const Placement<T> P = users_frame(body, g.P[i]);
    const BodyMotion<T> motion = body_motion(P, g.v[i], a[i]);
    return transformed(P, wrench_of_parameters(motion, x + body_parameters * body.link));
}

// W^T m of body i for a motion m in the root frame, stored at its place among all parameters.
template <class T>
inline void parameters_of_motion(const Body& body, int i, const RootFrame<T>& g, const Motion<T>* a,
                                 const Motion<T>& m, T* x) {
    if (body.link < 0) return;
    const Placement<T> P = users_frame(body, g.P[i]);
    const BodyMotion<T> motion = body_motion(P, g.v[i], a[i]);
    parameters_of_motion(motion, seen_from(P, m), x + body_parameters * body.link);
}

// ---------------------------------------------------------------- inverse dynamics

template <class T> struct InverseParameterWorkspace {
    MotionWorkspace<T> motion;
    Motion<T>* Lam;
    JointColumns<T> of_joints;

    InverseParameterWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : motion(arena, tree, options),
          Lam(arena.take<Motion<T>>(tree.nnodes)),
          of_joints(arena, tree, options.joint_parameters) {}
};

// x: variations of all parameters. dtau: torques of the joints.
template <class T>
void inverse_dynamics_parameter_jvp(const Tree& tree, const T* q, const T* v, const T* a,
                                    const T* x, T* dtau, const InverseParameterWorkspace<T>& w) {
    const RootFrame<T>& g = w.motion.root_frame;
    Force<T>* F = w.motion.F;
    motion_sweep(tree, q, v, a, w.motion);
    for (int i = 0; i < tree.nnodes; ++i)
        F[i] = wrench_of_parameters(tree.bodies[i], i, g, w.motion.a, x);
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        joint_force(body, g.S, F[i], dtau);
        if (body.parent >= 0) F[body.parent] += F[i];
    }
    if (!w.of_joints.s) return;
    w.of_joints.compute(tree, q, v);
    add_joint_torques(tree, a, v, x + body_parameters * tree.nbodies, w.of_joints, dtau);
}

// lam: weights of the joints' torques; by_pi: gradient.
template <class T>
void inverse_dynamics_parameter_vjp(const Tree& tree, const T* q, const T* v, const T* a,
                                    const T* lam, T* by_parameters,
                                    const InverseParameterWorkspace<T>& w) {
    const RootFrame<T>& g = w.motion.root_frame;
    motion_sweep(tree, q, v, a, w.motion);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        w.Lam[i] = joint_motion(body, g.S, lam);
        if (body.parent >= 0) w.Lam[i] = w.Lam[i] + w.Lam[body.parent];
        parameters_of_motion(body, i, g, w.motion.a, w.Lam[i], by_parameters);
    }
    if (!w.of_joints.s) return;
    w.of_joints.compute(tree, q, v);
    joint_gradient(tree, a, v, lam, w.of_joints, by_parameters + body_parameters * tree.nbodies);
}

// ---------------------------------------------------------------- forward dynamics

// Solves take the factors of the articulated-body algorithm (articulated_solve.hpp).
template <class T> struct ForwardParameterWorkspace {
    ArticulatedDynamicsWorkspace<T> value;
    T *a, *torque;
    Motion<T>* motion;
    Force<T>* f;
    JointColumns<T> of_joints;

    ForwardParameterWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : value(arena, tree, options), of_joints(arena, tree, options.joint_parameters) {
        arena.take_each(tree.nv, a, torque);
        arena.take_each(tree.nnodes, motion, f);
    }
};

// f_ext may be null: zero.
template <class T>
void forward_dynamics_parameter_jvp(const Tree& tree, const T* q, const T* v, const T* tau,
                                    const T* x, const T* f_ext, T* da,
                                    const ForwardParameterWorkspace<T>& w) {
    const RootFrame<T>& g = w.value.root_frame;
    articulated_dynamics(tree, q, v, tau, f_ext, w.a, w.value);
    for (int i = 0; i < tree.nnodes; ++i)
        w.f[i] = wrench_of_parameters(tree.bodies[i], i, g, w.value.factors.a, x);
    for (int k = 0; k < tree.nv; ++k) w.torque[k] = T(0.0);
    if (w.of_joints.s) {
        w.of_joints.compute(tree, q, v);
        add_joint_torques(tree, w.a, v, x + body_parameters * tree.nbodies, w.of_joints, w.torque);
        for (int k = 0; k < tree.nv; ++k) w.torque[k] = negated(w.torque[k]);
    }
    // [Derivations] eq. 6.8
    articulated_solve(tree, g.S, w.torque, w.f, da, w.motion, w.value.factors);
}

// f_ext may be null: zero.
template <class T>
void forward_dynamics_parameter_vjp(const Tree& tree, const T* q, const T* v, const T* tau,
                                    const T* lam, const T* f_ext, T* by_parameters,
                                    const ForwardParameterWorkspace<T>& w) {
    const RootFrame<T>& g = w.value.root_frame;
    T* mu = w.torque;
    articulated_dynamics(tree, q, v, tau, f_ext, w.a, w.value);
    for (int i = 0; i < tree.nnodes; ++i) w.f[i] = zero_force<T>();
    articulated_solve(tree, g.S, lam, w.f, mu, w.motion, w.value.factors);  // [Derivations] eq. 6.8
    for (int i = 0; i < tree.nnodes; ++i)
        parameters_of_motion(tree.bodies[i], i, g, w.value.factors.a, -w.motion[i], by_parameters);
    if (!w.of_joints.s) return;
    for (int k = 0; k < tree.nv; ++k) mu[k] = negated(mu[k]);
    w.of_joints.compute(tree, q, v);
    joint_gradient(tree, w.a, v, mu, w.of_joints, by_parameters + body_parameters * tree.nbodies);
}

// The same for mimic joints, by the factors of the independent velocities' mass matrix
// (factorized.hpp). tau and lam: of the independent velocities.
template <class T> struct MimicParameterWorkspace {
    FactorizedWorkspace<T> dynamics;
    InverseParameterWorkspace<T> inverse;
    T *a, *joint;

    MimicParameterWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : dynamics(arena, tree, options), inverse(arena, tree, options) {
        arena.take_each(tree.nv, a, joint);
    }
};

template <class T>
void mimic_parameter_jvp(const Tree& tree, const T* q, const T* v, const T* tau, const T* x,
                         const T* f_ext, T* da, const MimicParameterWorkspace<T>& w) {
    T* minus_da = w.dynamics.independent;
    mimic_forward_dynamics(tree, q, v, tau, f_ext, w.a, w.dynamics);
    inverse_dynamics_parameter_jvp(tree, q, v, w.a, x, w.joint, w.inverse);
    reduce_columns(tree, w.joint, 1, minus_da);
    ltdl_solve_vector(tree.independent, minus_da, w.dynamics.ltdl);
    expand_v(tree, minus_da, da);
    for (int k = 0; k < tree.nv; ++k) da[k] = -da[k];
}

template <class T>
void mimic_parameter_vjp(const Tree& tree, const T* q, const T* v, const T* tau, const T* lam,
                         const T* f_ext, T* by_parameters, const MimicParameterWorkspace<T>& w) {
    T* minus_mu = w.dynamics.independent;
    mimic_forward_dynamics(tree, q, v, tau, f_ext, w.a, w.dynamics);
    for (int k = 0; k < tree.independent.n; ++k) minus_mu[k] = -lam[k];
    ltdl_solve_vector(tree.independent, minus_mu, w.dynamics.ltdl);
    expand_v(tree, minus_mu, w.joint);
    inverse_dynamics_parameter_vjp(tree, q, v, w.a, w.joint, by_parameters, w.inverse);
}

// ---------------------------------------------------------------- the matrix of forward dynamics

template <class T> struct ForwardRegressorWorkspace {
    FactorizedWorkspace<T> dynamics;
    RegressorWorkspace<T> regressor;
    int stride;  // distance of the rows of Y
    T* Y;

    ForwardRegressorWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : dynamics(arena, tree, options),
          regressor(arena, tree, options),
          stride(whole_packs<T>(parameter_count(tree, options.joint_parameters))),
          Y(arena.take_zeros<T>(std::size_t(tree.independent.n) * stride)) {}
};

// The independent velocity at the end of the path on which column c of Y is nonzero.
inline int end_of_path(const Tree& tree, int c) {
    const int of_bodies = body_parameters * tree.nbodies, n = tree.independent.n;
    if (c >= of_bodies) {
        const int k = (c - of_bodies) % n;
        const bool stiffness = (c - of_bodies) / n == static_cast<int>(JointParameter::stiffness);
        const Tree& all = every_joint(tree);
        for (int s = 0; s < all.nrotation_springs && stiffness; ++s)
            if (all.rotation_springs[s].v == k) return k + 2;
        return k;
    }
    const Body& body = tree.bodies[tree.link_body[c / body_parameters]];
    return body.v + body.nv - 1;
}

// Writes to `rows` the rows in which columns begin ... end - 1 of Y may be nonzero: all rows with mimic
// joints.
inline int regressor_rows(const Tree& tree, int begin, int end, int* rows) {
    const Paths& dofs = tree.independent;
    int first = dofs.n, last = -1, count = 0;
    for (int c = begin; c < end; ++c) {
        const int k = end_of_path(tree, c);
        first = k < first ? k : first, last = k > last ? k : last;
    }
    for (int k = 0; k < dofs.n; ++k)
        if (tree.mimic || is_ancestor(dofs, k, first, last + 1)) rows[count++] = k;
    return count;
}

// da/dpi (nv, parameters): -M^-1 Y. f_ext may be null: zero. q, v: of the joints; tau and the
// result: of the independent velocities.
template <class T>
void forward_dynamics_parameter_derivatives(const Tree& tree, const T* q, const T* v, const T* tau,
                                            const T* f_ext, T* da,
                                            const ForwardRegressorWorkspace<T>& w) {
    const RootFrame<T>& g = w.dynamics.idsva.root_frame;
    const LtdlWorkspace<T>& ltdl = w.dynamics.ltdl;
    const Paths& dofs = tree.independent;
    const JointColumns<T>& of_joints = w.regressor.of_joints;
    const int columns = parameter_count(tree, of_joints.s), stride = w.stride;
    factorized_dynamics(tree, q, v, tau, f_ext, w.dynamics);
    Motion<T>* a = w.regressor.motion.a;
    for (int i = 0; i < tree.nnodes; ++i)
        a[i] = body_acceleration(tree.bodies[i], i, v, w.dynamics.a, g, a);
    regressor_sweep(tree, g, a, w.regressor.W);
    regressor_of_bodies(tree, g.S, w.regressor.W, w.regressor.row, w.Y, stride);
    if (of_joints.s) {
        of_joints.compute(tree, q, v);
        regressor_of_joints(tree, v, w.dynamics.a, of_joints, w.Y, stride);
    }
    const RightSides<T> right = {w.Y, stride, stride};
    const Solutions<T> to = {{{da, columns}}, columns, stride};
    for_blocks<T>(columns, ltdl.packs, [&](int begin, int end, int packs) {
        const int count = regressor_rows(tree, begin, end, ltdl.rows);
        ltdl_solve_block<T>({dofs, ltdl, right, to, begin, packs, count, dofs.n}, T(-1.0));
    });
}

}  // namespace dtau::DTAU_VARIANT
