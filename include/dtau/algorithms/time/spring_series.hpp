// Computes time derivatives of springs' torques along a motion, and their derivatives: SpringSeries. Springs
// of one coordinate are linear. Taylor coefficients (taylor.hpp) for a spring of a spherical joint
// (rotation_springs.hpp), with its joint's angular velocity omega, t = |phi|^2 and u = e phi:
//
//   k phi_k = (G omega)_{k-1}           G = 1 + phi^/2 + u^ phi^
//   e = f_1/4,  f_n = 1/(2n + 1 - t/4 f_{n+1})    (n - 1 in the code)
//
//   variations   k eta_k = d omega_{k-1} - (omega x eta)_{k-1}     d phi_k = (G eta)_k
//   gradients    by eta_j = sum over k >= j of k! K G_{k-j}^T lam_k + sum over k > j of omega_{k-1-j} x (by eta_k)/k
//                by v^(j-1) = (by eta_j)/j!,  by q = by eta_0
//
// The continued fraction of e is that of the tangent of half the angle: without cancellation up to half a
// turn, and without a case for small angles. [Derivations] §26
#pragma once

#include "dtau/algorithms/time/taylor.hpp"

namespace dtau::DTAU_VARIANT {

// Coefficients of the springs of spherical joints one behind the other, `length` for each.
template <class T>
struct SpringSeries {
    static constexpr int levels = 12;  // of the continued fraction
    int length;
    Vec3<T>*phi, *u, *omega;
    Vec3<T>*eta, *by_eta;  // of variations, of gradients
    Mat3<T>* G;
    T *quarter, *e;         // t/4
    T *fraction, *product;  // f_n and t/4 f_{n+1}, level by level

    SpringSeries(Arena& arena, const Tree& tree, int count)
        : length(count),
          phi(room<Vec3<T>>(arena, tree)),
          u(room<Vec3<T>>(arena, tree)),
          omega(room<Vec3<T>>(arena, tree)),
          eta(room<Vec3<T>>(arena, tree)),
          by_eta(room<Vec3<T>>(arena, tree)),
          G(room<Mat3<T>>(arena, tree)),
          quarter(room<T>(arena, tree)),
          e(room<T>(arena, tree)),
          fraction(room<T>(arena, tree, levels + 1)),
          product(room<T>(arena, tree, levels + 1)) {}

    // Computes order k after all lower ones. v (nv): of order 0; rates: of orders 1, 2, ..., k - 1, rows of nv.
    void extend(const Tree& tree, int k, const T* q, const T* v, const T* rates,
                const TaylorScale& scale) const {
        for (int s = 0; s < tree.nrotation_springs; ++s) {
            const RotationSpring& spring = tree.rotation_springs[s];
            const std::ptrdiff_t at = first(s);
            if (k == 0) {
                phi[at] = rotation_from_rest(spring, q);
            } else {
                const T* before = k == 1 ? v : rates + (k - 2) * tree.nv;
                omega[at + k - 1] =
                    T(scale.inverse_factorial[k - 1]) * angular_part(spring, before);
                phi[at + k] = T(scale.inverse[k]) * times(s, k - 1, omega + at);
            }
            extend_coefficient(s, k);
            extend_matrix(s, k);
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
                             phi[first(s) + k], tau);
        }
    }

    // Adds the derivative of order k of the stiffness to dtau/dq of that order, whose rows are n apart.
    void add_stiffness(const Tree& tree, int k, const TaylorScale& scale, T* dtau_dq, int n) const {
        if (k == 0) add_diagonal_stiffness(tree, dtau_dq, n);
        for (int s = 0; s < tree.nrotation_springs; ++s) {
            const RotationSpring& spring = tree.rotation_springs[s];
            add_rotation_block(spring, T(scale.factorial[k] * spring.stiffness), G[first(s) + k],
                               dtau_dq, n);
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
                             times(s, k, eta + at), dtau);
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
                sum += weight * transposed_mul(G[at + k - j], x);
                if (k == j) continue;
                sum = cross(T(scale.inverse[k]) * omega[at + k - 1 - j], by_eta[at + k], sum);
            }
            by_eta[at + j] = sum;
            add_angular_part(spring, T(factor * scale.inverse_factorial[j]), sum, by);
        }
    }

  private:
    template <class X>
    X* room(Arena& arena, const Tree& tree, int rows = 1) const {
        const int count = tree.nrotation_springs * rows * length;
        return count > 0 ? arena.take<X>(count) : nullptr;
    }
    std::ptrdiff_t first(int s) const { return std::ptrdiff_t(s) * length; }
    T* series_of(T* levels_of_all, int s, int n) const {
        return levels_of_all + first(s) * (levels + 1) + n * length;
    }

    // (G x)_k
    Vec3<T> times(int s, int k, const Vec3<T>* x) const {
        Vec3<T> sum = zero_vector<T>();
        for (int m = 0; m <= k; ++m) sum = mul_add(G[first(s) + m], x[k - m], sum);
        return sum;
    }
    // Computes e and u of order k.
    void extend_coefficient(int s, int k) const {
        const std::ptrdiff_t at = first(s);
        T square(0.0);
        for (int m = 0; m <= k; ++m) square = dot(phi[at + m], phi[at + k - m], square);
        quarter[at + k] = T(0.25) * square;
        series_of(fraction, s, levels)[k] = T(k == 0 ? 1.0 / (2 * levels + 3) : 0.0);
        for (int n = levels - 1; n >= 0; --n) {
            T *const f = series_of(fraction, s, n), *const x = series_of(product, s, n);
            const T* above = series_of(fraction, s, n + 1);
            T sum(0.0), rest(0.0);
            for (int m = 0; m <= k; ++m) sum = fma(quarter[at + m], above[k - m], sum);
            x[k] = sum;
            for (int m = 1; m <= k; ++m) rest = fma(x[m], f[k - m], rest);
            f[k] = k == 0 ? T(1.0) / (T(2.0 * n + 3.0) - sum) : f[0] * rest;
        }
        e[at + k] = T(0.25) * series_of(fraction, s, 0)[k];
        Vec3<T> scaled = zero_vector<T>();
        for (int m = 0; m <= k; ++m) scaled = fma(e[at + m], phi[at + k - m], scaled);
        u[at + k] = scaled;
    }
    void extend_matrix(int s, int k) const {
        const std::ptrdiff_t at = first(s);
        Mat3<T> sum = skew(T(0.5) * phi[at + k]);
        T trace(k == 0 ? 1.0 : 0.0);
        for (int m = 0; m <= k; ++m) {  // u^ phi^ = phi u^T - (u . phi) 1
            const Vec3<T>&a = u[at + m], &b = phi[at + k - m];
            sum.x = fma(a.x, b, sum.x), sum.y = fma(a.y, b, sum.y), sum.z = fma(a.z, b, sum.z);
            trace = trace - dot(a, b);
        }
        sum.x.x = sum.x.x + trace, sum.y.y = sum.y.y + trace, sum.z.z = sum.z.z + trace;
        G[at + k] = sum;
    }
};

}  // namespace dtau::DTAU_VARIANT
