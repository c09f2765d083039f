// Gives tests without Python robots, random arguments and the results of the registry's functions: Robot,
// random_inputs(), results().
#pragma once

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "batch/first_failure.hpp"
#include "call/form.hpp"
#include "registry/dispatch.hpp"
#include "tree/compiled_contacts.hpp"

namespace dtau {

inline std::mt19937_64 bits;

inline double random_number() {
    return std::ldexp(static_cast<double>(bits() >> 11), -52) - 1.0;  // from -1 to 1
}

inline std::array<double, 9> turned(double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    return {c, -s, 0, s, c, 0, 0, 0, 1};
}

// A body with this joint. `mimicked`: the body whose joint this one follows; -1: none.
inline BodyDescription body(JointKind kind, int number, int parent, int mimicked = -1) {
    return {kind,
            parent,
            number,
            mimicked,
            mimicked < 0 ? 1.0 : -0.5,
            mimicked < 0 ? 0.0 : 0.1,
            turned(0.3 * number),
            {0.1, 0.02 * number, 0.3},
            {number % 3 ? 0.6 : 0.0, 0.0, number % 3 ? 0.8 : 1.0},
            kind == JointKind::helical ? 0.2 : 0.0,
            1.0 + 0.1 * number,
            {0.1, -0.05, 0.2},
            {0.10, 0.01, 0, 0.01, 0.12, 0, 0, 0, 0.09}};
}

struct Robot {
    std::string name;
    std::vector<BodyDescription> description;
    CompiledTree compiled;
    std::vector<Frame> frames;
    CompiledContacts contacts;

    // A contact holds the first of these bodies in the world, a loop the second one at the third.
    Robot(const char* name, const std::vector<BodyDescription>& bodies,
          const std::array<int, 3>& held)
        : name(name),
          description(bodies),
          compiled(description, std::vector<std::string>(description.size(), "joint"), {},
                   std::vector<double>(dofs(), 0.01), std::vector<double>(dofs(), 0.1),
                   {0, 0, -9.81}),
          frames(2, Frame{held[2], {1, 0, 0, 0, 1, 0, 0, 0, 1}, {0.1, 0.2, 0.3}}),
          contacts(compiled, {{{held[0], turned(0.4), {0.1, 0.0, 0.2}},
                               {-1, turned(0.0), {}},
                               6,
                               -1,
                               Axes::mixed,
                               true,
                               9.0,
                               6.0,
                               true},
                              {{held[1], turned(0.2), {0.0, 0.1, 0.0}},
                               {held[2], turned(0.1), {}},
                               3,
                               -1,
                               Axes::body,
                               false,
                               0.0,
                               6.0,
                               false}}) {}

    int dofs() const {
        int n = 0;
        for (const BodyDescription& body : description) n += traits(body.kind).nv;
        return n;
    }
};

using Numbers = std::vector<std::vector<double>>;  // of each array, state after state

// Random numbers for so many states: unit quaternions in configurations, positive masses in inertial
// parameters. All contacts hold.
inline std::vector<double> random_numbers(const Quantity& quantity, int size, int states,
                                          const CompiledTree& compiled) {
    constexpr double heavy[10] = {2.0, 0.0, 0.0, 0.0, 0.3, 0.0, 0.3, 0.0, 0.0, 0.3};
    std::vector<double> x(static_cast<std::size_t>(size) * states);
    for (double& number : x) number = quantity == Quantity::active_contacts ? 1.0 : random_number();
    const int bodies = 10 * compiled.tree().nbodies;  // numbers of joints may follow
    for (std::size_t k = 0; k < x.size() && quantity == Quantity::given_parameters; ++k) {
        const int place = static_cast<int>(k) % size;
        x[k] = place < bodies ? heavy[place % 10] + 0.05 * x[k] : 0.05 * std::fabs(x[k]);
    }
    for (int state = 0; state < states && quantity == Quantity::q; ++state)
        for (const auto& [first, body] : compiled.quaternions()) {
            double* quaternion = &x[state * size + first];
            const double norm = std::hypot(std::hypot(quaternion[0], quaternion[1]),
                                           std::hypot(quaternion[2], quaternion[3]));
            for (int k = 0; k < 4; ++k) quaternion[k] /= norm;
        }
    return x;
}

// All inputs of a function.
inline Numbers random_inputs(const Signature& s, const CompiledTree& compiled,
                             const Options& options, int states) {
    Numbers inputs;
    for (int i = 0; i < s.ninputs; ++i) {
        const Shape core = core_shape(*s.inputs[i].quantity, {compiled.tree(), options, false});
        int size = s.inputs[i].rows == not_stacked ? 1 : options.order + s.inputs[i].rows;
        for (int k = 0; k < core.ndim; ++k) size *= static_cast<int>(core.size[k]);
        inputs.push_back(random_numbers(*s.inputs[i].quantity, size, states, compiled));
    }
    return inputs;
}

// One call of a function of the set in use: its job, and its results.
struct Call : CallForm {
    const Function function;
    const Tree& tree;
    Numbers results;

    // It keeps the addresses of all arguments. Inputs without numbers are not given.
    Call(const Function& function, const CompiledTree& compiled, const Options& options,
         const Numbers& inputs, int states, ScalarKind scalar = ScalarKind::real)
        : CallForm(function.signature), function(function), tree(compiled.tree()) {
        const Signature& s = function.signature;
        job.scalar = scalar;
        job.naxes = 1, job.shape[0] = job.count = states;
        describe(s, compiled, options, false);
        for (int i = 0; i < s.ninputs; ++i) {
            Input& input = job.inputs[i];
            if (!inputs[i].empty()) input.data = reinterpret_cast<const char*>(inputs[i].data());
            input.stride[0] = input.size * static_cast<std::ptrdiff_t>(sizeof(double));
        }
        choose_results(job, s, [&](int i) { return !inputs[i].empty(); });
        for (int o = 0; o < job.noutputs; ++o) {
            results.emplace_back(job.outputs[o].stored() * states);
            job.outputs[o].data = reinterpret_cast<char*>(results[o].data());
        }
    }
    Call(const Call&) = delete;

    std::size_t scratch_bytes() const { return functions().scratch(function, tree, job); }
    const Numbers& run() {
        functions().run(function, tree, job, 0, job.count);
        return results;
    }
};

// Whether all numbers have the same bits.
inline bool same_bits(const Numbers& a, const Numbers& b) {
    for (std::size_t o = 0; o < a.size(); ++o)
        if (a[o].size() != b[o].size() ||
            (!a[o].empty() && std::memcmp(a[o].data(), b[o].data(), a[o].size() * sizeof(double))))
            return false;
    return a.size() == b.size();
}

}  // namespace dtau
