// Computes the exact derivative of a time step (step.hpp) by state and inputs: z+ = A z + B u, with
// z = (xi, dv) at either end, xi the increment of q in body axes: linearize_discrete().
// [Derivations] §12.
//
//   for the stages i:   xi_i = Ad_i xi + J_i dtheta_i        dtheta_i = c_i h dr_{i-1}    (xi_0 = xi)
//                       dv_i = dv + c_i h da_{i-1}
//                       da_i = -M_i^-1 (dID/dq xi_i + dID/dv dv_i - dtau)
//                       dr_i = (dtheta'/dv) dv_i + (dtheta'/dtheta) dtheta_i
//   end:                dv+  = dv + h sum of b_i da_i        xi+ = Ad xi + J dtheta
//                       dtheta = h sum of b_i dr_i, or h dv+ for steps by v+
//
// If they are asked for, further columns have the derivatives by external wrenches, whose torques are
// J_i^T f, and by h: products with h then vary by a_i and r_i too.
//
// The textbook multiplies the Jacobians of the stages, (nv, nv) matrices of forward dynamics, O(N^2)
// a column. Here no inverse and no derivative of forward dynamics is formed: columns of the identity
// go through the stages in blocks, with the derivatives of inverse dynamics (ID) and the factors of M
// that each stage has kept. Every product skips the zeros of the tree: O(N d) a column. Accelerations
// come from the algorithm that `step` uses, so that z+ has the same bits as its result.
#pragma once

#include <type_traits>

#include "dtau/algorithms/first/world_wrenches.hpp"
#include "dtau/algorithms/first/wrench_derivatives.hpp"
#include "dtau/algorithms/solve/column_blocks.hpp"
#include "dtau/algorithms/solve/factorized.hpp"
#include "dtau/algorithms/steps/step_columns.hpp"
#include "dtau/algorithms/values/aba.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct DiscreteWorkspace {
    static constexpr int most = LtdlWorkspace<T>::packs;  // packs in a block of columns
    StepWorkspace<T> step;
    VariationWorkspace<T> variation;
    FactorizedWorkspace<T> dynamics;
    AbaWorkspace<T> aba;
    // Of every stage: derivatives of inverse dynamics by q and v, arranged (column_blocks.hpp), and L.
    T *by_q[max_stages], *by_v[max_stages], *L[max_stages];
    T* minus_jacobians[max_stages];  // -J^T of all bodies (nv, 6 nbodies); null: not asked for
    bool by_length;                  // whether derivatives by h are asked for
    T *dtau_dq, *dtau_dv;            // of the stage at hand
    JointMatrix<T> joint_dq, joint_dv;
    WrenchPartialsWorkspace<T> wrenches;
    // Variations in a block: of theta (joints that do not commute only), of q, of v and then theta', of
    // a; and the weighted sums of the variations of theta' and a.
    Pack<T>*theta, *q, *v, *a, *rate_sum, *a_sum;

    DiscreteWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : step(arena, tree, options),
          variation(arena, tree, options),
          dynamics(arena, tree, options),
          aba(arena, tree, options),
          minus_jacobians(),
          by_length(options.by_dt),
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
            if (!options.by_f_ext) continue;
            minus_jacobians[i] = arena.take<T>(static_cast<std::size_t>(6 * tree.nbodies) * n);
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
void stage_partials(const Tree& tree, int i, T h, const T* body_f_ext, T* a,
                    const DiscreteWorkspace<T>& w) {
    T* const no_matrix = nullptr;
    const FactorizedWorkspace<T>& dynamics = w.dynamics;
    const int n = tree.independent.n;
    w.step.damping.extend(tree, w.step.v(i), h, dynamics.a, dynamics.idsva);
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

// ---------------------------------------------------------------- blocks of columns

// Replaces the variation of theta in w.q by the variation of q (+) theta, for a stage or the whole step. The
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

// Takes a block of columns through all stages, and stores the columns of z+.
// change(i, start): what acts between the triangular solves of stage i, while w.q and w.v are its
// variations.
template <class T, class Change>
void linearize_block(const Tree& tree, Integrator method, T h, const BlockStart<T>& start,
                     const StepColumns<T>* to, const DiscreteWorkspace<T>& w,
                     const Change& change) {
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
        const bool all_rows = i > 1 || (i == 1 && start.has_length());
        const Rows q_rows = all_rows ? all : i == 1 ? of_whole_joints(tree, joined(xi, dv)) : xi;
        const Factor<T> by_q = {w.by_q[i], w.q, q_rows};
        const Factor<T> by_v = {w.by_v[i], w.v, i > 0 ? all : dv};
        // [Derivations] eq. 12.8
        negative_products(dofs, packs, by_q, by_v, w.a, factors.path);
        add_torques(start, w.a);
        add_wrenches(start, w.minus_jacobians[i], w.a);
        if (w.step.damping.acts() && start.has_length())
            add_length(tree, start, T(-1.0), w.step.damping.by_length_at_owners(tree, w.step.a(0)),
                       w.a);
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
        if (!start.has_length()) continue;
        const T b(stage_weight(method, i)), c(i + 1 < stages ? stage_ahead(i + 1) : 0.0);
        add_length(tree, start, b, w.step.a(i), w.a_sum);
        add_length(tree, start, b, w.step.rate(i), w.rate_sum);
        add_length(tree, start, c, w.step.rate(i), w.q);
        add_length(tree, start, c, w.step.a(i), w.v);
    }
    add_units(start, n, 0, n, w.a_sum);
    const bool by_end = moves_by_end_velocity(method);
    for (int k = 0; k < size; ++k) w.q[k] = by_end ? h * w.a_sum[k] : w.rate_sum[k];
    if (by_end && start.has_length()) {  // dtheta by h: v+
        add_length(tree, start, T(1.0), w.step.v(0), w.q);
        add_length(tree, start, h, w.step.a(0), w.q);
    }
    displace(tree, start, max_stages, w);
    // A zero that comes from underflow becomes +0: its sign would depend on the block.
    const Pack<T> zero = {T(0.0)};
    for (int k = 0; k < n; ++k)
        for (int p = 0; p < packs; ++p) {
            const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(k) * to[p].stride;
            fma(T(1.0), w.q[k * packs + p], zero).store(to[p].xi + row, to[p].room);
            fma(T(1.0), w.a_sum[k * packs + p], zero).store(to[p].dv + row, to[p].room);
        }
}

