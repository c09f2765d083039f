// Reads words and numbers of arguments: word(), number(), numbers(), place().
#include "library/reading.hpp"

#include <algorithm>
#include <cmath>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace dtau {
namespace {

// How alike two names are, from 0 to 1, by the most characters that they share in order.
double likeness(std::string_view a, std::string_view b) {
    std::vector<int> shared(b.size() + 1, 0);
    for (const char c : a) {
        int before = 0;
        for (std::size_t k = 0; k < b.size(); ++k) {
            const int here = shared[k + 1];
            shared[k + 1] = c == b[k] ? before + 1 : std::max(here, shared[k]);
            before = here;
        }
    }
    return 2.0 * shared.back() / static_cast<double>(a.size() + b.size());
}

// As the errors of Python: unknown_name in dtau/support/checks.py.
std::string unknown_name(const std::string& kind, std::string_view name,
                         const std::vector<std::string>& names) {
    constexpr std::size_t compared = 1000, longest = 80, shown = 8, close_ones = 3;
    constexpr double alike = 0.6;
    const std::string_view cut = name.substr(0, longest);
    std::vector<std::pair<double, const std::string*>> all, close;
    for (const std::string& other : names) {
        if (all.size() == compared) break;
        if (other.size() > longest) continue;
        all.emplace_back(likeness(cut, other), &other);
        if (all.back().first >= alike) close.push_back(all.back());
    }
    std::stable_sort(close.begin(), close.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    if (close.size() > close_ones) close.resize(close_ones);
    std::string text = "no " + kind + " named '" + std::string(cut) + "'";
    const bool lists_all = close.empty() && all.size() <= shown;
    std::string separator = lists_all ? "; there are: " : "; close names: ";
    for (const auto& [_, other] : lists_all ? all : close) {
        text += separator + "'" + *other + "'";
        separator = ", ";
    }
    return text;
}

}  // namespace

std::vector<double> numbers(const std::string& argument, const std::string& text) {
    std::istringstream stream(text);
    stream.imbue(std::locale::classic());
    std::vector<double> result;
    double value;
    while (stream >> std::ws && !stream.eof()) {
        if (!(stream >> value))
            refuse(argument + ": expected numbers with spaces between them, got '" + text + "'");
        result.push_back(value);
    }
    return result;
}

double number(const std::string& argument, const std::string& text) {
    const std::vector<double> read = numbers(argument, text);
    if (read.size() != 1) refuse(argument + ": expected a number, got '" + text + "'");
    return read[0];
}

int integer(const std::string& argument, const std::string& text) {
    const double value = number(argument, text);
    if (!(std::fabs(value) < 1e9) || value != std::floor(value))
        refuse(argument + ": expected an integer, got '" + text + "'");
    return static_cast<int>(value);
}

int place(const std::string& kind, std::string_view name, const std::vector<std::string>& names) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) refuse(unknown_name(kind, name, names));
    return static_cast<int>(found - names.begin());
}

const Frame& frame(const CompiledModel& model, const std::string& argument,
                   const std::string& name) {
    if (const Frame* found = model.tree->frame(name)) return *found;
    refuse(argument + ": " + unknown_name("frame", name, model.frames));
}

}  // namespace dtau
