// Reads the contacts of the C interface: contact_of_text().
#include <algorithm>

#include "library/reading.hpp"

namespace dtau {
namespace {

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(' ');
    return first == std::string::npos ? ""
                                      : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

template <std::size_t n>
std::array<double, n> array(const std::string& name, const std::string& text) {
    const std::vector<double> read = numbers("contacts: " + name, text);
    if (read.size() != n)
        refuse("contacts: " + name + ": expected " + std::to_string(n) + " numbers, got " +
               std::to_string(read.size()));
    std::array<double, n> result;
    std::copy(read.begin(), read.end(), result.begin());
    return result;
}

Pose pose(const std::string& name, const std::string& text) {
    const std::array<double, 12> read = array<12>(name, text);
    Pose result;
    std::copy_n(read.begin(), 9, result.rotation.begin());
    std::copy_n(read.begin() + 9, 3, result.translation.begin());
    return result;
}

// Sets a field; false: there is none of this name.
bool set_gain(auto& contact, const std::string& name, const std::string& value) {
    if (name == "axes")
        contact.axes = value;
    else if (name == "kp")
        contact.kp = number("contacts: kp", value);
    else if (name == "kd")
        contact.kd = number("contacts: kd", value);
    else
        return false;
    return true;
}
bool set(PointContact& x, const std::string& name, const std::string& value) {
    if (name == "frame")
        x.frame = value;
    else if (name == "position")
        x.position = array<3>(name, value);
    else if (name == "direction")
        x.direction = array<3>(name, value);
    else
        return set_gain(x, name, value);
    return true;
}
bool set(FrameContact& x, const std::string& name, const std::string& value) {
    if (name == "frame")
        x.frame = value;
    else if (name == "placement")
        x.placement = pose(name, value);
    else if (name == "acceleration")
        x.acceleration = value;
    else
        return set_gain(x, name, value);
    return true;
}
bool set(Loop& x, const std::string& name, const std::string& value) {
    if (name == "frame_a")
        x.frame_a = value;
    else if (name == "frame_b")
        x.frame_b = value;
    else if (name == "rows")
        x.rows = integer("contacts: rows", value);
    else if (name == "hinge")
        x.hinge = value;
    else if (name == "placement")
        x.placement = pose(name, value);
    else
        return set_gain(x, name, value);
    return true;
}

}  // namespace

Contact contact_of_text(const std::string& text) {
    std::vector<std::string> pieces;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(';', begin), text.size());
        pieces.push_back(trimmed(text.substr(begin, end - begin)));
        begin = end + 1;
    }
    Contact contact;
    if (pieces.empty() || (pieces[0] != "point" && pieces[0] != "frame" && pieces[0] != "loop"))
        refuse("contacts: expected 'point', 'frame' or 'loop' and then '; name=value', got '" +
               text + "'");
    if (pieces[0] == "frame") contact = FrameContact{};
    if (pieces[0] == "loop") contact = Loop{};
    for (std::size_t k = 1; k < pieces.size(); ++k) {
        const std::size_t at = pieces[k].find('=');
        const std::string name = pieces[k].substr(0, at);
        const std::string value = at == std::string::npos ? "" : pieces[k].substr(at + 1);
        const auto set_in = [&](auto& given) { return set(given, name, value); };
        if (at == std::string::npos || !std::visit(set_in, contact))
            refuse("contacts: expected name=value of a " + pieces[0] + ", got '" + pieces[k] + "'");
    }
    return contact;
}

}  // namespace dtau
