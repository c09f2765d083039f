// Reads files of named arrays, as Python's Model.save writes them: ArrayFile.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dtau {

// Throws std::runtime_error: a file does not have what it should.
[[noreturn]] void refuse_file(const std::string& what);

// The arrays of a file, which are taken out one by one. Everything throws std::runtime_error where an
// array is missing or has another type or shape.
class ArrayFile {
  public:
    using Texts = std::vector<std::string>;
    template <class T> struct Numbers {
        std::vector<std::uint64_t> shape;
        std::vector<T> values;
    };
    using Array = std::variant<Numbers<std::int32_t>, Numbers<double>, Texts>;

    // Throws if the file cannot be read, is truncated, damaged or of another version.
    explicit ArrayFile(const std::string& path);

    Texts texts(std::string_view name);
    std::vector<std::int32_t> integers(std::string_view name,
                                       const std::vector<std::uint64_t>& shape);
    std::vector<double> reals(std::string_view name, const std::vector<std::uint64_t>& shape);
    // How many numbers a float64 array has; 0: there is no such array.
    std::uint64_t size(std::string_view name) const;
    // Requires that no array is left whose name begins so.
    void require_taken(std::string_view prefix) const;

  private:
    template <class A> A take(std::string_view name);
    template <class T>
    std::vector<T> numbers(std::string_view name, const std::vector<std::uint64_t>& shape);

    std::map<std::string, Array, std::less<>> arrays_;
};

}  // namespace dtau
