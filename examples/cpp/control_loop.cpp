// Controls a quadruped at 1 kHz: it squats on four feet, with inverse dynamics with contacts as the
// controller and a time step with contacts as the robot. Prints how late the loop wakes up, how long
// the controller computes, and how often memory is allocated: never.
//    Usage: control_loop ROBOT.dtau SECONDS FOOT...
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <dtau.hpp>

// ---------------------------------------------------------------- allocations are counted

static std::atomic<bool> counts = false;
static std::atomic<long> allocations = 0;

#if defined(__GLIBC__)
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* malloc(std::size_t size) {
    allocations += counts;
    return __libc_malloc(size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
    allocations += counts;
    return __libc_memalign(alignment, size);
}
}
#else
void* operator new(std::size_t size) {
    allocations += counts;
    if (void* const memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace {

using Clock = std::chrono::steady_clock;

// Counts of times in microseconds, up to powers of two.
class Histogram {
  public:
    void add(double microseconds) {
        worst_ = std::max(worst_, microseconds);
        std::size_t bin = 0;
        for (double limit = 1.0; microseconds >= limit && bin + 1 < counts_.size(); limit *= 2.0)
            ++bin;
        ++counts_[bin];
    }
    void print(const char* title) const {
        long all = 0;
        for (const long count : counts_) all += count;
        std::printf("%s\n", title);
        for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
            if (counts_[bin] == 0) continue;
            const int bar = static_cast<int>(std::ceil(40.0 * counts_[bin] / all));
            std::printf("  below %5d us %6ld  %s\n", 1 << bin, counts_[bin],
                        std::string(bar, '#').c_str());
        }
        std::printf("  at most %.1f us\n", worst_);
    }

  private:
    std::array<long, 16> counts_ = {};
    double worst_ = 0.0;
};

double microseconds(Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
}

// The calls and arrays of the loop, made before it begins.
class Loop {
  public:
    Loop(const dtau::Model& model, const std::vector<std::string>& feet)
        : nq_(model.nq()),
          nv_(model.nv()),
          placements_(model, {.frames = feet}),
          difference_(model),
          control_(model, held(feet)),
          step_(model, held(feet)),
          q_(nq_),
          v_(nv_),
          posture_(nq_),
          wanted_(nq_),
          error_(nv_),
          a_(nv_),
          tau_(nv_),
          forces_(3 * feet.size()),
          rotations_(9 * feet.size()),
          positions_(3 * feet.size()),
          next_q_(nq_),
          next_v_(nv_) {
        q_[6] = 1.0;  // the quaternion x y z w
        bend(q_, 0.7);
        posture_ = q_;
        if (!find_feet(q_)) throw std::runtime_error(failure_);
        standing_ = feet_;
    }

    // Torques that squat once a second, with the feet below the base.
    bool control(double time) noexcept {
        constexpr double kp = 100.0, kd = 20.0, pi = 3.141592653589793;
        wanted_ = posture_;
        bend(wanted_, 0.7 + 0.2 * (1.0 - std::cos(2.0 * pi * time)));
        if (!find_feet(wanted_)) return false;
        for (int k = 0; k < 3; ++k) wanted_[k] += standing_[k] - feet_[k];
        if (!difference_(q_, wanted_, error_)) return failed(difference_);
        for (int k = 0; k < nv_; ++k) a_[k] = kp * error_[k] - kd * v_[k];
        return control_(q_, v_, a_, tau_, forces_) || failed(control_);
    }

    // The robot: a step of a millisecond.
    bool simulate() noexcept {
        if (!step_(q_, v_, tau_, &dt_, next_q_, next_v_)) return failed(step_);
        q_.swap(next_q_);
        v_.swap(next_v_);
        return true;
    }

    double height() const { return q_[2]; }
    bool is_finite() const {
        return std::all_of(q_.begin(), q_.end(), [](double x) { return std::isfinite(x); });
    }
    const char* error() const { return failure_; }

  private:
    static dtau::CallArguments held(const std::vector<std::string>& feet) {
        dtau::CallArguments arguments;
        for (const std::string& foot : feet)
            arguments.contacts.push_back(
                dtau::PointContact{.frame = foot, .axes = "mixed", .kd = 50.0});
        return arguments;
    }
    // Turns each leg's hip forward and its knee back, by twice as much.
    void bend(std::vector<double>& q, double angle) const {
        for (int hip = 8; hip + 1 < nq_; hip += 3) q[hip] = angle, q[hip + 1] = -2.0 * angle;
    }
    // The mean position of the feet.
    bool find_feet(const std::vector<double>& q) noexcept {
        if (!placements_(q, rotations_, positions_)) return failed(placements_);
        feet_ = {};
        for (std::size_t k = 0; k < positions_.size(); ++k)
            feet_[k % 3] += 3.0 * positions_[k] / positions_.size();
        return true;
    }
    bool failed(const dtau::Call& call) noexcept {
        failure_ = call.error();
        return false;
    }

    int nq_, nv_;
    double dt_ = 1e-3;
    dtau::FramePlacements placements_;
    dtau::Difference difference_;
    dtau::ConstrainedInverseDynamics control_;
    dtau::Step step_;
    std::vector<double> q_, v_, posture_, wanted_, error_, a_, tau_, forces_;
    std::vector<double> rotations_, positions_, next_q_, next_v_;
    std::array<double, 3> feet_ = {}, standing_ = {};
    const char* failure_ = "";
};

int run(const char* path, double seconds, const std::vector<std::string>& feet) {
    const dtau::Model model = dtau::Model::load(path);
    Loop loop(model, feet);
    Histogram late, computing;
    const long steps = std::lround(1000.0 * seconds);
    double lowest = 0.0;
    Clock::time_point wake = Clock::now();
    counts = true;
    for (long step = 0; step < steps; ++step) {
        wake += std::chrono::milliseconds(1);
        std::this_thread::sleep_until(wake);
        const Clock::time_point begun = Clock::now();
        if (!loop.control(1e-3 * step)) break;
        const Clock::time_point done = Clock::now();
        late.add(microseconds(begun - wake));
        computing.add(microseconds(done - begun));
        if (!loop.simulate()) break;
        lowest = std::min(lowest, loop.height());
    }
    counts = false;
    late.print("woken up late");
    computing.print("controller");
    std::printf("%s: %ld steps, base %.3f m lower at most, %ld allocations\n", model.name().c_str(),
                steps, -lowest, allocations.load());
    if (!*loop.error() && loop.is_finite() && allocations == 0) return 0;
    std::fprintf(stderr, "failed: %s\n", loop.error());
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: control_loop ROBOT.dtau SECONDS FOOT...\n");
        return 1;
    }
    try {
        return run(argv[1], std::atof(argv[2]), {argv + 3, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
