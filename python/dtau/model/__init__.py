"""Models of robots: joints, links and inertias, and the immutable `Model` made of them.

================  =================================================================
`pose`            poses, converted from and to other representations
`spatial`         inertias of rigid bodies
`moments`         principal moments, and the nearest that a body can have
`rotations`       rotations, unit vectors and cross products, as joints need them
`joint_type`      the base class of all kinds of joint
`joints`          the kinds of joint
`links`           the parts of a model: links, joints, frames, bodies, limits, mimics
`tree`            the order of links; fixed links merged into bodies
`mimic`           mimic joints
`massless`        joints without inertia to accelerate
`records`         joints as users see them
`compile`         flat arrays of bodies for the core
`model`           the model
`editing`         methods that return a changed model
`link_changes`    changed parts of its links
`rerooting`       the method that hangs a model from another link
`control_inputs`  the argument ``inputs=``, which says what drives a robot
`contacts`        contacts with the world, closed loops
`mechanism`       a model with the constraints that close its loops
`names`           look-up of links and joints by name
`printing`        a model as text
`writing`         a model as URDF
`array_file`      named arrays in a file
`saving`          a model as named arrays
`pinocchio_writing`  a model as Pinocchio's
`roll_pitch_yaw`  angles that give a rotation to the last bit
`builder`         models from Python code, joint by joint
================  =================================================================
"""
