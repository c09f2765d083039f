#include "dtau/algorithms/solve/factorized.hpp"
#include "dtau/algorithms/values/crba.hpp"
#include "functions/shared/algorithms.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"M", Quantity::torque_matrix> M;
constexpr Out<"M_inverse", Quantity::matrix> M_inverse;

constexpr Function functions[] = {
    function({.name = "mass_matrix"}, takes(q), gives(M),
             algorithm<RootFrame, How{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     crba(tree, x[q], x[M], w);
                 })),
    function({.name = "mass_matrix_inverse", .solves = true}, takes(q), gives(M_inverse),
             algorithm<MassMatrixInverseWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     mass_matrix_inverse(tree, x[q], x[M_inverse], w);
                 })),
};

}  // namespace

extern const FunctionGroup mass_matrix_functions = functions;

}  // namespace dtau::DTAU_VARIANT
