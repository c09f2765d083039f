// Computes the exact derivative of a time step (step.hpp) by state and inputs: z+ = A z + B u, with
// z = (xi, dv) at either end, xi the increment of q in body axes: linearize_discrete().
// [Derivations] §12.
//
//   for the stages i:   xi_i = Ad_i xi + J_i dtheta_i        dtheta_i = c_i h dr_{i-1}    (xi_0 = xi)
//                       dv_i = dv + c_i h da_{i-1}
//                       da_i = -M_i^-1 (dID/dq xi_i + dID/dv dv_i - dtau)
//                       dr_i = (dtheta'/dv) dv_i + (dtheta'/dtheta) dtheta_i
//   end:                dv+  = dv + h sum of b_i da_i        xi+ = Ad xi + J dtheta
//                       dtheta = h sum of b_i dr_i, or h dv+ for the semi-implicit step
//
// The textbook multiplies the Jacobians of the stages, (nv, nv) matrices of forward dynamics, O(N^2)
// a column. Here no inverse and no derivative of forward dynamics is formed: columns of the identity
// go through the stages in blocks, with the derivatives of inverse dynamics (ID) and the factors of M
// that each stage has kept. Every product skips the zeros of the tree: O(N d) a column. Accelerations
// come from the algorithm that `step` uses, so that z+ has the same bits as its result.
#pragma once

#include <type_traits>

#include "dtau/algorithms/first/world_wrenches.hpp"
#include "dtau/algorithms/solve/column_blocks.hpp"
#include "dtau/algorithms/solve/factorized.hpp"
#include "dtau/algorithms/steps/input_map.hpp"
#include "dtau/algorithms/steps/step.hpp"
#include "dtau/algorithms/values/aba.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct DiscreteWorkspace {
    static constexpr int most = LtdlWorkspace<T>::packs;  // packs in a block of columns
    StepWorkspace<T> step;
    VariationWorkspace<T> variation;
    FactorizedWorkspace<T> dynamics;
    AbaWorkspace<T> aba;
    // Of every stage: derivatives of inverse dynamics by q and v, arranged (column_blocks.hpp), and L.
    T *by_q[max_stages], *by_v[max_stages], *L[max_stages];
    T *dtau_dq, *dtau_dv;  // of the stage at hand
    JointMatrix<T> joint_dq, joint_dv;
    WrenchPartialsWorkspace<T> wrenches;
    // Variations in a block: of theta (joints that do not commute only), of q, of v and then theta', of
    // a; and the weighted sums of those of theta' and a.
    Pack<T>*theta, *q, *v, *a, *rate_sum, *a_sum;

    DiscreteWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : step(arena, tree, options),
          variation(arena, tree, options),
          dynamics(arena, tree, options),
          aba(arena, tree, options),
          dtau_dq(arena.take_zeros<T>(tree.independent.n * tree.independent.n)),
          dtau_dv(arena.take_zeros<T>(tree.independent.n * tree.independent.n)),
          joint_dq(arena, tree),
          joint_dv(arena, tree),
          wrenches(arena, tree, options) {
        const int n = tree.independent.n;
        for (int i = 0; i < max_stages; ++i) {
            by_q[i] = arena.take<T>(factor_size(tree.independent));
            by_v[i] = arena.take<T>(factor_size(tree.independent));
            L[i] = arena.take<T>(n * dynamics.ltdl.stride);
        }
        Pack<T>* columns = arena.take<Pack<T>>(6 * n * most);
        const auto next = [&] { return columns += n * most, columns - n * most; };
        theta = next(), q = next(), v = next(), a = next(), rate_sum = next(), a_sum = next();
    }
    // The workspace of the dynamics, with the factors of stage i.
    FactorizedWorkspace<T> at_stage(int i) const {
        FactorizedWorkspace<T> w = dynamics;
        w.ltdl.L = L[i];
        return w;
    }
};

