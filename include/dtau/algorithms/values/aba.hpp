// Forward dynamics: the articulated-body algorithm in body coordinates, O(N).
// [RBDA] section 7.3. The bias forces are those of the motion at zero accelerations of the joints, by
// the first sweep of rnea.hpp; what is left is to be linear in them. A joint of several degrees of
// freedom is eliminated one column at a time, from its last to its first, which factorises
// D = S^T IA S without a matrix inverse.
//
// Symbols, for body i with parent p and its column k, in the axes of body i about its origin:
//   IA      articulated inertia
//   m       what the accelerations of the joints add to the motion (alpha; A) of rnea.hpp
//   f[i]    bias force: IA m + f is the force across the joint
//   U[k]    IA s_k
//   d[k]    s_k . U_k + armature
//   u[k]    tau_k - damping v_k - s_k . f
#pragma once

#include "dtau/algorithms/values/rnea.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct AbaColumn {
    Force<T> U;
    T d_inverse, u;
};

template <class T>
struct ForwardDynamicsWorkspace {
    RneaWorkspace<T> bias;
    ArticulatedInertia<T>* IA;  // of what the bodies on a path carry
    Motion<T>* m;               // of the bodies on a path
    AbaColumn<T>* columns;

    ForwardDynamicsWorkspace(Arena& arena, const Tree& tree)
        : bias(arena, tree),
          IA(arena.take<ArticulatedInertia<T>>(tree.depth)),
          m(arena.take<Motion<T>>(tree.depth)),
          columns(arena.take<AbaColumn<T>>(tree.nv)) {}
};

template <class T>
DTAU_INLINE ArticulatedInertia<T> zero_inertia() {
    const T zero(0.0);
    const Sym3<T> none = {zero, zero, zero, zero, zero, zero};
    return {none, zero_matrix<T>(), none};
}
// The columns of S in the axes of the body.
template <class T>
DTAU_INLINE void own_motion_subspace(const Body& body, Motion<T>* S) {
    motion_subspace(body, Placement<T>{Mat3<T>::identity(), zero_vector<T>()}, S);
}

// Adds I to a sum, or begins it: from the body's origin, at r, to the origin of its parent.
template <class T>
DTAU_INLINE void add_moved(const Vec3<T>& r, const ArticulatedInertia<T>& I, bool begins,
                           ArticulatedInertia<T>& sum) {
    const Mat3<T> M = full(I.M);
    const Mat3<T>& H = I.H;
    const Sym3<T>& J = I.J;
    const Mat3<T> G = {cross(r, M.x, H.x), cross(r, M.y, H.y), cross(r, M.z, H.z)};
    const Sym3<T> moved = {
        fma(r.y, G.z.x + H.z.x, fma(-r.z, G.y.x + H.y.x, J.xx)),
        fma(r.y, G.z.y, fma(-r.z, G.y.y, fma(-r.x, H.z.x, fma(r.z, H.x.x, J.xy)))),
        fma(r.y, G.z.z, fma(-r.z, G.y.z, fma(-r.y, H.x.x, fma(r.x, H.y.x, J.xz)))),
        fma(r.z, G.x.y + H.x.y, fma(-r.x, G.z.y + H.z.y, J.yy)),
        fma(r.z, G.x.z, fma(-r.x, G.z.z, fma(-r.y, H.x.y, fma(r.x, H.y.y, J.yz)))),
        fma(r.x, G.y.z + H.y.z, fma(-r.y, G.x.z + H.x.z, J.zz))};  // [Notes] eq. 2.4
    if (begins)
        sum.J = moved, sum.H = G, sum.M = I.M;
    else
        sum.J += moved, sum.H += G, sum.M += I.M;
}

// Of a body with what it carries.
template <class T>
DTAU_INLINE ArticulatedInertia<T> with_own(const Body& body, const ArticulatedInertia<T>& I) {
    const double* J = body.own_inertia;
    const T m(body.mass), x(body.first_moment[0]), y(body.first_moment[1]), z(body.first_moment[2]);
    return {{I.J.xx + T(J[0]), I.J.xy + T(J[1]), I.J.xz + T(J[2]), I.J.yy + T(J[3]),
             I.J.yz + T(J[4]), I.J.zz + T(J[5])},
            {{I.H.x.x, I.H.x.y + z, I.H.x.z - y},
             {I.H.y.x - z, I.H.y.y, I.H.y.z + x},
             {I.H.z.x + y, I.H.z.y - x, I.H.z.z}},
            {I.M.xx + m, I.M.xy, I.M.xz, I.M.yy + m, I.M.yz, I.M.zz + m}};
}

