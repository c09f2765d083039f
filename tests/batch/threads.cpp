// Tests the batch layer on many threads, for the thread sanitizer: synthetic work (exceptions, interrupts,
// scratch that grows), cached memory, and inverse dynamics. Prints what is wrong, and fails.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "batch/interruption.hpp"
#include "batch/kept_blocks.hpp"
#include "batch/parallel.hpp"
#include "batch/run.hpp"
#include "batch/scratch.hpp"
#include "batch/watched.hpp"
#include "registry/function.hpp"
#include "tree/compiled_tree.hpp"

namespace dtau::DTAU_VARIANT {
extern const FunctionGroup dynamics_functions;
}

namespace {

using namespace dtau;

void check(bool right, const char* what) {
    if (right) return;
    std::printf("wrong: %s\n", what);
    std::exit(1);
}

// A synthetic batch that counts how often each state is computed, with scratch of any size.
struct MadeUp {
    std::vector<int> computed;
    std::ptrdiff_t throws_at = -1;
    int microseconds = 0;  // a state

    explicit MadeUp(std::ptrdiff_t count) : computed(count) {}
    BatchWork work() const { return {compute, this, std::ptrdiff_t(computed.size())}; }

    static void compute(const void* self, std::ptrdiff_t begin, std::ptrdiff_t end) {
        MadeUp& batch = *static_cast<MadeUp*>(const_cast<void*>(self));
        for (std::ptrdiff_t state = begin; state < end; ++state) {
            const std::size_t size = 64 + state * 7919 % 4096 * (state % 97 == 0 ? 4096 : 1);
            char* block = static_cast<char*>(scratch(size));
            block[0] = block[size - 1] = 1;
            if (state == batch.throws_at) throw std::runtime_error("as it should");
            if (batch.microseconds)
                std::this_thread::sleep_for(std::chrono::microseconds(batch.microseconds));
            ++batch.computed[state];
        }
    }
    std::ptrdiff_t done() const {
        std::ptrdiff_t sum = 0;
        for (int times : computed) sum += times;
        return sum;
    }
};

bool never(void*) { return false; }
bool after_some_asking(void* left) { return --*static_cast<int*>(left) <= 0; }

void all_states_once(int threads) {
    for (std::ptrdiff_t count : {1, 2, 63, 64, 1000})
        for (std::ptrdiff_t chunk : {1, 8, 100}) {
            MadeUp batch(count);
            const std::ptrdiff_t done =
                run_parallel(batch.work(), {threads, chunk, never, nullptr});
            check(done == count, "the number of states done");
            for (int times : batch.computed) check(times == 1, "a state is computed once");
        }
}

// Chunks that write all of the scratch memory that they are lent; with too few blocks, some of it is
// the thread's own.
struct Lending {
    static constexpr std::size_t size = 4096;
    const ScratchBlocks& blocks;
    std::atomic<int> wrong = 0;

