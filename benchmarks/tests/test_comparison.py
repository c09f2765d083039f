"""docs/comparison.md: what it says was tried, in the versions that its head names.

Other versions may have more, and are skipped, as are packages that are not installed. By hand:

    python -m pip install drake jaxsim mujoco-mjx "adam-robotics[jax,casadi]" frax brax
    python -m pytest -rs benchmarks/tests/test_comparison.py
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from files import ROOT

import dtau

PAGE = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
QUADRUPED = str(ROOT / "python" / "dtau" / "robots" / "quadruped.urdf")

LINK = """<link name="{}"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}" type="revolute"><parent link="base"/><child link="{1}"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>{2}</joint>"""
MIMIC = (
    '<robot name="two"><link name="base"/>'
    + LINK.format("upper")
    + LINK.format("lower")
    + JOINT.format("first", "upper", "")
    + JOINT.format("second", "lower", '<mimic joint="first" multiplier="2"/>')
    + "</robot>"
)
ARM = """<mujoco model="arm"><worldbody><body>
<joint axis="0 1 0"/><geom type="capsule" size="0.04" fromto="0 0 0 0.3 0 0" mass="2"/>
<body pos="0.3 0 0"><joint axis="0 1 0" limited="true" range="-60 60"/>
<geom type="capsule" size="0.03" fromto="0 0 0 0.2 0 0" mass="1"/></body>
</body></worldbody></mujoco>"""
SDF_LINK = """<link name="{}"><pose>0 0 0 0 0 0</pose><inertial><pose>0 0 0.2 0 0 0</pose>
<mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz><ixy>0</ixy><ixz>0</ixz>
<iyz>0</iyz></inertia></inertial></link>"""
SDF = (
    '<sdf version="1.7"><model name="arm">'
    + SDF_LINK.format("base")
    + SDF_LINK.format("upper")
    + """<joint name="shoulder" type="revolute"><parent>base</parent><child>upper</child>
    <axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint>"""
    + "</model></sdf>"
)


def named(module: object, pattern: str) -> set[str]:
    return {name for name in dir(module) if re.search(pattern, name)}


def has(module: object, names: Iterable[str]) -> bool:
    return not set(names) - set(dir(module))


def of_the_page(package: str, distribution: str, module: str) -> Any:
    """The module, if its version is the one that the page is about, or a patch of it."""
    found = pytest.importorskip(module)
    (version,) = set(re.findall(rf"{package} (\d[\d.]*\d)", PAGE.split("## ")[0]))
    if importlib.metadata.version(distribution).split(".")[:2] != version.split(".")[:2]:
        pytest.skip(f"the page is about {package} {version}")
    return found


# Pinocchio


@pytest.fixture
def pin() -> Any:
    return of_the_page("Pinocchio", "pin", "pinocchio")


def test_pinocchio_first_derivatives(pin: Any) -> None:
    model = pin.buildModelFromUrdf(QUADRUPED, pin.JointModelFreeFlyer())
    data, q, v = model.createData(), pin.neutral(model), np.ones(model.nv)
    assert [x.shape for x in pin.computeRNEADerivatives(model, data, q, v, v)] == 3 * [(18, 18)]
    assert [x.shape for x in pin.computeABADerivatives(model, data, q, v, v)] == 3 * [(18, 18)]
    assert has(
        pin,
        (
            "computeForwardKinematicsDerivatives",
            "computeCentroidalDynamicsDerivatives",
            "computeConstraintDynamicsDerivatives",
            "computeImpulseDynamicsDerivatives",
        ),
    )
    assert not named(pin, "(RNEA|ABA).*[Pp]roduct|[Jj]vp|[Vv]jp")


def test_pinocchio_higher_derivatives(pin: Any) -> None:
    assert not named(pin, "SecondOrder|Hessian.*Dynamics|[Jj]erk|HigherOrder")
    assert {"dccrba", "computeJointJacobiansTimeVariation"} <= named(pin, "TimeVariation|dccrba")


def test_pinocchio_regressors(pin: Any) -> None:
    names = ("computeJointTorqueRegressor", "computeKineticEnergyRegressor")
    assert has(pin, names)
    assert not named(pin, "ABA.*Regressor|ForwardDynamics.*(Regressor|Parameter)")


