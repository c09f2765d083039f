"""Write an example for each function of the array libraries: `example`.

Most examples are the same in all libraries, except for names of operations. A function without its
own example shows the shape of its Jacobian for a quadruped, or of its result.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from dtau.autodiff.functions import Order, order_of
from dtau.autodiff.libraries import ArrayLibrary

_START = {
    "JAX": [
        "import dtau, dtau.jax, jax, jax.numpy as jnp",
        'jax.config.update("jax_enable_x64", True)',
    ],
    "PyTorch": ["import dtau, dtau.torch, torch"],
    "CasADi": ["import casadi as ca, dtau, dtau.casadi, numpy as np"],
}
_STATE = {
    "JAX": {
        "q": "jnp.asarray(dtau.neutral(model))",
        "v": "jnp.arange(18.0)",
        "still": "jnp.zeros(18)",
    },
    "PyTorch": {
        "q": "torch.from_numpy(dtau.neutral(model))",
        "v": "torch.arange(18.0, dtype=torch.float64)",
        "still": "torch.zeros(18, dtype=torch.float64)",
    },
    "CasADi": {
        "q": "ca.DM(dtau.neutral(model))",
        "v": "ca.DM(range(18))",
        "still": "ca.DM.zeros(18)",
    },
}
_CLOSE = {"JAX": "jnp.allclose", "PyTorch": "torch.allclose", "CasADi": "np.allclose"}
_ONE = {"JAX": "jnp.eye(18)", "PyTorch": "torch.eye(18, dtype=q.dtype)", "CasADi": "np.eye(18)"}
_MOTION = {  # v and a, one row each
    "JAX": "jnp.stack([v, still])",
    "PyTorch": "torch.stack([v, still])",
    "CasADi": "ca.horzcat(v, still).T",
}
_JACOBIAN = {
    "JAX": ">>> jax.jacfwd(lambda q: {call})(q).shape",
    "PyTorch": ">>> tuple(torch.func.jacrev(lambda q: {call})(q).shape)",
    "CasADi": '>>> q = ca.SX.sym("q", model.nq)\n>>> ca.jacobian({call}, q).shape',
}
_SIZES: Mapping[str | int, Any] = {"nq": 19, "nv": 18, "2 nv": 36, "nbodies": 13}  # quadruped


_SHARED = {
    "bias_torque": """
At rest it is gravity's:

>>> torque = {module}.bias_torque(model, q, still)
>>> bool({close}(torque, {module}.gravity_torque(model, q)))
True""",
    "gravity_torque": """
A free base has to be lifted with the robot's weight:

>>> weight = {module}.gravity_torque(model, q)[2]
>>> round(float(weight) / model.mass, 6)
9.81""",
    "mass_matrix_inverse": """
>>> product = {module}.mass_matrix_inverse(model, q) @ {module}.mass_matrix(model, q)
>>> bool({close}(product, {one}))
True""",
    "constrained_dynamics": """
Feet that are in contact do not accelerate:

>>> feet = [dtau.PointContact(foot) for foot in dtau.robots.QUADRUPED_FEET]
>>> contacts = dtau.Contacts(model, feet)
>>> a = {module}.constrained_dynamics(model, q, still, still, contacts).a
>>> J = {module}.frame_jacobians(model, q, "LF_FOOT")[:3, :]
>>> bool({close}(J @ a, 0.0 * a[:3]))
True""",
    "impulse_dynamics": """
A foot that has touched down does not move:

>>> contacts = dtau.Contacts(model, [dtau.PointContact("LF_FOOT")])
>>> after = {module}.impulse_dynamics(model, q, v, contacts)
>>> J = {module}.frame_jacobians(model, q, "LF_FOOT")[:3, :]
>>> bool({close}(J @ after.v, 0.0 * after.v[:3]))
True""",
    "frame_jacobians": """
>>> J = {module}.frame_jacobians(model, q, "LF_FOOT")
>>> twist = {module}.frame_velocities(model, q, v, "LF_FOOT")
>>> bool({close}(J @ v, twist))
True""",
    "frame_velocities": """
