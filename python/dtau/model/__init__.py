"""What a robot is: its joints, links and inertias, and the immutable `Model` made of them.

================  =================================================================
`pose`            poses, and the other ways to write them
`spatial`         inertias of rigid bodies
`moments`         principal moments, and the nearest that a body can have
`rotations`       rotations and unit vectors, as joints need them
`joint_type`      what all kinds of joint have in common
`joints`          the kinds of joint
`links`           links with the joints that carry them, and all else a model has
`tree`            links in their order, fixed ones merged
`mimic`           joints that follow others
`massless`        joints that would accelerate nothing
`records`         joints as users see them
`compile`         bodies as the flat arrays that the core reads
`model`           the model
`editing`         what makes another model of one
`contacts`        contacts with the world, closed loops
`mechanism`       a model with the contacts that close it
`names`           links and joints by their names
`printing`        a model as text
`writing`         a model as URDF
`roll_pitch_yaw`  angles that give a rotation to the last bit
`builder`         models from Python code, joint by joint
================  =================================================================
"""
