// Gives the unit tests random operands, dense matrices in plain loops, and comparisons: Random,
// Matrix, apart().
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "dtau/arena.hpp"
#include "dtau/inertia.hpp"

namespace dtau::DTAU_VARIANT {

// ---------------------------------------------------------------- random operands

class Random {
  public:
    explicit Random(unsigned seed) : bits_(seed) {}

    double number() {
        return std::ldexp(static_cast<double>(bits_() >> 11), -52) - 1.0;
    }  // -1 .. 1
    template <class T> T scalar() {
        if constexpr (std::is_same_v<T, Lane>) {
            Lane x;
            for (int l = 0; l < lanes; ++l) x.value[l] = number();
            return x;
        } else if constexpr (std::is_same_v<T, Complex>) {
            return {number(), number()};
        } else {
            return T(number());
        }
    }
    template <class T> Vec3<T> vector() { return {scalar<T>(), scalar<T>(), scalar<T>()}; }
    template <class T> Mat3<T> matrix() { return {vector<T>(), vector<T>(), vector<T>()}; }
    template <class T> Sym3<T> symmetric() {
        return {scalar<T>(), scalar<T>(), scalar<T>(), scalar<T>(), scalar<T>(), scalar<T>()};
    }
    template <class T> Motion<T> motion() { return {vector<T>(), vector<T>()}; }
    template <class T> Force<T> force() { return {vector<T>(), vector<T>()}; }
    template <class T> Inertia<T> inertia() { return {scalar<T>(), vector<T>(), symmetric<T>()}; }
    // A rotation: Gram-Schmidt on random axes.
    template <class T> Mat3<T> rotation() {
        const auto unit = [](const Vec3<T>& a) { return T(1.0) / square_root(dot(a, a)) * a; };
        const Vec3<T> x = unit(vector<T>()), a = vector<T>(), z = unit(cross(x, a));
        return {x, cross(z, x), z};
    }
    template <class T> Placement<T> placement() { return {rotation<T>(), vector<T>()}; }

  private:
    std::mt19937_64 bits_;
};

// The numbers of a scalar: one of each lane.
template <class T> inline constexpr int states = std::is_same_v<T, Lane> ? lanes : 1;
inline double lane(double x, int) { return x; }
inline double lane(Lane x, int l) { return x.value[l]; }
inline void set_lane(double& x, int, double number) { x = number; }
inline void set_lane(Lane& x, int l, double number) { x.value[l] = number; }

// Memory for a workspace, of just its size.
class Scratch {
  public:
    template <class Workspace, class... A> Workspace make(const A&... arguments) {
        Arena measure;
        Workspace(measure, arguments...);
        std::size_t room = measure.used() + alignment;
        bytes_.reset(new std::byte[room]);
        void* aligned = bytes_.get();
        Arena arena(std::align(alignment, measure.used(), aligned, room), measure.used());
        return Workspace(arena, arguments...);
    }

  private:
    static constexpr std::size_t alignment = 64;
    std::unique_ptr<std::byte[]> bytes_;
};

// ---------------------------------------------------------------- comparison

using Numbers = std::vector<double>;

inline void put(Numbers& to, double x) { to.push_back(x); }
inline void put(Numbers& to, Complex x) { to.insert(to.end(), {x.real(), x.imag()}); }
inline void put(Numbers& to, Lane x) {
    for (int l = 0; l < lanes; ++l) to.push_back(x.value[l]);
}
template <class T> void put(Numbers& to, const Vec3<T>& a) {
    put(to, a.x), put(to, a.y), put(to, a.z);
}
template <class T> void put(Numbers& to, const Mat3<T>& m) {
    put(to, m.x), put(to, m.y), put(to, m.z);
}
template <class T> void put(Numbers& to, const Sym3<T>& s) { put(to, full(s)); }
template <class T> void put(Numbers& to, const Motion<T>& m) { put(to, m.ang), put(to, m.lin); }
template <class T> void put(Numbers& to, const Force<T>& f) { put(to, f.ang), put(to, f.lin); }
template <class T> void put(Numbers& to, const Inertia<T>& I) {
    put(to, I.m), put(to, I.h), put(to, I.J);
}
template <class T> void put(Numbers& to, const ArticulatedInertia<T>& I) {
    put(to, I.J), put(to, I.H), put(to, I.M);
}
template <class T> void put(Numbers& to, const Placement<T>& P) { put(to, P.R), put(to, P.r); }
inline void put(Numbers& to, const Numbers& x) { to.insert(to.end(), x.begin(), x.end()); }

// The largest difference of two numbers; infinite where one is NaN, or one has more numbers.
template <class A, class B> double apart(const A& a, const B& b) {
    Numbers x, y;
    put(x, a), put(y, b);
    double largest = x.size() == y.size() ? 0.0 : std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < x.size() && k < y.size(); ++k) {
        const double difference = std::fabs(x[k] - y[k]);
        if (!(difference <= largest)) largest = difference;
        if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    }
    return largest;
}

