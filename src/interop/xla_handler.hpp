// Implements the handlers that XLA calls: xla_handler().
#pragma once

#include "interop/xla_ffi.hpp"

namespace dtau {

// Runs the raw call with the number in attribute `call`. The bits of attribute `given` tell which
// inputs are given; leading axes are the batch. Attribute `name` names the function in errors.
xla::Error* xla_handler(xla::CallFrame* frame) noexcept;

// Refuses calls on other devices, with an error that names the way out.
xla::Error* xla_refusal(xla::CallFrame* frame) noexcept;

}  // namespace dtau
