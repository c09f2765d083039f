// Computes the regressor of inverse dynamics: the matrix Y (nv, 10 nbodies) with tau = Y pi. O(N d).
// Torques are linear in the inertial parameters pi. [Derivations] §18.
//
//   Y_ji   = s_j . W_i              for column j on the path of body i, zero for others
//   W_i pi = (h x d + J alpha + omega x J omega;                         moment
//             m d + alpha x h + omega x (omega x h))                     force, linear in pi = (m, h, J)
//
// The textbook moves W_i from body to body along its path. In root-frame coordinates
// (kinematics.hpp) each W_i is transformed once, and each entry is one product with s_j. W_i holds
// no numbers of the inertias: the inertias of the model are not read.
//
// The parameters of a body: m, h = m c, and Jxx Jxy Jyy Jxz Jyz Jzz about the body's origin, all in
// the user's axes. If the user also wants the parameters of joints, their columns follow (joint_columns.hpp).
//
// Symbols, for body i with parent p and column s_j of the motion subspace of a joint on its path:
//   a[i]               spatial acceleration, gravity included
//   w (omega), alpha   angular velocity and acceleration, in the user's axes of the body
//   d                  classical acceleration of the body's origin less gravity, in the same axes
//   W                  the body's wrench for each parameter, 6 x 10
#pragma once

#include "dtau/algorithms/first/joint_columns.hpp"
#include "dtau/algorithms/first/products.hpp"
#include "dtau/pack.hpp"

namespace dtau::DTAU_VARIANT {

// ---------------------------------------------------------------- how bodies move

template <class T> struct BodyMotion {
    Vec3<T> w, alpha, d;
};

// Motion seen from P, of a body with twist v and spatial acceleration a.
template <class T>
inline BodyMotion<T> body_motion(const Placement<T>& P, const Motion<T>& v, const Motion<T>& a) {
    const Motion<T> vi = seen_from(P, v), ai = seen_from(P, a);
    return {vi.ang, ai.ang, cross(vi.ang, vi.lin, ai.lin)};  // [Derivations] eq. 18.1
}

// The user's frame of a body whose canonical frame is P.
template <class T> inline Placement<T> users_frame(const Body& body, const Placement<T>& P) {
    return {P.R * transposed(mat3(body.frame)), P.r};
}

// Forward pass: placements, subspaces, twists and accelerations.
template <class T>
void motion_sweep(const Tree& tree, const T* q, const T* v, const T* a,
                  const MotionWorkspace<T>& w) {
    const RootFrame<T>& g = w.root_frame;
    const Configuration<T> x = configuration(tree, q, g.angles);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        place_body(tree, i, x, g);
        const Motion<T> vJ = joint_motion(body, g.S, v);
        g.v[i] = body.parent < 0 ? vJ : g.v[body.parent] + vJ;
        w.a[i] = body_acceleration(body, i, v, a, g, w.a);
    }
}

// ---------------------------------------------------------------- a body's wrench

// W by columns. mass: m and h, rows moment x y z, force x y z. tensor: J, rows moment x y z (it gives no
// force).
template <class T> struct WrenchColumns {
    T mass[6][4], tensor[3][8];
};

template <class T> inline void set_column(T (&rows)[6][4], int c, const Force<T>& f) {
    rows[0][c] = f.ang.x, rows[1][c] = f.ang.y, rows[2][c] = f.ang.z;
    rows[3][c] = f.lin.x, rows[4][c] = f.lin.y, rows[5][c] = f.lin.z;
}
template <class T> inline void set_column(T (&rows)[3][8], int c, const Vec3<T>& n) {
    rows[0][c] = n.x, rows[1][c] = n.y, rows[2][c] = n.z;
}

