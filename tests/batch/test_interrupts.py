"""Ctrl-C ends every public call that can take long, far from its end.

Functions with rows in the registry share one engine: few of them are here, test_threads.py and
test_process_lifetime.py have more. `generate`, `compile` and MJCF have tests beside theirs.
"""

from __future__ import annotations

import pytest
from processes import script

import dtau
from dtau import _core

# How each call begins; then the call as a function of its size, which grows until it takes long.
ROBOT = """
model = dtau.robots.quadruped()
points = [dtau.PointContact(foot) for foot in dtau.robots.QUADRUPED_FEET]
feet = dtau.Contacts(model, points, at=dtau.neutral(model))
"""
PROBLEM = """
A = np.random.default_rng(0).standard_normal((300, 300)) * 0.03
B = np.random.default_rng(1).standard_normal((300, 60))
weights = np.eye(300), np.eye(60), np.eye(300)
"""
SCENE = """
import mujoco
import dtau.mujoco
mj_model = mujoco.MjModel.from_xml_string("<mujoco><worldbody>" + "".join(
    f'<body pos="{k} 0 1"><joint axis="0 1 0"/><geom size=".1" pos=".1 0 0"/></body>'
    for k in range(40)) + "</worldbody></mujoco>")
kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
state = np.empty(mujoco.mj_stateSize(mj_model, kind))
mujoco.mj_getState(mj_model, mujoco.MjData(mj_model), state, kind)
def call(size, threads):
    states, ctrl = np.tile(state, (size, 1)), np.zeros((size, 0))
    dtau.mujoco.transition_derivatives_batch(
        mj_model, mujoco.MjData(mj_model), states, ctrl, threads=threads)
"""
MEASURED = """
import dtau.identification as identification
arm = dtau.robots.chain(7)
base = identification.base_parameters(identification.Regressor(arm))
def measured(size):
    q, v, a = dtau.random_state(arm, np.random.default_rng(0), shape=(size,))
    return q, v, a, dtau.inverse_dynamics(arm, q, v, a)
"""
SHAPES = """
import coal
import dtau.distances as distances
arm = dtau.robots.chain(7)
one = distances.Shape("one", arm.frames[-1], coal.Sphere(0.1))
shapes = one, distances.Shape("other", None, coal.Box(0.1, 0.1, 0.1))
"""
TEXT = """
def urdf(size):
    links = "".join(f'<link name="l{i}"/>' for i in range(size))
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="l0"/><child link="l{i}"/></joint>'
        for i in range(1, size))
    inertia = 'ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"'
    inertial = f'<inertial><mass value="1"/><inertia {inertia}/></inertial>'
    return f'<robot name="r">{links}{joints}</robot>'.replace(
        '<link name="l0"/>', f'<link name="l0">{inertial}</link>')
"""
CALLS = {
    "a batch": (ROBOT, "dtau.forward_dynamics(model, *spread(model, size))"),
    "a batch on threads": (ROBOT, "dtau.forward_dynamics(model, *spread(model, size), threads=2)"),
    "contacts": (ROBOT, "dtau.constrained_dynamics(model, *spread(model, size), feet)"),
    "lqr": (PROBLEM, "dtau.lqr(np.broadcast_to(A, (size, *A.shape)), B, *weights)"),
    "lqr, a batch": (
        PROBLEM,
        "dtau.lqr(np.broadcast_to(A, (size, 4, *A.shape)), B, *weights, threads=2)",
    ),
    "transition_derivatives_batch": (SCENE, "call(size, 1)"),
    "transition_derivatives_batch on threads": (SCENE, "call(size, 2)"),
    "project": (ROBOT, "dtau.project(model, spread(model, size)[0], feet)"),
    "equilibrium": (ROBOT, "dtau.equilibrium(model, spread(model, size)[0], contacts=feet)"),
    "least_squares": (MEASURED, "identification.least_squares(base, *measured(50 * size))"),
    "fit": (MEASURED, "identification.fit(base, *measured(50 * size))"),
    "shape_distances": (
        SHAPES,
        "distances.shape_distances(arm, np.zeros((size, arm.nq)), shapes, None)",
    ),
    "picture": (
        "import dtau.viewer\\n" + ROBOT,
        "dtau.viewer.picture(model, np.tile(dtau.neutral(model), (size, 1)), size=(80, 60))",
    ),
    "load": (TEXT, 'dtau.load(urdf(size), root="free")'),
    "Model, to_urdf and save": (
        "import tempfile",
        "long = chain(size); long.to_urdf(root_link='base'); long.save(tempfile.mkdtemp() + '/a')",
    ),
    "Contacts": (
        ROBOT,
        "[dtau.Contacts(model, [dtau.PointContact('LF_FOOT', name=str(k)) for k in range(99)])"
        " for _ in range(size)]",
    ),
}
# Functions whose time belongs to a call above, to NumPy or to another program, or is never long.
OTHERS = {
    *("compile", "generate"),  # test_compile_cache.py, test_long_generation.py
    *("from_mujoco", "from_pinocchio", "load_mechanism", "load_motors", "transfer_state"),  # Model
    *("frame_jacobians_rate", "kinetic_energy_regressor", "momentum_regressor"),  # a batch
    *("potential_energy_regressor", "subtree_centers_of_mass", "wrench_at_frame_derivatives"),
    *("configuration", "neutral", "pattern", "random_state"),  # NumPy
    *("set_result_cache_limit", "view"),
}
CHILD = """
begin, text = sys.argv[1:]
exec(begin.encode().decode("unicode_escape"))
call_of = eval(f"lambda size: ({text})") if ";" not in text else None
if call_of is None:
    exec("def call_of(size):\\n    " + text)
size, taken = 1, 0.0
call_of(2)  # what is computed once
while taken < 1.0:
    size *= 2
    begun = time.perf_counter()
    call_of(size)
    taken = time.perf_counter() - begun
size *= 6
sent = []
def interrupt():
    time.sleep(0.5)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
late = None
try:
    call_of(size)
except KeyboardInterrupt:
    late = time.perf_counter() - sent[0]
print(json.dumps(late), flush=True)
os._exit(0)
"""


@pytest.mark.processes
@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_ends_a_long_call(call: str) -> None:
    """A minute for all: each call would take some 6 s, and its size is found before."""
    for package in ("mujoco", "coal"):
        if f"import {package}\n" in CALLS[call][0]:
            pytest.importorskip(package)
    late = script(CHILD, *CALLS[call])
    assert late is not None, "the call went on to its end"
    assert late < 2.5


def test_every_public_function_is_here() -> None:
    rows = {function["name"] for function in _core.functions()}
    functions = {
        name
        for name in dtau.__all__
        if callable(getattr(dtau, name)) and not isinstance(getattr(dtau, name), type)
    }
    missing = functions - rows - OTHERS - set(CALLS)
    assert not missing, (
        f"functions that may take long: a row of CALLS, or a name in OTHERS: {missing}"
    )
