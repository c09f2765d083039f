// Computes the shapes of arrays for a tree and options: core_shape(), describe_outputs().
#include "registry/signature.hpp"

#include <algorithm>

#include "dtau/algorithms/second/packed.hpp"
#include "dtau/mimic.hpp"

namespace dtau {

namespace {

std::ptrdiff_t axis_size(Axis axis, const Sizes& sizes) {
    const Tree& tree = sizes.tree;
    const Options& options = sizes.options;
    switch (axis) {
        case Axis::nq:
            return independent_nq(tree);
        case Axis::nv:
            return tree.independent.n;
        case Axis::two_nv:
            return 2 * tree.independent.n;
        case Axis::step_variables:
            return 2 * tree.independent.n + options.driven.count + options.by_dt +
                   (options.by_f_ext ? 6 * tree.nbodies : 0);
        case Axis::nbodies:
            return tree.nbodies;
        case Axis::nframes:
            return options.nframes;
        case Axis::ninputs:
            return options.driven.count;
        case Axis::ncontacts:
            return options.contacts ? options.contacts->count : 0;
        case Axis::nrows:
            return options.contacts ? options.contacts->nrows : 0;
        case Axis::ten_nbodies:
            return parameter_count(tree, false);
        case Axis::nparameters:
            return parameter_count(tree, options.joint_parameters);
        case Axis::norders:
            return options.order + 1;
        case Axis::norders_beyond:
            return options.order + 2;
        case Axis::three:
        case Axis::six:
            break;
    }
    return static_cast<int>(axis);
}

}  // namespace

Shape core_shape(const Quantity& quantity, const Sizes& sizes) {
    Shape shape;  // the only one returned, so that it is made in its place
    shape.ndim = 0;
    if (quantity == Quantity::tensor && sizes.options.layout == Layout::pattern) {
        shape.size[shape.ndim++] = baseline::packed_size(sizes.tree.independent);
        return shape;
    }
    for (int k = 0; k < quantity.naxes; ++k)
        if (quantity.axes[k] != Axis::nframes || !sizes.single_frame)
            shape.size[shape.ndim++] = axis_size(quantity.axes[k], sizes);
    return shape;
}

Shape stacked(const Shape& core, int length) {
    Shape shape = {core.ndim + 1, {length}};
    std::copy_n(core.size, core.ndim, shape.size + 1);
    return shape;
}

namespace {

Shape result_shape(const ArraySignature& result, const Sizes& sizes) {
    const Shape shape = core_shape(*result.quantity, sizes);
    return result.rows == not_stacked ? shape : stacked(shape, sizes.options.order + result.rows);
}

std::ptrdiff_t kept_numbers(Kept kept, Integrator integrator, std::ptrdiff_t size) {
    const bool euler = integrator == Integrator::euler;
    if (kept == Kept::all_of_euler) return euler ? size : 0;
    return kept == Kept::upper_half || (kept == Kept::upper_half_of_euler && euler) ? size / 2 : 0;
}

}  // namespace

double describe_outputs(Job& job, const Signature& signature, const Sizes& sizes, Shape* shapes) {
    const Tree& tree = sizes.tree;
    double numbers = 0.0;
    for (int o = 0; o < job.noutputs; ++o) {
        const ArraySignature& result = signature.outputs[o];
        Output& out = job.outputs[o];
        shapes[o] = result_shape(result, sizes);
        if (!Asked::is_there(result, sizes.options)) shapes[o] = {1, {0}};  // no numbers
        out.size = 1;
        for (int k = 0; k < shapes[o].ndim; ++k) out.size *= shapes[o].size[k];
        out.kept = kept_numbers(result.kept, sizes.options.integrator, out.size);
        out.mimic_role = result.quantity->as_result;
        out.stacked = result.rows == not_stacked ? 1 : sizes.options.order + result.rows;
        if (out.mimic_role == MimicRole::torque_matrix)  // a stack of matrices, whatever the axes
            out.stacked = static_cast<int>(
                out.size / std::max(1, sizes.tree.independent.n * sizes.tree.independent.n));
        if (*result.quantity == Quantity::torque_matrix && out.stacked == 1)
            out.spans = tree.related, out.nspans = tree.nrelated;
        const bool alone = result.rows == not_stacked;
        if (*result.quantity == Quantity::state_matrix && alone)
            out.spans = tree.state_matrix, out.nspans = tree.nstate_matrix;
        if (*result.quantity == Quantity::input_matrix && alone)
            out.span = {out.size / 2, out.size}, out.nspans = 1;
        numbers += static_cast<double>(out.size);
    }
    if (numbers == 0.0) job.count = 0;  // no frames: nothing to compute, for any number of states
    return numbers;
}

}  // namespace dtau
