// Leaves inactive constraints out of the work: on_active_constraints(), with_contacts(). The algorithm
// sees the constraints that hold in a state, or in any state of a group in lanes, as if there were no
// others. Its inputs for contacts and rows are gathered before, its results spread to all rows after.
//
// A row that does not hold adds nothing but zeros to sums, which can only change the sign of a zero.
// Zeros of a state with an inactive constraint are therefore made positive: the bits of a state do
// not depend on the states beside it. If such a state overflows, zeros of rows that do not hold can
// turn into NaN. It is then computed again without them (Outcome::again).
#pragma once

#include "batch/finite_test.hpp"
#include "dtau/algorithms/constraints/failures.hpp"
#include "registry/function.hpp"

namespace dtau::DTAU_VARIANT {

// In how many lanes a condition is met.
DTAU_INLINE int count_met(std::int64_t met) { return met != 0; }
DTAU_INLINE int count_met(Lane::Bits met) {
    std::int64_t sum = 0;  // a condition that is met is -1
    for (int l = 0; l < lanes; ++l) sum += met[l];
    return static_cast<int>(-sum);
}

// The constraints that hold in the states at hand.
template <class T>
struct ActiveConstraints {
    const Constraints* all;
    Constraints* held;
    Constraint* at;  // (ncontacts) of `held`, if some are left out
    int* numbers;    // (ncontacts) their places among all
    T* room;         // for gathered inputs
    Span* spans;     // (max_outputs, ncontacts)
    Options options;

    ActiveConstraints(Arena& arena, const Options& given)
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
    // Chooses the constraints that hold in some state; returns whether any does not hold in some.
    bool choose(const T* active) const {
        int count = 0;
        bool inactive = false;
        for (int c = 0; c < all->count; ++c) {
            const int off = count_met(less(active[c], 0.5));
            inactive |= off > 0;
            if (off < group_size<T>) numbers[count++] = c;
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
    // Sets rows of a constraint that holds in other lanes alone to zero.
    void clear_inactive(const T* active, T* x, std::ptrdiff_t per) const {
        const Constraint* const held_at = held->at;
        for (int k = 0; k < held->count && group_size<T> > 1; ++k) {
            const auto off = less(active[numbers[k]], 0.5);
            if (count_met(off) == 0) continue;
            T* const rows = x + held_at[k].first * per;
            for (std::ptrdiff_t i = 0; i < held_at[k].count * per; ++i)
                rows[i] = select(off, T(0.0), rows[i]);
        }
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
        std::ptrdiff_t count = 0, end = 0;  // of the rows so far
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
                clear(begin, first);
                spans[count].begin = begin;
            }
            end = first + at[k].count * per;
            spans[count++].end = end;
        }
        const std::ptrdiff_t last = size > block ? size - block : 0;  // read as a block of its own
        const std::ptrdiff_t after = (end + block - 1) / block * block;
        clear(end, after < size ? after : size);
        clear(end > last ? end : last, size);
        return count;
    }
};

template <template <class> class Algorithm>
struct OfActiveConstraints {
    template <class T>
    struct Workspace {
        ActiveConstraints<T> constraints;
        Algorithm<T> algorithm;

        Workspace(Arena& arena, const Tree& tree, const Options& options)
            : constraints(arena, options), algorithm(arena, tree, constraints.options) {}
    };
};

template <class Body>
struct OnActiveConstraints {
    template <class T>
    void operator()(const Tree& tree, const auto& x, const auto& w) const {
        apply<T>(tree, x, w.constraints, w.algorithm);
    }

