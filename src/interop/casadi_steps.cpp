// Evaluates time steps for CasADi. The result is one vector, the numbers of q and v after the step.
//
// Derivatives are those of linearize_discrete, step_vjp and step_hessian, in the exponential charts xi of
// the states before and after the step. With lam = F^T s of the seeds s of the numbers after the step
// (tangent_columns.hpp), raw second derivatives follow from
//
//   d2(s . x+) = step_hessian(lam) + A^T K A        K: second derivatives of the numbers by xi
//   D_k D_j = d2_jk + g . [e_k, e_j] / 2            g: the gradient by q
//
// The variables are q, v, tau, dt and the wrenches; without the last two, the calls take less time.
#include <algorithm>

#include "dtau/algorithms/steps/chart_curvature.hpp"
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
          size_{f.nv, f.nv, f.nv, 1, static_cast<int>(wrenches(f))},
          begin_{0, f.nv, 2 * f.nv, 3 * f.nv, 3 * f.nv + 1, 3 * f.nv + 1 + size_[4]} {
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
        seed_ = has_seed ? or_zeros(arg[ninputs_ + 1]) : zeros_;
    }

    bool value() {
        if (!res_[0]) return true;
        return run(*f_.value, {{"q", res_[0]}, {"v", res_[0] + nq_}});
    }

    bool jacobian() { return first_of(0, 1, false); }

    bool adjoint() {
        if (!weigh()) return false;
        double* by[most];
        for (int k = 0; k < count_; ++k) by[k] = take(size_[k]);
        if (!run(res_[dt_at()] ? *f_.product_by_dt : *f_.product,
                 {{"by_q", by[0]},
                  {"by_v", by[1]},
                  {"by_tau", by[2]},
                  {"by_dt", by[3]},
                  {"by_f_ext", count_ == most ? by[4] : nullptr}}))
            return false;
        if (res_[0]) gradient_by_numbers(by[0], res_[0]);
        for (int k = 1; k < most - 1; ++k)
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
    // Computes the first derivatives, and the numbers of q after the step.
    bool linearize(int variables) {
        if (linearized_ >= variables) return true;
        linearized_ = variables;
        A_ = take(std::ptrdiff_t(4) * nv_ * nv_);
        B_ = take(std::ptrdiff_t(2) * nv_ * nv_);
        q_next_ = take(nq_);
        double *v_next = take(nv_), *residual = take(f_.nrows);
        for (double*& half : by_dt_) half = take(nv_);
        for (double*& half : by_f_) half = take(std::ptrdiff_t(nv_) * size_[4]);
        return run(of(f_.first, f_.first_by, variables), {{"A", A_},
                                                          {"B", B_},
                                                          {"q", q_next_},
                                                          {"v", v_next},
                                                          {"residual", residual},
                                                          {"dq_ddt", by_dt_[0]},
                                                          {"dv_ddt", by_dt_[1]},
                                                          {"dq_df_ext", by_f_[0]},
                                                          {"dv_df_ext", by_f_[1]}});
    }
    // The entry of first derivatives in row r, by variable k, column c.
    double first(int r, int k, int c) const {
        const std::ptrdiff_t row = r, half = r < nv_ ? row : row - nv_;
        if (k < 2) return A_[(row * 2 + k) * nv_ + c];
        if (k == 2) return B_[row * nv_ + c];
        return k == 3 ? by_dt_[r >= nv_][half] : by_f_[r >= nv_][half * size_[4] + c];
    }
    // CasADi counts the entries of wrenches (nbodies, 6) column by column.
    int column(int k, int c) const { return k < 4 ? c : c % f_.nbodies * 6 + c / f_.nbodies; }

    // Converts rows by xi and v after the step (2 nv, columns) to rows by the result's numbers.
    double* rows_by_numbers(const double* rows, int columns) {
        double* to = take(std::ptrdiff_t(results_) * columns);
        f_.numbers.rates(q_next_, rows, columns, to);
        const std::ptrdiff_t half = std::ptrdiff_t(nv_) * columns;
        std::copy_n(rows + half, half, to + std::ptrdiff_t(nq_) * columns);
        return to;
    }

    // Writes the matrix by variable k as result `first_at + k step`.
    bool first_of(int first_at, int step, bool transposed) {
        int last = -1;
        for (int k = 0; k < count_; ++k)
            if (res_[first_at + k * step]) last = k;
        if (last < 0) return true;
        if (!linearize(std::max(last + 1, of_state))) return false;
        for (int k = 0; k < count_; ++k) {
            if (!res_[first_at + k * step]) continue;
            double* const block = take(std::ptrdiff_t(2) * nv_ * size_[k]);
            for (int r = 0; r < 2 * nv_; ++r)
                for (int c = 0; c < size_[k]; ++c)
                    block[std::ptrdiff_t(r) * size_[k] + c] = first(r, k, column(k, c));
            const double* rows = rows_by_numbers(block, size_[k]);
            put(first_at + k * step, k ? rows : by_numbers(rows, results_), transposed);
        }
        return true;
    }

    // Sets the weights lam of displacements and velocities after the step.
    bool weigh() {
        const double* weights = seed_;
        if (!f_.numbers.trivial()) {
            double* lam = take(nv_);
            if (!q_next_) {
                q_next_ = take(nq_);
                if (!run(*f_.value, {{"q", q_next_}, {"v", take(nv_)}})) return false;
            }
            f_.numbers.by_displacement(q_next_, seed_, lam);
            weights = lam;
        }
        inputs_.set("lam_q", weights);
        inputs_.set("lam_v", seed_ + nq_);
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
        if ((!f_.numbers.trivial() && !linearize(variables)) || !weigh()) return false;
        const std::ptrdiff_t all = begin_[variables];
        double* H = take(all * all);
        if (!run(of(f_.second, f_.second_by, variables), {{"H", H}})) return false;
        if (!f_.numbers.trivial()) add_joints(variables, H);
        for (int a = 0; a < variables; ++a)
            for (int b = a; b < variables; ++b) {
                if (!wants(a, b)) continue;
                double* const block = take(std::ptrdiff_t(size_[a]) * size_[b]);
                for (int r = 0; r < size_[a]; ++r)
                    for (int c = 0; c < size_[b]; ++c)
                        block[std::ptrdiff_t(r) * size_[b] + c] =
                            H[(begin_[a] + column(a, r)) * all + begin_[b] + column(b, c)];
                if (a == b)
                    put(place(a, a), a ? block : curved(block), false);
                else
                    put_mixed(a, b, a ? block : numbers_by(block, size_[b]));
            }
        return true;
    }
    void put_mixed(int a, int b, const double* block) {
        put(place(a, b), block, false);
        put(place(b, a), block, true);
    }

    // Adds the terms of joints whose displacements do not commute: A^T K A, and the brackets.
    void add_joints(int variables, double* H) {
        const int all = begin_[variables];
        double* rows = take_zeros(std::ptrdiff_t(nv_) * all);
        double* bent = take(std::ptrdiff_t(nv_) * all);
        for (const ManifoldJoint& joint : f_.numbers.joints())
            for (int r = joint.v; r < joint.v + joint.nv(); ++r)
                for (int k = 0; k < variables; ++k)
                    for (int c = 0; c < size_[k]; ++c)
                        rows[r * all + begin_[k] + c] = first(r, k, c);
        f_.numbers.number_curvature(q_next_, seed_, rows, all, bent);
        for (const ManifoldJoint& joint : f_.numbers.joints())
            for (int r = joint.v; r < joint.v + joint.nv(); ++r)
                for (int a = 0; a < all; ++a) {
                    const double x = rows[r * all + a];
                    for (int b = 0; b < all && x != 0.0; ++b)
                        H[a * all + b] += x * bent[r * all + b];
                }
        add_brackets(H, all);
    }
    void add_brackets(double* H, int all) {
        using DTAU_VARIANT::Motion;
        const double *lam_q = inputs_.get("lam_q"), *lam_v = inputs_.get("lam_v");
        DTAU_VARIANT::for_noncommuting_joints(
            f_.value->tree().tree(), true, [&](int, const Body& body, int at) {
                double g[6] = {}, bracket[6];
                for (int j = 0; j < body.nv; ++j)
                    for (int r = 0; r < nv_; ++r)
                        g[j] +=
                            first(r, 0, at + j) * lam_q[r] + first(nv_ + r, 0, at + j) * lam_v[r];
                DTAU_VARIANT::for_unit_twists<double>(body, [&](int j, const Motion<double>& x) {
                    DTAU_VARIANT::for_unit_twists<double>(
                        body, [&](int k, const Motion<double>& y) {
                            joint_coordinates(body, cross(y, x), bracket);
                            double& to = H[(at + j) * all + at + k];
                            for (int i = 0; i < body.nv; ++i) to += 0.5 * g[i] * bracket[i];
                        });
                });
            });
    }

    int results_, count_, size_[most], begin_[most + 1];
    NamedInputs inputs_;
    int linearized_ = 0;
    double *A_ = nullptr, *B_ = nullptr, *q_next_ = nullptr, *by_dt_[2] = {}, *by_f_[2] = {};
    const double *zeros_, *seed_;
};

}  // namespace

