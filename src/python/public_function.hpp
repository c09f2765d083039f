// Makes public functions that Python calls without their Python code: public_function().
#pragma once

#include <nanobind/nanobind.h>

namespace dtau {

// Returns a callable in place of `python`, a function that only passes its arguments on to `core`, a
// function of this module. At most so many arguments, with the model, may be positional.
nanobind::object public_function(nanobind::handle core, nanobind::object python, int positional);

}  // namespace dtau
