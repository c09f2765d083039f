// A group of states into the lanes of vectors, and results out of them, by blocks that are transposed.
#pragma once

#include "dtau/pack.hpp"
#include "job.hpp"

namespace dtau::DTAU_VARIANT {

// One input of a group, state l at states[l], into lanes; adds the finite test of every state.
inline void gather(const Input& input, const char* const* states, Lane* lane_numbers,
                   Lane& finite) {
    int k = 0;
    if (input.spacing == sizeof(double)) {
        for (; k + lanes <= input.size; k += lanes) {
            Lane::Vector rows[lanes];
            unrolled<lanes>([&](int l) {
                rows[l] = Lane::load(reinterpret_cast<const double*>(states[l]) + k).value;
            });
            transpose(rows);
            unrolled<lanes>([&](int j) { lane_numbers[k + j] = Lane(rows[j]); });
        }
    }
    for (; k < input.size; ++k)
        for (int l = 0; l < lanes; ++l)
            lane_numbers[k].value[l] =
                *reinterpret_cast<const double*>(states[l] + k * input.spacing);
    for (k = 0; k < input.size; ++k) finite += lane_numbers[k] * Lane(0.0);
}

// Results of a group from lanes to the first `states` rows of target: those of a span.
inline void scatter(const Lane* lane_numbers, const Span& span, std::ptrdiff_t size, int states,
                    double* target) {
    std::ptrdiff_t k = span.begin;
    for (; k + lanes <= span.end; k += lanes) {
        Lane::Vector rows[lanes];
        unrolled<lanes>([&](int j) { rows[j] = lane_numbers[k + j].value; });
        transpose(rows);
        unrolled<lanes>([&](int l) {
            if (l < states) Lane(rows[l]).store(target + l * size + k);
        });
    }
    for (; k < span.end; ++k)
        for (int l = 0; l < states; ++l) target[l * size + k] = lane_numbers[k].value[l];
}

// A result of which only some spans may differ from zero.
inline void scatter_sparse(const Lane* lane_numbers, const Output& out, int states,
                           double* target) {
    const std::ptrdiff_t size = out.size;
    std::ptrdiff_t done = 0;
    for (std::ptrdiff_t s = 0; s <= out.nspans; ++s) {
        const Span span = s < out.nspans ? out.spans[s] : Span{size, size};
        for (int l = 0; l < states; ++l)
            for (std::ptrdiff_t k = done; k < span.begin; ++k) target[l * size + k] = 0.0;
        scatter(lane_numbers, span, size, states, target);
        done = span.end;
    }
}

}  // namespace dtau::DTAU_VARIANT
