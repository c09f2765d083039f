// An algorithm as the batch layer knows it: two functions and plain data, once a scalar.
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
    const T* in[Job::max_inputs];
    T* out[Job::max_outputs];
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
    const void* (*workspace)(Arena&, const Tree&, const Options&) = nullptr;
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

}  // namespace dtau::DTAU_VARIANT
