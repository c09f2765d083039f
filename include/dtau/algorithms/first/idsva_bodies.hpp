// Computes the quantities of bodies and columns that IDSVA (idsva.hpp) multiplies: body_velocities(),
// body_accelerations(), column_factors(); and holds its workspace, IdsvaWorkspace.
//
// Symbols:
//   Psidot[j], Psiddot[j]   Psi', Psi'': rate of s_j due to the parent's motion, and its second rate (nv)
//   Upsilondot[j]           Psi'_j + S'_j; S'_j = v_i x s_j is the rate of a column fixed to body i (nv)
//   a[i]                    spatial acceleration, gravity included (nnodes)
//   B[i], f[i]              Coriolis operator and force of the body, then of its subtree (nnodes)
//   factors                 of all columns, for a lone state (idsva_alone.hpp)
#pragma once

#include "dtau/algorithms/values/crba.hpp"
#include "dtau/wide.hpp"

namespace dtau::DTAU_VARIANT {

// The factors of column k: [Derivations] eqs. 4.5, 4.7.
template <class T> struct ColumnFactors {
    Vec3<T> t1;
    Force<T> t2, by_q, by_v;
};
template <class T>
DTAU_INLINE ColumnFactors<T> column_factors(const Inertia<T>& I, const Coriolis<T>& B,
                                            const Force<T>& f, const Motion<T>& s,
                                            const Motion<T>& Psidot, const Motion<T>& Psiddot,
                                            const Motion<T>& Upsilondot) {
    return {transposed_mul(B, s), I * s, mul_add(B, Psidot, cross_star(s, f, I * Psiddot)),
            mul_add(B, s, I * Upsilondot)};
}

// Factors of all columns for a lone state, each number of them in a row.
template <class T> struct FactorTable {
    static constexpr int numbers = 21;
    int stride;
    T* at;

    FactorTable(Arena& arena, const Tree& tree)
        : stride(tree.nv + Pack<T>::width),
          at(Pack<T>::width > 1 ? arena.take<T>(numbers * stride) : nullptr) {}

    DTAU_INLINE Vec3<T> t1(int k) const { return vector(0, k); }
    DTAU_INLINE Force<T> t2(int k) const { return {vector(3, k), vector(6, k)}; }

    // Columns k ... k + width - 1.
    DTAU_INLINE ColumnFactors<Wide<T>> load(int k) const {
        ColumnFactors<Wide<T>> x;
        each(x, [&](Wide<T>& number, int c) __attribute__((always_inline)) {
            number = Pack<T>::load(at + c * stride + k).value;
        });
        return x;
    }
    DTAU_INLINE void store(int k, const ColumnFactors<Wide<T>>& x) const {
        each(x, [&](const Wide<T>& number, int c)
                    __attribute__((always_inline)) { Pack<T>{number}.store(at + c * stride + k); });
    }

  private:
    DTAU_INLINE Vec3<T> vector(int c, int k) const {
        const T* const x = at + c * stride + k;
        return {x[0], x[stride], x[2 * stride]};
    }
    template <class Factors, class Visit>
    static DTAU_INLINE void each(Factors& x, const Visit& visit) {
        const auto vector = [&](auto& v, int c) __attribute__((always_inline)) {
            visit(v.x, c), visit(v.y, c + 1), visit(v.z, c + 2);
        };
        vector(x.t1, 0);
        vector(x.t2.ang, 3), vector(x.t2.lin, 6);
        vector(x.by_q.ang, 9), vector(x.by_q.lin, 12);
        vector(x.by_v.ang, 15), vector(x.by_v.lin, 18);
    }
};

template <class T> struct IdsvaWorkspace {
    RootFrame<T> root_frame;
    Motion<T>*Psidot, *Psiddot, *Upsilondot, *a;
    Coriolis<T>* B;
    Force<T>* f;
    T *slope, *curvature;   // of friction, by velocity; null if there is none
    Stretch<T>* stretched;  // of springs of spherical joints; null if there is none
    FactorTable<T> factors;

    IdsvaWorkspace(Arena& arena, const Tree& tree, const Options&)
        : root_frame(arena, tree),
          slope(friction_room<T>(arena, tree)),
          curvature(friction_room<T>(arena, tree)),
          stretched(stretch_room<T>(arena, tree)),
          factors(arena, tree) {
        arena.take_each(tree.nv, Psidot, Psiddot, Upsilondot);
        arena.take_each(tree.nnodes, a, B, f);
    }
};

// Computes the rates of the columns of body i from its twist in root_frame. a becomes v_p x v_J.
template <class T>
DTAU_INLINE void column_velocities(const Tree& tree, int i, const T* v,
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
}

// Computes the quantities of body i that do not depend on the acceleration, from its placement, twist
// and inertia in root_frame. f becomes v x* I v - f_ext.
template <class T>
DTAU_INLINE void body_velocities(const Tree& tree, int i, const T* v, const T* f_ext,
                                 const IdsvaWorkspace<T>& w) {
    const RootFrame<T>& g = w.root_frame;
    const Body& body = tree.bodies[i];
    column_velocities(tree, i, v, w);
    const Motion<T> vi = g.v[i];
    const Force<T> momentum = g.I[i] * vi;
    w.B[i] = coriolis(g.I[i], vi, momentum);  // [IDSVA] eq. 28
    w.f[i] = cross_star(vi, momentum);
    if (acts_on(f_ext, body)) w.f[i] = w.f[i] - transformed(g.P[i], body_wrench(body, f_ext));
}

// Computes Psi'' and the acceleration of body i from the acceleration a (nv) of the joints.
template <class T>
DTAU_INLINE void column_accelerations(const Tree& tree, int i, const T* a,
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
}

// The same, and the force of body i.
template <class T>
DTAU_INLINE void body_accelerations(const Tree& tree, int i, const T* a,
                                    const IdsvaWorkspace<T>& w) {
    column_accelerations(tree, i, a, w);
    w.f[i] += w.root_frame.I[i] * w.a[i];
}

// The forward pass of functions that need the quantities of all bodies before the accelerations.
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
template <class T> struct Partials {
    T *dq, *dv, *da;
    int n;
};

// Adds the composites of body i to its parent's composites.
template <class T>
DTAU_INLINE void add_composites(const Body& body, int i, const IdsvaWorkspace<T>& w) {
    w.root_frame.I[body.parent] += w.root_frame.I[i];
    w.B[body.parent] += w.B[i];
    w.f[body.parent] += w.f[i];
}

// Backward pass for composites only.
template <class T> DTAU_INLINE void idsva_composites(const Tree& tree, const IdsvaWorkspace<T>& w) {
    for (int i = tree.nnodes - 1; i >= 0; --i)
        if (tree.bodies[i].parent >= 0) add_composites(tree.bodies[i], i, w);
}

}  // namespace dtau::DTAU_VARIANT
