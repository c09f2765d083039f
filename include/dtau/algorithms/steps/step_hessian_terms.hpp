// Computes the terms of the Hessian of a time step (step_hessian.hpp): the first derivatives S of
// the stages, stage_rows(), and the products S^T H S with the Hessians of the stages. Holds the
// workspace.
#pragma once

#include "dtau/algorithms/second/hessian.hpp"
#include "dtau/algorithms/steps/chart_curvature.hpp"
#include "dtau/algorithms/steps/discrete_linearization.hpp"

namespace dtau::DTAU_VARIANT {

// First derivatives of a stage, or of the displacement at the end, by z: (n, nz) each.
template <class T>
struct StageRows {
    T *q, *v, *theta;
};

template <class T>
struct StepHessianWorkspace {
    int n, inputs, nz;
    StepWorkspace<T> step;
    VariationWorkspace<T> variation;
    T *q_next, *v_next;
    // Gradients of the independent velocities: as in StepVjpWorkspace.
    T *end_theta, *end_v, *theta, *v, *rate, *a, *by_q, *by_v, *by_tau;
    Blocks<T> stage;                    // of forward dynamics
    StageRows<T> rows[max_stages + 1];  // of stages 1, 2, ... and of the end, theta alone
    T* products;                        // (n, nz)

    StepHessianWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : n(tree.independent.n),
          inputs(options.driven.count),
          nz(2 * n + inputs),
          step(arena, tree, options),
          variation(arena, tree, options),
          q_next(arena.take<T>(tree.nq)),
          v_next(arena.take<T>(tree.nv)),
          rows() {
        const auto vector = [&] { return arena.take<T>(tree.nv); };
        end_theta = vector(), end_v = vector(), theta = vector(), v = vector(), rate = vector();
        a = vector(), by_q = vector(), by_v = vector(), by_tau = vector();
        const auto matrix = [&](int columns) {
            return arena.take<T>(static_cast<std::size_t>(n) * columns);
        };
        stage = {matrix(n), matrix(n), matrix(n), matrix(n), n};
        const int stages = stage_count(options.integrator);
        for (int i = 1; i < stages; ++i) rows[i] = {matrix(nz), matrix(nz), matrix(nz)};
        rows[max_stages] = {nullptr, nullptr, matrix(nz)};
        products = matrix(nz);
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

// ---------------------------------------------------------------- sums of products

// Row r of `to` (+)= the sum of rows k of `from`, times by(r, k), from pack `begin` on; rows have
// nz numbers. Takes a few rows at once, so that it reads each number of `from` once for all of
// them.
template <bool adds, int rows, class T, class By>
inline void combine_rows(int r, int count, int nz, int begin, const T* from, T* to, const By& by) {
    constexpr int width = Pack<T>::width;
    in_parts<4>(whole_packs<T>(nz) / width - begin, [&]<int packs>(int first) {
        const auto at = [&](int p) { return (begin + first + p) * width; };
        const auto row = [&](int i) { return to + static_cast<std::ptrdiff_t>(r + i) * nz; };
        Pack<T> x[rows][packs];
        unrolled<rows>([&](int i) __attribute__((always_inline)) {
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                x[i][p] = adds ? Pack<T>::load(row(i) + at(p), nz - at(p)) : Pack<T>{T(0.0)};
            });
        });
        for (int k = 0; k < count; ++k) {
            const T* y = from + static_cast<std::ptrdiff_t>(k) * nz;
            T scale[rows];
            unrolled<rows>([&](int i) { scale[i] = by(r + i, k); });
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                const Pack<T> of = {in_register(Pack<T>::load(y + at(p), nz - at(p)).value)};
                unrolled<rows>([&](int i) { x[i][p] = fma(scale[i], of, x[i][p]); });
            });
        }
        unrolled<rows>([&](int i) __attribute__((always_inline)) {
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                x[i][p].store(row(i) + at(p), nz - at(p));
            });
        });
    });
}
// Calls visit<rows>(r) for all of `count` rows, four at once.
template <class Visit>
inline void by_fours(int count, const Visit& visit) {
    int r = 0;
    for (; r + 4 <= count; r += 4) visit.template operator()<4>(r);
    for (; r < count; ++r) visit.template operator()<1>(r);
}

