// Evaluates time steps for CasADi. The result is one vector, the numbers of q and v after the step.
//
// Derivatives by q, v and tau are those of linearize_discrete, step_vjp and step_hessian, in the
// exponential charts xi of the states before and after the step. With lam = F^T s of the seeds s of
// the numbers after the step (tangent_columns.hpp), raw second derivatives follow from
//
//   d2(s . x+) = step_hessian(lam) + A^T K A        K: second derivatives of the numbers by xi
//   D_k D_j = d2_jk + g . [e_k, e_j] / 2            g: the gradient by q
//
// Derivatives by dt and by wrenches come from StepSweeps.
#include "interop/step_sweeps.hpp"

namespace dtau {
namespace {

constexpr int step_variables = 3;  // q, v, tau

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
          nwrenches_(static_cast<int>(wrenches(f))) {
        zeros_ = take_zeros(step_zeros(f));
        q_ = or_zeros(arg[0]);
        inputs_.set("q", q_);
        inputs_.set("v", or_zeros(arg[v_at()]));
        inputs_.set("tau", or_zeros(arg[x_at()]));
        inputs_.set("dt", or_zeros(arg[dt_at()]));
        if (f.takes_mask) inputs_.set("active", or_zeros(arg[mask_at()]));
        if (f.takes_wrenches) {
            double* f_ext = take(nwrenches_);
            spread(patterns_.in[wrenches_at()], arg[wrenches_at()], f_ext);
            inputs_.set("f_ext", f_ext);
        }
        const bool has_seed = role == CasadiRole::adjoint || role == CasadiRole::adjoint_jacobian;
        seed_ = has_seed ? or_zeros(arg[ninputs_ + 1]) : zeros_;
    }

    bool value() {
        if (!res_[0]) return true;
        double* parts[] = {res_[0], res_[0] + nq_};
        return run(*f_.value, parts);
    }

    bool jacobian() { return first_of(0, 1, false) && first_by_others(0, 1, false); }

    bool adjoint() {
        if (!weigh()) return false;
        double* gradient[4];
        for (int k = 0; k < step_variables; ++k) gradient[k] = take(nv_);
        gradient[step_variables] = take(nwrenches_);
        if (!run(*f_.product, gradient)) return false;
        if (res_[0]) gradient_by_numbers(gradient[0], res_[0]);
        for (int k = 1; k < step_variables; ++k)
            if (res_[k]) std::copy_n(gradient[k], nv_, res_[k]);
        if (nwrenches_ && res_[wrenches_at()])
            leave(patterns_.out[wrenches_at()], gradient[step_variables], false,
                  res_[wrenches_at()]);
        put_gradient_by_mask();
        if (!res_[dt_at()]) return true;
        StepSweeps sweeps(f_, inputs_, w_, error_);
        if (!sweeps.forward() || !sweeps.adjoint(seed_)) return false;
        *res_[dt_at()] = sweeps.by_length();
        return true;
    }

    bool adjoint_jacobian() {
        const int first = ninputs_ + 1, step = ninputs_ + 2;
        return first_of(first, step, true) && first_by_others(first, step, true) && curvature() &&
               second_by_others();
    }

  private:
    const double* or_zeros(const double* given) const { return given ? given : zeros_; }
    bool run(const RawCall& call, double* const* results) {
        return inputs_.run(call, results, error_);
    }

    // Computes the first derivatives by q, v and tau, and the numbers of q after the step.
    bool linearize() {
        if (A_) return true;
        A_ = take(std::ptrdiff_t(4) * nv_ * nv_);
        B_ = take(std::ptrdiff_t(2) * nv_ * nv_);
        q_next_ = take(nq_);
        double* results[] = {A_, B_, q_next_, take(nv_), take(f_.nrows)};
        return run(*f_.first, results);
    }
    // The entry of first derivatives in row r, by variable k, column c.
    double first(int r, int k, int c) const {
        return k < 2 ? A_[(std::ptrdiff_t(r) * 2 + k) * nv_ + c] : B_[std::ptrdiff_t(r) * nv_ + c];
    }

    // Converts rows by xi and v after the step (2 nv, columns) to rows by the result's numbers.
    double* rows_by_numbers(const double* q_next, const double* rows, int columns) {
        double* to = take(std::ptrdiff_t(results_) * columns);
        f_.numbers.rates(q_next, rows, columns, to);
        const std::ptrdiff_t half = std::ptrdiff_t(nv_) * columns;
        std::copy_n(rows + half, half, to + std::ptrdiff_t(nq_) * columns);
        return to;
    }

