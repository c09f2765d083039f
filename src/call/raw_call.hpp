// Calls one function of one model on raw pointers, from other libraries' runtimes and without
// Python: RawCall::run().
//
// Python prepares a RawCall once: it reads the options and computes the sizes. Any thread may run
// it, without the interpreter's lock, the thread pool or exceptions. Numbers are float64 and
// contiguous. The results equal the results of Python's call to the last bit, except that quaternions
// are normalized: such runtimes have no place to refuse one, and derivatives by its numbers are
// derivatives of f(normalize(q)). (A zero quaternion gives NaN.)
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "batch/scratch.hpp"
#include "call/form.hpp"

namespace dtau {

// One input; null data: it is not given. Its batch axes broadcast against the others' batch axes.
struct RawInput {
    const double* data = nullptr;
    int naxes = 0;
    const std::int64_t* shape = nullptr;
};

// Memory and threads of a run. A later run of as many states or fewer allocates none.
struct RawMemory {
    std::vector<double> quaternions[Job::max_inputs];  // configurations, normalized
    std::vector<Place> order;
    int threads = 1;  // the most that share a run, the calling one included
    ScratchBlocks scratch;
};

class RawCall {
  public:
    // An input or a result, and the shape and the number of one state's numbers.
    struct Array {
        const ArraySignature& signature;
        const Shape& shape;
        std::ptrdiff_t size;
    };

    virtual ~RawCall() = default;

    const Signature& signature() const { return function_.signature; }
    Array input(int i) const {
        return {signature().inputs[i], form_.input_shapes[i], form_.job.inputs[i].size};
    }
    Array result(int r) const {
        const int o = outputs_[r];
        return {signature().outputs[o], form_.result_shapes[o], form_.job.outputs[o].stored()};
    }
    // The number of results that the options ask for, the optional one included.
    int nresults() const { return nresults_; }
    const CompiledTree& tree() const { return *tree_; }
    const Options& options() const { return *form_.job.options; }
    // The places of a result's numbers in the dense result, for Layout::pattern; empty: it is dense.
    Entries entries(int r) const;

    // Why a run is refused that does not give inertias: joints of the model have none. Empty: they have.
    const std::string& problem() const { return problem_; }

    // Computes `count` states: as many as the inputs broadcast to, and as the results have room for.
    // Takes as many inputs as the signature has, and nresults() results; the optional one may be null
    // where its input is not given. Returns false and a sentence in `error` where it cannot.
    bool run(const RawInput* inputs, double* const* results, std::ptrdiff_t count,
             std::string& error) const noexcept;
    // Runs inputs that hold so many states each.
    bool run(const double* const* inputs, double* const* results, std::ptrdiff_t count,
             std::string& error, RawMemory& memory) const noexcept;
    // Makes the memory of runs of up to so many states, and starts their threads: at most so many, or
    // for 0 as many as are of use.
    void reserve(std::ptrdiff_t count, int threads, RawMemory& memory) const;

  protected:
    // Finds the function of this name in a list. Throws std::invalid_argument if there is none.
    RawCall(const FunctionList& (*list)(), const CompiledTree& tree, std::string_view name);

    // Computes the sizes of all arrays. The call keeps the address of the options.
    void describe(const Options& options, bool single_frame);

  private:
    bool run(const RawInput* inputs, double* const* results, std::ptrdiff_t count,
             std::string& error, RawMemory& memory) const noexcept;
    void broadcast(const RawInput* inputs, Job& job) const;
    void compute(Job& job, RawMemory& memory) const;

    const FunctionList& (*list_)();  // of the instruction set in use
    const Function function_;
    const CompiledTree* tree_;
    CallForm form_;
    int nresults_ = 0, outputs_[Job::max_outputs];  // which outputs of the job the results are
    bool single_frame_ = false;
    bool map_leaves_pattern_ = false;  // an input map makes numbers outside of Layout::pattern
    std::string problem_;
};

// Finds a call by its number, for runtimes that can hold nothing else. Null: this process has not
// prepared a call of this number.
std::shared_ptr<const RawCall> raw_call(std::int64_t number) noexcept;

// Holds a call under its number for as long as the process lives. The first call of a number stays.
void hold_raw_call(std::int64_t number, std::shared_ptr<const RawCall> call);

}  // namespace dtau
