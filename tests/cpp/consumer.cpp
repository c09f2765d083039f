// Computes the typed functions and a constrained one of dtau.hpp for states from a file, and writes
// the results to another, for comparison with Python's. Fails if a call allocates, takes a lock, or
// accepts what it must refuse.
//    Usage: consumer ROBOT.dtau COUNT STATES RESULTS THREADS FRAME...
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <dtau.hpp>

// ---------------------------------------------------------------- hooks that count

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

static std::atomic<bool> counts = false;  // of all threads
static std::atomic<int> allocations = 0, locks = 0;

extern "C" {
void* malloc(std::size_t size) {
    allocations += counts;
    return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
    allocations += counts;
    return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) {
    allocations += counts;
    return __libc_realloc(block, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
    allocations += counts;
    return __libc_memalign(alignment, size);
}
int pthread_mutex_lock(pthread_mutex_t* mutex) {
    static const auto lock =
        reinterpret_cast<int (*)(pthread_mutex_t*)>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
    locks += counts;
    return lock(mutex);
}
}

namespace {

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

void require(bool done, const dtau::Call& call) {
    if (!done) fail(call.error());
}

// Runs a call and requires that it does nothing but compute.
template <class Body> void counted(const dtau::Call& call, const Body& body) {
    allocations = locks = 0;
    counts = true;
    const bool done = body();
    counts = false;
    require(done, call);
    if (allocations > 0 || locks > 0)
        fail(std::to_string(allocations) + " allocations, " + std::to_string(locks) + " locks");
}

template <class Body> void refused(const std::string& part, const Body& body) {
    try {
        body();
    } catch (const std::invalid_argument& error) {
        if (std::string(error.what()).find(part) == std::string::npos) fail(error.what());
        return;
    }
    fail("accepted what it must refuse: " + part);
}

void check_refusals(const dtau::Model& model) {
    refused("got 'rnea'", [&] { dtau::Call(model, "rnea"); });
    refused("no frame named 'nobody'",
            [&] { dtau::FrameJacobians(model, {.frames = {"nobody"}}); });
    refused("expected the argument frames", [&] { dtau::Call(model, "frame_placements"); });
    refused("does not take the argument axes",
            [&] { dtau::Call(model, "mass_matrix", {.axes = "body"}); });
    refused("axes: expected 'body', 'world' or 'mixed', got 'LOCAL'",
            [&] { dtau::FrameJacobians(model, {.frames = {model.frames()[0]}, .axes = "LOCAL"}); });
    refused("most_states", [&] { dtau::InverseDynamics(model, {}, 0); });
    refused("threads: expected a number from 0 to 1024, got 1025",
            [&] { dtau::InverseDynamics(model, {.threads = 1025}); });
    refused("no joint named 'LF_KEF'; close names: 'LF_KFE', ", [&] { model.joint("LF_KEF"); });
    refused("no body named 'nobody'", [&] { model.body("nobody"); });
    refused("no frame named 'nobody'", [&] { model.frame("nobody"); });
    dtau::InverseDynamics call(model);
    double x = 0.0;
    if (call(nullptr, &x, &x, &x) ||
        std::string(call.error()).find("q: expected") == std::string::npos)
        fail(call.error());
    if (call(&x, &x, &x, &x, 2)) fail("computed more states than it has memory for");
    const std::vector<double> q(model.nq()), v(model.nv());
    std::vector<double> tau(model.nv() + 1);
    if (call(q, v, v, tau) ||
        std::string(call.error()).find("tau: expected as many numbers as") == std::string::npos)
        fail(std::string("a result of another size: ") + call.error());
    tau.pop_back();
    require(call(q, v, v, tau), call);
}

void check_names(const dtau::Model& model) {
    for (int k = 0; k < model.nbodies(); ++k)
        if (model.joint(model.joints()[k]).index != k || model.body(model.bodies()[k]) != k)
            fail(model.joints()[k]);
    const dtau::Joint &root = model.joint(model.joints()[0]), &knee = model.joint("LF_KFE");
    if (root.nq != 7 || root.nv != 6 || knee.q != knee.v + 1 || knee.nq * knee.nv != 1)
        fail("entries of joints");
    if (model.frames()[model.frame("LF_FOOT")] != "LF_FOOT") fail("LF_FOOT");
    if (model.lower_limits().size() != static_cast<std::size_t>(model.nq()) ||
        !(model.upper_limits()[knee.q] > 0.0 && model.effort_limits()[knee.v] == 40.0))
        fail("limits");
    if (model.gravity()[2] != -9.81 || !(model.masses()[0] > 16.0)) fail("masses and gravity");
}

struct States {
    std::ptrdiff_t count;
    std::vector<double> q, v, a;
};

class Results {
  public:
    explicit Results(const char* path) : file_(path, std::ios::binary) {}
    // Memory for all results of a call; `body` gets their addresses.
    template <class Body> void add(const dtau::Call& call, std::ptrdiff_t count, const Body& body) {
        std::vector<std::vector<double>> arrays;
        std::vector<double*> to;
        for (const dtau::Array& array : call.results()) arrays.emplace_back(array.size * count);
        for (std::vector<double>& array : arrays) to.push_back(array.data());
        counted(call, [&] { return body(to.data()); });
        for (const std::vector<double>& array : arrays)
            file_.write(reinterpret_cast<const char*>(array.data()),
                        static_cast<std::streamsize>(array.size() * sizeof(double)));
    }

  private:
    std::ofstream file_;
};

void compute(const dtau::Model& model, const States& s, const std::vector<std::string>& frames,
             int threads, const char* path) {
    Results results(path);
    const std::ptrdiff_t n = s.count;
    const double *q = s.q.data(), *v = s.v.data(), *a = s.a.data();
    const dtau::CallArguments options = {.threads = threads};
    dtau::CallArguments at_frames = {.frames = frames, .threads = threads};
    dtau::InverseDynamics rnea(model, options, n);
    results.add(rnea, n, [&](double** to) { return rnea(q, v, a, to[0], n); });
    dtau::InverseDynamicsDerivatives rnea_d(model, options, n);
    results.add(rnea_d, n, [&](double** x) { return rnea_d(q, v, a, x[0], x[1], x[2], n); });
    dtau::ForwardDynamics aba(model, options, n);
    results.add(aba, n, [&](double** to) { return aba(q, v, a, to[0], n); });
    dtau::ForwardDynamicsDerivatives aba_d(model, options, n);
    results.add(aba_d, n, [&](double** x) { return aba_d(q, v, a, x[0], x[1], x[2], n); });
    dtau::MassMatrix crba(model, options, n);
    results.add(crba, n, [&](double** to) { return crba(q, to[0], n); });
    dtau::FramePlacements placements(model, at_frames, n);
    results.add(placements, n, [&](double** to) { return placements(q, to[0], to[1], n); });
    at_frames.axes = "mixed";
    dtau::FrameJacobians jacobians(model, at_frames, n);
    results.add(jacobians, n, [&](double** to) { return jacobians(q, to[0], n); });
    dtau::CallArguments held = {.threads = threads};
    for (const std::string& frame : frames)
        held.contacts.push_back(dtau::PointContact{.frame = frame, .axes = "mixed", .kd = 20.0});
    dtau::ConstrainedDynamics constrained(model, held, n);
    std::vector<double> active(frames.size() * n, 1.0);
    for (std::size_t k = 0; k < active.size(); k += 3)
        active[k] = 0.0;  // states change their order
    results.add(constrained, n, [&](double** to) {
        return constrained(q, v, a, to[0], to[1], to[2], n, {.active = active});
    });
}

int run(int argc, char** argv) {
    const dtau::Model model = dtau::Model::load(argv[1]);
    States states = {std::atol(argv[2]), {}, {}, {}};
    states.q.resize(model.nq() * states.count);
    states.v.resize(model.nv() * states.count);
    states.a.resize(model.nv() * states.count);
    std::ifstream file(argv[3], std::ios::binary);
    for (std::vector<double>* x : {&states.q, &states.v, &states.a})
        file.read(reinterpret_cast<char*>(x->data()),
                  static_cast<std::streamsize>(x->size() * sizeof(double)));
    if (!file) fail("the states are too few");
    std::string error;
    // On a thread of its own: nothing of an earlier call is left there.
    std::thread([&] {
        try {
            compute(model, states, {argv + 6, argv + argc}, std::atoi(argv[5]), argv[4]);
            check_names(model);
            check_refusals(model);
        } catch (const std::exception& e) {
            error = e.what();
        }
    }).join();
    if (!error.empty()) fail(error);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
