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
//   U       IA s_k, and d = s_k . U + armature
//   W[k]    U / d
//   u[k]    (tau_k - damping v_k - s_k . f) / d: the joint's acceleration is u - W . m
#pragma once

#include "dtau/algorithms/values/rnea.hpp"
#include "dtau/free_root.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct AbaColumn {
    Force<T> W;
    T u;
};

template <class T>
struct ForwardDynamicsWorkspace {
    RneaWorkspace<T> bias;
    ArticulatedInertia<T>* IA;  // of what the bodies on a path carry
    Motion<T>* m;               // of the world, and of the bodies on a path
    AbaColumn<T>* columns;

    ForwardDynamicsWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : bias(arena, tree, options),
          IA(arena.take<ArticulatedInertia<T>>(tree.depth)),
          m(arena.take<Motion<T>>(tree.depth + 1)),
          columns(arena.take<AbaColumn<T>>(tree.nv)) {}
};

// The columns of S in the axes of the body.
template <class T>
DTAU_INLINE void own_motion_subspace(const Body& body, Motion<T>* S) {
    motion_subspace(body, Placement<T>{Mat3<T>::identity(), zero_vector<T>()}, S);
}

// ---------------------------------------------------------------- inertias

// Of a body with what it carries, unless it is a leaf. carried[level]: of what the bodies on a path
// carry.
template <class T>
DTAU_INLINE ArticulatedInertia<T> whole_inertia(const Body& body, bool leaf,
                                                const ArticulatedInertia<T>* carried) {
    const Inertia<T> own = own_inertia<T>(body);
    if (leaf) return articulated(own);
    const ArticulatedInertia<T>& I = carried[body.level];
    const auto& [m, h, J] = own;
    return {
        {I.J.xx + J.xx, I.J.xy + J.xy, I.J.xz + J.xz, I.J.yy + J.yy, I.J.yz + J.yz, I.J.zz + J.zz},
        {{I.H.x.x, I.H.x.y + h.z, I.H.x.z - h.y},
         {I.H.y.x - h.z, I.H.y.y, I.H.y.z + h.x},
         {I.H.z.x + h.y, I.H.z.y - h.x, I.H.z.z}},
        {I.M.xx + m, I.M.xy, I.M.xz, I.M.yy + m, I.M.yz, I.M.zz + m}};
}
// To what the parent carries.
template <class T>
DTAU_INLINE void add_to_parent(const Body& body, const ArticulatedInertia<T>& I,
                               ArticulatedInertia<T>* carried) {
    ArticulatedInertia<T>& sum = carried[body.level - 1];
    if (body.last_child)
        sum = I;
    else
        sum += I;
}

// ---------------------------------------------------------------- elimination of a column

// 1 / d; inertia = s . U
template <class T>
DTAU_INLINE T inverse_inertia(const Tree& tree, int k, T inertia) {
    return T(1.0) / (inertia + T(tree.armature[k]));
}
// u d; force = s . f
template <class T>
DTAU_INLINE T torque_left(const Tree& tree, int k, const T* v, const T* tau, T force) {
    return fma(T(-tree.damping[k]), v[k], tau[k]) - force;
}
template <class T>
DTAU_INLINE void eliminate(const Force<T>& U, const Force<T>& W, T u, ArticulatedInertia<T>& IA,
                           Force<T>& f) {
    subtract_outer(IA, U, W);
    f = fma(u, U, f);
}
// u - W . m
template <class T>
DTAU_INLINE T joint_acceleration(const AbaColumn<T>& c, const Motion<T>& m) {
    const Vec3<T>&n = c.W.ang, &l = c.W.lin;
    const T u = fma(-n.x, m.ang.x, fma(-n.y, m.ang.y, fma(-n.z, m.ang.z, c.u)));
    return fma(-l.x, m.lin.x, fma(-l.y, m.lin.y, fma(-l.z, m.lin.z, u)));
}

// ---------------------------------------------------------------- joints that turn about z, or slide

