// Binds the core's classes, and its functions that are not in the registry.
#pragma once

#include <nanobind/nanobind.h>

namespace dtau {

void define_tree(nanobind::module_& module);
void define_contacts(nanobind::module_& module);
void define_robot_code(nanobind::module_& module);
void define_lqr(nanobind::module_& module);

}  // namespace dtau
