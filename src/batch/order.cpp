// Orders the states of a batch by the contacts that are on: order_states(). A stable counting sort brings
// states with the same contacts together. Then either groups of lanes are filled in this order, or the rest of
// states with the same contacts waits in an open group, where it may meet the rest of others. Prices decide.
#include "batch/order.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "batch/scratch.hpp"
#include "dtau/constraints.hpp"
#include "dtau/options.hpp"

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

// Sorts by eight contacts at a time, from `states` to `sorted`.
void sort_by_byte(const State* states, std::ptrdiff_t count, int shift, State* sorted) {
    std::ptrdiff_t places[256] = {};
    const auto byte = [&](const State& s) { return s.on >> shift & 255; };
    for (std::ptrdiff_t k = 0; k < count; ++k) ++places[byte(states[k])];
    std::ptrdiff_t place = 0;
    for (std::ptrdiff_t& first : places) place += std::exchange(first, place);
    for (std::ptrdiff_t k = 0; k < count; ++k) sorted[places[byte(states[k])]++] = states[k];
}

constexpr int most_lanes = 8;

struct Group {
    std::uint64_t on;  // in any of its states
    int size;
    std::ptrdiff_t states[most_lanes];
};

// Estimates of time.
struct Prices {
    const Constraints& contacts;
    std::ptrdiff_t nv;
    int lanes, few;  // states, of which so many are computed alone

    // Of a group whose contacts are these. Fitted to dynamics and derivatives of robots with 18 and 50
    // velocities, on 0 to 48 rows.
    std::ptrdiff_t of_lanes(std::uint64_t on) const {
        std::ptrdiff_t rows = 0;
        for (; on != 0; on &= on - 1) rows += contacts.at[std::countr_zero(on)].count;
        return 64 * nv + (128 + rows) * rows;
    }
    std::ptrdiff_t of(std::uint64_t on, std::ptrdiff_t states) const {
        return states <= few ? of_lanes(on) * states / (few + 1) : of_lanes(on);
    }
};

// Whether another order saves more than estimates err.
bool is_worthwhile(std::ptrdiff_t price, std::ptrdiff_t other) {
    return 16 * (price - other) > price;
}

// The price of states in their order.
std::ptrdiff_t price_of(const State* states, std::ptrdiff_t count, const Prices& prices) {
    std::ptrdiff_t sum = 0;
    for (std::ptrdiff_t first = 0; first < count; first += prices.lanes) {
        const std::ptrdiff_t size = std::min<std::ptrdiff_t>(count - first, prices.lanes);
        std::uint64_t any = 0;
        for (std::ptrdiff_t k = first; k < first + size; ++k) any |= states[k].on;
        sum += prices.of(any, size);
    }
    return sum;
}
// A bound of the price in any order.
std::ptrdiff_t least_price(const State* states, std::ptrdiff_t count, const Prices& prices) {
    std::ptrdiff_t sum = 0, price = 0;
    for (std::ptrdiff_t k = 0; k < count; ++k) {
        if (k == 0 || states[k].on != states[k - 1].on) price = prices.of_lanes(states[k].on);
        sum += price;
    }
    return sum / prices.lanes;
}
// Writes the places of states in their order.
void keep_order(const State* states, std::ptrdiff_t count, const Prices& prices, Place* places) {
    const std::ptrdiff_t rest = count % prices.lanes;
    for (std::ptrdiff_t k = 0; k < count; ++k) {
        const bool alone = rest <= prices.few && k >= count - rest;
        places[k] = {states[k].number, alone || k % prices.lanes == 0, alone};
    }
}

// Makes groups of sorted states, and writes them to their places: whole groups from the front, states out of
// lanes from the back.
class Grouping {
  public:
    Grouping(const Prices& prices, Place* front, Place* back)
        : prices_(prices), front_(front), back_(back) {}

    std::ptrdiff_t price() const { return price_; }

