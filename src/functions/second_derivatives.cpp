// Registers second derivatives of inverse and forward dynamics (IDSVA-SO).
#include "dtau/algorithms/second/forward_tensors.hpp"
#include "dtau/algorithms/second/idsva_so.hpp"
#include "functions/shared/hessians.hpp"
#include "functions/shared/unpack.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace second_derivatives_rows {
namespace {

constexpr ByNumbers<Out<"d2tau_dqdq", Quantity::tensor>, Converted::columns | Converted::rows>
    tau_dqdq;
constexpr ByNumbers<Out<"d2tau_dqdv", Quantity::tensor>, Converted::rows> tau_dqdv;
constexpr Out<"d2tau_dvdv", Quantity::tensor> tau_dvdv;
constexpr ByQ<Out<"d2tau_dadq", Quantity::tensor>> tau_dadq;
constexpr ByNumbers<Out<"d2a_dqdq", Quantity::tensor>, Converted::columns | Converted::rows> a_dqdq;
constexpr ByNumbers<Out<"d2a_dqdv", Quantity::tensor>, Converted::rows> a_dqdv;
constexpr Out<"d2a_dvdv", Quantity::tensor> a_dvdv;
constexpr ByQ<Out<"d2a_dtaudq", Quantity::tensor>> a_dtaudq;

// If the packed tensors of a group take more than these bytes on their way to dense ones or to
// independent velocities, they leave the caches, and one state at a time is faster.
constexpr std::ptrdiff_t held_bytes = std::ptrdiff_t(2) << 20;

bool stays_packed(const Tree& tree, const Options& options) {
    return options.layout == Layout::pattern && !tree.mimic;
}

template <class T> struct InverseTensorsWorkspace {
    // Whether to write the dense tensors of a lone state output by output.
    static bool by_outputs(const Tree& tree, const Options& options) {
        return group_size<T> == 1 && options.layout == Layout::dense && !tree.mimic &&
               4 * packed_size(tree.dofs) * std::ptrdiff_t(sizeof(T)) > held_bytes;
    }

    InverseSecondWorkspace<T> second;
    typename PackedRows<T>::Memory rows;
    typename RowsByOutput<Number<T>>::Memory rows_by_output;
    typename DenseSlabs<Number<T>>::Memory slabs;
    PackedWorkspace<T> packed;

    InverseTensorsWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : second(arena, tree, options, by_outputs(tree, options)),
          rows(arena, tree.dofs.max_depth + 1),
          rows_by_output(arena, tree.dofs, by_outputs(tree, options)),
          slabs(arena, tree.dofs, options.layout == Layout::dense && !tree.mimic),
          packed(arena, tree, !stays_packed(tree, options) && !by_outputs(tree, options)) {}

    static bool one_by_one(const Tree& tree, const Options& options) {
        return !stays_packed(tree, options) &&
               4 * lanes * packed_size(tree.dofs) * std::ptrdiff_t(sizeof(double)) > held_bytes;
    }
};

// Computes one state at a time: the lanes hold several outputs of it.
template <class T> struct ForwardTensorsWorkspace {
    ForwardSecondWorkspace<T> second;
    T* outputs;  // outputs of one tensor, one for each lane

    ForwardTensorsWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : second(arena, tree, options),
          outputs(arena.take<T>(group_size<Wide<T>> * tree.independent.n * tree.independent.n)) {}

    // Moves n outputs from `begin` on to their place in the state's tensor.
    void scatter_outputs(const Wide<T>* x, int begin, int n, bool past_caches, T* to) const {
        const std::ptrdiff_t size = std::ptrdiff_t(n) * n;
        to += begin * size;
        if constexpr (group_size<Wide<T>> == 1) {
            for (std::ptrdiff_t e = 0; e < size; ++e) to[e] = x[e];
        } else {
            const int count = n - begin < lanes ? n - begin : lanes;
            const Span whole = {0, size};
            const bool aside =
                past_caches || count < lanes;  // the target has no room for all lanes
            scatter(x, &whole, 1, size, lanes, aside ? outputs : to);
            if (past_caches)
                stream(outputs, count * size, to);
            else if (aside)
                for (std::ptrdiff_t e = 0; e < count * size; ++e) to[e] = outputs[e];
        }
    }
};

constexpr Row functions[] = {
    function(
        {.name = "inverse_dynamics_second_derivatives",
         .results = "InverseDynamicsSecondDerivatives",
         .memory_advice = "inverse_dynamics_hessian"},
        takes(q, v, a, f_ext, f_ext_axes, symmetric, layout, parameters, coordinates),
        gives(tau_dqdq, tau_dqdv, tau_dvdv, tau_dadq),
        algorithm<InverseTensorsWorkspace, KernelTraits{.results = Results::streamed}>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                const Destination<T>& to = x.all.destination;
                const auto& so = w.second;
                const auto wrenches = idsva_so_sweeps(tree, x[q], x[v], x[a], x[f_ext], so);
                const auto packed_to = [&](const Destination<T>& packed) {
                    PackedRows<T> rows(w.rows, packed);
                    idsva_so_groups(tree, x.options.symmetric, wrenches, so.idsva, so.so, rows);
                    rows.finish();
                };
                if (stays_packed(tree, x.options)) return packed_to(to);
                if constexpr (group_size<T> == 1)
                    if (w.by_outputs(tree, x.options)) {
                        DenseSlabs<T> dense(w.slabs, tree.dofs, to.at, to.past_caches());
                        RowsByOutput<T> rows(w.rows_by_output, tree.dofs, dense);
                        return idsva_so_by_outputs(tree, x.options.symmetric, wrenches, so.idsva,
                                                   so.so, rows);
                    }
                packed_to(w.packed.destination(to.states));
                for (int l = 0; l < to.states; ++l)
                    if (tree.mimic)
                        reduce_tensors(tree, x.options.layout == Layout::pattern, w.packed, l, to);
                    else
                        unpack_state(tree.dofs, w.packed, w.slabs, l, to);
            })),
    function({.name = "forward_dynamics_second_derivatives",
              .solves = true,
              .results = "ForwardDynamicsSecondDerivatives",
              .memory_advice = "forward_dynamics_hessian"},
             takes(q, v, tau, f_ext, f_ext_axes, symmetric, parameters, coordinates),
             gives(a_dqdq, a_dqdv, a_dvdv, a_dtaudq),
             algorithm<ForwardTensorsWorkspace, KernelTraits{.lanes = false}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     const Destination<T>& to = x.all.destination;
                     const auto send = [&](int begin, const Tensors<const Wide<T>*>& y) {
                         const Wide<T>* tensors[] = {y.dqdq, y.dqdv, y.dvdv, y.dadq};
                         for (int o = 0; o < 4; ++o)
                             w.scatter_outputs(tensors[o], begin, tree.independent.n,
                                               to.past_caches(), to.at[o]);
                     };
                     forward_second_derivatives(tree, x[q], x[v], x[tau], x[f_ext],
                                                x.options.symmetric, w.second, send);
                     if (to.past_caches()) end_streams();
                 })),
};

}  // namespace
}  // namespace second_derivatives_rows

extern const FunctionGroup second_derivatives_functions = group<second_derivatives_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
