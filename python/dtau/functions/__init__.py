"""The functions of the package, one module a topic.

===============================  =================================================================
`dynamics`                       inverse, forward and hybrid dynamics
`dynamics_equilibrium`           inputs and contact forces that hold a configuration
`derivatives`                    first derivatives: ``_derivatives``, ``_wrench_derivatives``
`derivatives_patterns`           numbers of results that can differ from zero
`second_derivatives`             second derivatives: ``_second_derivatives``, and of lam . result:
                                 ``_hessian``
`products`                       products with first derivatives: ``_jvp``, ``_vjp``
`time_derivatives`               time derivatives of any order of the dynamics and its terms:
                                 ``_time_derivatives``
`time_derivatives_kinematics`    the same of bodies, frames and momentum
`time_derivatives_products`      products with their first derivatives: ``_jvp``, ``_vjp``
`terms`                          terms of the equation of motion, kinetic and potential energy
`parameters`                     derivatives by inertial parameters: ``_regressor``,
                                 ``_parameter_derivatives``, ``_parameter_jvp``, ``_parameter_vjp``
`frames`                         placements of bodies; placements, Jacobians and motion of frames,
                                 external wrenches
`frames_derivatives`             first derivatives of that motion and of wrenches: ``_derivatives``
`centroidal`                     center of mass, its motion and derivatives
`centroidal_momentum`            momentum of all bodies, its rate and derivatives
`manifold`                       moving on the configuration manifold, and how that varies
`manifold_states`                configurations: neutral, by the names of joints, random
`steps`                          time steps on the manifold, and gradients through them
`steps_linearization`            linearization without Euler angles
`steps_stages`                   the same for the stages of a Runge-Kutta step
`constraints`                    dynamics in contact and with closed loops, first derivatives
`constraints_products`           products with these: ``_jvp``, ``_vjp``
`constraints_impulses`           impacts
`constraints_projection`         configurations in which contacts and loops hold
===============================  =================================================================

A function checks what only Python knows (joints, options) and calls the core; the core reads the
arrays. Its docstring is completed by `dtau.docstrings`.
"""
