// Wraps code compiled for one robot as an algorithm: robot_algorithm. Its workspace holds the code
// and its memory.
#pragma once

#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {

// The number of groups, of so many numbers each, that fit into a near cache together.
template <class T> int near_groups(std::ptrdiff_t numbers) {
    const std::ptrdiff_t groups = 250'000 / ((numbers + 1) * std::ptrdiff_t(sizeof(T)));
    return groups < 1                        ? 1
           : groups > RobotCode::most_groups ? RobotCode::most_groups
                                             : static_cast<int>(groups);
}

// The number of groups that one application of an algorithm computes.
template <class T> int groups_at_once(const Job& job) {
    if (!job.code || group_size<T> == 1) return 1;
    std::ptrdiff_t numbers = static_cast<std::ptrdiff_t>(job.code->memory);
    for (int i = 0; i < job.ninputs; ++i) numbers += job.inputs[i].data ? job.inputs[i].size : 0;
    for (int o = 0; o < job.noutputs; ++o) numbers += job.outputs[o].size;
    const int groups = near_groups<T>(numbers);
    const std::ptrdiff_t all = (job.count + group_size<T> - 1) / group_size<T>;
    return all < groups ? static_cast<int>(all) : groups;
}

template <class T> struct RobotWorkspace {
    const RobotCode* code;
    T* memory;

    static const void* create(Arena& arena, const Tree&, const Job& job) {
        auto* made = arena.take<RobotWorkspace>(1);
        const std::size_t numbers = job.code->memory;
        const int groups = group_size<T> > 1 ? near_groups<T>(std::ptrdiff_t(numbers)) : 0;
        T* memory = arena.take<T>(groups * numbers);
        if (made) *made = {job.code, memory};
        return made;
    }
    static void apply(const Tree&, const Arguments<T>& x, const void* workspace) {
        const auto& w = *static_cast<const RobotWorkspace*>(workspace);
        const void* inputs[Job::max_inputs];
        void* outputs[Job::max_outputs];
        for (int i = 0; i < Job::max_inputs; ++i) inputs[i] = x.inputs[i];
        for (int o = 0; o < Job::max_outputs; ++o) outputs[o] = x.outputs[o];
        constexpr int size = group_size<T>;
        if (size > 1)
            w.code->in_lanes((x.destination.states + size - 1) / size, inputs, outputs, w.memory);
        else
            w.code->alone(inputs, outputs);
    }
};
template <class T>
inline constexpr Algorithm<T> robot_algorithm = {RobotWorkspace<T>::create,
                                                 RobotWorkspace<T>::apply};

// The tree without its mimic joints: compiled code uses independent coordinates only.
inline Tree without_mimic_joints(const Tree& tree) {
    Tree independent = tree;
    independent.mimic = nullptr;
    return independent;
}

// How code in lanes writes results: as the algorithm does, but never streamed.
inline Results results_in_lanes(const Algorithms& algorithms) {
    return algorithms.results == Results::streamed ? Results::dense : algorithms.results;
}

}  // namespace dtau::DTAU_VARIANT