// I s, and s . f, where s turns about z or slides along it.
template <bool slides, class T>
DTAU_INLINE Force<T> along_z(const ArticulatedInertia<T>& I) {
    if constexpr (slides)
        return {I.H.z, {I.M.xz, I.M.yz, I.M.zz}};
    else
        return {{I.J.xz, I.J.yz, I.J.zz}, {I.H.x.z, I.H.y.z, I.H.z.z}};
}
template <bool slides, class T>
DTAU_INLINE T along_z(const Force<T>& f) {
    return slides ? f.lin.z : f.ang.z;
}

// How such a body stands in its parent.
template <class T>
struct SimplePlacement {
    SimpleRotation<T> R;
    Vec3<T> r;
};
template <bool slides, class T>
DTAU_INLINE SimplePlacement<T> simple_placement(const Body& body, int i,
                                                const RneaWorkspace<T>& w) {
    if constexpr (slides)
        return {{T(body.turn.sine), T(body.turn.cosine)}, w.X[i].r};
    else
        return {w.bodies[i].turn, lift<T>(vec3(body.translation))};
}

// From a body to its parent.
template <bool slides, class T>
DTAU_INLINE void simple_joint_inwards(const Tree& tree, int i, const T* v, const T* tau,
                                      const ForwardDynamicsWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const auto [R, r] = simple_placement<slides>(body, i, w.bias);
    ArticulatedInertia<T> IA = whole_inertia(body, false, w.IA);
    Force<T> f = w.bias.bodies[i].f;
    const Force<T> U = along_z<slides>(IA);
    const T d_inverse = inverse_inertia(tree, body.v, along_z<slides>(U));
    const T u = d_inverse * torque_left(tree, body.v, v, tau, along_z<slides>(f));
    const Force<T> W = d_inverse * U;
    w.columns[body.v] = {W, u};
    if (body.parent < 0) return;
    eliminate(U, W, u, IA, f);
    Force<T>& p = w.bias.bodies[body.parent].f;
    p = add_to_parent(body, R, r, f, p);
    add_to_parent(body, moved(r, R.to_parent(body, IA)), w.IA);
}
// Of a body that carries nothing: its inertia is that of a rigid body until the column, which passes to
// the parent as a force does, is eliminated there.
template <bool slides, class T>
DTAU_INLINE void leaf_inwards(const Tree& tree, int i, const T* v, const T* tau,
                              const ForwardDynamicsWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const auto [R, r] = simple_placement<slides>(body, i, w.bias);
    const Inertia<T> I = own_inertia<T>(body);
    const Force<T> f = w.bias.bodies[i].f;
    const Force<T> U = along_z<slides>(articulated(I));
    const T d_inverse = inverse_inertia(tree, body.v, along_z<slides>(U));
    const T u = d_inverse * torque_left(tree, body.v, v, tau, along_z<slides>(f));
    w.columns[body.v] = {d_inverse * U, u};
    if (body.parent < 0) return;
    const Inertia<T> turned = {I.m, R.to_parent(body, I.h), R.to_parent(body, I.J)};
    ArticulatedInertia<T> IA = articulated(moved(r, turned));
    Force<T>& p = w.bias.bodies[body.parent].f;
    Force<T> sum = add_to_parent(body, R, r, f, p);
    const Force<T> U_p = add_to_parent(body, R, r, U, zero_force<T>());
    eliminate(U_p, d_inverse * U_p, u, IA, sum);
    p = sum;
    add_to_parent(body, IA, w.IA);
}

// From the parent to a body.
template <bool slides, class T>
DTAU_INLINE Motion<T> simple_joint_outwards(const Tree& tree, int i, T* a,
                                            const ForwardDynamicsWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const auto [R, r] = simple_placement<slides>(body, i, w.bias);
    const Motion<T>& p = w.m[body.level];
    Motion<T> m = {R.from_parent(body, p.ang), R.from_parent(body, cross(p.ang, r, p.lin))};
    const T rate = joint_acceleration(w.columns[body.v], m);
    if constexpr (slides)
        m.lin.z = m.lin.z + rate;
    else
        m.ang.z = m.ang.z + rate;
    a[body.v] = rate;
    return m;
}

// ---------------------------------------------------------------- other joints

