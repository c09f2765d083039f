// Computes the first-order partial derivatives of inverse dynamics by IDSVA: idsva(). O(N d).
// [IDSVA] algorithm 1, eqs. 30 and 32; without fast paths: textbook/idsva.hpp.
//
// For body i with parent p and column s_j of joint j, in the coordinates of the root frame:
//
//   forward    Psi'_j  = v_p x s_j         Psi''_j = a_p x s_j + v_p x Psi'_j        S'_j = v_i x s_j
//              2B_i = v_i x* I_i - I_i v_i x + (I_i v_i) xbar*       f_i = I_i a_i + v_i x* I_i v_i - f_ext_i
//   backward   for each column k of body i, with t1 = (2B_i)^T s_k and t2 = I_i s_k, and j on its path:
//                dtau_k/dq_j = t1 . Psi'_j + t2 . Psi''_j
//                dtau_j/dq_k = s_j . (2B_i Psi'_k + I_i Psi''_k + s_k x* f_i)
//                dtau_k/dv_j = t1 . s_j + t2 . (Psi'_j + S'_j)
//                dtau_j/dv_k = s_j . (2B_i s_k + I_i (Psi'_k + S'_k))
//                M_kj = M_jk = t2 . s_j
//              I_p = I_p + I_i        B_p = B_p + B_i        f_p = f_p + f_i         (composites)
//
// In dtau_k/dq_j and dtau_k/dv_j, j may belong to k's own joint; in dtau_j/dq_k and dtau_j/dv_k its
// joint is strictly shallower.
//
// Two things differ from the paper ([Derivations] §4). Each 6x6 operator is held in the fewest numbers:
// the body Coriolis operator in 12 (inertia.hpp), and (2B)^T s_k is a moment alone. And coordinates
// are those of the root frame, not the world's (kinematics.hpp): the columns of a free root are
// unit motions there, so that its rows and columns are components, without products
// (free_root.hpp).
//
// Symbols:
//   Psidot[j], Psiddot[j]   Psi', Psi'': rate of s_j due to the parent's motion, and its second rate (nv)
//   Upsilondot[j]           Psi'_j + S'_j; S'_j = v_i x s_j is the rate of a column fixed to body i (nv)
//   a[i]                    spatial acceleration, gravity included (nnodes)
//   B[i], f[i]              Coriolis operator and force of the body, then of its subtree (nnodes)
#pragma once

#include "dtau/algorithms/values/crba.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct IdsvaWorkspace {
    RootFrame<T> root_frame;
    Motion<T>*Psidot, *Psiddot, *Upsilondot, *a;
    Coriolis<T>* B;
    Force<T>* f;
    T *slope, *curvature;   // of friction, by velocity; null if there is none
    Stretch<T>* stretched;  // of springs of spherical joints; null if there is none

    IdsvaWorkspace(Arena& arena, const Tree& tree, const Options&)
        : root_frame(arena, tree),
          Psidot(arena.take<Motion<T>>(tree.nv)),
          Psiddot(arena.take<Motion<T>>(tree.nv)),
          Upsilondot(arena.take<Motion<T>>(tree.nv)),
          a(arena.take<Motion<T>>(tree.nnodes)),
          B(arena.take<Coriolis<T>>(tree.nnodes)),
          f(arena.take<Force<T>>(tree.nnodes)),
          slope(friction_room<T>(arena, tree)),
          curvature(friction_room<T>(arena, tree)),
          stretched(stretch_room<T>(arena, tree)) {}
};

