// Calls the C++ library and the C interface from many threads at once, for the thread sanitizer: one model for
// all, whose patterns the first calls list, and a call for each thread. Compares the bits with one thread's.
//    Usage: calls QUADRUPED.dtau
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <dtau.hpp>

namespace {

constexpr int states = 37;

[[noreturn]] void fail(const std::string& what) {
    std::printf("wrong: %s\n", what.c_str());
    std::exit(1);
}

// A function with options, of a model unless it is one of poses.
struct Case {
    std::string name;
    dtau::CallArguments arguments;
    bool has_model = true;
};

std::vector<Case> cases(const dtau::Model& model) {
    const std::string foot = model.frames().back();
    const std::vector<dtau::Contact> contacts = {
        dtau::PointContact{.frame = foot, .axes = "mixed"}};
    return {
        {"inverse_dynamics", {}},
        {"inverse_dynamics", {.threads = 3}},
        {"forward_dynamics_derivatives", {.layout = "pattern", .threads = 2}},
        {"inverse_dynamics_derivatives", {.layout = "pattern"}},
        {"linearize", {.layout = "pattern", .threads = 2}},
        {"frame_jacobians", {.frames = {foot}, .axes = "mixed"}},
        {"step", {.integrator = "rk4", .threads = 2}},
        {"constrained_dynamics", {.contacts = contacts, .regularization = 1e-6, .threads = 2}},
        {"pose_log", {}, false},
    };
}

// Numbers of an input for all states: turns of unit quaternions among them, and small ones elsewhere.
std::vector<double> numbers(const dtau::Array& array) {
    std::vector<double> x(static_cast<std::size_t>(array.size) * states);
    const bool pose = array.name == "pose";
    for (std::size_t k = 0; k < x.size(); ++k) {
        x[k] =
            0.5 + 0.4 * std::sin(static_cast<double>(k) * 1.7 + static_cast<double>(array.name[0]));
        if (pose && k % 7 >= 3) x[k] = k % 7 == 6 ? 0.8 : k % 7 == 3 ? 0.6 : 0.0;
    }
    return x;
}

std::vector<double> computed(const dtau::Model& model, const Case& what) {
    dtau::Call call = what.has_model ? dtau::Call(model, what.name, what.arguments, states)
                                     : dtau::Call(what.name, what.arguments, states);
    std::vector<std::vector<double>> inputs, results;
    std::vector<const double*> in;
    std::vector<double*> out;
    for (const dtau::Array& array : call.inputs()) {
        inputs.push_back(numbers(array));
        in.push_back(array.optional ? nullptr : inputs.back().data());
    }
    for (const dtau::Array& array : call.results()) {
        results.emplace_back(static_cast<std::size_t>(array.size) * states);
        out.push_back(results.back().data());
    }
    for (int round = 0; round < 2; ++round)
        if (!call.run(in.data(), out.data(), states)) fail(what.name + ": " + call.error());
    std::vector<double> all;
    for (const std::vector<double>& result : results)
        all.insert(all.end(), result.begin(), result.end());
    return all;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), 8 * a.size()) == 0;
}

void at_once(int threads, const std::function<void(int)>& work) {
    std::atomic<int> ready = 0;
    std::vector<std::thread> all;
    for (int k = 0; k < threads; ++k)
        all.emplace_back([&, k] {
            ++ready;
            while (ready < threads) std::this_thread::yield();
            work(k);
        });
    for (std::thread& one : all) one.join();
}

// Every thread has an error text of its own.
void c_errors(const char* path, int k) {
    const std::string name = "no_function_" + std::to_string(k);
    dtau_model* model = nullptr;
    if (dtau_model_load(path, &model) != DTAU_OK) fail(dtau_error());
    for (int round = 0; round < 20; ++round) {
        dtau_function* function = nullptr;
        if (dtau_function_make(model, name.c_str(), nullptr, 0, 1, &function) == DTAU_OK)
            fail("a function that does not exist");
        if (!std::strstr(dtau_error(), name.c_str())) fail("another thread's error");
    }
    dtau_model_free(model);
}

}  // namespace

int main(int, char** arguments) {
    const char* const path = arguments[1];
    std::vector<std::vector<double>> want;
    {
        const dtau::Model alone = dtau::Model::load(path);
        for (const Case& what : cases(alone)) {
            want.push_back(computed(alone, what));
            for (double x : want.back())
                if (!std::isfinite(x)) fail(what.name + ": a result that is not finite");
        }
    }
    for (int round = 0; round < 4; ++round) {
        const dtau::Model shared = dtau::Model::load(path);
        at_once(6, [&](int k) {
            const dtau::Model mine = shared;  // copies share the robot
            const std::vector<Case> all = cases(mine);
            for (std::size_t i = 0; i < all.size(); ++i) {
                const std::size_t c = (i * 2 + static_cast<std::size_t>(k * round)) % all.size();
                if (!same_bits(computed(mine, all[c]), want[c])) fail(all[c].name + ": other bits");
            }
            c_errors(path, k);
        });
    }
    std::puts("the library is right on many threads");
}
