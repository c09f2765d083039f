// Declares the arguments that functions take, by name: inputs (In) and options (Opt). Each file of
// functions declares its own results.
#pragma once

#include "registry/group.hpp"

namespace dtau::DTAU_VARIANT {

// An array that a call by the numbers of q changes: see Converted.
template <class Array, unsigned char numbers> struct ByNumbers : Array {
    static constexpr ArraySignature signature = [] {
        ArraySignature changed = Array::signature;
        changed.numbers = numbers;
        return changed;
    }();
};
// A result with columns by q.
template <class Array> using ByQ = ByNumbers<Array, Converted::columns>;

inline constexpr In<"q", Quantity::q> q;
inline constexpr In<"q0", Quantity::q> q0;
inline constexpr In<"q1", Quantity::q> q1;
inline constexpr In<"v", Quantity::v> v;
inline constexpr In<"a", Quantity::v> a;
inline constexpr In<"tau", Quantity::torque> tau;
inline constexpr In<"f_ext", Quantity::wrenches, not_stacked, Default::none> f_ext;
inline constexpr In<"parameters", Quantity::given_parameters, not_stacked, Default::none>
    parameters;
inline constexpr In<"wrench", Quantity::wrench> wrench;
inline constexpr In<"dt", Quantity::scalar> dt;
inline constexpr In<"inputs", Quantity::input_map, not_stacked, Default::none> inputs;  // or a mask
inline constexpr In<"active", Quantity::active_contacts, not_stacked, Default::none> active;
inline constexpr In<"positions", Quantity::contact_positions, not_stacked, Default::none>
    held_positions;

// Options.
inline constexpr Opt<"frame", Option::frames, Default::required> frame;
inline constexpr Opt<"frames", Option::frames, Default::required> frames;
inline constexpr Opt<"axes", Option::axes, Default::word> axes;
inline constexpr Opt<"f_ext_axes", Option::wrench_axes, Default::word> f_ext_axes;
inline constexpr Opt<"kind", Option::acceleration, Default::word> kind;
inline constexpr Opt<"prescribed", Option::prescribed, Default::required> prescribed;
inline constexpr Opt<"integrator", Option::integrator, Default::word> integrator;
inline constexpr Opt<"inputs", Option::driven, Default::none> driven;  // a mask alone
inline constexpr Opt<"symmetric", Option::symmetric, Default::no> symmetric;
inline constexpr Opt<"layout", Option::layout, Default::word> layout;
inline constexpr Opt<"joint_parameters", Option::joint_parameters, Default::no> joint_parameters;
inline constexpr Opt<"contacts", Option::contacts, Default::required> contacts;
inline constexpr Opt<"contacts", Option::contacts, Default::none> optional_contacts;
inline constexpr Opt<"regularization", Option::regularization, Default::zero> regularization;
inline constexpr Opt<"order", Option::order, Default::none> order;
inline constexpr Opt<"forces", Option::forces, Default::no> with_forces;
inline constexpr Opt<"by", Option::by, Default::none> by;
inline constexpr Opt<"coordinates", Option::coordinates, Default::word> coordinates;

// Tangents.
inline constexpr ByNumbers<In<"dq", Quantity::v>, Converted::tangent> dq;
inline constexpr In<"dv", Quantity::v> dv;
inline constexpr In<"da", Quantity::v> da;
inline constexpr In<"dtau", Quantity::torque> dtorque;
inline constexpr In<"ddt", Quantity::scalar, not_stacked, Default::none> ddt;
inline constexpr In<"dparameters", Quantity::parameters> dparameters;
inline constexpr In<"dparameters", Quantity::parameters, not_stacked, Default::none>
    optional_dparameters;
inline constexpr In<"df_ext", Quantity::wrenches, not_stacked, Default::none> df_ext;

// Weights of results, for vector-Jacobian products. With mimic joints (v_joint = G v), weights of
// torques expand to all joints as velocities do: lam . G^T tau_joint = (G lam) . tau_joint.
inline constexpr In<"lam", Quantity::v> torque_weights;
inline constexpr In<"lam", Quantity::torque> acceleration_weights;
inline constexpr ByNumbers<In<"lam_q", Quantity::torque>, Converted::weights> lam_q;
inline constexpr In<"lam_v", Quantity::torque> lam_v;

// Stacks of time derivatives for results of order 0 ... r: they have r, r + 1 or r + 2 rows.
inline constexpr In<"v_derivatives", Quantity::v, 0> v_below;
inline constexpr In<"v_derivatives", Quantity::v, 1> v_stack;
inline constexpr In<"v_derivatives", Quantity::v, 2> v_beyond;
inline constexpr In<"a_derivatives", Quantity::v, 1> a_stack;
inline constexpr In<"tau_derivatives", Quantity::torque, 1> tau_stack;
inline constexpr In<"f_ext_derivatives", Quantity::wrenches, 1, Default::none> f_ext_stack;

// Their tangents, and weights.
inline constexpr In<"dv_derivatives", Quantity::v, 2> dv_beyond;
inline constexpr In<"dtau_derivatives", Quantity::torque, 1> dtorque_stack;
inline constexpr In<"df_ext_derivatives", Quantity::wrenches, 1, Default::none> df_ext_stack;
inline constexpr In<"lam_derivatives", Quantity::v, 1> torque_weight_stack;
inline constexpr In<"lam_derivatives", Quantity::torque, 1> acceleration_weight_stack;

}  // namespace dtau::DTAU_VARIANT
