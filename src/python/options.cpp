#include "python/options.hpp"

namespace dtau {

FrameList frame_list(Rows<std::int32_t> bodies, Rows<double, 3, 3> rotation,
                     Rows<double, 3> translation, Axes axes, bool single, nb::handle model) {
    const TreeReference reference = compiled_tree(model);
    const Tree& tree = reference.tree.tree();
    FrameList list{{}, axes, single};
    for (std::size_t f = 0; f < bodies.shape(0); ++f) {
        Frame frame;
        frame.body = bodies.data()[f];
        if (frame.body < -1 || frame.body >= tree.nlinks)
            throw nb::value_error("frame of a body that does not exist");
        if (frame.body >= 0) frame.body = tree.link_body[frame.body];
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

Integrator integrator(const std::string& name) {
    if (name == "euler") return Integrator::euler;
    if (name == "semi_implicit") return Integrator::semi_implicit;
    if (name == "rk4") return Integrator::rk4;
    throw nb::value_error(
        ("integrator: expected 'euler', 'semi_implicit' or 'rk4', got '" + name + "'").c_str());
}

void choose_inputs(Choices& choices, const GivenInputs& inputs, nb::handle model) {
    const int nv = compiled_tree(model).tree.tree().independent.n;
    if (const GivenColumns* columns = std::get_if<GivenColumns>(&inputs)) {
        choices.actuated = false;
        choices.inputs = {static_cast<int>(columns->shape(0)), columns->data(), nullptr};
        for (int c = 0; c < choices.inputs.count; ++c)
            if (columns->data()[c] < 0 || columns->data()[c] >= nv)
                throw nb::value_error("inputs: a torque that does not exist");
    } else if (const GivenMap* map = std::get_if<GivenMap>(&inputs)) {
        choices.actuated = false;
        choices.inputs = {static_cast<int>(map->shape(1)), nullptr, map->data()};
        if (static_cast<int>(map->shape(0)) != nv)
            throw nb::value_error("inputs: a map of another shape");
    }
}

}  // namespace dtau
