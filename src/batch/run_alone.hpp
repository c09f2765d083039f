// Computes states one at a time: run_alone().
#pragma once

#include <cstring>

#include "batch/application.hpp"
#include "batch/cursor.hpp"

namespace dtau::DTAU_VARIANT {

// 0 if all numbers are finite, NaN otherwise. Several sums hide the latency of the additions.
inline double finite_test(const double* x, std::ptrdiff_t size) {
    constexpr int count = 8;
    double sums[count] = {};
    std::ptrdiff_t k = 0;
    for (; k + count <= size; k += count)
        for (int s = 0; s < count; ++s) sums[s] += x[k + s] * 0.0;
    for (; k < size; ++k) sums[0] += x[k] * 0.0;
    double sum = 0.0;
    for (double s : sums) sum += s;
    return sum;
}

// Computes the states one at a time. E is also the element type of the arrays.
template <class E>
void run_alone(const Algorithm<E>& algorithm, Results results, const Tree& tree, const Job& job,
               std::ptrdiff_t begin, std::ptrdiff_t end) {
    constexpr int doubles = sizeof(E) / sizeof(double);
    const auto scratch = Scratch<E>::create(algorithm, tree, job, false);
    for (int o = 0; o < job.noutputs; ++o)
        if (job.outputs[o].entries)
            std::memset(static_cast<void*>(scratch.outputs[o]), 0, job.outputs[o].size * sizeof(E));
    Arguments<E> x = start<E>(job, begin);
    Cursor cursor(job, begin);
    for (std::ptrdiff_t state = begin; state < end; ++state, cursor.next()) {
        double finite = 0.0;
        for (int i = 0; i < job.ninputs; ++i) {
            const Input& input = job.inputs[i];
            if (!input.data) continue;
            x.inputs[i] = reinterpret_cast<const E*>(cursor[i]);
            if (input.spacing != sizeof(E)) {
                for (int k = 0; k < input.size; ++k)
                    scratch.inputs[i][k] =
                        *reinterpret_cast<const E*>(cursor[i] + k * input.spacing);
                x.inputs[i] = scratch.inputs[i];
            }
            if constexpr (!std::is_same_v<E, Recorded>)
                finite +=
                    finite_test(reinterpret_cast<const double*>(x.inputs[i]), input.size * doubles);
        }
        for (int o = 0; o < job.noutputs; ++o) {
            x.outputs[o] = job.outputs[o].entries ? scratch.outputs[o] : x.destination.at[o];
            if (results == Results::sparse && !job.outputs[o].entries)
                std::memset(static_cast<void*>(x.outputs[o]), 0, job.outputs[o].size * sizeof(E));
        }
        x.first = state;
        if (finite == 0.0) {
            apply(algorithm, tree, job, x, scratch);
            for (int o = 0; o < job.noutputs; ++o) {
                const std::ptrdiff_t* const entries = job.outputs[o].entries;
                const std::ptrdiff_t count = job.outputs[o].nentries;
                const E* const all = x.outputs[o];
                E* const to = x.destination.at[o];
                for (std::ptrdiff_t k = 0; k < count; ++k) to[k] = all[entries[k]];
            }
        } else {
            for (int o = 0; o < job.noutputs; ++o)
                for (std::ptrdiff_t k = 0; k < job.outputs[o].stored(); ++k)
                    x.destination.at[o][k] = E(not_a_number);
        }
        for (int o = 0; o < job.noutputs; ++o) x.destination.at[o] += job.outputs[o].stored();
    }
}

}  // namespace dtau::DTAU_VARIANT
