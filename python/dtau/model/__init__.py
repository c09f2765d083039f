"""What a robot is: its joints, links and inertias, and the immutable `Model` made of them.

=============  ====================================================================
`pose`         poses, and the other ways to write them
`spatial`      inertias of rigid bodies
`rotations`    rotations and unit vectors, as joints need them
`joint_type`   what all kinds of joint have in common
`joints`       the kinds of joint
`links`        links with the joints that carry them, and all else a model has
`tree`         links in their order, fixed ones merged
`mimic`        joints that follow others
`massless`     joints that would accelerate nothing
`compile`      bodies as the flat arrays that the core reads
`model`        the model
`builder`      models from Python code, joint by joint
=============  ====================================================================
"""