>>> feet = {module}.frame_velocities(model, q, v, ["LF_FOOT", "RF_FOOT"], "mixed")
>>> tuple(feet.shape)
(2, 6)""",
    "frame_kinematics_time_derivatives": """
Velocity and acceleration of a foot, one row each:

>>> motion = {motion}
>>> foot = {module}.frame_kinematics_time_derivatives(model, q, motion, "LF_FOOT")
>>> tuple(foot.twist.shape)
(2, 6)""",
    "frame_jacobians_time_derivatives": """
The rate of the Jacobian gives the acceleration that a foot has by its velocity alone:

>>> motion = {motion}
>>> J = {module}.frame_jacobians_time_derivatives(model, q, motion[:1, :], "LF_FOOT")
>>> foot = {module}.frame_kinematics_time_derivatives(model, q, motion, "LF_FOOT")
>>> bool({close}({rate} @ v, foot.twist[1, :]{column}))
True""",
    "center_of_mass_velocity": """
>>> velocity = {module}.center_of_mass_velocity(model, q, v)
>>> bool({close}(model.mass * velocity, {module}.momentum(model, q, v)[:3]))
True""",
    "centroidal_momentum": """
>>> h = {module}.centroidal_momentum(model, q, v)
>>> bool({close}(h[:3], {module}.momentum(model, q, v)[:3]))
True""",
    "difference": """
>>> moved = {module}.integrate(model, q, still + 0.1)
>>> bool({close}({module}.difference(model, q, moved), still + 0.1))
True""",
    "normalize": """
>>> bool({close}({module}.normalize(model, 2 * q), q))
True""",
    "tangent_map": """
>>> T = {module}.tangent_map(model, q)
>>> bool({close}(T.to_tangent @ T.from_tangent, {one}))
True""",
}

_OWN = {
    ("JAX", "inverse_dynamics"): """
>>> import numpy as np
>>> q, v, a = dtau.random_state(model, np.random.default_rng(0), shape=(256,))
>>> torque = lambda q, v, a: dtau.jax.inverse_dynamics(model, q, v, a)
>>> jax.jit(torque)(q, v, a).shape
(256, 18)
>>> jax.vmap(jax.jacfwd(torque, argnums=1))(q, v, a).shape
(256, 18, 18)""",
    ("PyTorch", "inverse_dynamics"): """
>>> import numpy as np
>>> state = dtau.random_state(model, np.random.default_rng(0), shape=(256,))
>>> q, v, a = (torch.from_numpy(x) for x in state)
>>> torque = lambda q, v, a: dtau.torch.inverse_dynamics(model, q, v, a)
>>> torque(q, v, a).shape
torch.Size([256, 18])
>>> torch.func.vmap(torch.func.jacrev(torque, argnums=1))(q, v, a).shape
torch.Size([256, 18, 18])""",
    ("CasADi", "inverse_dynamics"): """
The gradient of a sum of squares, by the numbers of q:

>>> q, v, a = ca.MX.sym("q", model.nq), ca.MX.sym("v", model.nv), ca.MX.sym("a", model.nv)
>>> cost = ca.sumsqr(dtau.casadi.inverse_dynamics(model, q, v, a))
>>> gradient = ca.Function("gradient", [q, v, a], [ca.gradient(cost, q)])
>>> gradient(dtau.neutral(model), 0, 0).shape
(19, 1)""",
    ("JAX", "forward_dynamics"): """
>>> fall = lambda tau: dtau.jax.forward_dynamics(model, q, still, tau)[2]
>>> gradient = jax.grad(fall)(still)
>>> print(gradient.shape, gradient[2].round(4))
(18,) 0.0342""",
    ("PyTorch", "forward_dynamics"): """
>>> tau = torch.zeros(model.nv, dtype=q.dtype, requires_grad=True)
>>> dtau.torch.forward_dynamics(model, q, still, tau)[2].backward()
>>> round(float(tau.grad[2]), 4)
0.0342""",
    ("CasADi", "forward_dynamics"): """
