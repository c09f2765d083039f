// Tests that no two quantities which code compares are equal: modules and the library have copies.
#include <doctest/doctest.h>

#include <vector>

#include "registry/acceleration_quantities.hpp"
#include "registry/pose_quantities.hpp"

using namespace dtau;

TEST_SUITE("quantities") {
    TEST_CASE("those that code asks for differ") {
        const std::vector<Quantity> compared = {Quantity::q,
                                                Quantity::torque,
                                                Quantity::wrench,
                                                Quantity::wrenches,
                                                Quantity::active_contacts,
                                                Quantity::contact_positions,
                                                Quantity::input_map,
                                                Quantity::torque_matrix,
                                                Quantity::jacobians,
                                                Quantity::row_matrix,
                                                Quantity::state_matrix,
                                                Quantity::input_matrix,
                                                Quantity::tensor,
                                                PoseQuantity::pose,
                                                PoseQuantity::poses_of_frames,
                                                PoseQuantity::rotation,
                                                PoseQuantity::homogeneous,
                                                PoseQuantity::quaternion,
                                                AccelerationQuantity::matrix,
                                                AccelerationQuantity::state_matrix,
                                                AccelerationQuantity::input_matrix};
        for (std::size_t i = 0; i < compared.size(); ++i)
            for (std::size_t j = 0; j < compared.size(); ++j) {
                CAPTURE(i);
                CAPTURE(j);
                CHECK((compared[i] == compared[j]) == (i == j));
            }
    }

    TEST_CASE("others of the same axes and roles are not taken for them") {
        for (const Quantity& other : {Quantity::momentum, Quantity::twists, Quantity::matrix}) {
            CHECK(other != Quantity::wrench);
            CHECK(other != Quantity::wrenches);
            CHECK(other != AccelerationQuantity::matrix);
            CHECK(other != Quantity::torque_matrix);
        }
    }
}
