#include "shapes.hpp"

#include <algorithm>

#include "dtau/algorithms/second/packed.hpp"
#include "dtau/coupling.hpp"

namespace dtau {

Shape core_shape(Quantity quantity, const Sizes& sizes) {
    const Tree& tree = sizes.tree;
    const bool single = sizes.single_frame;
    const int nv = tree.independent.n, nframes = sizes.options.nframes;
    switch (quantity) {
        case Quantity::q:
            return {1, {independent_nq(tree)}};
        case Quantity::v:
        case Quantity::torque:
            return {1, {nv}};
        case Quantity::matrix:
        case Quantity::torque_matrix:
            return {2, {nv, nv}};
        case Quantity::from_tangent:
            return {2, {independent_nq(tree), nv}};
        case Quantity::to_tangent:
            return {2, {nv, independent_nq(tree)}};
        case Quantity::wrenches:
        case Quantity::twists:
            return {2, {tree.nlinks, 6}};
        case Quantity::rotations:
            return {3, {tree.nlinks, 3, 3}};
        case Quantity::positions:
            return {2, {tree.nlinks, 3}};
        case Quantity::frame_rotations:
            return single ? Shape{2, {3, 3}} : Shape{3, {nframes, 3, 3}};
        case Quantity::frame_positions:
            return single ? Shape{1, {3}} : Shape{2, {nframes, 3}};
        case Quantity::frame_twists:
            return single ? Shape{1, {6}} : Shape{2, {nframes, 6}};
        case Quantity::wrench:
        case Quantity::momentum:
            return {1, {6}};
        case Quantity::scalar:
            return {0, {}};
        case Quantity::vector:
            return {1, {3}};
        case Quantity::vector_matrix:
            return {2, {3, nv}};
        case Quantity::momentum_matrix:
            return {2, {6, nv}};
        case Quantity::state_matrix:
            return {2, {2 * nv, 2 * nv}};
        case Quantity::input_map:
            return {2, {nv, sizes.options.driven.count}};
        case Quantity::input_matrix:
            return {2, {2 * nv, sizes.options.driven.count}};
        case Quantity::parameters:
            return {1, {parameter_count(tree, sizes.options.joint_parameters)}};
        case Quantity::regressor:
            return {2, {nv, parameter_count(tree, sizes.options.joint_parameters)}};
        case Quantity::wrench_matrix:
            return {3, {nv, tree.nlinks, 6}};
        case Quantity::contacts:
            return {1, {sizes.options.contacts->count}};
        case Quantity::rows:
            return {1, {sizes.options.contacts->nrows}};
        case Quantity::row_matrix:
            return {2, {sizes.options.contacts->nrows, nv}};
        case Quantity::jacobians:
            return single ? Shape{2, {6, nv}} : Shape{3, {nframes, 6, nv}};
        case Quantity::tensor:
            return sizes.options.packed ? Shape{1, {baseline::packed_size(tree.independent)}}
                                        : Shape{3, {nv, nv, nv}};
    }
    return {};
}

Shape stacked(const Shape& core, int length) {
    Shape shape = {core.ndim + 1, {length}};
    std::copy_n(core.size, core.ndim, shape.size + 1);
    return shape;
}

Meaning input_meaning(Quantity quantity) {
    return quantity == Quantity::q   ? Meaning::q
           : quantity == Quantity::v ? Meaning::v
                                     : Meaning::other;
}

namespace {

Meaning output_meaning(Quantity quantity) {
    switch (quantity) {
        case Quantity::torque:
        case Quantity::jacobians:
        case Quantity::vector_matrix:
        case Quantity::momentum_matrix:
            return Meaning::torques;
        case Quantity::torque_matrix:
            return Meaning::torque_matrix;
        default:
            return input_meaning(quantity);
    }
}

Shape result_shape(const ArraySignature& result, const Sizes& sizes) {
    const Shape shape = core_shape(result.quantity, sizes);
    return result.rows == not_stacked ? shape : stacked(shape, sizes.options.order + result.rows);
}

}  // namespace

double describe_outputs(Job& job, const Signature& signature, const Sizes& sizes, Shape* shapes) {
    const Tree& tree = sizes.tree;
    double numbers = 0.0;
    for (int o = 0; o < job.noutputs; ++o) {
        const ArraySignature& result = signature.outputs[o];
        Output& out = job.out[o];
        shapes[o] = result_shape(result, sizes);
        out.size = 1;
        for (int k = 0; k < shapes[o].ndim; ++k) out.size *= shapes[o].size[k];
        out.meaning = output_meaning(result.quantity);
        out.stacked = result.rows == not_stacked ? 1 : job.options.order + result.rows;
        if (result.quantity == Quantity::torque_matrix && out.stacked == 1)
            out.spans = tree.related, out.nspans = tree.nrelated;
        if (result.quantity == Quantity::state_matrix)
            out.spans = tree.state_matrix, out.nspans = tree.nstate_matrix;
        if (result.quantity == Quantity::input_matrix)
            out.span = {out.size / 2, out.size}, out.nspans = 1;
        numbers += static_cast<double>(out.size);
    }
    if (numbers == 0.0) job.count = 0;  // no frames: nothing to compute, for any number of states
    return numbers;
}

}  // namespace dtau