>>> tau = ca.MX.sym("tau", model.nv)
>>> fall = dtau.casadi.forward_dynamics(model, q, still, tau)[2]
>>> gradient = ca.Function("gradient", [tau], [ca.gradient(fall, tau)])(still)
>>> print(gradient.shape, round(float(gradient[2]), 4))
(18, 1) 0.0342""",
    ("JAX", "step"): """
>>> def height(tau):  # after a fifth of a second
...     def move(state, _):
...         return tuple(dtau.jax.step(model, *state, tau, 0.01)), None
...     (end, _), _ = jax.lax.scan(move, (q, still), length=20)
...     return end[2]
>>> jax.grad(height)(still).shape
(18,)""",
    ("PyTorch", "step"): """
>>> tau = torch.zeros(model.nv, dtype=q.dtype, requires_grad=True)
>>> state = q, still
>>> for _ in range(20):  # a fifth of a second
...     state = dtau.torch.step(model, *state, tau, 0.01)
>>> state.q[2].backward()
>>> tau.grad.shape
torch.Size([18])""",
    ("CasADi", "step"): """
>>> q, v, tau = (ca.MX.sym(name, n) for name, n in (("q", 19), ("v", 18), ("tau", 18)))
>>> after = dtau.casadi.step(model, q, v, tau, 0.01, "semi_implicit")
>>> ca.jacobian(ca.vertcat(*after), tau).shape
(37, 18)""",
    ("CasADi", "mass_matrix"): """
Velocities on different branches have no entry:

>>> M = dtau.casadi.mass_matrix(model, q)
>>> M.shape, M.nnz()
((18, 18), 216)""",
    ("JAX", "inverse_dynamics_time_derivatives"): """
The torque and its rate, by the velocity, the acceleration and the jerk:

>>> rates = lambda motion: dtau.jax.inverse_dynamics_time_derivatives(model, q, motion)
>>> jax.jacfwd(rates)(jnp.stack([v, still, still])).shape
(2, 18, 3, 18)""",
    ("PyTorch", "inverse_dynamics_time_derivatives"): """
The torque and its rate, by the velocity, the acceleration and the jerk:

>>> rates = lambda motion: dtau.torch.inverse_dynamics_time_derivatives(model, q, motion)
>>> torch.func.jacrev(rates)(torch.stack([v, still, still])).shape
torch.Size([2, 18, 3, 18])""",
    ("CasADi", "inverse_dynamics_time_derivatives"): """
The torque and its rate, one row each, by the velocity, the acceleration and the jerk:

>>> motion = ca.MX.sym("motion", 3, model.nv)
>>> rates = dtau.casadi.inverse_dynamics_time_derivatives(model, q, motion)
>>> rates.shape, ca.jacobian(rates, motion).shape
((2, 18), (36, 54))""",
    ("JAX", "forward_dynamics_time_derivatives"): """
The acceleration and the jerk, by the torque and its rate:

>>> rates = lambda tau: dtau.jax.forward_dynamics_time_derivatives(model, q, v, tau)
>>> jax.jacrev(rates)(jnp.zeros((2, 18))).shape
(2, 18, 2, 18)""",
    ("PyTorch", "forward_dynamics_time_derivatives"): """
The acceleration and the jerk, by the torque and its rate:

>>> rates = lambda tau: dtau.torch.forward_dynamics_time_derivatives(model, q, v, tau)
>>> torch.func.jacrev(rates)(torch.stack([still, still])).shape
torch.Size([2, 18, 2, 18])""",
    ("CasADi", "forward_dynamics_time_derivatives"): """
The acceleration and the jerk, one row each, by the torque and its rate:

>>> tau = ca.MX.sym("tau", 2, model.nv)
>>> rates = dtau.casadi.forward_dynamics_time_derivatives(model, q, v, tau)
>>> rates.shape, ca.jacobian(rates, tau).shape
((2, 18), (36, 36))""",
    ("JAX", "frame_placements"): """
How fast a foot rises with each of the numbers of q:

>>> height = lambda q: dtau.jax.frame_placements(model, q, "LF_FOOT").translation[2]
>>> jax.grad(height)(q).shape
(19,)""",
    ("PyTorch", "frame_placements"): """
How fast a foot rises with each of the numbers of q:

