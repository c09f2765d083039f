// A group of states into the lanes of vectors, and results out of them, by blocks that are transposed.
#pragma once

#include "batch/job.hpp"
#include "dtau/pack.hpp"

namespace dtau::DTAU_VARIANT {

// Calls visit(k) for blocks k ... k + lanes - 1 that cover begin ... end - 1, at least `lanes` numbers:
// the last one begins earlier. The same numbers twice cost less than single ones.
template <class Visit>
DTAU_INLINE void for_lane_blocks(std::ptrdiff_t begin, std::ptrdiff_t end, const Visit& visit) {
    for (; begin + lanes < end; begin += lanes) visit(begin);
    visit(end - lanes);
}

// One input of a group, state l at states[l], into lanes; adds the finite test of every state.
inline void gather(const Input& input, const char* const* states, Lane* lane_numbers,
                   Lane& finite) {
    if (input.spacing == sizeof(double) && input.size >= lanes) {
        for_lane_blocks(0, input.size, [&](std::ptrdiff_t k) {
            Lane::Vector rows[lanes];
            unrolled<lanes>([&](int l) {
                rows[l] = Lane::load(reinterpret_cast<const double*>(states[l]) + k).value;
            });
            transpose(rows);
            unrolled<lanes>([&](int j) { lane_numbers[k + j] = Lane(rows[j]); });
        });
    } else {
        for (int k = 0; k < input.size; ++k)
            for (int l = 0; l < lanes; ++l)
                lane_numbers[k].value[l] =
                    *reinterpret_cast<const double*>(states[l] + k * input.spacing);
    }
    for (int k = 0; k < input.size; ++k) finite += lane_numbers[k] * Lane(0.0);
}

// `lanes` neighbouring numbers out of lanes: store(l, those of state l).
template <class Store>
DTAU_INLINE void leave_lanes(const Lane* lane_numbers, const Store& store) {
    Lane::Vector rows[lanes];
    unrolled<lanes>([&](int j) { rows[j] = lane_numbers[j].value; });
    transpose(rows);
    unrolled<lanes>([&](int l) { store(l, Lane(rows[l])); });
}

// Results of a group from lanes to the first `states` rows of target: those of a span.
inline void scatter(const Lane* lane_numbers, const Span& span, std::ptrdiff_t size, int states,
                    double* target) {
    if (span.end - span.begin < lanes) {
        for (std::ptrdiff_t k = span.begin; k < span.end; ++k)
            for (int l = 0; l < states; ++l) target[l * size + k] = lane_numbers[k].value[l];
        return;
    }
    for_lane_blocks(span.begin, span.end, [&](std::ptrdiff_t k) {
        leave_lanes(lane_numbers + k, [&](int l, Lane numbers) {
            if (l < states) numbers.store(target + l * size + k);
        });
    });
}

// A result of which only some spans may differ from zero; short ones take zeros along.
inline void scatter_sparse(const Lane* lane_numbers, const Output& out, int states,
                           double* target) {
    const std::ptrdiff_t size = out.size;
    const auto fill_zeros = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        for (int l = 0; l < states; ++l)
            for (std::ptrdiff_t k = begin; k < end; ++k) target[l * size + k] = 0.0;
    };
    std::ptrdiff_t done = 0;
    for (std::ptrdiff_t s = 0; s < out.nspans; ++s) {
        Span span = out.spans ? out.spans[s] : out.span;
        fill_zeros(done, span.begin);
        done = span.end;
        if (span.end - span.begin < lanes && lanes <= size) {
            span.begin = span.begin < size - lanes ? span.begin : size - lanes;
            span.end = span.begin + lanes;
        }
        scatter(lane_numbers, span, size, states, target);
    }
    fill_zeros(done, size);
}

}  // namespace dtau::DTAU_VARIANT
