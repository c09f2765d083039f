// Adds up products of Taylor coefficients: cross_sum(), centripetal(). Time derivatives are x^(k) =
// k! x_k, so that products are sums without binomials: (a b)_k = sum of a_m b_{k-m}.
#pragma once

#include "dtau/kinematics.hpp"
#include "dtau/pack.hpp"

namespace dtau::DTAU_VARIANT {

// k!, 1/k! and 1/k for k below `count`.
struct TaylorScale {
    double *factorial, *inverse_factorial, *inverse;

    TaylorScale(Arena& arena, int count) {
        arena.take_each(count, factorial, inverse_factorial, inverse);
        if (!factorial || count == 0) return;
        factorial[0] = inverse_factorial[0] = inverse[0] = 1.0;
        for (int k = 1; k < count; ++k) {
            factorial[k] = k * factorial[k - 1];
            inverse_factorial[k] = 1.0 / factorial[k];
            inverse[k] = 1.0 / k;
        }
    }
};

// Binomial coefficients (k, m) for k, m below `count`.
class Binomials {
  public:
    Binomials(Arena& arena, int count)
        : count_(count), at_(arena.take_zeros<double>(count * count)) {
        for (int k = 0; k < count && at_; ++k)
            for (int m = 0; m <= k; ++m)
                at_[k * count + m] =
                    m == 0 || m == k ? 1.0 : (*this)(k - 1, m - 1) + (*this)(k - 1, m);
    }
    double operator()(int k, int m) const { return at_[k * count_ + m]; }

  private:
    int count_;
    double* at_;
};

// Calls f(0) ... f(order). An order that is known to the compiler unrolls the sums in f.
inline constexpr int any_order = -1;
template <int fixed, class F> DTAU_INLINE void for_orders(int order, const F& f) {
    if constexpr (fixed == any_order)
        for (int k = 0; k <= order; ++k) f(k);
    else
        unrolled<fixed + 1>(f);
}
// One of these factors of an order up to 1, where all are 1; `fixed` may tell the compiler that it
// is.
template <int fixed, class T> DTAU_INLINE T factor_of(const double* factors, int k) {
    return T(fixed == 0 || fixed == 1 ? 1.0 : factors[k]);
}

// Sum of a_m x b_{k-m} for m from `first` to k.
template <class T>
DTAU_INLINE Vec3<T> cross_sum(int first, int k, const Vec3<T>* a, const Vec3<T>* b,
                              Vec3<T> sum = zero_vector<T>()) {
    for (int m = first; m <= k; ++m) sum = cross(a[m], b[k - m], sum);
    return sum;
}

// Sum of R_m x_{k-m}, or of R_m^T x_{k-m}, and sum. x: vectors, motions or forces.
template <class T, class X> DTAU_INLINE X turned_sum(int k, const Mat3<T>* R, const X* x, X sum) {
    for (int m = 0; m <= k; ++m) sum = mul_add(R[m], x[k - m], sum);
    return sum;
}
template <class T, class X>
DTAU_INLINE X turned_back_sum(int k, const Mat3<T>* R, const X* x, X sum) {
    for (int m = 0; m <= k; ++m) sum = mul_add(transposed(R[m]), x[k - m], sum);
    return sum;
}

// The matrix omega omega^T - (omega . omega) 1 of the series omega: times r it is omega x (omega x r).
template <class T> DTAU_INLINE Sym3<T> centripetal(int k, const Vec3<T>* omega) {
    T xx(0.0), xy(0.0), xz(0.0), yy(0.0), yz(0.0), zz(0.0);
    for (int m = 0; 2 * m < k; ++m) {
        const Vec3<T>&a = omega[m], &b = omega[k - m];
        xx = fma(a.x, b.x, xx), yy = fma(a.y, b.y, yy), zz = fma(a.z, b.z, zz);
        xy = fma(a.x, b.y, fma(a.y, b.x, xy));
        xz = fma(a.x, b.z, fma(a.z, b.x, xz));
        yz = fma(a.y, b.z, fma(a.z, b.y, yz));
    }
    xx = xx + xx, yy = yy + yy, zz = zz + zz;
    if (k % 2 == 0) {
        const Vec3<T>& a = omega[k / 2];
        xx = fma(a.x, a.x, xx), yy = fma(a.y, a.y, yy), zz = fma(a.z, a.z, zz);
        xy = fma(a.x, a.y, xy), xz = fma(a.x, a.z, xz), yz = fma(a.y, a.z, yz);
    }
    return {-(yy + zz), xy, xz, -(xx + zz), yz, -(xx + yy)};
}

// The matrix alpha^ + W: times r it is alpha x r + W r.
template <class T> DTAU_INLINE Mat3<T> with_skew(const Sym3<T>& W, const Vec3<T>& alpha) {
    return {{W.xx, W.xy + alpha.z, W.xz - alpha.y},
            {W.xy - alpha.z, W.yy, W.yz + alpha.x},
            {W.xz + alpha.y, W.yz - alpha.x, W.zz}};
}

// Minus gravity's acceleration in the axes of a root body: order 0, and order k + 1 from order k.
template <class T>
DTAU_INLINE Vec3<T> minus_gravity(const Tree& tree, const Body& body, const Configuration<T>& x) {
    const Mat3<T> R = joint_placement(body, constant_placement<T>(body), x).R;
    return -transposed_mul(R, lift<T>(vec3(tree.gravity)));
}
template <class T>
DTAU_INLINE Vec3<T> next_gravity(int k, const Vec3<T>* G, const Vec3<T>* omega,
                                 const TaylorScale& scale) {
    return T(scale.inverse[k + 1]) * cross_sum(0, k, G, omega);
}

}  // namespace dtau::DTAU_VARIANT
