// Sets the options of a call, with the memory that they point into: OptionValues. Their words, their limits and
// what goes together are said here alone, for all languages.
//
// A setter returns what its option expects, for a message, if a value does not fit; else nothing.
#pragma once

#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "registry/signature.hpp"

namespace dtau {

// The words of an option; the first is the default. None: its values are no words.
struct Words {
    const std::string_view* at = nullptr;
    int count = 0;
};
inline constexpr std::string_view axes_words[] = {"body", "world", "mixed"};
inline constexpr std::string_view acceleration_words[] = {"spatial", "classical"};
inline constexpr std::string_view integrator_words[] = {"euler", "semi_implicit", "rk4",
                                                        "implicit"};
inline constexpr std::string_view layout_words[] = {"dense", "pattern"};
inline constexpr std::string_view coordinates_words[] = {"tangent", "numbers"};

constexpr Words words(Option option) {
    switch (option) {
        case Option::axes:
        case Option::wrench_axes: return {axes_words, std::size(axes_words)};
        case Option::acceleration: return {acceleration_words, std::size(acceleration_words)};
        case Option::integrator: return {integrator_words, std::size(integrator_words)};
        case Option::layout: return {layout_words, std::size(layout_words)};
        case Option::coordinates: return {coordinates_words, std::size(coordinates_words)};
        default: return {};
    }
}

// The index of a word; -1: it is not among them.
constexpr int place(const Words& words, std::string_view word) {
    for (int k = 0; k < words.count; ++k)
        if (words.at[k] == word) return k;
    return -1;
}
// The words for a message: "'a', 'b' or 'c'".
std::string either(const Words& words);

// Throws std::invalid_argument.
[[noreturn]] void refuse(const std::string& what);
// Reads one of a few words as its index, or refuses it; no word is the first.
int read_word(const std::string& argument, std::string_view given,
              std::initializer_list<std::string_view> words);

class OptionValues {
  public:
    Options values;
    int order = -1;             // negative: the stacks determine it
    bool single_frame = false;  // the results have no axis for frames

    std::string set_word(Option option, std::string_view word);
    void set_flag(Option option, bool value);
    std::string set_regularization(double value);
    std::string set_order(long long value);
    // Asks for the results by a variable, a word of `by`.
    std::string add_variable(const Signature& signature, std::string_view variable);
    std::string set_frames(std::vector<Frame> frames, const Tree& tree);
    void set_frame(const Frame& frame);

    // The velocities k for which chosen(k) is true.
    template <class Chosen> void set_driven(int nv, const Chosen& chosen) {
        columns_ = std::make_unique_for_overwrite<int[]>(nv);
        int count = 0;
        for (int k = 0; k < nv; ++k)
            if (chosen(k)) columns_[count++] = k;
        values.driven = {count, columns_.get()};
    }
    template <class Chosen> void set_prescribed(int nv, const Chosen& chosen) {
        prescribed_ = std::make_unique_for_overwrite<bool[]>(nv);
        for (int k = 0; k < nv; ++k) prescribed_[k] = chosen(k);
        values.prescribed = prescribed_.get();
    }

    // Which options do not go together, as a whole message; null: all do.
    const char* conflict(const Signature& signature) const;

  private:
    std::vector<Frame> frames_;
    // Copies, so that nobody can change a mask after its check.
    std::unique_ptr<bool[]> prescribed_;
    std::unique_ptr<int[]> columns_;
};

// Here, as a lone call with words takes less than a microsecond.
inline std::string OptionValues::set_word(Option option, std::string_view word) {
    const Words known = words(option);
    const int k = place(known, word);
    if (k < 0) return either(known);
    if (option == Option::axes) values.axes = static_cast<Axes>(k);
    if (option == Option::wrench_axes) values.wrench_axes = static_cast<Axes>(k);
    if (option == Option::acceleration) values.acceleration = static_cast<Acceleration>(k);
    if (option == Option::integrator) values.integrator = static_cast<Integrator>(k);
    if (option == Option::layout) values.layout = static_cast<Layout>(k);
    if (option == Option::coordinates) values.by_numbers = k == 1;
    return {};
}

inline const char* OptionValues::conflict(const Signature& signature) const {
    const bool without_contacts = signature.optional_contacts && !values.contacts;
    if (without_contacts && values.forces) return "forces: goes with contacts=, which is not given";
    if (without_contacts && values.regularization != 0.0)
        return "regularization: goes with contacts=, which is not given";
    if (values.by_numbers && values.symmetric)
        return "symmetric: expected False with coordinates='numbers', got True; leave it out, as "
               "second derivatives by the numbers of q are symmetric already";
    if (values.by_numbers && values.layout == Layout::pattern)
        return "layout: expected 'dense' with coordinates='numbers', got 'pattern'; patterns are "
               "those of derivatives in the tangent space";
    return nullptr;
}

}  // namespace dtau
