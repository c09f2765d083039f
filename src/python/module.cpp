// The Python module dtau._core: the compiled tree, and every function on arrays. Documentation,
// named tuples and the choice of frames live in the Python layer.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <variant>

#include "python/options.hpp"
#include "dispatch.hpp"
#include "signatures.hpp"

namespace dtau {
namespace {

void make_tree(CompiledTree* self, Rows<std::int32_t> kind, Rows<std::int32_t> parent,
               Rows<std::int32_t> link, Rows<std::int32_t> leader, Rows<double> multiplier,
               Rows<double> offset, Rows<double, 3, 3> rotation, Rows<double, 3> translation,
               Rows<double, 3> axis, Rows<double> pitch, Rows<double> mass, Rows<double, 3> com,
               Rows<double, 3, 3> tensor, Rows<double> armature, Rows<double> damping,
               std::array<double, 3> gravity, std::vector<std::string> joint_names,
               std::vector<std::string> massless_joints) {
    const std::size_t n = kind.shape(0);
    for (std::size_t size :
         {parent.shape(0), link.shape(0), leader.shape(0), multiplier.shape(0), offset.shape(0),
          rotation.shape(0), translation.shape(0), axis.shape(0), pitch.shape(0), mass.shape(0),
          com.shape(0), tensor.shape(0), joint_names.size()})
        if (size != n) throw nb::value_error("Tree: arrays of different lengths");
    std::vector<BodyDescription> bodies(n);
    for (std::size_t i = 0; i < n; ++i)
        bodies[i] = {static_cast<JointKind>(kind.data()[i]),
                     parent.data()[i],
                     link.data()[i],
                     leader.data()[i],
                     multiplier.data()[i],
                     offset.data()[i],
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

// Keeps the text of a signature for as long as the module lives.
const char* keep(std::string text) {
    static std::deque<std::string> texts;
    return texts.emplace_back(std::move(text)).c_str();
}

// The functions for one element type of arrays: float64, or one of those for tests.
class Definitions {
  public:
    Definitions(nb::module_& module, Element element) : module_(module), element_(element) {
        for (Signature& s : functions_of_q) define_arrays<1>(s);
        for (Signature& s : functions_of_two) define_arrays<2>(s);
        for (Signature& s : functions_of_three) define_arrays<3>(s);
        for (Signature& s : functions_of_four) define_arrays<4>(s);
        for (Signature& s : functions_of_five) define_arrays<5>(s);
        for (Signature& s : functions_of_eight) define_arrays<8>(s);
        for (Signature& s : second_derivatives) define_symmetric<4>(s);
        for (Signature& s : hessians) define_symmetric<5>(s);
        for (Signature& s : hybrid_functions)
            define(
                s,
                [&s, element](Model m, Mask prescribed, Array x, Array y, Array a, Array t, Array f,
                              Array out, Array threads) {
                    const int nv = compiled_tree(m).tree.tree().independent.n;
                    if (static_cast<int>(prescribed.shape(0)) != nv)
                        throw nb::value_error("prescribed: of another length than v");
                    return call(s, m, {x, y, a, t, f}, {out, threads}, element,
                                {.prescribed = prescribed.data()});
                },
                nb::arg(), given_, given_, given_, given_, given_);
        define_frame_functions();
        define_steps();
    }

  private:
    using Model = nb::handle;
    using Array = nb::handle;
    template <int>
    using NthArray = nb::handle;
    using Mask = Rows<bool>;
    using Bodies = Rows<std::int32_t>;
    using Rotations = Rows<double, 3, 3>;
    using Translations = Rows<double, 3>;

    // A function of so many arrays, and one that takes `symmetric` after them.
    template <int count>
    void define_arrays(Signature& s) {
        [&]<int... i>(std::integer_sequence<int, i...>) {
            const auto function = [&s, element = element_](Model m, NthArray<i>... x, Array out,
                                                           Array threads) {
                return call(s, m, {x...}, {out, threads}, element);
            };
            define(s, function, (static_cast<void>(i), given_)...);
        }(std::make_integer_sequence<int, count>());
    }
    template <int count>
    void define_symmetric(Signature& s) {
        [&]<int... i>(std::integer_sequence<int, i...>) {
            const auto function = [&s, element = element_](Model m, NthArray<i>... x,
                                                           bool symmetric, Array out,
                                                           Array threads) {
                return call(s, m, {x...}, {out, threads}, element, {.symmetric = symmetric});
            };
            define(s, function, (static_cast<void>(i), given_)..., nb::arg());
        }(std::make_integer_sequence<int, count>());
    }

    // None for an array is the array's error, which names it, and not the call's.
    template <class Function, class... Arguments>
    void define(Signature& s, Function function, const Arguments&... arguments) {
        if (s.real_only && element_ != Element::real) return;
        const auto result_class = [](const char* name) {
            return name ? nb::handle(nb::module_::import_("dtau.results").attr(name).ptr())
                        : nb::handle();
        };
        s.results = result_class(s.named_tuple);
        s.shorter_results = result_class(s.shorter_tuple);
        const bool chosen = sizeof...(arguments) > s.inputs.size() + s.asks_symmetric;
        const char* choices = chosen ? choices_text(s) : "";
        module_.def(s.name, function, nb::sig(keep(type_signature(s, element_, choices))), given_,
                    arguments..., default_, default_);
    }

    const char* choices_text(const Signature& s) const {
        std::string text;
        if (std::begin(hybrid_functions) <= &s && &s < std::end(hybrid_functions))
            text += "prescribed: numpy.typing.NDArray[numpy.bool], ";
        if (&s == &step || &s == &step_vjp || &s == &linearize_discrete)
            text += "integrator: str, ";
        if (&s == &linearize || &s == &linearize_discrete)
            text +=
                "inputs: numpy.typing.NDArray[numpy.int32] | "
                "numpy.typing.NDArray[numpy.float64] | None, ";
        if (text.empty())
            text = std::string(
                       "bodies: numpy.typing.NDArray[numpy.int32], "
                       "rotation: numpy.typing.NDArray[numpy.float64], "
                       "translation: numpy.typing.NDArray[numpy.float64], single: bool, ") +
                   (&s == &frame_placements ? "" : "axes: dtau._core.Axes, ");
        return keep(text);
    }

    void define_steps() {
        const Element element = element_;
        const auto plain = nb::arg();
        const auto choices = [](Model m, const char* method, const GivenInputs& inputs) {
            Choices c;
            if (method) c.integrator = integrator(method);
            choose_inputs(c, inputs, m);
            return c;
        };
        define(
            linearize,
            [=](Model m, GivenInputs u, Array x, Array y, Array z, Array f, Array out,
                Array threads) {
                return call(linearize, m, {x, y, z, f}, {out, threads}, element,
                            choices(m, nullptr, u));
            },
            given_, given_, given_, given_, given_);
        define(
            linearize_discrete,
            [=](Model m, const char* method, GivenInputs u, Array x, Array y, Array z, Array h,
                Array f, Array out, Array threads) {
                return call(linearize_discrete, m, {x, y, z, h, f}, {out, threads}, element,
                            choices(m, method, u));
            },
            plain, given_, given_, given_, given_, given_, given_);
        define(
            step,
            [=](Model m, const char* method, Array x, Array y, Array z, Array h, Array f, Array out,
                Array threads) {
                return call(step, m, {x, y, z, h, f}, {out, threads}, element,
                            {.integrator = integrator(method)});
            },
            plain, given_, given_, given_, given_, given_);
        define(
            step_vjp,
            [=](Model m, const char* method, Array x, Array y, Array z, Array h, Array lq, Array lv,
                Array f, Array out, Array threads) {
                return call(step_vjp, m, {x, y, z, h, lq, lv, f}, {out, threads}, element,
                            {.integrator = integrator(method)});
            },
            plain, given_, given_, given_, given_, given_, given_, given_);
    }

    void define_frame_functions() {
        const Element element = element_;
        const auto plain = nb::arg();
        define(
            frame_placements,
            [element](Model m, Bodies bodies, Rotations rotation, Translations translation,
                      bool single, Array x, Array out, Array threads) {
                const auto list = frame_list(bodies, rotation, translation, Axes::body, single, m);
                return call(frame_placements, m, {x}, {out, threads}, element, {.frames = &list});
            },
            plain, plain, plain, plain, given_);
        define(
            frame_jacobians,
            [element](Model m, Bodies bodies, Rotations rotation, Translations translation,
                      bool single, Axes axes, Array x, Array out, Array threads) {
                const auto list = frame_list(bodies, rotation, translation, axes, single, m);
                return call(frame_jacobians, m, {x}, {out, threads}, element, {.frames = &list});
            },
            plain, plain, plain, plain, plain, given_);
        define(
            wrench_at_frame,
            [element](Model m, Bodies bodies, Rotations rotation, Translations translation,
                      bool single, Axes axes, Array x, Array y, Array out, Array threads) {
                const auto list = frame_list(bodies, rotation, translation, axes, single, m);
                if (list.frames.size() != 1 || list.frames[0].body < 0)
                    throw nb::value_error("wrench_at_frame: expected one frame of a moving body");
                return call(wrench_at_frame, m, {x, y}, {out, threads}, element, {.frames = &list});
            },
            plain, plain, plain, plain, plain, given_, given_);
    }

    decltype(nb::arg().none()) given_ = nb::arg().none();
    decltype(nb::arg().none() = nb::none()) default_ = nb::arg().none() = nb::none();
    nb::module_& module_;
    Element element_;
};

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
        .def("__init__", &make_tree, nb::arg("kind"), nb::arg("parent"), nb::arg("link"),
             nb::arg("leader"), nb::arg("multiplier"), nb::arg("offset"), nb::arg("rotation"),
             nb::arg("translation"), nb::arg("axis"), nb::arg("pitch"), nb::arg("mass"),
             nb::arg("com"), nb::arg("tensor"), nb::arg("armature"), nb::arg("damping"),
             nb::arg("gravity"), nb::arg("joint_names"), nb::arg("massless_joints"))
        .def_prop_ro("nbodies", [](const CompiledTree& t) { return t.tree().nlinks; })
        .def_prop_ro("nq",
                     [](const CompiledTree& t) {
                         const Tree& tree = t.tree();
                         return tree.coupling ? tree.coupling->nq : tree.nq;
                     })
        .def_prop_ro("nv", [](const CompiledTree& t) { return t.tree().independent.n; });

    m.def("packed_indices", &packed_indices,
          nb::sig("def packed_indices(model: object) -> numpy.typing.NDArray[numpy.intp]"));
    m.def("instruction_sets", &instruction_sets);
    m.def("instruction_set", &instruction_set);
    m.def("use_instruction_set", &use_instruction_set, nb::arg("name"));

    m.def(
        "peak_rate",
        [] {
            const PeakRate rate = kernels().peak_rate();
            return nb::make_tuple(rate.alone, rate.in_lanes);
        },
        nb::sig("def peak_rate() -> tuple[float, float]"));

    Definitions(m, Element::real);
    nb::module_ alone = m.def_submodule("alone", "The functions, state by state even in a batch.");
    Definitions(alone, Element::alone);
    nb::module_ complex = m.def_submodule("complex128", "The functions for complex step.");
    Definitions(complex, Element::complex);
    nb::module_ counting = m.def_submodule("counting", "The functions with counted operations.");
    Definitions(counting, Element::counted);
    counting.def(
        "take",
        [] {
            long long counts[3];
            test_kernels().take_operation_counts(counts);
            return nb::make_tuple(counts[0], counts[1], counts[2]);
        },
        nb::sig("def take() -> tuple[int, int, int]"));
}