// Eliminates column k, whose IA s is U. force = f . s
template <class T>
DTAU_INLINE void eliminate(const Tree& tree, int k, const Force<T>& U, T inertia, T force,
                           const T* v, const T* tau, ArticulatedInertia<T>& IA, Force<T>& f,
                           const ForwardDynamicsWorkspace<T>& w) {
    const T d_inverse = T(1.0) / (inertia + T(tree.armature[k]));
    const T u = fma(T(-tree.damping[k]), v[k], tau[k]) - force;
    subtract_rank_one(IA, U, d_inverse);
    f = fma(u * d_inverse, U, f);
    w.columns[k] = {U, d_inverse, u};
}

// From a body to its parent.
template <class T>
DTAU_INLINE void simple_joint_inwards(const Tree& tree, int i, const T* v, const T* tau,
                                      const ForwardDynamicsWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const SimpleRotation<T> R = w.bias.bodies[i].turn;
    ArticulatedInertia<T> IA = with_own(body, w.IA[body.level]);
    Force<T> f = w.bias.bodies[i].f;
    const Force<T> U = {{IA.J.xz, IA.J.yz, IA.J.zz}, {IA.H.x.z, IA.H.y.z, IA.H.z.z}};
    eliminate(tree, body.v, U, U.ang.z, f.ang.z, v, tau, IA, f, w);
    const Vec3<T> r = lift<T>(vec3(body.translation));
    const Vec3<T> lin = R.to_parent(body, f.lin), ang = R.to_parent(body, f.ang);
    Force<T>& p = w.bias.bodies[body.parent].f;
    p = {cross(r, lin, p.ang + ang), p.lin + lin};
    add_moved(r, R.to_parent(body, IA), body.last_child, w.IA[body.level - 1]);
}
template <class T>
__attribute__((noinline)) void other_joint_inwards(const Tree& tree, int i, const T* v,
                                                   const T* tau,
                                                   const ForwardDynamicsWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    ArticulatedInertia<T> IA = with_own(body, w.IA[body.level]);
    Force<T> f = w.bias.bodies[i].f;
    Motion<T> S[6];
    own_motion_subspace(body, S);
    for (int c = body.nv - 1; c >= 0; --c) {
        const Force<T> U = IA * S[c];
        eliminate(tree, body.v + c, U, dot(S[c], U), dot(S[c], f), v, tau, IA, f, w);
    }
    if (body.parent < 0) return;
    const Placement<T>& X = w.bias.X[i];
    w.bias.bodies[body.parent].f += transformed(X, f);
    const Placement<T> turned = {X.R, zero_vector<T>()};
    add_moved(X.r, transformed(turned, IA), body.last_child, w.IA[body.level - 1]);
}

// From the parent to a body.
template <class T>
DTAU_INLINE Motion<T> simple_joint_outwards(const Tree& tree, int i, T* a,
                                            const ForwardDynamicsWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const SimpleRotation<T> R = w.bias.bodies[i].turn;
    const Motion<T>& p = w.m[body.level - 1];
    const Vec3<T> r = lift<T>(vec3(body.translation));
    Motion<T> m = {R.from_parent(body, p.ang), R.from_parent(body, cross(p.ang, r, p.lin))};
    const AbaColumn<T>& column = w.columns[body.v];
    const T rate = (column.u - dot(column.U, m)) * column.d_inverse;
    m.ang.z = m.ang.z + rate;
    a[body.v] = rate;
    return m;
}
template <class T>
__attribute__((noinline)) void other_joint_outwards(const Tree& tree, int i, T* a, Motion<T>& m,
                                                    const ForwardDynamicsWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    Motion<T> S[6];
    own_motion_subspace(body, S);
    m = body.parent < 0 ? zero_motion<T>() : seen_from(w.bias.X[i], w.m[body.level - 1]);
    for (int k = body.v; k < body.v + body.nv; ++k) {
        const AbaColumn<T>& column = w.columns[k];
        a[k] = (column.u - dot(column.U, m)) * column.d_inverse;
        m = fma(a[k], S[k - body.v], m);
    }
}

// f_ext may be null: zero.
template <class T>
void forward_dynamics(const Tree& tree, const T* q, const T* v, const T* tau, const T* f_ext, T* a,
                      const ForwardDynamicsWorkspace<T>& w) {
    const T* const no_accelerations = nullptr;
    forces_of_motion<true>(tree, q, v, no_accelerations, f_ext, w.bias);
    for (int i = tree.nbodies - 1; i >= 0; --i) {
        const bool leaf = i + 1 == tree.nbodies || tree.bodies[i + 1].parent != i;
        if (leaf) w.IA[tree.bodies[i].level] = zero_inertia<T>();
        if (is_simple(tree.bodies[i]))
            simple_joint_inwards(tree, i, v, tau, w);
        else
            other_joint_inwards(tree, i, v, tau, w);
    }
    for (int i = 0; i < tree.nbodies; ++i) {
        Motion<T>& m = w.m[tree.bodies[i].level];
        if (is_simple(tree.bodies[i]))
            m = simple_joint_outwards(tree, i, a, w);
        else
            other_joint_outwards(tree, i, a, m, w);
    }
}

}  // namespace dtau::DTAU_VARIANT