// Keeps the derivatives of inverse dynamics at a stage, and copies its acceleration to a. Call it after
// idsva_velocities and the forward dynamics of the stage.
template <class T>
void stage_partials(const Tree& tree, int i, const T* body_f_ext, T* a,
                    const DiscreteWorkspace<T>& w) {
    T* const no_matrix = nullptr;
    const FactorizedWorkspace<T>& dynamics = w.dynamics;
    const int n = tree.independent.n;
    T *joint_dq = w.joint_dq.place(w.dtau_dq), *joint_dv = w.joint_dv.place(w.dtau_dv);
    const int stride = w.joint_dq.stride(n);
    idsva_accelerations(tree, dynamics.a, dynamics.idsva);
    idsva_backward(tree, {joint_dq, joint_dv, no_matrix, stride}, dynamics.idsva);
    add_stiffness(tree, dynamics.idsva.stretched, joint_dq, stride);
    add_world_wrench_partials(tree, body_f_ext, dynamics.idsva.root_frame, joint_dq, stride,
                              w.wrenches);
    reduce_matrix(tree, joint_dq, w.dtau_dq, n);
    reduce_matrix(tree, joint_dv, w.dtau_dv, n);
    arrange_factor(tree.independent, w.dtau_dq, w.by_q[i], dynamics.ltdl.path);
    arrange_factor(tree.independent, w.dtau_dv, w.by_v[i], dynamics.ltdl.path);
    for (int k = 0; k < tree.nv; ++k) a[k] = dynamics.a[k];
}

// Computes the acceleration at a stage, and keeps its derivatives and factors.
template <class T>
inline void linearize_stage(const Tree& tree, int i, const T* q, const T* v, const T* tau,
                            const T* f_ext, T* a, const DiscreteWorkspace<T>& w) {
    const FactorizedWorkspace<T> dynamics = w.at_stage(i);
    const T* body_f_ext = along_body_axes(tree, q, f_ext, w.wrenches.value);
    if (tree.mimic) {
        factorized_dynamics(tree, q, v, tau, body_f_ext, dynamics);
    } else {
        factorize_dynamics(tree, q, v, body_f_ext, dynamics);
        aba(tree, q, v, tau, body_f_ext, dynamics.a, w.aba);
    }
    stage_partials(tree, i, body_f_ext, a, w);
}

// ---------------------------------------------------------------- blocks of columns

// A block of columns from `begin` on. All columns: z = (xi, dv), padded to whole packs, then the inputs.
template <class T>
struct BlockStart {
    int begin, packs, padded;
    const InputMap<T>& inputs;
};

// Adds the columns of the identity for xi (first = 0) or dv (first = nv), in rows row ... row + count - 1.
template <class T>
inline void add_units(const BlockStart<T>& start, int first, int row, int count, Pack<T>* x) {
    constexpr int width = Pack<T>::width;
    const int packs = start.packs;
    for (int c = 0; c < packs * width; ++c) {
        const int k = start.begin + c - first - row, p = c / width;
        if (k >= 0 && k < count)
            x[k * packs + p] = fma(T(1.0), Pack<T>::unit(c % width), x[k * packs + p]);
    }
}
template <class T>
inline void add_torques(const BlockStart<T>& start, int n, Pack<T>* x) {
    constexpr int width = Pack<T>::width;
    const InputMap<T>& inputs = start.inputs;
    const int packs = start.packs, count = inputs.driven.count;
    for (int c = 0; c < packs * width; ++c) {
        const int column = start.begin + c - start.padded, p = c / width;
        if (column < 0 || column >= count) continue;
        const Pack<T> unit = Pack<T>::unit(c % width);
        if (!inputs.map) {
            Pack<T>& entry = x[inputs.driven.columns[column] * packs + p];
            entry = fma(T(1.0), unit, entry);
            continue;
        }
        const T* entry = inputs.map + column;
        for (int k = 0; k < n; ++k, entry += count)
            x[k * packs + p] = fma(*entry, unit, x[k * packs + p]);
    }
}

