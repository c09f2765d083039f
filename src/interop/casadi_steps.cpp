// Evaluates time steps for CasADi. The result is one vector, the numbers of q and v after the step.
//
// Derivatives are those of linearize_discrete, step_vjp and step_hessian by the numbers of q. The variables
// are q, v, tau, dt and the wrenches; without the last two, the calls take less time.
#include <algorithm>

#include "interop/casadi_matrices.hpp"

namespace dtau {
namespace {

constexpr int of_state = 3, most = 5;  // variables: q, v, tau; with dt and the wrenches

std::size_t step_zeros(const CasadiFunction& f) {
    return std::max({f.nq + f.nv, f.ncontacts, 6 * f.nbodies});
}
std::size_t wrenches(const CasadiFunction& f) { return f.takes_wrenches ? 6 * f.nbodies : 0; }

class StepEvaluation : CasadiMatrices {
  public:
    StepEvaluation(const CasadiFunction& f, CasadiRole role, const double* const* arg,
                   double* const* res, double* work, std::string& error)
        : CasadiMatrices(f, role, arg, res, work, error),
          results_(f.nq + f.nv),
          count_(f.takes_wrenches ? most : most - 1),
          size_{f.nq, f.nv, f.nv, 1, static_cast<int>(wrenches(f))},
          begin_{0,
                 f.nq,
                 results_,
                 results_ + f.nv,
                 results_ + f.nv + 1,
                 results_ + f.nv + 1 + size_[4]} {
        zeros_ = take_zeros(step_zeros(f));
        q_ = or_zeros(arg[0]);
        inputs_.set("q", q_);
        inputs_.set("v", or_zeros(arg[v_at()]));
        inputs_.set("tau", or_zeros(arg[x_at()]));
        inputs_.set("dt", or_zeros(arg[dt_at()]));
        if (f.takes_mask) inputs_.set("active", or_zeros(arg[mask_at()]));
        if (f.takes_wrenches) {
            double* f_ext = take(size_[4]);
            spread(patterns_.in[wrenches_at()], arg[wrenches_at()], f_ext);
            inputs_.set("f_ext", f_ext);
        }
        const bool has_seed = role == CasadiRole::adjoint || role == CasadiRole::adjoint_jacobian;
        const double* seed = has_seed ? or_zeros(arg[ninputs_ + 1]) : zeros_;
        inputs_.set("lam_q", seed);
        inputs_.set("lam_v", seed + nq_);
    }

    bool value() {
        if (!res_[0]) return true;
        return run(*f_.value, {{"q", res_[0]}, {"v", res_[0] + nq_}});
    }

    bool jacobian() { return first_of(0, 1, false); }

    bool adjoint() {
        double* by[most];
        for (int k = 0; k < count_; ++k) by[k] = take(size_[k]);
        if (!run(res_[dt_at()] ? *f_.product_by_dt : *f_.product,
                 {{"by_q", by[0]},
                  {"by_v", by[1]},
                  {"by_tau", by[2]},
                  {"by_dt", by[3]},
                  {"by_f_ext", count_ == most ? by[4] : nullptr}}))
            return false;
        for (int k = 0; k < most - 1; ++k)
            if (res_[k]) std::copy_n(by[k], size_[k], res_[k]);
        if (count_ == most && res_[wrenches_at()])
            leave(patterns_.out[wrenches_at()], by[4], false, res_[wrenches_at()]);
        put_gradient_by_mask();
        return true;
    }

    bool adjoint_jacobian() { return first_of(ninputs_ + 1, ninputs_ + 2, true) && curvature(); }

  private:
    const double* or_zeros(const double* given) const { return given ? given : zeros_; }
    bool run(const RawCall& call, std::initializer_list<std::pair<const char*, double*>> results) {
        return inputs_.run(call, results, error_);
    }

