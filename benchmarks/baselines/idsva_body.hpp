// Computes the derivatives of inverse dynamics by IDSVA in body coordinates: idsva_body(). O(N d). These are
// the equations of first/idsva.hpp, [IDSVA] eqs. 30 and 32, each quantity in the axes of its own body. The
// quantities of column k are moved from body to body along its path, which root-frame coordinates avoid
// ([IDSVA] section V-B, figure 3).
//
// Symbols: those of first/idsva.hpp and of body_frames.hpp, and
//   I[i], B[i], f[i]  inertia, Coriolis operator and force of the body, then of its subtree
#pragma once

#include "body_frames.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct IdsvaBodyWorkspace {
    BodyFrames<T> frames;
    Motion<T>*Psidot, *Psiddot, *Upsilondot, *a;
    Inertia<T>* I;
    Force<T>* f;

    IdsvaBodyWorkspace(Arena& arena, const Tree& tree, const Options&)
        : frames(arena, tree),
          Psidot(arena.take<Motion<T>>(tree.nv)),
          Psiddot(arena.take<Motion<T>>(tree.nv)),
          Upsilondot(arena.take<Motion<T>>(tree.nv)),
          a(arena.take<Motion<T>>(tree.nnodes)),
          I(arena.take<Inertia<T>>(tree.nnodes)),
          f(arena.take<Force<T>>(tree.nnodes)) {}
};

template <class T>
void idsva_body_forward(const Tree& tree, const T* q, const T* v, const T* a,
                        const IdsvaBodyWorkspace<T>& w) {
    const BodyFrames<T>& g = w.frames;
    body_sweep(tree, q, v, g);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const Motion<T> vi = g.v[i], vJ = g.vJ[i];
        const Motion<T> vp = {vi.ang - vJ.ang, vi.lin - vJ.lin};
        const Motion<T> ap = acceleration_of_parent(tree, body, g.X[i], w.a);
        for (int k = body.v; k < body.v + body.nv; ++k) {  // [IDSVA] eq. 31
            const Motion<T> s = g.S[k], Psidot = cross(vp, s);
            w.Psidot[k] = Psidot;
            w.Psiddot[k] = cross(ap, s, cross(vp, Psidot));
            w.Upsilondot[k] = cross(vi, s, Psidot);
        }
        w.a[i] = cross(vi, vJ, ap + joint_twist(body, a + body.v));
        const Inertia<double>& I = g.I[i];
        w.I[i] = own_inertia<T>(body);
        w.f[i] = cross_star(vi, I * vi, I * w.a[i]);
    }
}

// dtau_dq, dtau_dv: (nv, nv), zero before.
template <class T>
void idsva_body(const Tree& tree, const T* q, const T* v, const T* a, T* dtau_dq, T* dtau_dv,
                const IdsvaBodyWorkspace<T>& w) {
    const BodyFrames<T>& g = w.frames;
    const int n = tree.nv;
    idsva_body_forward(tree, q, v, a, w);
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        for (int k = body.v; k < body.v + body.nv; ++k) {
            const Motion<T> s = g.S[k];
            Vec3<T> t1 = transposed_mul(g.B[i], s);
            Force<T> t2 = w.I[i] * s;
            Force<T> by_q =
                mul_add(g.B[i], w.Psidot[k], cross_star(s, w.f[i], w.I[i] * w.Psiddot[k]));
            Force<T> by_v = mul_add(g.B[i], s, w.I[i] * w.Upsilondot[k]);
            const auto row = [&](const Body& on) __attribute__((always_inline)) {
                for (int j = on.v; j < on.v + on.nv; ++j) {  // [IDSVA] eqs. 30, 32, left
                    dtau_dq[k * n + j] = dot(t1, w.Psidot[j].ang, dot(t2, w.Psiddot[j]));
                    dtau_dv[k * n + j] = dot(t1, g.S[j].ang, dot(t2, w.Upsilondot[j]));
                }
            };
            row(body);
            for (int b = i, p = body.parent; p >= 0; b = p, p = tree.bodies[b].parent) {
                const Placement<T>& X = g.X[b];
                const Body& on = tree.bodies[p];
                t1 = X.R * t1;  // a couple
                t2 = transformed(X, t2);
                by_q = transformed(X, by_q);
                by_v = transformed(X, by_v);
                row(on);
                store_joint_torque(on, by_q, dtau_dq + on.v * n + k, n);  // [IDSVA] eq. 30
                store_joint_torque(on, by_v, dtau_dv + on.v * n + k, n);  // [IDSVA] eq. 32
            }
        }
        if (body.parent < 0) continue;
        w.I[body.parent] += transformed(g.X[i], w.I[i]);
        g.B[body.parent] += transformed(g.X[i], g.B[i]);
        w.f[body.parent] += transformed(g.X[i], w.f[i]);
    }
    for (int k = 0; k < n; ++k) dtau_dv[k * n + k] += T(tree.damping[k]);
}

}  // namespace dtau::DTAU_VARIANT
