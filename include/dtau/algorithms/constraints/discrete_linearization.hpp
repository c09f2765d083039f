// Computes the exact derivative of a time step (steps/discrete_linearization.hpp) of a robot whose
// contacts and loops hold at every stage. The variations xi_i, dv_i of a stage's state vary its
// acceleration by
//
//   M da - J^T df = dtau - dID/dq xi_i - dID/dv dv_i - J_b^T m,   J da = -drows/dq xi_i - drows/dv dv_i
//
// [Derivations] eq. 20.15; m of a loop: columns.hpp. Beside these equations all is as in
// steps/discrete_linearization.hpp: the constraints correct a block of columns between the two
// triangular solves with M.
// The forces of the first stage, and df by z and u, are results if they are asked for.
#pragma once

#include "dtau/algorithms/constraints/derivatives.hpp"
#include "dtau/algorithms/steps/discrete_linearization.hpp"

namespace dtau::DTAU_VARIANT {

// Constraint data of a stage, kept for the solves by columns.
template <class T> struct ConstrainedStage {
    ConstraintEquations<T> equations;
    ConstraintColumns<T> columns;  // by q and v

    ConstrainedStage(Arena& arena, const Tree& tree, const Options& options)
        : equations(arena, tree, options), columns(arena, tree, *options.contacts, 2) {}
};

template <class T> struct ConstrainedDiscreteWorkspace {
    DiscreteWorkspace<T> discrete;
    ConstrainedStage<T> stages[max_stages];
    T *forces, *residual;
    RangeWorkspace<T> range;
    T *rows, *turns;  // for a block of columns: right-hand sides of the rows, and -m of the loops

    ConstrainedDiscreteWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : discrete(arena, tree, options),
          stages{{arena, tree, options},
                 {arena, tree, options},
                 {arena, tree, options},
                 {arena, tree, options}},
          forces(arena.take<T>(options.contacts->nrows)),
          residual(arena.take<T>(options.contacts->nrows)),
          range(arena, tree, options) {
        constexpr int width = DiscreteWorkspace<T>::most * Pack<T>::width;
        rows = arena.take<T>(options.contacts->nrows * width);
        turns = arena.take<T>(options.contacts->count * 6 * width);
    }
};

// Computes the acceleration at stage i, with the same bits as in a step, and keeps its derivatives
// and factors.
template <class T>
void constrained_stage(const Tree& tree, int i, const T* q, const T* v, const T* tau, T h,
                       const Hold<T>& hold, const T* f_ext, T* a,
                       const ConstrainedDiscreteWorkspace<T>& w) {
    const DiscreteWorkspace<T>& discrete = w.discrete;
    const FactorizedWorkspace<T> dynamics = discrete.at_stage(i);
    const ConstraintEquations<T>& equations = w.stages[i].equations;
    const ConstraintColumns<T>& columns = w.stages[i].columns;
    const RootFrame<T>& root_frame = dynamics.idsva.root_frame;
    const T* body_f_ext = along_body_axes(tree, q, f_ext, discrete.wrenches.value);
    constrained_dynamics(false, tree, q, v, tau, hold, body_f_ext, w.forces, w.residual, dynamics,
                         equations);
    idsva_velocities(tree, q, v, body_f_ext, dynamics.idsva);
    subtract_constraint_wrenches(*equations.schur.constraints, equations.frames, w.forces,
                                 dynamics.idsva.f);
    stage_partials(tree, i, h, body_f_ext, a, discrete);
    constraint_columns(tree, hold.active, w.forces, dynamics.idsva, equations, columns);
    if (equations.schur.R > 0.0)
        residual_columns(tree, equations.frames, w.residual, root_frame, dynamics.ltdl,
                         equations.schur, w.range, columns);
    loop_factors(tree, *equations.schur.constraints, equations.frames, root_frame.S, dynamics.ltdl,
                 columns);
}

// Stores the forces of the first stage (nrows), and their derivatives by z = (xi, dv), u and the
// wrenches: (nrows, 2 nv), (nrows, inputs) and (nrows, 6 nbodies). All null: not wanted.
// Derivatives by h are no results.
template <class T> struct StepForces {
    T *forces, *by_z, *by_u, *by_wrenches;

    // Stores the forces and the turns of forces along the world's axes; prepares [Derivations]
    // eq. 20.10.
    void begin(const Tree& tree, const T* active, const ConstrainedDiscreteWorkspace<T>& w) const {
        const ConstraintEquations<T>& equations = w.stages[0].equations;
        const Constraints& constraints = *equations.schur.constraints;
        const FactorizedWorkspace<T> dynamics = w.discrete.at_stage(0);
        const RootFrame<T>& g = dynamics.idsva.root_frame;
        const int states = 2 * tree.independent.n;
        for (int r = 0; r < constraints.nrows; ++r) forces[r] = w.forces[r];
        for (int k = 0; k < constraints.nrows * states; ++k) by_z[k] = T(0.0);
        turn_forces(tree, constraints, equations.frames, g.S, w.forces, by_z, states);
        if (equations.schur.R > 0.0)
            range_columns(
                tree, constraints, equations.frames, active,
                range_velocities(tree, w.forces, g, dynamics.ltdl, equations.schur, w.range),
                w.stages[0].columns);
    }
    // Adds df of a few packs of columns from the place c on.
    void add(const Pack<T>* df, int packs, int nrows, const BlockStart<T>& start, int c) const {
        const ColumnGroups<T>& groups = start.groups;
        const int states = 2 * groups.n, inputs = groups.inputs.driven.count;
        const int nwrenches = groups.nwrenches;
        for (int p = 0; p < packs; ++p, c += Pack<T>::width) {
            const int input = c - groups.padded, wrench = c - groups.wrenches;
            for (int r = 0; r < nrows; ++r) {
                const Pack<T>& x = df[r * packs + p];
                if (wrench >= nwrenches) continue;  // by h
                if (wrench >= 0) {
                    x.store(by_wrenches + r * nwrenches + wrench, nwrenches - wrench);
                } else if (input >= 0) {
                    x.store(by_u + r * inputs + input, inputs - input);
                } else {
                    T* const to = by_z + r * states + c;
                    fma(T(1.0), x, Pack<T>::load(to, states - c)).store(to, states - c);
                }
            }
        }
    }
};

// Corrects a block of columns between the triangular solves of a stage; w.q and w.v hold the
// variations of its columns. forces: of the first stage, if they are wanted; else null.
template <class T> struct StageChange {
    const Tree& tree;
    const ConstrainedStage<T>& stage;
    const ConstrainedDiscreteWorkspace<T>& w;
    const StepForces<T>* forces;
    const BlockStart<T>* start;

    void operator()(int packs, int first, T* X, std::ptrdiff_t stride) const;

  private:
    // sum += scale row x, over the velocities that move the constraint.
    template <int some>
    static void add_product(const Constraint& constraint, T scale, const T* row, const Pack<T>* x,
                            int packs, Pack<T>* sum) {
        for (int d = 0; d < constraint.ndofs; ++d) {
            const int k = constraint.dofs[d];
            add_term<some>(scale * row[k], x + k * packs, sum);
        }
    }
    template <int some> static void add_term(T by, const Pack<T>* x, Pack<T>* sum) {
        unrolled<some>([&](int p) { sum[p] = fma(by, x[p], sum[p]); });
    }
    template <int some> static void store(const Pack<T>* sum, T* to) {
        unrolled<some>([&](int p) { sum[p].store(to + p * Pack<T>::width); });
    }
};

// Not inside the class, as operator() of ConstraintCorrection.
template <class T>
void StageChange<T>::operator()(int packs, int first, T* X, std::ptrdiff_t stride) const {
    const int width = packs * Pack<T>::width;
    const SchurComplement<T>& schur = stage.equations.schur;
    const ConstraintColumns<T>& columns = stage.columns;
    const Constraints& constraints = *schur.constraints;
    in_parts<ConstraintCorrection<T>::most_packs>(packs, [&]<int some>(int p) {
        for (int c = 0; c < constraints.count; ++c) {
            const Constraint& constraint = constraints.at[c];
            for (int r = constraint.first; r < constraint.first + constraint.count; ++r) {
                const T *by_q = columns.rows + r * columns.width, *by_v = by_q + columns.padded;
                Pack<T> sum[some] = {};
                if (schur.R > 0.0)  // residuals mix the rows of all constraints
                    for (int k = 0; k < tree.independent.n; ++k)
                        add_term<some>(by_q[k], w.discrete.q + k * packs + p, sum);
                else
                    add_product<some>(constraint, T(1.0), by_q, w.discrete.q + p, packs, sum);
                add_product<some>(constraint, T(1.0), by_v, w.discrete.v + p, packs, sum);
                store<some>(sum, w.rows + r * width + p * Pack<T>::width);
            }
        }
        for_loops(constraints, [&](int, const Constraint& constraint, int number) {
            for (int r = 6 * number; r < 6 * (number + 1); ++r) {
                Pack<T> sum[some] = {};
                add_product<some>(constraint, T(-1.0), columns.turns + r * columns.padded,
                                  w.discrete.q + p, packs, sum);
                store<some>(sum, w.turns + r * width + p * Pack<T>::width);
            }
        });
    });
    ConstraintColumns<T> block = columns;
    block.padded = block.width = width;
    block.rows = w.rows;
    block.turns = w.turns;
    const ConstraintCorrection<T> change = {tree, schur, block, {nullptr, nullptr, nullptr},
                                            0,    1.0};
    if (!forces) return change(packs, first, X, stride);
    in_parts<ConstraintCorrection<T>::most_packs>(packs, [&]<int some>(int p) {
        const int begin = p * Pack<T>::width;
        change(some, first + begin, X + begin, stride);
        if (schur.R > 0.0) {
            for (int r = 0; r < constraints.nrows; ++r) {
                Pack<T> sum[some] = {};
                for (int k = 0; k < tree.independent.n; ++k)
                    add_term<some>(columns.ranges[r * columns.padded + k],
                                   w.discrete.q + k * packs + p, sum);
                unrolled<some>([&](int k) { schur.more_block[r * some + k] = sum[k]; });
            }
            replace_null_space<some>(schur.block, schur.more_block, schur);
        }
        forces->add(schur.block, some, constraints.nrows, *start, start->begin + begin);
    });
}

// Constrained dynamics of the stages, in the form that linearize_discrete takes. residual, forces: of
// the first stage, if they are wanted; else null.
template <class T> struct HeldStages {
    const ConstrainedDiscreteWorkspace<T>& w;
    Hold<T> hold;
    const T* f_ext;
    T* residual = nullptr;
    StepForces<T> forces = {};

    const DiscreteWorkspace<T>& workspace() const { return w.discrete; }
    void linearize(const Tree& tree, int i, const T* q, const T* v, const T* tau, T h, T* a) const {
        constrained_stage(tree, i, q, v, tau, h, hold, f_ext, a, w);
        if (i > 0) return;
        const int nrows = w.stages[0].equations.schur.constraints->nrows;
        for (int r = 0; residual && r < nrows; ++r) residual[r] = w.residual[r];
        if (forces.forces) forces.begin(tree, hold.active, w);
    }
    StageChange<T> change(const Tree& tree, int i, const BlockStart<T>& start) const {
        return {tree, w.stages[i], w, i == 0 && forces.forces ? &forces : nullptr, &start};
    }
};

}  // namespace dtau::DTAU_VARIANT
