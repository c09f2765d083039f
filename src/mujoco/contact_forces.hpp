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

inline bool is_active(const ConeForce& cone) {
    for (int k = 0; k < cone.rows; ++k)
        if (cone.hessian[k][k] != 0.0) return true;
    return false;
}

}  // namespace dtau::DTAU_VARIANT::mujoco_step
