// Memory and matrices of one evaluation for CasADi:
// CasadiMatrices. NamedInputs runs calls on inputs that it knows by name, and evaluate_role() selects
// the method of a role.
#pragma once

#include <cstring>
#include <initializer_list>
#include <utility>

#include "interop/casadi_nonzeros.hpp"

namespace dtau {

// Inputs by their names in signatures. A call gets null for those that are missing.
class NamedInputs {
  public:
    void set(const char* name, const double* data) {
        for (Input& each : inputs_)
            if (!each.name || std::strcmp(each.name, name) == 0) {
                each = {name, data};
                return;
            }
    }
    // Runs for the results of these names; the others have no numbers.
    bool run(const RawCall& call, std::initializer_list<std::pair<const char*, double*>> results,
             std::string& error) const {
        double* to[Job::max_outputs] = {};
        for (int o = 0; o < call.nresults(); ++o)
            for (const auto& [name, data] : results)
                if (std::strcmp(call.result(o).name, name) == 0) to[o] = data;
        return run(call, to, error);
    }
    bool run(const RawCall& call, double* const* results, std::string& error) const {
        const double* given[Job::max_inputs];
        for (int i = 0; i < call.signature().ninputs; ++i) given[i] = get(call.input(i).name);
        return call.run(given, results, 1, error);
    }
    const double* get(const char* name) const {
        for (const Input& each : inputs_)
            if (each.name && std::strcmp(each.name, name) == 0) return each.data;
        return nullptr;
    }

  private:
    struct Input {
        const char* name = nullptr;
        const double* data = nullptr;
    } inputs_[16];
};

// Computes a role by the method of its name. Functions without second derivatives have no
// adjoint_jacobian().
template <class Evaluation>
bool evaluate_role(Evaluation& evaluation, CasadiRole role, std::string& error) {
    switch (role) {
        case CasadiRole::value:
            return evaluation.value();
        case CasadiRole::jacobian:
            return evaluation.jacobian();
        case CasadiRole::adjoint:
            return evaluation.adjoint();
        case CasadiRole::adjoint_jacobian:
            if constexpr (requires { evaluation.adjoint_jacobian(); })
                return evaluation.adjoint_jacobian();
            break;
        case CasadiRole::second:
            break;
    }
    error = "expected a value or a first derivative";
    return false;
}

class CasadiMatrices {
  protected:
    CasadiMatrices(const CasadiFunction& f, CasadiRole role, const double* const* arg,
                   double* const* res, double* work, std::string& error)
        : f_(f),
          patterns_(f.of(role)),
          arg_(arg),
          res_(res),
          w_(work),
          error_(error),
          nq_(f.nq),
          nv_(f.nv),
          ninputs_(f.ninputs()) {}

    double* take(std::ptrdiff_t numbers) {
        double* here = w_;
        w_ += numbers;
        return here;
    }
    double* take_zeros(std::ptrdiff_t numbers) {
        double* here = take(numbers);
        std::fill_n(here, numbers, 0.0);
        return here;
    }
    int v_at() const { return 1; }
    int x_at() const { return 1 + f_.takes_v; }
    int dt_at() const { return 1 + f_.takes_v + f_.takes_x; }
    int wrenches_at() const { return dt_at() + f_.takes_dt; }
    int mask_at() const { return wrenches_at() + f_.takes_wrenches; }
    // The index of a result of an adjoint's Jacobian: the gradient by input a, by input b of the
    // adjoint.
    int place(int a, int b) const { return a * (ninputs_ + 2) + b; }
    // Writes a result, if it is asked for.
    void put(int at, const double* matrix, bool transposed) {
        if (res_[at]) leave(patterns_.out[at], matrix, transposed, res_[at]);
    }

    // The mask of active contacts has no derivative: its gradient is zero.
    void put_gradient_by_mask() const {
        if (f_.takes_mask && res_[mask_at()]) std::fill_n(res_[mask_at()], f_.ncontacts, 0.0);
    }

    // Whether the adjoint's Jacobian asks for a second derivative by both inputs, in some order.
    bool wants(int a, int b) const { return res_[place(a, b)] || res_[place(b, a)]; }
    // Writes the second derivatives that were asked for: by q twice, by q and v, by v twice, by x
    // and q. Null blocks are not written.
    void put_curvature(const double* qq, const double* qv, const double* vv, const double* xq) {
        const int q = 0, v = v_at(), x = x_at();
        const auto put_both = [&](int a, int b, const double* block) {
            put(place(a, b), block, false);
            put(place(b, a), block, true);
        };
        if (qq) put(place(q, q), qq, false);
        if (qv && f_.takes_v) put_both(q, v, qv);
        if (vv && f_.takes_v) put(place(v, v), vv, false);
        if (xq && f_.takes_x) put_both(x, q, xq);
    }

    const CasadiFunction& f_;
    const CasadiFunction::Patterns& patterns_;
    const double* const* arg_;
    double* const* res_;
    double* w_;
    std::string& error_;
    int nq_, nv_, ninputs_;
    const double* q_ = nullptr;
};

}  // namespace dtau
