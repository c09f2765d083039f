// The Python module dtau._core: the compiled tree, and every function on arrays. Documentation,
// named tuples and the choice of frames live in the Python layer.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <deque>

#include "arguments.hpp"
#include "dispatch.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

template <class X, int... Shape>
using Rows = nb::ndarray<const X, nb::shape<-1, Shape...>, nb::c_contig, nb::device::cpu>;

template <std::size_t N, class Array>
std::array<double, N> row(const Array& a, std::size_t i) {
    std::array<double, N> result;
    for (std::size_t k = 0; k < N; ++k) result[k] = a.data()[i * N + k];
    return result;
}

void make_tree(CompiledTree* self, Rows<std::int32_t> kind, Rows<std::int32_t> parent,
               Rows<double, 3, 3> rotation, Rows<double, 3> translation, Rows<double, 3> axis,
               Rows<double> pitch, Rows<double> mass, Rows<double, 3> com,
               Rows<double, 3, 3> tensor, Rows<double> armature, Rows<double> damping,
               std::array<double, 3> gravity, std::vector<std::string> joint_names,
               std::vector<std::string> massless_joints) {
    const std::size_t n = kind.shape(0);
    for (std::size_t size :
         {parent.shape(0), rotation.shape(0), translation.shape(0), axis.shape(0), pitch.shape(0),
          mass.shape(0), com.shape(0), tensor.shape(0), joint_names.size()})
        if (size != n) throw nb::value_error("Tree: arrays of different lengths");
    std::vector<BodyDescription> bodies(n);
    for (std::size_t i = 0; i < n; ++i)
        bodies[i] = {static_cast<JointKind>(kind.data()[i]),
                     parent.data()[i],
                     row<9>(rotation, i),
                     row<3>(translation, i),
                     row<3>(axis, i),
                     pitch.data()[i],
                     mass.data()[i],
                     row<3>(com, i),
                     row<9>(tensor, i)};
    const auto list = [](const Rows<double>& a) {
        return std::vector<double>(a.data(), a.data() + a.shape(0));
    };
    new (self) CompiledTree(bodies, std::move(joint_names), std::move(massless_joints),
                            list(armature), list(damping), gravity);
}

constexpr Parameter q{"q", Core::q}, q0{"q0", Core::q}, q1{"q1", Core::q}, v{"v", Core::v},
    a{"a", Core::v}, tau{"tau", Core::v}, dq{"dq", Core::v}, wrench{"wrench", Core::wrench},
    f_ext{"f_ext", Core::wrenches, true};

const Signature functions_of_q[] = {
    {"gravity_torque", &KernelTable::gravity_torque, {q}, {Core::v}},
    {"mass_matrix", &KernelTable::mass_matrix, {q}, {Core::matrix}},
    {"mass_matrix_inverse", &KernelTable::mass_matrix_inverse, {q}, {Core::matrix}, true},
    {"forward_kinematics",
     &KernelTable::forward_kinematics,
     {q},
     {Core::rotations, Core::positions}},
    {"normalize", &KernelTable::normalize, {q}, {Core::q}, false, true},
};
const Signature functions_of_two[] = {
    {"coriolis_matrix", &KernelTable::coriolis_matrix, {q, v}, {Core::matrix}},
    {"integrate", &KernelTable::integrate, {q, dq}, {Core::q}},
    {"difference", &KernelTable::difference, {q0, q1}, {Core::v}, false, true},
};
const Signature functions_of_three[] = {
    {"bias_torque", &KernelTable::bias_torque, {q, v, f_ext}, {Core::v}},
};
const Signature functions_of_four[] = {
    {"inverse_dynamics", &KernelTable::inverse_dynamics, {q, v, a, f_ext}, {Core::v}},
    {"forward_dynamics", &KernelTable::forward_dynamics, {q, v, tau, f_ext}, {Core::v}, true},
    {"inverse_dynamics_derivatives",
     &KernelTable::inverse_dynamics_derivatives,
     {q, v, a, f_ext},
     {Core::matrix, Core::matrix, Core::matrix}},
    {"forward_dynamics_derivatives",
     &KernelTable::forward_dynamics_derivatives,
     {q, v, tau, f_ext},
     {Core::matrix, Core::matrix, Core::matrix},
     true},
};
const Signature frame_placements{"frame_placements",
                                 &KernelTable::frame_placements,
                                 {q},
                                 {Core::frame_rotations, Core::frame_positions}};
const Signature frame_jacobians{
    "frame_jacobians", &KernelTable::frame_jacobians, {q}, {Core::jacobians}};
const Signature wrench_at_frame{
    "wrench_at_frame", &KernelTable::wrench_at_frame, {q, wrench}, {Core::wrenches}};

FrameList frame_list(Rows<std::int32_t> bodies, Rows<double, 3, 3> rotation,
                     Rows<double, 3> translation, Axes axes, nb::handle model) {
    const int nbodies = compiled_tree(model).tree().nbodies;
    FrameList list{{}, axes};
    for (std::size_t f = 0; f < bodies.shape(0); ++f) {
        Frame frame;
        frame.body = bodies.data()[f];
        if (frame.body < -1 || frame.body >= nbodies)
            throw nb::value_error("frame of a body that does not exist");
        const auto R = row<9>(rotation, f);
        const auto r = row<3>(translation, f);
        for (int i = 0; i < 3; ++i) {
            frame.translation[i] = r[i];
            for (int j = 0; j < 3; ++j) frame.rotation[3 * j + i] = R[3 * i + j];
        }
        list.frames.push_back(frame);
    }
    return list;
}

