// Leaves inactive constraints out of the work: on_active_constraints(), with_contacts(). The algorithm
// sees the constraints that hold in a state, or in any state of a group in lanes, as if there were no
// others. Its inputs for contacts and rows are gathered before, its results spread to all rows after.
//
// A row that does not hold is zero in results, and adds nothing but zeros to sums, which can only
// change the sign of a zero. Zeros of a state with an inactive constraint are therefore made positive:
// the bits of a state do not depend on the states beside it. If such a state overflows, zeros of rows
// that do not hold can turn into NaN. It is then computed again without them (Outcome::again). In most
// groups, the same constraints hold in all states (batch/order.hpp), which need none of this but the
// sign.
#pragma once

#include "batch/finite_test.hpp"
#include "registry/held_constraints.hpp"

namespace dtau::DTAU_VARIANT {

template <template <class> class Algorithm> struct OfActiveConstraints {
    template <class T> struct Workspace {
        HeldConstraints<T> constraints;
        Algorithm<T> algorithm;

        Workspace(Arena& arena, const Tree& tree, const Options& options)
            : constraints(arena, options), algorithm(arena, tree, constraints.options) {}
    };
};

template <class Body> struct OnActiveConstraints {
    template <class T> void operator()(const Tree& tree, const auto& x, const auto& w) const {
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
    template <class Inputs, class Outputs> static constexpr Arrays describe() {
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
                      const HeldConstraints<T>& constraints, const auto& w) {
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
            const Inactive inactive = active ? constraints.choose(active) : Inactive{};
            if (inactive.any && constraints.some_left_out()) gather(arrays, constraints, x);
            compute();
            if (inactive.any) spread(tree, arrays, constraints, active, inactive.differ, x);
        }
    }
    template <class T>
    static void gather(const Arrays& arrays, const HeldConstraints<T>& constraints,
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
                       const HeldConstraints<T>& constraints, const T* active, bool differ,
                       const Arguments<T>& x) {
        T zero(differ ? -0.0 : 0.0);  // -0 for a state whose constraints all hold
        for (int c = 0; c < constraints.all->count && differ; ++c)
            zero = select(less(active[c], 0.5), T(0.0), zero);
        FiniteTest<T> finite;
        for (int o = 0; o < arrays.noutputs; ++o) {
            if (!x.outputs[o]) continue;
            const bool of_rows = arrays.output_axis[o] == Axis::nrows;
            const std::ptrdiff_t all = of_joints(tree, arrays.as_result[o], x.destination.size[o]);
            const int held = constraints.held->nrows;
            const std::ptrdiff_t per = of_rows ? all / constraints.all->nrows : all;
            const std::ptrdiff_t count = of_rows ? per * held : all;
            const bool stacked = of_rows && arrays.stacked[o];
            if (!differ && !tree.mimic && x.nonzero && x.nonzero[o].allowed)
                x.nonzero[o].positive_zeros = true;
            else
                for (std::ptrdiff_t k = 0; k < count; ++k) x.outputs[o][k] = x.outputs[o][k] + zero;
            if (differ) finite.add(x.outputs[o], count);
            if (!of_rows || !constraints.some_left_out()) continue;
            if (stacked) {
                constraints.spread_stack(x.outputs[o], per);
                continue;
            }
            if (!x.nonzero || !x.nonzero[o].allowed || constraints.held->nrows == 0 ||
                all < group_size<T>) {
                constraints.spread_rows(x.outputs[o], per);
                continue;
            }
            Span* const spans = constraints.spans + o * constraints.all->count;
            x.nonzero[o].count = constraints.spread_spans(x.outputs[o], per, spans);
            x.nonzero[o].spans = spans;
        }
        for (int l = 0; l < group_size<T> && differ; ++l)
            if (!finite.is_finite(l) && constraints.any_inactive(active, l))
                x.outcomes->fail(l, Outcome::again);
    }
};

// An algorithm of a function that takes contacts.
template <template <class> class Workspace, KernelTraits traits = KernelTraits{}, class Body>
constexpr Kernel<OfActiveConstraints<Workspace>::template Workspace, traits,
                 OnActiveConstraints<Body>>
    on_active_constraints(Body) {
    static_assert(traits.results != Results::streamed, "writes states that have other places");
    return {};
}
// The same where contacts are optional.
template <template <class> class Workspace, KernelTraits traits = KernelTraits{}, class Body>
constexpr WithContacts<decltype(on_active_constraints<Workspace, traits>(Body{}))> with_contacts(
    Body) {
    return {};
}

}  // namespace dtau::DTAU_VARIANT
