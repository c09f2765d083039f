// Slots for CasADi as Python fills them.
#pragma once

#include <nanobind/nanobind.h>

namespace dtau {

void define_casadi_slots(nanobind::module_& m);

}  // namespace dtau
