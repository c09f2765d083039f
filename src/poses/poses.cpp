// Registers the functions of poses and rotations, which take no model.
#include "dtau/algorithms/poses/poses.hpp"

#include "registry/group.hpp"
#include "registry/pose_quantities.hpp"

namespace dtau::DTAU_VARIANT {
namespace poses_rows {
namespace {

using Q = PoseQuantity;

constexpr In<"pose", Q::pose> pose;
constexpr In<"start", Q::pose> start;
constexpr In<"end", Q::pose> end;
constexpr In<"first", Q::pose> first;
constexpr In<"second", Q::pose> second;
constexpr In<"twist", Quantity::wrench> twist;
constexpr In<"direction", Quantity::wrench> direction;
constexpr In<"point", Quantity::vector> point;
constexpr In<"t", Quantity::scalar> t;
constexpr In<"matrix", Q::homogeneous> homogeneous;
constexpr In<"rotation", Q::rotation> rotation;
constexpr In<"translation", Quantity::vector> translation;

constexpr In<"quaternion", Q::quaternion> quaternion;
constexpr In<"start", Q::quaternion> start_quaternion;
constexpr In<"end", Q::quaternion> end_quaternion;
constexpr In<"first", Q::quaternion> first_quaternion;
constexpr In<"second", Q::quaternion> second_quaternion;
constexpr In<"vector", Quantity::vector> vector;
constexpr In<"direction", Quantity::vector> axis;
constexpr In<"rpy", Quantity::vector> rpy;

constexpr Out<"pose", Q::pose> new_pose;
constexpr Out<"twist", Quantity::wrench> new_twist;
constexpr Out<"point", Quantity::vector> new_point;
constexpr Out<"jacobian", Q::twist_map> twist_map;
constexpr Out<"matrix", Q::homogeneous> new_homogeneous;
constexpr Out<"rotation", Q::rotation> new_rotation;
constexpr Out<"translation", Quantity::vector> new_translation;
constexpr Out<"quaternion", Q::quaternion> new_quaternion;
constexpr Out<"vector", Quantity::vector> new_vector;
constexpr Out<"rpy", Quantity::vector> new_rpy;
constexpr Out<"jacobian", Q::rotation> vector_map;

// A row whose body needs only the named arguments.
template <class Inputs, class Outputs, class Body>
constexpr Row row(const char* name, Inputs inputs, Outputs outputs, Body) {
    return function({.name = name}, inputs, outputs,
                    algorithm<NoWorkspace>([]<class T>(const Tree&, const auto& x, const auto&) {
                        Body{}.template operator()<T>(x);
                    }));
}

constexpr Row functions[] = {
    row("pose_exp", takes(twist), gives(new_pose),
        []<class T>(const auto& x) { store_pose(exp(load_twist(x[twist])), x[new_pose]); }),
    row("pose_log", takes(pose), gives(new_twist),
        []<class T>(const auto& x) { store_twist(log(load_pose(x[pose])), x[new_twist]); }),
    row("pose_exp_jacobian", takes(twist), gives(twist_map),
        []<class T>(const auto& x) {
            store_matrix(right_jacobian(load_twist(x[twist])), x[twist_map]);
        }),
    row("pose_log_jacobian", takes(pose), gives(twist_map),
        []<class T>(const auto& x) {
            store_matrix(inverse_right_jacobian(log(load_pose(x[pose]))), x[twist_map]);
        }),
    row("pose_exp_jacobian_derivative", takes(twist, direction), gives(twist_map),
        []<class T>(const auto& x) {
            store_matrix(exp_jacobian_derivative(load_twist(x[twist]), load_twist(x[direction])),
                         x[twist_map]);
        }),
    row("pose_log_jacobian_derivative", takes(pose, direction), gives(twist_map),
        []<class T>(const auto& x) {
            store_matrix(log_jacobian_derivative(log(load_pose(x[pose])), load_twist(x[direction])),
                         x[twist_map]);
        }),
    row("pose_adjoint", takes(pose), gives(twist_map),
        []<class T>(const auto& x) { store_matrix(adjoint(load_pose(x[pose])), x[twist_map]); }),
    row("pose_compose", takes(first, second), gives(new_pose),
        []<class T>(const auto& x) {
            store_pose(load_pose(x[first]) * load_pose(x[second]), x[new_pose]);
        }),
    row("pose_inverse", takes(pose), gives(new_pose),
        []<class T>(const auto& x) { store_pose(inverse(load_pose(x[pose])), x[new_pose]); }),
    row("pose_act", takes(pose, point), gives(new_point),
        []<class T>(const auto& x) {
            const Pose<T> X = load_pose(x[pose]);
            const Vec3<T> p = load_vector(x[point]);
            store_vector(mul_add(rotation_matrix(X.rotation), p, X.translation), x[new_point]);
        }),
    row("pose_difference", takes(start, end), gives(new_twist),
        []<class T>(const auto& x) {
            store_twist(log(relative(load_pose(x[start]), load_pose(x[end]))), x[new_twist]);
        }),
    row("pose_interpolate", takes(start, end, t), gives(new_pose),
        []<class T>(const auto& x) {
            store_pose(interpolated(load_pose(x[start]), load_pose(x[end]), x[t][0]), x[new_pose]);
        }),
    row("pose_from_matrix", takes(homogeneous), gives(new_pose),
        []<class T>(const auto& x) {
            const T* m = x[homogeneous];
            const Vec3<T> r = {m[3], m[7], m[11]};
            store_pose(Pose<T>{unit_quaternion(load_rows(m, 4)), r}, x[new_pose]);
        }),
    row("pose_to_matrix", takes(pose), gives(new_homogeneous),
        []<class T>(const auto& x) {
            const Pose<T> X = load_pose(x[pose]);
            const Mat3<T> R = rotation_matrix(X.rotation);
            const Vec3<T>& r = X.translation;
            const T o(0.0), rows[16] = {R.x.x, R.y.x, R.z.x, r.x, R.x.y, R.y.y, R.z.y, r.y,
                                        R.x.z, R.y.z, R.z.z, r.z, o,     o,     o,     T(1.0)};
            for (int k = 0; k < 16; ++k) x[new_homogeneous][k] = rows[k];
        }),
    row("pose_from_placement", takes(rotation, translation), gives(new_pose),
        []<class T>(const auto& x) {
            const Vec3<T> r = load_vector(x[translation]);
            store_pose(Pose<T>{unit_quaternion(load_rows(x[rotation])), r}, x[new_pose]);
        }),
    row("pose_from_quaternion", takes(quaternion, translation), gives(new_pose),
        []<class T>(const auto& x) {
            const Vec3<T> r = load_vector(x[translation]);
            store_pose(Pose<T>{load_quaternion(x[quaternion]), r}, x[new_pose]);
        }),
    row("pose_to_quaternion", takes(pose), gives(new_quaternion),
        []<class T>(const auto& x) { store_unit(load_pose(x[pose]).rotation, x[new_quaternion]); }),
    row("pose_from_rpy", takes(rpy, translation), gives(new_pose),
        []<class T>(const auto& x) {
            const Vec3<T> r = load_vector(x[translation]);
            store_pose(Pose<T>{quaternion_of_angles(load_vector(x[rpy])), r}, x[new_pose]);
        }),
    row("pose_to_rpy", takes(pose), gives(new_rpy),
        []<class T>(const auto& x) {
            const Mat3<T> R = rotation_matrix(load_pose(x[pose]).rotation);
            store_vector(roll_pitch_yaw(R), x[new_rpy]);
        }),
    function({.name = "pose_to_placement", .results = "Placements"}, takes(pose),
             gives(new_rotation, new_translation),
             algorithm<NoWorkspace>([]<class T>(const Tree&, const auto& x, const auto&) {
                 const Pose<T> X = load_pose(x[pose]);
                 write_rows(rotation_matrix(X.rotation), x[new_rotation]);
                 store_vector(X.translation, x[new_translation]);
             })),
    row("rotation_exp", takes(vector), gives(new_quaternion),
        []<class T>(const auto& x) { store_unit(exp(load_vector(x[vector])), x[new_quaternion]); }),
    row("rotation_log", takes(quaternion), gives(new_vector),
        []<class T>(const auto& x) {
            store_vector(rotation_vector(load_quaternion(x[quaternion])), x[new_vector]);
        }),
    row("rotation_exp_jacobian", takes(vector), gives(vector_map),
        []<class T>(const auto& x) {
            const Motion<T> w = {load_vector(x[vector]), zero_vector<T>()};
            write_rows(right_jacobian(w).E, x[vector_map]);
        }),
    row("rotation_log_jacobian", takes(quaternion), gives(vector_map),
        []<class T>(const auto& x) {
            const Motion<T> w = {rotation_vector(load_quaternion(x[quaternion])), zero_vector<T>()};
            write_rows(inverse_right_jacobian(w).E, x[vector_map]);
        }),
    row("rotation_exp_jacobian_derivative", takes(vector, axis), gives(vector_map),
        []<class T>(const auto& x) {
            const Motion<T> w = {load_vector(x[vector]), zero_vector<T>()};
            const Motion<T> d = {load_vector(x[axis]), zero_vector<T>()};
            write_rows(exp_jacobian_derivative(w, d).E, x[vector_map]);
        }),
    row("rotation_log_jacobian_derivative", takes(quaternion, axis), gives(vector_map),
        []<class T>(const auto& x) {
            const Motion<T> w = {rotation_vector(load_quaternion(x[quaternion])), zero_vector<T>()};
            const Motion<T> d = {load_vector(x[axis]), zero_vector<T>()};
            write_rows(log_jacobian_derivative(w, d).E, x[vector_map]);
        }),
    row("rotation_compose", takes(first_quaternion, second_quaternion), gives(new_quaternion),
        []<class T>(const auto& x) {
            store_unit(load_quaternion(x[first_quaternion]) * load_quaternion(x[second_quaternion]),
                       x[new_quaternion]);
        }),
    row("rotation_inverse", takes(quaternion), gives(new_quaternion),
        []<class T>(const auto& x) {
            store_unit(conjugate(load_quaternion(x[quaternion])), x[new_quaternion]);
        }),
    row("rotation_normalize", takes(quaternion), gives(new_quaternion),
        []<class T>(const auto& x) {
            store_unit(load_quaternion(x[quaternion]), x[new_quaternion]);
        }),
    row("rotation_act", takes(quaternion, vector), gives(new_vector),
        []<class T>(const auto& x) {
            store_vector(quaternion_rotation(x[quaternion]) * load_vector(x[vector]),
                         x[new_vector]);
        }),
    row("rotation_difference", takes(start_quaternion, end_quaternion), gives(new_vector),
        []<class T>(const auto& x) {
            const Quaternion<T> back = conjugate(load_quaternion(x[start_quaternion]));
            store_vector(rotation_vector(back * load_quaternion(x[end_quaternion])), x[new_vector]);
        }),
    row("rotation_interpolate", takes(start_quaternion, end_quaternion, t), gives(new_quaternion),
        []<class T>(const auto& x) {
            store_unit(interpolated(load_quaternion(x[start_quaternion]),
                                    load_quaternion(x[end_quaternion]), x[t][0]),
                       x[new_quaternion]);
        }),
    row("rotation_from_matrix", takes(rotation), gives(new_quaternion),
        []<class T>(const auto& x) {
            store_unit(unit_quaternion(load_rows(x[rotation])), x[new_quaternion]);
        }),
    row("rotation_to_matrix", takes(quaternion), gives(new_rotation),
        []<class T>(const auto& x) {
            write_rows(quaternion_rotation(x[quaternion]), x[new_rotation]);
        }),
    row("rotation_from_rpy", takes(rpy), gives(new_quaternion),
        []<class T>(const auto& x) {
            store_unit(quaternion_of_angles(load_vector(x[rpy])), x[new_quaternion]);
        }),
    row("rotation_to_rpy", takes(quaternion), gives(new_rpy),
        []<class T>(const auto& x) {
            store_vector(roll_pitch_yaw(quaternion_rotation(x[quaternion])), x[new_rpy]);
        }),
};

}  // namespace
}  // namespace poses_rows

extern const FunctionGroup poses_functions = group<poses_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
