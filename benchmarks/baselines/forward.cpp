// Registers partial derivatives of forward dynamics by eq. 5 of [IDSVA], the core's own and baselines, and
// by the chain rule.
#include "forward.hpp"

#include "abacr.hpp"
#include "functions.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"da_dq", Quantity::matrix> da_dq;
constexpr Out<"da_dv", Quantity::matrix> da_dv;
constexpr Out<"da_dtau", Quantity::matrix> da_dtau;

constexpr Out<"M_inverse", Quantity::matrix> M_inverse;

constexpr Row functions[] = {
    function({.name = "inverse_ltdl"}, takes(q, v, tau), gives(M_inverse),
             algorithm<MassMatrixInverseWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     mass_matrix_inverse(tree, x[q], x[M_inverse], w);
                 })),
    function({.name = "inverse_aza"}, takes(q, v, tau), gives(M_inverse),
             algorithm<ArticulatedInverseWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     articulated_mass_matrix_inverse(tree, x[q], x[M_inverse], w);
                 })),
    function({.name = "fdsva_ltdl"}, takes(q, v, tau), gives(da_dq, da_dv, da_dtau),
             algorithm<FdsvaWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 const T* const no_wrenches = nullptr;
                 fdsva(tree, x[q], x[v], x[tau], no_wrenches, x[da_dq], x[da_dv], tree.nv,
                       x[da_dtau], w);
             })),
    function({.name = "fdsva_aza"}, takes(q, v, tau), gives(da_dq, da_dv, da_dtau),
             algorithm<FdsvaArticulatedWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     const ForwardPartials<T> da = {x[da_dq], x[da_dv], x[da_dtau]};
                     fdsva_partials(tree, x[q], x[v], x[tau], w);
                     solve_by_aza(tree, w.idsva.root_frame.S, da, w.solution);
                 })),
    function({.name = "fdsva_dmm"}, takes(q, v, tau), gives(da_dq, da_dv, da_dtau),
             algorithm<FdsvaArticulatedWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     const ForwardPartials<T> da = {x[da_dq], x[da_dv], x[da_dtau]};
                     fdsva_partials(tree, x[q], x[v], x[tau], w);
                     solve_by_dmm(tree, w.idsva.root_frame.S, da, w.solution);
                 })),
    function({.name = "fdcr_aza"}, takes(q, v, tau), gives(da_dq, da_dv, da_dtau),
             algorithm<FdcrWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 const ForwardPartials<T> da = {x[da_dq], x[da_dv], x[da_dtau]};
                 fdcr_partials(tree, x[q], x[v], x[tau], w);
                 solve_by_aza(tree, w.root_frame.S, da, w.solution);
             })),
    function({.name = "fdcr_dmm"}, takes(q, v, tau), gives(da_dq, da_dv, da_dtau),
             algorithm<FdcrWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 const ForwardPartials<T> da = {x[da_dq], x[da_dv], x[da_dtau]};
                 fdcr_partials(tree, x[q], x[v], x[tau], w);
                 solve_by_dmm(tree, w.root_frame.S, da, w.solution);
             })),
    function({.name = "abacr"}, takes(q, v, tau), gives(da_dq, da_dv, da_dtau),
             algorithm<AbacrWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 abacr(tree, x[q], x[v], x[tau], x[da_dq], x[da_dv], x[da_dtau], w);
             })),
};

}  // namespace

extern const FunctionGroup baseline_forward = group<functions>;

}  // namespace dtau::DTAU_VARIANT
