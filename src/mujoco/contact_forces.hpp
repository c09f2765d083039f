// Computes the force of a contact and its Hessian from MuJoCo's friction cone: cone_force().
//
// The rows of a contact are combinations of six residuals y along its frame: of the normal, the two
// tangents and the rotations about them. The force is  g = -D s'(y),  and the Hessian  H = D s''(y).
#pragma once

#include <cmath>

#include "dtau/lane.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

struct ConeForce {
    int rows;  // residuals that the cost depends on
    double force[6], hessian[6][6];
};

// Adds the edges  y_0 +- mu_k y_k  that are negative.
inline void add_pyramid(ConeForce& out, double weight, const double* y, const double* friction) {
    for (int k = 1; k < out.rows; ++k) {
        const double mu = friction[k - 1], along = mu * y[k];
        const double one = y[0] + along < 0.0 ? weight : 0.0;
        const double other = y[0] - along < 0.0 ? weight : 0.0;
        const double both = one + other, odd = mu * (one - other);
        out.force[0] -= both * y[0] + (one - other) * along;
        out.force[k] -= odd * y[0] + mu * both * along;
        out.hessian[0][0] += both;
        out.hessian[0][k] += odd;
        out.hessian[k][0] += odd;
        out.hessian[k][k] += mu * mu * both;
    }
}

// Adds the squared distance to the cone, in the scaled variables  u = (mu y_0, friction y).
inline void add_ellipse(ConeForce& out, double weight, double mu, const double* y,
                        const double* friction) {
    double scale[6] = {}, u[6] = {}, squares = 0.0;
    for (int k = 0; k < out.rows; ++k) {
        scale[k] = k ? friction[k - 1] : mu;
        u[k] = scale[k] * y[k];
        if (k) squares += u[k] * u[k];
    }
    const double normal = u[0], tangent = std::sqrt(squares);
    if (normal >= mu * tangent) return;
    if (mu * normal + tangent <= 0.0 || tangent <= 0.0) {  // it sticks
        for (int k = 0; k < out.rows; ++k) {
            const double factor = weight / (mu * mu) * (scale[k] * scale[k]);
            out.force[k] -= factor * y[k];
            out.hessian[k][k] += factor;
        }
        return;
    }
    // s = (normal - mu tangent)^2 / 2
    const double factor = weight / (mu * mu * (1.0 + mu * mu)), gap = normal - mu * tangent;
    const double bend = -mu * gap / tangent;
    for (int k = 0; k < out.rows; ++k) {
        const double unit = u[k] / tangent, slope = k ? -mu * unit : 1.0;
        out.force[k] -= factor * gap * slope * scale[k];
        for (int l = 0; l < out.rows; ++l) {
            double curved = slope * (l ? -mu * (u[l] / tangent) : 1.0);
            if (k && l) curved -= bend * (unit * (u[l] / tangent));
            if (k && k == l) curved += bend;
            out.hessian[k][l] += factor * curved * scale[k] * scale[l];
        }
    }
}

inline ConeForce cone_force(int dim, bool elliptic, double weight, double mu,
                            const double* friction, const double* y) {
    ConeForce out = {dim, {}, {}};
    if (dim == 1) {
        if (y[0] < 0.0) out.force[0] = -weight * y[0], out.hessian[0][0] = weight;
    } else if (elliptic) {
        add_ellipse(out, weight, mu, y, friction);
    } else {
        add_pyramid(out, weight, y, friction);
    }
    return out;
}

// Derivatives of the force by sliding, torsional and rolling friction at constant y.
struct FrictionDerivatives {
    double by[3][6];

    double* of_row(int k) { return by[k < 3 ? 0 : k < 4 ? 1 : 2]; }
};

// D is proportional to  1 / (mu^2 (1 + mu_1^2)),  with mu proportional to mu_1.
inline void add_pyramid_by_friction(FrictionDerivatives& out, const ConeForce& cone, double weight,
                                    const double* y, const double* friction) {
    for (int k = 1; k < cone.rows; ++k) {
        const double mu = friction[k - 1], along = mu * y[k];
        const double one = y[0] + along < 0.0 ? weight : 0.0;
        const double other = y[0] - along < 0.0 ? weight : 0.0;
        double* by = out.of_row(k);
        by[0] -= (one - other) * y[k];
        by[k] -= (one - other) * y[0] + 2.0 * (one + other) * along;
    }
    const double mu = friction[0], by_weight = -2.0 / mu - 2.0 * mu / (1.0 + mu * mu);
    for (int k = 0; k < cone.rows; ++k) out.by[0][k] += by_weight * cone.force[k];
}

// With T = |friction y|, a cone that slides has  s = (y_0 - T)^2 / (2 (1 + mu^2)).
inline void add_ellipse_by_friction(FrictionDerivatives& out, const ConeForce& cone, double weight,
                                    double mu, const double* y, const double* friction) {
    double squares = 0.0;
    for (int k = 1; k < cone.rows; ++k) {
        const double u = friction[k - 1] * y[k];
        squares += u * u;
    }
    const double tangent = std::sqrt(squares);
    if (mu * mu * y[0] + tangent <= 0.0 || tangent <= 0.0) {  // it sticks
        for (int k = 1; k < cone.rows; ++k) {
            out.of_row(k)[k] += 2.0 / friction[k - 1] * cone.force[k];
            out.by[0][k] -= 2.0 / friction[0] * cone.force[k];
        }
        return;
    }
    const double factor = weight / (1.0 + mu * mu), gap = y[0] - tangent;
    for (int k = 1; k < cone.rows; ++k) {
        const double twice = friction[k - 1] * y[k] / tangent, longer = twice * y[k];
        double* by = out.of_row(k);
        by[0] += factor * longer;
        by[k] += 2.0 * factor * gap * twice;
        for (int l = 1; l < cone.rows; ++l) {
            const double along = friction[l - 1] * friction[l - 1] * y[l] / tangent;
            by[l] -= factor * longer * along * (1.0 + gap / tangent);
        }
    }
    const double by_weight = -2.0 * mu / (1.0 + mu * mu) * (mu / friction[0]);
    for (int k = 0; k < cone.rows; ++k) out.by[0][k] += by_weight * cone.force[k];
}

// Of a contact with a force.
inline FrictionDerivatives friction_derivatives(const ConeForce& cone, bool elliptic, double weight,
                                                double mu, const double* friction,
                                                const double* y) {
    FrictionDerivatives out = {};
    if (cone.rows > 1 && elliptic) add_ellipse_by_friction(out, cone, weight, mu, y, friction);
    if (cone.rows > 1 && !elliptic) add_pyramid_by_friction(out, cone, weight, y, friction);
    return out;
}

inline bool is_active(const ConeForce& cone) {
    for (int k = 0; k < cone.rows; ++k)
        if (cone.hessian[k][k] != 0.0) return true;
    return false;
}

}  // namespace dtau::DTAU_VARIANT::mujoco_step
