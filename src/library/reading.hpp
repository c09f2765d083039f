// Reads numbers and names of arguments: number(), numbers(), place(), frame(). They throw
// std::invalid_argument, with a message that names the argument.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "call/options.hpp"
#include "dtau/library/contacts.hpp"
#include "library/model_file.hpp"

namespace dtau {

double number(const std::string& argument, const std::string& text);
int integer(const std::string& argument, const std::string& text);
// Numbers with spaces between them.
std::vector<double> numbers(const std::string& argument, const std::string& text);

// The index of a name among others; an error lists names that come close, or all if they are few.
int place(const std::string& kind, std::string_view name, const std::vector<std::string>& names);
// Reads a contact of the C interface, such as "point; frame=LF_FOOT; axes=mixed; kd=20".
Contact contact_of_text(const std::string& text);

const Frame& frame(const CompiledModel& model, const std::string& argument,
                   const std::string& name);

}  // namespace dtau
