// Evaluates the functions that CasADi derives from a slot: value, Jacobian, adjoint, and Jacobian
// of the adjoint (casadi_second.cpp has the Jacobian of the Jacobian; casadi_constrained.cpp,
// casadi_steps.cpp and casadi_stacks.cpp have functions with contacts, time steps, and functions of
// stacks).
//
// Arguments follow CasADi's rule: a Jacobian takes the inputs and the results; an adjoint takes the
// inputs, the results and a seed for each. The results passed in are never read.
#include "interop/casadi_matrices.hpp"

namespace dtau {
namespace {

class Evaluation : CasadiMatrices {
  public:
    Evaluation(const CasadiFunction& f, CasadiRole role, const double* const* arg,
               double* const* res, double* work, std::string& error)
        : CasadiMatrices(f, role, arg, res, work, error) {
        zeros_ = take_zeros(std::max(nq_, nv_));
        q_ = arg[0] ? arg[0] : zeros_;
        v_ = f.takes_v && arg[v_at()] ? arg[v_at()] : zeros_;
        x_ = f.takes_x && arg[x_at()] ? arg[x_at()] : zeros_;
        if (f.takes_wrenches) {
            wrenches_ = take(6 * f.nbodies);
            spread(patterns_.in[wrenches_at()], arg[wrenches_at()], wrenches_);
        }
    }

    bool value() {
        if (!res_[0]) return true;
        const double* in[] = {q_, v_, x_, wrenches_};
        const double* given[Job::max_inputs] = {};
        int count = 0;
        const bool takes[] = {true, f_.takes_v, f_.takes_x, has_wrenches(*f_.value)};
        for (int i = 0; i < 4; ++i)
            if (takes[i]) given[count++] = in[i];
        if (!f_.is_matrix) return f_.value->run(given, &res_[0], 1, error_);
        double* matrix = take(nv_ * nv_);
        if (!f_.value->run(given, &matrix, 1, error_)) return false;
        leave(patterns_.out[0], matrix, false, res_[0]);
        return true;
    }

    bool jacobian() {
        if (f_.is_matrix) {
            if (!res_[0]) return true;
            const double* by_q = tensors();
            if (by_q) leave(patterns_.out[0], by_q, false, res_[0]);
            return by_q;
        }
        if (!first_of(res_, 1, false)) return false;
        return !f_.takes_wrenches || !res_[wrenches_at()] || by_wrenches(wrenches_at(), false);
    }

    bool adjoint() {
        if (f_.is_matrix) {
            if (!res_[0]) return true;
            const double* tensor = tensors();
            if (!tensor) return false;
            matrix_gradient(tensor, seed_matrix(), res_[0]);
            return true;
        }
        double* gradient[4];
        if (!product(gradient)) return false;
        if (res_[0]) std::copy_n(gradient[0], nq_, res_[0]);
        if (f_.takes_v && res_[v_at()]) std::copy_n(gradient[1], nv_, res_[v_at()]);
        if (f_.takes_x && res_[x_at()]) std::copy_n(gradient[2], nv_, res_[x_at()]);
        if (f_.takes_wrenches && res_[wrenches_at()])
            leave(patterns_.out[wrenches_at()], gradient[3], false, res_[wrenches_at()]);
        return true;
    }

    bool adjoint_jacobian() {
        if (f_.is_matrix) return matrix_adjoint_jacobian();
        return curvature() && first_of(res_ + ninputs_ + 1, ninputs_ + 2, true) &&
               (!f_.takes_wrenches || (wrenches_by_q() && wrenches_by_seed()));
    }

  private:
    static bool has_wrenches(const RawCall& call) {
        const Signature& s = call.signature();
        return std::any_of(s.inputs, s.inputs + s.ninputs, [](const ArraySignature& x) {
            return *x.quantity == Quantity::wrenches;
        });
    }
    const double* seed() const { return arg_[ninputs_ + 1] ? arg_[ninputs_ + 1] : zeros_; }
    const double* seed_matrix() {
        double* S = take(nv_ * nv_);
        spread(patterns_.in[ninputs_ + 1], arg_[ninputs_ + 1], S);
        return S;
    }
    // Computes the three matrices of first derivatives; result k goes to res[k * step].
    bool first_of(double* const* res, int step, bool transposed) {
        const auto wanted = [&](int k) { return res[k * step] != nullptr; };
        if (!wanted(0) && !(f_.takes_v && wanted(v_at())) && !(f_.takes_x && wanted(x_at())))
            return true;
        double* D[3];
        for (double*& matrix : D) matrix = take(std::ptrdiff_t(nv_) * nq_);
        const double* in[Job::max_inputs] = {q_, v_, x_, wrenches_};
        if (!f_.first->run(in, D, 1, error_)) return false;
        const auto at = [&](int k) { return static_cast<int>(&res[k * step] - res_); };
        put(at(0), D[0], transposed);
        if (f_.takes_v) put(at(v_at()), D[1], transposed);
        if (f_.takes_x) put(at(x_at()), D[2], transposed);
        return true;
    }

