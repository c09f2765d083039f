// Clears the numbers of `positions` that no row reads, clear_unread_positions(), so that they have no
// effect, whatever they are: numbers of loops, of contacts without kp, and of contacts that are off.
#pragma once

#include "batch/lanes.hpp"
#include "dtau/options.hpp"

namespace dtau::DTAU_VARIANT {

// In a state, or a group in lanes. `active` is null if all contacts are on.
template <class T> void clear_unread_positions(const Job& job, const T* active, T* positions) {
    const int count = job.inputs[job.positions].size / 3;
    for (int c = 0; c < count; ++c) {
        const bool read = job.options->contacts->at[c].held_by_call;
        for (int i = 3 * c; i < 3 * (c + 1); ++i)
            if (!read)
                positions[i] = T(0.0);
            else if (active)
                positions[i] = select(less(active[c], 0.5), T(0.0), positions[i]);
    }
}

// Gathers the positions of group g into lanes, after `active`. Adds the finite test of every state.
inline void gather_positions(const Job& job, const char* const* states, int g, Lane* const* inputs,
                             Lane& finite) {
    const Input& input = job.inputs[job.positions];
    const Lane* active = inputs[job.active];
    if (active) active += g * job.inputs[job.active].size;
    Lane *const positions = inputs[job.positions] + g * input.size, of_all(0.0);
    gather(input, states, positions, of_all);
    clear_unread_positions(job, active, positions);
    for (int i = 0; i < input.size; ++i) finite = fma(positions[i], Lane(0.0), finite);
}

}  // namespace dtau::DTAU_VARIANT
