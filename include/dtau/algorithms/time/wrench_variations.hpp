// Turns external wrenches along the world's axes into body axes, as functions of time:
// turn_wrenches(), with their variations and gradients: vary_wrenches(), turn_gradients(),
// add_turn_gradients(). Works one order at a time, O(N r^2). These are the equations of
// first/world_wrenches.hpp as products of Taylor series. [Derivations] eq. 22.10.
//
// With R and x of poses.hpp and the wrench (f; n) on body i,
//
//   W    = R^T (f; n - x x f)           mixed: without x x f
//   x_i  = Ad x_p + eta                 the twist with which the displacement moves body i
//   dW   = R^T (df; dn - x x df) - x_i~ x* W      mixed: x_i~ turns about the body's origin alone
//
// For gradients b by W, with reversed coefficients (gradients.hpp), the gradient by eta is the sum
// of b x* W over the subtree; mixed: only its moment.
#pragma once

#include "dtau/algorithms/first/world_wrenches.hpp"
#include "dtau/algorithms/time/body_variations.hpp"
#include "dtau/algorithms/time/world_wrenches.hpp"
#include "dtau/algorithms/values/wrench_axes.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct WrenchSeriesWorkspace {
    Axes axes;
    int length;  // 0: wrenches are along body axes, and this workspace is not used
    MovingBodies<T> bodies;
    Vec3<T>* x;             // (nnodes, length), as the others but by_eta
    Force<T>*given, *W;     // about the body's origin along world axes; along body axes
    Motion<T>*eta, *delta;  // of the joint
    Motion<T>*twist, *b;    // of gradients twist is b along world axes
    TwoVectors<T>* seen;    // R0^T x_p; of gradients the sums of b x* W, force and moment
    Force<T>* by_eta;
    Vec3<T>* y;
    T *f_ext, *df_ext;  // (length, nbodies, 6), along body axes

    WrenchSeriesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : axes(options.wrench_axes),
          length(axes == Axes::body ? 0 : options.order + 2),
          bodies(arena, tree, length),
          by_eta(arena.take<Force<T>>(length)) {
        arena.take_each(tree.nnodes * length, x, given, W, eta, delta, twist, b, seen, y);
        arena.take_each(length * 6 * tree.nbodies, f_ext, df_ext);
    }

    std::ptrdiff_t at(int i) const { return std::ptrdiff_t(i) * length; }
    bool take(const T* wrenches) const { return wrenches && length > 0; }
};

// Writes a wrench of body axes for its user.
template <class T> inline void write_turned(const Body& body, T factor, const Force<T>& W, T* to) {
    const Mat3<T> frame = lift<T>(mat3(body.frame));
    write_wrench({factor * (frame * W.ang), factor * (frame * W.lin)}, to + 6 * body.link);
}

// Order k of the wrench on body i about its origin, along world axes, after lower ones. f_ext
// (nbodies, 6) may be null.
template <class T>
inline void set_about_origin(const Body& body, int i, int k, const T* f_ext,
                             const WrenchSeriesWorkspace<T>& w) {
    Force<T>* given = w.given + w.at(i);
    const T factor(w.bodies.scale.inverse_factorial[k]);
    given[k] = acts_on(f_ext, body) ? own_wrench(body, f_ext, factor) : zero_force<T>();
    given[k] = about_origin(w.axes, k, given, w.x + w.at(i));
}

// The wrenches of orders up to `order` along body axes. rates(k): v^(k).
template <class T, class Rates>
void turn_wrenches(const Tree& tree, int order, const T* q, const Rates& rates, const T* f_ext,
                   const WrenchSeriesWorkspace<T>& w) {
    const Configuration<T> angles = configuration(tree, q, w.bodies.angles);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const PoseSeries<T> pose = w.bodies.poses.of(i);
        Vec3<T>* x = w.x + w.at(i);
        for (int k = 0; k <= order; ++k) {
            move_body(tree, i, k, angles, k == 0 ? rates(0) : rates(k - 1), w.bodies);
            x[k] = body.parent < 0 ? pose.d[k] : w.x[w.at(body.parent) + k] + pose.d[k];
        }
        set_joint_twist<false>(body, order, rates(order), w.bodies.scale, w.bodies.joints.of(i));
        for (int k = 0; k <= order; ++k) {
            set_about_origin(body, i, k, f_ext ? f_ext + k * 6 * tree.nbodies : f_ext, w);
            Force<T>& W = w.W[w.at(i) + k];
            W = turned_back_sum(k, pose.R, w.given + w.at(i), zero_force<T>());
            if (body.link >= 0)
                write_turned(body, T(w.bodies.scale.factorial[k]), W,
                             w.f_ext + k * 6 * tree.nbodies);
        }
    }
}

// The twist that moves the wrenches: for mixed ones only the turn about the body's origin.
template <class T> inline Motion<T> kept_turn(Axes axes, Motion<T> twist) {
    if (axes == Axes::mixed) twist.lin = zero_vector<T>();
    return twist;
}

