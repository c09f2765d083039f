// Plans and runs the work of a call: plan() chooses threads and chunks, run() computes and handles
// signals.
#include "python/call.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>

#include "batch/order.hpp"
#include "batch/parallel.hpp"
#include "batch/require_memory.hpp"
#include "batch/watched.hpp"
#include "python/lock.hpp"
#include "python/messages.hpp"
#include "registry/run_states.hpp"
#include "registry/split_batch.hpp"

namespace nb = nanobind;

namespace dtau {

// Work that threads may need after its call has returned.
struct SlowWork {
    Work work;
    const States states;
    FirstFailure failure;
    SlowWork* next = nullptr;

    explicit SlowWork(Work&& fast) : work(std::move(fast)), states(work) {
        work.job.options = &work.options.values;
        work.job.failure = &failure;
    }
};
std::atomic<SlowWork*> ended_work = nullptr;

namespace {

void end_work(SlowWork* slow) {
    slow->next = ended_work;
    while (!ended_work.compare_exchange_weak(slow->next, slow)) {
    }
}

// Bytes of scratch memory for all threads; 0 if too few to check.
double scratch_of_threads(const States& x, int threads, double numbers) {
    // An algorithm takes at most some ten arrays of the size of its results and of matrices.
    if (10.0 * 8.0 * numbers * x.list.lanes * threads < 64e6) return 0.0;
    return static_cast<double>(x.list.scratch(x.function, x.tree, x.job)) * threads;
}

void compute(const void* self, std::ptrdiff_t begin, std::ptrdiff_t end) {
    const States& x = *static_cast<const States*>(self);
    run_states(x.list, x.function, x.tree, x.job, begin, end);
}

// Raises the exceptions of signal handlers. KeyboardInterrupt reports how much is done.
template <class Text> void raise_of_signals(const Text& what_is_done) {
    if (!PyErr_Occurred()) return;
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyErr_Clear();
        PyErr_SetString(PyExc_KeyboardInterrupt, what_is_done().c_str());
    }
    throw nb::python_error();
}

// Orders the states of a job, one window after the other.
struct Ordering {
    const Tree& tree;
    const Job& job;
    int lanes;
    Place* order;
    mutable std::atomic<bool> changes = false;

    static void compute(const void* self, std::ptrdiff_t begin, std::ptrdiff_t) {
        const Ordering& x = *static_cast<const Ordering*>(self);
        if (order_states(x.tree, x.job, x.lanes, begin, x.order)) x.changes = true;
    }
};

void order_states(Work& work, const RunPlan& plan) {
    Job& job = work.job;
    if (!may_order(job)) return;
    work.order.resize(job.count);
    const Ordering ordering{work.tree.compiled.tree(), job, work.list.lanes, work.order.data()};
    const std::ptrdiff_t windows = (job.count + order_window - 1) / order_window;
    const int threads = static_cast<int>(std::min<std::ptrdiff_t>(plan.threads, windows));
    {
        ReleasedLock lock;
        run_parallel({Ordering::compute, &ordering, job.count},
                     {threads, order_window, signal_raises, &lock});
    }
    raise_of_signals(
        [&] { return "0 of " + std::to_string(job.count) + " states are done; out is unchanged"; });
    if (ordering.changes) job.order = work.order.data();
}

void run_slow(Work& work, const RunPlan& plan) {
    const std::shared_ptr<SlowWork> slow(new SlowWork(std::move(work)), end_work);
    const Job& job = slow->work.job;
    {
        ReleasedLock lock;
        run_watched({compute, &slow->states, job.count},
                    {plan.threads, plan.chunk, signal_raises, &lock}, slow);
    }
    raise_of_signals([] {
        return std::string(
            "a separate thread computes the states already begun to their end, and then writes "
            "their results to out");
    });
    require_success(slow->work, slow->failure);
    for (int o = 0; o < job.noutputs; ++o) work.results[o] = slow->work.results[o];
}

}  // namespace

int thread_count(nb::handle threads) {
    return threads.is_none()
               ? 0
               : number("threads: expected a number from 1 to 1024", threads, 1, 1024);
}

RunPlan plan(const States& x, int threads, double numbers) {
    // Nanoseconds. The estimate is low for lone states, and grows with the square of the order at
    // high orders: the actual time behind `noticed` is 20 to 500 ms.
    constexpr double noticed = 20e6, brief = 10e3;
    const Options& options = *x.job.options;
    const double nv = x.tree.nv, orders = 1.0 + options.order;
    const double scratch_numbers = numbers + nv * nv * orders;
    const std::ptrdiff_t count = x.job.count;
    if (count == 1 && is_short(numbers, x.tree, orders)) return {};
    const BatchSplit split =
        split_batch(x.function.signature, x.tree, options, x.list.lanes, count, threads, numbers);
    const double longest = split.state * static_cast<double>(std::min(split.chunk, count));
    const double all = split.state * static_cast<double>(count) * orders;
    return {split.threads, split.chunk, longest * orders > noticed,
            count == 1 || (split.threads == 1 && all < brief),
            scratch_of_threads(x, split.threads, scratch_numbers)};
}

void run_batch(const States& x, const RunPlan& plan) {
    if (plan.brief) return compute(&x, 0, x.job.count);
    std::ptrdiff_t done;
    {
        ReleasedLock lock;
        done = run_parallel({compute, &x, x.job.count},
                            {plan.threads, plan.chunk, signal_raises, &lock});
    }
    raise_of_signals([&] {
        return std::to_string(done) + " of " + std::to_string(x.job.count) +
               " states are done, in no particular order; out holds their results and is unchanged "
               "elsewhere";
    });
}

void check_memory(const Work& work, const RunPlan& plan, double results) {
    const MemoryAnswer answer = ask_for_memory(results + plan.scratch);
    if (answer.enough) return;
    char message[200];
    std::snprintf(message, sizeof message,
                  ": the results take %.0f bytes, scratch of %d threads %.0f, and %.0f are "
                  "available; use a smaller batch",
                  results, plan.threads, plan.scratch, answer.available);
    const Signature& signature = work.function.signature;
    std::string advice = plan.threads > 1 ? " or fewer threads" : "";
    if (place(signature, Option::layout) >= 0 && work.options.values.layout == Layout::dense)
        advice += ", or layout='pattern'";
    if (signature.memory_advice) advice += std::string(", or ") + signature.memory_advice;
    PyErr_SetString(PyExc_MemoryError, (std::string(signature.name) + message + advice).c_str());
    throw nb::python_error();
}

void run(Work& work, const RunPlan& plan) {
    Job& job = work.job;
    const States states(work);
    // The calling thread does all recording.
    if (job.scalar == ScalarKind::recorded)
        return interruptible([&] { compute(&states, 0, job.count); });
    order_states(work, plan);
    if (plan.slow) {
        run_slow(work, plan);
        return release_interrupted();  // releases the objects of this work too
    }
    FirstFailure failure;
    job.failure = &failure;
    run_batch(states, plan);
    require_success(work, failure);
}

void release_ended_work() {
    for (SlowWork* slow = ended_work.exchange(nullptr); slow;) {
        SlowWork* next = slow->next;
        delete slow;
        slow = next;
    }
}

}  // namespace dtau
