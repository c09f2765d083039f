// A row of the registry: what a function is called, takes and gives. Python's calls, stubs, adapters,
// code generation, tests and benchmarks read it, and nothing else says it again.
#pragma once

#include <cstddef>

#include "batch/peak.hpp"
#include "registry/quantities.hpp"

namespace dtau {

// Time derivatives are stacked along an axis before the quantity's, of length order + rows. The order
// is asked for, and longer stacks are cut; or the first stack among the inputs says what it is.
inline constexpr int not_stacked = -1;

struct ArraySignature {
    const char* name;
    Quantity quantity;
    int rows;
    // An input may be None. A result is computed only where the last input like it is given (it is
    // None otherwise), or where contacts are.
    bool optional;
};

// What a function takes beside its arrays.
enum class Option {
    frames,
    axes,
    wrench_axes,
    acceleration,
    prescribed,
    integrator,
    driven,
    symmetric,
    packed,
    joint_parameters,
    contacts,
    damping,
    order,
};

// What an argument is if it is left out: it may not be; None; False; 0; or the first of its words.
enum class Default { required, none, no, zero, word };

// An argument as Python has it: an option, or one of the inputs.
struct Argument {
    const char* name;
    Default by_default;
    int input;  // which; -1: it is an option
    Option option;
};

struct Signature {
    static constexpr int max_arguments = 16;

    const char* name;
    Argument arguments[max_arguments];  // in the public order, which is that of the inputs too
    int narguments;
    ArraySignature inputs[Job::max_inputs];
    ArraySignature outputs[Job::max_outputs];
    int ninputs, noutputs;
    bool maybe_contacts;   // may be given and need not: there is an algorithm more, for them
    bool solves;           // refuses models with massless joints
    bool any_quaternions;  // their norms are not checked
    // The classes in dtau.results of several results: without and with contacts, if these differ.
    const char *results, *all_results;
    const char* smaller;  // what to ask for where results do not fit into memory
};

// The place among the arguments of an option; -1: the function does not take it.
constexpr int place(const Signature& s, Option option) {
    for (int k = 0; k < s.narguments; ++k)
        if (s.arguments[k].input < 0 && s.arguments[k].option == option) return k;
    return -1;
}
// The input that an optional last result belongs to: the last one like it; -1: there is none, the
// result is one of contacts.
inline __attribute__((always_inline)) int input_of_last_result(const Signature& s) {
    int i = s.ninputs - 1;
    while (i >= 0 && s.inputs[i].quantity != s.outputs[s.noutputs - 1].quantity) --i;
    return i;
}
// How many results a call has; is_given(i) says whether input i is.
template <class IsGiven>
int count_results(const Signature& s, const Options& options, const IsGiven& is_given) {
    if (!s.outputs[s.noutputs - 1].optional) return s.noutputs;
    const int i = input_of_last_result(s);
    const bool there = i < 0 ? options.contacts != nullptr : is_given(i);
    return s.noutputs - !there;
}

// A function as it was compiled for one instruction set, whose list of functions can run it.
struct Function {
    Signature signature;
    const void* implementation;  // what list.cpp knows how to run
};

// The functions of one file.
struct FunctionGroup {
    const Function* functions;
    int count;

    template <int n>
    constexpr FunctionGroup(const Function (&list)[n]) : functions(list), count(n) {}
};

// All functions of one instruction set.
struct FunctionList {
    int lanes;
    const FunctionGroup* const* groups;
    int ngroups;
    void (*run)(const Function&, const Tree&, const Job&, std::ptrdiff_t begin, std::ptrdiff_t end);
    // Bytes of scratch memory that each thread of a run takes.
    std::size_t (*scratch)(const Function&, const Tree&, const Job&);
    bool (*has)(const Function&, Element);
    PeakRate (*peak_rate)();
    // Multiplications, additions and divisions of this thread since the last call.
    void (*take_operation_counts)(long long*);
};

}  // namespace dtau
