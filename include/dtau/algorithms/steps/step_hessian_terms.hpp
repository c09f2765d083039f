// Computes the terms of the Hessian of a time step (step_hessian.hpp): the first derivatives S of
// the stages, stage_rows(), and the products S^T H S with the Hessians of the stages. Holds the
// workspace.
#pragma once

#include "dtau/algorithms/second/hessian.hpp"
#include "dtau/algorithms/steps/chart_curvature.hpp"
#include "dtau/algorithms/steps/discrete_linearization.hpp"
#include "dtau/algorithms/steps/row_products.hpp"

namespace dtau::DTAU_VARIANT {

// First derivatives of a stage, or of the displacement at the end, by z: (n, nz) each.
template <class T> struct StageRows {
    T *q, *v, *theta;
};

template <class T> struct StepHessianWorkspace {
    // Counts, and the places in z of the length (-1: not asked for) and of the first wrench.
    int n, inputs, length, wrenches, nwrenches, nz;
    StepWorkspace<T> step;
    VariationWorkspace<T> variation;
    T *q_next, *v_next;
    // Gradients of the independent velocities: as in StepVjpWorkspace.
    T *end_theta, *end_v, *theta, *v, *rate, *a, *by_q, *by_v, *by_tau;
    T *slope_rate, *slope_a, *slope;    // rate and a in units of h; what they add by z
    Blocks<T> stage;                    // of forward dynamics
    StageRows<T> rows[max_stages + 1];  // of stages 1, 2, ... and of the end, theta alone
    T* products;                        // (n, nz)
    T* torques;  // of a stage, by q and by what acts as torques, inputs and wrenches: (n, nz)
    T *minus_jacobians, *minus_turns;  // of a stage: -J^T, and D_q (-J mu)^T: (n, nwrenches)
    T* gradient;                       // by q, in a call by numbers
    WrenchAxesWorkspace<T> axes;

    StepHessianWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : n(tree.independent.n),
          inputs(options.driven.count),
          length(options.by_dt ? 2 * n + inputs : -1),
          wrenches(2 * n + inputs + options.by_dt),
          nwrenches(options.by_f_ext ? 6 * tree.nbodies : 0),
          nz(wrenches + nwrenches),
          step(arena, tree, options),
          variation(arena, tree, options),
          q_next(arena.take<T>(tree.nq)),
          v_next(arena.take<T>(tree.nv)),
          rows(),
          axes(arena, tree, options) {
        arena.take_each(tree.nv, end_theta, end_v, theta, v, rate, a, by_q, by_v, by_tau);
        arena.take_each(tree.nv, slope_rate, slope_a), slope = arena.take<T>(nz);
        const auto matrix = [&](int columns) {
            return arena.take<T>(static_cast<std::size_t>(n) * columns);
        };
        stage = {matrix(n), matrix(n), matrix(n), matrix(n), n};
        const int stages = stage_count(options.integrator);
        for (int i = 1; i < stages; ++i) rows[i] = {matrix(nz), matrix(nz), matrix(nz)};
        rows[max_stages] = {nullptr, nullptr, matrix(nz)};
        products = matrix(nz);
        torques = arena.take_zeros<T>(static_cast<std::size_t>(n) * nz);
        minus_jacobians = matrix(nwrenches), minus_turns = matrix(nwrenches);
        gradient = options.by_numbers ? arena.take<T>(tree.nv) : nullptr;
    }
    T* row(T* matrix, int k) const { return matrix + static_cast<std::ptrdiff_t>(k) * nz; }
};

// A workspace for several stages; null for one.
template <class Workspace>
Workspace* several_stages(Arena& arena, const Tree& tree, const Options& options) {
    return stage_count(options.integrator) == 1 ? nullptr : arena.make<Workspace>(tree, options);
}

// Turns a gradient by torques into a gradient by inputs; entries are `stride` apart.
template <class T>
inline T by_input(const InputMap<T>& inputs, int n, int c, const T* by_tau, int stride) {
    if (!inputs.map) return by_tau[inputs.driven.columns[c] * stride];
    T sum(0.0);
    for (int k = 0; k < n; ++k)
        sum = fma(inputs.map[k * inputs.driven.count + c], by_tau[k * stride], sum);
    return sum;
}

// ---------------------------------------------------------------- inputs and wrenches

// Writes D_q (-J mu)^T of all bodies, mu held constant: column k is Phi_k seen from the body. Axes of the
// world turn against the body by s~ (world_wrenches.hpp), which adds s~ x Lam. [Derivations] eq. 24.5
template <class T>
void minus_transposed_turns(const Tree& tree, const T* q, const RootFrame<T>& g,
                            const HessianWorkspace<T>& hessian, T* to,
                            const WrenchAxesWorkspace<T>& w) {
    minus_transposed(tree, q, g, to, w, [&](int k, int number, const Placement<T>& P) {
        const Motion<T> s = g.S[k], Phi = hessian.Phi[k];
        if (!w.in_world()) return Phi;
        const Motion<T> turn = {s.ang, w.axes == Axes::world ? s.lin : cross(P.r, s.ang)};
        return cross(turn, hessian.Lam[number], Phi);
    });
}

// Runs after the Hessian of a stage at q: computes w.torques. Wrenches act as the torques J^T f, so that
// D_f D_q = J D_tau D_q + D_q (J mu). [Derivations] eq. 24.5
template <class T>
void torque_columns(const Tree& tree, const T* q, const InputMap<T>& inputs, const RootFrame<T>& g,
                    const HessianWorkspace<T>& hessian, const StepHessianWorkspace<T>& w) {
    const int n = w.n, nf = w.nwrenches;
    for (int k = 0; k < n; ++k)
        for (int c = 0; c < w.inputs; ++c)
            w.row(w.torques, k)[2 * n + c] = by_input(inputs, n, c, w.stage.dadq + k, n);
    if (nf == 0) return;
    minus_transposed_jacobians(tree, q, g, w.minus_jacobians, w.axes);
    minus_transposed_turns(tree, q, g, hessian, w.minus_turns, w.axes);
    dense_product<true, true>(n, w.stage.dadq, nf, w.minus_jacobians, w.minus_turns);
    for (int k = 0; k < n; ++k)
        for (int c = 0; c < nf; ++c)
            w.row(w.torques, k)[w.wrenches + c] = -w.minus_turns[k * nf + c];
}

// Adds the gradients by inputs and wrenches of a stage, from that by tau, to a row of nz numbers.
template <class T>
void add_torque_gradient(const InputMap<T>& inputs, const T* by_tau, T* row,
                         const StepHessianWorkspace<T>& w) {
    T *const by_inputs = row + 2 * w.n, *const by_wrenches = row + w.wrenches;
    for (int c = 0; c < w.inputs; ++c)
        by_inputs[c] = by_inputs[c] + by_input(inputs, w.n, c, by_tau, 1);
    for (int k = 0; k < w.n; ++k)
        for (int c = 0; c < w.nwrenches; ++c)
            by_wrenches[c] =
                fma(-w.minus_jacobians[k * w.nwrenches + c], by_tau[k], by_wrenches[c]);
}

// ---------------------------------------------------------------- parts of H

// Writes or adds the Hessian of stage 0, whose state is the state before the step. Writes the lower
// triangle too: sums over blocks of rows read it.
template <bool adds, class T> void put_first_stage(T* H, const StepHessianWorkspace<T>& w) {
    const int n = w.n;
    const auto put = [](T& to, T x) __attribute__((always_inline)) { to = adds ? to + x : x; };
    for (int k = 0; k < n; ++k) {
        T *const q_row = w.row(H, k), *const v_row = w.row(H, n + k);
        for (int j = 0; j < n; ++j) {
            put(q_row[j], w.stage.dqdq[k * n + j]);
            put(q_row[n + j], w.stage.dqdv[k * n + j]);
            put(v_row[n + j], w.stage.dvdv[k * n + j]);
            if (!adds) v_row[j] = T(0.0);
        }
        for (int b = 2 * n; b < w.nz; ++b) {
            put(q_row[b], w.row(w.torques, k)[b]);
            put(v_row[b], T(0.0));
        }
    }
    for (int a = 2 * n; a < w.nz && !adds; ++a)
        for (int b = 0; b < w.nz; ++b) w.row(H, a)[b] = T(0.0);
}

// Adds S^T H S of a later stage.
template <class T>
void add_later_stage(const StageRows<T>& rows, T* H, const StepHessianWorkspace<T>& w) {
    const int n = w.n, nz = w.nz;
    T* const X = w.products;
    dense_product<false, false>(n, w.stage.dqdq, nz, rows.q, X);
    dense_product<false, true>(n, w.stage.dqdv, nz, rows.v, X);
    for (int k = 0; k < n; ++k)
        for (int b = 2 * n; b < nz; ++b) w.row(X, k)[b] = w.row(X, k)[b] + w.row(w.torques, k)[b];
    add_upper_product(n, nz, rows.q, X, H);
    add_upper_product(n, nz, w.torques, rows.q, H, 2 * n);
    dense_product<true, false>(n, w.stage.dqdv, nz, rows.q, X);
    dense_product<false, true>(n, w.stage.dvdv, nz, rows.v, X);
    add_upper_product(n, nz, rows.v, X, H);
}

// Adds x^T both x, for the rows x of a joint, and unit^T mixed x + its transpose. unit: other rows
// (nv, nz); null: the rows of xi, which begin at `first`.
template <class T>
void add_joint_curvature(int nv, int first, const JointCurvature<T>& curvature, const T* x,
                         const T* unit, T* H, const StepHessianWorkspace<T>& w) {
    const int nz = w.nz;
    T* const X = w.products;
    const auto multiply = [&](const T* matrix, bool transposes, const T* rows) {
        for (int k = 0; k < nv; ++k)
            for (int b = 0; b < nz; ++b) {
                T sum(0.0);
                for (int j = 0; j < nv; ++j)
                    sum = fma(transposes ? matrix[j * nv + k] : matrix[k * nv + j],
                              rows[j * nz + b], sum);
                X[k * nz + b] = sum;
            }
    };
    multiply(curvature.both, false, x);
    add_upper_product(nv, nz, x, X, H);
    multiply(curvature.mixed, false, unit ? unit : x);
    if (unit) {
        add_upper_product(nv, nz, x, X, H);
        multiply(curvature.mixed, true, x);
        add_upper_product(nv, nz, unit, X, H);
        return;
    }
    for (int k = 0; k < nv; ++k)
        for (int b = 0; b < nz; ++b) {
            T& to = b < first + k ? w.row(H, b)[first + k] : w.row(H, first + k)[b];
            to = to + (b == first + k ? T(2.0) : T(1.0)) * X[k * nz + b];
        }
}

// ---------------------------------------------------------------- first derivatives

// Runs after a step in which every stage was linearized with w's step and variation: computes the
// rows of the end and of all stages but the first. Uses H as scratch memory.
template <class T, class Stages>
void stage_rows(const Tree& tree, Integrator method, const InputMap<T>& inputs, T h, T* H,
                const Stages& stages, const StepHessianWorkspace<T>& w) {
    const DiscreteWorkspace<T>& discrete = stages.workspace();
    constexpr int most = DiscreteWorkspace<T>::most, width = Pack<T>::width;
    const ColumnGroups<T> groups(tree, inputs, discrete.minus_jacobians[0], discrete.by_length);
    for_blocks<T>(groups.end, most, [&](int begin, int, int packs) {
        const auto place = [&](int p, int& room) {
            const int c = begin + p * width;
            const auto in_group = [&](int first, int count, int place) {
                room = count - (c - first);
                return place + c - first;
            };
            if (c < groups.padded) return in_group(0, 2 * w.n, 0);
            if (c < groups.wrenches) return in_group(groups.padded, w.inputs, 2 * w.n);
            if (c < groups.length) return in_group(groups.wrenches, w.nwrenches, w.wrenches);
            return in_group(groups.length, 1, w.length);
        };
        const auto keep = [&](int first, int count, const Pack<T>* x, T* to) {
            for (int k = first; k < first + count; ++k)
                for (int p = 0; p < packs; ++p) {
                    int room;
                    T* const at = w.row(to, k) + place(p, room);
                    x[k * packs + p].store(at, room);
                }
        };
        const auto keep_theta = [&](T* to) {
            for_noncommuting_joints(tree, true, [&](int, const Body& body, int first) {
                keep(first, body.nv, discrete.theta, to);
            });
        };
        StepColumns<T> to[most];
        for (int p = 0; p < packs; ++p) {
            int room;
            T* const at = H + place(p, room);
            to[p] = {at, w.row(at, w.n), room, w.nz};
        }
        const BlockStart<T> start = {begin, packs, groups};
        linearize_block(tree, method, h, start, to, discrete, [&](int i, const BlockStart<T>& at) {
            if (i > 0) {
                keep(0, w.n, discrete.q, w.rows[i].q);
                keep(0, w.n, discrete.v, w.rows[i].v);
                keep_theta(w.rows[i].theta);
            }
            return stages.change(tree, i, at);
        });
        keep_theta(w.rows[max_stages].theta);
    });
}

}  // namespace dtau::DTAU_VARIANT
