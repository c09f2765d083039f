"""Glossary of all arguments and results of the package: meaning, shape, unit and frame.

`ARGUMENTS` and `RESULTS` are in NumPy's format, as ``help()`` shows them. A test compares their
shapes with `dtau.registry`.
"""

from __future__ import annotations

ARGUMENTS = """
model : Model
    The robot.
q : array_like (..., nq)
    Configuration. Batch axes of all arguments broadcast against each other.
q0 : array_like (..., nq)
    Configuration at which the displacement begins.
q1 : array_like (..., nq)
    Configuration at which the displacement ends.
v : array_like (..., nv)
    Velocity in rad/s and m/s; for a free joint [linear, angular] in the body frame.
a : array_like (..., nv)
    Time derivative of ``v``, component by component.
tau : array_like (..., nv)
    Joint torque in N m and force in N; for a free joint the wrench [force, moment] in the body
    frame.
dt : array_like (...)
    Length of the step in seconds; below 0, a step back in time.
dq : array_like (..., nv)
    Variation of ``q`` in the tangent space, along q (+) eps dq; for a free joint a displacement
    [linear, angular] in the body frame.
dv : array_like (..., nv)
    Variation of the components of ``v``.
da : array_like (..., nv)
    Variation of the components of ``a``.
dtau : array_like (..., nv)
    Variation of the components of ``tau``.
ddt : float or array_like (...), optional
    Variation of ``dt``; zero by default.
drestitution : float or array_like (...), optional
    Variation of ``restitution``; zero by default.
dparameters : array_like (..., nparameters)
    Variation of the parameters, in the order of the columns of `dtau.inverse_dynamics_regressor`:
    10 nbodies numbers, or 10 nbodies + 4 nv with ``joint_parameters``. Any numbers are valid, even
    ones that no rigid body can have. A batch of parameters with one state is a batch of models.
parameters : array_like (..., 10 nbodies), optional
    Inertial parameters of the bodies in place of the model's, a set for each state: many models in
    one call. The order is as in ``model.parameters.ravel()`` and the columns of
    `dtau.inverse_dynamics_regressor`; the shape may be (..., nbodies, 10) too, a row for each body
    as in ``model.parameters``. In shape (..., 10 nbodies + 4 nv) armature, damping, stiffness and
    friction of the velocities follow, as ``model.joint_parameters.ravel()``; derivatives by
    parameters then are by these too. Friction acts where ``model.friction_speed`` is above 0, and
    at this speed for mimic joints too, which have their own in the model. Free and planar joints
    have no springs. All else is the model's own. Any numbers are valid, even ones that no rigid
    body can have; whether they let every joint accelerate is not checked.
lam : array_like (..., nv)
    Weight of each result, in the order of ``v``. In backpropagation: the gradient of the cost by
    this result.
lam_forces : array_like (..., nrows)
    Weight of each force.
lam_impulses : array_like (..., nrows)
    Weight of each impulse.
lam_q : array_like (..., nv)
    Weight of the configuration after the step, in its tangent space: the gradient of a cost by it.
lam_v : array_like (..., nv)
    Weight of the velocity after the step: the gradient of a cost by it.
prescribed : sequence of str, or ndarray of bool (nv,)
    The joints whose motion is given: their names, or a mask of their degrees of freedom. A joint is
    prescribed as a whole; this holds for a free base too.
contacts : Contacts
    Contacts and loops of this model. Their forces act in addition to ``f_ext``.
restitution : array_like (...)
    Coefficient of restitution: the velocity of each constraint row after the impact is
    ``-restitution`` times the one before. 0 keeps the contact closed, 1 is elastic. Any number is
    valid, so that differences can be taken at 0 and 1: above 1 an impact adds energy, below 0 the
    contact moves on into what it hits.
frames : str or sequence of str
    Names from ``model.frames``: every link of the robot's file, including links that are fixed to
    bodies or to the world. With a single name the result has no axis for the frames.
frame : str
    Name of a moving frame, from ``model.frames``.
wrench : array_like (..., 6)
    [force, moment] in N and N m.
axes : {"body", "world", "mixed"}
    Axes of the twists. ``"body"``: in the frame's own axes, at its origin. ``"mixed"``: in world
    axes, at the frame's origin: the rate of its position, and the angular velocity. ``"world"``: in
    world axes, at the world's origin: the velocity of the body's point that passes through it, and
    the angular velocity (the spatial twist).
kind : {"spatial", "classical"}
    Spatial or classical acceleration. With the twist ``[u, w]`` in the same axes, the linear part
    of the classical acceleration is the linear part of the spatial one plus ``w x u``; the angular
    parts are equal.

    ==========  =================================  =========================================
    axes        spatial                            classical
    ==========  =================================  =========================================
    ``body``    rate of the twist's components     of the frame's origin, in its own axes
    ``mixed``   the same, turned into world axes   of the frame's origin: the rate of the
                                                   twist's components
    ``world``   rate of the twist's components     of the point of the body that is at the
                                                   world's origin
    ==========  =================================  =========================================
integrator : {"euler", "semi_implicit", "rk4", "implicit"}
    With q (+) dq of `dtau.integrate` and the acceleration a(q, v):

    - ``"euler"``: q (+) dt v and v + dt a;
    - ``"semi_implicit"``: v+ = v + dt a and q (+) dt v+;
    - ``"rk4"``: the classical Runge-Kutta method, with order 4 on the manifold too;
    - ``"implicit"``: as ``"semi_implicit"``, with the damping and the friction of joints at v+.
v_derivatives : array_like (..., r + 1, nv)
    The velocity and its time derivatives, component by component: row k has order k, in the unit of
    ``v`` divided by s^k; for a free joint [linear, angular] in the body frame. The number of rows
    determines r, at most 20; with ``order`` there may be more rows. The axis of the rows is never a
    batch: a batch of ``v`` is ``v[:, None]``, a batch of ``v`` and ``a`` is
    ``np.stack([v, a], axis=-2)``.
a_derivatives : array_like (..., r + 1, nv)
    Time derivatives of ``v``, component by component: row k has order k + 1. The number of rows
    determines r, at most 20; with ``order`` there may be more rows. A batch of ``a`` is
    ``a[:, None]``.
tau_derivatives : array_like (..., r + 1, nv)
    Joint torque and its time derivatives: row k has order k, in N m/s^k and N/s^k; for a free joint
    the components of the wrench [force, moment] in the body frame and their derivatives. The number
    of rows determines r, at most 20; with ``order`` there may be more rows. A batch of ``tau`` is
    ``tau[:, None]``.
f_ext_derivatives : array_like (..., r + 1, nbodies, 6), optional
    External wrench on each body, [force, moment] in the axes ``f_ext_axes``, in N and N m, and the
    time derivatives of these components: row k has order k.
dv_derivatives : array_like (..., r + 2, nv)
    Variation of the rows of ``v_derivatives``.
dtau_derivatives : array_like (..., r + 1, nv)
    Variation of the rows of ``tau_derivatives``.
lam_derivatives : array_like (..., r + 1, nv)
    Weights of the results: row k weights the time derivative of order k.
df_ext_derivatives : array_like (..., r + 1, nbodies, 6), optional
    Variation of the rows of ``f_ext_derivatives``; zero by default.
f_ext : array_like (..., nbodies, 6), optional
    External wrench on each body, [force, moment] in the axes ``f_ext_axes``, in N and N m.
    `dtau.wrench_at_frame` converts a force at another point of a body, such as a foot, into these
    numbers, in body axes.
df_ext : array_like (..., nbodies, 6), optional
    Variation of the components of ``f_ext``; zero by default.
inputs : array_like (..., nv, nu), or (nv,) of bool, optional
    The inputs u that drive the robot. None: the torques of all joints except free roots. A mask:
    the torques where it is true. A matrix B, or one for each state: the joint torque is ``B @ u``,
    in N m and N per unit of each input. `dtau.Motors`: the matrix ``dtau_du``, and derivatives by
    the state contain derivatives of the motors' law at ``tau``, so that servos feed back.
f_ext_axes : {"body", "world", "mixed"}
    Axes of the external wrenches. ``"body"``: in the body frame, at the body's origin. ``"mixed"``:
    in world axes, at the body's origin. ``"world"``: in world axes, moment about the world's origin
    (the spatial wrenches of [HO-FBS]). Time derivatives are the derivatives of the components along
    these axes. Derivatives by ``q``, and time steps, hold these components constant: ``"body"``
    wrenches turn with their bodies, the others stay constant in the world. For a wrench that acts
    at a frame and is constant in the world, add `dtau.wrench_at_frame_derivatives` to the
    derivatives by ``q``.
active : array_like (..., ncontacts), optional
    Which contacts hold in each state: true or 1 if the contact holds, false or 0 if it does not and
    has no force. Other numbers count as true from 0.5 on. By default all contacts hold. A contact
    takes time only where it holds; states with the same contacts are computed together.
positions : array_like (..., ncontacts, 3), optional
    Where the contacts are held in each state: positions in the world, in meters, in place of the
    positions of ``contacts``, such as the footholds of a gait. The rotation of a `FrameContact`
    stays. Only contacts with the world that have a gain ``kp`` and hold in the state depend on it.
    The other rows, also the rows of all loops, have no effect, and may be NaN. By default the
    positions of ``contacts``.
regularization : float
    Set it if constraint rows depend on each other, as with four flat feet. Choose it small compared
    with the eigenvalues of the Schur complement G = J M^-1 J^T, in 1/kg, but larger than their
    rounding errors: 1e-6 of the eigenvalues works. Where rows contradict each other, a value below
    1e-8 of the largest eigenvalue loses digits of the forces to rounding errors; a state that loses
    them has no results. Otherwise the result does not depend on the value: the forces are G^+ b,
    the least-squares forces of least norm. Here b is the reference acceleration of the rows minus
    J times the acceleration without contacts. Each eigenvalue of G must be 0 or at least 15 R, with
    R the value: one between counts as zero by the share (R / (R + eigenvalue))^10, and derivatives
    are off by it. For an impact, read impulses for forces and velocities for accelerations.
symmetric : bool, optional
    True: within a joint of several degrees of freedom, second derivatives by ``q`` are taken in the
    exponential chart, which makes them symmetric in their last two indices. By default they are
    repeated derivatives, by the first of these indices first.
coordinates : {"tangent", "numbers"}
    What derivatives by a configuration are taken by. ``"tangent"``: displacements q (+) xi, with nv
    columns. ``"numbers"``: the numbers of q in f(normalize(q)), so that a change of a
    quaternion along itself has no effect. Quaternions may have any norm from 1e-150 to 1e150. The
    axis of ``q`` has length nq, second derivatives are symmetric, ``dq`` a change of the numbers,
    and a configuration after a step is given and weighed by its numbers too.
layout : {"dense", "pattern"}
    ``"dense"``: all numbers. ``"pattern"``: only numbers that can differ from zero. In place of its
    own axes a matrix or a tensor then has a single one, in the order of `dtau.pattern`. Large
    batches of robots with many branches take less time and memory.
joint_parameters : bool, optional
    Whether the armature, damping, stiffness and friction of the ``nv`` velocities are parameters
    too, after the parameters of the bodies: ``model.joint_parameters``.
forces : bool, optional
    True: also return the contact forces and their derivatives, for costs on forces such as friction
    cones.
by : {"dt", "f_ext"} or sequence of them, optional
    Further variables to differentiate by: the length of the step, and the external wrenches, which
    may be zero. Their derivatives are attributes of the result, beside the tuple. ``out`` must be
    None.
order : int, optional
    Highest order of the time derivatives: the r in these shapes, from 0 to 100. If a stack is
    longer, its first rows are read, in place. So one stack of ``v`` and its derivatives, and one of
    wrenches, serves all functions along a trajectory. By default the length of the stacks
    determines r.
pose : array_like (..., 7), Placements or Pose
    Pose [position, quaternion x y z w], of unit norm within 1e-6; or what `dtau.frame_placements`
    returns.
twist : array_like (..., 6)
    Twist times a second, [linear, angular] in m and rad, along the axes of the moving frame.
side : {"right", "left"}
    Side on which the displacement is. Along the axes of the moving frame: ``"right"``; along the
    reference axes, about their origin: ``"left"``.
quaternion : array_like (..., 4)
    Unit quaternion x y z w, of norm 1 within 1e-6.
vector : array_like (..., 3)
    Rotation vector: axis times angle, in rad.
rpy : array_like (..., 3)
    Roll, pitch and yaw in rad: the rotation is Rz(yaw) Ry(pitch) Rx(roll).
targets : array_like (..., nframes, 7), Placements or Pose
    Target of each frame in the world, [position, quaternion x y z w], as in `dtau.poses`; or what
    `dtau.frame_placements` returns. With a single frame name, without the axis for the frames.
out : ndarray, optional
    Array for the result: float64, C-contiguous, writable, of the result's shape, sharing no memory
    with the arguments.
outs : sequence of ndarray, optional
    One array for each result of the call, the tuple's first, then results that further
    arguments add, in the order of their list: float64, C-contiguous, writable, of the result's
    shape, sharing no memory with the arguments or with each other. What an earlier call returned is
    valid.
threads : int, optional
    Number of threads. By default one for a small batch, and up to one per processor for one that
    would keep a single thread busy for more than about 0.2 ms.
impulse_dynamics*.v
    ... It is the velocity before the impact.
impulse_dynamics*.contacts
    The contacts and loops that hold afterwards, of this model. Gains and placements do not
    matter.
step*.f_ext
    ... Its components, and the components of ``tau``, are constant over the step.
step*.contacts : Contacts, optional
    Contacts and loops that hold at every stage; the acceleration is the result of
    `dtau.constrained_dynamics`. Their forces act in addition to ``f_ext``.
step*.active
    ... The same contacts hold over the whole step.
step*.positions
    ... A contact is held at the same position over the whole step.
inverse_dynamics*.v_derivatives : array_like (..., r + 2, nv)
    ... Row 1 is ``a``.
from_quaternion*.order : {"xyzw", "wxyz"}
    Order of the four numbers. There is no default, because packages differ.
to_quaternion*.order : {"xyzw", "wxyz"}
    Order of the four numbers. There is no default, because packages differ.
from_quaternion*.quaternion
    Quaternion of norm 1 within 1e-6, in this order.
"""