    // Computes the derivative by external wrenches, whose numbers CasADi has column by column.
    bool by_wrenches(int at, bool transposed) {
        const int nb = f_.nbodies;
        double* B = take(std::ptrdiff_t(nv_) * 6 * nb);
        const double* in[Job::max_inputs] = {q_};
        if (!f_.by_wrench->run(in, &B, 1, error_)) return false;
        double* columns = take(std::ptrdiff_t(nv_) * 6 * nb);
        for (int i = 0; i < nv_; ++i)
            for (int b = 0; b < nb; ++b)
                for (int c = 0; c < 6; ++c)
                    columns[i * 6 * nb + c * nb + b] = B[(i * nb + b) * 6 + c];
        leave(patterns_.out[at], columns, transposed, res_[at]);
        return true;
    }
    bool wrenches_by_seed() {
        const int at = place(wrenches_at(), ninputs_ + 1);
        return !res_[at] || by_wrenches(at, true);
    }

    // Computes the gradient of seed . result.
    bool product(double** gradient) {
        for (int k = 0; k < 3; ++k) gradient[k] = take(nq_);
        gradient[3] = f_.takes_wrenches ? take(6 * f_.nbodies) : nullptr;
        const double* in[Job::max_inputs] = {q_, v_, x_, seed(), wrenches_};
        return f_.product->run(in, gradient, 1, error_);
    }

    // Computes second derivatives of seed . result by q, v and x.
    bool curvature() {
        const bool by_v = f_.takes_v && (wants(0, v_at()) || res_[place(v_at(), v_at())]);
        if (!wants(0, 0) && !by_v && !(f_.takes_x && wants(0, x_at()))) return true;
        double* H[4];
        for (double*& block : H) block = take(std::ptrdiff_t(nq_) * nq_);
        const double* in[Job::max_inputs] = {q_, v_, x_, seed(), wrenches_};
        if (!f_.second->run(in, H, 1, error_)) return false;
        put_curvature(H[0], H[1], H[2], H[3]);
        return true;
    }

    // Computes the derivative by q of the gradient by wrenches: unit wrenches add it to the
    // gradient by q.
    bool wrenches_by_q() {
        const int at = place(wrenches_at(), 0), back = place(0, wrenches_at()), nb = f_.nbodies;
        if (!res_[at] && !res_[back]) return true;
        const std::ptrdiff_t n = 6 * nb, states = n + 1;
        double* units = take(states * n);
        std::fill_n(units, states * n, 0.0);
        for (int b = 0; b < nb; ++b)
            for (int c = 0; c < 6; ++c) units[(c * nb + b) * n + b * 6 + c] = 1.0;
        double* gradient[4];
        for (int k = 0; k < 3; ++k) gradient[k] = take(states * nq_);
        gradient[3] = take(states * n);
        const std::int64_t shape = states;
        const RawInput in[Job::max_inputs] = {{q_, 0, nullptr},
                                              {v_, 0, nullptr},
                                              {x_, 0, nullptr},
                                              {seed(), 0, nullptr},
                                              {units, 1, &shape}};
        if (!f_.product->run(in, gradient, states, error_)) return false;
        double* by_q = gradient[0];
        for (std::ptrdiff_t r = 0; r < n; ++r)
            for (int k = 0; k < nq_; ++k) by_q[r * nq_ + k] -= by_q[n * nq_ + k];
        put(at, by_q, false);
        put(back, by_q, true);
        return true;
    }

