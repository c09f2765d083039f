"""The functions of the package, as the README's table has them.

A name is made of a problem, `inverse_dynamics` or `forward_dynamics`, and of what is asked of it:

=========================  =========================================================
`dynamics`                 the values: (no suffix)
`derivatives`              first derivatives: ``_derivatives``
`second_derivatives`       second derivatives, dense or packed: ``_second_derivatives``
`hessians`                 second derivatives of lam . result: ``_hessian``
`products`                 products with first derivatives: ``_jvp``, ``_vjp``
`time_derivatives`         time derivatives of any order: ``_time_derivatives``
=========================  =========================================================

and beside these

=========================  =========================================================
`hybrid`                   motion given for some joints, torque for others
`terms`                    terms of the equation of motion
`terms_time_derivatives`   the same along a trajectory: ``_time_derivatives``
`linearization`            linearization without Euler angles
`steps`                    time steps on the manifold, and gradients through them
`equilibrium`              inputs and contact wrenches that hold a configuration
`control_inputs`           which torques are inputs, for these three
`kinematics`               placements of bodies, and their centre of mass
`frames`                   placements, Jacobians and motion of frames, external wrenches
`frame_derivatives`        first derivatives of that motion: ``_derivatives``
`manifold`                 moving on the configuration manifold, drawing from it
=========================  =========================================================

A wrapper checks what only Python knows (joints, options) and calls the core; the core reads the
arrays.
"""