// ---------------------------------------------------------------- the step

// Forward dynamics of the stages without contacts. With contacts: HeldStages.
template <class T> struct FreeStages {
    const DiscreteWorkspace<T>& w;
    const T* f_ext;

    const DiscreteWorkspace<T>& workspace() const { return w; }
    // Computes the acceleration at stage i, and keeps its derivatives and factors.
    void linearize(const Tree& tree, int i, const T* q, const T* v, const T* tau, T h, T* a) const {
        const FactorizedWorkspace<T> dynamics = w.at_stage(i);
        const T* body_f_ext = along_body_axes(tree, q, f_ext, w.wrenches.value);
        if (tree.mimic) {
            factorized_dynamics(tree, q, v, tau, body_f_ext, dynamics);
        } else {
            factorize_dynamics(tree, q, v, body_f_ext, dynamics);
            aba(tree, q, v, tau, body_f_ext, dynamics.a, w.aba);
        }
        stage_partials(tree, i, h, body_f_ext, a, w);
    }
    NoChange change(const Tree&, int, const BlockStart<T>&) const { return {}; }
};

// Computes the acceleration at stage i, its derivatives and factors, and the Jacobians if there are columns
// of wrenches.
template <class T, class Stages>
void linearize_stage(const Tree& tree, int i, const T* q, const T* v, const T* tau, T h, T* a,
                     const Stages& stages) {
    const DiscreteWorkspace<T>& w = stages.workspace();
    stages.linearize(tree, i, q, v, tau, h, a);
    if (w.minus_jacobians[i])
        minus_transposed_jacobians(tree, q, w.dynamics.idsva.root_frame, w.minus_jacobians[i],
                                   w.wrenches.value);
}

// q, v, q_next, v_next: of the joints; tau and results: of the independent velocities. kept: where the
// stages of an RK4 step go; null: nowhere.
template <class T, class Stages>
void linearize_discrete(const Tree& given, Integrator method, const InputMap<T>& inputs, const T* q,
                        const T* v, const T* tau, T h, const StepDerivatives<T>& results, T* q_next,
                        T* v_next, const Stages& stages, const StageResults<T>* kept = nullptr) {
    const DiscreteWorkspace<T>& w = stages.workspace();
    Tree room;
    const Tree& tree = w.step.damping.tree(given, v, h, room);
    step(tree, q, v, h, method, q_next, v_next, w.step, [&](int i, const T* qi, const T* vi, T* a) {
        linearize_stage(tree, i, qi, vi, tau, h, a, stages);
    });
    if (kept) kept->store_states(tree, w.step);
    step_variation(tree, method, w.step, w.variation);
    constexpr int most = DiscreteWorkspace<T>::most, width = Pack<T>::width;
    const ColumnGroups<T> groups(tree, inputs, w.minus_jacobians[0], w.by_length);
    for_blocks<T>(groups.end, most, [&](int begin, int, int packs) {
        StepColumns<T> to[most];
        for (int p = 0; p < packs; ++p) to[p] = groups.place(begin + p * width, results);
        const auto change = [&](int i, const BlockStart<T>& start) {
            if (kept) kept->store_columns(i, start, w.q, w.v);
            return stages.change(tree, i, start);
        };
        linearize_block(tree, method, h, BlockStart<T>{begin, packs, groups}, to, w, change);
    });
}

}  // namespace dtau::DTAU_VARIANT
