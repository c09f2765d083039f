// Runs an algorithm over a range of states: run() computes groups of states in lanes
// (run_in_lanes), or one state at a time (run_alone).
#include "batch/run.hpp"

#include <cstring>

#include "batch/lanes.hpp"
#include "batch/mimic_joints.hpp"
#include "batch/robot_code.hpp"
#include "batch/scratch.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr double not_a_number = __builtin_nan("");

// Larger results would leave the caches before anyone reads them, so they bypass the caches.
constexpr std::ptrdiff_t cached_bytes = std::ptrdiff_t(4) << 20;

bool past_caches(const Job& job) {
    std::ptrdiff_t numbers = 0;
    for (int o = 0; o < job.noutputs; ++o) numbers += job.outputs[o].size;
    return job.count * numbers * std::ptrdiff_t(sizeof(double)) > cached_bytes;
}

// Iterates over the states of a job and tracks the address of the current state in every input.
class Cursor {
  public:
    Cursor(const Job& job, std::ptrdiff_t state) : job_(job) {
        for (int i = 0; i < job.ninputs; ++i) inputs_[i] = job.inputs[i].data;
        for (int axis = job.naxes - 1; axis >= 0; --axis) {
            index_[axis] = state % job.shape[axis];
            state /= job.shape[axis];
            move(axis, index_[axis]);
        }
    }
    const char* operator[](int input) const { return inputs_[input]; }

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
            if (inputs_[i]) inputs_[i] += steps * job_.inputs[i].stride[axis];
    }

    const Job& job_;
    const char* inputs_[Job::max_inputs];
    std::ptrdiff_t index_[Job::max_axes];
};

// 0 if all numbers are finite, NaN otherwise. Several sums hide the latency of the additions.
double finite_test(const double* x, std::ptrdiff_t size) {
    constexpr int count = 8;
    double sums[count] = {};
    std::ptrdiff_t k = 0;
    for (; k + count <= size; k += count)
        for (int s = 0; s < count; ++s) sums[s] += x[k + s] * 0.0;
    for (; k < size; ++k) sums[0] += x[k] * 0.0;
    double sum = 0.0;
    for (double s : sums) sum += s;
    return sum;
}

// Scratch memory of a run: the algorithm's workspace, gathered inputs, and results still in lanes.
template <class T>
struct Scratch {
    const void* workspace;
    T* inputs[Job::max_inputs];
    T* outputs[Job::max_outputs];
    JointArguments<T> joints;
    StreamingStore store;

    static Scratch create(const Algorithm<T>& algorithm, const Tree& tree, const Job& job,
                          bool with_outputs) {
        const std::size_t size = bytes(algorithm, tree, job, with_outputs);
        Arena arena(memory(size));
        return Scratch(arena, algorithm, tree, job, with_outputs);
    }
    [[gnu::noinline]] static std::size_t bytes(const Algorithm<T>& algorithm, const Tree& tree,
                                               const Job& job, bool with_outputs) {
        Arena measured;
        Scratch(measured, algorithm, tree, job, with_outputs);
        return measured.used();
    }

  private:
    static void* memory(std::size_t bytes) {
        // Some algorithms read memory that they have not written, without effect on results. A tape
        // records such reads too, so recorded scratch memory begins as zeros.
        if constexpr (std::is_same_v<T, Recorded>)
            return recorded_scratch(bytes);
        else
            return scratch(bytes);
    }
    Scratch(Arena& arena, const Algorithm<T>& algorithm, const Tree& tree, const Job& job,
            bool with_outputs)
        : workspace(algorithm.workspace(arena, tree, job)), joints(arena, tree, job), store(arena) {
        const int groups = groups_at_once<T>(job);
        for (int i = 0; i < job.ninputs; ++i)
            inputs[i] = job.inputs[i].data ? arena.take<T>(groups * job.inputs[i].size) : nullptr;
        for (int o = 0; o < job.noutputs && with_outputs; ++o)
            outputs[o] = arena.take_zeros<T>(groups * StreamingStore::padded(job.outputs[o].size));
    }
};

