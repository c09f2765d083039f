// Notes which states of a group get no results, and why: Outcomes. leave_outcome() gives them NaN.
#pragma once

#include "batch/job.hpp"
#include "dtau/counted.hpp"
#include "dtau/recorded.hpp"

namespace dtau::DTAU_VARIANT {

inline constexpr double not_a_number = __builtin_nan("");

// The type of one state's numbers outside of lanes.
template <class T> struct StateNumber {
    using Type = T;
};
template <> struct StateNumber<Lane> {
    using Type = double;
};
template <class T> using Number = typename StateNumber<T>::Type;

template <class T> inline constexpr int group_size = sizeof(T) / sizeof(Number<T>);  // states

// What a state gets: the algorithm's results; NaN but for Output::kept, as its contacts cannot hold it;
// NaN alone; or results that are computed again beside copies of itself, as the states beside it may
// have changed them.
enum class Outcome : unsigned char { results, kept_results, nothing, again };

// The outcomes of a group of states.
template <class T> struct Outcomes {
    bool any_failed = false;
    Outcome of_state[group_size<T>] = {};

    // The first outcome of a state stays; but numbers that are not finite may come from the states
    // beside it.
    void fail(int lane, Outcome outcome) {
        any_failed = true;
        Outcome& now = of_state[lane];
        if (now == Outcome::results || (now == Outcome::nothing && outcome == Outcome::again))
            now = outcome;
    }
};

// Overwrites the stored numbers of a state by its outcome.
template <class E>
__attribute__((cold, noinline)) void leave_outcome(Outcome outcome, const Output& out, E* to) {
    const std::ptrdiff_t kept = outcome == Outcome::kept_results ? out.kept : 0;
    if (outcome == Outcome::results || outcome == Outcome::again) return;
    for (std::ptrdiff_t k = 0; k < out.stored(); ++k)
        if ((out.entries ? out.entries[k] : k) >= kept) to[k] = E(not_a_number);
}

}  // namespace dtau::DTAU_VARIANT
