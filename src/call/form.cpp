// Describes the arrays of a call: CallForm::describe(), find_function(), missing_inertia().
#include "call/form.hpp"

#include <stdexcept>

namespace dtau {

void CallForm::describe(const Signature& signature, const CompiledTree& compiled,
                        const Options& options, bool single_frame) {
    const Sizes sizes = {compiled.tree(), options, single_frame};
    job.options = &options;
    name_inputs(job, signature);
    for (int i = 0; i < signature.ninputs; ++i) {
        const ArraySignature& given = signature.inputs[i];
        Input& input = job.inputs[i];
        Shape& shape = input_shapes[i] = input_shape(given, sizes);
        if (given.rows != not_stacked) {
            input.stacked = options.order + given.rows;
            shape = stacked(shape, input.stacked);
        }
        input.size = 1;
        for (int k = 0; k < shape.ndim; ++k) input.size *= static_cast<int>(shape.size[k]);
        input.spacing = sizeof(double);
        input.mimic_role = given.quantity->as_input;
    }
    describe_outputs(job, signature, sizes, result_shapes);
    if (options.layout != Layout::pattern) return;
    entries = std::make_unique<EntryList[]>(Job::max_outputs);
    store_patterns(job, signature, compiled, sizes, result_shapes, entries.get());
}

Function find_function(const FunctionList& list, std::string_view name) {
    for (int g = 0; g < list.ngroups; ++g)
        for (int k = 0; k < list.groups[g]->count; ++k)
            if (list.function(g, k).signature.name == name) return list.function(g, k);
    throw std::invalid_argument("name: expected a function of dtau, got '" + std::string(name) +
                                "'");
}

std::string missing_inertia(const Signature& signature, const CompiledTree& compiled,
                            const Options& options) {
    const std::string names =
        signature.solves ? joints_without_inertia(compiled, options.prescribed) : std::string();
    if (names.empty()) return {};
    return "expected a model in which every joint has inertia to accelerate, got none at joints " +
           names + "; give them inertia or armature";
}

}  // namespace dtau