// Computes the quantities of body i that do not depend on the acceleration, from its placement, twist
// and inertia in root_frame. f becomes v x* I v - f_ext, and a becomes v_p x v_J.
template <class T>
DTAU_INLINE void body_velocities(const Tree& tree, int i, const T* v, const T* f_ext,
                                 const IdsvaWorkspace<T>& w) {
    const RootFrame<T>& g = w.root_frame;
    const Body& body = tree.bodies[i];
    const Motion<T> vi = g.v[i];
    if (body.parent < 0) {  // v_p = 0
        for (int k = body.v; k < body.v + body.nv; ++k) {
            w.Psidot[k] = zero_motion<T>();
            w.Upsilondot[k] = body.nv == 1 ? zero_motion<T>() : cross(vi, g.S[k]);
        }
        w.a[i] = zero_motion<T>();
    } else {
        const Motion<T> vp = g.v[body.parent];
        for (int k = body.v; k < body.v + body.nv; ++k) {
            const Motion<T> s = g.S[k], Psidot = cross(vp, s);  // [IDSVA] eq. 31
            w.Psidot[k] = Psidot;
            // [Derivations] eq. 4.2
            w.Upsilondot[k] = body.nv == 1 ? Psidot + Psidot : cross(vi, s, Psidot);
        }
        w.a[i] = subspace_times(body, w.Psidot, v, zero_motion<T>());
    }
    const Force<T> momentum = g.I[i] * vi;
    w.B[i] = coriolis(g.I[i], vi, momentum);  // [IDSVA] eq. 28
    w.f[i] = cross_star(vi, momentum);
    if (acts_on(f_ext, body)) w.f[i] = w.f[i] - transformed(g.P[i], body_wrench(body, f_ext));
}

// Computes the quantities that depend on the acceleration a (nv) of the joints.
template <class T>
DTAU_INLINE void body_accelerations(const Tree& tree, int i, const T* a,
                                    const IdsvaWorkspace<T>& w) {
    const RootFrame<T>& g = w.root_frame;
    const Body& body = tree.bodies[i];
    if (body.parent < 0) {  // a_p = -gravity
        const Motion<T> ap = world_acceleration(g.gravity[i]);
        if (!is_free_root(body))
            for (int k = body.v; k < body.v + body.nv; ++k)
                w.Psiddot[k] = {zero_vector<T>(), cross(ap.lin, g.S[k].ang)};
        w.a[i] = ap + joint_twist(body, a + body.v);
    } else {
        const Motion<T> vp = g.v[body.parent], ap = w.a[body.parent];
        for (int k = body.v; k < body.v + body.nv; ++k)
            w.Psiddot[k] = cross(ap, g.S[k], cross(vp, w.Psidot[k]));  // [IDSVA] eq. 31
        w.a[i] = subspace_times(body, g.S, a, ap + w.a[i]);
    }
    w.f[i] += g.I[i] * w.a[i];
}

// Forward passes over all bodies.
template <class T>
void idsva_velocities(const Tree& tree, const T* q, const T* v, const T* f_ext,
                      const IdsvaWorkspace<T>& w) {
    friction_partials(tree, v, w.slope, w.curvature);
    for (int i = 0; i < tree.nnodes; ++i) body_velocities(tree, i, v, f_ext, w);
    stretch_rotations(tree, q, w.stretched);
}
template <class T>
void idsva_accelerations(const Tree& tree, const T* a, const IdsvaWorkspace<T>& w) {
    for (int i = 0; i < tree.nnodes; ++i) body_accelerations(tree, i, a, w);
}

// The three matrices; rows are n apart. da may be null: not wanted.
template <class T>
struct Partials {
    T *dq, *dv, *da;
    int n;
};

// Writes row and column k at the six columns base ... base + 5 of the free root above k.
template <class T>
DTAU_INLINE void free_root_entries(const FreeRoot<T>& root, const Vec3<T>& t1, const Force<T>& t2,
                                   const Force<T>& by_q, const Force<T>& by_v, int k, int base,
                                   const Partials<T>& out) {
    const int n = out.n, row = k * n + base, column = base * n + k;
    store_angular(dot_Psiddot(root, t2), out.dq + row);
    store_components(dot_Sdot(root, t2, t1), out.dv + row);
    store_components(by_q, out.dq + column, n);
    store_components(by_v, out.dv + column, n);
    if (!out.da) return;
    store_components(t2, out.da + row);
    store_components(t2, out.da + column, n);
}

// Adds the composites of body i to those of its parent.
template <class T>
DTAU_INLINE void add_composites(const Body& body, int i, const IdsvaWorkspace<T>& w) {
    w.root_frame.I[body.parent] += w.root_frame.I[i];
    w.B[body.parent] += w.B[i];
    w.f[body.parent] += w.f[i];
}