std::size_t casadi_step_work(const CasadiFunction& f, CasadiRole role) {
    const std::size_t nq = f.nq, n = f.nv, nw = wrenches(f), results = nq + n;
    const std::size_t all = 3 * n + 1 + nw, always = step_zeros(f) + nw;
    // Blocks by tangent coordinates, by the result's numbers, and by the numbers of q.
    const std::size_t linearized = 2 * n * all + nq + n + f.nrows, weighed = nq + 2 * n;
    const std::size_t first = linearized + 2 * n * all + results * (all + nq);
    switch (role) {
        case CasadiRole::value:
            return always;
        case CasadiRole::jacobian:
            return always + first;
        case CasadiRole::adjoint:
            return always + weighed + all;
        case CasadiRole::adjoint_jacobian:
        case CasadiRole::second:
            break;
    }
    const std::size_t joints = 2 * n * all, blocks = all * all + all * nq + nq * (n + nq);
    return always + first + linearized + weighed + all * all + joints + blocks;
}

bool casadi_step(const CasadiFunction& f, CasadiRole role, const double* const* arg,
                 double* const* res, double* work, std::string& error) {
    StepEvaluation evaluation(f, role, arg, res, work, error);
    return evaluate_role(evaluation, role, error);
}

}  // namespace dtau
