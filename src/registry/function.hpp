// Defines functions: function() joins a signature and its algorithms, with arguments by name.
//
//     constexpr Row functions[] = {
//         function({.name = "inverse_dynamics"}, takes(q, v, a, f_ext), gives(torque),
//                  algorithm<RneaWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
//                      rnea<T>(tree, x[q], x[v], x[a], x[f_ext], x[torque], w);
//                  })),
//     };
//
// Every argument has a type of its own, so the compiler checks and resolves x[q].
#pragma once

#include <new>
#include <type_traits>

#include "batch/finite_test.hpp"
#include "batch/run.hpp"
#include "registry/signature.hpp"

namespace dtau::DTAU_VARIANT {

template <std::size_t size> struct Text {
    char at[size];
    constexpr Text(const char (&text)[size]) {
        for (std::size_t k = 0; k < size; ++k) at[k] = text[k];
    }
};

// An input and a result.
template <Text name, const Quantity& quantity, int rows = not_stacked,
          Default left_out = Default::required>
struct In {
    static constexpr Default by_default = left_out;
    static constexpr ArraySignature signature = {name.at, &quantity, rows,
                                                 left_out == Default::none};
};
template <Text name, const Quantity& quantity, int rows = not_stacked, bool optional = false,
          Kept kept = Kept::nothing>
struct Out {
    static constexpr ArraySignature signature = {name.at, &quantity, rows, optional, 0, kept};
};
template <Text name, const Quantity& quantity, Kept kept>
using KeptOut = Out<name, quantity, not_stacked, false, kept>;
// A result that options ask for (Asked); such ones are the last, results of `forces` alone first.
template <int asked, Text name, const Quantity& quantity> struct AskedOut {
    static constexpr ArraySignature signature = {name.at, &quantity, not_stacked, false, asked};
};
template <Text name, const Quantity& quantity>
using ForceOut = AskedOut<Asked::forces, name, quantity>;

// An option, by its name in Python.
template <Text name, Option option, Default by_default> struct Opt {
    static constexpr const char* text = name.at;
};

// The arguments of a function in their public order: inputs and options from takes(), results from
// gives().
template <class... A> struct ArgumentList {
    // The index of X among the arrays; -1: it is not there.
    template <class X> static constexpr int place() {
        int k = 0, found = -1;
        ((found = std::is_same_v<A, X> ? k : found, k += is_array<A>), ...);
        return found;
    }
    static constexpr void describe_inputs(Signature& s) { (describe_input(s, A{}), ...); }
    static constexpr void describe_outputs(Signature& s) {
        (describe_output(s, A::signature), ...);
    }

  private:
    template <class X> static constexpr bool is_array = requires { X::signature; };

    static constexpr void describe_output(Signature& s, const ArraySignature& result) {
        s.nalways += !result.optional && !result.asked;
        s.nforces += result.asked == Asked::forces;
        s.nby += result.asked > Asked::forces;
        s.outputs[s.noutputs++] = result;
    }

    template <class X> static constexpr void describe_input(Signature& s, X) {
        s.arguments[s.narguments++] = {X::signature.name, X::by_default, s.ninputs, {}};
        if (X::signature.quantity->axes[0] == Axis::ngiven_parameters) s.parameters = s.ninputs;
        if (*X::signature.quantity == Quantity::active_contacts) s.active = s.ninputs;
        if (*X::signature.quantity == Quantity::contact_positions) s.positions = s.ninputs;
        if (X::signature.numbers & Converted::tangent) s.tangents |= 1u << s.ninputs;
        s.inputs[s.ninputs++] = X::signature;
    }
    template <Text name, Option option, Default by_default>
    static constexpr void describe_input(Signature& s, Opt<name, option, by_default>) {
        s.arguments[s.narguments++] = {Opt<name, option, by_default>::text, by_default, -1, option};
        s.optional_contacts |= option == Option::contacts && by_default == Default::none;
    }
};
template <class... A> constexpr ArgumentList<A...> takes(A...) { return {}; }
template <class... A> constexpr ArgumentList<A...> gives(A...) { return {}; }

// The arguments of an algorithm by name: x[q] is the input q, x[dtau_dq] the result dtau_dq.
template <class T, class Inputs, class Outputs> struct NamedArguments {
    const Arguments<T>& all;
    const Options& options;

    template <class A> DTAU_INLINE auto operator[](A) const {
        constexpr int in = Inputs::template place<A>(), out = Outputs::template place<A>();
        static_assert(in >= 0 || out >= 0, "the function does not take or give this");
        if constexpr (in >= 0)
            return all.inputs[in];
        else
            return all.outputs[out];
    }
    // Keeps the configuration of all joints that a step reaches, for results by its numbers.
    void reach(const Tree& tree, const T* q_next) const {
        if (all.reached) all.reached->keep(tree, q_next);
    }
    // Leaves nothing of a state in which numbers of these results, with the algorithm's sizes, are not
    // finite.
    template <class... A> void require_finite(A... results) const {
        FiniteTest<T> test;
        (test.add((*this)[results], all.destination.size[Outputs::template place<A>()]), ...);
        for (int l = 0; l < group_size<T>; ++l)
            if (!test.is_finite(l)) all.outcomes->fail(l, Outcome::nothing);
    }
    // Reports failures to the job (dtau/algorithms/constraints/failures.hpp).
    template <class Failures> DTAU_INLINE void report(Failures* failures, int stage = 0) const {
        failures->take(stage, [&](int lane, const Failure& why) { all.report(lane, why); });
    }
};

// The workspace of algorithms that need none.
template <class T> struct NoWorkspace {
    NoWorkspace(Arena&, const Tree&, const Options&) {}
};

// The workspace of an algorithm together with the one that transforms external wrenches.
template <template <class> class Algorithm, template <class> class Wrenches> struct WithWrenches {
    template <class T> struct Workspace {
        Algorithm<T> algorithm;
        Wrenches<T> wrenches;

        Workspace(Arena& arena, const Tree& tree, const Options& options)
            : algorithm(arena, tree, options), wrenches(arena, tree, options) {}
    };
};

// How the batch layer applies an algorithm, and the scalars that it is compiled for.
struct KernelTraits {
    Results results = Results::dense;
    bool lanes = true;
};

// An algorithm of the registry. Its body is a function of the tree, the named arguments and the
// workspace, for any scalar. A workspace may request that the states of a batch are computed one by
// one.
template <template <class> class Workspace, KernelTraits traits, class Body> struct Kernel {
    // Compiled for size: it runs once a call and has hundreds of instances.
    template <class T>
    __attribute__((cold)) static const void* workspace(Arena& arena, const Tree& tree,
                                                       const Job& job) {
        return arena.make<Workspace<T>>(tree, *job.options);
    }
    template <class T, class Inputs, class Outputs>
    static void apply(const Tree& tree, const Arguments<T>& x, const void* workspace) {
        Body{}.template operator()<T>(tree, NamedArguments<T, Inputs, Outputs>{x, *x.options},
                                      *static_cast<const Workspace<T>*>(workspace));
    }
    template <class T, class Inputs, class Outputs> static constexpr Algorithm<T> scalar() {
        return {workspace<T>, apply<T, Inputs, Outputs>};
    }
    template <class Inputs, class Outputs> static constexpr Algorithms algorithms() {
        Algorithms a;
        a.results = traits.results;
        if constexpr (requires { Workspace<double>::one_by_one; })
            a.one_by_one = Workspace<double>::one_by_one;
#ifndef DTAU_LONE_STATES
        a.alone = scalar<Alone, Inputs, Outputs>();
#endif
#if !defined(DTAU_NO_LANES) && !defined(DTAU_SCALAR)
        if constexpr (traits.lanes) a.in_lanes = scalar<Lane, Inputs, Outputs>();
#endif
        return a;
    }
};
template <template <class> class Workspace, KernelTraits traits = KernelTraits{}, class Body>
constexpr Kernel<Workspace, traits, Body> algorithm(Body) {
    return {};
}

// The algorithms of a function: without mimic joints; with mimic joints, if they need another; and with
// constraints, if contacts are one of its options.
struct Implementation {
    Algorithms independent, mimic, constrained;
    bool for_mimic;  // there is one for mimic joints
};
struct NoAlgorithm {
    template <class Inputs, class Outputs> static constexpr Algorithms algorithms() { return {}; }
};
template <class Inputs, class Outputs, class Independent, class Mimic, class Constrained>
inline constexpr Implementation implementation = {
    Independent::template algorithms<Inputs, Outputs>(),
    Mimic::template algorithms<Inputs, Outputs>(),
    Constrained::template algorithms<Inputs, Outputs>(), !std::is_same_v<Mimic, NoAlgorithm>};

// ---------------------------------------------------------------- rows

// A function as a file registers it. The group of the file (group.hpp) holds what programs read of it.
struct Row {
    Signature signature;
    const void* implementation;  // an Implementation
};

// Marks the algorithm with constraints.
template <class Algorithm> struct WithContacts : Algorithm {};

template <class Inputs, class Outputs, class Independent, class Mimic, class Constrained>
constexpr Row function(const FunctionInfo& info, Inputs, Outputs, Independent, Mimic, Constrained) {
    Row row = {{}, &implementation<Inputs, Outputs, Independent, Mimic, Constrained>};
    Signature& s = row.signature;
    s.name = info.name, s.links = info.links;
    Inputs::describe_inputs(s);
    Outputs::describe_outputs(s);
    s.solves = info.solves, s.any_quaternions = info.any_quaternions;
    s.results = info.results, s.memory_advice = info.memory_advice;
    return row;
}
template <class Inputs, class Outputs, class Independent, class Mimic>
constexpr Row function(const FunctionInfo& info, Inputs inputs, Outputs outputs,
                       Independent independent, Mimic mimic) {
    return function(info, inputs, outputs, independent, mimic, NoAlgorithm());
}
// The same algorithm whether joints mimic others or not.
template <class Inputs, class Outputs, class Any>
constexpr Row function(const FunctionInfo& info, Inputs inputs, Outputs outputs, Any any) {
    return function(info, inputs, outputs, any, NoAlgorithm());
}
template <class Inputs, class Outputs, class Any, class Constrained>
constexpr Row function(const FunctionInfo& info, Inputs inputs, Outputs outputs, Any any,
                       WithContacts<Constrained> constrained) {
    return function(info, inputs, outputs, any, NoAlgorithm(), constrained);
}

}  // namespace dtau::DTAU_VARIANT
