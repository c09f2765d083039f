// Evaluates the functions that CasADi derives from a slot, as they were planned: value, Jacobian,
// adjoint, and Jacobian of the adjoint (casadi_second.cpp has the Jacobian of the Jacobian).
//
// Arguments follow CasADi's rule: a Jacobian takes the inputs and the results; an adjoint takes the
// inputs, the results and a seed for each. The results passed in are never read.
#include <algorithm>

#include "interop/casadi_slots.hpp"

namespace dtau {
namespace {

std::ptrdiff_t given_numbers(const CasadiPlan& plan) {
    std::ptrdiff_t count = 2;
    for (const CasadiPattern& p : plan.in) count += casadi_nonzeros(p);
    return count;
}

bool makes(const CasadiCall& call, int result) {
    return std::any_of(call.results.begin(), call.results.end(),
                       [&](const CasadiCall::Result& r) { return r.result == result; });
}

// The call of a group that computes what is wanted of it; null: nothing is.
const CasadiCall* choose(const std::vector<CasadiCall>& group, double* const* res) {
    const std::vector<CasadiCall::Result>& all = group.back().results;
    const auto wanted = [&](const CasadiCall::Result& r) { return res[r.result] != nullptr; };
    if (std::none_of(all.begin(), all.end(), wanted)) return nullptr;
    for (const CasadiCall& call : group)
        if (std::all_of(all.begin(), all.end(), [&](const CasadiCall::Result& r) {
                return !wanted(r) || makes(call, r.result);
            }))
            return &call;
    return nullptr;
}

void leave(const CasadiCall::Result& r, const double* numbers, const double* given, double* to) {
    const std::int32_t* place = r.places.data();
    const std::size_t count = r.places.size();
    if (r.terms == 1 && r.factors.empty()) {
        for (std::size_t k = 0; k < count; ++k) to[k] = numbers[place[k]];
        return;
    }
    for (std::size_t k = 0; k < count; ++to) {
        *to = 0.0;
        for (int term = 0; term < r.terms; ++term, ++k)
            *to += r.factors.empty() ? numbers[place[k]] : given[r.factors[k]] * numbers[place[k]];
    }
}

bool run(const CasadiCall& c, const double* given, double* const* res, double* work,
         std::string& error) {
    const std::int64_t shape = c.states;
    RawInput inputs[Job::max_inputs];
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
        const CasadiCall::Input& input = c.inputs[i];
        if (!input.is_given) continue;
        inputs[i] = {input.first < 0 ? work : given + input.first, input.each, &shape};
        if (input.first >= 0) continue;
        for (std::int32_t place : input.places) *work++ = given[place];
    }
    const double* const numbers = work;
    double* results[Job::max_outputs];
    for (int o = 0; o < c.call->nresults(); ++o) {
        results[o] = work;
        work += c.states * c.call->result(o).size;
    }
    if (!c.call->run(inputs, results, c.states, error)) return false;
    for (const CasadiCall::Result& r : c.results)
        if (res[r.result]) leave(r, numbers, given, res[r.result]);
    return true;
}

}  // namespace

CasadiInt casadi_nonzeros(const CasadiPattern& p) {
    return p.size() == 3 ? p[0] * p[1] : p[2 + p[1]];
}

std::size_t CasadiPlan::work() const {
    std::size_t most = 0;
    for (const std::vector<CasadiCall>& group : groups)
        for (const CasadiCall& c : group) {
            std::size_t numbers = 0;
            for (const CasadiCall::Input& input : c.inputs) numbers += input.places.size();
            for (int o = 0; o < c.call->nresults(); ++o)
                numbers += c.states * c.call->result(o).size;
            most = std::max(most, numbers);
        }
    return given_numbers(*this) + most;
}

std::size_t casadi_work(const CasadiFunction& f, CasadiRole role) {
    return role == CasadiRole::second ? casadi_second_work(f) : f.of(role).work();
}

bool casadi_evaluate(const CasadiFunction& f, CasadiRole role, const double* const* arg,
                     double* const* res, double* work, std::string& error) {
    if (role == CasadiRole::second) return casadi_second(f, arg, res, work, error);
    const CasadiPlan& plan = f.of(role);
    for (int k : plan.missing)
        if (res[k]) {
            error = "this asks for a second derivative by parameters, which does not exist";
            return false;
        }
    double* end = work;
    *end++ = 0.0;
    *end++ = 1.0;
    for (std::size_t k = 0; k < plan.in.size(); ++k) {
        const CasadiInt count = casadi_nonzeros(plan.in[k]);
        end = arg[k] ? std::copy_n(arg[k], count, end) : std::fill_n(end, count, 0.0);
    }
    for (int k : plan.zero)
        if (res[k]) std::fill_n(res[k], casadi_nonzeros(plan.out[k]), 0.0);
    for (const std::vector<CasadiCall>& group : plan.groups) {
        const CasadiCall* call = choose(group, res);
        if (call && !run(*call, work, res, end, error)) return false;
    }
    return true;
}

}  // namespace dtau
