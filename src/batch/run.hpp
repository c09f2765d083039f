// Runs algorithms over batches: run() applies one to a range of a job's states, in groups of lanes
// or one by one. An Algorithm is two functions and plain data for each scalar.
//
// A state with an input that is not finite gets NaN in all its results and affects no other state. So
// does a state without results, which an algorithm reports: whatever the algorithm wrote for it may
// depend on the states beside it.
#pragma once

#include "batch/first_failure.hpp"
#include "batch/outcome.hpp"
#include "batch/stores.hpp"
#include "dtau/arena.hpp"
#include "dtau/numbers.hpp"

#include "registry/scalars.hpp"

namespace dtau::DTAU_VARIANT {

// The final addresses of the results of a group of states.
template <class T> struct Destination {
    Number<T>* at[Job::max_outputs];        // of its first state
    std::ptrdiff_t size[Job::max_outputs];  // from state to state
    int states;
    Stores stores;

    // Whether the results of the call are far larger than the caches, and pass them by.
    bool past_caches() const { return stores == Stores::streamed; }
};

// The parts of a result in lanes that can differ from zero in the states at hand, from whole blocks of
// lanes on (lanes.hpp); the other numbers are not read. Null: all of it. A result on a pattern has no
// parts, as all its places are read.
struct NonzeroParts {
    bool allowed = true;
    const Span* spans = nullptr;
    std::ptrdiff_t count = 0;
    // Whether zeros get the sign + on their way out of lanes.
    bool positive_zeros = false;
};

// One state, or one group of states in lanes, as an algorithm sees it. Inputs that were not given
// and results that are not wanted are null.
template <class T> struct Arguments {
    const T* inputs[Job::max_inputs];
    T* outputs[Job::max_outputs];
    Destination<T> destination;
    NonzeroParts*
        nonzero;  // of the results of a group, which an algorithm may set; null for a lone state
    const Options* options;
    Outcomes<T>* outcomes;      // an algorithm reports the states without results
    FirstFailure* failure;      // null: not wanted
    const Reached<T>* reached;  // where the configuration after a step goes; null: by tangents
    std::ptrdiff_t first;       // number of the first state in the job
    const Place* order;         // the places of the states; null: they follow the first

    // Records that contacts cannot hold the state in a lane. Lanes beyond the last state hold copies.
    void report(int lane, const Failure& why) const {
        outcomes->fail(lane, Outcome::kept_results);
        if (failure && lane < destination.states)
            failure->report(order ? order[lane].state : first + lane, why);
    }
};

// How an algorithm writes its results. `dense`: all of them. `sparse`: only entries that can be
// nonzero, into zeros. `streamed`: straight to their final addresses, piece by piece.
enum class Results { dense, sparse, streamed };

template <class T> struct Algorithm {
    // Takes the workspace and its arrays from an arena; null from one that only measures.
    const void* (*workspace)(Arena&, const Tree&, const Job&) = nullptr;
    void (*apply)(const Tree&, const Arguments<T>&, const void* workspace) = nullptr;
};

// One algorithm for all scalars of this instruction set. Some algorithms lack some scalars. A set may
// lack a scalar of all algorithms, which is then null:
//   DTAU_LONE_STATES   the set whose kernels compute lone states for this one (registry/lanes_only.hpp)
//   DTAU_NO_LANES      this set computes the states of a batch one by one
struct Algorithms {
    Algorithm<Alone> alone;
#ifndef DTAU_SCALAR
    Algorithm<Lane> in_lanes;
#endif
    Results results = Results::dense;
    // Whether the states of a batch are computed one by one although lanes exist; null: never.
    bool (*one_by_one)(const Tree&, const Options&) = nullptr;
};

// Computes the states begin ... end - 1 of a job, or the groups that begin at these places of its order:
// batches in lanes, a lone state without.
void run(const Algorithms& algorithms, const Tree& tree, const Job& job, std::ptrdiff_t begin,
         std::ptrdiff_t end);

// Bytes of scratch memory that each thread takes for the job.
std::size_t scratch_bytes(const Algorithms& algorithms, const Tree& tree, const Job& job);

// The parts of these two. Whether all states of the job are computed one by one.
bool one_by_one(const Algorithms& algorithms, const Tree& tree, const Job& job);
void run_groups(const Algorithms& algorithms, const Tree& tree, const Job& job,
                std::ptrdiff_t begin, std::ptrdiff_t end);
std::size_t scratch_of_groups(const Algorithms& algorithms, const Tree& tree, const Job& job);
// The first place from this one on where a group begins.
std::ptrdiff_t begin_of_group(const Job& job, std::ptrdiff_t place);
// From `begin` on, states are computed in groups of lanes up to this place,
std::ptrdiff_t end_of_groups(const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end);
// and then one by one up to this one.
std::ptrdiff_t end_of_lone_states(const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end);

// Computes groups of lanes, and lone(begin, end) states one by one, by turns.
template <class Lone>
void run_by_turns(const Algorithms& algorithms, const Tree& tree, const Job& job,
                  std::ptrdiff_t begin, std::ptrdiff_t end, const Lone& lone) {
    if (one_by_one(algorithms, tree, job)) return lone(begin, end);
    begin = begin_of_group(job, begin), end = begin_of_group(job, end);
    while (begin < end) {
        const std::ptrdiff_t groups = end_of_groups(job, begin, end);
        if (begin < groups) run_groups(algorithms, tree, job, begin, groups);
        begin = end_of_lone_states(job, groups, end);
        if (groups < begin) lone(groups, begin);
    }
}

}  // namespace dtau::DTAU_VARIANT