template <class T>
__attribute__((noinline)) void other_joint_inwards(const Tree& tree, int i, bool leaf, const T* v,
                                                   const T* tau,
                                                   const ForwardDynamicsWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    if (body.kind == JointKind::prismatic)
        return leaf ? leaf_inwards<true>(tree, i, v, tau, w)
                    : simple_joint_inwards<true>(tree, i, v, tau, w);
    ArticulatedInertia<T> IA = whole_inertia(body, leaf, w.IA);
    Force<T> f = w.bias.bodies[i].f;
    Motion<T> S[6];
    own_motion_subspace(body, S);
    for (int c = body.nv - 1; c >= 0; --c) {
        const int k = body.v + c;
        const Force<T> U = IA * S[c];
        const T d_inverse = inverse_inertia(tree, k, dot(S[c], U));
        const AbaColumn<T> column = {d_inverse * U,
                                     d_inverse * torque_left(tree, k, v, tau, dot(S[c], f))};
        w.columns[k] = column;
        eliminate(U, column.W, column.u, IA, f);
    }
    if (body.parent < 0) return;
    const Placement<T>& X = w.bias.X[i];
    w.bias.bodies[body.parent].f += transformed(X, f);
    const Placement<T> turned = {X.R, zero_vector<T>()};
    add_to_parent(body, moved(X.r, transformed(turned, IA)), w.IA);
}
template <class T>
__attribute__((noinline)) void other_joint_outwards(const Tree& tree, int i, T* a, Motion<T>& m,
                                                    const ForwardDynamicsWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    if (body.kind == JointKind::prismatic) {
        m = simple_joint_outwards<true>(tree, i, a, w);
        return;
    }
    Motion<T> S[6];
    own_motion_subspace(body, S);
    m = seen_from(w.bias.X[i], w.m[body.level]);
    for (int k = body.v; k < body.v + body.nv; ++k) {
        a[k] = joint_acceleration(w.columns[k], m);
        m = fma(a[k], S[k - body.v], m);
    }
}
// Both ways: nothing is on the other side of a free root.
template <class T>
__attribute__((noinline)) void free_root(const Tree& tree, int i, bool leaf, const T* v,
                                         const T* tau, T* a, const ForwardDynamicsWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    T x[6];
    store_components(w.bias.bodies[i].f, x);
    unrolled<6>([&](int k) __attribute__((always_inline)) {
        x[k] = torque_left(tree, body.v + k, v, tau, x[k]);
    });
    solve(whole_inertia(body, leaf, w.IA), tree.armature + body.v, x);
    unrolled<6>([&](int k) __attribute__((always_inline)) { a[body.v + k] = x[k]; });
    w.m[1] = {{x[3], x[4], x[5]}, {x[0], x[1], x[2]}};
}

// ---------------------------------------------------------------- sweeps

// f_ext may be null: zero.
template <class T>
void forward_dynamics(const Tree& tree, const T* q, const T* v, const T* tau, const T* f_ext, T* a,
                      const ForwardDynamicsWorkspace<T>& w) {
    const T* const no_accelerations = nullptr;
    forces_of_motion<true>(tree, q, v, no_accelerations, f_ext, w.bias);
    w.m[0] = zero_motion<T>();
    for (int end = tree.nnodes; end > 0;) {  // one tree after the other
        const int root = tree.bodies[end - 1].root;
        const auto leaf = [&](int i) { return i + 1 == end || tree.bodies[i + 1].parent != i; };
        const int begin = is_free_root(tree.bodies[root]) ? root + 1 : root;
        for (int i = end - 1; i >= begin; --i)
            if (tree.bodies[i].kind != JointKind::revolute)
                other_joint_inwards(tree, i, leaf(i), v, tau, w);
            else if (leaf(i))
                leaf_inwards<false>(tree, i, v, tau, w);
            else
                simple_joint_inwards<false>(tree, i, v, tau, w);
        if (begin > root) free_root(tree, root, leaf(root), v, tau, a, w);
        for (int i = begin; i < end; ++i) {
            Motion<T>& m = w.m[tree.bodies[i].level + 1];
            if (tree.bodies[i].kind != JointKind::revolute)
                other_joint_outwards(tree, i, a, m, w);
            else
                m = simple_joint_outwards<false>(tree, i, a, w);
        }
        end = root;
    }
}

}  // namespace dtau::DTAU_VARIANT
