// The shapes of what a function takes and gives, for a tree and options.
#pragma once

#include "registry/signature.hpp"

namespace dtau {

// The numbers of one state.
struct Shape {
    int ndim;
    std::ptrdiff_t size[4];
};
inline constexpr int max_core_axes = 4;

// What shapes depend on.
struct Sizes {
    const Tree& tree;
    const Options& options;
    bool single_frame;  // no axis for frames
};
Shape core_shape(Quantity quantity, const Sizes& sizes);

// The same with an axis before it for a stack of time derivatives.
Shape stacked(const Shape& core, int length);

// Sizes and meanings of the results that the job counts. Returns how many numbers a state has.
double describe_outputs(Job& job, const Signature& signature, const Sizes& sizes, Shape* shapes);

}  // namespace dtau