def test_pinocchio_manifold(pin: Any) -> None:
    assert has(pin, ("integrate", "difference", "dIntegrate", "dDifference", "dIntegrateTransport"))
    assert not named(pin, "[Ll]ineariz|RungeKutta|^step")


def test_pinocchio_batches(pin: Any) -> None:
    model = pin.buildModelFromUrdf(QUADRUPED, pin.JointModelFreeFlyer())
    q, v = np.tile(pin.neutral(model)[:, None], 5), np.ones((model.nv, 5))
    assert pin.rneaInParallel(2, pin.ModelPool(model, 2), q, v, v).shape == (18, 5)
    assert named(pin, "InParallel") == {
        "abaInParallel",
        "computeCollisionsInParallel",
        "rneaInParallel",
    }


def test_pinocchio_mimic(pin: Any) -> None:
    model = pin.buildModelFromXML(MIMIC, mimic=True)
    data, x = model.createData(), np.zeros(1)
    assert model.nv == 1
    assert pin.rnea(model, data, x, x, x).shape == (1,)
    for function in (pin.aba, pin.computeRNEADerivatives, pin.computeABADerivatives):
        with pytest.raises(RuntimeError, match="does not support Joint Mimic"):
            function(model, data, x, x, x)


def test_pinocchio_contacts(pin: Any) -> None:
    kinds = ("PointContact", "PointAnchor", "FrameAnchor", "JointLimit", "JointFriction")
    assert has(pin, [f"{kind}ConstraintModel" for kind in kinds])
    assert has(pin, ("ADMMConstraintSolver", "PGSConstraintSolver", "constraintDynamics"))


def test_pinocchio_loop_constrained_aba(pin: Any) -> None:
    """A loop between two feet, by recursions and by the constraint solver."""
    model = pin.buildModelFromUrdf(QUADRUPED, pin.JointModelFreeFlyer())
    q, v, tau = dtau.random_state(dtau.robots.quadruped(), np.random.default_rng(0))
    feet = (model.frames[model.getFrameId(name)] for name in ("LF_FOOT", "RH_FOOT"))
    ends = [x for foot in feet for x in (foot.parentJoint, foot.placement)]

    def solved(prepare: str, solve: str) -> Any:
        rows, row_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        rows.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, model, *ends, pin.LOCAL))
        row_data.append(rows[0].createData())
        data, settings = model.createData(), pin.ProximalSettings(1e-12, 1e-6, 50)
        more = (row_data,) if prepare == "initConstraintDynamics" else ()
        getattr(pin, prepare)(model, data, rows, *more)
        return getattr(pin, solve)(model, data, q, v, tau, rows, row_data, settings).copy()

    want = solved("initConstraintDynamics", "constraintDynamics")
    got = solved("computeJointMinimalOrdering", "lcaba")
    assert np.abs(got - want).max() < 1e-8 * np.abs(want).max()


def test_pinocchio_contact_derivatives(pin: Any) -> None:
    """Those by q against differences: right, but in one case."""
    model = pin.buildModelFromUrdf(QUADRUPED, pin.JointModelFreeFlyer())
    q, v, tau = dtau.random_state(dtau.robots.quadruped(), np.random.default_rng(0))
    foot, other = (model.frames[model.getFrameId(name)] for name in ("LF_FOOT", "RH_FOOT"))
    away = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.5, 0.7), np.ones(3))

    def largest_error(kind: Any, axes: Any, loop: bool, gains: tuple[float, float]) -> float:
        held = (other.parentJoint, other.placement) if loop else (0, away)
        row = pin.RigidConstraintModel(kind, model, foot.parentJoint, foot.placement, *held, axes)
        row.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(*gains))
        rows, settings = pin.StdVec_RigidConstraintModel(), pin.ProximalSettings(1e-14, 0.0, 1)
        rows.append(row)

        def solved(q: Any) -> Any:
            data, row_data = model.createData(), pin.StdVec_RigidConstraintData()
            row_data.append(row.createData())
            pin.initConstraintDynamics(model, data, rows, row_data)
            pin.constraintDynamics(model, data, q, v, tau, rows, row_data, settings)
            pin.computeConstraintDynamicsDerivatives(model, data, rows, row_data, settings)
            return data

        steps = 1e-6 * np.eye(model.nv)
        ends = [[solved(pin.integrate(model, q, x)).ddq for x in y] for y in (steps, -steps)]
        differences = (np.array(ends[0]) - ends[1]).T / 2e-6
        error = np.abs(solved(q).ddq_dq - differences).max()
        return float(error / np.abs(differences).max())

    local, mixed = pin.ReferenceFrame.LOCAL, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for kind in (pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_6D):
        for axes in (local, mixed):
            for loop in (False, True):
                error = largest_error(kind, axes, loop, (100.0, 20.0))
                wrong = kind == pin.ContactType.CONTACT_6D and axes == mixed
                assert error > 0.1 if wrong else error < 1e-5, (kind, axes, loop)
                assert largest_error(kind, axes, loop, (0.0, 20.0)) < 1e-5


