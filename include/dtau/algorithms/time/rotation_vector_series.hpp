// Computes rotation vectors along a motion: RotationVectorSeries. Taylor coefficients (taylor.hpp) of the
// rotation vector phi of a frame that turns with the angular velocity omega, along its axes, t = |phi|^2:
//
//   k phi_k = (G omega)_{k-1}           G = 1 + phi^/2 + u^ phi^,  u = e phi      (rotation_vector.hpp)
//   e = f_1/4,  f_n = 1/(2n + 1 - t/4 f_{n+1})    (n - 1 in the code)
//
// e has the continued fraction of the tangent of half the angle: without cancellation up to half a
// turn, and without a case for small angles. [Derivations] §26
#pragma once

#include "dtau/algorithms/time/taylor.hpp"

namespace dtau::DTAU_VARIANT {

// The series of `count` vectors one behind the other, `length` coefficients for each.
template <class T> struct RotationVectorSeries {
    static constexpr int levels = 12;  // of the continued fraction
    int length;
    Vec3<T>*phi, *u;
    Mat3<T>* G;
    T *quarter, *e;         // t/4
    T *fraction, *product;  // f_n and t/4 f_{n+1}, level by level

    RotationVectorSeries(Arena& arena, int count, int room) : length(room) {
        arena.take_each(count * room, phi, u, G, quarter, e);
        arena.take_each(count * room * (levels + 1), fraction, product);
    }

    // The series of vector i.
    RotationVectorSeries of(int i) const {
        RotationVectorSeries s = *this;
        advance(std::ptrdiff_t(i) * length, s.phi, s.u, s.G, s.quarter, s.e);
        advance(std::ptrdiff_t(i) * length * (levels + 1), s.fraction, s.product);
        return s;
    }

    // Order 0.
    void start(const Vec3<T>& rotation) const {
        phi[0] = rotation;
        extend_coefficient(0), extend_matrix(0);
    }
    // Order k > 0, after all lower ones. omega: orders below k.
    void extend(int k, const Vec3<T>* omega, const TaylorScale& scale) const {
        phi[k] = T(scale.inverse[k]) * times(k - 1, omega);
        extend_coefficient(k), extend_matrix(k);
    }
    // (G x)_k
    Vec3<T> times(int k, const Vec3<T>* x) const { return turned_sum(k, G, x, zero_vector<T>()); }

  private:
    // Computes e and u of order k.
    void extend_coefficient(int k) const {
        T square(0.0);
        for (int m = 0; m <= k; ++m) square = dot(phi[m], phi[k - m], square);
        quarter[k] = T(0.25) * square;
        fraction[levels * length + k] = T(k == 0 ? 1.0 / (2 * levels + 3) : 0.0);
        for (int n = levels - 1; n >= 0; --n) {
            T *const f = fraction + n * length, *const x = product + n * length;
            const T* above = f + length;
            T sum(0.0), rest(0.0);
            for (int m = 0; m <= k; ++m) sum = fma(quarter[m], above[k - m], sum);
            x[k] = sum;
            for (int m = 1; m <= k; ++m) rest = fma(x[m], f[k - m], rest);
            f[k] = k == 0 ? T(1.0) / (T(2.0 * n + 3.0) - sum) : f[0] * rest;
        }
        e[k] = T(0.25) * fraction[k];
        Vec3<T> scaled = zero_vector<T>();
        for (int m = 0; m <= k; ++m) scaled = fma(e[m], phi[k - m], scaled);
        u[k] = scaled;
    }
    void extend_matrix(int k) const {
        Mat3<T> sum = skew(T(0.5) * phi[k]);
        T trace(k == 0 ? 1.0 : 0.0);
        for (int m = 0; m <= k; ++m) {  // u^ phi^ = phi u^T - (u . phi) 1
            const Vec3<T>&a = u[m], &b = phi[k - m];
            sum.x = fma(a.x, b, sum.x), sum.y = fma(a.y, b, sum.y), sum.z = fma(a.z, b, sum.z);
            trace = trace - dot(a, b);
        }
        sum.x.x = sum.x.x + trace, sum.y.y = sum.y.y + trace, sum.z.z = sum.z.z + trace;
        G[k] = sum;
    }
};

}  // namespace dtau::DTAU_VARIANT
