// Differentiates the forces of MuJoCo's fluid on bodies: add_fluid_forces().
//
// A part is a body, as a box of its inertia, or a geom, as an ellipsoid. The wrench in the frame of a
// part is a function of its local velocity relative to the wind. The motion of the frame and of the
// velocity with a degree of freedom j is, for the twist V of the body about the world's origin,
//
//   dW/dq_j = S_j x* W + X* D (-own_j)    dW/dv_j = X* D X S_j    D: the local derivative
//
// since dV/dq_j = S_j x V - own_j. Wind adds R^T (w_j x wind) to the derivative of the local velocity.
#pragma once

#include "mujoco/body_forces.hpp"
#include "mujoco/dual.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

inline void add_cross(double factor, const Dual* x, const Dual* y, Dual* out) {
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = out[i] + factor * (x[j] * y[k] - x[k] * y[j]);
    }
}

// The wrench on an ellipsoid at the velocity v, both [angular, linear].
inline void ellipsoid_force(const mujoco::FluidPart& part, const Dual* v, Dual* out) {
    constexpr double pi = 3.14159265358979323846;
    const double* size = part.size;
    const Dual *ang = v, *lin = v + 3;
    Dual squares = {}, projected = {}, across = {}, turning = {}, normal[3];
    Dual momentum[3], angular_momentum[3];
    for (int i = 0; i < 3; ++i) {
        const double area = size[(i + 1) % 3] * size[(i + 2) % 3];
        const Dual square = lin[i] * lin[i], drag = part.quadratic[i] * ang[i];
        squares = squares + square;
        projected = projected + area * area * square;
        across = across + area * area * area * area * square;
        turning = turning + drag * drag;
        normal[i] = area * area * lin[i];
        momentum[i] = part.mass[i] * lin[i];
        angular_momentum[i] = part.inertia[i] * ang[i];
    }
    const Dual speed = square_root(squares);
    const Dual shadow = pi * square_root(across / at_least(smallest, projected));
    const Dual cosine = projected / at_least(smallest, speed * across);
    const Dual lift = part.kutta * (cosine * shadow);
    Dual circulation[3] = {};
    add_cross(1.0, normal, lin, circulation);
    for (Dual& x : circulation) x = lift * x;
    const Dual drag = part.viscous[1] + speed * (part.largest + part.shadow * shadow);
    const Dual turning_drag = part.viscous[0] + square_root(turning);
    for (int i = 0; i < 3; ++i) {
        out[i] = -1.0 * turning_drag * ang[i];
        out[3 + i] = -1.0 * drag * lin[i];
    }
    add_cross(1.0, momentum, lin, out);
    add_cross(1.0, angular_momentum, ang, out);
    add_cross(1.0, momentum, ang, out + 3);
    add_cross(part.magnus, ang, lin, out + 3);
    add_cross(1.0, circulation, lin, out + 3);
}

// The wrench on a box of the body's inertia.
inline void box_force(const mujoco::FluidPart& part, const Dual* v, Dual* out) {
    for (int i = 0; i < 6; ++i)
        out[i] = -1.0 * (part.viscous[i / 3] + part.quadratic[i] * absolute(v[i])) * v[i];
}

inline void add_fluid_forces(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                             const Axes& axes, const Terms& terms) {
    const auto always = [](Index) { return true; };
    const Vector wind = vec3(m.wind);
    for (Index x = 0; x < m.nfluid; ++x) {
        const mujoco::FluidPart& part = m.fluid[x];
        const Index body = m.fluid_bodies[x];
        const BodyFrame frame(m, at, k, body, part.offset, part.rotation);
        const Twist total = axes.sum(m.paths, body, at.v + k * m.nv);
        const auto local = [&](const Twist& twist, const Vector& against) -> Twist {
            const Vector lin = cross(twist.ang, frame.origin, twist.lin) - against;
            return {transposed_mul(frame.R, twist.ang), transposed_mul(frame.R, lin)};
        };
        const auto in_world = [&](const double* w) { return frame.in_world(vec3(w + 3), vec3(w)); };

        const Twist velocity = local(total, wind);
        const double speeds[6] = {velocity.ang.x, velocity.ang.y, velocity.ang.z,
                                  velocity.lin.x, velocity.lin.y, velocity.lin.z};
        Dual v[6] = {}, force[6];
        for (int i = 0; i < 6; ++i) v[i].value = speeds[i], v[i].by[i] = 1.0;
        (part.is_ellipsoid != 0.0 ? ellipsoid_force : box_force)(part, v, force);
        double values[6];
        for (int i = 0; i < 6; ++i) values[i] = force[i].value;
        const Wrench wrench = in_world(values);
        const auto changed = [&](const Twist& by) {
            double change[6];
            for (int i = 0; i < 6; ++i)
                change[i] = dot(vec3(force[i].by), by.ang, dot(vec3(force[i].by + 3), by.lin));
            return in_world(change);
        };
        add_changes(m, axes, body, always, terms.by_v,
                    [&](Index j) { return changed(local(axes.S[j], {})); });
        add_changes(m, axes, body, always, terms.by_q, [&](Index j) {
            const Twist& S = axes.S[j];
            const Twist by =
                local(minus(zero_motion<double>(), axes.own[1][j]), cross(wind, S.ang));
            return cross_star(S, wrench, changed(by));
        });
        add_wrench(m, body, wrench, always, terms);
    }
}

}  // namespace dtau::DTAU_VARIANT::mujoco_step
