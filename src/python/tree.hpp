// Binds the core's classes of a model.
#pragma once

#include <nanobind/nanobind.h>

namespace dtau {

void define_tree(nanobind::module_& module);
void define_contacts(nanobind::module_& module);
void define_robot_code(nanobind::module_& module);

}  // namespace dtau