    // Writes the matrix by variable k as result `first + k step`.
    bool first_of(int first_at, int step, bool transposed) {
        bool wanted = false;
        for (int k = 0; k < step_variables; ++k) wanted |= res_[first_at + k * step] != nullptr;
        if (!wanted) return true;
        if (!linearize()) return false;
        double* block = take(std::ptrdiff_t(2) * nv_ * nv_);
        for (int k = 0; k < step_variables; ++k) {
            if (!res_[first_at + k * step]) continue;
            for (int r = 0; r < 2 * nv_; ++r)
                for (int c = 0; c < nv_; ++c) block[r * nv_ + c] = first(r, k, c);
            const double* rows = rows_by_numbers(q_next_, block, nv_);
            put(first_at + k * step, k ? rows : by_numbers(rows, results_), transposed);
        }
        return true;
    }
    bool first_by_others(int first_at, int step, bool transposed) {
        const int at_dt = first_at + dt_at() * step, at_f = first_at + wrenches_at() * step;
        const bool by_f = nwrenches_ && res_[at_f];
        if (!res_[at_dt] && !by_f) return true;
        double* const rest = w_;
        w_ += StepSweeps::numbers(f_);
        StepSweeps sweeps(f_, inputs_, rest, error_);
        if (!sweeps.forward()) return false;
        // Variable k of `count`, whose place among those of the wrenches is entry(k).
        const auto write = [&](int at, int count, const auto& entry) {
            double* rows = take(std::ptrdiff_t(2) * nv_ * count);
            for (int k = 0; k < count; ++k) {
                if (!sweeps.tangent(entry(k))) return false;
                for (int r = 0; r < nv_; ++r) {
                    rows[r * count + k] = sweeps.xi()[r];
                    rows[(nv_ + r) * count + k] = sweeps.dv()[r];
                }
            }
            put(at, rows_by_numbers(sweeps.q_next(), rows, count), transposed);
            return true;
        };
        if (res_[at_dt] && !write(at_dt, 1, [](int) { return StepSweeps::length; })) return false;
        return !by_f || write(at_f, nwrenches_, [&](int k) { return entry(k); });
    }
    // The entry of the wrenches, row by row, that CasADi counts as its k-th.
    int entry(int k) const { return k % f_.nbodies * 6 + k / f_.nbodies; }

    // Sets the weights lam of displacements and velocities after the step.
    bool weigh() {
        const double* weights = seed_;
        if (!f_.numbers.trivial()) {
            double* lam = take(nv_);
            if (!q_next_) {
                q_next_ = take(nq_);
                double* results[] = {q_next_, take(nv_)};
                if (!run(*f_.value, results)) return false;
            }
            f_.numbers.by_displacement(q_next_, seed_, lam);
            weights = lam;
        }
        inputs_.set("lam_q", weights);
        inputs_.set("lam_v", seed_ + nq_);
        return true;
    }

    // Computes second derivatives by q, v and tau.
    bool curvature() {
        bool wanted = false;
        for (int a = 0; a < step_variables; ++a)
            for (int b = a; b < step_variables; ++b) wanted |= wants(a, b);
        if (!wanted) return true;
        if ((!f_.numbers.trivial() && !linearize()) || !weigh()) return false;
        const std::ptrdiff_t all = std::ptrdiff_t(step_variables) * nv_;
        double* H = take(all * all);
        if (!run(*f_.second, &H)) return false;
        if (!f_.numbers.trivial()) add_joints(H);
        double* block = take(std::ptrdiff_t(nv_) * nv_);
        for (int a = 0; a < step_variables; ++a)
            for (int b = a; b < step_variables; ++b) {
                if (!wants(a, b)) continue;
                for (int r = 0; r < nv_; ++r)
                    std::copy_n(H + (std::ptrdiff_t(a) * nv_ + r) * all + b * nv_, nv_,
                                block + std::ptrdiff_t(r) * nv_);
                if (a == b)
                    put(place(a, a), a ? block : curved(block), false);
                else
                    put_mixed(a, b, a ? block : numbers_by(block, nv_));
            }
        return true;
    }
    void put_mixed(int a, int b, const double* block) {
        put(place(a, b), block, false);
        put(place(b, a), block, true);
    }

