// Algorithms as the batch layer knows them, two functions and plain data for each scalar, and run():
// it applies one to a range of a job's states, in groups of lanes or one by one.
//
// A state in which any given number is not finite gets NaN in all its results and spoils no other.
#pragma once

#include "batch/first_failure.hpp"
#include "batch/job.hpp"
#include "dtau/arena.hpp"
#include "dtau/counted.hpp"
#include "dtau/recorded.hpp"

namespace dtau::DTAU_VARIANT {

// What a state's numbers are outside lanes.
template <class T>
struct StateNumber {
    using Type = T;
};
template <>
struct StateNumber<Lane> {
    using Type = double;
};
template <class T>
using Number = typename StateNumber<T>::Type;

template <class T>
inline constexpr int group_size = sizeof(T) / sizeof(Number<T>);  // states

// Where the results of a group of states belong in the end.
template <class T>
struct Destination {
    Number<T>* at[Job::max_outputs];        // of its first state
    std::ptrdiff_t size[Job::max_outputs];  // from state to state
    int states;
    bool past_caches;  // the results of the call are far larger than the caches
};

// One state, or one group of states in lanes, as an algorithm sees it. An input that was not given is
// null, and so is a result that is not wanted.
template <class T>
struct Arguments {
    const T* inputs[Job::max_inputs];
    T* outputs[Job::max_outputs];
    Destination<T> destination;
    const Options* options;
    FirstFailure* failure;  // null: nobody asks
    std::ptrdiff_t first;   // number of the first state in the job

    // Says that the state in a lane has no results. Lanes beyond the states hold copies.
    void report(int lane, const Failure& why) const {
        if (failure && lane < destination.states) failure->report(first + lane, why);
    }
};

// Whether an algorithm writes all of its results, or only what can differ from zero, into zeros, or
// puts them where they belong by itself, piece by piece.
enum class Results { dense, sparse, streamed };

template <class T>
struct Algorithm {
    // Takes the workspace and its arrays from an arena, which without a block only measures.
    const void* (*workspace)(Arena&, const Tree&, const Job&) = nullptr;
    void (*apply)(const Tree&, const Arguments<T>&, const void* workspace) = nullptr;
};

// One algorithm for all scalars of this instruction set; some are missing for some algorithms.
struct Algorithms {
#if defined(DTAU_RECORDED)
    Algorithm<Recorded> recorded;
#elif defined(DTAU_TEST_SCALARS)
    Algorithm<Complex> complex;
    Algorithm<Counted> counted;
#else
    Algorithm<double> alone;
    Algorithm<Lane> in_lanes;
#endif
    Results results = Results::dense;
    // Whether the states of a batch are computed one by one all the same; null: never.
    bool (*one_by_one)(const Tree&, const Options&) = nullptr;
};

// Computes the states begin ... end of a job: a batch in lanes, a lone state alone.
void run(const Algorithms& algorithms, const Tree& tree, const Job& job, std::ptrdiff_t begin,
         std::ptrdiff_t end);

// Bytes of scratch memory that a thread takes for it.
std::size_t scratch_bytes(const Algorithms& algorithms, const Tree& tree, const Job& job);

}  // namespace dtau::DTAU_VARIANT
