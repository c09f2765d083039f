// Registers the algorithms of include/dtau/textbook/ as functions of dtau._testing.textbook.
#include "dtau/textbook/aba.hpp"
#include "dtau/textbook/crba.hpp"
#include "dtau/textbook/idsva_so.hpp"
#include "dtau/textbook/rnea.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"tau", Quantity::torque> torque;
constexpr Out<"a", Quantity::v> acceleration;
constexpr Out<"M", Quantity::torque_matrix> M;
constexpr Out<"dtau_dq", Quantity::torque_matrix> dtau_dq;
constexpr Out<"dtau_dv", Quantity::torque_matrix> dtau_dv;
constexpr Out<"dtau_da", Quantity::torque_matrix> dtau_da;
constexpr Out<"d2tau_dqdq", Quantity::tensor> d2tau_dqdq;
constexpr Out<"d2tau_dqdv", Quantity::tensor> d2tau_dqdv;
constexpr Out<"d2tau_dvdv", Quantity::tensor> d2tau_dvdv;
constexpr Out<"d2tau_dadq", Quantity::tensor> d2tau_dadq;

constexpr Function functions[] = {
    function({.name = "rnea"}, takes(q, v, a, f_ext), gives(torque),
             algorithm<textbook::RneaWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     textbook::rnea<T>(tree, x[q], x[v], x[a], x[f_ext], x[torque], w);
                 })),
    function({.name = "crba"}, takes(q), gives(M),
             algorithm<textbook::CrbaWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     textbook::crba<T>(tree, x[q], x[M], w);
                 })),
    function({.name = "aba", .solves = true}, takes(q, v, tau, f_ext), gives(acceleration),
             algorithm<textbook::AbaWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     textbook::aba<T>(tree, x[q], x[v], x[tau], x[f_ext], x[acceleration], w);
                 })),
    function({.name = "idsva", .results = "InverseDynamicsDerivatives"}, takes(q, v, a, f_ext),
             gives(dtau_dq, dtau_dv, dtau_da),
             algorithm<textbook::IdsvaWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     textbook::idsva<T>(tree, x[q], x[v], x[a], x[f_ext], x[dtau_dq], x[dtau_dv],
                                        x[dtau_da], w);
                 })),
    function({.name = "idsva_so", .results = "InverseDynamicsSecondDerivatives"},
             takes(q, v, a, f_ext), gives(d2tau_dqdq, d2tau_dqdv, d2tau_dvdv, d2tau_dadq),
             algorithm<textbook::IdsvaWorkspace>([]<class T>(const Tree& tree, const auto& x,
                                                             const auto& w) {
                 // With mimic joints the results have no room for the tensors of all joints: they are NaN.
                 const std::ptrdiff_t n = tree.independent.n;
                 for (T* tensor : {x[d2tau_dqdq], x[d2tau_dqdv], x[d2tau_dvdv], x[d2tau_dadq]})
                     for (std::ptrdiff_t e = 0; tree.mimic && e < n * n * n; ++e)
                         tensor[e] = T(__builtin_nan(""));
                 if (tree.mimic) return;
                 textbook::idsva_so<T>(tree, x[q], x[v], x[a], x[f_ext],
                                       {x[d2tau_dqdq], x[d2tau_dqdv], x[d2tau_dvdv], x[d2tau_dadq]},
                                       w);
             })),
};

}  // namespace

extern const FunctionGroup textbook_functions = functions;

}  // namespace dtau::DTAU_VARIANT