// Replaces the variation of theta in w.q by that of q (+) theta, for a stage or the whole step. The
// variation of theta of joints that do not commute is kept in w.theta.
template <class T>
void displace(const Tree& tree, const BlockStart<T>& start, int stage,
              const DiscreteWorkspace<T>& w) {
    const int packs = start.packs;
    for_noncommuting_joints(tree, true, [&](int, const Body& body, int first) {
        for (int k = first * packs; k < (first + body.nv) * packs; ++k) w.theta[k] = w.q[k];
    });
    add_units(start, 0, 0, tree.independent.n, w.q);
    for_noncommuting_joints(tree, true, [&](int j, const Body& body, int first) {
        const JointVariation<T>& by = w.variation.at(j, stage);
        Pack<T>*q = w.q + first * packs, xi[6 * DiscreteWorkspace<T>::most];
        for (int k = 0; k < body.nv * packs; ++k) q[k] = xi[k] = {T(0.0)};
        if (start.begin < first + body.nv && start.begin + packs * Pack<T>::width > first) {
            add_units(start, 0, first, body.nv, xi);
            joint_product(by.Ad, body.nv, packs, xi, q);  // [Derivations] eq. 12.6
        }
        joint_product(by.J, body.nv, packs, w.theta + first * packs, q);
    });
}

