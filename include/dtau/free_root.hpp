// Computes products with the columns of a free root as components of vectors: free_root_above(),
// dot_Sdot(), dot_Psiddot(), free_root_inertia(), free_root_partials(), solve_free_root().
//
// A free root is a body that a free joint joins to the world. The root frame is its own, so that
// the columns s_j of its joint are the unit motions, linear ones first: S = 1. The joint's parent
// is the world, at rest and with the acceleration -gravity. So, with the root's twist v and the
// symbols of idsva.hpp,
//
//   Psi'_j = 0      S'_j = v x s_j      Psi''_j = -gravity x s_j      [Derivations] eq. 4.8
//
// and products of a force f with the six columns are components, in the order of its velocity:
//
//   f . s_j     of f                    f . Psi''_j   of (gravity x f.lin; 0)
//   f . S'_j    of -v x* f
//
// So loops over a path stop above these columns (path_stop), and algorithms write the rows and columns
// of the free root from components, without products.
#pragma once

#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT {

// The degree of freedom at which loops over the path of a body may stop: the first one of its tree that
// does not belong to a free root; 0 without a free root.
DTAU_INLINE int path_stop(const Tree& tree, const Body& body) {
    const Body& root = tree.bodies[body.root];
    return is_free_root(root) ? root.v + root.nv : 0;
}

// The six components of a force in the order of a free joint's velocity.
template <class T> struct Components {
    T x[6];
};
template <class T> DTAU_INLINE Components<T> components(const Force<T>& f) {
    return {{f.lin.x, f.lin.y, f.lin.z, f.ang.x, f.ang.y, f.ang.z}};
}

// Stores them in a row of a matrix; with the stride of the rows, in a column.
template <class T> DTAU_INLINE void store_components(const Force<T>& f, T* to, int stride = 1) {
    const Components<T> c = components(f);
    for (int r = 0; r < 6; ++r) to[r * stride] = c.x[r];
}
// Stores the components of a moment in the last three places.
template <class T> DTAU_INLINE void store_angular(const Vec3<T>& n, T* to, int stride = 1) {
    to[3 * stride] = n.x, to[4 * stride] = n.y, to[5 * stride] = n.z;
}

// ---------------------------------------------------------------- products with its columns

// The free root above a body. columns = 0: it has none.
template <class T> struct FreeRoot {
    int columns;
    Motion<T> v;
    Vec3<T> gravity;
};
template <class T>
DTAU_INLINE FreeRoot<T> free_root_above(const Body& body, const RootFrame<T>& root_frame,
                                        int columns = 6) {
    return {columns, root_frame.v[body.root], root_frame.gravity[body.root]};
}

// t . s_j + f . S'_j for a moment t, as components.
template <class T>
DTAU_INLINE Force<T> dot_Sdot(const FreeRoot<T>& root, const Force<T>& f, const Vec3<T>& t) {
    const Motion<T>& v = root.v;
    return {cross(f.lin, v.lin, cross(f.ang, v.ang, t)), cross(f.lin, v.ang)};
}
// f . Psi''_j, the angular components; the linear ones are zero.
template <class T> DTAU_INLINE Vec3<T> dot_Psiddot(const FreeRoot<T>& root, const Force<T>& f) {
    return cross(root.gravity, f.lin);
}

// Writes Psi'' of free roots for algorithms that treat their columns as any others.
template <class T>
DTAU_INLINE void free_root_accelerations(const Tree& tree, const RootFrame<T>& root_frame,
                                         Motion<T>* Psiddot) {
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        if (!is_free_root(body)) continue;
        const Motion<T> ap = world_acceleration(root_frame.gravity[i]);
        for (int k = body.v; k < body.v + body.nv; ++k) Psiddot[k] = cross(ap, root_frame.S[k]);
    }
}

// ---------------------------------------------------------------- its own blocks of matrices