// Adds A^T B for `count` rows of nz numbers to the upper triangle of H.
template <class T>
void add_upper_product(int count, int nz, const T* A, const T* B, T* H) {
    by_fours(nz, [&]<int rows>(int r) {
        combine_rows<true, rows>(r, count, nz, r / Pack<T>::width, B, H, [&](int a, int k) {
            return A[static_cast<std::ptrdiff_t>(k) * nz + a];
        });
    });
}

// result (+)= matrix rows, or its transpose, for matrices (n, n) and rows (n, nz).
template <bool transposed, bool adds, class T>
void dense_product(int n, const T* matrix, int nz, const T* rows, T* result) {
    by_fours(n, [&]<int count>(int r) {
        combine_rows<adds, count>(r, n, nz, 0, rows, result, [&](int k, int j) {
            return transposed ? matrix[j * n + k] : matrix[k * n + j];
        });
    });
}

// ---------------------------------------------------------------- parts of H

// Writes or adds the Hessian of stage 0, whose state is the state before the step. Writes the lower
// triangle too: sums over blocks of rows read it.
template <bool adds, class T>
void put_first_stage(const InputMap<T>& inputs, T* H, const StepHessianWorkspace<T>& w) {
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
        for (int c = 0; c < w.inputs; ++c) {
            put(q_row[2 * n + c], by_input(inputs, n, c, w.stage.dadq + k, n));
            put(v_row[2 * n + c], T(0.0));
        }
    }
    for (int c = 0; c < w.inputs && !adds; ++c)
        for (int d = 0; d < w.nz; ++d) w.row(H, 2 * n + c)[d] = T(0.0);
}

// Adds S^T H S of a later stage.
template <class T>
void add_later_stage(const InputMap<T>& inputs, const StageRows<T>& rows, T* H,
                     const StepHessianWorkspace<T>& w) {
    const int n = w.n, nz = w.nz;
    T* const X = w.products;
    dense_product<false, false>(n, w.stage.dqdq, nz, rows.q, X);
    dense_product<false, true>(n, w.stage.dqdv, nz, rows.v, X);
    for (int k = 0; k < n; ++k)
        for (int c = 0; c < w.inputs; ++c)
            w.row(X, k)[2 * n + c] =
                w.row(X, k)[2 * n + c] + by_input(inputs, n, c, w.stage.dadq + k, n);
    add_upper_product(n, nz, rows.q, X, H);
    dense_product<true, false>(n, w.stage.dqdv, nz, rows.q, X);
    dense_product<false, true>(n, w.stage.dvdv, nz, rows.v, X);
    add_upper_product(n, nz, rows.v, X, H);
    // Blocks with inputs: the terms by torques besides Q^T X.
    for (int d = 0; d < w.inputs; ++d) {
        for (int k = 0; k < n; ++k) {
            w.by_tau[k] = T(0.0);
            for (int j = 0; j < n; ++j)
                w.by_tau[k] =
                    fma(w.stage.dadq[k * n + j], w.row(rows.q, j)[2 * n + d], w.by_tau[k]);
        }
        for (int c = 0; c <= d; ++c) {
            T& to = w.row(H, 2 * n + c)[2 * n + d];
            to = to + by_input(inputs, n, c, w.by_tau, 1);
        }
    }
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
    const ColumnGroups<T> groups(tree, inputs, false, false);
    const int states = 2 * w.n, padded = groups.padded;
    for_blocks<T>(groups.end, most, [&](int begin, int, int packs) {
        const auto place = [&](int p, int& room) {
            const int c = begin + p * width, input = c - padded;
            room = c < padded ? states - c : w.inputs - input;
            return c < padded ? c : states + input;
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
