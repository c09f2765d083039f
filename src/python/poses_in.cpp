// Checks arrays of poses and rotations: check_poses().
#include <algorithm>
#include <cmath>

#include "python/batch_states.hpp"
#include "python/call.hpp"
#include "registry/pose_quantities.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

constexpr double limit = 1e-6;

// The numbers of one state of an array.
struct Numbers {
    const char* state;
    npy_intp spacing;

    double operator[](std::ptrdiff_t k) const {
        return *reinterpret_cast<const double*>(state + k * spacing);
    }
};

// Numbers that are not finite pass: they give NaN. Squares of large ones overflow, and do not pass.
void check_norm(const Numbers& x, std::ptrdiff_t first, const char* name, const npy_intp* index,
                int naxes) {
    double squared = 0.0, finite = 0.0;
    for (int k = 0; k < 4; ++k) {
        squared += x[first + k] * x[first + k];
        finite += x[first + k] * 0.0;
    }
    if (std::fabs(std::sqrt(squared) - 1.0) <= limit || std::isnan(finite)) return;
    const double norm = std::hypot(std::hypot(x[first], x[first + 1], x[first + 2]), x[first + 3]);
    throw value_error(std::string(name) +
                      ": expected a quaternion of norm 1 within 1e-6, got norm " +
                      str(nb::float_(norm)) + at_index(index, naxes) + "; divide it by its norm");
}

// A rotation matrix by rows of `width` numbers. The columns are unit vectors, the third is the cross
// product of the others.
void check_rotation(const Numbers& m, int width, const char* name, const npy_intp* index,
                    int naxes) {
    const auto entry = [&](int r, int c) { return m[r * width + c]; };
    double error = 0.0, finite = 0.0;
    for (int i = 0; i < 3; ++i)
        for (int j = i; j < 3; ++j) {
            double product = i == j ? -1.0 : 0.0;
            for (int r = 0; r < 3; ++r) {
                product += entry(r, i) * entry(r, j);
                finite += entry(r, j) * 0.0;
            }
            error = std::max(error, std::fabs(product));
        }
    if (std::isnan(finite)) return;
    const auto fail = [&](const std::string& what) {
        throw value_error(std::string(name) + ": expected " + what + at_index(index, naxes));
    };
    if (error > limit)
        fail("a rotation, R^T R = 1 within 1e-6, got a matrix that is off by " +
             str(nb::float_(error)));
    double determinant = 0.0;
    for (int r = 0; r < 3; ++r)
        determinant += entry(r, 2) * (entry((r + 1) % 3, 0) * entry((r + 2) % 3, 1) -
                                      entry((r + 2) % 3, 0) * entry((r + 1) % 3, 1));
    if (determinant < 0.0) fail("determinant 1, got a reflection (determinant -1)");
    if (width == 3) return;
    for (int c = 0; c < 4; ++c)
        if (std::fabs(entry(3, c) - (c == 3 ? 1.0 : 0.0)) > limit)
            fail("the last row (0, 0, 0, 1) of a homogeneous matrix, got " +
                 str(nb::float_(entry(3, c))) + " in column " + std::to_string(c));
}

bool is_poses(const Quantity& quantity) {
    return quantity == PoseQuantity::pose || quantity == PoseQuantity::poses_of_frames;
}
bool is_matrices(const Quantity& quantity) {
    return quantity == PoseQuantity::rotation || quantity == PoseQuantity::homogeneous;
}

}  // namespace

bool has_rotations(const Quantity& quantity) {
    return is_poses(quantity) || is_matrices(quantity) || quantity == PoseQuantity::quaternion;
}

void check_poses(nb::handle input, const ArraySignature& signature, const Shape& core) {
    if (!has_rotations(*signature.quantity)) return;
    const bool poses = is_poses(*signature.quantity), matrices = is_matrices(*signature.quantity);
    const npy_intp spacing = core_spacing(input, core);
    const std::ptrdiff_t numbers = poses && core.ndim == 2 ? 7 * core.size[0] : 7;
    for_batch_states(
        array(input), core.ndim, [&](const char* state, const npy_intp* index, int naxes) {
            const Numbers x = {state, spacing};
            if (matrices)
                check_rotation(x, core.size[0] == 4 ? 4 : 3, signature.name, index, naxes);
            else if (!poses)
                check_norm(x, 0, signature.name, index, naxes);
            for (std::ptrdiff_t k = 0; poses && k < numbers; k += 7)
                check_norm(x, k + 3, signature.name, index, naxes);
        });
}

}  // namespace dtau
