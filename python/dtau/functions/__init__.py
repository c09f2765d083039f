"""The functions of the package, as docs/functions.md has them.

A name is made of a problem, `inverse_dynamics` or `forward_dynamics`, and of what is asked of it:

===========================  =========================================================
`dynamics`                   the values: (no suffix)
`derivatives`                first derivatives: ``_derivatives``
`second_derivatives`         second derivatives, dense or packed: ``_second_derivatives``
`hessians`                   second derivatives of lam . result: ``_hessian``
`products`                   products with first derivatives: ``_jvp``, ``_vjp``
`parameters`                 inverse dynamics by inertial parameters: ``_regressor``,
                             ``_parameter_jvp``, ``_parameter_vjp``
`forward_parameters`         forward dynamics by them: ``_parameter_derivatives``, the same products
`time_derivatives`           time derivatives of any order: ``_time_derivatives``
===========================  =========================================================

and beside these

===========================  =========================================================
`hybrid`                     motion given for some joints, torque for others
`terms`                      terms of the equation of motion
`terms_time_derivatives`     the same along a trajectory: ``_time_derivatives``
`linearization`              linearization without Euler angles
`steps`                      time steps on the manifold, and gradients through them
`contacts`                   dynamics in contact and with closed loops, first derivatives
`contact_products`           products with these: ``_jvp``, ``_vjp``
`impulses`                   impacts, and torques for motions in contact
`projection`                 configurations in which contacts and loops hold
`equilibrium`                inputs and forces of contacts that hold a configuration
`control_inputs`             which torques are inputs, for these three
`kinematics`                 placements of bodies
`frames`                     placements, Jacobians and motion of frames, external wrenches
`frame_derivatives`          first derivatives of that motion and of wrenches: ``_derivatives``
`frame_time_derivatives`     that motion along a trajectory: ``_time_derivatives``
`whole_body`                 center of mass, its motion and derivatives
`momentum`                   momentum of all bodies, its rate and derivatives
`momentum_time_derivatives`  momentum along a trajectory: ``_time_derivatives``
`energy`                     kinetic and potential energy, and their gradients
`manifold`                   moving on the configuration manifold, drawing from it
`tangent`                    how that varies, and gradients by the numbers of q
===========================  =========================================================

A wrapper checks what only Python knows (joints, options) and calls the core; the core reads the
arrays.
"""
