// Inputs: q, v, a or tau, f_ext. Outputs: the four tensors, dense (nv, nv, nv), or packed.
#include "dtau/algorithms/forward_second_derivatives.hpp"
#include "kernels/run.hpp"

namespace dtau::DTAU_VARIANT {

// What a state's numbers are outside lanes.
template <class T>
struct StateNumber {
    using Type = T;
};
template <>
struct StateNumber<Lane> {
    using Type = double;
};
template <class T>
using Number = typename StateNumber<T>::Type;

// Numbers of one state, or of a group, to a row of the state, rows `size` apart.
DTAU_INLINE void put(const Lane* x, std::ptrdiff_t count, std::ptrdiff_t size, int states,
                     double* to) {
    scatter(x, {0, count}, size, states, to);
}
template <class T>
DTAU_INLINE void put(const T* x, std::ptrdiff_t count, std::ptrdiff_t, int, T* to) {
    std::memcpy(static_cast<void*>(to), x, count * sizeof(T));
}

template <class T>
struct PackedWorkspace {
    InverseSecondWorkspace<T> second;
    std::ptrdiff_t* begin;  // of the groups
    int* path;

    PackedWorkspace(Arena& arena, const Tree& tree)
        : second(arena, tree),
          begin(arena.take<std::ptrdiff_t>(tree.nv)),
          path(arena.take<int>(tree.nv)) {
        if (begin) packed_groups(tree.dofs, begin);
    }
};

// With room for the packed tensors of a group of states, of all joints.
template <class T>
struct UnpackingWorkspace : PackedWorkspace<T> {
    std::ptrdiff_t size;
    Number<T>* packed[4];
    std::ptrdiff_t* independent_begin;

    UnpackingWorkspace(Arena& arena, const Tree& tree)
        : PackedWorkspace<T>(arena, tree),
          size(packed_size(tree.dofs)),
          independent_begin(arena.take<std::ptrdiff_t>(tree.independent.n)) {
        for (Number<T>*& x : packed)
            x = arena.take<Number<T>>(size * (sizeof(T) / sizeof(Number<T>)));
        if (independent_begin) packed_groups(tree.independent, independent_begin);
    }
};

// To the four arrays `to`, `size` numbers a state.
template <class T>
void packed_tensors(const Tree& tree, const Job& job, const Arguments<T>& x,
                    const PackedWorkspace<T>& w, std::ptrdiff_t size, Number<T>* const* to) {
    idsva_so(tree, x.in[0], x.in[1], x.in[2], x.in[3], job.symmetric, w.second,
             [&](int m, const Tensors<T*>& tables) {
                 const std::ptrdiff_t count = packed_size(tree.dofs.depth[m]);
                 const T* const from[4] = {tables.dqdq, tables.dqdv, tables.dvdv, tables.dadq};
                 for (int o = 0; o < 4; ++o)
                     put(from[o], count, size, x.states, to[o] + w.begin[m]);
             });
}

// The tensors of one state from the packed ones of all joints.
template <class T>
void write_tensors(const Tree& tree, const Job& job, const Number<T>* const (&packed)[4],
                   const UnpackingWorkspace<T>& w, Number<T>* const (&to)[4]) {
    using N = Number<T>;
    if (!tree.coupling) return unpack(tree.dofs, w.begin, packed, w.path, to);
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
                packed_tensors(tree, job, x, w, job.out[0].size, results.at);
            });
    run<Results::streamed, UnpackingWorkspace>(
        tree, job, begin, end, [&]<class T>(const Arguments<T>& x, const UnpackingWorkspace<T>& w) {
            packed_tensors(tree, job, x, w, w.size, w.packed);
            for (int l = 0; l < x.states; ++l) {
                const Number<T>* packed[4];
                for (int o = 0; o < 4; ++o) packed[o] = w.packed[o] + l * w.size;
                const StateResults<Number<T>> results(job, x.state + l);
                write_tensors<T>(tree, job, packed, w, results.at);
            }
        });
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
