// Holds the columns that go through a time step (discrete_linearization.hpp): which variables a block
// of them varies, and where its results go. All columns, each group from a whole pack on:
//
//   z = (xi, dv)    inputs    external wrenches, if they are asked for    h, if it is asked for
#pragma once

#include "dtau/algorithms/solve/ltdl_block.hpp"
#include "dtau/algorithms/steps/input_map.hpp"
#include "dtau/algorithms/steps/step.hpp"

namespace dtau::DTAU_VARIANT {

// Derivatives of z+ by z and the inputs, A (2 nv, 2 nv) and B (2 nv, count); of xi+ and dv+ by the
// wrenches (nv, 6 nbodies each), and by h (nv each), if they are asked for.
template <class T> struct StepDerivatives {
    T *A, *B, *xi_by_wrenches = nullptr, *dv_by_wrenches = nullptr, *xi_by_h = nullptr,
              *dv_by_h = nullptr;
};

// Where the columns of a pack go: rows of xi+, and of dv+.
template <class T> struct StepColumns {
    T *xi, *dv;
    int room, stride;
};

// The places of the groups; a group that is not there has no columns.
template <class T> struct ColumnGroups {
    const InputMap<T>& inputs;
    int n, padded, wrenches, nwrenches, length, end;

    ColumnGroups(const Tree& tree, const InputMap<T>& map, bool by_wrenches, bool by_length)
        : inputs(map),
          n(tree.independent.n),
          padded(whole_packs<T>(2 * n)),
          wrenches(padded + whole_packs<T>(map.driven.count)),
          nwrenches(by_wrenches ? 6 * tree.nbodies : 0),
          length(wrenches + whole_packs<T>(nwrenches)),
          end(by_length       ? length + 1
              : nwrenches > 0 ? wrenches + nwrenches
                              : padded + map.driven.count) {}
    bool by_length() const { return end > length; }
    // Where the columns from c on go, c being the first of a pack.
    StepColumns<T> place(int c, const StepDerivatives<T>& to) const {
        const std::ptrdiff_t rows = n;
        const int count = inputs.driven.count;
        if (c < padded) return {to.A + c, to.A + rows * 2 * n + c, 2 * n - c, 2 * n};
        if ((c -= padded) < wrenches - padded)
            return {to.B + c, to.B + rows * count + c, count - c, count};
        if ((c -= wrenches - padded) < length - wrenches)
            return {to.xi_by_wrenches + c, to.dv_by_wrenches + c, nwrenches - c, nwrenches};
        return {to.xi_by_h, to.dv_by_h, 1, 1};
    }
};

// A block of columns from `begin` on. What it begins with is compiled once for all kinds of blocks.
template <class T> struct BlockStart {
    int begin, packs;
    const ColumnGroups<T>& groups;

    // Calls visit(k, p, unit) for the columns first + k, k < count, that are in the block: in pack p.
    template <class Visit> void for_columns(int first, int count, const Visit& visit) const {
        constexpr int width = Pack<T>::width;
        for (int c = 0; c < packs * width; ++c) {
            const int k = begin + c - first;
            if (k >= 0 && k < count) visit(k, c / width, Pack<T>::unit(c % width));
        }
    }
    bool has_length() const {
        return groups.by_length() && begin + packs * Pack<T>::width > groups.length;
    }
};

// Adds the columns of the identity for xi (first = 0) or dv (first = nv), in rows row ... row + count - 1.
template <class T>
__attribute__((noinline)) void add_units(const BlockStart<T>& start, int first, int row, int count,
                                         Pack<T>* x) {
    start.for_columns(first + row, count, [&](int k, int p, const Pack<T>& unit) {
        Pack<T>& entry = x[k * start.packs + p];
        entry = fma(T(1.0), unit, entry);
    });
}
// Adds the torques of unit inputs.
template <class T>
__attribute__((noinline)) void add_torques(const BlockStart<T>& start, Pack<T>* x) {
    const InputMap<T>& inputs = start.groups.inputs;
    const int packs = start.packs, count = inputs.driven.count;
    start.for_columns(start.groups.padded, count, [&](int column, int p, const Pack<T>& unit) {
        if (!inputs.map) {
            Pack<T>& entry = x[inputs.driven.columns[column] * packs + p];
            entry = fma(T(1.0), unit, entry);
            return;
        }
        const T* entry = inputs.map + column;
        for (int k = 0; k < start.groups.n; ++k, entry += count)
            x[k * packs + p] = fma(*entry, unit, x[k * packs + p]);
    });
}
// Adds the torques J^T f of unit wrenches. minus_jacobians: -J^T (nv, 6 nbodies).
template <class T>
__attribute__((noinline)) void add_wrenches(const BlockStart<T>& start, const T* minus_jacobians,
                                            Pack<T>* x) {
    const int packs = start.packs, count = start.groups.nwrenches;
    start.for_columns(start.groups.wrenches, count, [&](int column, int p, const Pack<T>& unit) {
        const T* entry = minus_jacobians + column;
        for (int k = 0; k < start.groups.n; ++k, entry += count)
            x[k * packs + p] = fma(-*entry, unit, x[k * packs + p]);
    });
}
// Adds scale x to the column by h; x: of the joints.
template <class T>
__attribute__((noinline)) void add_length(const Tree& tree, const BlockStart<T>& start, T scale,
                                          const T* x, Pack<T>* to) {
    start.for_columns(start.groups.length, 1, [&](int, int p, const Pack<T>& unit) {
        for (int k = 0; k < start.groups.n; ++k) {
            Pack<T>& entry = to[k * start.packs + p];
            entry = fma(scale * x[owning_dof(tree, k)], unit, entry);
        }
    });
}

// ---------------------------------------------------------------- the stages as results

// A running cost l is integrated by the same method: L = h sum of b_i l(q_i, v_i, u). So the stages of
// an RK4 step are results too, with the variations (xi_i, dv_i) = A_i z + B_i u; A_0 = 1, B_0 = 0.
// They go to A (stages, 2 nv, 2 nv), B (stages, 2 nv, inputs), q (stages, nq), v (stages,
// nv), of the independent velocities.
template <class T> struct StageResults {
    T *A, *B, *q, *v;

    // Stores the variations dq and dv of a block of columns at stage i.
    void store_columns(int i, const BlockStart<T>& start, const Pack<T>* dq,
                       const Pack<T>* dv) const {
        constexpr int width = Pack<T>::width;
        const int n = start.groups.n, states = 2 * n, inputs = start.groups.inputs.driven.count;
        const Pack<T> zero = {T(0.0)};
        for (int p = 0; p < start.packs; ++p) {
            const int c = start.begin + p * width, input = c - start.groups.padded;
            const bool of_state = input < 0;
            const int stride = of_state ? states : inputs;
            const int room = of_state ? states - c : inputs - input;
            T* to = of_state ? A + i * states * states + c : B + i * states * inputs + input;
            for (int k = 0; k < states; ++k, to += stride) {
                const Pack<T>& x = k < n ? dq[k * start.packs + p] : dv[(k - n) * start.packs + p];
                fma(T(1.0), x, zero).store(to, room);
            }
        }
    }
    // Stores the states of all stages, after the step.
    void store_states(const Tree& tree, const StepWorkspace<T>& step) const {
        const int nq = tree.mimic ? tree.mimic->nq : tree.nq, n = tree.independent.n;
        for (int i = 0; i < max_stages; ++i) {
            T *const to_q = q + i * nq, *const to_v = v + i * n;
            if (tree.mimic) {
                pick_q(tree, step.q(i), to_q);
                pick_v(tree, step.v(i), to_v);
                continue;
            }
            for (int k = 0; k < nq; ++k) to_q[k] = step.q(i)[k];
            for (int k = 0; k < n; ++k) to_v[k] = step.v(i)[k];
        }
    }
};

}  // namespace dtau::DTAU_VARIANT