// Sets the arguments that are the same for all states, and the addresses of the results of state
// `begin`.
template <class T>
Arguments<T> start(const Job& job, std::ptrdiff_t begin) {
    Arguments<T> x;
    x.nonzero = nullptr;
    x.options = job.options;
    x.failure = job.failure;
    for (const T*& in : x.inputs) in = nullptr;
    for (T*& out : x.outputs) out = nullptr;
    x.first = begin;
    x.destination.states = 1;
    x.destination.past_caches = past_caches(job);
    for (int o = 0; o < job.noutputs; ++o) {
        x.destination.size[o] = job.outputs[o].size;
        x.destination.at[o] =
            reinterpret_cast<Number<T>*>(job.outputs[o].data) + begin * job.outputs[o].size;
    }
    return x;
}

template <class T>
void apply(const Algorithm<T>& algorithm, const Tree& tree, const Job& job, const Arguments<T>& x,
           const Scratch<T>& scratch) {
    if (tree.mimic)
        apply_to_joints(algorithm, tree, job, x, scratch.joints, scratch.workspace);
    else
        algorithm.apply(tree, x, scratch.workspace);
}

// Computes the states one at a time. E is also the element type of the arrays.
template <class E>
void run_alone(const Algorithm<E>& algorithm, Results results, const Tree& tree, const Job& job,
               std::ptrdiff_t begin, std::ptrdiff_t end) {
    constexpr int doubles = sizeof(E) / sizeof(double);
    const auto scratch = Scratch<E>::create(algorithm, tree, job, false);
    Arguments<E> x = start<E>(job, begin);
    Cursor cursor(job, begin);
    for (std::ptrdiff_t state = begin; state < end; ++state, cursor.next()) {
        double finite = 0.0;
        for (int i = 0; i < job.ninputs; ++i) {
            const Input& input = job.inputs[i];
            if (!input.data) continue;
            x.inputs[i] = reinterpret_cast<const E*>(cursor[i]);
            if (input.spacing != sizeof(E)) {
                for (int k = 0; k < input.size; ++k)
                    scratch.inputs[i][k] =
                        *reinterpret_cast<const E*>(cursor[i] + k * input.spacing);
                x.inputs[i] = scratch.inputs[i];
            }
            if constexpr (!std::is_same_v<E, Recorded>)
                finite +=
                    finite_test(reinterpret_cast<const double*>(x.inputs[i]), input.size * doubles);
        }
        for (int o = 0; o < job.noutputs; ++o) {
            x.outputs[o] = x.destination.at[o];
            if (results == Results::sparse)
                std::memset(static_cast<void*>(x.outputs[o]), 0, job.outputs[o].size * sizeof(E));
        }
        x.first = state;
        if (finite == 0.0) {
            apply(algorithm, tree, job, x, scratch);
        } else {
            for (int o = 0; o < job.noutputs; ++o)
                for (std::ptrdiff_t k = 0; k < job.outputs[o].size; ++k)
                    x.outputs[o][k] = E(not_a_number);
        }
        for (int o = 0; o < job.noutputs; ++o) x.destination.at[o] += job.outputs[o].size;
    }
}

#if !defined(DTAU_TEST_SCALARS) && !defined(DTAU_RECORDED)
// Finds the addresses of a group of states that begins with `state`. The last state fills the lanes
// beyond it.
void locate(const Job& job, std::ptrdiff_t state, int states, Cursor& cursor,
            const char* (&from)[Job::max_inputs][lanes]) {
    if (job.naxes == 1) {
        for (int i = 0; i < job.ninputs; ++i)
            for (int l = 0; l < lanes && job.inputs[i].data; ++l)
                from[i][l] = job.inputs[i].data +
                             (state + (l < states ? l : states - 1)) * job.inputs[i].stride[0];
        return;
    }
    for (int l = 0; l < lanes; ++l) {
        for (int i = 0; i < job.ninputs; ++i) from[i][l] = cursor[i];
        if (l + 1 < states) cursor.next();
    }
    cursor.next();
}

// Whether all states of a group are finite.
bool is_finite(const Lane& test) {
    double sum = 0.0;
    for (int l = 0; l < lanes; ++l) sum += test.value[l];
    return sum == 0.0;
}

