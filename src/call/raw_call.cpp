// Runs one function on raw pointers without Python: RawCall::run() broadcasts the inputs,
// normalizes quaternions and runs the job.
#include "call/raw_call.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "batch/order.hpp"
#include "batch/parallel.hpp"
#include "batch/scratch.hpp"
#include "batch/system.hpp"
#include "registry/split_batch.hpp"

namespace dtau {
namespace {

// Whether a quaternion is normalized as dtau.normalize does it; its last bits then stay unchanged.
bool is_normalized(const double* x) {
    const double squared = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3];
    return std::fabs(squared - 1.0) <= 8.0 * std::numeric_limits<double>::epsilon();
}

// Returns the configurations with unit quaternions; in `copy` if some are not.
const double* normalized(const CompiledTree& tree, const double* q, int nq, std::ptrdiff_t count,
                         std::vector<double>& copy) {
    copy.clear();
    for (std::ptrdiff_t state = 0; state < count; ++state)
        for (const auto& [first, body] : tree.quaternions()) {
            const double* x = (copy.empty() ? q : copy.data()) + state * nq + first;
            if (is_normalized(x)) continue;
            if (copy.empty()) copy.assign(q, q + count * nq);
            double* y = copy.data() + state * nq + first;
            const double norm = std::hypot(std::hypot(y[0], y[1], y[2]), y[3]);
            for (int k = 0; k < 4; ++k) y[k] /= norm;
        }
    return copy.empty() ? q : copy.data();
}

// The part of a batch that a thread computes.
struct Share {
    const FunctionList& list;
    const Function function;
    const Tree& tree;
    const Job& job;
    const ScratchBlocks& scratch;

    static void compute(const void* self, std::ptrdiff_t begin, std::ptrdiff_t end) {
        const Share& x = *static_cast<const Share*>(self);
        const LentScratch lent(x.scratch);
        x.list.run(x.function, x.tree, x.job, begin, end);
    }
};

struct Registry {
    std::mutex mutex;
    std::unordered_map<std::int64_t, std::shared_ptr<const RawCall>> calls;
};
// Never destroyed: other threads may still call at the end of the process.
Registry& registry() {
    static Registry& r = *new Registry;
    return r;
}

// Holds the lock during a fork, so that the child never finds the registry in the middle of a
// change or a look-up. A std::shared_mutex cannot do this: it is unlocked by the id of the thread
// that locked it, and the child's thread has another.
[[maybe_unused]] const int at_fork =
    at_forks([] { registry().mutex.lock(); }, [] { registry().mutex.unlock(); },
             [] { registry().mutex.unlock(); });

}  // namespace

RawCall::RawCall(const FunctionList& (*list)(), const CompiledTree& tree, std::string_view name)
    : list_(list),
      function_(find_function(list(), name)),
      tree_(&tree),
      form_(function_.signature) {}

void RawCall::describe(const Options& options, bool single_frame) {
    const Signature& s = signature();
    problem_ = missing_inertia(s, *tree_, options);
    if (!problem_.empty()) {
        if (s.parameters < 0) throw std::invalid_argument(std::string(s.name) + ": " + problem_);
        problem_ += ", or inertias in the argument parameters";
    }
    single_frame_ = single_frame;
    form_.describe(s, *tree_, options, single_frame);
    if (options.layout == Layout::pattern && takes_input_map(s)) {
        Options with_map = options;
        with_map.driven.columns = nullptr;
        const Sizes sizes = {tree_->tree(), options, single_frame};
        const Sizes of_map = {tree_->tree(), with_map, single_frame};
        for (int o = 0; o < s.noutputs; ++o) {
            const Quantity& quantity = *s.outputs[o].quantity;
            map_leaves_pattern_ |=
                has_pattern(quantity) &&
                dtau::entries(quantity, sizes).size() != dtau::entries(quantity, of_map).size();
        }
    }
    for (int o = 0; o < s.noutputs; ++o)
        if (Asked::is_there(s.outputs[o], options)) outputs_[nresults_++] = o;
}

