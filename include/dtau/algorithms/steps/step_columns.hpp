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
template <class T>
struct StepDerivatives {
    T *A, *B, *xi_by_wrenches = nullptr, *dv_by_wrenches = nullptr, *xi_by_h = nullptr,
              *dv_by_h = nullptr;
};

// Where the columns of a pack go: rows of xi+, and of dv+.
template <class T>
struct StepColumns {
    T *xi, *dv;
    int room, stride;
};

// The places of the groups; a group that is not there has no columns.
template <class T>
struct ColumnGroups {
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

// A block of columns from `begin` on.
template <class T>
struct BlockStart {
    int begin, packs;
    const ColumnGroups<T>& groups;

    // Calls visit(k, p, unit) for the columns first + k, k < count, that are in the block: in pack p.
    template <class Visit>
    void for_columns(int first, int count, const Visit& visit) const {
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
inline void add_units(const BlockStart<T>& start, int first, int row, int count, Pack<T>* x) {
    start.for_columns(first + row, count, [&](int k, int p, const Pack<T>& unit) {
        Pack<T>& entry = x[k * start.packs + p];
        entry = fma(T(1.0), unit, entry);
    });
}
// Adds the torques of unit inputs.
template <class T>
inline void add_torques(const BlockStart<T>& start, Pack<T>* x) {
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
inline void add_wrenches(const BlockStart<T>& start, const T* minus_jacobians, Pack<T>* x) {
    const int packs = start.packs, count = start.groups.nwrenches;
    start.for_columns(start.groups.wrenches, count, [&](int column, int p, const Pack<T>& unit) {
        const T* entry = minus_jacobians + column;
        for (int k = 0; k < start.groups.n; ++k, entry += count)
            x[k * packs + p] = fma(-*entry, unit, x[k * packs + p]);
    });
}
// Adds scale x to the column by h; x: of the joints.
template <class T>
inline void add_length(const Tree& tree, const BlockStart<T>& start, T scale, const T* x,
                       Pack<T>* to) {
    if (!start.has_length()) return;
    start.for_columns(start.groups.length, 1, [&](int, int p, const Pack<T>& unit) {
        for (int k = 0; k < start.groups.n; ++k) {
            Pack<T>& entry = to[k * start.packs + p];
            entry = fma(scale * x[owning_dof(tree, k)], unit, entry);
        }
    });
}

}  // namespace dtau::DTAU_VARIANT
