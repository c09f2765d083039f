// Runs a batch on a thread of its own while the calling thread polls for interruption:
// run_watched().
#include "batch/watched.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace dtau {
namespace {

// State that the two threads share.
struct Watched {
    BatchWork work;
    Schedule schedule;
    std::shared_ptr<const void> owner;

    std::atomic<bool> stop = false;
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false;
    std::exception_ptr failure;

    static bool stopped(void* self) { return static_cast<Watched*>(self)->stop; }

    void compute() {
        std::exception_ptr thrown;
        try {
            run_parallel(work, {schedule.threads, schedule.chunk, stopped, this});
        } catch (...) {
            thrown = std::current_exception();
        }
        owner.reset();
        const std::lock_guard guard(mutex);
        failure = std::move(thrown);
        ended = true;
        changed.notify_one();
    }
};

}  // namespace

void run_watched(const BatchWork& work, const Schedule& schedule,
                 std::shared_ptr<const void> owner) {
    const auto watched = std::make_shared<Watched>();
    watched->work = work;
    watched->schedule = schedule;
    watched->owner = std::move(owner);
    try {
        std::thread([watched] { watched->compute(); }).detach();
    } catch (const std::system_error&) {  // no more threads to be had
        run_parallel(work, schedule);
        return;
    }
    std::unique_lock lock(watched->mutex);
    while (!watched->changed.wait_for(lock, std::chrono::milliseconds(20),
                                      [&] { return watched->ended; })) {
        lock.unlock();
        if (schedule.interrupted(schedule.asked)) {
            watched->stop = true;
            return;
        }
        lock.lock();
    }
    if (watched->failure) std::rethrow_exception(watched->failure);
}

}  // namespace dtau
