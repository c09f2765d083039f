// Reads words and numbers of arguments: word(), number(), numbers().
#include "library/reading.hpp"

#include <cmath>
#include <locale>
#include <sstream>
#include <stdexcept>

namespace dtau {

void refuse(const std::string& what) { throw std::invalid_argument(what); }

int word(const std::string& argument, const std::string& given,
         std::initializer_list<const char*> words) {
    int index = 0;
    std::string expected;
    for (const char* candidate : words) {
        if (given == candidate || given.empty()) return index;
        expected += (index++ > 0 ? ", '" : "'") + std::string(candidate) + "'";
    }
    refuse(argument + ": expected one of " + expected + ", got '" + given + "'");
}

Axes axes(const std::string& argument, const std::string& given) {
    return static_cast<Axes>(word(argument, given, {"body", "world", "mixed"}));
}

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

const Frame& frame(const CompiledTree& tree, const std::string& argument, const std::string& name) {
    if (const Frame* found = tree.frame(name)) return *found;
    refuse(argument + ": no frame named '" + name + "'");
}

}  // namespace dtau
