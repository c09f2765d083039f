// Views of a caller's arrays, as calls take them: InputView and ResultView. A pointer is taken as it
// is. The size of a std::vector, std::array or std::span is checked by the call; <dtau/eigen.hpp> adds
// the vectors and matrices of Eigen.
#pragma once

#if !(defined(_MSVC_LANG) && _MSVC_LANG >= 202002L) && __cplusplus < 202002L
#error "dtau: expected C++20 or later; compile with -std=c++20 (CMake: link dtau::dtau)"
#endif

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

namespace dtau {

// The shape of a caller's memory, where it is known.
struct ArrayLayout {
    std::ptrdiff_t size = -1;  // numbers; -1: unknown
    // Numbers of a row, for a matrix by rows; 0: a list of numbers. Negative: a matrix by columns of
    // that many numbers, each of which is a state.
    std::ptrdiff_t row = 0;

    // An array whose numbers do not follow each other: calls refuse it.
    static constexpr ArrayLayout scattered() { return {-2, 0}; }
};

// The shape and address of another library's array, T without const: specialize it with functions
// ArrayLayout layout(const T&) and const double* data(const T&), double* data(T&).
template <class T> struct ArrayAdapter;

namespace views {

template <class T> using Plain = std::remove_cv_t<std::remove_reference_t<T>>;
template <class T>
concept Adapted = requires(T& x) { ArrayAdapter<Plain<T>>::data(x); };
template <class T>
concept Writable = requires(T& x) {
    { ArrayAdapter<Plain<T>>::data(x) } -> std::same_as<double*>;
};
template <class T, class Number>
concept Numbers = !Adapted<T> && !std::is_pointer_v<Plain<T>> && requires(T& x) {
    std::span<Number>(x);
    x.size();
};

}  // namespace views

struct InputView {
    const double* data = nullptr;
    ArrayLayout layout = {};

    constexpr InputView() = default;
    constexpr InputView(std::nullptr_t) {}
    constexpr InputView(const double* numbers) : data(numbers) {}
    template <class T>
        requires views::Numbers<const T, const double>
    InputView(const T& numbers) : InputView(std::span<const double>(numbers)) {}
    InputView(std::span<const double> numbers)
        : data(numbers.data()), layout{static_cast<std::ptrdiff_t>(numbers.size())} {}
    template <class T>
        requires views::Adapted<const T>
    InputView(const T& array)
        : data(ArrayAdapter<views::Plain<T>>::data(array)),
          layout(ArrayAdapter<views::Plain<T>>::layout(array)) {}
};

struct ResultView {
    double* data = nullptr;
    ArrayLayout layout = {};

    constexpr ResultView() = default;
    constexpr ResultView(std::nullptr_t) {}
    constexpr ResultView(double* numbers) : data(numbers) {}
    ResultView(std::span<double> numbers)
        : data(numbers.data()), layout{static_cast<std::ptrdiff_t>(numbers.size())} {}
    template <class T>
        requires views::Numbers<T, double>
    ResultView(T&& numbers) : ResultView(std::span<double>(numbers)) {}
    // Temporaries too: a block or map of a matrix is one.
    template <class T>
        requires views::Writable<T>
    ResultView(T&& array)
        : data(ArrayAdapter<views::Plain<T>>::data(array)),
          layout(ArrayAdapter<views::Plain<T>>::layout(array)) {}
};

}  // namespace dtau
