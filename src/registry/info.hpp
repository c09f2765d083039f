// Describes a function beside its arguments, and names functions that differentiate it: FunctionInfo, Links.
#pragma once

namespace dtau {

// Names of functions; null: there is none. Their arrays tell by which inputs they differentiate: a jvp takes
// the variation dx of an input x, a vjp gives by_x, and derivatives come in the order of the inputs.
struct Links {
    const char *derivatives = nullptr, *second_derivatives = nullptr, *hessian = nullptr,
               *jvp = nullptr, *vjp = nullptr, *parameter_derivatives = nullptr,
               *parameter_jvp = nullptr, *parameter_vjp = nullptr, *wrench_derivatives = nullptr,
               *time_derivatives = nullptr;
};

// Properties of a function other than its arguments: see Signature.
struct FunctionInfo {
    const char* name;
    Links links = {};
    bool solves = false, any_quaternions = false;
    const char *results = nullptr, *memory_advice = nullptr;
};

}  // namespace dtau
