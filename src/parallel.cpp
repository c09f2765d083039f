#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace dtau {

int available_processors() {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
#endif
    const unsigned count = std::thread::hardware_concurrency();
    return count > 0 ? static_cast<int>(count) : 1;
}

std::ptrdiff_t run_parallel(Kernel kernel, const Tree& tree, const Job& job,
                            const Schedule& schedule) {
    using Clock = std::chrono::steady_clock;
    std::atomic<std::ptrdiff_t> next = 0, done = 0;
    std::atomic<bool> stop = false;
    std::exception_ptr failure;  // of the first thread that failed
    std::atomic<bool> failed = false;

    const auto work = [&](bool asks) noexcept {
        Clock::time_point asked = Clock::now();
        while (!stop.load(std::memory_order_relaxed)) {
            const std::ptrdiff_t begin = next.fetch_add(schedule.chunk);
            if (begin >= job.count) return;
            const std::ptrdiff_t end = std::min(begin + schedule.chunk, job.count);
            try {
                kernel(tree, job, begin, end);
            } catch (...) {
                if (!failed.exchange(true)) failure = std::current_exception();
                stop = true;
                return;
            }
            done += end - begin;
            if (asks && Clock::now() - asked > std::chrono::milliseconds(20)) {
                if (schedule.interrupted()) stop = true;
                asked = Clock::now();
            }
        }
    };
    std::vector<std::thread> others;
    try {
        others.reserve(schedule.threads);
        for (int t = 1; t < schedule.threads; ++t) others.emplace_back(work, false);
    } catch (const std::exception&) {  // no more threads to be had: fewer do it too
    }
    work(true);
    for (std::thread& thread : others) thread.join();
    if (failure) std::rethrow_exception(failure);
    return done;
}

}  // namespace dtau