    static void compute(const void* self, std::ptrdiff_t begin, std::ptrdiff_t) {
        Lending& x = *static_cast<Lending*>(const_cast<void*>(self));
        const char mark = static_cast<char>(begin);
        const LentScratch lent(x.blocks);
        char* const block = static_cast<char*>(scratch(size));
        std::fill(block, block + size, mark);
        std::this_thread::sleep_for(std::chrono::microseconds(10));
        {
            const LentScratch inner(x.blocks);
            *static_cast<char*>(scratch(size)) = 0;
        }
        const char* const again = static_cast<char*>(scratch(size));
        x.wrong += again != block || std::count(block + 1, block + size, mark) != size - 1;
    }
};

void lent_scratch(int threads) {
    start_threads(threads - 1);
    for (const int count : {1, threads, 2 * threads}) {
        const ScratchBlocks blocks(count, Lending::size);
        Lending lending = {blocks};
        run_parallel({Lending::compute, &lending, 200}, {threads, 1, never, nullptr});
        check(lending.wrong == 0, "lent scratch belongs to one thread");
    }
}

void exceptions(int threads) {
    for (std::ptrdiff_t at : {0, 50, 999}) {
        MadeUp batch(1000);
        batch.throws_at = at;
        bool caught = false;
        try {
            run_parallel(batch.work(), {threads, 8, never, nullptr});
        } catch (const std::runtime_error&) {
            caught = true;
        }
        check(caught, "an exception of a thread reaches the caller");
    }
}

void interrupts(int threads) {
    MadeUp batch(4000);
    batch.microseconds = 100 * threads;
    int left = 2;
    const std::ptrdiff_t done = run_parallel(batch.work(), {threads, 8, after_some_asking, &left});
    check(done == batch.done(), "the states done before an interrupt");
    check(0 < done && done < 4000, "an interrupt ends a batch");
}

// Chunks that only an interrupt ends, one for each thread.
void long_chunks(int threads) {
    const auto compute = [](const void*, std::ptrdiff_t, std::ptrdiff_t) {
        for (;;) check_interruption();
    };
    int left = 2;
    const std::ptrdiff_t done =
        run_parallel({compute, nullptr, threads}, {threads, 1, after_some_asking, &left});
    check(done == 0, "an interrupt ends the chunks of all threads");
}

// The data of a watched batch; they live until its last thread is done.
struct Owned {
    MadeUp batch;
    std::atomic<bool>& gone;
    ~Owned() { gone = true; }
};

void watched(int threads) {
    for (const bool interrupted : {false, true})
        for (const bool fails : {false, true}) {
            std::atomic<bool> gone = false;
            auto owned = std::make_shared<Owned>(Owned{MadeUp(200), gone});
            gone = false;  // whether this object was moved from
            MadeUp& batch = owned->batch;
            batch.microseconds = 1000;
            if (fails) batch.throws_at = 10;
            int left = interrupted ? 1 : 1000000;
            const BatchWork work = batch.work();
            const std::shared_ptr<const void> keep = interrupted ? nullptr : owned;
            bool caught = false;
            try {
                run_watched(work, {threads, 100, after_some_asking, &left}, std::move(owned));
            } catch (const std::runtime_error&) {
                caught = true;
            }
            if (!interrupted) {
                check(caught == fails, "an exception of a watched batch");
                check(fails || batch.done() == 200, "all states of a watched batch");
            }
            while (interrupted && !gone) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
}

// Threads take blocks, fill and check them, and another thread releases them, while limits change.
void kept_blocks(int threads) {
    std::atomic<void*> handed[8] = {};
    std::vector<std::thread> all;
    for (int k = 0; k < threads; ++k)
        all.emplace_back([&handed, k] {
            for (int round = 0; round < 60; ++round) {
                const std::size_t size = 1000 + (k * 37 + round) * 7919 % 150000;
                unsigned char* block = static_cast<unsigned char*>(take_block(size));
                check(block && block_bytes(block) >= size, "the size of a block");
                const auto mark = static_cast<unsigned char>(k);
                std::fill_n(block, size, mark);
                std::this_thread::yield();
                check(block[0] == mark && block[size - 1] == mark, "a block has one owner");
                give_block(handed[round % 8].exchange(block));
                if (round % 20 == 19) keep_blocks(round % 40 == 19 ? 0 : 1 << 20);
            }
        });
    for (std::thread& one : all) one.join();
    for (std::atomic<void*>& block : handed) give_block(block);
}

// Inverse dynamics of a chain, run as calls from Python run it.
class Dynamics {
  public:
    Dynamics() : tree_(bodies(), names(), {}, zeros(), zeros(), {0, 0, -9.81}) {
        for (double& x : numbers_) x = 0.001 * static_cast<double>(std::rand() % 1000);
    }

    std::vector<double> torques(int threads) const {
        std::vector<double> results(states * n);
        const Options options;
        Job job(4, 1);
        job.options = &options;
        job.naxes = 1, job.shape[0] = job.count = states;
        for (int i = 0; i < 3; ++i) {
            job.inputs[i].data = reinterpret_cast<const char*>(numbers_.data() + i * states * n);
            job.inputs[i].size = n, job.inputs[i].spacing = sizeof(double);
            job.inputs[i].stride[0] = n * sizeof(double);
        }
        job.outputs[0].data = reinterpret_cast<char*>(results.data());
        job.outputs[0].size = n;
        const Call call = {tree_.tree(), job};
        run_parallel({compute, &call, states}, {threads, 16, never, nullptr});
        return results;
    }

  private:
    static constexpr int n = 12, states = 1001;

    struct Call {
        const Tree& tree;
        const Job& job;
    };
    static void compute(const void* self, std::ptrdiff_t begin, std::ptrdiff_t end) {
        const Call& call = *static_cast<const Call*>(self);
        const void* both = DTAU_VARIANT::dynamics_functions.implementations[0];
        DTAU_VARIANT::run(static_cast<const DTAU_VARIANT::Implementation*>(both)->independent,
                          call.tree, call.job, begin, end);
    }
    static std::vector<BodyDescription> bodies() {
        std::vector<BodyDescription> all;
        for (int i = 0; i < n; ++i)
            all.push_back({JointKind::revolute,
                           i - 1,
                           i,
                           -1,
                           1.0,
                           0.0,
                           {1, 0, 0, 0, 1, 0, 0, 0, 1},
                           {0.1, 0.0, 0.3},
                           {0.0, i % 2 ? 1.0 : 0.0, i % 2 ? 0.0 : 1.0},
                           0.0,
                           1.0,
                           {0.1, 0.0, 0.2},
                           {0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}});
        return all;
    }
    static std::vector<std::string> names() { return std::vector<std::string>(n, "joint"); }
    static std::vector<double> zeros() { return std::vector<double>(n); }

    CompiledTree tree_;
    std::vector<double> numbers_ = std::vector<double>(3 * states * n);
};

void dynamics(const Dynamics& shared) {
    const std::vector<double> want = shared.torques(1);
    for (int threads : {2, 3, 7}) check(shared.torques(threads) == want, "the same torques");
}

}  // namespace

int main() {
    const Dynamics shared;
    const auto all = [&shared](int threads) {
        all_states_once(threads);
        lent_scratch(threads);
        exceptions(threads);
        interrupts(threads);
        long_chunks(threads);
        watched(threads);
        kept_blocks(threads);
        dynamics(shared);
    };
    for (int threads : {1, 2, 5}) all(threads);
    // Several callers at once, and more workers than wait for the next call.
    std::vector<std::thread> callers;
    for (int k = 0; k < 6; ++k)
        callers.emplace_back([&all, k] {
            for (int round = 0; round < 3; ++round) all(k < 2 ? 50 : k);
        });
    for (std::thread& caller : callers) caller.join();
    std::puts("the batch layer is right on many threads");
}
