// Describes the arrays of a call: CallForm, made from a function's row, a model and options. Every call
// starts from one: Python's lone states and batches, recordings, XLA, CasADi, C and C++.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "registry/patterns.hpp"
#include "registry/signature.hpp"
#include "tree/compiled_tree.hpp"

namespace dtau {

struct CallForm {
    Job job;  // the sizes and roles of a state's inputs and results, without their memory
    Shape input_shapes[Job::max_inputs], result_shapes[Job::max_outputs];  // of one state
    std::unique_ptr<EntryList[]> entries;  // of results on their pattern, if there are any

    explicit CallForm(const Signature& s) : job(s.ninputs, s.noutputs) {}

    // The options must outlive the form. They have what arrays decide elsewhere: the number of inputs of
    // a map, the order of stacks, and whether parameters include parameters of joints.
    void describe(const Signature& signature, const CompiledTree& compiled, const Options& options,
                  bool single_frame);
};

// Chooses the results of a described job: all that its options ask for, and the optional one where its input
// is given. Returns how many there are before the results of `by`.
template <class IsGiven>
int choose_results(Job& job, const Signature& signature, const IsGiven& is_given) {
    const int count = count_results(signature, *job.options, is_given);
    job.noutputs = count_outputs(signature, *job.options, count);
    if (misses_one(signature, count)) job.outputs[count] = Output();
    return count;
}

// Finds a function by its name. Throws std::invalid_argument if there is none.
Function find_function(const FunctionList& list, std::string_view name);

// Why a function cannot solve with this model: joints that the options leave free have no inertia. Empty: it can.
std::string missing_inertia(const Signature& signature, const CompiledTree& compiled,
                            const Options& options);

}  // namespace dtau
