// Orders the states of a batch by the contacts that are on, with a stable counting sort: order_states().
#include "batch/order.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "batch/scratch.hpp"

namespace dtau {
namespace {

struct State {
    std::uint64_t on;  // one bit for each of the first 64 contacts
    std::ptrdiff_t number;
};

// The contacts that are on in the states from `begin` on.
void read_active(const Job& job, std::ptrdiff_t begin, std::ptrdiff_t count, State* states) {
    const Input& active = job.inputs[job.active];
    const int size = std::min(active.size, 64), last = job.naxes - 1;
    const std::ptrdiff_t inner = job.shape[last], stride = active.stride[last];
    for (std::ptrdiff_t k = 0; k < count;) {
        std::ptrdiff_t left = (begin + k) / inner;
        std::ptrdiff_t column = (begin + k) % inner;
        const char* row = active.data;
        for (int axis = last - 1; axis >= 0; --axis) {
            row += left % job.shape[axis] * active.stride[axis];
            left /= job.shape[axis];
        }
        for (; column < inner && k < count; ++column, ++k) {
            const char* at = row + column * stride;
            std::uint64_t on = 0;
            for (int i = 0; i < size; ++i, at += active.spacing)
                on |= std::uint64_t(!(*reinterpret_cast<const double*>(at) < 0.5)) << i;
            states[k] = {on, begin + k};
        }
    }
}

// Sum over groups of `lanes` states of the number of contacts that are on in any state of the group.
std::ptrdiff_t work_of_groups(const State* states, std::ptrdiff_t count, int lanes) {
    std::ptrdiff_t sum = 0;
    for (std::ptrdiff_t first = 0; first < count; first += lanes) {
        std::uint64_t any = 0;
        for (std::ptrdiff_t k = first; k < count && k < first + lanes; ++k) any |= states[k].on;
        sum += std::popcount(any);
    }
    return sum;
}

// Sorts by eight contacts at a time, from `states` to `sorted`.
void sort_by_byte(const State* states, std::ptrdiff_t count, int shift, State* sorted) {
    std::ptrdiff_t places[256] = {};
    const auto byte = [&](const State& s) { return s.on >> shift & 255; };
    for (std::ptrdiff_t k = 0; k < count; ++k) ++places[byte(states[k])];
    std::ptrdiff_t place = 0;
    for (std::ptrdiff_t& first : places) place += std::exchange(first, place);
    for (std::ptrdiff_t k = 0; k < count; ++k) sorted[places[byte(states[k])]++] = states[k];
}

}  // namespace

bool may_order(const Job& job) {
    if (job.active < 0 || !job.inputs[job.active].data) return false;
    if (job.count == 1 || job.code || job.scalar != ScalarKind::real) return false;
    for (int axis = 0; axis < job.naxes; ++axis)
        if (job.shape[axis] > 1 && job.inputs[job.active].stride[axis] != 0) return true;
    return false;
}

std::size_t order_scratch_bytes(std::ptrdiff_t count) {
    return 2 * std::min(count, order_window) * sizeof(State);
}

bool order_states(const Job& job, int lanes, std::ptrdiff_t begin, std::ptrdiff_t* order) {
    const std::ptrdiff_t count = std::min(job.count - begin, order_window);
    State* states = static_cast<State*>(scratch(order_scratch_bytes(count)));
    State* sorted = states + count;
    read_active(job, begin, count, states);
    std::uint64_t all = ~std::uint64_t(0), any = 0;
    std::ptrdiff_t least = 0;
    for (std::ptrdiff_t k = 0; k < count; ++k) {
        all &= states[k].on, any |= states[k].on;
        least += std::popcount(states[k].on);
    }
    const auto worthwhile = [&](std::ptrdiff_t saved, std::ptrdiff_t work) {
        return 16 * saved > work;
    };
    const std::ptrdiff_t work = work_of_groups(states, count, lanes);
    bool changes = worthwhile(work - least / lanes, work);
    if (changes) {
        for (int shift = 0; shift < 64; shift += 8)
            if (((any ^ all) >> shift & 255) != 0) {
                sort_by_byte(states, count, shift, sorted);
                std::swap(states, sorted);
            }
        changes = worthwhile(work - work_of_groups(states, count, lanes), work);
    }
    for (std::ptrdiff_t k = 0; k < count; ++k)
        order[begin + k] = changes ? states[k].number : begin + k;
    return changes;
}

}  // namespace dtau
