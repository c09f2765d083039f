// Defines a truncated Taylor series in time as a scalar of the core: Series. An algorithm over it computes
// the time derivatives of its results along a motion, x^(k) = k! x_k, an oracle for algorithms/time/ that
// shares no recursion with them.
//
//   (a b)_k = sum over m = 0 ... k of a_m b_{k-m}
//   c = a / b              b_0 c_k = a_k - sum over m = 1 ... k of b_m c_{k-m}
//   r = sqrt(x)          2 r_0 r_k = x_k - sum over m = 1 ... k-1 of r_m r_{k-m}
//   s, c = sin x, cos x      k s_k = sum over m = 1 ... k of m x_m c_{k-m},     k c_k = -sum of m x_m s_{k-m}
//   y = tanh x               k y_k = sum over m = 1 ... k of m x_m w_{k-m},     w = 1 - y^2
//
// Coefficient k of a result depends on coefficients up to k alone: a shorter series has the same bits, and NaN
// never spreads to lower orders. Conditions and bits belong to order 0.
#pragma once

#include "dtau/hyperbolic_tangent.hpp"
#include "dtau/rotation_vector.hpp"

namespace dtau::DTAU_VARIANT {

template <class T, int length> struct Series {
    T at[length];

    Series() = default;
    explicit Series(double constant) : Series() {
        at[0] = T(constant);
        for (int k = 1; k < length; ++k) at[k] = T(0.0);
    }

    // The series whose coefficient k is f(k).
    template <class F> static Series of(const F& f) {
        Series result;
        for (int k = 0; k < length; ++k) result.at[k] = f(k);
        return result;
    }

    friend Series operator+(const Series& a, const Series& b) {
        return of([&](int k) { return a.at[k] + b.at[k]; });
    }
    friend Series operator-(const Series& a, const Series& b) {
        return of([&](int k) { return a.at[k] - b.at[k]; });
    }
    friend Series operator-(const Series& a) {
        return of([&](int k) { return -a.at[k]; });
    }
    friend Series operator*(const Series& a, const Series& b) {
        return of([&](int k) {
            T sum = a.at[0] * b.at[k];
            for (int m = 1; m <= k; ++m) sum = fma(a.at[m], b.at[k - m], sum);
            return sum;
        });
    }
    friend Series operator*(double a, const Series& b) {
        return of([&](int k) { return T(a) * b.at[k]; });
    }
    friend Series operator/(const Series& a, const Series& b) {
        Series c;
        for (int k = 0; k < length; ++k) {
            T rest = a.at[k];
            for (int m = 1; m <= k; ++m) rest = fnma(b.at[m], c.at[k - m], rest);
            c.at[k] = rest / b.at[0];
        }
        return c;
    }
    Series& operator+=(const Series& b) { return *this = *this + b; }
};

template <class T, int length>
Series<T, length> fma(const Series<T, length>& a, const Series<T, length>& b,
                      const Series<T, length>& c) {
    return Series<T, length>::of([&](int k) {
        T sum = c.at[k];
        for (int m = 0; m <= k; ++m) sum = fma(a.at[m], b.at[k - m], sum);
        return sum;
    });
}
template <class T, int length>
Series<T, length> fma(double a, const Series<T, length>& b, const Series<T, length>& c) {
    return Series<T, length>::of([&](int k) { return fma(T(a), b.at[k], c.at[k]); });
}
template <class T, int length>
Series<T, length> fma(const Series<T, length>& a, double b, const Series<T, length>& c) {
    return fma(b, a, c);
}

template <class T, int length> auto to_bits(const Series<T, length>& x) { return to_bits(x.at[0]); }
template <class T, int length> auto less(const Series<T, length>& a, double b) {
    return less(a.at[0], b);
}
template <class Mask, class T, int length>
Series<T, length> select(Mask mask, const Series<T, length>& a, const Series<T, length>& b) {
    return Series<T, length>::of([&](int k) { return select(mask, a.at[k], b.at[k]); });
}
template <class T, int length> Series<T, length> absolute(const Series<T, length>& x) {
    return select(to_bits(x) < 0, -x, x);
}

// Sum over m = 1 ... k of m/k x_m d_{k-m}: coefficient k of y for y' = x' d.
template <class T, int length>
T integrated(int k, const Series<T, length>& x, const Series<T, length>& d) {
    T sum(0.0);
    for (int m = 1; m <= k; ++m) sum = fma(T(double(m) / k) * x.at[m], d.at[k - m], sum);
    return sum;
}

template <class T, int length> Series<T, length> square_root(const Series<T, length>& x) {
    Series<T, length> r;
    r.at[0] = square_root(x.at[0]);
    for (int k = 1; k < length; ++k) {
        T rest = x.at[k];
        for (int m = 1; m < k; ++m) rest = fnma(r.at[m], r.at[k - m], rest);
        r.at[k] = T(0.5) * rest / r.at[0];
    }
    return r;
}
template <class T, int length>
void sincos(const Series<T, length>& x, Series<T, length>& sine, Series<T, length>& cosine) {
    sincos(x.at[0], sine.at[0], cosine.at[0]);
    for (int k = 1; k < length; ++k) {
        sine.at[k] = integrated(k, x, cosine);
        cosine.at[k] = -integrated(k, x, sine);
    }
}
template <class T, int length>
TangentAndSlope<Series<T, length>> tangent_and_slope(const Series<T, length>& x) {
    TangentAndSlope<Series<T, length>> y;
    const TangentAndSlope<T> first = tangent_and_slope(x.at[0]);
    y.tangent.at[0] = first.tangent, y.slope.at[0] = first.slope;
    for (int k = 1; k < length; ++k) {
        y.tangent.at[k] = integrated(k, x, y.slope);
        T square(0.0);
        for (int m = 0; m <= k; ++m) square = fma(y.tangent.at[m], y.tangent.at[k - m], square);
        y.slope.at[k] = -square;
    }
    return y;
}
// The polynomial of the scalar's angle_of() would lose a digit with every order: theta' = (x y' - y x') / r^2.
template <class T, int length>
Series<T, length> angle_of(const Series<T, length>& y, const Series<T, length>& x) {
    const Series<T, length> square = fma(x, x, y * y), along_y = x / square, along_x = y / square;
    return Series<T, length>::of([&](int k) {
        return k == 0 ? angle_of(y.at[0], x.at[0])
                      : integrated(k, y, along_y) - integrated(k, x, along_x);
    });
}

// The derivative of order k at t = 0.
template <class T, int length> T derivative(const Series<T, length>& x, int k) {
    T result = x.at[k];
    for (int m = 2; m <= k; ++m) result = T(double(m)) * result;
    return result;
}
// x0 + the integral of `rate`.
template <class T, int length> Series<T, length> integral(T x0, const Series<T, length>& rate) {
    return Series<T, length>::of([&](int k) { return k == 0 ? x0 : T(1.0 / k) * rate.at[k - 1]; });
}

}  // namespace dtau::DTAU_VARIANT