def test_pinocchio_collisions(pin: Any) -> None:
    assert pin.WITH_COLLISION
    assert has(pin, ("computeCollisions", "computeDistances", "GeometryModel"))


def test_pinocchio_joints(pin: Any) -> None:
    kinds = ("HelicalUnaligned", "Universal", "Planar", "Spherical", "Ellipsoid", "Composite")
    assert has(pin, [f"JointModel{kind}" for kind in kinds])


def test_pinocchio_files(pin: Any) -> None:
    assert has(pin, ("buildModelFromUrdf", "buildModelFromMJCF", "buildModelsFromSdf"))
    assert not pin.WITH_SDFORMAT, "the wheel"
    assert named(pin.Model, "^save") == {"saveToBinary", "saveToString", "saveToText", "saveToXML"}


def test_pinocchio_wheel(pin: Any) -> None:
    assert importlib.util.find_spec("pinocchio.casadi") is None
    assert not pin.WITH_CPPAD


def test_pinocchio_viewers(pin: Any) -> None:
    import pinocchio.visualize as viewers

    kinds = ("Gepetto", "Meshcat", "Panda3d", "RViz", "Viser")
    assert has(viewers, [f"{kind}Visualizer" for kind in kinds])


# MuJoCo


@pytest.fixture
def mujoco() -> Any:
    return of_the_page("MuJoCo", "mujoco", "mujoco")


def test_mujoco_derivatives(mujoco: Any) -> None:
    found = named(mujoco, "^mjd_")
    assert found == {"mjd_inverseFD", "mjd_quatIntegrate", "mjd_subQuat", "mjd_transitionFD"}
    assert not named(mujoco, "[Rr]egressor|[Hh]essian")


def test_mujoco_contacts(mujoco: Any) -> None:
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
        <body pos="0 0 0.09"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ncon == 1
    assert data.qfrc_constraint[2] > 0


def test_mujoco_closed_loops(mujoco: Any) -> None:
    assert {"mjEQ_CONNECT", "mjEQ_WELD"} <= set(dir(mujoco.mjtEq))


def test_mujoco_joints(mujoco: Any) -> None:
    kinds = {name.removeprefix("mjJNT_").lower() for name in mujoco.mjtJoint.__members__}
    assert kinds == {"free", "ball", "slide", "hinge"}
    assert "mjEQ_JOINT" in dir(mujoco.mjtEq)


def test_mujoco_actuators_and_sensors(mujoco: Any) -> None:
    assert {"mjGAIN_MUSCLE", "mjGAIN_AFFINE"} <= set(dir(mujoco.mjtGain))
    assert {"mjSENS_ACCELEROMETER", "mjSENS_TOUCH"} <= set(dir(mujoco.mjtSensor))
    assert {"mjTRN_TENDON"} <= set(dir(mujoco.mjtTrn))


def test_mujoco_files(mujoco: Any) -> None:
    with open(QUADRUPED, encoding="utf-8") as file:
        spec = mujoco.MjSpec.from_string(file.read())
    spec.compile()
    assert "<mujoco" in spec.to_xml()


def test_mujoco_modules(mujoco: Any) -> None:
    for name in ("rollout", "batch", "minimize", "sysid", "viewer", "renderer"):
        assert importlib.util.find_spec(f"mujoco.{name}"), name


# CasADi


