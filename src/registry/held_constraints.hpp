// Chooses the constraints that hold in some state at hand, and moves rows between these and all of them:
// HeldConstraints.
#pragma once

#include "dtau/algorithms/constraints/failures.hpp"
#include "registry/function.hpp"

namespace dtau::DTAU_VARIANT {

// A bit where a condition is met, for each state.
DTAU_INLINE std::int64_t bit_where(std::int64_t met, std::int64_t bit) { return met ? bit : 0; }
DTAU_INLINE Lane::Bits bit_where(Lane::Bits met, std::int64_t bit) { return met & bit; }
DTAU_INLINE std::int64_t bits_of_state(std::int64_t bits, int) { return bits; }
DTAU_INLINE std::int64_t bits_of_state(Lane::Bits bits, int l) { return bits[l]; }

// Whether some constraints do not hold in some states, and whether the states differ in this.
struct Inactive {
    bool any = false, differ = false;
};

// The constraints that hold in the states at hand.
template <class T> struct HeldConstraints {
    const Constraints* all;
    Constraints* held;
    Constraint* at;  // (ncontacts) of `held`, if some are left out
    int* numbers;    // (ncontacts) their places among all
    T* room;         // for gathered inputs
    Span* spans;     // (max_outputs, ncontacts)
    Options options;

    HeldConstraints(Arena& arena, const Options& given)
        : all(given.contacts),
          held(arena.take<Constraints>(1)),
          at(arena.take<Constraint>(all->count)),
          numbers(arena.take<int>(all->count)),
          room(arena.take<T>(4 * all->count + all->nrows)),
          spans(arena.take<Span>(Job::max_outputs * all->count)),
          options(given) {
        if (!held) return;
        *held = *all;
        options.contacts = held;
    }
    bool some_left_out() const { return held->count < all->count; }
    // Chooses the constraints that hold in some state.
    Inactive choose(const T* active) const {
        int count = 0;
        Inactive inactive;
        for (int first = 0, end; first < all->count; first = end) {
            end = first + 64 < all->count ? first + 64 : all->count;
            decltype(less(*active, 0.5)) off = {};
            for (int c = first; c < end; ++c)
                off |=
                    bit_where(less(active[c], 0.5), std::int64_t(std::uint64_t(1) << (c - first)));
            std::uint64_t everywhere = ~std::uint64_t(0), anywhere = 0;
            for (int l = 0; l < group_size<T>; ++l) {
                const std::uint64_t bits = bits_of_state(off, l);
                everywhere &= bits, anywhere |= bits;
            }
            inactive.any |= anywhere != 0, inactive.differ |= everywhere != anywhere;
            for (int c = first; c < end; ++c, everywhere >>= 1)
                if ((everywhere & 1) == 0) numbers[count++] = c;
        }
        *held = *all;
        if (count == all->count) return inactive;
        held->count = count, held->nrows = 0, held->at = at;
        for (int k = 0; k < count; ++k) {
            at[k] = all->at[numbers[k]];
            at[k].first = held->nrows;
            held->nrows += at[k].count;
        }
        return inactive;
    }
    // Numbers of contacts, and of rows, without those left out.
    T* gather_contacts(const T* from, int per, T* to) const {
        for (int k = 0; k < held->count; ++k)
            for (int i = 0; i < per; ++i) *to++ = from[numbers[k] * per + i];
        return to;
    }
    T* gather_rows(const T* from, T* to) const {
        for (int k = 0; k < held->count; ++k)
            for (int r = 0; r < at[k].count; ++r) *to++ = from[all->at[numbers[k]].first + r];
        return to;
    }
    // Whether a constraint that does not hold in a lane is there for the sake of others.
    bool any_inactive(const T* active, int lane) const {
        for (int k = 0; k < held->count; ++k)
            if (number_of_state(active[numbers[k]], lane) < 0.5) return true;
        return false;
    }
    // Moves rows of `per` numbers to their places among all, the last ones first, and fills those left
    // out with zeros.
    void spread_rows(T* x, std::ptrdiff_t per) const {
        int k = held->count - 1;
        for (int c = all->count - 1; c >= 0; --c) {
            const Constraint& constraint = all->at[c];
            const bool holds = k >= 0 && numbers[k] == c;
            const T* from = x + (holds ? at[k].first : 0) * per;
            for (int r = constraint.count - 1; r >= 0; --r) {
                T* const to = x + (constraint.first + r) * per;
                for (std::ptrdiff_t i = 0; i < per; ++i) to[i] = holds ? from[r * per + i] : T(0.0);
            }
            k -= holds;
        }
    }
    // The same for a stack of so many orders, one behind the other.
    void spread_stack(T* x, std::ptrdiff_t orders) const {
        for (std::ptrdiff_t k = orders - 1; k >= 0; --k) {
            const T* const from = x + k * held->nrows;
            T* const to = x + k * all->nrows;
            for (int r = held->nrows - 1; r >= 0; --r) to[r] = from[r];
            spread_rows(to, 1);
        }
    }
    // Spreads rows of `per` numbers with zeros only beside the rows that hold, which `spans` (ncontacts) then has, in whole
    // blocks of lanes. Returns their number.
    std::ptrdiff_t spread_spans(T* x, std::ptrdiff_t per, Span* spans) const {
        constexpr std::ptrdiff_t block = group_size<T>;
        const std::ptrdiff_t size = all->nrows * per;
        for (int k = held->count - 1; k >= 0; --k) {
            const std::ptrdiff_t to = all->at[numbers[k]].first * per, from = at[k].first * per;
            for (std::ptrdiff_t i = at[k].count * per - 1; i >= 0 && to != from; --i)
                x[to + i] = x[from + i];
        }
        const std::ptrdiff_t last = size > block ? size - block : 0;  // read as a block of its own
        std::ptrdiff_t count = 0, end = 0;                            // of the rows so far
        const auto clear = [&](std::ptrdiff_t i, std::ptrdiff_t stop) {
            for (; i < stop; ++i) x[i] = T(0.0);
        };
        for (int k = 0; k < held->count; ++k) {
            const std::ptrdiff_t first = all->at[numbers[k]].first * per;
            const std::ptrdiff_t begin = first / block * block;
            const std::ptrdiff_t after = (end + block - 1) / block * block;
            if (count > 0 && begin <= after) {
                clear(end, first);
                --count;
            } else {
                clear(end, after < size ? after : size);
                const std::ptrdiff_t from = begin < last ? begin : last;
                clear(end > from ? end : from, first);
                spans[count].begin = begin;
            }
            end = first + at[k].count * per;
            spans[count++].end = end;
        }
        const std::ptrdiff_t after = (end + block - 1) / block * block;
        clear(end, after < size ? after : size);
        clear(end > last ? end : last, size);
        return count;
    }
};

}  // namespace dtau::DTAU_VARIANT
