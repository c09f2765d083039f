// Moves external wrenches to the moving root frame as functions of time, and adds the terms of
// wrenches along the world's axes, which do not turn with the bodies, to the rates of derivatives
// by q: turn_wrenches(), subtract_wrench(), add_wrench_partials(). O(N r^2) and O(N d r^2). These
// are the equations of first/world_wrenches.hpp as products of Taylor series. [Derivations] eqs.
// 17.2, 21.2.
//
// Coefficients of order k, for body i, in the moving root frame of root_frame_series.hpp:
//   R' = u^ R,  r' = u_lin + u_ang x r      axes and origin of the body
//   F = R f,  n = R m + r x F               its wrench (m; f), given along its own axes
#pragma once

#include "dtau/algorithms/first/world_wrenches.hpp"
#include "dtau/algorithms/time/root_frame_series.hpp"
#include "dtau/algorithms/time/world_wrenches.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct WrenchSeries {
    WorldWrenchWorkspace<T> world;
    int length;
    Mat3<T>* R;  // of one body, (length), as all but the next two
    Vec3<T>* r;
    Force<T>*F, *row, *column;
    Force<T>* own;        // (nnodes, length): wrenches along the axes of the bodies
    WrenchSums<T>* sums;  // (nnodes, length)

    WrenchSeries(Arena& arena, const Tree& tree, const Options& options)
        : world(arena, tree, options), length(options.order + 1) {
        arena.take_each(length, R, r, F, row, column);
        arena.take_each(tree.nnodes * world.length, own, sums);
    }
};

// Turns wrenches along the world's axes into the axes of the bodies: w.own. v: the stack of
// velocities; f_ext: (order + 1, nbodies, 6).
template <class T>
void turn_wrenches(const Tree& tree, int order, const T* q, const T* v, const T* f_ext,
                   const WrenchSeries<T>& w) {
    const WorldWrenchWorkspace<T>& world = w.world;
    if (!world.take(f_ext)) return;
    const Configuration<T> angles = configuration(tree, q, world.bodies.angles);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const std::ptrdiff_t at = world.at(i), parent = world.at(body.parent);
        const PoseSeries<T> pose = world.bodies.poses.of(i);
        for (int k = 0; k <= order; ++k) {
            move_body(tree, i, k, angles, k == 0 ? v : v + (k - 1) * tree.nv, world.bodies);
            world.x[at + k] = body.parent < 0 ? pose.d[k] : world.x[parent + k] + pose.d[k];
            const Vec3<T> zero = zero_vector<T>();
            w.sums[at + k] = {zero, zero, zero, zero_matrix<T>()};
        }
        if (body.link < 0) continue;
        for (int k = 0; k <= order; ++k) {
            const T factor(world.bodies.scale.inverse_factorial[k]);
            world.W[at + k] = own_wrench(body, f_ext + k * 6 * tree.nbodies, factor);
        }
        for (int k = 0; k <= order; ++k)
            world.about[at + k] = about_origin(world.axes, k, world.W + at, world.x + at);
        for (int k = 0; k <= order; ++k)
            w.own[at + k] = turned_back_sum(k, pose.R, world.about + at, zero_force<T>());
    }
}