  private:
    // Parts of the signature. A copy of all of it would fill the library with addresses.
    struct Arrays {
        int ninputs, noutputs, active;
        Axis input_axis[Job::max_inputs], output_axis[Job::max_outputs];  // the first of each
        int per_contact[Job::max_inputs];
        MimicRole as_result[Job::max_outputs];
        bool stacked
            [Job::max_outputs];  // time derivatives, whose rows follow one another for each order
    };
    template <class Inputs, class Outputs>
    static constexpr Arrays describe() {
        Signature s = {};
        Inputs::describe_inputs(s);
        Outputs::describe_outputs(s);
        Arrays arrays = {s.ninputs, s.noutputs, s.active, {}, {}, {}, {}, {}};
        for (int i = 0; i < s.ninputs; ++i) {
            const Quantity& quantity = *s.inputs[i].quantity;
            arrays.input_axis[i] = quantity.axes[0];
            arrays.per_contact[i] = quantity == Quantity::contact_positions ? 3 : 1;
        }
        for (int o = 0; o < s.noutputs; ++o) {
            arrays.output_axis[o] = s.outputs[o].quantity->axes[0];
            arrays.as_result[o] = s.outputs[o].quantity->as_result;
            arrays.stacked[o] = s.outputs[o].rows != not_stacked;
        }
        return arrays;
    }
    template <class T, class Inputs, class Outputs>
    static void apply(const Tree& tree, const NamedArguments<T, Inputs, Outputs>& given,
                      const ActiveConstraints<T>& constraints, const auto& w) {
        static constexpr Arrays arrays = describe<Inputs, Outputs>();
        Arguments<T> x = given.all;
        const auto compute = [&] {
            Body{}.template operator()<T>(
                tree, NamedArguments<T, Inputs, Outputs>{x, constraints.options}, w);
        };
        if constexpr (std::is_same_v<T, Recorded>) {  // which ones hold is not known yet
            compute();
        } else {
            const T* active = arrays.active < 0 ? nullptr : x.inputs[arrays.active];
            const bool inactive = active && constraints.choose(active);
            if (inactive && constraints.some_left_out()) gather(arrays, constraints, x);
            compute();
            if (inactive) spread(tree, arrays, constraints, active, x);
        }
    }
    template <class T>
    static void gather(const Arrays& arrays, const ActiveConstraints<T>& constraints,
                       Arguments<T>& x) {
        T* room = constraints.room;
        for (int i = 0; i < arrays.ninputs; ++i) {
            if (!x.inputs[i]) continue;
            T* const to = room;
            if (arrays.input_axis[i] == Axis::ncontacts)
                room = constraints.gather_contacts(x.inputs[i], arrays.per_contact[i], to);
            if (arrays.input_axis[i] == Axis::nrows)
                room = constraints.gather_rows(x.inputs[i], to);
            if (room != to) x.inputs[i] = to;
        }
    }
    // The size of a result in the coordinates of all joints, given that for the independent ones.
    static std::ptrdiff_t of_joints(const Tree& tree, MimicRole role, std::ptrdiff_t size) {
        if (!tree.mimic || role == MimicRole::other) return size;
        return role == MimicRole::q ? tree.nq : size / tree.mimic->nv * tree.nv;
    }
    template <class T>
    static void spread(const Tree& tree, const Arrays& arrays,
                       const ActiveConstraints<T>& constraints, const T* active,
                       const Arguments<T>& x) {
        T zero(0.0);
        if constexpr (group_size<T> > 1) {  // -0 for a state whose constraints all hold
            zero = T(-0.0);
            for (int c = 0; c < constraints.all->count; ++c)
                zero = select(less(active[c], 0.5), T(0.0), zero);
        }
        FiniteTest<T> finite;
        for (int o = 0; o < arrays.noutputs; ++o) {
            if (!x.outputs[o]) continue;
            const bool of_rows = arrays.output_axis[o] == Axis::nrows;
            const std::ptrdiff_t all = of_joints(tree, arrays.as_result[o], x.destination.size[o]);
            const int held = constraints.held->nrows;
            const std::ptrdiff_t per = of_rows ? all / constraints.all->nrows : all;
            const std::ptrdiff_t count = of_rows ? per * held : all;
            const bool stacked = of_rows && arrays.stacked[o];
            for (std::ptrdiff_t k = 0; k < per && stacked; ++k)
                constraints.clear_inactive(active, x.outputs[o] + k * held, 1);
            if (of_rows && !stacked) constraints.clear_inactive(active, x.outputs[o], per);
            for (std::ptrdiff_t k = 0; k < count; ++k) x.outputs[o][k] = x.outputs[o][k] + zero;
            if constexpr (group_size<T> > 1) finite.add(x.outputs[o], count);
            if (!of_rows || !constraints.some_left_out()) continue;
            if (stacked) {
                constraints.spread_stack(x.outputs[o], per);
                continue;
            }
            if (!x.nonzero || !x.nonzero[o].allowed || constraints.held->nrows == 0 ||
                per < group_size<T>) {
                constraints.spread_rows(x.outputs[o], per);
                continue;
            }
            Span* const spans = constraints.spans + o * constraints.all->count;
            x.nonzero[o].count = constraints.spread_spans(x.outputs[o], per, spans);
            x.nonzero[o].spans = spans;
        }
        for (int l = 0; l < group_size<T> && group_size<T> > 1; ++l)
            if (!finite.is_finite(l) && constraints.any_inactive(active, l))
                x.outcomes->fail(l, Outcome::again);
    }
};

// An algorithm of a function that takes contacts.
template <template <class> class Workspace, KernelTraits traits = KernelTraits{}, class Body>
constexpr Kernel<OfActiveConstraints<Workspace>::template Workspace, traits,
                 OnActiveConstraints<Body>>
    on_active_constraints(Body) {
    return {};
}
// The same where contacts are optional.
template <template <class> class Workspace, KernelTraits traits = KernelTraits{}, class Body>
constexpr WithContacts<decltype(on_active_constraints<Workspace, traits>(Body{}))> with_contacts(
    Body) {
    return {};
}

}  // namespace dtau::DTAU_VARIANT