// W in the root frame, of a body whose user's frame is at P. [Derivations] eq. 18.3
template <class T>
inline void wrench_columns(const Placement<T>& P, const BodyMotion<T>& motion,
                           WrenchColumns<T>& W) {
    const auto& [w, al, d] = motion;
    const Vec3<T> by_mass = P.R * d;
    set_column(W.mass, 0, {cross(P.r, by_mass), by_mass});

    const T xx = w.x * w.x, yy = w.y * w.y, zz = w.z * w.z;
    const T xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
    const Mat3<T> moment = skew(-d);  // columns e x d
    set_column(W.mass, 1, transformed(P, {moment.x, {-(yy + zz), xy + al.z, xz - al.y}}));
    set_column(W.mass, 2, transformed(P, {moment.y, {xy - al.z, -(xx + zz), yz + al.x}}));
    set_column(W.mass, 3, transformed(P, {moment.z, {xz + al.y, yz - al.x, -(xx + yy)}}));

    set_column(W.tensor, 0, P.R * Vec3<T>{al.x, xz, -xy});
    set_column(W.tensor, 1, P.R * Vec3<T>{al.y - xz, al.x + yz, xx - yy});
    set_column(W.tensor, 2, P.R * Vec3<T>{-yz, al.y, xy});
    set_column(W.tensor, 3, P.R * Vec3<T>{al.z + xy, zz - xx, al.x - yz});
    set_column(W.tensor, 4, P.R * Vec3<T>{yy - zz, al.z - xy, al.y + xz});
    set_column(W.tensor, 5, P.R * Vec3<T>{yz, -xz, al.z});
    for (int c = 6; c < 8; ++c) set_column(W.tensor, c, zero_vector<T>());
}

template <class T> inline Pack<T> zeros() { return {decltype(Pack<T>::value)(0.0)}; }

// Writes a row of the columns of m and h.
template <class T> inline void store_mass(T* row, const T* of_axis) {
    Vec4<T> sum = Vec4<T>::zero();
    sum.add(T(1.0), of_axis);
    sum.store(row);
}
// Writes a row of the columns of J; `of` loads neighboring entries.
template <class T, class Of> inline void store_tensor(T* row, const Of& of) {
    constexpr int width = Pack<T>::width;
    unrolled<(6 + width - 1) / width>(
        [&](int p) { of(p * width).store(row + 4 + p * width, 6 - p * width); });
}

// s . W. Sums begin with +0, so that no zero of the row is negative: solves with the mass matrix skip
// other rows of zeros in lanes than for a lone state, and the bits must be the same.
template <class T>
inline void times_columns(const Motion<T>& s, const WrenchColumns<T>& W, T* row) {
    Vec4<T> by_mass = Vec4<T>::zero();
    by_mass.add(s.ang.x, W.mass[0]), by_mass.add(s.ang.y, W.mass[1]);
    by_mass.add(s.ang.z, W.mass[2]), by_mass.add(s.lin.x, W.mass[3]);
    by_mass.add(s.lin.y, W.mass[4]), by_mass.add(s.lin.z, W.mass[5]);
    by_mass.store(row);
    store_tensor(row, [&](int c) {
        const auto of = [&](int axis) { return Pack<T>::load(W.tensor[axis] + c); };
        return fma(s.ang.x, of(0), fma(s.ang.y, of(1), fma(s.ang.z, of(2), zeros<T>())));
    });
}

// The same for the unit motions of a free root, linear and angular ones.
template <class T> inline void force_row(int axis, const WrenchColumns<T>& W, T* row) {
    store_mass(row, W.mass[3 + axis]);
    store_tensor(row, [](int) { return zeros<T>(); });
}
template <class T> inline void moment_row(int axis, const WrenchColumns<T>& W, T* row) {
    store_mass(row, W.mass[axis]);
    store_tensor(row,
                 [&](int c) { return fma(T(1.0), Pack<T>::load(W.tensor[axis] + c), zeros<T>()); });
}

// Computes W of all bodies, after motion_sweep, which gives the accelerations a.
template <class T>
void regressor_sweep(const Tree& tree, const RootFrame<T>& g, const Motion<T>* a,
                     WrenchColumns<T>* W) {
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        if (body.link < 0) continue;
        const Placement<T> P = users_frame(body, g.P[i]);
        wrench_columns(P, body_motion(P, g.v[i], a[i]), W[i]);
    }
}

