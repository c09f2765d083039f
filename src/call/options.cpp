// Sets the options of a call: OptionValues.
#include "call/options.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace dtau {

std::string either(const Words& words) {
    std::string text;
    for (int k = 0; k < words.count; ++k)
        text += (k == 0                ? "'"
                 : k + 1 < words.count ? ", '"
                                       : " or '") +
                std::string(words.at[k]) + "'";
    return text;
}

void refuse(const std::string& what) { throw std::invalid_argument(what); }

int read_word(const std::string& argument, std::string_view given,
              std::initializer_list<std::string_view> words) {
    const Words known = {words.begin(), static_cast<int>(words.size())};
    const int k = given.empty() ? 0 : place(known, given);
    if (k < 0)
        refuse(argument + ": expected " + either(known) + ", got '" + std::string(given) + "'");
    return k;
}

void OptionValues::set_flag(Option option, bool value) {
    if (option == Option::symmetric) values.symmetric = value;
    if (option == Option::joint_parameters) values.joint_parameters = value;
    if (option == Option::forces) values.forces = value;
}

std::string OptionValues::set_regularization(double value) {
    if (!(value >= 0.0 && std::isfinite(value))) return "a finite number of at least 0";
    values.regularization = value;
    return {};
}

std::string OptionValues::set_order(long long value) {
    static_assert(Options::max_order == 100, "as the message says");
    if (value < 0 || value > Options::max_order) return "an int from 0 to 100";
    order = static_cast<int>(value);
    return {};
}

std::string OptionValues::add_variable(const Signature& signature, std::string_view variable) {
    const auto takes = [&](std::string_view input) {
        return std::any_of(signature.inputs, signature.inputs + signature.ninputs,
                           [&](const ArraySignature& a) { return a.name == input; });
    };
    const bool has_parameters =
        std::any_of(signature.outputs, signature.outputs + signature.noutputs,
                    [](const ArraySignature& a) { return (a.asked & Asked::parameters) != 0; });
    std::string_view known[3];
    int count = 0;
    const auto ask = [&](std::string_view name, bool there, bool& asked) {
        if (there) known[count++] = name;
        if (there && name == variable) asked = true;
        return there && name == variable;
    };
    const bool found = ask("dt", takes("dt"), values.by_dt) |
                       ask("f_ext", takes("f_ext"), values.by_f_ext) |
                       ask("parameters", has_parameters, values.by_parameters);
    return found ? "" : either({known, count});
}

std::string OptionValues::set_frames(std::vector<Frame> frames, const Tree& tree) {
    if (static_cast<double>(frames.size()) * 6 * tree.nv > INT_MAX)
        return "Jacobians of fewer than 2**31 numbers";
    frames_ = std::move(frames);
    values.frames = frames_.data();
    values.nframes = static_cast<int>(frames_.size());
    return {};
}

void OptionValues::set_frame(const Frame& frame) {
    single_frame = true;
    values.frames = &frame;
    values.nframes = 1;
}

}  // namespace dtau
