// Owns the numbered slots of functions for CasADi: hold_casadi_slot() fills one, casadi_call() runs
// it, and the last release empties it.
#include "interop/casadi_slots.hpp"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

#include "batch/system.hpp"

namespace dtau {
namespace {

struct Slot {
    // Holders of the slot read it without the lock; null if it is empty.
    std::atomic<const CasadiFunction*> function = nullptr;
    int holders = 0;
    // The thread that filled the slot makes one CasADi function of it, which claims it; then no
    // thread may. Any other function that finds the slot comes from elsewhere, such as a file of
    // another process, and would compute with a model that is not its own.
    std::thread::id maker;
    std::atomic<bool> lost = false;
};

struct Slots {
    std::mutex mutex;
    std::vector<Slot> all = std::vector<Slot>(casadi_slot_count);
};
// Never destroyed: CasADi may release functions at the end of the process.
Slots& slots() {
    static Slots& s = *new Slots;
    return s;
}

// Holds the lock during a fork, so that the child never finds the slots in the middle of a change.
[[maybe_unused]] const int slots_at_fork = at_forks(
    [] { slots().mutex.lock(); }, [] { slots().mutex.unlock(); }, [] { slots().mutex.unlock(); });

void complain(int slot, const char* what) {
    std::fprintf(stderr, "dtau.casadi: dtau_slot%d: %s\n", slot, what);
}

const CasadiFunction* function_of(int slot) {
    return slots().all[slot].function.load(std::memory_order_acquire);
}

// The patterns of a role's inputs or results; null if the slot is empty or memory is out.
const std::vector<CasadiPattern>* patterns(int slot, CasadiRole role, bool results) {
    const CasadiFunction* f = function_of(slot);
    if (!f) return nullptr;
    try {
        const CasadiPlan& plan = f->of(role);
        return results ? &plan.out : &plan.in;
    } catch (...) {
        complain(slot, "out of memory");
    }
    return nullptr;
}

}  // namespace

int hold_casadi_slot(std::unique_ptr<CasadiFunction> function) {
    Slots& s = slots();
    const std::lock_guard lock(s.mutex);
    for (int k = 0; k < casadi_slot_count; ++k) {
        Slot& slot = s.all[k];
        if (slot.function || slot.holders) continue;
        slot.function.store(function.release(), std::memory_order_release);
        slot.holders = 1;
        slot.maker = std::this_thread::get_id();
        slot.lost = false;
        return k;
    }
    return -1;
}

void release_casadi_slot(int number) {
    std::unique_ptr<const CasadiFunction> last;  // released without the lock
    Slots& s = slots();
    const std::lock_guard lock(s.mutex);
    Slot& slot = s.all[number];
    if (slot.holders == 0 || --slot.holders > 0) return;
    last.reset(slot.function.exchange(nullptr));
}

bool casadi_slot_is_lost(int slot) {
    return slots().all[slot].lost.load(std::memory_order_relaxed);
}

int casadi_call(int slot, CasadiRole role, const double** arg, double** res,
                double* work) noexcept {
    const CasadiFunction* f = function_of(slot);
    if (!f || casadi_slot_is_lost(slot)) {
        complain(slot,
                 "this function was made in another process, or was copied through a file; make it "
                 "here, from its model");
        return 1;
    }
    try {
        std::string error;
        if (casadi_evaluate(*f, role, arg, res, work, error)) return 0;
        complain(slot, error.c_str());
    } catch (...) {
        complain(slot, "out of memory");
    }
    return 1;
}

CasadiInt casadi_count(int slot, CasadiRole role, bool results) noexcept {
    const std::vector<CasadiPattern>* all = patterns(slot, role, results);
    return all ? static_cast<CasadiInt>(all->size()) : 0;
}

const CasadiInt* casadi_pattern(int slot, CasadiRole role, bool results, CasadiInt place) noexcept {
    const std::vector<CasadiPattern>* all = patterns(slot, role, results);
    const bool there = all && place >= 0 && place < static_cast<CasadiInt>(all->size());
    return there ? (*all)[place].data() : nullptr;
}

const char* casadi_name(int slot, bool results, CasadiInt place) noexcept {
    const CasadiFunction* f = function_of(slot);
    if (!f) return nullptr;
    const std::vector<std::string>& names = results ? f->result_names : f->input_names;
    const bool known = place >= 0 && place < static_cast<CasadiInt>(names.size());
    return known ? names[place].c_str() : nullptr;
}

int casadi_sizes(int slot, CasadiRole role, CasadiInt* arg, CasadiInt* res, CasadiInt* iw,
                 CasadiInt* w) noexcept {
    const CasadiFunction* f = function_of(slot);
    if (!f) {
        complain(slot, "this process has no function of this name; make it here, from its model");
        return 1;
    }
    *arg = casadi_count(slot, role, false);
    *res = casadi_count(slot, role, true);
    *iw = 0;
    *w = static_cast<CasadiInt>(casadi_work(*f, role));
    return 0;
}

void casadi_hold(int number) noexcept {
    Slots& s = slots();
    const std::lock_guard lock(s.mutex);
    Slot& slot = s.all[number];
    ++slot.holders;
    if (slot.maker != std::this_thread::get_id() || !slot.function) slot.lost = true;
    slot.maker = {};
}

void casadi_release(int slot) noexcept { release_casadi_slot(slot); }

}  // namespace dtau