>>> height = lambda q: dtau.torch.frame_placements(model, q, "LF_FOOT").translation[2]
>>> torch.func.grad(height)(q).shape
torch.Size([19])""",
    ("CasADi", "frame_placements"): """
How fast a foot rises with each of the numbers of q:

>>> q = ca.SX.sym("q", model.nq)
>>> height = dtau.casadi.frame_placements(model, q, "LF_FOOT").translation[2]
>>> slope = ca.Function("slope", [q], [ca.gradient(height, q)])
>>> slope(dtau.neutral(model)).shape
(19, 1)""",
    ("JAX", "integrate"): """
A gradient in the tangent space at q, with nv numbers:

>>> def height(xi):
...     moved = dtau.jax.integrate(model, q, xi)
...     return dtau.jax.center_of_mass(model, moved)[2]
>>> jax.grad(height)(still).shape
(18,)""",
    ("PyTorch", "integrate"): """
A gradient in the tangent space at q, with nv numbers:

>>> def height(xi):
...     moved = dtau.torch.integrate(model, q, xi)
...     return dtau.torch.center_of_mass(model, moved)[2]
>>> torch.func.grad(height)(still).shape
torch.Size([18])""",
    ("CasADi", "integrate"): """
A gradient in the tangent space at q, with nv numbers:

>>> xi = ca.SX.sym("xi", model.nv)
>>> height = dtau.casadi.center_of_mass(model, dtau.casadi.integrate(model, q, xi))[2]
>>> slope = ca.Function("slope", [xi], [ca.gradient(height, xi)])
>>> want = dtau.center_of_mass_jacobian(model, dtau.neutral(model))[2]
>>> bool(np.allclose(np.array(slope(0))[:, 0], want))
True""",
}


def example(library: ArrayLibrary, function: ast.FunctionDef, axes: Sequence[str | int]) -> str:
    """Return the example of a docstring: imports, a quadruped, and a call of the function.

    ``axes`` are the axes of the result, or of the first one.
    """
    title, name = library.title, function.name
    text = _OWN.get((title, name)) or _SHARED.get(name) or _default(title, function, axes)
    for mark, value in (
        ("{module}", library.module),
        ("{close}", _CLOSE[title]),
        ("{one}", _ONE[title]),
        ("{motion}", _MOTION[title]),
        ("{rate}", "J[6:, :]" if title == "CasADi" else "J[1]"),
        ("{column}", ".T" if title == "CasADi" else ""),
    ):
        text = text.replace(mark, value)
    words, _, statements = text.strip().rpartition("\n\n")
    lines = [*_START[title], "model = dtau.robots.quadruped()"]
    for variable, value in _STATE[title].items():
        used = re.search(rf"(?<![\w.\"]){variable}\b", statements)
        assigned = rf"^>>> (\w+, )*{variable}\b.* = (?!lambda)"
        if used and not re.search(assigned, statements, re.MULTILINE):
            lines.append(f"{variable} = {value}")
    return "\n".join([*([words, ""] if words else []), *(f">>> {x}" for x in lines), statements])


def _default(title: str, function: ast.FunctionDef, axes: Sequence[str | int]) -> str:
    """Return an example that shows the shape of the Jacobian by q, or of the result."""
    values = {"model": "model", "q0": "q", "q1": "q", "q": "q", "dt": "0.01"}
    values |= {"frames": '"LF_FOOT"', "frame": '"LF_FOOT"'}
    names = [x.arg for x in function.args.args]
    required = names[: len(names) - len(function.args.defaults)]
    call = f"{{module}}.{function.name}({', '.join(values.get(x, 'v') for x in required)})"
    if isinstance(function.returns, ast.Subscript):  # the first of several results
        call += "[0]"
    shape = tuple(_SIZES.get(n, n) for n in axes if n != "nframes")
    if title == "CasADi":
        return f"{_JACOBIAN[title].replace('{call}', call)}\n({prod(shape)}, 19)"
    if order_of(function.name) is Order.none:
        return f">>> tuple({call}.shape)\n{shape}"
    return f"{_JACOBIAN[title].replace('{call}', call)}\n{(*shape, 19)}"