// ---------------------------------------------------------------- the matrix

// Bodies first ... end - 1: a subtree.
struct BodyRange {
    int first, end;
};
inline BodyRange subtree(const Tree& tree, int i) {
    const int end = tree.dofs.end[tree.bodies[i].v];
    int last = i;
    while (last < tree.nnodes && tree.bodies[last].v < end) ++last;
    return {i, last};
}

// Entries of the row of column k of a joint, for the bodies in its subtree: [Derivations] eq. 18.2.
// The row is zero elsewhere.
template <class T>
inline void regressor_row(const Tree& tree, const BodyRange& subtree, int k, const Motion<T>* S,
                          const WrenchColumns<T>* W, T* row) {
    const auto of_bodies = [&](const auto& write) __attribute__((always_inline)) {
        const Body* bodies = tree.bodies;
        for (int i = subtree.first; i < subtree.end; ++i)
            if (bodies[i].link >= 0) write(W[i], row + body_parameters * bodies[i].link);
    };
    const Body& body = tree.bodies[subtree.first];
    const Motion<T> s = S[k];
    const int unit = k - body.v;
    if (!is_free_root(body))
        of_bodies([&](const WrenchColumns<T>& w, T* to) { times_columns(s, w, to); });
    else if (unit < 3)
        of_bodies([&](const WrenchColumns<T>& w, T* to) { force_row(unit, w, to); });
    else
        of_bodies([&](const WrenchColumns<T>& w, T* to) { moment_row(unit - 3, w, to); });
}

template <class T> struct RegressorWorkspace {
    MotionWorkspace<T> motion;
    WrenchColumns<T>* W;
    T* row;
    JointColumns<T> of_joints;

    RegressorWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : motion(arena, tree, options),
          W(arena.take<WrenchColumns<T>>(tree.nnodes)),
          row(arena.take<T>(tree.mimic ? body_parameters * tree.nbodies : 0)),
          of_joints(arena, tree, options.joint_parameters) {}
};

// Writes the columns of the bodies; Y is zero before. Rows are `stride` apart. With mimic joints the rows
// belong to independent velocities, and `row` holds the row of one joint before it is added.
template <class T>
void regressor_of_bodies(const Tree& tree, const Motion<T>* S, const WrenchColumns<T>* W, T* row,
                         T* Y, std::ptrdiff_t stride) {
    const int columns = body_parameters * tree.nbodies;
    for (int k = 0; k < tree.independent.n && tree.mimic; ++k)
        for (int c = 0; c < columns; ++c) Y[k * stride + c] = T(0.0);
    for (int i = 0; i < tree.nnodes; ++i) {
        const BodyRange bodies = subtree(tree, i);
        const Body& body = tree.bodies[i];
        for (int k = body.v; k < body.v + body.nv; ++k) {
            if (!tree.mimic) {
                regressor_row(tree, bodies, k, S, W, Y + k * stride);
                continue;
            }
            for (int c = 0; c < columns; ++c) row[c] = T(0.0);
            regressor_row(tree, bodies, k, S, W, row);
            T* to = Y + tree.mimic->v_source[k] * stride;
            const T scale(tree.mimic->v_scale[k]);
            for (int c = 0; c < columns; ++c) to[c] = fma(scale, row[c], to[c]);
        }
    }
}

// Writes the columns of joints; zero before. v, a: of the joints.
template <class T>
void regressor_of_joints(const Tree& tree, const T* v, const T* a, const JointColumns<T>& columns,
                         T* Y, std::ptrdiff_t stride) {
    for_joint_columns(tree, a, v, columns, [&](int, int k, int c, T entry) {
        Y[k * stride + body_parameters * tree.nbodies + c] = entry + T(0.0);
    });
}

}  // namespace dtau::DTAU_VARIANT
