// Binds the compiled tree, the core's form of a model, and the kinds of joint.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/bindings.hpp"

#include "dtau/joint_traits.hpp"
#include "dtau/mimic.hpp"
#include "python/call.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

void make_tree(CompiledTree* self, Rows<std::int32_t> kind, Rows<std::int32_t> parent,
               Rows<std::int32_t> link, Rows<std::int32_t> mimicked, Rows<double> multiplier,
               Rows<double> offset, Rows<double, 3, 3> rotation, Rows<double, 3> translation,
               Rows<double, 3> axis, Rows<double> pitch, Rows<double> mass, Rows<double, 3> com,
               Rows<double, 3, 3> tensor, Rows<double> armature, Rows<double> damping,
               Rows<double> stiffness, Rows<double> rest, Rows<double> friction,
               Rows<double> friction_speed, std::array<double, 3> gravity,
               std::vector<std::string> joint_names, std::vector<std::string> massless_joints,
               std::vector<std::string> frame_names, Rows<std::int32_t> frame_link,
               Rows<double, 3, 3> frame_rotation, Rows<double, 3> frame_translation) {
    const std::size_t n = kind.shape(0);
    for (std::size_t size :
         {parent.shape(0), link.shape(0), mimicked.shape(0), multiplier.shape(0), offset.shape(0),
          rotation.shape(0), translation.shape(0), axis.shape(0), pitch.shape(0), mass.shape(0),
          com.shape(0), tensor.shape(0), joint_names.size()})
        if (size != n) throw nb::value_error("Tree: arrays of different lengths");
    std::vector<BodyDescription> bodies(n);
    for (std::size_t i = 0; i < n; ++i)
        bodies[i] = {static_cast<JointKind>(kind.data()[i]),
                     parent.data()[i],
                     link.data()[i],
                     mimicked.data()[i],
                     multiplier.data()[i],
                     offset.data()[i],
                     row<9>(rotation, i),
                     row<3>(translation, i),
                     row<3>(axis, i),
                     pitch.data()[i],
                     mass.data()[i],
                     row<3>(com, i),
                     row<9>(tensor, i)};
    const std::size_t nframes = frame_names.size();
    for (std::size_t size :
         {frame_link.shape(0), frame_rotation.shape(0), frame_translation.shape(0)})
        if (size != nframes) throw nb::value_error("Tree: arrays of different lengths");
    std::vector<FrameDescription> frames(nframes);
    for (std::size_t f = 0; f < nframes; ++f)
        frames[f] = {frame_link.data()[f], row<9>(frame_rotation, f), row<3>(frame_translation, f)};
    const auto list = [](const Rows<double>& a) {
        return std::vector<double>(a.data(), a.data() + a.shape(0));
    };
    new (self) CompiledTree(bodies, std::move(joint_names), std::move(massless_joints),
                            list(armature), list(damping), gravity, std::move(frame_names), frames,
                            list(stiffness), list(rest), list(friction), list(friction_speed));
}

}  // namespace

void define_tree(nb::module_& m) {
    nb::enum_<JointKind> kinds(m, "JointKind", nb::is_arithmetic());
    for (const JointTraits& t : joint_traits) kinds.value(t.name, t.kind);
    m.def(
        "joint_sizes",
        [](JointKind kind) { return nb::make_tuple(traits(kind).nq, traits(kind).nv); },
        nb::arg("kind"), nb::sig("def joint_sizes(kind: JointKind) -> tuple[int, int]"));
    m.attr("max_dofs") = max_dofs;
    nb::class_<CompiledTree>(m, "Tree")
        .def("__init__", &make_tree, nb::arg("kind"), nb::arg("parent"), nb::arg("link"),
             nb::arg("mimicked"), nb::arg("multiplier"), nb::arg("offset"), nb::arg("rotation"),
             nb::arg("translation"), nb::arg("axis"), nb::arg("pitch"), nb::arg("mass"),
             nb::arg("com"), nb::arg("tensor"), nb::arg("armature"), nb::arg("damping"),
             nb::arg("stiffness"), nb::arg("rest_position"), nb::arg("friction"),
             nb::arg("friction_speed"), nb::arg("gravity"), nb::arg("joint_names"),
             nb::arg("massless_joints"), nb::arg("frame_names"), nb::arg("frame_link"),
             nb::arg("frame_rotation"), nb::arg("frame_translation"))
        .def_prop_ro("nbodies", [](const CompiledTree& t) { return t.tree().nbodies; })
        .def_prop_ro("nq", [](const CompiledTree& t) { return independent_nq(t.tree()); })
        .def_prop_ro("nv", [](const CompiledTree& t) { return t.tree().independent.n; });
}

}  // namespace dtau
