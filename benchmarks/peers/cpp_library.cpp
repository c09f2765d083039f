// Exports calls of the C++ library through plain C, as a controller in C++ makes them: open_call(),
// run(), results(). cpp_library.py compiles it.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <vector>

#include <dtau.hpp>

namespace {

struct Opened {
    dtau::Model model;
    dtau::Call call;
    std::vector<std::vector<double>> results;  // room for a state

    // Computes the states one by one; null `arrays`: each result replaces the last one.
    bool alone(const double* const* inputs, double* const* arrays, std::ptrdiff_t states) {
        const double* in[16] = {};
        double* out[16] = {};
        for (std::ptrdiff_t i = 0; i < states; ++i) {
            for (std::size_t k = 0; k < call.inputs().size(); ++k)
                if (inputs[k]) in[k] = inputs[k] + i * call.inputs()[k].size;
            for (std::size_t k = 0; k < results.size(); ++k)
                out[k] = arrays ? arrays[k] + i * call.results()[k].size : results[k].data();
            if (!call.run(in, out)) return false;
        }
        return true;
    }
};

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

// Loads a file of Model.save and makes a call for so many states; null and a message if it fails.
EXPORT void* open_call(const char* path, const char* function, std::ptrdiff_t states, char* message,
                       std::size_t size) {
    try {
        const dtau::Model model = dtau::Model::load(path);
        auto* opened = new Opened{model, dtau::Call(model, function, {}, states), {}};
        for (const dtau::Array& array : opened->call.results())
            opened->results.emplace_back(array.size);
        return opened;
    } catch (const std::exception& error) {
        std::snprintf(message, size, "%s", error.what());
        return nullptr;
    }
}

EXPORT void close_call(void* opened) { delete static_cast<Opened*>(opened); }

// Computes all states, in one call or one by one, `passes` times. False: a call refused them.
EXPORT bool run(void* opened, const double* const* inputs, double* const* arrays,
                std::ptrdiff_t states, bool batch, std::ptrdiff_t passes) {
    Opened& x = *static_cast<Opened*>(opened);
    for (std::ptrdiff_t pass = 0; pass < passes; ++pass)
        if (!(batch ? x.call.run(inputs, arrays, states) : x.alone(inputs, nullptr, states)))
            return false;
    return true;
}

// Computes all states into arrays, in one call or one by one.
EXPORT bool results(void* opened, const double* const* inputs, double* const* arrays,
                    std::ptrdiff_t states, bool batch) {
    Opened& x = *static_cast<Opened*>(opened);
    return batch ? x.call.run(inputs, arrays, states) : x.alone(inputs, arrays, states);
}
