// Declares the functions that bind the core's classes, and its functions that are not in the registry.
#pragma once

#include <nanobind/nanobind.h>

namespace dtau {

void define_tree(nanobind::module_& module);
void define_contacts(nanobind::module_& module);
void define_robot_code(nanobind::module_& module);
void define_lqr(nanobind::module_& module);
void define_patterns(nanobind::module_& module);         // of results: registry/patterns.hpp
void define_mujoco_steps(nanobind::module_& module);     // differentiates MuJoCo's steps
void define_mujoco_copies(nanobind::module_& module);    // copies MuJoCo's arrays
void define_mujoco_warnings(nanobind::module_& module);  // collects warnings, for the MJCF reader
void define_raw_calls(nanobind::module_& module);        // prepares raw calls: call/raw_call.hpp
void define_casadi_slots(
    nanobind::module_& module);  // which Python fills: interop/casadi_slots.hpp
void define_tensor_reader(
    nanobind::module_& module);  // reads other libraries' tensors as NumPy's arrays

}  // namespace dtau