// Subtracts the wrench on body i from its force f. P: placement of the body; u: its twists.
template <class T>
void subtract_wrench(const Tree& tree, int i, int order, const T* f_ext, const Placement<T>& P,
                     const Motion<T>* u, const TaylorScale& scale, Force<T>* f,
                     const WrenchSeries<T>& w) {
    const Body& body = tree.bodies[i];
    const bool in_world = w.world.take(f_ext);
    const std::ptrdiff_t at = w.world.at(i);
    const auto own = [&](int k) {
        if (in_world) return w.own[at + k];
        return T(scale.inverse_factorial[k]) * body_wrench(body, f_ext + k * 6 * tree.nbodies);
    };
    w.R[0] = P.R, w.r[0] = P.r;
    for (int k = 0; k < order; ++k) {  // [Derivations] eq. 21.2
        Mat3<T> R = zero_matrix<T>();
        Vec3<T> r = u[k].lin;
        for (int m = 0; m <= k; ++m) {
            const Vec3<T>& omega = u[m].ang;
            const Mat3<T>& E = w.R[k - m];
            R = {cross(omega, E.x, R.x), cross(omega, E.y, R.y), cross(omega, E.z, R.z)};
            r = cross(omega, w.r[k - m], r);
        }
        const T inverse(scale.inverse[k + 1]);
        w.R[k + 1] = inverse * R, w.r[k + 1] = inverse * r;
    }
    for (int k = 0; k <= order; ++k) {
        w.F[k] = zero_force<T>();
        for (int m = 0; m <= k; ++m) w.F[k] = mul_add(w.R[m], own(k - m), w.F[k]);
    }
    for (int k = 0; k <= order; ++k) {
        Vec3<T> moment = w.F[k].ang;
        Mat3<T> K = zero_matrix<T>();
        for (int m = 0; m <= k; ++m) {
            const Vec3<T>&F = w.F[k - m].lin, &r = w.r[m];
            moment = cross(r, F, moment);
            if (in_world) K = {fma(r.x, F, K.x), fma(r.y, F, K.y), fma(r.z, F, K.z)};
        }
        const Vec3<T>& F = w.F[k].lin;
        f[k] = f[k] - Force<T>{moment, F};
        if (!in_world) continue;
        if (w.world.axes == Axes::world)
            w.sums[at + k] = {moment, F, F, zero_matrix<T>()};
        else
            w.sums[at + k] = {w.F[k].ang, F, zero_vector<T>(), K};
    }
}

// Adds to dtau/dq (order + 1, nv, nv) the terms of wrenches along the world's axes, which do not
// turn with the bodies.
template <class T>
void add_wrench_partials(const Tree& tree, int order, const T* f_ext, const RootFrameSeries<T>& g,
                         T* dtau_dq, const WrenchSeries<T>& w) {
    if (!w.world.take(f_ext)) return;
    const int n = tree.nv;
    for (int k = 0; k <= order; ++k) {
        T* matrix = dtau_dq + std::ptrdiff_t(k) * n * n;
        for_shifts(tree, 0, [&](int r, int c) { matrix[r * n + c] = T(0.0); });
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        WrenchSums<T>* sums = w.sums + w.world.at(i);
        const int first = body.v, end = body.v + body.nv;
        const int stop = body.parent < 0 ? 0 : path_stop(tree, body);
        for (int c = first; c < end; ++c) {  // [Derivations] eq. 17.2
            for (int k = 0; k <= order; ++k) {
                Force<T> row = zero_force<T>(), column = row;
                for (int m = 0; m <= k; ++m) {
                    const TurningWrenches<T> G(sums[k - m]);
                    row += G.transposed_mul(g.column(c)[m]), column += G * g.column(c)[m];
                }
                w.row[k] = row, w.column[k] = column;
            }
            for (int k = 0; k <= order; ++k) {
                T* matrix = dtau_dq + std::ptrdiff_t(k) * n * n;
                const T factor(g.scale.factorial[k]);
                const auto sum = [&](const Force<T>* force, int j) {
                    T product(0.0);
                    for (int m = 0; m <= k; ++m)
                        product = dot(force[k - m], g.column(j)[m], product);
                    return factor * product;
                };
                for (int j = first; j < end; ++j) add_entry(matrix[c * n + j], sum(w.row, j));
                for (int j = tree.dofs.parent[first]; j >= stop; j = tree.dofs.parent[j]) {
                    add_entry(matrix[c * n + j], sum(w.row, j));
                    add_entry(matrix[j * n + c], sum(w.column, j));
                }
                if (stop == 0) continue;
                add_components(factor * w.row[k], matrix + c * n + stop - 6);
                add_components(factor * w.column[k], matrix + (stop - 6) * n + c, n);
            }
        }
        for (int k = 0; k <= order && body.parent >= 0; ++k)
            w.sums[w.world.at(body.parent) + k] += sums[k];
    }
}

}  // namespace dtau::DTAU_VARIANT