// Keeps the text of a signature for as long as the module lives.
const char* keep(std::string text) {
    static std::deque<std::string> texts;
    return texts.emplace_back(std::move(text)).c_str();
}

// The functions for one element type of arrays: float64, or complex128 for complex step.
void define_functions(nb::module_& module, Element element) {
    using Model = nb::handle;
    using Array = nb::handle;
    const auto define = [&](const Signature& s, auto function, const auto&... arguments) {
        if (s.real_only && element == Element::complex) return;
        module.def(s.name, function, nb::sig(keep(type_signature(s, element, ""))), arguments...);
    };
    const auto given = nb::arg().none();  // None is an error of the array's, not of the call's
    for (const Signature& s : functions_of_q)
        define(
            s, [&s, element](Model m, Array x) { return call(s, m, {x}, element); }, given, given);
    for (const Signature& s : functions_of_two)
        define(
            s, [&s, element](Model m, Array x, Array y) { return call(s, m, {x, y}, element); },
            given, given, given);
    for (const Signature& s : functions_of_three)
        define(
            s,
            [&s, element](Model m, Array x, Array y, Array z) {
                return call(s, m, {x, y, z}, element);
            },
            given, given, given, given);
    for (const Signature& s : functions_of_four)
        define(
            s,
            [&s, element](Model m, Array x, Array y, Array z, Array f) {
                return call(s, m, {x, y, z, f}, element);
            },
            given, given, given, given, given);

    const std::string frames =
        "bodies: numpy.typing.NDArray[numpy.int32], rotation: numpy.typing.NDArray[numpy.float64], "
        "translation: numpy.typing.NDArray[numpy.float64], ";
    const std::string with_axes = frames + "axes: dtau._core.Axes, ";
    module.def(
        frame_placements.name,
        [element](Model m, Rows<std::int32_t> bodies, Rows<double, 3, 3> rotation,
                  Rows<double, 3> translation, Array x) {
            const FrameList list = frame_list(bodies, rotation, translation, Axes::body, m);
            return call(frame_placements, m, {x}, element, &list);
        },
        nb::sig(keep(type_signature(frame_placements, element, frames.c_str()))), given, nb::arg(),
        nb::arg(), nb::arg(), given);
    module.def(
        frame_jacobians.name,
        [element](Model m, Rows<std::int32_t> bodies, Rows<double, 3, 3> rotation,
                  Rows<double, 3> translation, Axes axes, Array x) {
            const FrameList list = frame_list(bodies, rotation, translation, axes, m);
            return call(frame_jacobians, m, {x}, element, &list);
        },
        nb::sig(keep(type_signature(frame_jacobians, element, with_axes.c_str()))), given,
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), given);
    module.def(
        wrench_at_frame.name,
        [element](Model m, Rows<std::int32_t> bodies, Rows<double, 3, 3> rotation,
                  Rows<double, 3> translation, Axes axes, Array x, Array y) {
            const FrameList list = frame_list(bodies, rotation, translation, axes, m);
            if (list.frames.size() != 1 || list.frames[0].body < 0)
                throw nb::value_error("wrench_at_frame: expected one frame of a moving body");
            return call(wrench_at_frame, m, {x, y}, element, &list);
        },
        nb::sig(keep(type_signature(wrench_at_frame, element, with_axes.c_str()))), given,
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), given, given);
}

}  // namespace
}  // namespace dtau

NB_MODULE(_core, m) {
    using namespace dtau;
    import_numpy();
    instruction_set();
    nb::set_leak_warnings(false);  // models that live as long as the interpreter are no mistake

    nb::enum_<Axes>(m, "Axes")
        .value("body", Axes::body)
        .value("world", Axes::world)
        .value("mixed", Axes::mixed);
    nb::class_<CompiledTree>(m, "Tree")
        .def("__init__", &make_tree, nb::arg("kind"), nb::arg("parent"), nb::arg("rotation"),
             nb::arg("translation"), nb::arg("axis"), nb::arg("pitch"), nb::arg("mass"),
             nb::arg("com"), nb::arg("tensor"), nb::arg("armature"), nb::arg("damping"),
             nb::arg("gravity"), nb::arg("joint_names"), nb::arg("massless_joints"))
        .def_prop_ro("nbodies", [](const CompiledTree& t) { return t.tree().nbodies; })
        .def_prop_ro("nq", [](const CompiledTree& t) { return t.tree().nq; })
        .def_prop_ro("nv", [](const CompiledTree& t) { return t.tree().nv; });

    m.def("instruction_sets", &instruction_sets);
    m.def("instruction_set", &instruction_set);
    m.def("use_instruction_set", &use_instruction_set, nb::arg("name"));

    define_functions(m, Element::real);
    nb::module_ complex = m.def_submodule("complex128", "The functions for complex step.");
    define_functions(complex, Element::complex);
}
