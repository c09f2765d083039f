// The C++ library: Model loads a file that Python's Model.save wrote, and Call computes one
// function of dtau for it. Include <dtau.hpp> and link dtau::dtau; docs/cpp.md explains.
//
//     dtau::Model model = dtau::Model::load("robot.dtau");
//     dtau::InverseDynamics inverse_dynamics(model);
//     inverse_dynamics(q, v, a, tau);
//
// Arrays are contiguous float64, with the shapes and conventions of the Python function of the same
// name; several states follow each other. Results have the same bits as Python's.
#pragma once

#include "dtau/library/call.hpp"
#include "dtau/library/calls/centroidal.hpp"
#include "dtau/library/calls/centroidal_momentum.hpp"
#include "dtau/library/calls/constraints.hpp"
#include "dtau/library/calls/constraints_hessians.hpp"
#include "dtau/library/calls/constraints_impulses.hpp"
#include "dtau/library/calls/constraints_products.hpp"
#include "dtau/library/calls/constraints_second_derivatives.hpp"
#include "dtau/library/calls/derivatives.hpp"
#include "dtau/library/calls/dynamics.hpp"
#include "dtau/library/calls/frames.hpp"
#include "dtau/library/calls/frames_derivatives.hpp"
#include "dtau/library/calls/frames_errors.hpp"
#include "dtau/library/calls/manifold.hpp"
#include "dtau/library/calls/parameters.hpp"
#include "dtau/library/calls/poses.hpp"
#include "dtau/library/calls/products.hpp"
#include "dtau/library/calls/rotations.hpp"
#include "dtau/library/calls/second_derivatives.hpp"
#include "dtau/library/calls/steps.hpp"
#include "dtau/library/calls/steps_hessian.hpp"
#include "dtau/library/calls/steps_linearization.hpp"
#include "dtau/library/calls/steps_stages.hpp"
#include "dtau/library/calls/terms.hpp"
#include "dtau/library/calls/time_derivatives.hpp"
#include "dtau/library/calls/time_derivatives_constrained.hpp"
#include "dtau/library/calls/time_derivatives_derivatives.hpp"
#include "dtau/library/calls/time_derivatives_kinematics.hpp"
#include "dtau/library/calls/time_derivatives_products.hpp"
#include "dtau/library/contacts.hpp"
#include "dtau/library/model.hpp"
#include "dtau/library/views.hpp"
