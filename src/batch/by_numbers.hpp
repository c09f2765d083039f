// Applies any algorithm to a call by the numbers of q: apply_by_numbers(). The algorithm computes in the
// tangent space; inputs and results of the call are converted as their signature says (numbers.hpp).
#pragma once

#include "batch/mimic_joints.hpp"
#include "dtau/algorithms/steps/manifold_jacobians.hpp"
#include "dtau/numbers.hpp"

namespace dtau::DTAU_VARIANT {

// The runs of the tree's coordinates; `at` has room for 2 tree.nnodes + 1 of them.
inline CoordinateRuns coordinate_runs(const Tree& tree, CoordinateRun* at) {
    int joints = 0;
    for_independent_joints(tree, false, [&](const Body& body, int q, int v) {
        int k = joints++;
        for (; k > 0 && at[k - 1].v > v; --k) at[k] = at[k - 1];
        at[k] = {q, v, body.nv, body.kind};
    });
    const int nq = independent_nq(tree), nv = tree.independent.n;
    int count = joints, q = 0, v = 0;
    for (int k = 0; k <= joints; ++k) {
        const int end = k < joints ? at[k].v : nv;
        if (end > v) at[count++] = {q, v, end - v, JointKind::revolute};
        if (k == joints) break;
        q = at[k].q + at[k].nv + (at[k].kind == JointKind::planar ? 0 : 1);
        v = at[k].v + at[k].nv;
    }
    return {nq, nv, joints, count, at};
}

// Whether the batch layer converts. Code compiled for one robot converts itself.
inline bool converts(const Job& job) { return job.options->by_numbers && !job.code; }

// Memory for the inputs and results in the tangent space. A call by tangents takes none.
template <class T> struct TangentArguments {
    TangentMap<T> maps[2];                                   // at q, or at q0 and q1
    T *inputs[Job::max_inputs], *outputs[Job::max_outputs];  // null: as in the call
    T* joint_rows;                                           // of a result: the rows of a joint
    Reached<T> reached;                                      // the configuration after a step

    DTAU_INLINE TangentArguments(Arena& arena, const Tree& tree, const Job& job) {
        if (converts(job)) take(arena, tree, job);
    }

  private:
    __attribute__((cold, noinline)) void take(Arena& arena, const Tree& tree, const Job& job) {
        CoordinateRun* const at = arena.take<CoordinateRun>(2 * tree.nnodes + 1);
        const CoordinateRuns runs = at ? coordinate_runs(tree, at) : CoordinateRuns();
        const auto map = [&] {
            return TangentMap<T>{runs, arena.take<TangentBlock<T>>(tree.nnodes)};
        };
        for (TangentMap<T>& x : maps) x = map();
        for (int i = 0; i < job.ninputs; ++i) {
            const bool is_q = job.inputs[i].mimic_role == MimicRole::q;
            inputs[i] = job.inputs[i].data && (is_q || job.is_tangent(i))
                            ? arena.take<T>(job.inputs[i].size)
                            : nullptr;
        }
        std::ptrdiff_t most = 0;
        for (int o = 0; o < job.noutputs; ++o) {
            const Output& out = job.outputs[o];
            outputs[o] = out.converted ? arena.take_zeros<T>(out.tangent_size) : nullptr;
            if (out.converted) most = most > out.columns ? most : out.columns;
        }
        joint_rows = arena.take<T>(6 * (most + independent_nq(tree) - tree.independent.n));
        reached = {map(), arena.take<T>(independent_nq(tree)), arena.take<T>(tree.nv)};
    }
};

// Converts one result. q: as the caller gave it.
template <class T>
void convert_result(const TangentArguments<T>& tangent, const Output& out, const TangentMap<T>& map,
                    const T* q, const T* from, T* to) {
    const CoordinateRuns& runs = map.runs;
    const int more = runs.nq - runs.nv;
    const bool by_columns = out.converted & Converted::columns;
    const bool by_rows = out.converted & Converted::rows;
    const bool reached = out.converted & Converted::reached_rows;
    const std::ptrdiff_t columns = out.columns + (by_columns ? more : 0);
    const auto put = [&](const T* rows, std::ptrdiff_t count, T* place) {
        if (by_columns)
            times_tangent_map(map, rows, count, out.columns, place);
        else
            copy_numbers(rows, count * columns, place);
    };
    const std::ptrdiff_t matrices = out.tangent_size / (std::ptrdiff_t(out.rows) * out.columns);
    if (!by_rows && !reached) return put(from, matrices * out.rows, to);
    const TangentMap<T>& of_rows = reached ? tangent.reached.map : map;
    for (std::ptrdiff_t m = 0; m < matrices; ++m) {
        for (int c = 0; c < runs.count; ++c) {
            const CoordinateRun& run = runs.at[c];
            const T* const rows = from + run.v * std::ptrdiff_t(out.columns);
            T* const place = to + run.q * columns;
            if (c >= runs.joints) {
                put(rows, run.nv, place);
                continue;
            }
            put(rows, run.nv, tangent.joint_rows);
            times_block(of_rows.blocks[c], tangent.joint_rows, columns, reached, place);
        }
        put(from + runs.nv * std::ptrdiff_t(out.columns), out.rows - runs.nv,
            to + runs.nq * columns);
        if (by_columns && by_rows) add_map_curvature(map, q, from, out.columns, to, columns);
        from += std::ptrdiff_t(out.rows) * out.columns;
        to += (out.rows + more) * columns;
    }
}

// Unit quaternions, as algorithms expect them.
template <class T> void normalize_runs(const CoordinateRuns& runs, const T* q, T* unit) {
    copy_numbers(q, runs.nq, unit);
    for (int c = 0; c < runs.joints; ++c) {
        const CoordinateRun& run = runs.at[c];
        const int first = run.q + run.nv - 3;
        if (run.kind != JointKind::planar)
            store_normalized(load_quaternion(q + first), unit + first);
    }
}

// apply(y) applies the algorithm to arguments in the tangent space.
template <class T, class Apply>
__attribute__((noinline)) void apply_by_numbers(const Job& job, const Arguments<T>& x,
                                                const TangentArguments<T>& tangent,
                                                const Apply& apply) {
    Arguments<T> y = x;
    const T* q[2] = {nullptr, nullptr};
    for (int i = 0, k = 0; i < job.ninputs; ++i) {
        if (!tangent.inputs[i]) continue;
        if (job.inputs[i].mimic_role == MimicRole::q) {
            tangent.maps[k].set(q[k] = x.inputs[i]);
            normalize_runs(tangent.maps[k++].runs, x.inputs[i], tangent.inputs[i]);
        } else {
            to_tangent(tangent.maps[0], x.inputs[i], false, tangent.inputs[i]);
        }
        y.inputs[i] = tangent.inputs[i];
    }
    y.reached = &tangent.reached;
    y.nonzero = nullptr;
    for (int o = 0; o < job.noutputs; ++o) {
        if (!tangent.outputs[o]) continue;
        y.outputs[o] = tangent.outputs[o];
        y.destination.size[o] = job.outputs[o].tangent_size;
        // Where streaming algorithms write, which compute one state at a time here.
        y.destination.at[o] = reinterpret_cast<Number<T>*>(y.outputs[o]);
    }
    apply(y);
    for (int o = 0; o < job.noutputs; ++o) {
        if (!tangent.outputs[o]) continue;
        const int at = job.outputs[o].converted & Converted::at_second ? 1 : 0;
        convert_result(tangent, job.outputs[o], tangent.maps[at], q[at], y.outputs[o],
                       x.outputs[o]);
    }
}

}  // namespace dtau::DTAU_VARIANT
