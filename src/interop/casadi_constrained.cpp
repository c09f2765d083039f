// Evaluates constrained dynamics and impacts for CasADi. Their result is one vector: accelerations,
// forces and residuals, or velocities and impulses. Residuals have no derivatives here.
#include "interop/casadi_matrices.hpp"

namespace dtau {
namespace {

// The number of variables of the derivatives: q, v and, for dynamics, tau.
int variables(const CasadiFunction& f) { return 2 + f.takes_x; }
std::size_t zeros(const CasadiFunction& f) {
    return std::max({f.nq, f.nv + 2 * f.nrows, f.ncontacts, 1});
}

class Constrained : CasadiMatrices {
  public:
    Constrained(const CasadiFunction& f, CasadiRole role, const double* const* arg,
                double* const* res, double* work, std::string& error)
        : CasadiMatrices(f, role, arg, res, work, error), rows_(f.nv + f.nrows) {
        zeros_ = take_zeros(zeros(f));
        q_ = or_zeros(arg[0]);
        const bool has_seed = role == CasadiRole::adjoint || role == CasadiRole::adjoint_jacobian;
        seed_ = has_seed ? or_zeros(arg[ninputs_ + 1]) : zeros_;
        inputs_.set("q", q_);
        inputs_.set("v", or_zeros(arg[v_at()]));
        if (f.takes_x) inputs_.set("tau", or_zeros(arg[x_at()]));
        if (f.takes_mask) inputs_.set("active", or_zeros(arg[mask_at()]));
        inputs_.set("lam", seed_);
        inputs_.set("lam_forces", seed_ + nv_);
        inputs_.set("lam_impulses", seed_ + nv_);
        inputs_.set("restitution", zeros_);
    }

    bool value() {
        if (!res_[0]) return true;
        double* parts[] = {res_[0], res_[0] + nv_, res_[0] + rows_};
        return run(*f_.value, parts);
    }

    bool jacobian() { return first_of(0, 1, false); }

    bool adjoint() {
        double* gradient[4] = {};
        for (int k = 0; k < variables(f_); ++k) gradient[k] = take_zeros(nq_);
        if (f_.product ? !run(*f_.product, gradient) : !gradient_by_matrices(gradient))
            return false;
        if (res_[0]) std::copy_n(gradient[0], nq_, res_[0]);
        for (int k = 1; k < variables(f_); ++k)
            if (res_[k]) std::copy_n(gradient[k], nv_, res_[k]);
        put_gradient_by_mask();
        return true;
    }

    bool adjoint_jacobian() {
        if (!first_of(ninputs_ + 1, ninputs_ + 2, true)) return false;
        const bool by_v = wants(0, v_at()) || res_[place(v_at(), v_at())];
        if (!wants(0, 0) && !by_v && !(f_.takes_x && wants(0, x_at()))) return true;
        double* H[4] = {};
        const int blocks = f_.takes_x ? 4 : 2;
        for (int k = 0; k < blocks; ++k) H[k] = take(std::ptrdiff_t(nq_) * nq_);
        if (!run(*f_.second, H)) return false;
        put_curvature(H[0], H[1], H[2], H[3]);
        return true;
    }

  private:
    const double* or_zeros(const double* given) const { return given ? given : zeros_; }

    bool run(const RawCall& call, double* const* results) {
        return inputs_.run(call, results, error_);
    }

    int columns(int variable) const { return variable == 0 ? nq_ : nv_; }

    // Computes the matrices by all variables, accelerations above forces.
    bool matrices(double** D) {
        const int n = variables(f_);
        double* results[7] = {};
        for (int k = 0; k < n; ++k) {
            results[k] = D[k] = take(std::ptrdiff_t(rows_) * columns(k));
            results[n + k] = D[k] + nv_ * columns(k);
        }
        results[2 * n] = take(f_.nrows);  // residuals
        return run(*f_.first, results);
    }

    // Writes the matrix by variable k as result `first + k step`.
    bool first_of(int first, int step, bool transposed) {
        bool wanted = false;
        for (int k = 0; k < variables(f_); ++k) wanted |= res_[first + k * step] != nullptr;
        if (!wanted) return true;
        double* D[3];
        if (!matrices(D)) return false;
        for (int k = 0; k < variables(f_); ++k) put(first + k * step, D[k], transposed);
        return true;
    }

    bool gradient_by_matrices(double** gradient) {
        double* D[3];
        if (!matrices(D)) return false;
        for (int k = 0; k < variables(f_); ++k)
            for (int r = 0; r < rows_; ++r)
                for (int c = 0; c < columns(k); ++c)
                    gradient[k][c] += seed_[r] * D[k][r * columns(k) + c];
        return true;
    }

    int rows_;  // with derivatives
    NamedInputs inputs_;
    const double *zeros_, *seed_;
};

}  // namespace

std::size_t casadi_constrained_work(const CasadiFunction& f, CasadiRole role) {
    const std::size_t nq = f.nq, nv = f.nv, nrows = f.nrows, rows = nv + nrows;
    const std::size_t first = rows * (nq + 2 * nv) + nrows;
    switch (role) {
        case CasadiRole::value:
            return zeros(f);
        case CasadiRole::jacobian:
            return zeros(f) + first;
        case CasadiRole::adjoint:
            return zeros(f) + 3 * nq + first;
        case CasadiRole::adjoint_jacobian:
        case CasadiRole::second:
            break;
    }
    return zeros(f) + first + 4 * nq * nq;
}

bool casadi_constrained(const CasadiFunction& f, CasadiRole role, const double* const* arg,
                        double* const* res, double* work, std::string& error) {
    Constrained evaluation(f, role, arg, res, work, error);
    return evaluate_role(evaluation, role, error);
}

}  // namespace dtau