// The variation of order k, after lower ones. dq for k = 0, dv: the variation of v^(k - 1) for others;
// df_ext (nbodies, 6), of order k, may be null: zero. f_ext null: only this.
template <class T>
void vary_wrenches(const Tree& tree, int k, const T* dq, const T* dv, const T* f_ext,
                   const T* df_ext, const WrenchSeriesWorkspace<T>& w) {
    const TaylorScale& scale = w.bodies.scale;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const std::ptrdiff_t at = w.at(i);
        const JointSeries<T> s = w.bodies.joints.of(i);
        if (k == 0) {
            scaled_twist<false>(body, T(1.0), dq, w.eta[at]);
        } else {
            scaled_twist<false>(body, T(scale.inverse_factorial[k - 1]), dv, w.delta[at + k - 1]);
            extend_displacement<false>(body, k - 1, scale, s, w.delta + at, w.eta + at);
        }
        Motion<T>* twist = w.twist + at;
        twist[k] = w.eta[at + k];
        if (body.parent >= 0) {
            const Motion<T>* p = w.twist + w.at(body.parent);
            Vec3<T> lin = p[k].lin;
            if (!traits(body.kind).slides)
                lin = cross(p[k].ang, lift<T>(vec3(body.translation)), lin);
            for (int m = 0; m <= k && traits(body.kind).slides; ++m)
                lin = cross(p[k - m].ang, offset(body, m, s), lin);
            w.seen[at + k].set(into_joint<false>(body, p[k].ang), into_joint<false>(body, lin));
            const TwoVectors<T> carried =
                rotated<false>(traits(body.kind).rotation, s, k, w.seen + at);
            twist[k] = twist[k] + Motion<T>{carried.a(), carried.b()};
        }
        set_about_origin(body, i, k, df_ext, w);
        Force<T> dW = turned_back_sum(k, w.bodies.poses.of(i).R, w.given + at, zero_force<T>());
        for (int m = 0; m <= k && f_ext; ++m)
            dW = dW - cross_star(kept_turn(w.axes, twist[m]), w.W[at + k - m]);
        if (body.link >= 0)
            write_turned(body, T(scale.factorial[k]), dW, w.df_ext + k * 6 * tree.nbodies);
    }
}

// Coefficient l of the gradient, after lower ones. by_f_ext (nbodies, 6), of order order - l: on
// entry by the wrenches along body axes, on return by the wrenches as given.
template <class T>
void turn_gradients(const Tree& tree, int order, int l, T* by_f_ext,
                    const WrenchSeriesWorkspace<T>& w) {
    const TaylorScale& scale = w.bodies.scale;
    const T factor(scale.factorial[order - l]), inverse(scale.inverse_factorial[order - l]);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        Motion<T>*b = w.b + w.at(i), *along = w.twist + w.at(i);
        b[l] = along[l] = zero_motion<T>();
        Force<T> turning = zero_force<T>();
        if (body.link >= 0) {
            T* to = by_f_ext + 6 * body.link;
            const Force<T> given = read_wrench(to);
            const Mat3<double> frame = mat3(body.frame);
            b[l] = {factor * transposed_mul(frame, given.ang),
                    factor * transposed_mul(frame, given.lin)};
            const Mat3<T>* R = w.bodies.poses.of(i).R;
            for (int m = 0; m <= l; ++m) turning = cross_star(b[l - m], w.W[w.at(i) + m], turning);
            along[l] = turned_sum(l, R, b, along[l]);
            Vec3<T> lin = along[l].lin;
            for (int m = 0; m <= l && w.axes == Axes::world; ++m)
                lin = cross(w.x[w.at(i) + m], along[l - m].ang, lin);
            write_wrench({inverse * along[l].ang, inverse * lin}, to);
        }
        if (w.axes == Axes::mixed) turning.lin = zero_vector<T>();
        w.seen[w.at(i) + l].set(turning.lin, turning.ang);
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        if (body.parent < 0) continue;
        pass_order<false>(body, l, w.bodies.joints.of(i), w.seen + w.at(i),
                          w.seen + w.at(body.parent), w.y + w.at(i));
    }
}

// Adds the gradients of all coefficients to by_q (nv) and by_v (order + 2, nv). [Derivations] eq.
// 22.6
template <class T>
void add_turn_gradients(const Tree& tree, int order, T* by_q, T* by_v,
                        const WrenchSeriesWorkspace<T>& w) {
    const TaylorScale& scale = w.bodies.scale;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const TwoVectors<T>* turning = w.seen + w.at(i);
        T torque[6];
        w.by_eta[0] = zero_force<T>();
        for (int l = 1; l <= order + 1; ++l) {
            const int k = order + 1 - l;
            Force<T> sum = {turning[l - 1].b(), turning[l - 1].a()};
            for (int m = 0; m < l && !traits(body.kind).commutes; ++m)
                sum = cross_star(joint_velocity(body, w.bodies.joints.of(i), m),
                                 w.by_eta[l - 1 - m], sum);
            w.by_eta[l] = T(scale.inverse[k]) * sum;
            joint_torque(body, w.by_eta[l - 1], torque);
            for (int c = 0; c < body.nv; ++c)
                add_entry(by_v[k * tree.nv + body.v + c],
                          T(scale.inverse_factorial[k]) * torque[c]);
        }
        joint_torque(body, w.by_eta[order + 1], torque);
        for (int c = 0; c < body.nv; ++c) add_entry(by_q[body.v + c], torque[c]);
    }
}

}  // namespace dtau::DTAU_VARIANT