    // Adds the terms of joints whose displacements do not commute: A^T K A, and the brackets.
    void add_joints(double* H) {
        const int all = step_variables * nv_;
        double* rows = take_zeros(std::ptrdiff_t(nv_) * all);
        double* bent = take(std::ptrdiff_t(nv_) * all);
        for (const ManifoldJoint& joint : f_.numbers.joints())
            for (int r = joint.v; r < joint.v + joint.nv(); ++r)
                for (int k = 0; k < step_variables; ++k)
                    for (int c = 0; c < nv_; ++c) rows[r * all + k * nv_ + c] = first(r, k, c);
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

    // Computes second derivatives by dt and wrenches, and by these and the other inputs.
    bool second_by_others() {
        const int dt = dt_at(), f_at = wrenches_at(), inputs = f_at + (nwrenches_ > 0);
        bool by_dt = false, by_f = false;
        for (int k = 0; k < inputs; ++k) {
            by_f |= nwrenches_ && wants(f_at, k);
            by_dt |= k != f_at && wants(dt, k);
        }
        if (!by_dt && !by_f) return true;
        double* const rest = w_;
        w_ += StepSweeps::numbers(f_);
        StepSweeps sweeps(f_, inputs_, rest, error_);
        if (!sweeps.forward() || !sweeps.adjoint(seed_) || !sweeps.curvatures()) return false;
        const auto write = [&](int a, int count, const auto& variable) {
            double *blocks[5], *by[5], *sorted = take(nwrenches_);
            const int sizes[] = {nv_, nv_, nv_, 1, nwrenches_};
            for (int k = 0; k < 5; ++k) blocks[k] = by[k] = take(std::ptrdiff_t(count) * sizes[k]);
            for (int k = 0; k < count; ++k) {
                if (!sweeps.tangent(variable(k)) ||
                    !sweeps.second({by[0], by[1], by[2], by[3], by[4]}))
                    return false;
                for (int j = 0; j < nwrenches_; ++j) sorted[j] = by[4][entry(j)];
                std::copy_n(sorted, nwrenches_, by[4]);
                for (int j = 0; j < 5; ++j) by[j] += sizes[j];
            }
            for (int b = 0; b < inputs; ++b) {
                if (!wants(a, b)) continue;
                const double* block = b ? blocks[b] : by_numbers(blocks[0], count);
                if (a == b)
                    put(place(a, a), block, false);
                else
                    put_mixed(a, b, block);
            }
            return true;
        };
        if (by_dt && !write(dt, 1, [](int) { return StepSweeps::length; })) return false;
        return !by_f || write(f_at, nwrenches_, [&](int k) { return entry(k); });
    }

    int results_, nwrenches_;
    NamedInputs inputs_;
    double *A_ = nullptr, *B_ = nullptr, *q_next_ = nullptr;
    const double *zeros_, *seed_;
};

}  // namespace

std::size_t casadi_step_work(const CasadiFunction& f, CasadiRole role) {
    const std::size_t nq = f.nq, n = f.nv, nw = wrenches(f), results = nq + n;
    const std::size_t always = step_zeros(f) + nw, sweeps = StepSweeps::numbers(f);
    const std::size_t linearized = 6 * n * n + nq + n + f.nrows, weighed = nq + 2 * n;
    // Blocks by tangent coordinates, by the result's numbers, and by the numbers of q.
    const std::size_t first = linearized + 2 * n * n + results * (3 * n + nq);
    const std::size_t others = sweeps + (1 + nw) * (2 * n + results);
    switch (role) {
        case CasadiRole::value:
            return always;
        case CasadiRole::jacobian:
            return always + first + others;
        case CasadiRole::adjoint:
            return always + weighed + step_variables * n + nw + sweeps;
        case CasadiRole::adjoint_jacobian:
        case CasadiRole::second:
            break;
    }
    const std::size_t second = 9 * n * n + 6 * n * n + n * n + 3 * n * nq + nq * nq;
    const std::size_t rows = 2 * nw + (1 + nw) * (3 * n + 1 + nw + nq);
    return always + first + others + linearized + weighed + second + sweeps + rows;
}

bool casadi_step(const CasadiFunction& f, CasadiRole role, const double* const* arg,
                 double* const* res, double* work, std::string& error) {
    StepEvaluation evaluation(f, role, arg, res, work, error);
    return evaluate_role(evaluation, role, error);
}

}  // namespace dtau
