// Reads words and numbers of arguments: word(), number(), numbers(), place(). They throw
// std::invalid_argument, with a message that names the argument.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "dtau/options.hpp"
#include "library/model_file.hpp"

namespace dtau {

[[noreturn]] void refuse(const std::string& what);

// Reads one of a few words as its index; no word is the first.
int word(const std::string& argument, const std::string& given,
         std::initializer_list<const char*> words);
Axes axes(const std::string& argument, const std::string& given);

double number(const std::string& argument, const std::string& text);
int integer(const std::string& argument, const std::string& text);
// Numbers with spaces between them.
std::vector<double> numbers(const std::string& argument, const std::string& text);

// The index of a name among others; an error lists names that come close, or all if they are few.
int place(const std::string& kind, std::string_view name, const std::vector<std::string>& names);
const Frame& frame(const CompiledModel& model, const std::string& argument,
                   const std::string& name);

}  // namespace dtau
