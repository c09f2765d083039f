// Evaluates constrained dynamics and impacts for CasADi. Their result is one vector: accelerations,
// forces and residuals, or velocities and impulses. Residuals have no derivatives here.
#include <cstring>

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
        v_ = or_zeros(arg[v_at()]);
        x_ = f.takes_x ? or_zeros(arg[x_at()]) : nullptr;
        mask_ = f.takes_mask ? or_zeros(arg[wrenches_at()]) : nullptr;
        const bool has_seed = role == CasadiRole::adjoint || role == CasadiRole::adjoint_jacobian;
        seed_ = has_seed ? or_zeros(arg[ninputs_ + 1]) : zeros_;
    }

    bool value() {
        if (!res_[0]) return true;
        double* parts[] = {res_[0], res_[0] + nv_, res_[0] + rows_};
        return run(*f_.value, parts);
    }

    bool jacobian() { return first_of(0, 1, false); }

    bool adjoint() {
        double* gradient[4] = {};
        for (int k = 0; k < variables(f_); ++k) gradient[k] = take_zeros(nv_);
        if (f_.product ? !run(*f_.product, gradient) : !gradient_by_matrices(gradient))
            return false;
        if (res_[0]) gradient_by_numbers(gradient[0], res_[0]);
        for (int k = 1; k < variables(f_); ++k)
            if (res_[k]) std::copy_n(gradient[k], nv_, res_[k]);
        return true;
    }

    bool adjoint_jacobian() {
        if (!first_of(ninputs_ + 1, ninputs_ + 2, true)) return false;
        const bool by_v = wants(0, v_at()) || res_[place(v_at(), v_at())];
        if (!wants(0, 0) && !by_v && !(f_.takes_x && wants(0, x_at()))) return true;
        double* H[4] = {};
        const int blocks = f_.takes_x ? 4 : 2;
        for (int k = 0; k < blocks; ++k) H[k] = take(std::ptrdiff_t(nv_) * nv_);
        if (!run(*f_.second, H)) return false;
        put_curvature(H[0], H[1], H[2], H[3]);
        return true;
    }

  private:
    const double* or_zeros(const double* given) const { return given ? given : zeros_; }

    // Runs a call on the inputs that its signature names.
    bool run(const RawCall& call, double* const* results) {
        const double* inputs[Job::max_inputs];
        for (int i = 0; i < call.signature().ninputs; ++i) inputs[i] = input(call.input(i).name);
        return call.run(inputs, results, 1, error_);
    }
    const double* input(const char* name) const {
        const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
        if (is("q")) return q_;
        if (is("v")) return v_;
        if (is("tau")) return x_;
        if (is("active")) return mask_;
        if (is("lam")) return seed_;
        if (is("lam_forces") || is("lam_impulses")) return seed_ + nv_;
        if (is("restitution")) return zeros_;
        return nullptr;  // f_ext
    }

    // Computes the matrices by all variables, accelerations above forces.
    bool matrices(double** D) {
        const int n = variables(f_);
        double* results[7] = {};
        for (int k = 0; k < n; ++k) {
            results[k] = D[k] = take(std::ptrdiff_t(rows_) * nv_);
            results[n + k] = D[k] + nv_ * nv_;
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
        if (res_[first]) put(first, by_numbers(D[0], rows_), transposed);
        for (int k = 1; k < variables(f_); ++k) put(first + k * step, D[k], transposed);
        return true;
    }

    bool gradient_by_matrices(double** gradient) {
        double* D[3];
        if (!matrices(D)) return false;
        for (int k = 0; k < variables(f_); ++k)
            for (int r = 0; r < rows_; ++r)
                for (int c = 0; c < nv_; ++c) gradient[k][c] += seed_[r] * D[k][r * nv_ + c];
        return true;
    }

    int rows_;  // with derivatives
    const double *zeros_, *v_, *x_, *mask_, *seed_;
};

}  // namespace

std::size_t casadi_constrained_work(const CasadiFunction& f, CasadiRole role) {
    const std::size_t nq = f.nq, nv = f.nv, nrows = f.nrows, rows = nv + nrows;
    const std::size_t first = 3 * rows * nv + nrows + rows * nq;
    switch (role) {
        case CasadiRole::value:
            return zeros(f);
        case CasadiRole::jacobian:
            return zeros(f) + first;
        case CasadiRole::adjoint:
            return zeros(f) + 3 * nv + first;
        case CasadiRole::adjoint_jacobian:
        case CasadiRole::second:
            break;
    }
    return zeros(f) + first + 4 * nv * nv + 3 * nv * nq + nq * nq;
}

bool casadi_constrained(const CasadiFunction& f, CasadiRole role, const double* const* arg,
                        double* const* res, double* work, std::string& error) {
    Constrained evaluation(f, role, arg, res, work, error);
    switch (role) {
        case CasadiRole::value:
            return evaluation.value();
        case CasadiRole::jacobian:
            return evaluation.jacobian();
        case CasadiRole::adjoint:
            return evaluation.adjoint();
        case CasadiRole::adjoint_jacobian:
        case CasadiRole::second:
            break;
    }
    return evaluation.adjoint_jacobian();
}

}  // namespace dtau
