// Makes the tables of a file of functions from its rows: group.
#pragma once

#include <array>

#include "registry/function.hpp"

namespace dtau::DTAU_VARIANT {

template <const auto& rows, auto member> constexpr auto column_of() {
    std::array<std::remove_cvref_t<decltype(rows[0].*member)>, std::size(rows)> column = {};
    for (std::size_t k = 0; k < column.size(); ++k) column[k] = rows[k].*member;
    return column;
}
template <const auto& rows, auto member> constexpr auto column = column_of<rows, member>();

// The signatures are the same for all instruction sets: the set DTAU_SIGNATURES has them.
template <const auto& rows>
#ifdef DTAU_SIGNATURES
constexpr const Signature* signatures = nullptr;
#else
constexpr const Signature* signatures = column<rows, &Row::signature>.data();
#endif

// The functions of a file with these rows.
template <const auto& rows>
constexpr FunctionGroup group = {signatures<rows>, column<rows, &Row::implementation>.data(),
                                 std::size(rows)};

}  // namespace dtau::DTAU_VARIANT
