// Declares what the symbols of a slot call: see casadi_slots.hpp. It includes nothing, because thousands of
// symbols are compiled with it.
#pragma once

namespace dtau {

using CasadiInt = long long;

enum class CasadiRole { value, jacobian, adjoint, adjoint_jacobian, second };

// Implements the symbols of a slot.
int casadi_call(int slot, CasadiRole role, const double** arg, double** res, double* work) noexcept;
CasadiInt casadi_count(int slot, CasadiRole role, bool results) noexcept;
const CasadiInt* casadi_pattern(int slot, CasadiRole role, bool results, CasadiInt place) noexcept;
const char* casadi_name(int slot, bool results, CasadiInt place) noexcept;
int casadi_sizes(int slot, CasadiRole role, CasadiInt* arg, CasadiInt* res, CasadiInt* iw,
                 CasadiInt* w) noexcept;
void casadi_hold(int slot) noexcept;
void casadi_release(int slot) noexcept;

// The number of slots.
extern const int casadi_slot_count;

}  // namespace dtau
