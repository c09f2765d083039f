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
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "interop/casadi_symbols.hpp"
#include "interop/raw_call.hpp"

namespace dtau {

// CasADi's sparsity: rows, columns, offsets of the columns, rows of the nonzeros.
using CasadiPattern = std::vector<CasadiInt>;

inline constexpr int casadi_given_roles =
    4;  // whose patterns are given; the last's follow from them

// One of the problems, torque for an acceleration or acceleration for a torque (x below), or a part
// of it: with x = 0, or with v = x = 0; or the matrix of its derivatives by x; or its time
// derivatives, for which x and the wrenches are stacks. Or, with contacts, constrained dynamics (x
// is the torque) or an impact, as one vector. Or a time step, of the numbers of q and v after it.
struct CasadiFunction {
    std::shared_ptr<const RawCall> value;
    // Calls for the problem's derivatives, gradient and Hessian; second derivatives, for a matrix;
    // derivatives by wrenches, if these are given.
    std::shared_ptr<const RawCall> first, product, second, tensors, by_wrench;
    // Calls for derivatives of a time step by its length too, and by its length and wrenches.
    std::shared_ptr<const RawCall> first_by[2], second_by[2], product_by_dt;
    bool takes_v = false, takes_x = false, takes_dt = false, takes_wrenches = false,
         takes_mask = false;
    bool is_matrix = false, is_constrained = false, is_stack = false;
    int nq = 0, nv = 0, nbodies = 0, nrows = 0, ncontacts = 0;
    std::vector<std::string> input_names, result_names;
    struct Patterns {
        std::vector<CasadiPattern> in, out;
    } patterns[casadi_given_roles];

    CasadiFunction() = default;
    ~CasadiFunction() { delete second_.load(); }
    CasadiFunction(const CasadiFunction&) = delete;
    CasadiFunction& operator=(const CasadiFunction&) = delete;

    // The number of inputs.
    int ninputs() const { return 1 + takes_v + takes_x + takes_dt + takes_wrenches + takes_mask; }
    const Patterns& of(CasadiRole role) const;

  private:
    // Computed on demand, as they are as large as the tensors of second derivatives. Without a
    // lock, which a process forked meanwhile would never get: of threads that ask at once, the
    // first wins.
    mutable std::atomic<const Patterns*> second_ = nullptr;
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

std::size_t casadi_constrained_work(const CasadiFunction& f, CasadiRole role);
bool casadi_constrained(const CasadiFunction& f, CasadiRole role, const double* const* arg,
                        double* const* res, double* work, std::string& error);

// The same for time steps.
std::size_t casadi_step_work(const CasadiFunction& f, CasadiRole role);
bool casadi_step(const CasadiFunction& f, CasadiRole role, const double* const* arg,
                 double* const* res, double* work, std::string& error);

std::size_t casadi_second_work(const CasadiFunction& f);
bool casadi_second(const CasadiFunction& f, const double* const* arg, double* const* res,
                   double* work, std::string& error);

// The same for functions of stacks, which have the roles value, jacobian and adjoint.
std::size_t casadi_stack_work(const CasadiFunction& f, CasadiRole role);
bool casadi_stack(const CasadiFunction& f, CasadiRole role, const double* const* arg,
                  double* const* res, double* work, std::string& error);

// Puts a function into an empty slot and holds it: returns the slot's index, or -1 if all are
// taken. The first CasADi function of this thread claims it; one that comes from elsewhere is
// refused.
int hold_casadi_slot(std::unique_ptr<CasadiFunction> function);
void release_casadi_slot(int slot);
// Whether another function than the one made by Python found this slot; neither is called then.
bool casadi_slot_is_lost(int slot);

}  // namespace dtau
