// Defines spatial vectors and matrices as [RBDA] chapter 2 writes them: Vector, Matrix, plain 6-vectors and
// 6x6 matrices, angular part first. The textbook algorithms in this folder use nothing else. They save no
// operations: tests compare the fast algorithms with them, and readers look formulas up in them.
#pragma once

#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT::textbook {

template <class T> struct Vector {
    T at[6];
    static Vector zero() { return {{T(0.0), T(0.0), T(0.0), T(0.0), T(0.0), T(0.0)}}; }
    T& operator[](int k) { return at[k]; }
    const T& operator[](int k) const { return at[k]; }
    Vector& operator+=(const Vector& b) { return *this = *this + b; }

    friend Vector operator+(Vector a, const Vector& b) {
        for (int k = 0; k < 6; ++k) a[k] = a[k] + b[k];
        return a;
    }
    friend Vector operator-(Vector a, const Vector& b) {
        for (int k = 0; k < 6; ++k) a[k] = a[k] - b[k];
        return a;
    }
    friend Vector operator*(T s, Vector a) {
        for (int k = 0; k < 6; ++k) a[k] = s * a[k];
        return a;
    }
};

template <class T> T dot(const Vector<T>& a, const Vector<T>& b) {
    T sum(0.0);
    for (int k = 0; k < 6; ++k) sum = sum + a[k] * b[k];
    return sum;
}

template <class T> struct Matrix {
    Vector<T> row[6];
    static Matrix zero() {
        Matrix A;
        for (int k = 0; k < 6; ++k) A.row[k] = Vector<T>::zero();
        return A;
    }
    Matrix& operator+=(const Matrix& B) { return *this = *this + B; }

    friend Matrix operator+(Matrix A, const Matrix& B) {
        for (int k = 0; k < 6; ++k) A.row[k] = A.row[k] + B.row[k];
        return A;
    }
    friend Matrix operator-(Matrix A, const Matrix& B) {
        for (int k = 0; k < 6; ++k) A.row[k] = A.row[k] - B.row[k];
        return A;
    }
    friend Vector<T> operator*(const Matrix& A, const Vector<T>& x) {
        Vector<T> y;
        for (int k = 0; k < 6; ++k) y[k] = dot(A.row[k], x);
        return y;
    }
    friend Matrix operator*(const Matrix& A, const Matrix& B) {
        Matrix C = zero();
        for (int i = 0; i < 6; ++i)
            for (int k = 0; k < 6; ++k) C.row[i] += A.row[i][k] * B.row[k];
        return C;
    }
};

template <class T> Matrix<T> transposed(const Matrix<T>& A) {
    Matrix<T> B;
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 6; ++k) B.row[i][k] = A.row[k][i];
    return B;
}

// [A B; C D] of four 3x3 blocks.
template <class T>
Matrix<T> blocks(const Mat3<T>& A, const Mat3<T>& B, const Mat3<T>& C, const Mat3<T>& D) {
    Matrix<T> M;
    const Mat3<T>* const at[2][2] = {{&A, &B}, {&C, &D}};
    for (int k = 0; k < 4; ++k) {
        const Mat3<T>& block = *at[k / 2][k % 2];
        const Vec3<T>* const columns[3] = {&block.x, &block.y, &block.z};
        for (int c = 0; c < 3; ++c) {
            const int column = 3 * (k % 2) + c;
            Vector<T>* const rows = M.row + 3 * (k / 2);
            rows[0][column] = columns[c]->x, rows[1][column] = columns[c]->y;
            rows[2][column] = columns[c]->z;
        }
    }
    return M;
}

template <class T> Vector<T> spatial(const Vec3<T>& angular, const Vec3<T>& linear) {
    return {{angular.x, angular.y, angular.z, linear.x, linear.y, linear.z}};
}

// v x, on motions, and v x* = -(v x)^T, on forces: [RBDA] eqs. 2.31, 2.32.
template <class T> Matrix<T> crm(const Vector<T>& v) {
    const Mat3<T> angular = skew(Vec3<T>{v[0], v[1], v[2]});
    return blocks(angular, zero_matrix<T>(), skew(Vec3<T>{v[3], v[4], v[5]}), angular);
}
template <class T> Matrix<T> crf(const Vector<T>& v) {
    return Matrix<T>::zero() - transposed(crm(v));
}
// f xbar*, with (f xbar*) m = m x* f: [IDSVA] section II.
template <class T> Matrix<T> crf_bar(const Vector<T>& f) {
    const Mat3<T> moment = skew(Vec3<T>{-f[0], -f[1], -f[2]});
    const Mat3<T> force = skew(Vec3<T>{-f[3], -f[4], -f[5]});
    return blocks(moment, force, force, zero_matrix<T>());
}

// The motion transform from coordinates A to coordinates B, which stand at P in A: [RBDA] eq. 2.24.
// Its transpose takes forces from B to A.
template <class T> Matrix<T> motion_transform(const Placement<T>& P) {
    const Mat3<T> E = transposed(P.R);
    const Mat3<T> across = E * skew(-P.r);
    return blocks(E, zero_matrix<T>(), across, E);
}

// A body's inertia about its origin in its own axes: [RBDA] eq. 2.63.
template <class T> Matrix<T> rigid_body_inertia(const Body& body) {
    const Vec3<T> h = lift<T>(vec3(body.first_moment));
    const Sym3<double> J = sym3(body.own_inertia);
    const T m(body.mass), o(0.0);
    return blocks(lift<T>(full(J)), skew(h), skew(-h), {{m, o, o}, {o, m, o}, {o, o, m}});
}

// [RBDA] section 4.4, jcalc: the placement of a body in its parent, and its motion subspace in body
// coordinates, of body.nv columns. No joint's subspace depends on its position.
template <class T> Placement<T> jcalc(const Body& body, const Configuration<T>& x, Vector<T>* S) {
    const Placement<T> here = {Mat3<T>::identity(), zero_vector<T>()};
    Motion<T> columns[6];
    motion_subspace(body, here, columns);
    for (int k = 0; k < body.nv; ++k) S[k] = spatial(columns[k].ang, columns[k].lin);
    return joint_placement(body, constant_placement<T>(body), x);
}

// Sum of S[k] x[k] over the columns of a joint.
template <class T> Vector<T> times(const Vector<T>* S, const T* x, int nv) {
    Vector<T> sum = Vector<T>::zero();
    for (int k = 0; k < nv; ++k) sum += x[k] * S[k];
    return sum;
}

// The external wrench on a body, in body coordinates; zero if there is none.
template <class T> Vector<T> external_force(const Body& body, const T* f_ext) {
    if (!acts_on(f_ext, body)) return Vector<T>::zero();
    const Force<T> f = body_wrench(body, f_ext);
    return spatial(f.ang, f.lin);
}

// The acceleration of the world that stands for gravity: [RBDA] section 5.3.
template <class T> Vector<T> minus_gravity(const Tree& tree) {
    return spatial(zero_vector<T>(), -lift<T>(vec3(tree.gravity)));
}

}  // namespace dtau::DTAU_VARIANT::textbook