// The block of M: the composite inertia [m 1, -h^; h^, J].
template <class T> DTAU_INLINE void free_root_inertia(const Inertia<T>& I, T* M, int n) {
    const T m = I.m, zero(0.0);
    const Mat3<T> h = skew(I.h), minus_h = skew(-I.h), J = full(I.J);
    store_components({h.x, {m, zero, zero}}, M, n);
    store_components({h.y, {zero, m, zero}}, M + 1, n);
    store_components({h.z, {zero, zero, m}}, M + 2, n);
    store_components({J.x, minus_h.x}, M + 3, n);
    store_components({J.y, minus_h.y}, M + 4, n);
    store_components({J.z, minus_h.z}, M + 5, n);
}

// The blocks of dtau/dq and dtau/dv: column j is I Psi''_j by q, 2B s_j + I S'_j by v.
template <class T>
DTAU_INLINE void free_root_partials(const Inertia<T>& I, const Coriolis<T>& B,
                                    const FreeRoot<T>& root, T* dq, T* dv, int n) {
    const Mat3<T> W = skew(root.v.ang), U = skew(root.v.lin), G = skew(root.gravity),
                  P2 = skew(B.p2);
    const auto linear = [&](const Vec3<T>& w, int j) {  // s = (0; e), S' = (0; w x e)
        store_components({cross(I.h, w), I.m * w}, dv + j, n);
    };
    const auto angular = [&](const Vec3<T>& A, const Vec3<T>& w, const Vec3<T>& u, const Vec3<T>& g,
                             const Vec3<T>& p2, int j) {  // s = (e; 0)
        const Force<T> by_v = {cross(I.h, u, I.J * w) + A, fma(I.m, u, cross(w, I.h)) - p2};
        store_components(by_v, dv + j, n);
        store_components({cross(g, I.h), -I.m * g}, dq + j, n);
    };
    linear(W.x, 0), linear(W.y, 1), linear(W.z, 2);
    angular(B.A.x, W.x, U.x, G.x, P2.x, 3);
    angular(B.A.y, W.y, U.y, G.y, P2.y, 4);
    angular(B.A.z, W.z, U.z, G.z, P2.z, 5);
}

// ---------------------------------------------------------------- its own acceleration

// x becomes (I + armature)^-1 x, in the order of a free joint's velocity: by rows of a
// factorization L^T D L, from the last to the first.
template <class T>
DTAU_INLINE void solve_free_root(const Tree& tree, const Body& body, const ArticulatedInertia<T>& I,
                                 T (&x)[6]) {
    const Sym3<T>&J = I.J, &M = I.M;
    const Mat3<T>& H = I.H;
    T A[6][6] = {{M.xx},
                 {M.xy, M.yy},
                 {M.xz, M.yz, M.zz},
                 {H.x.x, H.y.x, H.z.x, J.xx},
                 {H.x.y, H.y.y, H.z.y, J.xy, J.yy},
                 {H.x.z, H.y.z, H.z.z, J.xz, J.yz, J.zz}};
    unrolled<6>([&](int done) __attribute__((always_inline)) {
        const int k = 5 - done;
        const T d_inverse = T(1.0) / (A[k][k] + armature<T>(tree, body.v + k));
        unrolled<5>([&](int j) __attribute__((always_inline)) {
            if (j >= k) return;
            const T l = A[k][j] * d_inverse;
            unrolled<5>([&](int c) __attribute__((always_inline)) {
                if (c <= j) A[j][c] = fma(-l, A[k][c], A[j][c]);
            });
            x[j] = fma(-l, x[k], x[j]);
        });
        unrolled<5>([&](int j) __attribute__((always_inline)) {
            if (j < k) A[k][j] = A[k][j] * d_inverse;
        });
        x[k] = x[k] * d_inverse;
    });
    unrolled<6>([&](int k) __attribute__((always_inline)) {
        unrolled<5>([&](int j) __attribute__((always_inline)) {
            if (j < k) x[k] = fma(-A[k][j], x[j], x[k]);
        });
    });
}

}  // namespace dtau::DTAU_VARIANT
