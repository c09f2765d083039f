// Computes placements, motion subspaces, twists and inertias of all bodies in the coordinates of
// the root frame, the first pass of most algorithms: root_frame_sweep(). O(N). [RBDA] section 4.4.
//
//   P_i = P_p P_J(q)        S_i = columns of the joint at P_i        v_i = v_p + S_i q'
//   I_i = (m, m d, J + parallel axes),  d = P_i com                 inertia about the root frame's origin
//
// The root frame of a tree of the forest is the fixed frame that coincides, at this instant, with
// the frame of the tree's root body. Textbooks use body coordinates, and [IDSVA] the world's. In any fixed
// frame the motions and forces of different bodies add without a transform. This one has two advantages:
// the base's position is never read, so that no digits are lost far from the world's origin; and the
// motion subspace of a free root is the identity. No formula mixes trees.
//
// A body that only prismatic joints connect to the world (a gantry) never rotates, and no moment on it
// does work. So its position is not read either: it is placed at the origin of the root frame, and the
// bodies that it carries relative to it. [Derivations] §1.
//
// Symbols, for body i with parent p:
//   P[i]        placement of the body             S[k]   column of the motion subspace (nv)
//   v[i]        twist, v_i = v_p + S_i q'         I[i]   inertia about the root frame's origin
//   gravity[i]  gravity's acceleration along the root frame's axes; of root bodies only
#pragma once

#include "dtau/arena.hpp"
#include "dtau/friction.hpp"
#include "dtau/given_parameters.hpp"
#include "dtau/turns.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct RootFrame {
    Configuration<T> angles;
    Placement<T>* P;
    Vec3<T>* gravity;
    Motion<T>*S, *v;
    Inertia<T>* I;

    RootFrame(Arena& arena, const Tree& tree)
        : angles(arena, tree), S(arena.take<Motion<T>>(tree.nv)) {
        arena.take_each(tree.nnodes, P, gravity, v, I);
    }
};

// Pose of the joint frame of body i in its parent body.
template <class T> DTAU_INLINE Placement<T> constant_placement(const Body& body) {
    return {lift<T>(mat3(body.rotation)), lift<T>(vec3(body.translation))};
}

// The joint frame of a body whose parent body stands at P.
template <class T> DTAU_INLINE Placement<T> joint_frame(const Body& body, const Placement<T>& P) {
    return {P.R * mat3(body.rotation), mul_add(P.R, vec3(body.translation), P.r)};
}

// Pose of the body of a revolute joint that has no lead, given its parent's: R = R_p Rx(tilt) Rz(turn + q).
// 28 multiplications, against 39 with the constant rotation as a matrix. [Derivations] eq. 2.2
template <class T>
DTAU_INLINE Placement<T> turned_placement(const Body& body, const Placement<T>& P,
                                          const Configuration<T>& x) {
    const T s(body.tilt.sine), c(body.tilt.cosine);
    const Vec3<T>&y = P.R.y, &z = P.R.z;
    const SimpleRotation<T> turn = simple_rotation(body, x);
    return {rotate_z({P.R.x, fma(c, y, s * z), fma(c, z, -(s * y))}, turn.sine, turn.cosine),
            mul_add(P.R, vec3(body.translation), P.r)};
}

// Pose of a body in the root frame, given its parent's in P.
template <class T>
DTAU_INLINE Placement<T> root_frame_placement(const Body& body, const Placement<T>* P,
                                              const Configuration<T>& x) {
    if (body.parent < 0) return {Mat3<T>::identity(), zero_vector<T>()};  // [Derivations] §1
    const Placement<T>& parent = P[body.parent];
    Placement<T> A = body.kind == JointKind::revolute && !body.leads
                         ? turned_placement(body, parent, x)
                         : joint_placement(body, joint_frame(body, parent), x);
    if (body.at_origin) A.r = zero_vector<T>();
    return A;
}

// Computes P, S and gravity of body i.
template <class T>
DTAU_INLINE void place_body(const Tree& tree, int i, const Configuration<T>& x,
                            const RootFrame<T>& root_frame) {
    const Body& body = tree.bodies[i];
    root_frame.P[i] = root_frame_placement(body, root_frame.P, x);
    if (body.parent < 0) {
        const Mat3<T> R = joint_placement(body, constant_placement<T>(body), x).R;
        root_frame.gravity[i] = transposed_mul(R, lift<T>(vec3(tree.gravity)));
    }
    motion_subspace(body, root_frame.P[i], root_frame.S + body.v);
}

