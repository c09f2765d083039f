// Binds the slots for CasADi that Python fills: see casadi_slots.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace dtau {

void define_casadi_slots(nanobind::module_& m);

}  // namespace dtau
