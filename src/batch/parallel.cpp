// Runs work on several threads in chunks of states: run_parallel(). Its threads wait for later
// calls: awake for some microseconds, then asleep.
#include "batch/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <iterator>
#include <thread>

#include "batch/interruption.hpp"
#include "batch/scratch.hpp"
#include "batch/system.hpp"

namespace dtau {
namespace {

using Clock = std::chrono::steady_clock;

// Tells the processor that this is a loop that waits.
void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

// Waits until a state is left, at most for as long as it takes to wake a thread that sleeps.
void wait_awake(const std::atomic<int>& state, int left) {
    constexpr std::chrono::microseconds longest(20);
    constexpr int looks = 16;  // between readings of the clock
    const Clock::time_point begin = Clock::now();
    do {
        for (int k = 0; k < looks; ++k) {
            if (state.load(std::memory_order_relaxed) != left) return;
            relax();
        }
    } while (Clock::now() - begin < longest);
}

// A thread that waits between calls: starting one takes longer than computing a small batch.
struct Worker {
    enum State : int { idle, asked, working };
    std::atomic<int> state = idle;
    const std::function<void()>* work = nullptr;  // null: the thread ends

    static Worker* start() {
        Worker* worker = new Worker;
        try {
            std::thread([worker] { worker->serve(); }).detach();
        } catch (...) {
            delete worker;
            throw;
        }
        return worker;
    }
    void begin(const std::function<void()>* what) {
        work = what;
        state = asked;
        state.notify_one();
    }
    // Takes back what the thread has not begun, so that nobody waits for a thread that wakes late.
    void take_back() {
        int expected = asked;
        state.compare_exchange_strong(expected, idle);
    }
    void wait() const {
        if (!works()) return;
        wait_awake(state, working);
        state.wait(working);
    }
    bool works() const { return state == working; }
    // Ends the thread.
    void end() {
        begin(nullptr);
        leave();
    }

  private:
    void serve() {
        for (;;) {
            wait_awake(state, idle);
            state.wait(idle);
            int expected = asked;
            if (!state.compare_exchange_strong(expected, working)) continue;  // taken back
            if (!work) break;
            (*work)();
            state = idle;
            state.notify_one();
        }
        leave();
    }
    // Deletes the worker when both have left: its thread, and the caller that ends it and may still
    // notify it.
    void leave() {
        if (left.exchange(true)) delete this;
    }

    std::atomic<bool> left = false;
};

// Idle workers. The slots are atomic, so a fork at any moment leaves them intact. The threads do
// not exist in the child, which forgets them.
std::atomic<Worker*> waiting[64];

void forget_workers() {
    for (std::atomic<Worker*>& slot : waiting) slot = nullptr;
}

[[maybe_unused]] const int at_fork = at_forks(nullptr, nullptr, forget_workers);

Worker* hire() {
    for (std::atomic<Worker*>& slot : waiting)
        if (Worker* worker = slot.exchange(nullptr)) return worker;
    return Worker::start();
}

void dismiss(Worker* worker) {
    for (std::atomic<Worker*>& slot : waiting) {
        Worker* empty = nullptr;
        if (slot.compare_exchange_strong(empty, worker)) return;
    }
    worker->end();
}

bool is_true(void* flag) { return *static_cast<const std::atomic<bool>*>(flag); }

}  // namespace

std::ptrdiff_t run_parallel(const BatchWork& batch, const Schedule& schedule) {
    std::atomic<std::ptrdiff_t> next = 0, done = 0;
    std::atomic<bool> stop = false;
    std::exception_ptr failure;  // from the first thread that failed
    std::atomic<bool> failed = false;

    const auto work = [&](Interruptible& watched) noexcept {
        while (!stop.load(std::memory_order_relaxed)) {
            const std::ptrdiff_t begin = next.fetch_add(schedule.chunk);
            if (begin >= batch.count) break;
            const std::ptrdiff_t end = std::min(begin + schedule.chunk, batch.count);
            try {
                batch.compute(batch.self, begin, end);
            } catch (const Interrupted&) {
                stop = true;
                break;
            } catch (...) {
                if (!failed.exchange(true)) failure = std::current_exception();
                stop = true;
                break;
            }
            done += end - begin;
            if (watched.interrupted()) stop = true;
        }
    };
    const std::function<void()> share = [&] {
        Interruptible watched(is_true, &stop);
        work(watched);
        trim_scratch();
    };
    Worker* others[max_threads];
    int hired = 0;
    try {
        for (int t = 1; t < std::min(schedule.threads, max_threads); ++t) {
            others[hired] = hire();
            others[hired++]->begin(&share);
        }
    } catch (const std::exception&) {  // the system has no more threads; fewer compute the same
    }
    Interruptible watched(schedule.interrupted, schedule.asked);
    work(watched);
    trim_scratch();
    for (int t = 0; t < hired; ++t) {
        others[t]->take_back();
        while (schedule.long_chunks && others[t]->works()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            if (watched.interrupted()) stop = true;
        }
        others[t]->wait();
        dismiss(others[t]);
    }
    if (failure) std::rethrow_exception(failure);
    return done;
}

void start_threads(int count) {
    Worker* started[std::size(waiting)];
    int hired = 0;
    try {
        while (hired < std::min<int>(count, std::size(waiting))) {
            started[hired] = hire();
            ++hired;
        }
    } catch (const std::exception&) {
    }
    for (int t = 0; t < hired; ++t) dismiss(started[t]);
}

}  // namespace dtau
