// Computes time derivatives of springs' torques along a motion, and their derivatives: SpringSeries. Springs
// of one coordinate are linear. Taylor coefficients (taylor.hpp) for a spring of a spherical joint
// (rotation_springs.hpp) whose stretch is the rotation vector phi of rotation_vector_series.hpp, with its
// joint's angular velocity omega:
//
//   variations   k eta_k = d omega_{k-1} - (omega x eta)_{k-1}     d phi_k = (G eta)_k
//   gradients    by eta_j = sum over k >= j of k! K G_{k-j}^T lam_k + sum over k > j of omega_{k-1-j} x (by eta_k)/k
//                by v^(j-1) = (by eta_j)/j!,  by q = by eta_0
//
// [Derivations] §26
#pragma once

#include "dtau/algorithms/time/rotation_vector_series.hpp"

namespace dtau::DTAU_VARIANT {

// Coefficients of the springs of spherical joints one behind the other, `length` for each.
template <class T> struct SpringSeries {
    int length;
    RotationVectorSeries<T> stretches;
    Vec3<T>* omega;
    Vec3<T>*eta, *by_eta;  // of variations, of gradients

    SpringSeries(Arena& arena, const Tree& tree, int count)
        : length(count), stretches(arena, tree.nrotation_springs, count) {
        arena.take_each(tree.nrotation_springs * count, omega, eta, by_eta);
    }

    // Computes order k after all lower ones. v (nv): of order 0; rates: of orders 1, 2, ..., k - 1, rows of nv.
    void extend(const Tree& tree, int k, const T* q, const T* v, const T* rates,
                const TaylorScale& scale) const {
        for (int s = 0; s < tree.nrotation_springs; ++s) {
            const RotationSpring& spring = tree.rotation_springs[s];
            if (k == 0) {
                stretches.of(s).start(rotation_from_rest(spring, q));
                continue;
            }
            const T* before = k == 1 ? v : rates + (k - 2) * tree.nv;
            omega[first(s) + k - 1] =
                T(scale.inverse_factorial[k - 1]) * angular_part(spring, before);
            stretches.of(s).extend(k, omega + first(s), scale);
        }
    }

    // tau += sign times the derivative of order k of the torques, after all lower ones. Extends the series.
    void add_next(const Tree& tree, double sign, int k, const T* q, const T* v, const T* rates,
                  const TaylorScale& scale, T* tau) const {
        if (k > 0)
            add_diagonal_times(tree, sign, k == 1 ? v : rates + (k - 2) * tree.nv, tau);
        else if (sign > 0.0)
            add_spring_torques(tree, q, tau);
        else
            subtract_spring_torques(tree, q, tau);
        extend(tree, k, q, v, rates, scale);
        for (int s = 0; s < tree.nrotation_springs && k > 0; ++s) {
            const RotationSpring& spring = tree.rotation_springs[s];
            add_angular_part(spring, T(sign * scale.factorial[k] * spring.stiffness),
                             stretches.of(s).phi[k], tau);
        }
    }

    // Adds the derivative of order k of the stiffness to dtau/dq of that order, whose rows are n apart.
    void add_stiffness(const Tree& tree, int k, const TaylorScale& scale, T* dtau_dq, int n) const {
        if (k == 0) add_diagonal_stiffness(tree, dtau_dq, n);
        for (int s = 0; s < tree.nrotation_springs; ++s) {
            const RotationSpring& spring = tree.rotation_springs[s];
            add_rotation_block(spring, T(scale.factorial[k] * spring.stiffness),
                               stretches.of(s).G[k], dtau_dq, n);
        }
    }

    // dtau += factor times the variation of order k, after all lower ones. dv (nv): of order 0; rates: of
    // orders 1, 2, ..., k - 1.
    void add_variations(const Tree& tree, int k, double factor, const T* dq, const T* dv,
                        const T* rates, const TaylorScale& scale, T* dtau) const {
        const T* before = k < 2 ? dv : rates + (k - 2) * tree.nv;
        add_diagonal_times(tree, factor, k == 0 ? dq : before, dtau);
        for (int s = 0; s < tree.nrotation_springs; ++s) {
            const RotationSpring& spring = tree.rotation_springs[s];
            const std::ptrdiff_t at = first(s);
            if (k == 0) {
                eta[at] = angular_part(spring, dq);
            } else {
                const T inverse(scale.inverse_factorial[k - 1]);
                const Vec3<T> turned = cross_sum(0, k - 1, omega + at, eta + at);
                eta[at + k] =
                    T(scale.inverse[k]) * fma(inverse, angular_part(spring, before), -turned);
            }
            add_angular_part(spring, T(factor * scale.factorial[k] * spring.stiffness),
                             stretches.of(s).times(k, eta + at), dtau);
        }
    }

    // by += factor times the gradient of sum over k of lam^(k) tau^(k) by v^(j-1), or by q for j = 0, for k from j
    // to `order`. lam: of order j, and the higher orders behind it. After all higher j.
    void add_gradients(const Tree& tree, int j, int order, double factor, const T* lam,
                       const TaylorScale& scale, T* by) const {
        add_diagonal_times(tree, factor, lam, by);
        for (int s = 0; s < tree.nrotation_springs; ++s) {
            const RotationSpring& spring = tree.rotation_springs[s];
            const std::ptrdiff_t at = first(s);
            Vec3<T> sum = zero_vector<T>();
            for (int k = j; k <= order; ++k) {
                const T weight(scale.factorial[k] * spring.stiffness);
                const Vec3<T> x = angular_part(spring, lam + (k - j) * tree.nv);
                sum += weight * transposed_mul(stretches.of(s).G[k - j], x);
                if (k == j) continue;
                sum = cross(T(scale.inverse[k]) * omega[at + k - 1 - j], by_eta[at + k], sum);
            }
            by_eta[at + j] = sum;
            add_angular_part(spring, T(factor * scale.inverse_factorial[j]), sum, by);
        }
    }

  private:
    std::ptrdiff_t first(int s) const { return std::ptrdiff_t(s) * length; }
};

}  // namespace dtau::DTAU_VARIANT
