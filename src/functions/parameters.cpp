// Registers the regressor, and derivatives by inertial parameters.
#include "dtau/algorithms/first/parameter_products.hpp"
#include "dtau/algorithms/values/wrench_axes.hpp"
#include "functions/shared/algorithms.hpp"
#include "functions/shared/packed_rows.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace parameters_rows {
namespace {

constexpr Out<"Y", Quantity::regressor> Y;
constexpr Out<"da_dparameters", Quantity::regressor> da_dparameters;
constexpr Out<"dtau", Quantity::torque> torque_tangent;
constexpr Out<"da", Quantity::v> acceleration_tangent;
constexpr Out<"by_parameters", Quantity::parameters> by_parameters;

// Computes the wrenches and subspaces of a group in lanes. The regressor's rows are then written
// state by state, with adjacent parameters in a vector and in the order of memory, zeros included:
// there are ten times more numbers to write than to compute with.
template <class T> struct RegressorRowsWorkspace {
    using N = Number<T>;
    static constexpr int group = group_size<T>;
    RegressorWorkspace<T> regressor;
    Motion<N>* S;  // for each state of a group
    WrenchColumns<N>* W;
    N* slab;  // a row to be streamed, after the rest of the previous row

    RegressorRowsWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : regressor(arena, tree, options),
          S(group > 1 ? arena.take<Motion<N>>(group * tree.nv) : nullptr),
          W(group > 1 ? arena.take<WrenchColumns<N>>(group * tree.nnodes) : nullptr),
          slab(arena.take<N>(cache_line + parameter_count(tree, true))) {}
};

template <class N> inline void fill_zeros(N* row, int begin, int end) {
    for (int c = begin; c < end; ++c) row[c] = N(0.0);
}

// The entries of the columns of joints of one state: a, v, s and y (joint_columns.hpp), their numbers `step` apart.
template <class N> struct JointEntries {
    const N* of[joint_parameter_kinds];
    int step;

    // Where the entry of velocity k is in the row that begins with the columns of joints.
    static int place(const Tree& tree, const Body& body, int kind, int k) {
        const bool stiffness = kind == static_cast<int>(JointParameter::stiffness);
        return kind * tree.nv + (stiffness ? spring_place(body, k) : k);
    }
};

// Writes the rows of one state. joints: null if not wanted.
template <class N>
void write_rows(const Tree& tree, const Motion<N>* S, const WrenchColumns<N>* W,
                const JointEntries<N>* joints, bool streams, N* slab, N* to) {
    const int bodies = parameter_count(tree, false), columns = parameter_count(tree, joints);
    int rest = 0;  // numbers of the previous row, before this one in the slab
    if (streams) fill_zeros(slab + cache_line, 0, columns);
    for (int i = 0; i < tree.nnodes; ++i) {
        const BodyRange range = subtree(tree, i);
        const Body& body = tree.bodies[i];
        const int first = body_parameters * tree.bodies[body.link < 0 ? i + 1 : i].link;
        const int end = body_parameters * (tree.bodies[range.end - 1].link + 1);
        for (int k = body.v; k < body.v + body.nv; ++k) {
            N* const result = to + static_cast<std::ptrdiff_t>(k) * columns;
            N* const row = streams ? slab + cache_line : result;
            if (!streams) fill_zeros(row, 0, first), fill_zeros(row, end, columns);
            regressor_row(tree, range, k, S, W, row);
            for (int kind = 0; joints && kind < joint_parameter_kinds; ++kind)
                row[bodies + joints->place(tree, body, kind, k)] =
                    joints->of[kind][k * joints->step];
            if (!streams) continue;
            const int count = rest + columns;
            rest = count - pass_on(row - rest, 0, count, k == tree.nv - 1, true, result - rest);
            for (int c = 0; c < rest; ++c) row[c - rest] = row[columns - rest + c];
            for (int kind = 0; joints && kind < joint_parameter_kinds; ++kind)
                row[bodies + joints->place(tree, body, kind, k)] = N(0.0);
        }
        if (streams) fill_zeros(slab + cache_line, first, end);
    }
}

// Writes the rows of a group of states.
template <class T>
void write_regressors(const Tree& tree, const T* v, const T* a, const RegressorRowsWorkspace<T>& w,
                      const Destination<T>& to) {
    using N = Number<T>;
    constexpr int group = group_size<T>;
    const Motion<N>* S;
    const WrenchColumns<N>* W;
    if constexpr (group > 1) {
        const auto leave = [&](const auto* from, auto* numbers, int count) {
            const std::ptrdiff_t size = count * std::ptrdiff_t(sizeof(*from) / sizeof(T));
            const Span all = {0, size};
            scatter(reinterpret_cast<const T*>(from), &all, 1, size, to.states,
                    reinterpret_cast<N*>(numbers));
        };
        leave(w.regressor.motion.root_frame.S, w.S, tree.nv);
        leave(w.regressor.W, w.W, tree.nnodes);
        S = w.S, W = w.W;
    } else {
        S = w.regressor.motion.root_frame.S, W = w.regressor.W;
    }
    const JointColumns<T>& of_joints = w.regressor.of_joints;
    for (int l = 0; l < to.states; ++l) {
        const auto of_state = [&](const T* x) { return reinterpret_cast<const N*>(x) + l; };
        const JointEntries<N> joints = {
            {of_state(a), of_state(v), of_state(of_joints.s), of_state(of_joints.y)}, group};
        write_rows(tree, S + l * tree.nv, W + l * tree.nnodes, of_joints.s ? &joints : nullptr,
                   to.past_caches(), w.slab, to.at[0] + l * to.size[0]);
    }
    if (to.past_caches()) end_streams();
}

template <class T>
using MatrixAndWrenches =
    WithWrenches<ForwardRegressorWorkspace, WrenchAxesWorkspace>::Workspace<T>;
template <class T>
using ForwardAndWrenches =
    WithWrenches<ForwardParameterWorkspace, WrenchAxesWorkspace>::Workspace<T>;
template <class T>
using MimicAndWrenches = WithWrenches<MimicParameterWorkspace, WrenchAxesWorkspace>::Workspace<T>;

constexpr Row functions[] = {
    function(
        {.name = "inverse_dynamics_regressor", .memory_advice = "inverse_dynamics_parameter_vjp"},
        takes(q, v, a, joint_parameters), gives(Y),
        algorithm<RegressorRowsWorkspace, KernelTraits{.results = Results::streamed}>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                const RegressorWorkspace<T>& r = w.regressor;
                motion_sweep(tree, x[q], x[v], x[a], r.motion);
                regressor_sweep(tree, r.motion.root_frame, r.motion.a, r.W);
                r.of_joints.compute(tree, x[q], x[v]);
                write_regressors(tree, x[v], x[a], w, x.all.destination);
            }),
        algorithm<RegressorWorkspace, KernelTraits{.results = Results::sparse}>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                const RootFrame<T>& g = w.motion.root_frame;
                const int columns = parameter_count(tree, w.of_joints.s);
                motion_sweep(tree, x[q], x[v], x[a], w.motion);
                regressor_sweep(tree, g, w.motion.a, w.W);
                regressor_of_bodies(tree, g.S, w.W, w.row, x[Y], columns);
                if (!w.of_joints.s) return;
                w.of_joints.compute(tree, x[q], x[v]);
                regressor_of_joints(tree, x[v], x[a], w.of_joints, x[Y], columns);
            })),
    function({.name = "inverse_dynamics_parameter_jvp"},
             takes(q, v, a, dparameters, joint_parameters), gives(torque_tangent),
             algorithm<InverseParameterWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     inverse_dynamics_parameter_jvp(tree, x[q], x[v], x[a], x[dparameters],
                                                    x[torque_tangent], w);
                 })),
    function({.name = "inverse_dynamics_parameter_vjp"},
             takes(q, v, a, torque_weights, joint_parameters), gives(by_parameters),
             algorithm<InverseParameterWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     inverse_dynamics_parameter_vjp(tree, x[q], x[v], x[a], x[torque_weights],
                                                    x[by_parameters], w);
                 })),
    function(
        {.name = "forward_dynamics_parameter_derivatives",
         .solves = true,
         .memory_advice = "forward_dynamics_parameter_vjp"},
        takes(q, v, tau, f_ext, f_ext_axes, joint_parameters, parameters), gives(da_dparameters),
        algorithm<MatrixAndWrenches>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches);
            forward_dynamics_parameter_derivatives<T>(tree, x[q], x[v], x[tau], body_f_ext,
                                                      x[da_dparameters], w.algorithm);
        })),
    function(
        {.name = "forward_dynamics_parameter_jvp", .solves = true},
        takes(q, v, tau, dparameters, f_ext, f_ext_axes, joint_parameters, parameters),
        gives(acceleration_tangent),
        algorithm<ForwardAndWrenches>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches);
            forward_dynamics_parameter_jvp(tree, x[q], x[v], x[tau], x[dparameters], body_f_ext,
                                           x[acceleration_tangent], w.algorithm);
        }),
        algorithm<MimicAndWrenches>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches);
            mimic_parameter_jvp(tree, x[q], x[v], x[tau], x[dparameters], body_f_ext,
                                x[acceleration_tangent], w.algorithm);
        })),
    function(
        {.name = "forward_dynamics_parameter_vjp", .solves = true},
        takes(q, v, tau, acceleration_weights, f_ext, f_ext_axes, joint_parameters, parameters),
        gives(by_parameters),
        algorithm<ForwardAndWrenches>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches);
            forward_dynamics_parameter_vjp(tree, x[q], x[v], x[tau], x[acceleration_weights],
                                           body_f_ext, x[by_parameters], w.algorithm);
        }),
        algorithm<MimicAndWrenches>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches);
            mimic_parameter_vjp(tree, x[q], x[v], x[tau], x[acceleration_weights], body_f_ext,
                                x[by_parameters], w.algorithm);
        })),
};

}  // namespace
}  // namespace parameters_rows

extern const FunctionGroup parameters_functions = group<parameters_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
