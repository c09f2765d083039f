// Inputs: q, v, a or tau, f_ext. Outputs: the four tensors, dense (nv, nv, nv), or packed.
#include "dtau/algorithms/second/forward_tensors.hpp"
#include "dtau/algorithms/second/unpack.hpp"
#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {

// Results of a call that are larger, and would leave the caches before they are read, go past them.
constexpr std::ptrdiff_t cached_bytes = std::ptrdiff_t(4) << 20;

// A group of states whose packed tensors are larger is slower in lanes than one state at a time: on
// their way to dense ones they leave the caches.
constexpr std::ptrdiff_t group_bytes = std::ptrdiff_t(2) << 20;

inline bool past_caches(const Job& job) {
    return 4 * job.count * job.out[0].size * std::ptrdiff_t(sizeof(double)) > cached_bytes;
}

template <class T>
struct PackedWorkspace {
    InverseSecondWorkspace<T> second;
    typename PackedRows<T>::Memory rows;

    PackedWorkspace(Arena& arena, const Tree& tree)
        : second(arena, tree), rows(arena, tree.dofs.max_depth + 1) {}
};

// With room for the packed tensors of a group of states, of all joints.
template <class T>
struct UnpackingWorkspace : PackedWorkspace<T> {
    std::ptrdiff_t size;
    Number<T>* packed[4];
    std::ptrdiff_t *begin, *independent_begin;  // of the groups
    int *path, *run;                            // neighbours on the path that end with a column
    Number<T>* slab[4];

    UnpackingWorkspace(Arena& arena, const Tree& tree)
        : PackedWorkspace<T>(arena, tree),
          size(packed_size(tree.dofs)),
          begin(arena.take<std::ptrdiff_t>(tree.nv)),
          independent_begin(arena.take<std::ptrdiff_t>(tree.independent.n)),
          path(arena.take<int>(tree.nv)),
          run(arena.take<int>(tree.nv)) {
        for (Number<T>*& x : slab)
            x = arena.take<Number<T>>(std::ptrdiff_t(tree.nv) * tree.nv + cache_line);
        for (Number<T>*& x : packed) x = arena.take<Number<T>>(size * PackedRows<T>::group);
        if (begin) packed_groups(tree.dofs, begin);
        if (begin) path_runs(tree.dofs, run);
        if (begin) packed_groups(tree.independent, independent_begin);
    }
};

// To the four arrays `to` of the first state, in which states are `size` numbers apart.
template <class T>
void packed_tensors(const Tree& tree, const Job& job, const Arguments<T>& x,
                    const PackedWorkspace<T>& w, std::ptrdiff_t size, bool streams,
                    Number<T>* const (&to)[4]) {
    PackedRows<T> rows(w.rows, x.states, size, streams, to);
    idsva_so(tree, x.in[0], x.in[1], x.in[2], x.in[3], job.symmetric, w.second, rows);
    rows.finish();
}

// The tensors of one state from the packed ones of all joints.
template <class T>
void write_tensors(const Tree& tree, const Job& job, const Number<T>* const (&packed)[4],
                   const UnpackingWorkspace<T>& w, Number<T>* const (&to)[4]) {
    using N = Number<T>;
    if (!tree.coupling)
        return unpack(tree.dofs, w.begin, w.run, packed, w.slab, past_caches(job), to);
    const std::ptrdiff_t n = tree.independent.n;
    for (int o = 0; o < 4; ++o) {
        for (std::ptrdiff_t e = 0; e < job.out[o].size; ++e) to[o][e] = N(0.0);
        const N* next = packed[o];
        for_packed_entries(tree, w.path, [&](int i, int j, int k, double scale) {
            N& entry =
                to[o][job.packed ? packed_place(tree.independent, w.independent_begin, i, j, k)
                                 : (i * n + j) * n + k];
            entry = fma(N(scale), *next++, entry);
        });
    }
}

// The four results of a state.
template <class N>
struct StateResults {
    N* at[4];

    StateResults(const Job& job, std::ptrdiff_t state) {
        for (int o = 0; o < 4; ++o)
            at[o] = reinterpret_cast<N*>(job.out[o].data) + state * job.out[o].size;
    }
};

void inverse_dynamics_second_derivatives(const Tree& tree, const Job& job, std::ptrdiff_t begin,
                                         std::ptrdiff_t end) {
    if (job.packed && !tree.coupling)
        return run<Results::streamed, PackedWorkspace>(
            tree, job, begin, end,
            [&]<class T>(const Arguments<T>& x, const PackedWorkspace<T>& w) {
                const StateResults<Number<T>> results(job, x.state);
                packed_tensors(tree, job, x, w, job.out[0].size, past_caches(job), results.at);
            });
    const auto unpacked = [&]<class T>(const Arguments<T>& x, const UnpackingWorkspace<T>& w) {
        packed_tensors(tree, job, x, w, w.size, false, w.packed);
        for (int l = 0; l < x.states; ++l) {
            const Number<T>* packed[4];
            for (int o = 0; o < 4; ++o) packed[o] = w.packed[o] + l * w.size;
            const StateResults<Number<T>> results(job, x.state + l);
            write_tensors<T>(tree, job, packed, w, results.at);
        }
    };
    const std::ptrdiff_t group = 4 * lanes * packed_size(tree.dofs) * sizeof(double);
    if (group > group_bytes)
        return run_each<Results::streamed, UnpackingWorkspace>(tree, job, begin, end, unpacked);
    run<Results::streamed, UnpackingWorkspace>(tree, job, begin, end, unpacked);
}

void forward_dynamics_second_derivatives(const Tree& tree, const Job& job, std::ptrdiff_t begin,
                                         std::ptrdiff_t end) {
    run_each<Results::dense, ForwardSecondWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const ForwardSecondWorkspace<T>& w) {
            forward_second_derivatives(tree, x.in[0], x.in[1], x.in[2], x.in[3], job.symmetric,
                                       {x.out[0], x.out[1], x.out[2], x.out[3]}, w);
        });
}

}  // namespace dtau::DTAU_VARIANT