RESULTS = """
tau : ndarray (..., nv)
    Joint torque in N m and force in N, per degree of freedom; for a free joint the wrench
    [force, moment] in the body frame.
a : ndarray (..., nv)
    Joint acceleration in rad/s^2 and m/s^2: the time derivative of ``v``, component by
    component.
dtau : ndarray (..., nv)
    Variation of the joint torque.
da : ndarray (..., nv)
    Variation of the joint acceleration.
dtau_dq : ndarray (..., nv, nv)
    Entry [i, k] is the derivative of torque i along q (+) eps e_k, in the tangent space; for a
    free joint along a displacement [linear, angular] in the body frame.
dtau_dv : ndarray (..., nv, nv)
    Entry [i, k] is the derivative of torque i by velocity k.
dtau_da : ndarray (..., nv, nv)
    The mass matrix M, the derivative by the acceleration.
da_dq : ndarray (..., nv, nv)
    Entry [i, k] is the derivative of acceleration i along q (+) eps e_k, in the tangent space;
    for a free joint along a displacement [linear, angular] in the body frame.
da_dv : ndarray (..., nv, nv)
    Entry [i, k] is the derivative of acceleration i by velocity k.
da_dtau : ndarray (..., nv, nv)
    The inverse of the mass matrix, the derivative by the torque.
ConstrainedDynamicsDerivatives.da_dtau : ndarray (..., nv, nv)
    Entry [i, k] is the derivative of acceleration i by torque k.
dforces_dq : ndarray (..., nrows, nv)
    Entry [i, k] is the derivative of force i, along the axes of its contact, along q (+) eps
    e_k.
dforces_dv : ndarray (..., nrows, nv)
    Entry [i, k] is the derivative of force i by velocity k.
dforces_dtau : ndarray (..., nrows, nv)
    Entry [i, k] is the derivative of force i by torque k.
forces : ndarray (..., nrows)
    Constraint forces in N and N m, one contact after the other (`Contacts.rows`):
    [force, moment] on the contact's frame at its origin, along the contact's axes. The force of
    a loop is the one on ``frame_a``.
dforces : ndarray (..., nrows)
    Variation of the constraint forces.
residual : ndarray (..., nrows)
    Acceleration of each constraint row minus its reference acceleration: 0 up to rounding,
    unless ``regularization`` is given and rows contradict each other.
impulses : ndarray (..., nrows)
    Impulses of the contacts in N s and N m s. Order, origins and axes are the same as for the
    forces of `dtau.constrained_dynamics`.
dv_dq : ndarray (..., nv, nv)
    Entry [i, k] is the derivative of velocity i after the impact along q (+) eps e_k, in the
    tangent space.
dv_dv : ndarray (..., nv, nv)
    Entry [i, k] is the derivative of velocity i after the impact by velocity k before it.
dimpulses_dq : ndarray (..., nrows, nv)
    Entry [i, k] is the derivative of impulse i along q (+) eps e_k, in the tangent space.
dimpulses_dv : ndarray (..., nrows, nv)
    Entry [i, k] is the derivative of impulse i by velocity k before the impact.
ImpulseDynamicsJVP.dv : ndarray (..., nv)
    Variation of the velocity after the impact.
dimpulses : ndarray (..., nrows)
    Variation of the impulses.
ImpulseDynamicsVJP.by_v : ndarray (..., nv)
    Gradient by the velocity before the impact.
by_restitution : ndarray (...)
    Gradient by ``restitution``.
ImpulseDynamicsVJP.by_parameters : ndarray (..., nparameters)
    Attribute beside the tuple, with ``by="parameters"``: gradient by the parameters, as many
    numbers as ``parameters`` has; without it 10 nbodies, as ``model.parameters.ravel()``.
by_q : ndarray (..., nv)
    Gradient by ``q`` in the tangent space: entry k along q (+) eps e_k.
by_v : ndarray (..., nv)
    Gradient by ``v``.
by_a : ndarray (..., nv)
    Gradient by ``a``.
by_tau : ndarray (..., nv)
    Gradient by ``tau``.
by_f_ext : ndarray (..., nbodies, 6)
    Attribute beside the tuple, if ``f_ext`` is given: gradient by it, [by force, by moment] in
    the axes ``f_ext_axes``.
by_v_derivatives : ndarray (..., r + 2, nv)
    Gradient by the rows of ``v_derivatives``: row k by the time derivative of ``v`` of order k.
by_tau_derivatives : ndarray (..., r + 1, nv)
    Gradient by the rows of ``tau_derivatives``.
by_f_ext_derivatives : ndarray (..., r + 1, nbodies, 6)
    Attribute beside the tuple, if ``f_ext_derivatives`` are given: gradient by their rows, [by
    force, by moment] in the axes ``f_ext_axes``.
by_parameters : ndarray (..., nparameters)
    Gradient by the parameters, in the order of the columns of
    `dtau.inverse_dynamics_regressor`: 10 nbodies numbers, or 10 nbodies + 4 nv with
    ``joint_parameters``.
dqdq : ndarray (..., nv, nv)
    Entry [j, k] is the derivative by ``q`` along j, then by ``q`` along k, in the tangent
    space.
dqdv : ndarray (..., nv, nv)
    Entry [j, k] is the derivative by ``q`` along j, then by velocity k.
dvdv : ndarray (..., nv, nv)
    Entry [j, k] is the derivative by velocity j, then by velocity k.
dadq : ndarray (..., nv, nv)
    Entry [j, k] is the derivative by acceleration j, then by ``q`` along k.
dtaudq : ndarray (..., nv, nv)
    Entry [j, k] is the derivative by torque j, then by ``q`` along k.
d2tau_dqdq : ndarray (..., nv, nv, nv)
    Entry [i, j, k] is the derivative of torque i by ``q`` along j, then by ``q`` along k.
d2tau_dqdv : ndarray (..., nv, nv, nv)
    Entry [i, j, k] is the derivative of torque i by ``q`` along j, then by velocity k.
d2tau_dvdv : ndarray (..., nv, nv, nv)
    Entry [i, j, k] is the derivative of torque i by velocity j, then by velocity k.
d2tau_dadq : ndarray (..., nv, nv, nv)
    Entry [i, j, k] is the derivative of torque i by acceleration j, then by ``q`` along k: the
    derivative of entry [i, j] of the mass matrix.
d2a_dqdq : ndarray (..., nv, nv, nv)
    Entry [i, j, k] is the derivative of acceleration i by ``q`` along j, then by ``q`` along k.
d2a_dqdv : ndarray (..., nv, nv, nv)
    Entry [i, j, k] is the derivative of acceleration i by ``q`` along j, then by velocity k.
d2a_dvdv : ndarray (..., nv, nv, nv)
    Entry [i, j, k] is the derivative of acceleration i by velocity j, then by velocity k.
d2a_dtaudq : ndarray (..., nv, nv, nv)
    Entry [i, j, k] is the derivative of acceleration i by torque j, then by ``q`` along k:
    without contacts, of entry [i, j] of the inverse mass matrix.
d2forces_dqdq : ndarray (..., nrows, nv, nv)
    Entry [i, j, k] is the derivative of force i by ``q`` along j, then by ``q`` along k.
d2forces_dqdv : ndarray (..., nrows, nv, nv)
    Entry [i, j, k] is the derivative of force i by ``q`` along j, then by velocity k.
d2forces_dvdv : ndarray (..., nrows, nv, nv)
    Entry [i, j, k] is the derivative of force i by velocity j, then by velocity k.
d2forces_dtaudq : ndarray (..., nrows, nv, nv)
    Entry [i, j, k] is the derivative of force i by torque j, then by ``q`` along k.
d2v_dqdq : ndarray (..., nv, nv, nv)
    Entry [i, j, k] is the derivative of velocity i after the impact by ``q`` along j, then
    by ``q`` along k.
d2v_dqdv : ndarray (..., nv, nv, nv)
    Entry [i, j, k] is the derivative of velocity i after the impact by ``q`` along j, then
    by velocity k before it.
d2impulses_dqdq : ndarray (..., nrows, nv, nv)
    Entry [i, j, k] is the derivative of impulse i by ``q`` along j, then by ``q`` along k.
d2impulses_dqdv : ndarray (..., nrows, nv, nv)
    Entry [i, j, k] is the derivative of impulse i by ``q`` along j, then by velocity k before
    the impact.
A : ndarray (..., 2 nv, 2 nv)
    Derivative by the state, z = [xi, dv].
B : ndarray (..., 2 nv, nu)
    Derivative by the inputs u.
NextState.q : ndarray (..., nq)
    Configuration after the step, with quaternions of unit norm.
NextState.v : ndarray (..., nv)
    Velocity after the step.
DiscreteLinearization.q : ndarray (..., nq)
    Configuration after the step.
DiscreteLinearization.v : ndarray (..., nv)
    Velocity after the step.
StepJVP.dq : ndarray (..., nv)
    Variation of the configuration after the step, in the tangent space there.
StepJVP.dv : ndarray (..., nv)
    Variation of the velocity after the step.
StageLinearization.q : ndarray (..., nq)
    Configuration after the step.
StageLinearization.v : ndarray (..., nv)
    Velocity after the step.
A_stages : ndarray (..., 4, 2 nv, 2 nv)
    Derivatives of the states of the stages, each in its own tangent space, by the state before
    the step. The first is the identity.
B_stages : ndarray (..., 4, 2 nv, nu)
    Derivatives of the stages' states by the inputs u. The first is zero.
q_stages : ndarray (..., 4, nq)
    Configurations of the stages; the first is ``q`` before the step.
v_stages : ndarray (..., 4, nv)
    Velocities of the stages.
DiscreteLinearization.forces : ndarray (..., nrows)
    Attribute beside the tuple, with ``forces=True``: contact forces in the state before the
    step, in the format of `dtau.constrained_dynamics`.
dforces_dz : ndarray (..., nrows, 2 nv)
    Likewise: derivative of the contact forces by the state, z = [xi, dv].
dforces_du : ndarray (..., nrows, nu)
    Likewise: derivative of the contact forces by the inputs u.
ConstrainedDynamicsDerivatives.a : ndarray (..., nv)
    Attribute beside the tuple, with ``forces=True``: joint acceleration.
ConstrainedDynamicsDerivatives.forces : ndarray (..., nrows)
    Likewise: constraint forces, in the format of `dtau.constrained_dynamics`.
dq_ddt : ndarray (..., nv)
    Attribute beside the tuple, with ``by="dt"``: derivative of the configuration after the
    step by its length, in the tangent space there.
dv_ddt : ndarray (..., nv)
    Likewise, of the velocity after the step.
dq_df_ext : ndarray (..., nv, nbodies, 6)
    Attribute beside the tuple, with ``by="f_ext"``: derivative of the configuration after the
    step by the external wrenches, in the tangent space there.
dv_df_ext : ndarray (..., nv, nbodies, 6)
    Likewise, of the velocity after the step.
dforces_df_ext : ndarray (..., nrows, nbodies, 6)
    Likewise, of the contact forces, with ``forces=True`` too. They do not depend on the length
    of the step.
by_dt : ndarray (...)
    Attribute beside the tuple, with ``by="dt"``: gradient by the length of the step.
StepVJP.by_parameters : ndarray (..., nparameters)
    Attribute beside the tuple, with ``by="parameters"``: gradient by the parameters, as many
    numbers as ``parameters`` has; without it 10 nbodies, as ``model.parameters.ravel()``.
ConstrainedDynamicsVJP.by_parameters : ndarray (..., nparameters)
    Attribute beside the tuple, with ``by="parameters"``: gradient by the parameters, as many
    numbers as ``parameters`` has; without it 10 nbodies, as ``model.parameters.ravel()``.
Linearization.residual : ndarray (..., nrows)
    Attribute beside the tuple, if ``contacts`` are given: acceleration of each constraint row
    minus its reference acceleration, 0 up to rounding, unless ``regularization`` is given and
    rows contradict each other.
DiscreteLinearization.residual : ndarray (..., nrows)
    Attribute beside the tuple, if ``contacts`` are given: acceleration of each constraint row
    minus its reference acceleration, in the state before the step: 0 up to rounding, unless
    ``regularization`` is given and rows contradict each other.
dtwist_dq : ndarray (..., nframes, 6, nv)
    Row [linear, angular], column k the derivative along q (+) eps e_k, in the tangent space.
dtwist_dv : ndarray (..., nframes, 6, nv)
    The Jacobian, the derivative by ``v``.
FrameAccelerationsDerivatives.dacceleration_dq : ndarray (..., nframes, 6, nv)
    Row [linear, angular], column k the derivative along q (+) eps e_k, in the tangent space.
FrameAccelerationsDerivatives.dacceleration_dv : ndarray (..., nframes, 6, nv)
    Row [linear, angular], column k the derivative by velocity k.
FrameAccelerationsDerivatives.dacceleration_da : ndarray (..., nframes, 6, nv)
    The Jacobian, the derivative by ``a``.
dvelocity_dq : ndarray (..., 3, nv)
    Column k is the derivative along q (+) eps e_k, in the tangent space.
dvelocity_dv : ndarray (..., 3, nv)
    The Jacobian, the derivative by ``v``.
dacceleration_dq : ndarray (..., 3, nv)
    Column k is the derivative along q (+) eps e_k, in the tangent space.
dacceleration_dv : ndarray (..., 3, nv)
    Column k is the derivative by velocity k.
dacceleration_da : ndarray (..., 3, nv)
    The Jacobian, the derivative by ``a``.
h : ndarray (..., 6)
    Momentum [linear, angular] along the world's axes, in kg m/s and kg m^2/s.
dh_dq : ndarray (..., 6, nv)
    Column k is the derivative along q (+) eps e_k, in the tangent space.
dh_dv : ndarray (..., 6, nv)
    `dtau.centroidal_momentum_matrix`, the derivative by ``v``.
drate_dq : ndarray (..., 6, nv)
    Column k is the derivative along q (+) eps e_k, in the tangent space.
drate_dv : ndarray (..., 6, nv)
    Column k is the derivative by velocity k.
drate_da : ndarray (..., 6, nv)
    `dtau.centroidal_momentum_matrix`, the derivative by ``a``.
dT_dq : ndarray (..., nv)
    Entry k is the derivative along q (+) eps e_k, in the tangent space.
dT_dv : ndarray (..., nv)
    The generalized momentum M v, with the armature.
pose : ndarray (..., 7)
    Pose [position, quaternion x y z w].
twist : ndarray (..., 6)
    Twist times a second, [linear, angular] in m and rad, along the axes of the moving frame.
quaternion : ndarray (..., 4)
    Unit quaternion x y z w.
vector : ndarray (..., 3)
    Rotation vector: axis times angle, in rad.
error : ndarray (..., nframes, 6)
    Twist from the target to the frame, [linear, angular] in m and rad, along the axes of the
    frame and at its origin. Along the target's axes, at its origin, it has the same components.
FrameErrors.J : ndarray (..., nframes, 6, nv)
    Derivatives of the error: column k along q (+) eps e_k. A frame of the world has zeros.
"""
