// Compares typed calls with calls by name: check(). tests/support/cpp_calls.py writes the program.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <dtau.hpp>

using Arrays = std::vector<std::vector<double>>;

// The arrays of a call, by their names.
struct Named {
    const std::vector<dtau::Array>& arrays;
    Arrays& numbers;

    double* operator()(const char* name) const {
        for (std::size_t k = 0; k < arrays.size(); ++k)
            if (arrays[k].name == name) return numbers[k].data();
        throw std::runtime_error(std::string("no array ") + name);
    }
};

inline Arrays filled(const std::vector<dtau::Array>& arrays, std::ptrdiff_t states, bool random) {
    std::mt19937 engine(1);
    std::uniform_real_distribution<double> number(0.6, 1.0);  // contacts are active
    Arrays result;
    for (const dtau::Array& array : arrays) {
        result.emplace_back(array.size * states, NAN);
        if (random)
            for (double& x : result.back()) x = number(engine);
        if (array.name == "parameters")  // of bodies that can exist: mass and inertia are large
            for (std::size_t k = 0; k < result.back().size(); ++k)
                if (k % 10 != 0 && k % 10 != 4 && k % 10 != 6 && k % 10 != 9)
                    result.back()[k] *= 0.01;
        if (array.name == "matrix" || array.name == "rotation")  // the identity
            for (std::size_t k = 0, n = array.shape.back(); k < result.back().size(); ++k)
                result.back()[k] = k % (n * n) % (n + 1) == 0;
    }
    return result;
}

inline constexpr std::ptrdiff_t states = 5;

// Throws unless a typed call, given the arrays in its own order, has the results of a call by name.
template <class Typed, class Body>
void compare(const char* name, dtau::Call plain, Typed typed, const Body& body) {
    Arrays given = filled(plain.inputs(), states, true);
    Arrays wanted = filled(plain.results(), states, false), got = wanted;
    std::vector<const double*> in;
    std::vector<double*> out;
    for (std::vector<double>& x : given) in.push_back(x.data());
    for (std::vector<double>& x : wanted) out.push_back(x.data());
    if (!plain.run(in.data(), out.data(), states)) throw std::runtime_error(plain.error());
    if (!body(typed, Named{typed.inputs(), given}, Named{typed.results(), got}, states))
        throw std::runtime_error(typed.error());
    for (std::size_t k = 0; k < got.size(); ++k) {
        for (const double x : wanted[k])
            if (!std::isfinite(x)) throw std::runtime_error(std::string(name) + ": not finite");
        if (std::memcmp(got[k].data(), wanted[k].data(), got[k].size() * sizeof(double)) != 0)
            throw std::runtime_error(std::string(name) + ": " + plain.results()[k].name);
    }
}

template <class Typed, class Body>
void check(const char* name, const dtau::Model& model, const dtau::CallArguments& arguments,
           const Body& body) {
    compare(name, dtau::Call(model, name, arguments, states), Typed(model, arguments, states),
            body);
}

// Of poses and rotations, without a model.
template <class Typed, class Body>
void check(const char* name, const dtau::CallArguments& arguments, const Body& body) {
    compare(name, dtau::Call(name, arguments, states), Typed(arguments, states), body);
}