void RawCall::reserve(std::ptrdiff_t count, int threads, RawMemory& memory) const {
    const Signature& s = signature();
    const double results = count_numbers(form_.job);
    double numbers = results;
    for (int i = 0; i < s.ninputs; ++i) numbers += form_.job.inputs[i].size;
    if (8.0 * numbers * static_cast<double>(count) > 0.5 * static_cast<double>(PTRDIFF_MAX))
        throw std::bad_alloc();  // sizes below would overflow
    for (int i = 0; i < s.ninputs && !tree_->quaternions().empty(); ++i)
        if (form_.job.inputs[i].mimic_role == MimicRole::q && !s.any_quaternions)
            memory.quaternions[i].reserve(form_.job.inputs[i].size * count);
    if (s.active >= 0) memory.order.reserve(count);
    static const char there = 0;
    std::size_t bytes = s.active >= 0 ? order_scratch_bytes(count) : 0;
    for (const std::ptrdiff_t states : {std::ptrdiff_t(1), count}) {
        Job job = form_.job;
        job.naxes = 1, job.shape[0] = job.count = states;
        for (int i = 0; i < job.ninputs; ++i) job.inputs[i].data = &there;
        bytes = std::max(bytes, list_().scratch(function_, tree_->tree(), job));
    }
    memory.threads =
        split_batch(s, tree_->tree(), options(), list_().lanes, count, threads, results).threads;
    // The calling thread holds a block during the whole run, and one more for each chunk.
    memory.scratch = ScratchBlocks(memory.threads > 1 ? memory.threads + 1 : 1, bytes);
    start_threads(memory.threads - 1);
}

Entries RawCall::entries(int r) const {
    const Quantity& quantity = *signature().outputs[outputs_[r]].quantity;
    if (options().layout == Layout::dense || !has_pattern(quantity)) return {};
    return dtau::entries(quantity, {tree_->tree(), options(), single_frame_});
}

void RawCall::broadcast(const RawInput* inputs, Job& job) const {
    for (int i = 0; i < job.ninputs; ++i) {
        if (!inputs[i].data) continue;
        if (inputs[i].naxes > Job::max_axes)
            throw std::invalid_argument(std::string(signature().inputs[i].name) + " has " +
                                        std::to_string(inputs[i].naxes) +
                                        " batch axes, expected at most " +
                                        std::to_string(Job::max_axes));
        job.naxes = std::max(job.naxes, inputs[i].naxes);
    }
    for (int axis = 0; axis < job.naxes; ++axis) job.shape[axis] = 1;
    for (int i = 0; i < job.ninputs; ++i) {
        const RawInput& input = inputs[i];
        const ArraySignature& expected = signature().inputs[i];
        if (!input.data && !expected.optional)
            throw std::invalid_argument(std::string(expected.name) +
                                        ": expected an array, got none");
        if (!input.data) continue;
        job.inputs[i].data = reinterpret_cast<const char*>(input.data);
        const int skip = job.naxes - input.naxes;
        std::ptrdiff_t stride = job.inputs[i].size * static_cast<std::ptrdiff_t>(sizeof(double));
        for (int axis = 0; axis < skip; ++axis) job.inputs[i].stride[axis] = 0;
        for (int axis = input.naxes - 1; axis >= 0; --axis) {
            const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(input.shape[axis]);
            std::ptrdiff_t& size = job.shape[skip + axis];
            if (n != 1 && size != 1 && n != size)
                throw std::invalid_argument("batch shapes do not broadcast against each other");
            if (n != 1) size = n;
            job.inputs[i].stride[skip + axis] = n == 1 ? 0 : stride;
            stride *= n;
        }
    }
    for (int axis = 0; axis < job.naxes; ++axis) job.count *= job.shape[axis];
}

