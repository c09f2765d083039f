// Notes which rows of constraints a factorization rejected, state by state.
//
// A rejected pivot is NaN, and so are all pivots after it, so that the last pivot tells whether any was
// rejected.
#pragma once

#include <cmath>
#include <type_traits>

#include "dtau/failure.hpp"
#include "dtau/lane.hpp"

namespace dtau::DTAU_VARIANT {

// Failures of one state, or of one group of states in lanes, that are not reported yet.
template <class T> struct Failures {
    static constexpr int states = std::is_same_v<T, Lane> ? lanes : 1;

    int factorizations = 0;  // finished before this one: the stage of a time step
    bool any = false;
    bool failed[states] = {};
    Failure of_state[states];

    // Keeps the first failure of each state.
    void note(int l, const Failure& failure) {
        if (failed[l]) return;
        any = failed[l] = true;
        of_state[l] = failure;
    }
    // Calls report(l, failure) for each failure, and forgets them. `stage`: of the first factorization.
    template <class Report> void take(int stage, const Report& report) {
        factorizations = 0;
        if (!any) return;
        for (int l = 0; l < states; ++l) {
            if (!failed[l]) continue;
            of_state[l].stage += stage;
            report(l, of_state[l]);
            failed[l] = false;
        }
        any = false;
    }
};

// A number of the state in lane l. Only float64 notes failures.
template <class T> inline double number_of_state(const T&, int) { return 0.0; }
inline double number_of_state(double x, int) { return x; }
inline double number_of_state(const Lane& x, int l) { return x.value[l]; }

// The first pivot that is not a number; n: there is none.
template <class T> int first_rejected(int n, int side, const T* G, int l) {
    int k = 0;
    while (k < n && !std::isnan(number_of_state(G[k * side + k], l))) ++k;
    return k;
}

// Calls visit(l, k) for each state l whose pivot k was rejected. An overflow is no failure of the rows.
template <class T, class Visit>
__attribute__((cold, noinline)) void for_rejected(int n, int side, const T* size, const T* errors,
                                                  const T* G, const Visit& visit) {
    for (int l = 0; l < Failures<T>::states; ++l) {
        const int k = first_rejected(n, side, G, l);
        if (k < n && std::isfinite(number_of_state(size[k], l)) &&
            std::isfinite(number_of_state(errors[k], l)))
            visit(l, k);
    }
}

// The same, if the last pivot shows that there may be any.
template <class T, class Visit>
inline void if_rejected(int n, int side, const T* size, const T* errors, const T* G,
                        const Visit& visit) {
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, Lane>) {
        if (n == 0) return;
        double sum = 0.0;
        for (int l = 0; l < Failures<T>::states; ++l)
            sum += number_of_state(G[(n - 1) * side + n - 1], l);
        if (__builtin_expect(std::isnan(sum), 0)) for_rejected(n, side, size, errors, G, visit);
    }
}

}  // namespace dtau::DTAU_VARIANT
