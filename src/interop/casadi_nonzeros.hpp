// Converts between CasADi's nonzeros, column by column, and row-major matrices: leave(), spread().
#pragma once

#include <algorithm>

#include "interop/casadi_slots.hpp"

namespace dtau {

// Writes the nonzeros of a row-major matrix, or of its transpose, in CasADi's order.
inline void leave(const CasadiPattern& pattern, const double* dense, bool transposed, double* res) {
    const CasadiInt rows = pattern[0], columns = pattern[1];
    const CasadiInt down = transposed ? 1 : columns, across = transposed ? rows : 1;
    if (pattern.size() == 3) {  // dense
        for (CasadiInt c = 0; c < columns; ++c)
            for (CasadiInt r = 0; r < rows; ++r) *res++ = dense[r * down + c * across];
        return;
    }
    const CasadiInt* offset = pattern.data() + 2;
    const CasadiInt* row = offset + columns + 1;
    for (CasadiInt c = 0; c < columns; ++c, dense += across)
        for (CasadiInt k = offset[c]; k < offset[c + 1]; ++k) *res++ = dense[row[k] * down];
}

// Expands nonzeros to a row-major matrix.
inline void spread(const CasadiPattern& pattern, const double* arg, double* dense) {
    const CasadiInt rows = pattern[0], columns = pattern[1];
    std::fill_n(dense, rows * columns, 0.0);
    const bool all = pattern.size() == 3;
    const CasadiInt* offset = pattern.data() + 2;
    const CasadiInt* row = offset + columns + 1;
    for (CasadiInt c = 0; arg && c < columns; ++c) {
        const CasadiInt count = all ? rows : offset[c + 1] - offset[c];
        for (CasadiInt k = 0; k < count; ++k)
            dense[(all ? k : row[offset[c] + k]) * columns + c] = *arg++;
    }
}

}  // namespace dtau