    // Adds states with the same contacts.
    void add(const State* states, std::ptrdiff_t count) {
        const std::ptrdiff_t rest = count % prices_.lanes;
        for (; count > rest; count -= prices_.lanes, states += prices_.lanes) {
            Group whole = {states->on, 0, {}};
            append(states, prices_.lanes, whole);
            leave(whole);
        }
        if (rest > 0) add_rest(states, static_cast<int>(rest));
    }
    void leave_open() {
        for (int g = 0; g < nopen_; ++g) leave(open_[g]);
        nopen_ = 0;
    }

  private:
    static constexpr int most_open = 8;

    static void append(const State* states, int count, Group& group) {
        for (int k = 0; k < count; ++k) group.states[group.size++] = states[k].number;
        group.on |= states->on;
    }
    // Joins the open group where this saves most, or opens another one in place of the oldest.
    void add_rest(const State* states, int count) {
        const std::uint64_t on = states->on;
        const std::ptrdiff_t apart = prices_.of(on, count);
        std::ptrdiff_t most = 0;
        Group* best = nullptr;
        for (Group* g = open_; g < open_ + nopen_; ++g) {
            const int size = g->size + count;
            if (size > prices_.lanes) continue;
            const std::ptrdiff_t saved =
                prices_.of(g->on, g->size) + apart - prices_.of(g->on | on, size);
            if (saved > most) most = saved, best = g;
        }
        if (!best && nopen_ == most_open) {
            leave(open_[0]);
            std::copy(open_ + 1, open_ + nopen_--, open_);
        }
        if (!best) {
            best = open_ + nopen_++;
            *best = {on, 0, {}};
        }
        append(states, count, *best);
    }
    void leave(const Group& group) {
        price_ += prices_.of(group.on, group.size);
        const bool alone = group.size <= prices_.few;
        for (int k = 0; k < group.size; ++k)
            *(alone ? --back_ : front_++) = {group.states[k], alone || k == 0, alone};
    }

    const Prices& prices_;
    Place *front_, *back_;
    Group open_[most_open];
    int nopen_ = 0;
    std::ptrdiff_t price_ = 0;
};

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

bool order_states(const Tree& tree, const Job& job, int lanes, std::ptrdiff_t begin, Place* order) {
    const std::ptrdiff_t count = std::min(job.count - begin, order_window);
    State* states = static_cast<State*>(scratch(order_scratch_bytes(count)));
    State* sorted = states + count;
    read_active(job, begin, count, states);
    std::uint64_t all = ~std::uint64_t(0), any = 0;
    for (std::ptrdiff_t k = 0; k < count; ++k) all &= states[k].on, any |= states[k].on;
    const Prices prices = {*job.options->contacts, tree.nv, lanes, few_states(job, lanes)};
    const std::ptrdiff_t unchanged = all == any ? 0 : price_of(states, count, prices);
    if (all == any || !is_worthwhile(unchanged, least_price(states, count, prices))) {
        keep_order(states, count, prices, order + begin);
        return false;
    }
    for (int shift = 0; shift < 64; shift += 8)
        if (((any ^ all) >> shift & 255) != 0) {
            sort_by_byte(states, count, shift, sorted);
            std::swap(states, sorted);
        }
    Grouping grouping(prices, order + begin, order + begin + count);
    for (std::ptrdiff_t k = 0, next; k < count; k = next) {
        for (next = k + 1; next < count && states[next].on == states[k].on;) ++next;
        grouping.add(states + k, next - k);
    }
    grouping.leave_open();
    const std::ptrdiff_t price = price_of(states, count, prices);
    if (is_worthwhile(std::min(price, unchanged), grouping.price())) return true;
    const bool changes = is_worthwhile(unchanged, price);
    if (!changes) read_active(job, begin, count, states);
    keep_order(states, count, prices, order + begin);
    return changes;
}

}  // namespace dtau