// Ranges of rows that may be nonzero at stages 0 and 1; joints that do not commute belong to a range
// as a whole.
inline Rows joined(const Rows& a, const Rows& b) {
    if (a.begin >= a.end) return b;
    if (b.begin >= b.end) return a;
    return {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}
inline Rows of_whole_joints(const Tree& tree, Rows rows) {
    for_noncommuting_joints(tree, true, [&](int, const Body& body, int first) {
        const Rows joint = {first, first + body.nv};
        if (rows.begin < joint.end && rows.end > joint.begin) rows = joined(rows, joint);
    });
    return rows;
}

// Takes a block of columns through all stages, and stores the columns of z+ (rows xi, then dv).
// change(i, start): what acts between the triangular solves of stage i, while w.q and w.v are its
// variations.
template <class T, class Change>
void linearize_block(const Tree& tree, Integrator method, T h, const BlockStart<T>& start,
                     const Columns<T>* to, const DiscreteWorkspace<T>& w, const Change& change) {
    const Paths& dofs = tree.independent;
    const int packs = start.packs, n = dofs.n, size = n * packs;
    const int end = start.begin + packs * Pack<T>::width;
    const auto within = [&](int first) -> Rows {
        const int begin = start.begin - first, stop = end - first;
        return {begin > 0 ? begin : 0, stop < n ? stop : n};
    };
    const Rows xi = within(0), dv = within(n), all = {0, n};
    LtdlWorkspace<T> factors = w.dynamics.ltdl;
    for (int k = 0; k < n; ++k) factors.rows[k] = k;
    for (int k = 0; k < size; ++k) w.q[k] = w.v[k] = {T(0.0)};
    add_units(start, 0, 0, n, w.q);

    const int stages = stage_count(method);
    for (int i = 0; i < stages; ++i) {
        if (i > 0) displace(tree, start, i, w);
        add_units(start, n, 0, n, w.v);
        factors.L = w.L[i];
        const Rows q_rows = i > 1 ? all : i == 1 ? of_whole_joints(tree, joined(xi, dv)) : xi;
        const Factor<T> by_q = {w.by_q[i], w.q, q_rows};
        const Factor<T> by_v = {w.by_v[i], w.v, i > 0 ? all : dv};
        // [Derivations] eq. 12.8
        negative_products(dofs, packs, by_q, by_v, w.a, factors.path);
        add_torques(start, n, w.a);
        solve_block_in_place(dofs, packs, w.a, factors, change(i, start));
        if (i > 0)
            for_noncommuting_joints(tree, true, [&](int j, const Body& body, int first) {
                const JointVariation<T>& by = w.variation.at(j, i);
                Pack<T>*rate = w.v + first * packs, v[6 * DiscreteWorkspace<T>::most];
                for (int k = 0; k < body.nv * packs; ++k) v[k] = rate[k], rate[k] = {T(0.0)};
                joint_product(by.by_v, body.nv, packs, v, rate);  // [Derivations] eq. 12.7
                joint_product(by.by_theta, body.nv, packs, w.theta + first * packs, rate);
            });
        // Adds up the stage, and begins the next one in the same loop.
        const T weight = T(stage_weight(method, i)) * h;
        const T ahead = i + 1 < stages ? T(stage_ahead(i + 1)) * h : T(0.0);
        const auto add_up = [&](auto first) __attribute__((always_inline)) {
            for (int k = 0; k < size; ++k) {
                const Pack<T> rate = w.v[k], a = w.a[k], none = {T(0.0)};
                w.a_sum[k] = fma(weight, a, first ? none : w.a_sum[k]);
                w.rate_sum[k] = fma(weight, rate, first ? none : w.rate_sum[k]);
                w.q[k] = ahead * rate;
                w.v[k] = ahead * a;
            }
        };
        if (i == 0)
            add_up(std::true_type());
        else
            add_up(std::false_type());
    }
    add_units(start, n, 0, n, w.a_sum);
    const bool implicit = method == Integrator::semi_implicit;
    for (int k = 0; k < size; ++k) w.q[k] = implicit ? h * w.a_sum[k] : w.rate_sum[k];
    displace(tree, start, max_stages, w);
    // A zero that comes from underflow becomes +0: its sign would depend on the block.
    const Pack<T> zero = {T(0.0)};
    for (int k = 0; k < n; ++k)
        for (int p = 0; p < packs; ++p) {
            T* at = to[p].at + static_cast<std::ptrdiff_t>(k) * to[p].stride;
            const std::ptrdiff_t half = static_cast<std::ptrdiff_t>(n) * to[p].stride;
            fma(T(1.0), w.q[k * packs + p], zero).store(at, to[p].room);
            fma(T(1.0), w.a_sum[k * packs + p], zero).store(at + half, to[p].room);
        }
}

// Computes A (2 nv, 2 nv) and B (2 nv, count) of the independent velocities, after a step in which every
// stage called linearize_stage.
template <class T, class Change>
void linearize_blocks(const Tree& tree, Integrator method, const InputMap<T>& inputs, T h, T* A,
                      T* B, const DiscreteWorkspace<T>& w, const Change& change) {
    step_variation(tree, method, w.step, w.variation);
    constexpr int most = DiscreteWorkspace<T>::most, width = Pack<T>::width;
    const int states = 2 * tree.independent.n, padded = whole_packs<T>(states);
    const int count = inputs.driven.count;
    for_blocks<T>(padded + count, most, [&](int begin, int, int packs) {
        Columns<T> to[most];
        for (int p = 0; p < packs; ++p) {
            const int c = begin + p * width, input = c - padded;
            to[p] = c < padded ? Columns<T>{A + c, states - c, states}
                               : Columns<T>{B + input, count - input, count};
        }
        const BlockStart<T> start = {begin, packs, padded, inputs};
        linearize_block(tree, method, h, start, to, w, change);
    });
}

// q, v, q_next, v_next: of the joints; tau, A and B: of the independent velocities.
template <class T>
void linearize_discrete(const Tree& tree, Integrator method, const InputMap<T>& inputs, const T* q,
                        const T* v, const T* tau, T h, const T* f_ext, T* A, T* B, T* q_next,
                        T* v_next, const DiscreteWorkspace<T>& w) {
    step(tree, q, v, h, method, q_next, v_next, w.step, [&](int i, const T* qi, const T* vi, T* a) {
        linearize_stage(tree, i, qi, vi, tau, f_ext, a, w);
    });
    linearize_blocks(tree, method, inputs, h, A, B, w,
                     [](int, const BlockStart<T>&) { return NoChange(); });
}

}  // namespace dtau::DTAU_VARIANT
