// Evaluates functions of stacks of time derivatives for CasADi: value, Jacobian and adjoint.
//
// In CasADi, an array of several axes is a matrix: all axes but the last are rows, and vectors are
// columns. Numbers are counted column by column there, and row by row in the core.
#include <algorithm>

#include "interop/casadi_matrices.hpp"

namespace dtau {
namespace {

std::ptrdiff_t result_sizes(const RawCall& call) {
    const Signature& s = call.signature();
    std::ptrdiff_t sum = 0;
    for (int o = 0; o < s.noutputs; ++o) sum += call.result(o).size;
    return sum;
}

class StackEvaluation {
  public:
    StackEvaluation(const CasadiFunction& f, CasadiRole role, const double* const* arg,
                    double* const* res, double* work, std::string& error)
        : f_(f),
          patterns_(f.of(role)),
          arg_(arg),
          res_(res),
          w_(work),
          error_(error),
          ninputs_(f.ninputs()),
          orders_(f.value->result(0).shape[0]) {
        for (int i = 0; i < ninputs_; ++i) {
            double* dense = take(f.value->input(i).size);
            spread(patterns_.in[i], arg[i], dense);
            in_[i] = dense;
        }
    }

    bool value() {
        if (!res_[0]) return true;
        double* result = take(f_.value->result(0).size);
        if (!f_.value->run(in_, &result, 1, error_)) return false;
        leave(patterns_.out[0], result, false, res_[0]);
        return true;
    }

    bool jacobian() {
        const int nblocks = f_.first->signature().noutputs;
        double* blocks[Job::max_outputs];
        for (int o = 0; o < nblocks; ++o) blocks[o] = take(f_.first->result(o).size);
        const bool wanted = std::any_of(res_, res_ + nblocks, [](double* r) { return r; });
        if (wanted && !f_.first->run(in_, blocks, 1, error_)) return false;
        for (int i = 0; i < nblocks; ++i)
            if (res_[i]) put(i, blocks[i]);
        return !f_.takes_wrenches || !res_[ninputs_ - 1] || by_wrenches();
    }

    bool adjoint() {
        double* weights = take(f_.value->result(0).size);
        spread(patterns_.in[ninputs_ + 1], arg_[ninputs_ + 1], weights);
        double* gradient[Job::max_inputs];
        if (!product(weights, 1, gradient)) return false;
        if (res_[0]) std::copy_n(gradient[0], f_.nq, res_[0]);
        for (int i = 1; i < ninputs_; ++i)
            if (res_[i]) leave(patterns_.out[i], gradient[i], false, res_[i]);
        return true;
    }

  private:
    double* take(std::ptrdiff_t numbers) {
        double* here = w_;
        w_ += numbers;
        return here;
    }

    // Writes the block by input i, whose axes are the orders of the result, the rows of the stack,
    // the rows of the result and the numbers of one row.
    void put(int i, const double* block) {
        const RawCall::Array& input = f_.value->input(i);
        const std::ptrdiff_t stack = input.ndim > 1 ? input.shape[0] : 1;
        const std::ptrdiff_t width = input.size / stack, nv = f_.nv;
        double* dense = take(orders_ * nv * input.size);
        for (std::ptrdiff_t k = 0; k < orders_; ++k)
            for (std::ptrdiff_t m = 0; m < stack; ++m)
                for (std::ptrdiff_t r = 0; r < nv; ++r, block += width)
                    for (std::ptrdiff_t c = 0; c < width; ++c)
                        dense[(r * orders_ + k) * input.size + c * stack + m] = block[c];
        leave(patterns_.out[i], dense, false, res_[i]);
    }

    // Computes gradients of results weighted by each of `states` stacks of weights.
    bool product(const double* weights, std::ptrdiff_t states, double** gradient) {
        RawInput given[Job::max_inputs];
        const int after = f_.takes_wrenches ? ninputs_ - 1 : ninputs_;  // weights precede wrenches
        for (int i = 0; i < ninputs_; ++i) {
            given[i < after ? i : i + 1] = {in_[i], 0, nullptr};
            gradient[i] = take(states * f_.product->result(i).size);
        }
        const std::int64_t shape = states;
        given[after] = {weights, 1, &shape};
        return f_.product->run(given, gradient, states, error_);
    }

    // Writes the block by wrenches: the gradients of all numbers of the result.
    bool by_wrenches() {
        const std::ptrdiff_t nv = f_.nv, states = orders_ * nv;
        double* units = take(states * states);
        std::fill_n(units, states * states, 0.0);
        for (std::ptrdiff_t k = 0; k < states; ++k) units[k * (states + 1)] = 1.0;
        double* gradient[Job::max_inputs];
        if (!product(units, states, gradient)) return false;
        const std::ptrdiff_t size = f_.value->input(ninputs_ - 1).size, rows = size / 6;
        double* dense = take(states * size);
        const double* from = gradient[ninputs_ - 1];
        for (std::ptrdiff_t k = 0; k < orders_; ++k)
            for (std::ptrdiff_t r = 0; r < nv; ++r)
                for (std::ptrdiff_t b = 0; b < rows; ++b)
                    for (std::ptrdiff_t c = 0; c < 6; ++c)
                        dense[(r * orders_ + k) * size + c * rows + b] = *from++;
        leave(patterns_.out[ninputs_ - 1], dense, false, res_[ninputs_ - 1]);
        return true;
    }

    const CasadiFunction& f_;
    const CasadiFunction::Patterns& patterns_;
    const double* const* arg_;
    double* const* res_;
    double* w_;
    std::string& error_;
    int ninputs_;
    std::ptrdiff_t orders_;  // how many orders the result has
    const double* in_[Job::max_inputs] = {};
};

}  // namespace

std::size_t casadi_stack_work(const CasadiFunction& f, CasadiRole role) {
    const std::ptrdiff_t result = f.value->result(0).size;
    std::ptrdiff_t inputs = 0;
    for (int i = 0; i < f.ninputs(); ++i) inputs += f.value->input(i).size;
    const std::ptrdiff_t gradient = result_sizes(*f.product);
    std::ptrdiff_t numbers = inputs;
    switch (role) {
        case CasadiRole::value:
            numbers += result;
            break;
        case CasadiRole::jacobian:
            numbers += result_sizes(*f.first) + result * inputs;
            if (f.takes_wrenches) numbers += result * (result + gradient);
            break;
        case CasadiRole::adjoint:
            numbers += result + gradient;
            break;
        case CasadiRole::adjoint_jacobian:
        case CasadiRole::second:
            break;
    }
    return static_cast<std::size_t>(numbers);
}

bool casadi_stack(const CasadiFunction& f, CasadiRole role, const double* const* arg,
                  double* const* res, double* work, std::string& error) {
    StackEvaluation evaluation(f, role, arg, res, work, error);
    return evaluate_role(evaluation, role, error);
}

}  // namespace dtau
