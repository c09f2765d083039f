// Evaluates the Jacobian of the Jacobian: second derivatives of every number of the result, each by
// a Hessian.
#include <algorithm>

#include "interop/casadi_slots.hpp"

namespace dtau {
namespace {

// Calls visit(row, place) for the nonzeros of a column.
template <class Visit>
void for_column(const CasadiPattern& p, CasadiInt column, const Visit& visit) {
    const CasadiInt rows = p[0], columns = p[1];
    if (p.size() == 3) {
        for (CasadiInt r = 0; r < rows; ++r) visit(r, column * rows + r);
        return;
    }
    const CasadiInt* offset = p.data() + 2;
    for (CasadiInt k = offset[column]; k < offset[column + 1]; ++k)
        visit(offset[columns + 1 + k], k);
}

CasadiPattern empty(CasadiInt rows, CasadiInt columns) {
    CasadiPattern p(columns + 3, 0);
    p[0] = rows, p[1] = columns;
    return p;
}

const CasadiPattern& result_of(const CasadiFunction& f) { return f.of(CasadiRole::value).out[0]; }
const CasadiPattern& hessian_of(const CasadiFunction& f, int a, int b) {
    return f.of(CasadiRole::adjoint_jacobian).out[a * (f.ninputs() + 2) + b];
}

CasadiPlan second_plan(const CasadiFunction& f) {
    const int n = f.ninputs();
    CasadiPlan made;
    made.in = f.of(CasadiRole::jacobian).in;
    for (int a = 0; a < n; ++a) {
        const CasadiPattern& first = f.of(CasadiRole::jacobian).out[a];
        made.in.push_back(empty(first[0], first[1]));
        for (int b = 0; b < n; ++b) {
            const CasadiInt columns = hessian_of(f, a, b)[1];
            CasadiPattern p = empty(first[0] * first[1], columns);
            for_second_entries(f, a, b, [&](CasadiInt row, CasadiInt column, CasadiInt, CasadiInt) {
                ++p[3 + column];
                p.push_back(row);
            });
            for (CasadiInt c = 0; c < columns; ++c) p[3 + c] += p[2 + c];
            made.out.push_back(std::move(p));
        }
        made.out.push_back(empty(first[0] * first[1], first[0]));
    }
    return made;
}

}  // namespace

const CasadiPlan& CasadiFunction::of(CasadiRole role) const {
    if (role != CasadiRole::second) return plans[static_cast<int>(role)];
    if (const CasadiPlan* known = second_) return *known;
    auto made = std::make_unique<const CasadiPlan>(second_plan(*this));
    const CasadiPlan* first = nullptr;
    return second_.compare_exchange_strong(first, made.get()) ? *made.release() : *first;
}

void for_second_entries(const CasadiFunction& f, int a, int b, const SecondEntryVisitor& visit) {
    const CasadiPattern &result = result_of(f), &hessian = hessian_of(f, a, b);
    const CasadiPattern &by_a = f.of(CasadiRole::jacobian).out[a],
                        &by_b = f.of(CasadiRole::jacobian).out[b];
    const CasadiInt size = result[0] * result[1];
    std::vector<CasadiInt> nonzero(size, -1), last(size, -1);
    for (CasadiInt c = 0; c < result[1]; ++c)
        for_column(result, c, [&](CasadiInt r, CasadiInt k) { nonzero[c * result[0] + r] = k; });
    for (CasadiInt column = 0; column < hessian[1]; ++column) {
        for_column(by_b, column, [&](CasadiInt i, CasadiInt) { last[i] = column; });
        for_column(hessian, column, [&](CasadiInt k, CasadiInt place) {
            for_column(by_a, k, [&](CasadiInt i, CasadiInt) {
                if (last[i] == column) visit(k * size + i, column, nonzero[i], place);
            });
        });
    }
}

std::size_t casadi_second_work(const CasadiFunction& f) {
    const int n = f.ninputs();
    CasadiInt each = 0;
    for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; ++b) each += casadi_nonzeros(hessian_of(f, a, b));
    return casadi_work(f, CasadiRole::adjoint_jacobian) +
           casadi_nonzeros(result_of(f)) * (1 + each);
}

bool casadi_second(const CasadiFunction& f, const double* const* arg, double* const* res,
                   double* work, std::string& error) {
    const int n = f.ninputs();
    const CasadiInt results = casadi_nonzeros(result_of(f));
    double* seed = work;
    work += results;
    std::fill_n(seed, results, 0.0);
    const auto wanted = [&](int a, int b) { return res[a * (n + 1) + b]; };
    std::vector<double*> hessians(n * (n + 2), nullptr), kept(n * (n + 2), nullptr);
    for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; ++b)
            if (wanted(a, b)) {
                kept[a * (n + 2) + b] = work;
                work += results * casadi_nonzeros(hessian_of(f, a, b));
            }
    std::vector<const double*> given(2 * n + 2, nullptr);
    std::copy_n(arg, n, given.begin());
    given[n + 1] = seed;
    for (CasadiInt i = 0; i < results; ++i) {
        for (int k = 0; k < n * (n + 2); ++k)
            if (kept[k])
                hessians[k] =
                    kept[k] + i * casadi_nonzeros(hessian_of(f, k / (n + 2), k % (n + 2)));
        seed[i] = 1.0;
        if (!casadi_evaluate(f, CasadiRole::adjoint_jacobian, given.data(), hessians.data(), work,
                             error))
            return false;
        seed[i] = 0.0;
    }
    for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; ++b) {
            double* to = wanted(a, b);
            if (!to) continue;
            const double* from = kept[a * (n + 2) + b];
            const CasadiInt each = casadi_nonzeros(hessian_of(f, a, b));
            for_second_entries(f, a, b, [&](CasadiInt, CasadiInt, CasadiInt i, CasadiInt place) {
                *to++ = from[i * each + place];
            });
        }
    return true;
}

}  // namespace dtau
