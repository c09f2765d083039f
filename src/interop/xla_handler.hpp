// The functions that XLA calls.
#pragma once

#include "interop/xla_ffi.hpp"

namespace dtau {

// Runs the raw call of attribute `call` (its number). The inputs that are there are the bits of the
// attribute `given`; leading axes are the batch. Attribute `name` says in errors what was called.
xla::Error* xla_handler(xla::CallFrame* frame) noexcept;

// The same on other processors: an error that says what to do.
xla::Error* xla_refusal(xla::CallFrame* frame) noexcept;

}  // namespace dtau