// Backward pass for composites only.
template <class T>
DTAU_INLINE void idsva_composites(const Tree& tree, const IdsvaWorkspace<T>& w) {
    for (int i = tree.nnodes - 1; i >= 0; --i)
        if (tree.bodies[i].parent >= 0) add_composites(tree.bodies[i], i, w);
}

// Backward pass for composites and the three matrices, which are zero before. dq: without stiffness.
template <class T>
void idsva_backward(const Tree& tree, const Partials<T>& out, const IdsvaWorkspace<T>& w) {
    const RootFrame<T>& g = w.root_frame;
    const int n = out.n;
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const Inertia<T>& I = g.I[i];
        const Coriolis<T>& B = w.B[i];
        const int first = body.v, end = body.v + body.nv, stop = path_stop(tree, body);
        if (first < stop) {
            const int block = first * n + first;
            free_root_partials(I, B, free_root_above(body, g), out.dq + block, out.dv + block, n);
            if (out.da) free_root_inertia(I, out.da + block, n);
            continue;
        }
        for (int k = first; k < end; ++k) {
            const Motion<T> s = g.S[k];
            const Vec3<T> t1 = transposed_mul(B, s);  // [Derivations] eq. 4.5
            const Force<T> t2 = I * s;
            const auto row = [&](int j, const Motion<T>& sj) {
                // [IDSVA] eqs. 30, 32, left; [Derivations] eq. 4.6
                const T dq = dot(t1, w.Psidot[j].ang, dot(t2, w.Psiddot[j]));
                const T dv = dot(t1, sj.ang, dot(t2, w.Upsilondot[j])), da = dot(t2, sj);
                out.dq[k * n + j] = dq, out.dv[k * n + j] = dv;
                if (out.da) out.da[k * n + j] = da;
                return da;
            };
            for (int j = first; j < end; ++j) row(j, g.S[j]);
            if (body.parent < 0) continue;

            const Force<T> by_q = mul_add(B, w.Psidot[k], cross_star(s, w.f[i], I * w.Psiddot[k]));
            const Force<T> by_v = mul_add(B, s, I * w.Upsilondot[k]);  // [Derivations] eq. 4.7
            for (int j = tree.dofs.parent[first]; j >= stop; j = tree.dofs.parent[j]) {
                const Motion<T> sj = in_register(g.S[j]);
                const T da = row(j, sj);
                out.dq[j * n + k] = dot(sj, by_q);  // [IDSVA] eq. 30
                out.dv[j * n + k] = dot(sj, by_v);  // [IDSVA] eq. 32
                if (out.da) out.da[j * n + k] = da;
            }
            if (stop > 0)
                free_root_entries(free_root_above(body, g), t1, t2, by_q, by_v, k, stop - 6, out);
        }
        if (body.parent >= 0) add_composites(body, i, w);
    }
    for (int k = 0; k < tree.nv; ++k) {
        if (out.da) out.da[k * n + k] += T(tree.armature[k]);
        out.dv[k * n + k] += T(tree.damping[k]);
    }
    add_friction_diagonal(tree, w.slope, out.dv, n);
}

// dtau_dq, dtau_dv, dtau_da: (nv, nv), zero before.
template <class T>
void idsva(const Tree& tree, const T* q, const T* v, const T* a, const T* f_ext, T* dtau_dq,
           T* dtau_dv, T* dtau_da, const IdsvaWorkspace<T>& w) {
    friction_partials(tree, v, w.slope, w.curvature);
    const Configuration<T> x = configuration(tree, q, w.root_frame.angles);
    for (int i = 0; i < tree.nnodes; ++i) {
        move_body(tree, i, x, v, w.root_frame);
        body_velocities(tree, i, v, f_ext, w);
        body_accelerations(tree, i, a, w);
    }
    stretch_rotations(tree, q, w.stretched);
    idsva_backward(tree, {dtau_dq, dtau_dv, dtau_da, tree.nv}, w);
    add_stiffness(tree, w.stretched, dtau_dq, tree.nv);
}

}  // namespace dtau::DTAU_VARIANT