    // The derivative of the matrix by q, [i, j, k]; null if it fails. It does not depend on v and
    // x.
    const double* tensors() {
        double* T[4];
        for (double*& tensor : T) tensor = take(std::ptrdiff_t(nv_) * nq_ * nq_);
        const double* in[Job::max_inputs] = {q_, zeros_, zeros_};
        return f_.tensors->run(in, T, 1, error_) ? T[3] : nullptr;
    }
    void matrix_gradient(const double* tensor, const double* S, double* g) const {
        std::fill_n(g, nq_, 0.0);
        for (std::ptrdiff_t ij = 0; ij < std::ptrdiff_t(nv_) * nv_; ++ij)
            for (int k = 0; S[ij] != 0.0 && k < nq_; ++k) g[k] += S[ij] * tensor[ij * nq_ + k];
    }
    bool matrix_adjoint_jacobian() {
        const int by_seed = place(0, ninputs_ + 1);
        if (!res_[0] && !res_[by_seed]) return true;
        if (res_[by_seed]) {
            // A symmetric matrix has the same numbers by rows and by columns.
            const double* by_q = tensors();
            if (!by_q) return false;
            leave(patterns_.out[by_seed], by_q, true, res_[by_seed]);
        }
        if (!res_[0]) return true;
        const double* H = matrix_curvature(seed_matrix());
        if (H) leave(patterns_.out[0], H, false, res_[0]);
        return H;
    }
    // Second derivatives of the sum of S_ij matrix_ij: the columns are results for unit x, minus
    // the result for x = 0.
    const double* matrix_curvature(const double* S) {
        const std::ptrdiff_t states = nv_ + 1, matrix = std::ptrdiff_t(nq_) * nq_;
        double* units = take(states * nv_);
        double* weights = take(states * nv_);
        std::fill_n(units, states * nv_, 0.0);
        std::fill_n(weights, states * nv_, 0.0);
        for (int j = 0; j < nv_; ++j) {
            units[j * nv_ + j] = 1.0;
            for (int i = 0; i < nv_; ++i) {
                weights[j * nv_ + i] = S[i * nv_ + j];
                weights[nv_ * nv_ + i] += S[i * nv_ + j];
            }
        }
        double* H[4];
        for (double*& block : H) block = take(states * matrix);
        const std::int64_t shape = states;
        const RawInput in[Job::max_inputs] = {{q_, 0, nullptr},
                                              {zeros_, 0, nullptr},
                                              {units, 1, &shape},
                                              {weights, 1, &shape},
                                              {nullptr, 0, nullptr}};
        if (!f_.second->run(in, H, states, error_)) return nullptr;
        double* sum = H[0] + nv_ * matrix;
        for (std::ptrdiff_t k = 0; k < matrix; ++k) {
            double total = 0.0;
            for (int j = 0; j < nv_; ++j) total += H[0][j * matrix + k];
            sum[k] = total - sum[k];
        }
        return sum;
    }

    double *zeros_, *wrenches_ = nullptr;
    const double *v_, *x_;
};

}  // namespace

std::size_t casadi_work(const CasadiFunction& f, CasadiRole role) {
    if (f.is_stack) return casadi_stack_work(f, role);
    if (role == CasadiRole::second) return casadi_second_work(f);
    if (f.is_constrained) return casadi_constrained_work(f, role);
    if (f.takes_dt) return casadi_step_work(f, role);
    const std::size_t nq = f.nq, nv = f.nv, n = f.takes_wrenches ? 6 * f.nbodies : 0;
    const std::size_t matrix = nq * nq, always = nq + n;  // nq >= nv
    const std::size_t gradient = 3 * nq + n;
    const std::size_t tensors = 4 * nv * matrix;
    switch (role) {
        case CasadiRole::value:
            return always + (f.is_matrix ? matrix : 0);
        case CasadiRole::jacobian:
            return always + (f.is_matrix ? tensors : 3 * matrix + 2 * nv * n);
        case CasadiRole::adjoint:
            return always + (f.is_matrix ? tensors + matrix : gradient);
        case CasadiRole::adjoint_jacobian:
        case CasadiRole::second:
            break;
    }
    if (f.is_matrix) return always + tensors + matrix + 2 * (nv + 1) * (nv + 2 * matrix);
    const std::size_t wrenches = (n + 1) * (n + gradient) + 2 * nv * n;
    return always + 7 * matrix + (n ? wrenches : 0);
}

bool casadi_evaluate(const CasadiFunction& f, CasadiRole role, const double* const* arg,
                     double* const* res, double* work, std::string& error) {
    if (f.is_stack) return casadi_stack(f, role, arg, res, work, error);
    if (role == CasadiRole::second) return casadi_second(f, arg, res, work, error);
    if (f.is_constrained) return casadi_constrained(f, role, arg, res, work, error);
    if (f.takes_dt) return casadi_step(f, role, arg, res, work, error);
    Evaluation evaluation(f, role, arg, res, work, error);
    return evaluate_role(evaluation, role, error);
}

}  // namespace dtau
