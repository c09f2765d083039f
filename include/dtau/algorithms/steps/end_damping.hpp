// Adds to the forward dynamics of an implicit step (step.hpp) that damping and friction act as they are at the end
// of the step, to first order: EndDamping. [Derivations] §28
//
//   R(q, v, a, h) = ID(q, v, a) + h D a = tau        D = damping + friction's slope at v, diagonal
//
// These are the forward dynamics of a robot with the armature  armature + h D, so that every algorithm computes them
// from another tree. At a given acceleration, the derivatives of R differ from those of ID by
//
//   dR/dv = ... + h D' a    dR/dh = D a    dR/d damping = ... + h a    dR/d friction = ... + h a (1 - y^2) / v_s
//
// MuJoCo's "implicitfast" has the same matrix M + h D.
#pragma once

#include "dtau/algorithms/first/idsva_bodies.hpp"
#include "dtau/algorithms/first/joint_columns.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct EndDamping {
    T* parameters;  // (4, nv) those of the tree, with h D in the armature; null: the step is not implicit
    T *D, *slope;  // (nv) D; D' = dD/dv
    T* by_force;   // (nv) D by the force of friction, if parameters of joints are variables
    T *joints, *torque, *at_owners;

    EndDamping(Arena& arena, const Tree& tree, const Options& options)
        : parameters(nullptr), by_force(nullptr) {
        if (options.integrator != Integrator::implicit) return;
        const auto vector = [&] { return arena.take<T>(tree.nv); };
        parameters = arena.take<T>(joint_parameter_kinds * tree.nv);
        D = vector(), slope = vector(), joints = vector();
        if (options.joint_parameters) by_force = vector();
        torque = room_beside(arena, tree, joints, tree.independent.n);
        at_owners = room_beside(arena, tree, joints, tree.nv);
    }
    bool acts() const { return parameters; }
    T* row(JointParameter kind, const Tree& tree) const {
        return parameters + std::ptrdiff_t(static_cast<int>(kind)) * tree.nv;
    }

    // The tree of the step from v on. `room` holds it if the step is implicit.
    const Tree& tree(const Tree& given, const T* v, T h, Tree& room) const {
        if (!acts()) return given;
        copy_parameters(given);
        T* const armatures = row(JointParameter::armature, given);
        for (int k = 0; k < given.nv; ++k) D[k] = damping<T>(given, k), slope[k] = T(0.0);
        if (has_friction(given)) {
            friction_partials(given, v, joints, slope);
            for (int k = given.friction.first; k < given.friction.end; ++k) D[k] = D[k] + joints[k];
        }
        for (int k = 0; k < given.nv; ++k) armatures[k] = fma(h, D[k], armatures[k]);
        const Tree& all = every_joint(given);
        for (int k = 0; by_force && k < given.nv; ++k) by_force[k] = T(0.0);
        if (by_force && has_friction(all))
            for_friction_overlapping<T>(all, [&](int k, int count) {
                const auto rate = constants<T>(all.friction.rate + k, count).value;
                Pack<T>{rate * smoothed(all, v, k, count).slope}.store(by_force + k, count);
            });
        room = given;
        room.joint_parameters = parameters;
        return room;
    }

    // Makes friction's slope and curvature, by which idsva.hpp differentiates ID, those of R at the acceleration a.
    void extend(const Tree& tree, const T* v, T h, const T* a, const IdsvaWorkspace<T>& w) const {
        if (!acts() || !has_friction(tree)) return;
        for_friction<T>(tree, [&](int k, int count) {
            const auto rate = constants<T>(tree.friction.rate + k, count).value;
            const auto [y, of_y] = smoothed(tree, v, k, count);
            const auto bend = Pack<T>::load(slope + k, count).value;
            const auto force = friction_force<T>(tree, k, count).value;
            const auto ahead = decltype(rate)(h) * Pack<T>::load(a + k, count).value;
            const auto third = decltype(rate)(-2.0) *
                               fma(rate * of_y, rate * (force * rate * of_y), rate * y * bend);
            const auto by = [&](const T* x) { return Pack<T>::load(x + k, count).value; };
            const Pack<T> first = {fma(ahead, bend, by(w.slope))};
            const Pack<T> second = {fma(ahead, third, by(w.curvature))};
            first.store(w.slope + k, count);
            second.store(w.curvature + k, count);
        });
    }

    // D a of the joints, added up for the independent velocities.
    const T* by_length(const Tree& tree, const T* a) const {
        for (int k = 0; k < tree.nv; ++k) joints[k] = D[k] * a[k];
        reduce_columns(tree, joints, 1, torque);
        return torque;
    }
    // The same, in the places of joints that own them.
    const T* by_length_at_owners(const Tree& tree, const T* a) const {
        const T* x = by_length(tree, a);
        if (tree.mimic) to_owners(tree, x, at_owners);
        return at_owners;
    }

    // dtau less the variation of h D a at the acceleration a. dv: of the joints; dtau: of the independent velocities.
    // by_parameters may be null: zero.
    const T* less_variation(const Tree& tree, T h, const T* a, T dh, const T* dv,
                            const T* by_parameters, const T* dtau) const {
        const int n = tree.independent.n;
        for (int k = 0; k < tree.nv; ++k) joints[k] = fma(dh, D[k], h * slope[k] * dv[k]) * a[k];
        for (int k = 0; by_force && by_parameters && k < n; ++k) {
            const int j = owning_dof(tree, k);
            const T* const x = by_parameters + body_parameters * tree.nbodies + k;
            joints[j] = fma(h * a[j], fma(by_force[j], x[3 * n], x[n]), joints[j]);
        }
        reduce_columns(tree, joints, 1, torque);
        for (int k = 0; k < n; ++k) torque[k] = dtau[k] - torque[k];
        return torque;
    }

    // Subtracts the gradient of by_tau . h D a at the acceleration a. All arrays but by_parameters: of the joints;
    // by_parameters may be null: not asked for.
    void subtract_gradient(const Tree& tree, T h, const T* a, const T* by_tau, T* by_v, T& by_h,
                           T* by_parameters) const {
        const int n = tree.independent.n;
        for (int k = 0; k < tree.nv; ++k) {
            const T product = a[k] * by_tau[k];
            by_v[k] = fma(-(h * slope[k]), product, by_v[k]);
            by_h = fma(-D[k], product, by_h);
        }
        for (int k = 0; by_force && by_parameters && k < n; ++k) {
            const int j = owning_dof(tree, k);
            const T product = h * a[j] * by_tau[j];
            T* const to = by_parameters + body_parameters * tree.nbodies + k;
            to[n] = to[n] - product;
            to[3 * n] = fma(-by_force[j], product, to[3 * n]);
        }
    }

    // The sums of x of the joints, weighted with t of the independent velocities: t . x a by a, or by a and v if x
    // depends on v.
    void weigh(const Tree& tree, const T* x, const T* t, bool by_v, T* sums) const {
        for (int k = 0; k < tree.independent.n; ++k) sums[k] = T(0.0);
        for (int j = 0; j < tree.nv; ++j) {
            const int k = independent_dof(tree, j);
            const double scale = tree.mimic ? tree.mimic->v_scale[j] : 1.0;
            sums[k] = fma(T(scale * scale * (by_v ? scale : 1.0)) * x[j], t[k], sums[k]);
        }
    }

  private:
    void copy_parameters(const Tree& given) const {
        if (given.joint_parameters) {
            const T* const x = static_cast<const T*>(given.joint_parameters);
            for (int k = 0; k < joint_parameter_kinds * given.nv; ++k) parameters[k] = x[k];
            return;
        }
        T *const stiffnesses = row(JointParameter::stiffness, given), *const forces = row(
                                                                          JointParameter::friction,
                                                                          given);
        for (int k = 0; k < given.nv; ++k) {
            row(JointParameter::armature, given)[k] = T(given.armature[k]);
            row(JointParameter::damping, given)[k] = T(given.damping[k]);
            stiffnesses[k] = forces[k] = T(0.0);
        }
        for (int i = 0; i < given.nsprings; ++i)
            stiffnesses[given.springs[i].v] = T(given.springs[i].stiffness);
        for (int i = 0; i < given.nrotation_springs; ++i)
            stiffnesses[given.rotation_springs[i].v] = T(given.rotation_springs[i].stiffness);
        for (int k = given.friction.first; k < given.friction.end; ++k)
            forces[k] = T(given.friction.force[k]);
    }
};

}  // namespace dtau::DTAU_VARIANT