    // The call for derivatives by the first so many variables.
    static const RawCall& of(const std::shared_ptr<const RawCall>& call,
                             const std::shared_ptr<const RawCall> (&by)[2], int variables) {
        return variables == of_state ? *call : *by[variables - of_state - 1];
    }
    // Computes the first derivatives.
    bool linearize(int variables) {
        if (linearized_ >= variables) return true;
        linearized_ = variables;
        A_ = take(std::ptrdiff_t(results_) * results_);
        B_ = take(std::ptrdiff_t(results_) * nv_);
        double *q_next = take(nq_), *v_next = take(nv_), *residual = take(f_.nrows);
        const int rows[] = {nq_, nv_};
        for (int half : {0, 1}) {
            by_dt_[half] = take(rows[half]);
            by_f_[half] = take(std::ptrdiff_t(rows[half]) * size_[4]);
        }
        return run(of(f_.first, f_.first_by, variables), {{"A", A_},
                                                          {"B", B_},
                                                          {"q", q_next},
                                                          {"v", v_next},
                                                          {"residual", residual},
                                                          {"dq_ddt", by_dt_[0]},
                                                          {"dv_ddt", by_dt_[1]},
                                                          {"dq_df_ext", by_f_[0]},
                                                          {"dv_df_ext", by_f_[1]}});
    }
    // The entry of first derivatives in row r, by variable k, column c.
    double first(int r, int k, int c) const {
        const std::ptrdiff_t row = r, half = r < nq_ ? row : row - nq_;
        if (k < 2) return A_[row * results_ + begin_[k] + c];
        if (k == 2) return B_[row * nv_ + c];
        return k == 3 ? by_dt_[r >= nq_][half] : by_f_[r >= nq_][half * size_[4] + c];
    }
    // CasADi counts the entries of wrenches (nbodies, 6) column by column.
    int column(int k, int c) const { return k < 4 ? c : c % f_.nbodies * 6 + c / f_.nbodies; }

    // Writes the matrix by variable k as result `first_at + k step`.
    bool first_of(int first_at, int step, bool transposed) {
        int last = -1;
        for (int k = 0; k < count_; ++k)
            if (res_[first_at + k * step]) last = k;
        if (last < 0) return true;
        if (!linearize(std::max(last + 1, of_state))) return false;
        for (int k = 0; k < count_; ++k) {
            if (!res_[first_at + k * step]) continue;
            double* const block = take(std::ptrdiff_t(results_) * size_[k]);
            for (int r = 0; r < results_; ++r)
                for (int c = 0; c < size_[k]; ++c)
                    block[std::ptrdiff_t(r) * size_[k] + c] = first(r, k, column(k, c));
            put(first_at + k * step, block, transposed);
        }
        return true;
    }

    // Computes the second derivatives.
    bool curvature() {
        int last = -1;
        for (int a = 0; a < count_; ++a)
            for (int b = a; b < count_; ++b)
                if (wants(a, b)) last = std::max(last, b);
        if (last < 0) return true;
        const int variables = std::max(last + 1, of_state);
        const std::ptrdiff_t all = begin_[variables];
        double* H = take(all * all);
        if (!run(of(f_.second, f_.second_by, variables), {{"H", H}})) return false;
        for (int a = 0; a < variables; ++a)
            for (int b = a; b < variables; ++b) {
                if (!wants(a, b)) continue;
                double* const block = take(std::ptrdiff_t(size_[a]) * size_[b]);
                for (int r = 0; r < size_[a]; ++r)
                    for (int c = 0; c < size_[b]; ++c)
                        block[std::ptrdiff_t(r) * size_[b] + c] =
                            H[(begin_[a] + column(a, r)) * all + begin_[b] + column(b, c)];
                put(place(a, b), block, false);
                if (a != b) put(place(b, a), block, true);
            }
        return true;
    }

    int results_, count_, size_[most], begin_[most + 1];
    NamedInputs inputs_;
    int linearized_ = 0;
    double *A_ = nullptr, *B_ = nullptr, *by_dt_[2] = {}, *by_f_[2] = {};
    const double* zeros_;
};

}  // namespace

std::size_t casadi_step_work(const CasadiFunction& f, CasadiRole role) {
    const std::size_t n = f.nv, nw = wrenches(f), results = f.nq + n;
    const std::size_t all = results + n + 1 + nw, always = step_zeros(f) + nw;
    const std::size_t first =
        2 * results * all + results + f.nrows;  // as the core has it, and blocks
    switch (role) {
        case CasadiRole::value:
            return always;
        case CasadiRole::jacobian:
            return always + first;
        case CasadiRole::adjoint:
            return always + all;
        case CasadiRole::adjoint_jacobian:
        case CasadiRole::second:
            break;
    }
    return always + first + 2 * all * all;
}

bool casadi_step(const CasadiFunction& f, CasadiRole role, const double* const* arg,
                 double* const* res, double* work, std::string& error) {
    StepEvaluation evaluation(f, role, arg, res, work, error);
    return evaluate_role(evaluation, role, error);
}

}  // namespace dtau
