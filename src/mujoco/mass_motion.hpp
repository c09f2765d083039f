// Differentiates products of the mass matrix of one state by q: MassMotion.
//
// A degree of freedom j displaces the later axes of its path. Relative to a body, the axes that j leaves
// where they are move by  -S_j x S_i,  and inertias move with the body. With the composite inertia I of
// the body that is further from the world, M_il = S_i . I S_l.
#pragma once

#include "dtau/arena.hpp"
#include "mujoco/constraint_terms.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

class MassMotion {
  public:
    MassMotion(Arena& arena, Index nv) {
        arena.take_each(static_cast<std::size_t>(nv), momenta_, turned_, sums_);
    }

    // `inertias` (nbody, 10): MuJoCo's, about the centers of mass of the trees.
    void read(const mujoco::Constants& m, const mujoco::Solutions& at, Index k, const Axes& axes,
              const double* inertias) {
        m_ = &m, axes_ = &axes, inertias_ = inertias, com_ = at.com + 3 * k * m.nbody;
        for (Index i = 0; i < m.nv; ++i) momenta_[i] = momentum(i, axes.S[i]);
    }
    // Subtracts  d(M x)/dq  at constant x from `out` (nv, nv).
    void subtract_change(const double* x, double* out) const {
        const mujoco::Constants& m = *m_;
        const Axes& axes = *axes_;
        for (Index j = 0; j < m.nv; ++j) {
            turned_[j] = cross(axes.S[j], axes.sum(m.still, j, x));
            sums_[j] = momentum(j, axes.sum(m.paths, m.dof_bodies[j], x));
        }
        const auto each = [&](Index i, const auto& f) {
            const Index body = m.dof_bodies[i];
            for (const Index* j = m.paths.begin(body); j != m.paths.end(body); ++j) f(*j);
        };
        for (Index i = 0; i < m.nv; ++i)
            each(i, [&](Index j) {
                if (m.dof_bodies[j] == m.dof_bodies[i]) return;  // i is further from the world
                sums_[j] = fma(x[i], momenta_[i], sums_[j]);
                out[i * m.nv + j] += dot(momenta_[i], turned_[j]);
            });
        for (Index j = 0; j < m.nv; ++j) {
            const Wrench moved = momentum(j, turned_[j]);
            each(j, [&](Index i) { out[i * m.nv + j] += dot(moved, axes.S[i]); });
            for (const Index* i = m.still.begin(j); i != m.still.end(j); ++i)
                out[*i * m.nv + j] += dot(sums_[j], cross(axes.S[j], axes.S[*i]));
        }
    }

  private:
    // The composite inertia of the body of degree of freedom i, times a twist.
    Wrench momentum(Index i, const Twist& twist) const {
        const double* inertia = inertias_ + 10 * m_->dof_bodies[i];
        const Vector com = vec3(com_ + 3 * m_->dof_roots[i]), h = vec3(inertia + 6);
        const Sym3<double> I = {inertia[0], inertia[3], inertia[4],
                                inertia[1], inertia[5], inertia[2]};
        const Vector lin = cross(twist.ang, com, twist.lin);
        const Vector force = fma(inertia[9], lin, cross(twist.ang, h));
        return {cross(com, force, cross(h, lin, I * twist.ang)), force};
    }

    const mujoco::Constants* m_ = nullptr;
    const Axes* axes_ = nullptr;
    const double *inertias_ = nullptr, *com_ = nullptr;
    Wrench* momenta_;  // of the axes, with the inertias of their bodies
    Twist* turned_;
    Wrench* sums_;
};

}  // namespace dtau::DTAU_VARIANT::mujoco_step
