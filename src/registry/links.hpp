// Names the functions that differentiate a function: Links.
#pragma once

namespace dtau {

// Names of functions; null: there is none. Their arrays tell by which inputs they differentiate: a jvp takes
// the variation dx of an input x, a vjp gives by_x, and derivatives come in the order of the inputs.
struct Links {
    const char *derivatives = nullptr, *second_derivatives = nullptr, *hessian = nullptr,
               *jvp = nullptr, *vjp = nullptr, *time_derivatives = nullptr;
};

}  // namespace dtau
