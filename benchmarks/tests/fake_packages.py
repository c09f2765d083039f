"""Packages on JAX for the benchmarks' child processes: their names, other packages' numbers.

adam has a mass matrix, by Pinocchio; its other functions raise, sleep or end the process. frax is
MuJoCo.
"""

from __future__ import annotations

JAX = """
from jax import numpy, scipy

def jit(f):
    return f

def vmap(f):
    return lambda *xs: numpy.stack([f(*row) for row in zip(*xs)])

def block_until_ready(x):
    return x
"""
ADAM = """
import os, time
import numpy as np
import pinocchio as pin

class KinDynComputations:
    def __init__(self, urdf, joints, gravity):
        self.m = pin.buildModelFromXML(urdf)
        self.d = self.m.createData()
        self.order = [self.m.joints[self.m.getJointId(name)].idx_v for name in joints]
        assert gravity[2] == -9.81
        print("what packages print is no answer")

    def set_frame_velocity_representation(self, representation):
        assert representation == "body"

    def mass_matrix(self, base, s):
        q = np.empty(self.m.nq)
        q[self.order] = s
        M = pin.crba(self.m, self.d, q)
        M = np.triu(M) + np.triu(M, 1).T
        out = np.eye(6 + self.m.nv)
        out[6:, 6:] = M[np.ix_(self.order, self.order)]
        return out

    def gravity_term(self, base, s):
        raise ValueError("no gravity here")

    def CoM_position(self, base, s):
        time.sleep(60.0)

    def forward_kinematics(self, frame, base, s):
        os._exit(3)
"""
FRAX = """
import mujoco as mj
import numpy as np

class Robot:
    "MuJoCo, its joints in the opposite order."

    def __init__(self, path, floating_base):
        spec = mj.MjSpec.from_file(path)
        spec.compiler.fusestatic = True
        free = floating_base == "quaternion"
        if free:
            spec.worldbody.first_body().add_freejoint()
        for joint in spec.joints:
            joint.limited = mj.mjtLimited.mjLIMITED_FALSE
        self.m = spec.compile()
        self.m.opt.disableflags |= mj.mjtDisableBit.mjDSBL_CONTACT
        self.d = mj.MjData(self.m)
        names = [self.m.joint(i).name for i in range(free, self.m.njnt)]
        self.joint_names = ["base"] * (6 * free) + names[::-1]
        self.q = [*range(7 * free), *range(7 * free, self.m.nq)[::-1]]
        self.v = [*range(6 * free), *range(6 * free, self.m.nv)[::-1]]

    def at(self, q, v=0.0, a=0.0):
        self.d.qpos[self.q], self.d.qvel[self.v], self.d.qacc[self.v] = q, v, a
        self.d.qfrc_applied[:] = 0.0
        return self.d

    def rnea(self, q, v, a, lift, f_ext):
        assert lift[2] == 9.81
        mj.mj_inverse(self.m, self.at(q, v, a))
        return self.d.qfrc_inverse[self.v]

    def forward_dynamics(self, q, v, tau, f_ext):
        self.at(q, v).qfrc_applied[self.v] = tau
        mj.mj_forward(self.m, self.d)
        return self.d.qacc[self.v]

    def crba(self, q):
        mj.mj_forward(self.m, self.at(q))
        out = np.zeros((self.m.nv, self.m.nv))
        mj.mj_fullM(self.m, self.d, out)
        return out[np.ix_(self.v, self.v)]

    mass_matrix_inverse = staticmethod(np.linalg.inv)

    def nonlinear_bias(self, q, v):
        mj.mj_forward(self.m, self.at(q, v))
        return self.d.qfrc_bias[self.v]

    def gravity_vector(self, q):
        return self.nonlinear_bias(q, 0.0)

    def center_of_mass(self, q):
        mj.mj_forward(self.m, self.at(q))
        return np.array(self.d.subtree_com[0])
"""
PACKAGES = {  # file: text
    "jax/__init__.py": JAX,
    "jax/numpy.py": "from numpy import *",
    "jax/scipy.py": "",
    "adam/__init__.py": "class Representations:\n    BODY_FIXED_REPRESENTATION = 'body'\n",
    "adam/jax.py": ADAM,
    "frax.py": FRAX,
}
