// Computes groups of states in the lanes of vectors: run_in_lanes().
#pragma once

#include <cstring>

#include "batch/application.hpp"
#include "batch/held_positions.hpp"

namespace dtau::DTAU_VARIANT {

// Finds the inputs of the states in a group of lanes. `order` has the places of the states; null:
// they follow `first`. The last state fills the lanes beyond it.
inline void locate(const Job& job, std::ptrdiff_t first, const Place* order, int states,
                   Cursor& cursor, const char* (&from)[Job::max_inputs][lanes]) {
    if (job.naxes == 1) {
        for (int l = 0; l < lanes; ++l) {
            const int k = l < states ? l : states - 1;
            const std::ptrdiff_t state = order ? order[k].state : first + k;
            for (int i = 0; i < job.ninputs; ++i)
                if (job.inputs[i].data)
                    from[i][l] = job.inputs[i].data + state * job.inputs[i].stride[0];
        }
        return;
    }
    for (int l = 0; l < lanes; ++l) {
        if (order && l < states) cursor.go_to(order[l].state);
        for (int i = 0; i < job.ninputs; ++i) from[i][l] = cursor[i];
        if (!order && l + 1 < states) cursor.next();
    }
    if (!order) cursor.next();
}

// States of the group that begins at this place; at most so many.
inline std::ptrdiff_t states_of_group(const Place* order, std::ptrdiff_t most) {
    std::ptrdiff_t states = 1;
    while (states < most && !order[states].begins_group) ++states;
    return states;
}

// Whether all states of a group are finite.
inline bool is_finite(const Lane& test) {
    double sum = 0.0;
    for (int l = 0; l < lanes; ++l) sum += test.value[l];
    return sum == 0.0;
}

// Copies of the last state pad a short group.
inline void run_in_lanes(const Algorithm<Lane>& algorithm, Results results, const Tree& tree,
                         const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    const auto scratch = Scratch<Lane>::create(algorithm, tree, job, results != Results::streamed);
    const int groups = groups_at_once<Lane>(job);
    for (int o = 0; o < job.noutputs; ++o)
        if (results == Results::sparse || job.code || job.outputs[o].entries)
            std::memset(static_cast<void*>(scratch.outputs[o]), 0,
                        groups * LineStore::padded(job.outputs[o].size) * sizeof(Lane));
    const Place* const order = job.order;
    Arguments<Lane> x = start<Lane>(job, begin);
    for (int i = 0; i < job.ninputs; ++i) x.inputs[i] = scratch.inputs[i];
    for (int o = 0; o < job.noutputs; ++o) x.outputs[o] = scratch.outputs[o];

    // Code for one robot, which computes several groups at once, never fails.
    Outcomes<Lane> outcomes;
    x.outcomes = &outcomes;
    Cursor cursor(job, begin);
    const std::ptrdiff_t most = groups * lanes;
    for (std::ptrdiff_t first = begin, stop; first < end; first = stop) {
        stop = end - first < most ? end : first + most;
        if (order) stop = first + states_of_group(order + first, stop - first);
        const auto states_of = [&](int g) {
            const std::ptrdiff_t rest = stop - first - g * lanes;
            return rest < lanes ? static_cast<int>(rest) : lanes;
        };
        Lane finite[RobotCode::most_groups];
        for (int g = 0; first + g * lanes < stop; ++g) {
            const char* from[Job::max_inputs][lanes];
            const std::ptrdiff_t place = first + g * lanes;
            locate(job, place, order ? order + place : nullptr, states_of(g), cursor, from);
            finite[g] = Lane(0.0);
            for (int i = 0; i < job.ninputs; ++i)
                if (job.inputs[i].data && i != job.positions)
                    gather(job.inputs[i], from[i], scratch.inputs[i] + g * job.inputs[i].size,
                           finite[g]);
            if (job.positions >= 0 && job.inputs[job.positions].data)
                gather_positions(job, from[job.positions], g, scratch.inputs, finite[g]);
        }
        x.first = first;
        x.order = order ? order + first : nullptr;
        x.destination.states = static_cast<int>(stop - first);
        NonzeroParts nonzero[Job::max_outputs];
        for (int o = 0; o < job.noutputs; ++o) nonzero[o].allowed = !job.outputs[o].entries;
        x.nonzero = nonzero;
        apply(algorithm, tree, job, x, scratch);
        for (int g = 0; first + g * lanes < stop; ++g)
            for (int o = 0; o < job.noutputs; ++o) {
                const std::ptrdiff_t size = job.outputs[o].stored();
                const int states = states_of(g);
                double* const all = reinterpret_cast<double*>(job.outputs[o].data);
                double* to[lanes];
                for (int l = 0; l < lanes; ++l) {
                    const std::ptrdiff_t place = first + g * lanes + (l < states ? l : states - 1);
                    to[l] = all + (order ? order[place].state : place) * size;
                }
                x.destination.at[o] += states * size;
                if (results != Results::streamed)
                    leave_group(scratch.outputs[o] + g * LineStore::padded(job.outputs[o].size),
                                scratch.lines, results, job.outputs[o], nonzero[o], states,
                                x.destination.stores, to);
                if (is_finite(finite[g]) && !outcomes.any_failed) continue;
                for (int l = 0; l < states; ++l)
                    leave_outcome(
                        finite[g].value[l] == 0.0 ? outcomes.of_state[l] : Outcome::nothing,
                        job.outputs[o], to[l]);
            }
        // The same layout in the same block: the scratch memory at hand is made anew, and holds.
        for (int l = 0; l < lanes && first + l < stop && outcomes.any_failed; ++l)
            if (outcomes.of_state[l] == Outcome::again && finite[0].value[l] == 0.0)
                run_in_lanes(algorithm, results, tree, job, first + l, first + l + 1);
        if (outcomes.any_failed) outcomes = {};
    }
    if (x.destination.past_caches()) end_streams();
}

}  // namespace dtau::DTAU_VARIANT