// ---------------------------------------------------------------- dense matrices

struct Matrix {
    int rows, columns;
    Numbers at;  // by rows

    Matrix(int r, int c) : rows(r), columns(c), at(static_cast<std::size_t>(r) * c) {}
    double& operator()(int i, int j) { return at[static_cast<std::size_t>(i) * columns + j]; }
    double operator()(int i, int j) const { return at[static_cast<std::size_t>(i) * columns + j]; }

    static Matrix identity(int n) {
        Matrix m(n, n);
        for (int i = 0; i < n; ++i) m(i, i) = 1.0;
        return m;
    }
};
inline void put(Numbers& to, const Matrix& m) { put(to, m.at); }

inline Matrix operator*(const Matrix& a, const Matrix& b) {
    Matrix m(a.rows, b.columns);
    for (int i = 0; i < a.rows; ++i)
        for (int j = 0; j < b.columns; ++j)
            for (int k = 0; k < a.columns; ++k) m(i, j) += a(i, k) * b(k, j);
    return m;
}
inline Matrix operator*(double s, Matrix a) {
    for (double& x : a.at) x *= s;
    return a;
}
inline Matrix operator+(Matrix a, const Matrix& b) {
    for (std::size_t k = 0; k < a.at.size(); ++k) a.at[k] += b.at[k];
    return a;
}
inline Matrix operator-(const Matrix& a, const Matrix& b) { return a + -1.0 * b; }
inline Matrix transposed(const Matrix& a) {
    Matrix m(a.columns, a.rows);
    for (int i = 0; i < a.rows; ++i)
        for (int j = 0; j < a.columns; ++j) m(j, i) = a(i, j);
    return m;
}
// Solves a x = b by Gaussian elimination with pivots.
inline Matrix solved(Matrix a, Matrix b) {
    const auto swap_rows = [](Matrix& m, int i, int j) {
        for (int c = 0; c < m.columns; ++c) std::swap(m(i, c), m(j, c));
    };
    const auto subtract = [](Matrix& m, int from, double factor, int row) {
        for (int c = 0; c < m.columns; ++c) m(from, c) -= factor * m(row, c);
    };
    for (int k = 0; k < a.rows; ++k) {
        int pivot = k;
        for (int i = k; i < a.rows; ++i)
            if (std::fabs(a(i, k)) > std::fabs(a(pivot, k))) pivot = i;
        swap_rows(a, k, pivot), swap_rows(b, k, pivot);
        for (int i = 0; i < a.rows; ++i) {
            if (i == k) continue;
            const double factor = a(i, k) / a(k, k);
            subtract(a, i, factor, k), subtract(b, i, factor, k);
        }
    }
    for (int k = 0; k < a.rows; ++k)
        for (int c = 0; c < b.columns; ++c) b(k, c) /= a(k, k);
    return b;
}

// The 3x3 matrix with these columns.
inline Matrix dense(const Mat3<double>& m) {
    Matrix a(3, 3);
    const Vec3<double> columns[3] = {m.x, m.y, m.z};
    for (int j = 0; j < 3; ++j)
        a(0, j) = columns[j].x, a(1, j) = columns[j].y, a(2, j) = columns[j].z;
    return a;
}
inline Matrix dense(const Sym3<double>& s) { return dense(full(s)); }
// a^ as books write it: a^ b = a x b.
inline Matrix hat(const Vec3<double>& a) {
    Matrix m(3, 3);
    m(0, 1) = -a.z, m(0, 2) = a.y, m(1, 0) = a.z, m(1, 2) = -a.x, m(2, 0) = -a.y, m(2, 1) = a.x;
    return m;
}
inline Matrix blocks(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& d) {
    Matrix m(6, 6);
    const Matrix* block[2][2] = {{&a, &b}, {&c, &d}};
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) m(i, j) = (*block[i / 3][j / 3])(i % 3, j % 3);
    return m;
}
inline Matrix column(const Vec3<double>& a, const Vec3<double>& b) {
    Matrix m(6, 1);
    m.at = {a.x, a.y, a.z, b.x, b.y, b.z};
    return m;
}
inline Matrix column(const Motion<double>& m) { return column(m.ang, m.lin); }
inline Matrix column(const Force<double>& f) { return column(f.ang, f.lin); }
// v x as a 6x6 matrix, [RBDA] eq. 2.31; v x* is -(v x)^T, eq. 2.32.
inline Matrix cross_matrix(const Motion<double>& v) {
    return blocks(hat(v.ang), Matrix(3, 3), hat(v.lin), hat(v.ang));
}
inline Matrix cross_star_matrix(const Motion<double>& v) {
    return -1.0 * transposed(cross_matrix(v));
}

}  // namespace dtau::DTAU_VARIANT
