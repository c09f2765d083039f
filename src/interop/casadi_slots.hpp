// Exports functions to CasADi by symbol, in numbered slots: hold_casadi_slot(), casadi_call().
//
// CasADi's external("dtau_slot7", this library) looks for symbols dtau_slot7, jac_dtau_slot7,
// adj1_dtau_slot7, jac_adj1_dtau_slot7, jac_jac_dtau_slot7, their sizes and patterns. They are
// compiled once, in a number of slots; Python puts a function of a model into one. CasADi counts its
// holders (incref, decref), and the last one empties it. Any thread may call; memory comes with the
// call. A function without second derivatives is dtau_first_order_slot7, a second name of the slot
// without the last two symbols, so that CasADi knows that there are none.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "call/raw_call.hpp"
#include "interop/casadi_symbols.hpp"

namespace dtau {

// CasADi's sparsity: rows, columns, offsets of the columns, rows of the nonzeros. Three numbers:
// dense.
using CasadiPattern = std::vector<CasadiInt>;
CasadiInt casadi_nonzeros(const CasadiPattern& p);

// Where numbers are. Given numbers are 0, 1, and the nonzeros of a role's inputs, one input after
// the other; the numbers of a call are its results, for all states, one result after the other.
using CasadiPlaces = std::vector<std::int32_t>;

// A call of the core, what it reads and which of a role's results its numbers make.
struct CasadiCall {
    struct Input {
        bool is_given = false, each = false;  // each: every state has its own
        CasadiPlaces places;                  // among the given numbers
        int first = -1;                       // of places in a row, which need no copy; else -1
    };
    // The nonzeros are sums of so many terms each: numbers of the call, times given numbers.
    struct Result {
        int result, terms;
        CasadiPlaces places, factors;  // no factors: they are 1
    };
    std::shared_ptr<const RawCall> call;
    std::ptrdiff_t states = 1;
    std::vector<Input> inputs;  // in the order of its signature
    std::vector<Result> results;
};

// One of the functions that CasADi derives. Its results come in groups; the first call of a group
// that has all that is wanted of it runs: the later ones have more, and take longer.
struct CasadiPlan {
    std::vector<CasadiPattern> in, out;
    std::vector<std::vector<CasadiCall>> groups;
    std::vector<int> zero;     // results without a call
    std::vector<int> missing;  // results that the core does not have

    std::size_t work() const;  // memory of an evaluation, in numbers
};

inline constexpr int casadi_planned_roles = 4;  // the patterns of the last follow from the others'

struct CasadiFunction {
    std::vector<std::string> input_names, result_names;
    CasadiPlan plans[casadi_planned_roles];

    CasadiFunction() = default;
    ~CasadiFunction() { delete second_.load(); }
    CasadiFunction(const CasadiFunction&) = delete;
    CasadiFunction& operator=(const CasadiFunction&) = delete;

    int ninputs() const { return static_cast<int>(input_names.size()); }
    const CasadiPlan& of(CasadiRole role) const;

  private:
    // Made on demand, as its patterns are as large as the tensors of second derivatives. Without a
    // lock, which a process forked meanwhile would never get: of threads that ask at once, the
    // first wins.
    mutable std::atomic<const CasadiPlan*> second_ = nullptr;
};

// Calls visit(row, column, result, place) for the entries of the second derivative of the result by
// input a, then by input b. `row` is the index among the Jacobian's numbers, column by column;
// `result` is a nonzero of the result; `place` is the index of the two inputs' numbers in that
// result's Hessian.
using SecondEntryVisitor =
    std::function<void(CasadiInt row, CasadiInt column, CasadiInt result, CasadiInt place)>;
void for_second_entries(const CasadiFunction& f, int a, int b, const SecondEntryVisitor& visit);

// Memory of a role, in numbers.
std::size_t casadi_work(const CasadiFunction& f, CasadiRole role);

// Computes the results that are not null; returns false and a sentence on failure.
bool casadi_evaluate(const CasadiFunction& f, CasadiRole role, const double* const* arg,
                     double* const* res, double* work, std::string& error);

// The same for the Jacobian of the Jacobian.
std::size_t casadi_second_work(const CasadiFunction& f);
bool casadi_second(const CasadiFunction& f, const double* const* arg, double* const* res,
                   double* work, std::string& error);

// Puts a function into an empty slot and holds it: returns the slot's index, or -1 if all are
// taken. The first CasADi function of this thread claims it; one that comes from elsewhere is
// refused.
int hold_casadi_slot(std::unique_ptr<CasadiFunction> function);
void release_casadi_slot(int slot);
// Whether another function than the one made by Python found this slot; neither is called then.
bool casadi_slot_is_lost(int slot);

}  // namespace dtau
