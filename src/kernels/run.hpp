// Runs an algorithm over a range of a job's states, in groups of lanes or one by one.
//
// A state in which any given number is not finite gets NaN in all its results and spoils no other.
#pragma once

#include "dtau/arena.hpp"
#include "job.hpp"
#include "scratch.hpp"

namespace dtau::DTAU_VARIANT {

// Walks over the states of a job and keeps, for every input, where the current state lies.
class Cursor {
  public:
    Cursor(const Job& job, std::ptrdiff_t state) : job_(job) {
        for (int i = 0; i < job.ninputs; ++i) position_[i] = job.in[i].data;
        for (int axis = job.naxes - 1; axis >= 0; --axis) {
            index_[axis] = state % job.shape[axis];
            state /= job.shape[axis];
            move(axis, index_[axis]);
        }
    }
    const char* operator[](int input) const { return position_[input]; }

    void next() {
        for (int axis = job_.naxes - 1; axis >= 0; --axis) {
            if (++index_[axis] < job_.shape[axis]) return move(axis, 1);
            move(axis, 1 - index_[axis]);
            index_[axis] = 0;
        }
    }

  private:
    void move(int axis, std::ptrdiff_t steps) {
        for (int i = 0; i < job_.ninputs; ++i)
            if (position_[i]) position_[i] += steps * job_.in[i].stride[axis];
    }

    const Job& job_;
    const char* position_[Job::max_inputs];
    std::ptrdiff_t index_[Job::max_axes];
};

// 0 if all numbers are finite, NaN otherwise.
inline double finite_test(const double* x, int size) {
    double sum = 0.0;
    for (int k = 0; k < size; ++k) sum += x[k] * 0.0;
    return sum;
}
inline double finite_test(const Complex* x, int size) {
    return finite_test(reinterpret_cast<const double*>(x), 2 * size);
}

// One state, or one group of states, as an algorithm sees it.
template <class T>
struct Arguments {
    const T* in[Job::max_inputs];
    T* out[Job::max_outputs];
};

// Scratch of a run: gathered inputs, scattered outputs where they need it, the algorithm's
// workspace.
template <class T, template <class> class Workspace>
struct Scratch {
    T* in[Job::max_inputs];
    T* out[Job::max_outputs];
    Workspace<T> workspace;
    std::size_t bytes;

    Scratch(Arena arena, const Tree& tree, const Job& job, bool with_outputs)
        : Scratch(arena, tree, job, with_outputs, 0) {}

    static Scratch create(const Tree& tree, const Job& job, bool with_outputs) {
        const Scratch measured(Arena(), tree, job, with_outputs);
        return Scratch(Arena(scratch(measured.bytes)), tree, job, with_outputs);
    }

  private:
    Scratch(Arena& arena, const Tree& tree, const Job& job, bool with_outputs, int)
        : workspace(arena, tree) {
        for (int i = 0; i < job.ninputs; ++i)
            in[i] = job.in[i].data ? arena.take<T>(job.in[i].size) : nullptr;
        for (int o = 0; o < job.noutputs; ++o)
            out[o] = with_outputs ? arena.take<T>(job.out[o].size) : nullptr;
        bytes = arena.used();
    }
};

inline constexpr double not_a_number = __builtin_nan("");

// One state at a time. E is also the element type of the arrays.
template <class E, template <class> class Workspace, class Algorithm>
void run_alone(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end,
               const Algorithm& algorithm) {
    const auto scratch = Scratch<E, Workspace>::create(tree, job, false);
    Cursor cursor(job, begin);
    for (std::ptrdiff_t state = begin; state < end; ++state, cursor.next()) {
        Arguments<E> arguments;
        double finite = 0.0;
        for (int i = 0; i < job.ninputs; ++i) {
            const Input& input = job.in[i];
            arguments.in[i] = nullptr;
            if (!input.data) continue;
            arguments.in[i] = reinterpret_cast<const E*>(cursor[i]);
            if (input.spacing != sizeof(E)) {
                for (int k = 0; k < input.size; ++k)
                    scratch.in[i][k] = *reinterpret_cast<const E*>(cursor[i] + k * input.spacing);
                arguments.in[i] = scratch.in[i];
            }
            finite += finite_test(arguments.in[i], input.size);
        }
        for (int o = 0; o < job.noutputs; ++o)
            arguments.out[o] = reinterpret_cast<E*>(job.out[o].data) + state * job.out[o].size;
        if (finite == 0.0) {
            algorithm(arguments, scratch.workspace);
        } else {
            for (int o = 0; o < job.noutputs; ++o)
                for (std::ptrdiff_t k = 0; k < job.out[o].size; ++k)
                    arguments.out[o][k] = E(not_a_number);
        }
    }
}

// Groups of states in the lanes of vectors. A short group is padded with copies of its last state.
template <template <class> class Workspace, class Algorithm>
void run_in_lanes(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end,
                  const Algorithm& algorithm) {
    const auto scratch = Scratch<Lane, Workspace>::create(tree, job, true);
    Arguments<Lane> arguments;
    for (int i = 0; i < job.ninputs; ++i) arguments.in[i] = scratch.in[i];
    for (int o = 0; o < job.noutputs; ++o) arguments.out[o] = scratch.out[o];

    Cursor cursor(job, begin);
    for (std::ptrdiff_t state = begin; state < end; state += lanes) {
        const int states = end - state < lanes ? static_cast<int>(end - state) : lanes;
        double finite[lanes] = {};
        for (int l = 0; l < lanes; ++l) {
            for (int i = 0; i < job.ninputs; ++i) {
                if (!job.in[i].data) continue;
                double* column = reinterpret_cast<double*>(scratch.in[i]) + l;
                for (int k = 0; k < job.in[i].size; ++k) {
                    const double x =
                        *reinterpret_cast<const double*>(cursor[i] + k * job.in[i].spacing);
                    column[k * lanes] = x;
                    finite[l] += x * 0.0;
                }
            }
            if (l + 1 < states) cursor.next();
        }
        cursor.next();
        algorithm(arguments, scratch.workspace);
        for (int o = 0; o < job.noutputs; ++o) {
            const std::ptrdiff_t size = job.out[o].size;
            for (int l = 0; l < states; ++l) {
                double* target = reinterpret_cast<double*>(job.out[o].data) + (state + l) * size;
                const double* column = reinterpret_cast<const double*>(scratch.out[o]) + l;
                for (std::ptrdiff_t k = 0; k < size; ++k)
                    target[k] = finite[l] == 0.0 ? column[k * lanes] : not_a_number;
            }
        }
    }
}

// Algorithm: callable with (Arguments<T>, Workspace<T>) for T double, Lane and complex.
template <template <class> class Workspace, class Algorithm>
void run(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end,
         const Algorithm& algorithm) {
    if (job.element == Element::real) {
        if (end - begin == 1)
            run_alone<double, Workspace>(tree, job, begin, end, algorithm);
        else
            run_in_lanes<Workspace>(tree, job, begin, end, algorithm);
    }
#ifdef DTAU_WITH_COMPLEX
    else
        run_alone<Complex, Workspace>(tree, job, begin, end, algorithm);
#endif
}

// Scratch for algorithms that need none.
template <class T>
struct NoWorkspace {
    NoWorkspace(Arena&, const Tree&) {}
};

}  // namespace dtau::DTAU_VARIANT
