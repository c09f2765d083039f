// Differentiates configurations  q (+) displacement: move_configuration(), pull_back_configuration().
#pragma once

#include "dtau/algorithms/steps/exponential.hpp"
#include "mujoco/smooth.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

// q (+) x  of a rotation by quaternions changes by  right dx + back dq.
struct Turn {
    Matrix right, back;

    explicit Turn(const Vector& x) {
        const AngleFunctions<double> f = angle_functions(x);
        const double t = dot(x, x);
        const Matrix turn = skew(x), square = turn * turn;
        const auto series = [&](double first_power, double second_power) {
            return fma(first_power, turn, fma(second_power, square, Matrix::identity()));
        };
        right = series(-f.b, f.c), back = series(f.c * t - 1.0, f.b);  // exp(-x)
    }
};

// Replaces derivatives (nv, columns) of a displacement: the first nv columns are by q.
inline void move_configuration(const mujoco::Constants& m, const double* displacement, double* by,
                               Index columns) {
    for (Index joint = 0; joint < m.nturning; ++joint) {
        const Index first = m.angles[joint];
        const Turn turn(vec3(displacement + first));
        double* rows = by + first * columns;
        for (Index j = 0; j < columns; ++j) {
            const Vector old = {rows[j], rows[columns + j], rows[2 * columns + j]};
            const Vector turned = turn.right * old;
            rows[j] = turned.x, rows[columns + j] = turned.y, rows[2 * columns + j] = turned.z;
        }
        const Vector added[3] = {turn.back.x, turn.back.y, turn.back.z};
        for (int j = 0; j < 3; ++j) {
            rows[first + j] += added[j].x;
            rows[columns + first + j] += added[j].y;
            rows[2 * columns + first + j] += added[j].z;
        }
    }
    for (Index i = 0; i < m.nplain; ++i) by[m.plain[i] * (columns + 1)] += 1.0;
}

// Of  q (+) displacement:  `by_displacement` (nv) is written.
inline void pull_back_configuration(const mujoco::Constants& m, const double* displacement,
                                    const double* weights, double* by, double* by_displacement) {
    for (Index joint = 0; joint < m.nturning; ++joint) {
        const Index first = m.angles[joint];
        const Turn turn(vec3(displacement + first));
        const Vector weight = vec3(weights + first);
        put(by_displacement + first, transposed_mul(turn.right, weight));
        put(by + first, vec3(by + first) + transposed_mul(turn.back, weight));
    }
    for (Index i = 0; i < m.nplain; ++i) {
        const Index place = m.plain[i];
        by_displacement[place] = weights[place], by[place] += weights[place];
    }
}

}  // namespace dtau::DTAU_VARIANT::mujoco_step
