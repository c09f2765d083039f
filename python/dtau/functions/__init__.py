"""The functions of the package, by the columns of the README's table.

A name is made of a problem, `inverse_dynamics` or `forward_dynamics`, and of what is asked of it:

=========================  =========================================================
`dynamics`                 the values, and the terms of the equation of motion
`derivatives`              first derivatives: ``_derivatives``
`second_derivatives`       ``_second_derivatives`` and, contracted, ``_hessian``
`products`                 products with first derivatives: ``_jvp``, ``_vjp``
`time_derivatives`         along a trajectory: ``_time_derivatives``
=========================  =========================================================

and beside these

=========================  =========================================================
`hybrid`                   motion given for some joints, torque for others
`terms_time_derivatives`   terms of the equation of motion along a trajectory
`linearization`            linear systems for perturbations of a state
`steps`                    time steps, and gradients through them
`equilibrium`              inputs and contact wrenches that hold a configuration
`control_inputs`           which torques are inputs, for these three
`kinematics`               placements, Jacobians, wrenches at frames
`manifold`                 moving on the configuration manifold, drawing from it
=========================  =========================================================

A wrapper checks what only Python knows (names, options) and calls the core; the core reads the
arrays.
"""
