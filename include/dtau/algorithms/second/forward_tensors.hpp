// Second-order partial derivatives of forward dynamics: full tensors, O(n^3 d).
//
// With a = FD(q, v, tau), differentiating M a + ... = tau twice ([IDSVA-SO] gives D D tau at fixed
// a; [Notes] §9):
//   D_x D_y a = -M^-1 (D_x D_y tau + D_x M D_y a + D_y M D_x a),   D_q D_tau a = -M^-1 D_q M M^-1
// where D_v M = 0. One state at a time: its vectors hold neighbouring entries.
#pragma once

#include "dtau/algorithms/first/fdsva.hpp"
#include "dtau/algorithms/second/hessian.hpp"
#include "dtau/algorithms/second/idsva_so.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct ForwardSecondWorkspace {
    FdsvaWorkspace<T> fdsva;
    IdsvaSoWorkspace<T> so;
    T *da_dq, *da_dv, *da_dtau;
    Tensors<T*> packed;  // of inverse dynamics
    int* path;
    WrenchTensorsWorkspace<T> wrenches;

    ForwardSecondWorkspace(Arena& arena, const Tree& tree, Axes wrench_axes)
        : fdsva(arena, tree, wrench_axes),
          so(arena, tree),
          da_dq(matrix(arena, tree)),
          da_dv(matrix(arena, tree)),
          da_dtau(matrix(arena, tree)),
          path(arena.take<int>(tree.nv)),
          wrenches(arena, tree, wrench_axes) {
        for (T** x : {&packed.dqdq, &packed.dqdv, &packed.dvdv, &packed.dadq})
            *x = arena.take<T>(packed_size(tree.dofs) + Pack<T>::width);
    }

  private:
    static T* matrix(Arena& arena, const Tree& tree) {
        return arena.take<T>(tree.independent.n * tree.independent.n);
    }
};

// to += x from, rows of n
template <class T>
DTAU_INLINE void add_row(T x, const T* from, int n, T* to) {
    constexpr int width = Pack<T>::width;
    for (int k = 0; k < n; k += width)
        fma(x, Pack<T>::load(from + k, n - k), Pack<T>::load(to + k, n - k)).store(to + k, n - k);
}

// The tensors (nv, nv, nv); d2a_dtaudq in the place of dadq. q, v: of the joints; tau and the results:
// of the independent velocities.
template <class T>
void forward_second_derivatives(const Tree& tree, const T* q, const T* v, const T* tau,
                                const T* f_ext, bool symmetric, const Tensors<T*>& out,
                                const ForwardSecondWorkspace<T>& w) {
    const int n = tree.independent.n;
    const std::ptrdiff_t size = std::ptrdiff_t(n) * n * n;
    const IdsvaWorkspace<T>& idsva = w.fdsva.dynamics.idsva;
    fdsva(tree, q, v, tau, f_ext, w.da_dq, w.da_dv, n, w.da_dtau, w.fdsva);
    free_root_accelerations(tree, idsva.ground, idsva.Psiddot);
    const Tensors<T*>& p = w.packed;
    ConsecutiveRows<T> rows(p);
    const T* body_f_ext = along_body_axes(tree, q, f_ext, w.wrenches.first.value);
    const TensorWrenches<T> wrenches = tensor_wrenches(tree, body_f_ext, idsva.ground, w.wrenches);
    idsva_so_groups(tree, false, wrenches, idsva, w.so, rows);
    for (T* tensor : {out.dqdq, out.dqdv, out.dvdv, out.dadq})
        for (std::ptrdiff_t e = 0; e < size; ++e) tensor[e] = T(0.0);

    // Rows [i, k] of dM/dq_k times the first derivatives.
    const auto row = [&](T* tensor, int i, int j) {
        return tensor + (std::ptrdiff_t(i) * n + j) * n;
    };
    const T* entry = p.dadq;
    for_packed_entries(tree, w.path, [&](int i, int l, int k, double scale) {  // [Notes] eq. 9.1
        const T x = T(scale) * *entry++;
        add_row(x, w.da_dq + l * n, n, row(out.dqdq, i, k));
        add_row(x, w.da_dv + l * n, n, row(out.dqdv, i, k));
        add_row(x, w.da_dtau + l * n, n, row(out.dadq, i, k));
    });
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k)
            for (int j = 0; j <= k; ++j) {
                T &x = row(out.dqdq, i, k)[j], &y = row(out.dqdq, i, j)[k];
                x = y = x + y;
                T &tau_q = row(out.dadq, i, k)[j], &q_tau = row(out.dadq, i, j)[k];
                const T swapped = tau_q;
                tau_q = q_tau, q_tau = swapped;
            }
    std::ptrdiff_t e = 0;
    for_packed_entries(tree, w.path, [&](int i, int j, int k, double scale) {
        T &qq = row(out.dqdq, i, j)[k], &qv = row(out.dqdv, i, j)[k], &vv = row(out.dvdv, i, j)[k];
        qq = fma(T(scale), p.dqdq[e], qq);
        qv = fma(T(scale), p.dqdv[e], qv);
        vv = fma(T(scale), p.dvdv[e], vv);
        ++e;
    });
    for (T* tensor : {out.dqdq, out.dqdv, out.dvdv, out.dadq})
        ltdl_solve_in_place(tree.independent, tensor, n * n, w.fdsva.dynamics.ltdl);
    for (int i = 0; symmetric && i < n; ++i) symmetrize(row(out.dqdq, i, 0), n);
}

}  // namespace dtau::DTAU_VARIANT
