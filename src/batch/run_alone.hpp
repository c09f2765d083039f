// Computes states one at a time: run_alone().
#pragma once

#include <cstring>

#include "batch/application.hpp"
#include "batch/finite_test.hpp"
#include "batch/held_positions.hpp"

namespace dtau::DTAU_VARIANT {

// Computes the states of these places one at a time. E is also the element type of the arrays.
template <class E>
void run_alone(const Algorithm<E>& algorithm, Results results, const Tree& tree, const Job& job,
               std::ptrdiff_t begin, std::ptrdiff_t end) {
    constexpr int doubles = sizeof(E) / sizeof(double);
    const auto scratch = Scratch<E>::create(algorithm, tree, job, false);
    for (int o = 0; o < job.noutputs; ++o)
        if (job.outputs[o].entries)
            std::memset(static_cast<void*>(scratch.outputs[o]), 0, job.outputs[o].size * sizeof(E));
    Arguments<E> x = start<E>(job, begin);
    Outcomes<E> outcomes;
    x.outcomes = &outcomes;
    Cursor cursor(job, begin);
    for (std::ptrdiff_t place = begin; place < end; ++place, cursor.next()) {
        const std::ptrdiff_t state = job.order ? job.order[place].state : place;
        if (job.order) {
            cursor.go_to(state);
            point_at(job, state, x.destination);
        }
        FiniteTest<double> test;
        for (int i = 0; i < job.ninputs; ++i) {
            const Input& input = job.inputs[i];
            if (!input.data) continue;
            x.inputs[i] = reinterpret_cast<const E*>(cursor[i]);
            if (input.spacing != sizeof(E) || i == job.positions) {
                for (int k = 0; k < input.size; ++k)
                    scratch.inputs[i][k] =
                        *reinterpret_cast<const E*>(cursor[i] + k * input.spacing);
                x.inputs[i] = scratch.inputs[i];
            }
            if (i == job.positions)
                clear_unread_positions(job, x.inputs[job.active], scratch.inputs[i]);
            if constexpr (!std::is_same_v<E, Recorded>)
                test.add(reinterpret_cast<const double*>(x.inputs[i]), input.size * doubles);
        }
        for (int o = 0; o < job.noutputs; ++o) {
            x.outputs[o] = job.outputs[o].entries ? scratch.outputs[o] : x.destination.at[o];
            if (results == Results::sparse && !job.outputs[o].entries)
                std::memset(static_cast<void*>(x.outputs[o]), 0, job.outputs[o].size * sizeof(E));
        }
        x.first = state;
        if (test.is_finite(0)) {
            apply(algorithm, tree, job, x, scratch);
            for (int o = 0; o < job.noutputs; ++o) {
                const std::ptrdiff_t* const entries = job.outputs[o].entries;
                const std::ptrdiff_t count = job.outputs[o].nentries;
                const E* const all = x.outputs[o];
                E* const to = x.destination.at[o];
                for (std::ptrdiff_t k = 0; k < count; ++k) to[k] = all[entries[k]];
            }
        } else {
            outcomes.fail(0, Outcome::nothing);
        }
        if (outcomes.any_failed) {
            for (int o = 0; o < job.noutputs; ++o)
                leave_outcome(outcomes.of_state[0], job.outputs[o], x.destination.at[o]);
            outcomes = {};
        }
        for (int o = 0; o < job.noutputs; ++o) x.destination.at[o] += job.outputs[o].stored();
    }
}

}  // namespace dtau::DTAU_VARIANT