// Computes groups of states in the lanes of vectors. Copies of the last state pad a short group.
void run_in_lanes(const Algorithm<Lane>& algorithm, Results results, const Tree& tree,
                  const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    const auto scratch = Scratch<Lane>::create(algorithm, tree, job, results != Results::streamed);
    Arguments<Lane> x = start<Lane>(job, begin);
    for (int i = 0; i < job.ninputs; ++i) x.inputs[i] = scratch.inputs[i];
    for (int o = 0; o < job.noutputs; ++o) x.outputs[o] = scratch.outputs[o];

    Cursor cursor(job, begin);
    const std::ptrdiff_t most = groups_at_once<Lane>(job) * lanes;
    for (std::ptrdiff_t first = begin; first < end; first += most) {
        const std::ptrdiff_t stop = end - first < most ? end : first + most;
        const auto states_of = [&](int g) {
            const std::ptrdiff_t rest = stop - first - g * lanes;
            return rest < lanes ? static_cast<int>(rest) : lanes;
        };
        Lane finite[RobotCode::most_groups];
        for (int g = 0; first + g * lanes < stop; ++g) {
            const char* from[Job::max_inputs][lanes];
            locate(job, first + g * lanes, states_of(g), cursor, from);
            finite[g] = Lane(0.0);
            for (int i = 0; i < job.ninputs; ++i)
                if (job.inputs[i].data)
                    gather(job.inputs[i], from[i], scratch.inputs[i] + g * job.inputs[i].size,
                           finite[g]);
        }
        x.first = first;
        x.destination.states = static_cast<int>(stop - first);
        NonzeroParts nonzero[Job::max_outputs];
        x.nonzero = nonzero;
        apply(algorithm, tree, job, x, scratch);
        for (int g = 0; first + g * lanes < stop; ++g)
            for (int o = 0; o < job.noutputs; ++o) {
                const std::ptrdiff_t size = job.outputs[o].size;
                const int states = states_of(g);
                double* target = x.destination.at[o];
                x.destination.at[o] += states * size;
                if (results != Results::streamed)
                    leave_group(scratch.outputs[o] + g * StreamingStore::padded(size),
                                scratch.store, results, job.outputs[o], nonzero[o], states,
                                x.destination.past_caches, target);
                if (is_finite(finite[g])) continue;
                for (int l = 0; l < states; ++l)
                    for (std::ptrdiff_t k = 0; finite[g].value[l] != 0.0 && k < size; ++k)
                        target[l * size + k] = not_a_number;
            }
    }
    if (x.destination.past_caches) end_streams();
}

bool one_by_one(const Algorithms& algorithms, const Tree& tree, const Job& job) {
    return job.scalar == ScalarKind::alone || job.count == 1 || !algorithms.in_lanes.apply ||
           (algorithms.one_by_one && algorithms.one_by_one(tree, *job.options));
}
#endif

}  // namespace

void run(const Algorithms& algorithms, const Tree& tree, const Job& job, std::ptrdiff_t begin,
         std::ptrdiff_t end) {
#if defined(DTAU_RECORDED)
    run_alone(algorithms.recorded, algorithms.results, recorded_tree(tree), job, begin, end);
#elif defined(DTAU_TEST_SCALARS)
    if (job.scalar == ScalarKind::complex)
        return run_alone(algorithms.complex, algorithms.results, tree, job, begin, end);
    run_alone(algorithms.counted, algorithms.results, tree, job, begin, end);
#else
    if (job.code && job.count == 1)
        return run_alone(robot_algorithm<double>, Results::dense, without_mimic_joints(tree), job,
                         begin, end);
    if (job.code)
        return run_in_lanes(robot_algorithm<Lane>, results_in_lanes(algorithms),
                            without_mimic_joints(tree), job, begin, end);
    if (one_by_one(algorithms, tree, job))
        return run_alone(algorithms.alone, algorithms.results, tree, job, begin, end);
    run_in_lanes(algorithms.in_lanes, algorithms.results, tree, job, begin, end);
#endif
}

std::size_t scratch_bytes(const Algorithms& algorithms, const Tree& tree, const Job& job) {
#if defined(DTAU_RECORDED)
    return Scratch<Recorded>::bytes(algorithms.recorded, tree, job, false);
#elif defined(DTAU_TEST_SCALARS)
    if (job.scalar == ScalarKind::complex)
        return Scratch<Complex>::bytes(algorithms.complex, tree, job, false);
    return Scratch<Counted>::bytes(algorithms.counted, tree, job, false);
#else
    if (job.code)
        return Scratch<Lane>::bytes(robot_algorithm<Lane>, without_mimic_joints(tree), job, true);
    if (one_by_one(algorithms, tree, job))
        return Scratch<double>::bytes(algorithms.alone, tree, job, false);
    return Scratch<Lane>::bytes(algorithms.in_lanes, tree, job,
                                algorithms.results != Results::streamed);
#endif
}

}  // namespace dtau::DTAU_VARIANT