def test_casadi(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    casadi = of_the_page("CasADi", "casadi", "casadi")
    x = casadi.SX.sym("x", 2)
    hessian, gradient = casadi.hessian(casadi.sin(x[0]) * x[1], x)
    monkeypatch.chdir(tmp_path)
    casadi.Function("f", [x], [hessian, gradient]).generate("f.c")
    assert "casadi_real" in (tmp_path / "f.c").read_text()
    assert casadi.Function("f", [x], [gradient]).map(8, "thread", 2).size_out(0) == (2, 8)
    assert casadi.has_nlpsol("ipopt")


def test_adam_with_casadi() -> None:
    of_the_page("adam", "adam-robotics", "adam")
    pytest.importorskip("liecasadi")
    from adam.casadi import InverseKinematics, KinDynComputations

    assert InverseKinematics
    assert importlib.util.find_spec("adam.parametric")
    names = named(KinDynComputations, "^[a-zA-Z]")
    assert {"aba_fun", "bias_force_fun", "mass_matrix_fun", "jacobian_dot_fun"} <= names
    assert {"from_urdf", "from_mujoco_model"} <= names
    assert not {name for name in names if re.search("rnea|inverse_dynamics|regressor", name)}


# Drake


@pytest.fixture
def drake() -> Any:
    return of_the_page("Drake", "drake", "pydrake.all")


def plant_of(drake: Any, text: str, kind: str, time_step: float = 0.0) -> Any:
    plant = drake.MultibodyPlant(time_step)
    parser = drake.Parser(plant)
    parser.AddModelsFromString(text, kind)
    plant.Finalize()
    return plant


def quadruped_of(drake: Any) -> tuple[Any, Any]:
    with open(QUADRUPED, encoding="utf-8") as file:
        plant = plant_of(drake, file.read(), "urdf")
    return plant, plant.CreateDefaultContext()


def test_drake_first_derivatives(drake: Any) -> None:
    plant, context = quadruped_of(drake)
    q = drake.InitializeAutoDiff(plant.GetPositions(context))
    other = plant.ToAutoDiffXd()
    state = other.CreateDefaultContext()
    other.SetPositions(state, q)
    force = drake.MultibodyForces_[drake.AutoDiffXd](other)
    zero = np.array([drake.AutoDiffXd(0.0)] * 18)
    tau = other.CalcInverseDynamics(state, zero, force)
    assert drake.ExtractGradient(tau).shape == (18, 19), "by the numbers of q"
    assert not named(drake.MultibodyPlant, "Derivatives?Of|Regressor")


def test_drake_second_derivatives(drake: Any) -> None:
    plant = plant_of(drake, ARM, "xml")
    other = plant.ToSymbolic()
    state = other.CreateDefaultContext()
    q = drake.MakeVectorVariable(2, "q")
    other.SetPositions(state, q)
    gravity = other.CalcGravityGeneralizedForces(state)[0]
    assert gravity.Differentiate(q[0]).Differentiate(q[1]).GetVariables().size() == 2
    with pytest.raises(TypeError):
        drake.AutoDiffXd(drake.AutoDiffXd(0.0), np.zeros(1))


def test_drake_linearization(drake: Any) -> None:
    plant, context = quadruped_of(drake)
    ports = drake.InputPortSelection.kNoInput, drake.OutputPortSelection.kNoOutput
    linear = drake.FirstOrderTaylorApproximation(plant, context, *ports)
    assert linear.A().shape == (37, 37), "nq + nv"


def test_drake_mimic(drake: Any) -> None:
    assert plant_of(drake, MIMIC, "urdf", 0.01).num_velocities() == 8
    assert plant_of(drake, MIMIC, "urdf", 0.01).num_constraints() == 1


def test_drake_contacts(drake: Any) -> None:
    assert has(drake.ContactModel, ("kPoint", "kHydroelastic"))
    assert has(drake.MultibodyPlant, ("AddBallConstraint", "AddWeldConstraint"))
    assert has(drake, ("SceneGraph", "MultibodyPlantConfig"))


def test_drake_joints(drake: Any) -> None:
    kinds = {"BallRpy", "Planar", "Prismatic", "QuaternionFloating", "Revolute", "RpyFloating"}
    kinds |= {"Screw", "Universal", "Weld"}
    assert {f"{kind}Joint" for kind in kinds} <= set(dir(drake))


def test_drake_files(drake: Any) -> None:
    assert plant_of(drake, ARM, "xml").num_joints() == 2
    assert plant_of(drake, SDF, "sdf").num_joints() >= 1
    assert not named(drake, "(?i)(to|write|save|export)_?(urdf|sdf|mjcf)")


def test_drake_tools(drake: Any) -> None:
    tools = ("DirectCollocation", "LinearQuadraticRegulator", "InverseKinematics", "Toppra")
    assert has(drake, (*tools, "IpoptSolver", "SnoptSolver", "GcsTrajectoryOptimization"))
    assert has(drake, ("StartMeshcat", "MonteCarloSimulation", "RungeKutta3Integrator"))
    assert has(drake, ("RgbdSensor", "DiagramBuilder", "JointActuator"))
    assert not named(drake, "(?i)gpu|codegen")


# JAX


def test_mjx(mujoco: Any) -> None:
    jax = pytest.importorskip("jax")
    mjx = of_the_page("MJX", "mujoco-mjx", "mujoco.mjx")
    model = mjx.put_model(mujoco.MjModel.from_xml_string(ARM))
    data = mjx.make_data(model)

    def after(q: Any) -> Any:
        return mjx.step(model, data.replace(qpos=q)).qvel

    def torque(v: Any) -> Any:
        return mjx.inverse(model, data.replace(qvel=v)).qfrc_inverse

    q = jax.numpy.array([0.1, 1.5])  # beyond the limit
    assert jax.jacfwd(after)(q).shape == (2, 2)
    assert jax.jacrev(torque)(q).shape == (2, 2)
    with pytest.raises(ValueError, match="Reverse-mode differentiation does not work"):
        jax.jacrev(after)(q)


def test_jaxsim() -> None:
    jax = pytest.importorskip("jax")
    js = of_the_page("jaxsim", "jaxsim", "jaxsim.api")
    import jaxsim.rbda.contacts as contacts
    from jaxsim.parsers.descriptions.joint import JointType

    model = js.model.JaxSimModel.build_from_model_description(SDF, is_urdf=False)

    def torque(s: Any) -> Any:
        data = js.data.JaxSimModelData.build(model=model, joint_positions=s)
        return js.model.inverse_dynamics(model, data, joint_accelerations=0 * s)[1].sum()

    s = jax.numpy.ones(1)
    assert jax.grad(torque)(s).shape == (1,)
    assert jax.hessian(torque)(s).shape == (1, 1)
    assert named(JointType, "^[A-Z]") == {"Fixed", "Revolute", "Prismatic"}
    assert has(js.integrators, ("rk4_integration", "semi_implicit_euler_integration"))
    assert named(contacts, "Contacts$") == {"RelaxedRigidContacts", "RigidContacts", "SoftContacts"}


def test_frax() -> None:
    jax = pytest.importorskip("jax")
    frax = of_the_page("frax", "frax", "frax")
    robot = frax.Robot(QUADRUPED, floating_base="quaternion")

    def bias(v: Any) -> Any:
        return robot.nonlinear_bias(robot.default_configuration, v)

    v = jax.numpy.ones(18)
    assert jax.jacfwd(bias)(v).shape == jax.jacrev(bias)(v).shape == (18, 18)
    assert has(frax.Robot, ("rnea", "forward_dynamics", "self_collision_distances"))
    assert not named(frax.Robot, "contact|regressor")


def test_brax() -> None:
    pytest.importorskip("jax")
    mjcf = of_the_page("brax", "brax", "brax.io.mjcf")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        mjcf.loads(ARM)
    assert any("not actively being maintained" in str(warning.message) for warning in said)


# The page


def rows() -> list[list[str]]:
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_every_row_says_how_it_is_known() -> None:
    known = [row for row in rows() if row[0]]
    assert len(known) > 60
    for name, what, how in known:
        assert what, name
        tried = re.findall(r"\b(test_\w+)[,\"]", how)
        assert "](" in how, f"{name}: {what}"
        assert tried or "[tried]" not in how, how
        assert all(test in globals() for test in tried), how