// Twist of the joint of body i: sum of S[k] x[k] over its own columns, plus c.
template <class T>
DTAU_INLINE Motion<T> subspace_times(const Body& body, const Motion<T>* S, const T* x,
                                     Motion<T> c) {
    for (int k = body.v; k < body.v + body.nv; ++k) c = fma(x[k], S[k], c);
    return c;
}

// Inertia of a body alone, about its origin, in its own axes: from the model, and of body i in this call.
template <class T> DTAU_INLINE Inertia<T> own_inertia(const Body& body) {
    const Sym3<double> J = sym3(body.own_inertia);
    return {T(body.mass),
            lift<T>(vec3(body.first_moment)),
            {T(J.xx), T(J.xy), T(J.xz), T(J.yy), T(J.yz), T(J.zz)}};
}
template <class T> DTAU_INLINE Inertia<T> own_inertia(const Tree& tree, int i) {
    return tree.inertias ? given_inertias<T>(tree)[i] : own_inertia<T>(tree.bodies[i]);
}

// Computes the inertia of body i from one that the call gives. Not inlined, so that it takes no
// registers from bodies with inertias of the model.
template <class T>
__attribute__((noinline)) void place_given_inertia(const Tree& tree, int i,
                                                   const RootFrame<T>& root_frame) {
    root_frame.I[i] = transformed(root_frame.P[i], given_inertias<T>(tree)[i]);
}

// Computes the twist of body i. [Derivations] eq. 1.3
template <class T>
DTAU_INLINE void twist_body(const Tree& tree, int i, const T* v, const RootFrame<T>& root_frame) {
    const Body& body = tree.bodies[i];
    if (body.parent < 0)  // its frame is the root frame
        root_frame.v[i] = joint_twist(body, v + body.v);
    else
        root_frame.v[i] = subspace_times(body, root_frame.S, v, root_frame.v[body.parent]);
}

// Computes placement, subspace and inertia of body i; and its twist, unless v is null.
template <class T>
DTAU_INLINE void move_body(const Tree& tree, int i, const Configuration<T>& x, const T* v,
                           const RootFrame<T>& root_frame) {
    const Body& body = tree.bodies[i];
    place_body(tree, i, x, root_frame);
    if (body.parent < 0) {  // its frame is the root frame
        root_frame.I[i] = own_inertia<T>(tree, i);
    } else if (tree.inertias) {
        place_given_inertia(tree, i, root_frame);
    } else {
        const Placement<T>& P = root_frame.P[i];
        root_frame.I[i] = transformed(P.R, P.r, body.mass, vec3(body.com), sym3(body.inertia));
    }
    if (v) twist_body(tree, i, v, root_frame);
}
// The pass over all bodies; v may be null.
template <class T>
void root_frame_sweep(const Tree& tree, const T* q, const T* v, const RootFrame<T>& root_frame) {
    const Configuration<T> x = configuration(tree, q, root_frame.angles);
    for (int i = 0; i < tree.nnodes; ++i) move_body(tree, i, x, v, root_frame);
}

// The spatial acceleration of the world: minus gravity, so that bodies need no weight.
template <class T> DTAU_INLINE Motion<T> world_acceleration(const Vec3<T>& gravity) {
    return {zero_vector<T>(), -gravity};
}

// Whether f_ext (or room for twists, their dual) is given and has a row for this body: auxiliary bodies
// of universal joints have none.
template <class T> DTAU_INLINE bool acts_on(const T* f_ext, const Body& body) {
    return f_ext && body.link >= 0;
}

// The user's wrench on a body (linear first, the user's body axes, at its origin) in canonical
// axes.
template <class T> DTAU_INLINE Force<T> body_wrench(const Body& body, const T* f_ext) {
    const T* f = f_ext + 6 * body.link;
    const Mat3<double> frame = mat3(body.frame);
    return {transposed_mul(frame, Vec3<T>{f[3], f[4], f[5]}),
            transposed_mul(frame, Vec3<T>{f[0], f[1], f[2]})};
}

// Stores a twist of a body, given in canonical axes at its origin, in the user's body axes, linear first.
template <class T> DTAU_INLINE void store_twist(const Body& body, const Motion<T>& m, T* twists) {
    T* out = twists + 6 * body.link;
    const Mat3<T> frame = lift<T>(mat3(body.frame));
    const Vec3<T> lin = frame * m.lin, ang = frame * m.ang;
    out[0] = lin.x, out[1] = lin.y, out[2] = lin.z;
    out[3] = ang.x, out[4] = ang.y, out[5] = ang.z;
}

}  // namespace dtau::DTAU_VARIANT