void RawCall::compute(Job& job, RawMemory& memory) const {
    const Signature& s = signature();
    // A call by numbers reads their norms too, and normalizes them itself.
    const bool normalizes = !tree_->quaternions().empty() && !job.options->by_numbers;
    for (int i = 0; i < job.ninputs && normalizes; ++i) {
        if (!job.inputs[i].data || job.inputs[i].mimic_role != MimicRole::q || s.any_quaternions)
            continue;
        std::ptrdiff_t states = 1;
        for (int axis = 0; axis < job.naxes; ++axis)
            if (job.inputs[i].stride[axis] != 0) states *= job.shape[axis];
        const double* q = reinterpret_cast<const double*>(job.inputs[i].data);
        job.inputs[i].data = reinterpret_cast<const char*>(
            normalized(*tree_, q, job.inputs[i].size, states, memory.quaternions[i]));
    }
    const FunctionList& list = list_();
    std::vector<Place>& order = memory.order;
    if (may_order(job)) {
        order.resize(job.count);
        bool changes = false;
        for (std::ptrdiff_t begin = 0; begin < job.count; begin += order_window)
            changes |= order_states(tree_->tree(), job, list.lanes, begin, order.data());
        if (changes) job.order = order.data();
    }
    BatchSplit split = {1, job.count, 0.0};
    if (memory.threads > 1)
        split = split_batch(s, tree_->tree(), options(), list.lanes, job.count, memory.threads,
                            count_numbers(form_.job));
    if (split.threads == 1) {
        list.run(function_, tree_->tree(), job, 0, job.count);
    } else {
        const Share share = {list, function_, tree_->tree(), job, memory.scratch};
        run_parallel({Share::compute, &share, job.count},
                     {split.threads, split.chunk, [](void*) { return false; }, nullptr});
    }
    trim_scratch();
}

bool RawCall::run(const RawInput* inputs, double* const* results, std::ptrdiff_t count,
                  std::string& error) const noexcept {
    RawMemory memory;
    return run(inputs, results, count, error, memory);
}

bool RawCall::run(const RawInput* inputs, double* const* results, std::ptrdiff_t count,
                  std::string& error, RawMemory& memory) const noexcept {
    const auto fail = [&](const char* what) noexcept {
        try {
            error = std::string(signature().name) + ": " + what;
        } catch (...) {  // out of memory
        }
        return false;
    };
    try {
        Job job = form_.job;
        if (!problem_.empty() && !inputs[job.parameters].data) return fail(problem_.c_str());
        for (int i = 0; i < job.ninputs && map_leaves_pattern_; ++i)
            if (inputs[i].data && *signature().inputs[i].quantity == Quantity::input_map)
                return fail(
                    "inputs: expected none with layout=pattern and a robot of several trees, as a "
                    "map has numbers in B outside of its pattern; leave layout out");
        broadcast(inputs, job);
        const auto is_given = [&](int i) { return inputs[i].data != nullptr; };
        const int leading = choose_results(job, signature(), is_given);
        const int left_out = misses_one(signature(), leading) ? leading : -1;
        for (int r = 0; r < nresults_; ++r) {
            if (outputs_[r] == left_out) continue;
            if (!results[r]) return fail("expected memory for every result");
            job.outputs[outputs_[r]].data = reinterpret_cast<char*>(results[r]);
        }
        if (job.count != count)
            return fail(("expected results with room for " + std::to_string(job.count) +
                         " states, got room for " + std::to_string(count))
                            .c_str());
        if (job.count == 0) return true;
        compute(job, memory);
        return true;
    } catch (const std::exception& e) {
        return fail(e.what());
    }
}

bool RawCall::run(const double* const* inputs, double* const* results, std::ptrdiff_t count,
                  std::string& error, RawMemory& memory) const noexcept {
    const std::int64_t shape = count;
    RawInput given[Job::max_inputs];
    for (int i = 0; i < form_.job.ninputs; ++i) given[i] = {inputs[i], 1, &shape};
    return run(given, results, count, error, memory);
}

std::shared_ptr<const RawCall> raw_call(std::int64_t number) noexcept {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    const auto found = r.calls.find(number);
    return found == r.calls.end() ? nullptr : found->second;
}

void hold_raw_call(std::int64_t number, std::shared_ptr<const RawCall> call) {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    r.calls.try_emplace(number, std::move(call));
}

}  // namespace dtau
