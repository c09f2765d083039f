// Implements the joint's part of the articulated-body algorithm (aba.hpp): JointOnZ, AnyJoint. They have
// products with the columns s of the joint, and pass forces, inertias and motions between body and
// parent, in the axes of the body about its origin. JointOnZ turns about z or slides along z, so that s
// is a unit vector and the rotation is never a matrix (turns.hpp). AnyJoint is any other joint.
//
// The articulated inertia of a body is its own inertia plus the inertias that its children pass on.
// carried[level] is the sum over the children of the body at that level of a path: only the sums of one
// path are kept.
#pragma once

#include "dtau/algorithms/values/rnea.hpp"

namespace dtau::DTAU_VARIANT {

// The columns of S in the axes of the body.
template <class T> DTAU_INLINE void own_motion_subspace(const Body& body, Motion<T>* S) {
    motion_subspace(body, Placement<T>{Mat3<T>::identity(), zero_vector<T>()}, S);
}

// ---------------------------------------------------------------- inertias

// The articulated inertia of a body: its own, plus the sum over its children unless it is a leaf.
template <class T>
DTAU_INLINE ArticulatedInertia<T> articulated_inertia(const Tree& tree, int i, bool leaf,
                                                      const ArticulatedInertia<T>* carried) {
    const Inertia<T> own = own_inertia<T>(tree, i);
    if (leaf) return articulated(own);
    const ArticulatedInertia<T>& I = carried[tree.bodies[i].level];
    const auto& [m, h, J] = own;
    return {
        {I.J.xx + J.xx, I.J.xy + J.xy, I.J.xz + J.xz, I.J.yy + J.yy, I.J.yz + J.yz, I.J.zz + J.zz},
        {{I.H.x.x, I.H.x.y + h.z, I.H.x.z - h.y},
         {I.H.y.x - h.z, I.H.y.y, I.H.y.z + h.x},
         {I.H.z.x + h.y, I.H.z.y - h.x, I.H.z.z}},
        {I.M.xx + m, I.M.xy, I.M.xz, I.M.yy + m, I.M.yz, I.M.zz + m}};
}
// Adds I, in the axes of the parent, to the parent's sum over its children.
template <class T>
DTAU_INLINE void carry_inertia(const Body& body, const ArticulatedInertia<T>& I,
                               ArticulatedInertia<T>* carried) {
    ArticulatedInertia<T>& sum = carried[body.level - 1];
    if (body.last_child)
        sum = I;
    else
        sum += I;
}

// ---------------------------------------------------------------- joints

// I s and s . f of the column s of a joint that turns about z or slides along it.
template <bool slides, class T> DTAU_INLINE Force<T> times_z(const ArticulatedInertia<T>& I) {
    if constexpr (slides)
        return {I.H.z, {I.M.xz, I.M.yz, I.M.zz}};
    else
        return {{I.J.xz, I.J.yz, I.J.zz}, {I.H.x.z, I.H.y.z, I.H.z.z}};
}
template <bool slides, class T> DTAU_INLINE T dot_z(const Force<T>& f) {
    return slides ? f.lin.z : f.ang.z;
}

// A joint that turns about z or slides along it.
template <bool slides, class T> struct JointOnZ {
    const Body& body;
    SimpleRotation<T> R;  // of the body in its parent
    Vec3<T> r;

    DTAU_INLINE JointOnZ(const Body& b, int i, const RneaWorkspace<T>& w) : body(b) {
        if constexpr (slides)
            R = {T(body.turn.sine), T(body.turn.cosine)}, r = w.X[i].r;
        else
            R = w.bodies[i].turn, r = lift<T>(vec3(body.translation));
    }

    static constexpr int columns() { return 1; }
    DTAU_INLINE Force<T> times_column(const ArticulatedInertia<T>& I, int) const {
        return times_z<slides>(I);
    }
    DTAU_INLINE T dot_column(const Force<T>& f, int) const { return dot_z<slides>(f); }
    DTAU_INLINE Motion<T> add_column(T x, int, Motion<T> m) const {  // m + x s
        if constexpr (slides)
            m.lin.z = m.lin.z + x;
        else
            m.ang.z = m.ang.z + x;
        return m;
    }

    // sum + X^T f, X^T I X, and X m
    DTAU_INLINE Force<T> add_force(const Force<T>& f, const Force<T>& sum) const {
        return add_transformed(body, R, r, f, sum);
    }
    DTAU_INLINE ArticulatedInertia<T> to_parent(const ArticulatedInertia<T>& I) const {
        return moved(r, R.to_parent(body, I));
    }
    DTAU_INLINE Inertia<T> to_parent(const Inertia<T>& I) const {
        return moved(r, Inertia<T>{I.m, R.to_parent(body, I.h), R.to_parent(body, I.J)});
    }
    DTAU_INLINE Motion<T> from_parent(const Motion<T>& m) const {
        return {R.from_parent(body, m.ang), R.from_parent(body, cross(m.ang, r, m.lin))};
    }
};

// A joint of any kind.
template <class T> struct AnyJoint {
    const Body& body;
    const Placement<T>& X;  // of the body in its parent
    Motion<T> S[6];

    DTAU_INLINE AnyJoint(const Body& b, int i, const RneaWorkspace<T>& w) : body(b), X(w.X[i]) {
        own_motion_subspace(body, S);
    }

    DTAU_INLINE int columns() const { return body.nv; }
    DTAU_INLINE Force<T> times_column(const ArticulatedInertia<T>& I, int c) const {
        return I * S[c];
    }
    DTAU_INLINE T dot_column(const Force<T>& f, int c) const { return dot(S[c], f); }
    DTAU_INLINE Motion<T> add_column(T x, int c, const Motion<T>& m) const {
        return fma(x, S[c], m);
    }
    DTAU_INLINE Force<T> add_force(const Force<T>& f, const Force<T>& sum) const {
        return sum + transformed(X, f);
    }
    DTAU_INLINE ArticulatedInertia<T> to_parent(const ArticulatedInertia<T>& I) const {
        return moved(X.r, transformed(Placement<T>{X.R, zero_vector<T>()}, I));
    }
    DTAU_INLINE Motion<T> from_parent(const Motion<T>& m) const { return seen_from(X, m); }
};

}  // namespace dtau::DTAU_VARIANT
