// Computes the shapes of arrays for a tree and options: core_shape(), input_shape(),
// describe_outputs().
#include "registry/signature.hpp"

#include <algorithm>

#include "dtau/algorithms/second/packed.hpp"
#include "dtau/joint_traits.hpp"
#include "dtau/mimic.hpp"

namespace dtau {

namespace {

std::ptrdiff_t axis_size(Axis axis, const Sizes& sizes) {
    const Tree& tree = sizes.tree;
    const Options& options = sizes.options;
    switch (axis) {
        case Axis::nq: return independent_nq(tree);
        case Axis::nv: return tree.independent.n;
        case Axis::two_nv: return 2 * tree.independent.n;
        case Axis::step_variables:
            return 2 * tree.independent.n + options.driven.count + options.by_dt +
                   (options.by_f_ext ? 6 * tree.nbodies : 0);
        case Axis::nbodies: return tree.nbodies;
        case Axis::nframes: return options.nframes;
        case Axis::ninputs: return options.driven.count;
        case Axis::ncontacts: return options.contacts ? options.contacts->count : 0;
        case Axis::nrows: return options.contacts ? options.contacts->nrows : 0;
        case Axis::nparameters:
        case Axis::ngiven_parameters: return parameter_count(tree, options.joint_parameters);
        case Axis::norders: return options.order + 1;
        case Axis::norders_beyond: return options.order + 2;
        case Axis::three:
        case Axis::six: break;
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

Shape input_shape(const ArraySignature& input, const Sizes& sizes) {
    Shape shape = core_shape(*input.quantity, sizes);
    if (sizes.options.by_numbers && (input.numbers & (Converted::tangent | Converted::weights)))
        shape.size[0] = axis_size(Axis::nq, sizes);
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

std::ptrdiff_t kept_numbers(Kept kept, const Sizes& sizes, const Output& out, bool by_numbers) {
    const bool euler = sizes.options.integrator == Integrator::euler;
    if (kept == Kept::all_of_euler) return euler ? out.size : 0;
    if (kept != Kept::upper_half && !(kept == Kept::upper_half_of_euler && euler)) return 0;
    // The displacements above the velocities.
    const std::ptrdiff_t nv = axis_size(Axis::nv, sizes);
    const std::ptrdiff_t upper = by_numbers ? axis_size(Axis::nq, sizes) : nv;
    return nv == 0 ? 0 : out.size / (upper + nv) * upper;
}

// Whether derivatives by the numbers of q differ from derivatives in the tangent space.
bool turns(const Tree& tree) {
    for (int i = 0; i < tree.nnodes; ++i)
        if (!traits(tree.bodies[i].kind).commutes) return true;
    return false;
}

std::ptrdiff_t product(const Shape& shape, int begin, int end) {
    std::ptrdiff_t count = 1;
    for (int k = begin; k < end; ++k) count *= shape.size[k];
    return count;
}

// Turns the axes of a result by tangents into those by numbers, and notes how it is converted.
void describe_numbers(Output& out, unsigned char numbers, Shape& shape, const Sizes& sizes) {
    const std::ptrdiff_t more = axis_size(Axis::nq, sizes) - axis_size(Axis::nv, sizes);
    const bool reached = numbers & Converted::reached_rows;
    // Rows of what a step reaches are the first axis.
    const int row = reached ? 0 : numbers & Converted::rows ? shape.ndim - 2 : -1;
    const int column = row < 0 ? shape.ndim - 1 : row + 1;
    // Of no rows, contacts or frames there is nothing to convert.
    out.converted = out.tangent_size > 0 ? numbers : static_cast<unsigned char>(Converted::none);
    out.rows = row < 0 ? 1 : static_cast<int>(shape.size[row]);
    out.columns = static_cast<int>(product(shape, column, shape.ndim));
    if (row >= 0) shape.size[row] += more;
    if (numbers & Converted::columns) shape.size[shape.ndim - 1] += more;
}

}  // namespace

void describe_outputs(Job& job, const Signature& signature, const Sizes& sizes, Shape* shapes) {
    const Tree& tree = sizes.tree;
    const bool differ = sizes.options.by_numbers && turns(tree);
    for (int o = 0; o < job.noutputs; ++o) {
        const ArraySignature& result = signature.outputs[o];
        Output& out = job.outputs[o];
        shapes[o] = result_shape(result, sizes);
        if (!Asked::is_there(result, sizes.options)) shapes[o] = {1, {0}};  // no numbers
        out.tangent_size = product(shapes[o], 0, shapes[o].ndim);
        const bool by_numbers =
            differ && result.numbers != Converted::none && Asked::is_there(result, sizes.options);
        if (by_numbers) describe_numbers(out, result.numbers, shapes[o], sizes);
        out.size = by_numbers ? product(shapes[o], 0, shapes[o].ndim) : out.tangent_size;
        out.kept = kept_numbers(result.kept, sizes, out, by_numbers);
        out.mimic_role = result.quantity->as_result;
        out.stacked = result.rows == not_stacked ? 1 : sizes.options.order + result.rows;
        if (out.mimic_role == MimicRole::torque_matrix)  // a stack of matrices, whatever the axes
            out.stacked =
                static_cast<int>(out.tangent_size /
                                 std::max(1, sizes.tree.independent.n * sizes.tree.independent.n));
        if (by_numbers) continue;  // no zeros are known
        if (*result.quantity == Quantity::torque_matrix && out.stacked == 1)
            out.spans = tree.related, out.nspans = tree.nrelated;
        const bool alone = result.rows == not_stacked;
        if (*result.quantity == Quantity::state_matrix && alone)
            out.spans = tree.state_matrix, out.nspans = tree.nstate_matrix;
        if (*result.quantity == Quantity::input_matrix && alone)
            out.span = {out.size / 2, out.size}, out.nspans = 1;
    }
    // Without frames there is nothing to compute, for any number of states.
    if (std::all_of(job.outputs, job.outputs + job.noutputs,
                    [](const Output& out) { return out.size == 0; }))
        job.count = 0;
}

std::ptrdiff_t count_numbers(const Shape& shape) { return product(shape, 0, shape.ndim); }

double count_numbers(const Job& job) {
    double numbers = 0.0;
    for (int o = 0; o < job.noutputs; ++o) numbers += static_cast<double>(job.outputs[o].size);
    return numbers;
}

double count_stored(const Job& job) {
    double numbers = 0.0;
    for (int o = 0; o < job.noutputs; ++o) numbers += static_cast<double>(job.outputs[o].stored());
    return numbers;
}

}  // namespace dtau
