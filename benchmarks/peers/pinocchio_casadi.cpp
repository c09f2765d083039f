// Saves functions of CasADi that Pinocchio's algorithms build: save(), from which CasADi generates code. It
// is for installations of Pinocchio whose bindings come without CasADi, and is compiled with the flags of
// headers.py. As in pinocchio_headers.cpp, no template is declared extern, and the model comes as text.
#include <pinocchio/autodiff/casadi.hpp>
// the header before must come first: it defines CasADi's numbers for the others
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/serialization.hpp>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Number = casadi::SX;
using Model = pinocchio::ModelTpl<Number>;
using Data = pinocchio::DataTpl<Number>;
using Vector = Eigen::Matrix<Number, Eigen::Dynamic, 1>;

// A part of a column as Pinocchio's vector.
Vector part(const Number& x, int from, int count) {
    Vector v(count);
    for (int i = 0; i < count; ++i) v[i] = x(from + i);
    return v;
}

// The rows of a matrix one after the other. Pinocchio computes only the upper triangle of symmetric ones.
template <class Matrix>
void append(std::vector<Number>& to, const Matrix& m, bool symmetric = false) {
    for (Eigen::Index i = 0; i < m.rows(); ++i)
        for (Eigen::Index j = 0; j < m.cols(); ++j)
            to.push_back(symmetric && j < i ? m(j, i) : m(i, j));
}

std::vector<Number> results(const std::string& name, const Model& m, const Vector& q,
                            const Vector& v, const Vector& u) {
    Data d(m);
    std::vector<Number> to;
    if (name == "inverse_dynamics") {
        append(to, pinocchio::rnea(m, d, q, v, u));
    } else if (name == "inverse_dynamics_derivatives") {
        pinocchio::computeRNEADerivatives(m, d, q, v, u);
        append(to, d.dtau_dq), append(to, d.dtau_dv), append(to, d.M, true);
    } else if (name == "forward_dynamics_derivatives") {
        pinocchio::computeABADerivatives(m, d, q, v, u);
        append(to, d.ddq_dq), append(to, d.ddq_dv), append(to, d.Minv, true);
    } else {
        throw std::invalid_argument("no function " + name);
    }
    return to;
}

}  // namespace

// Saves a function to a file of CasADi: from a column with q, v and u to a column with all results. Returns
// false and a message if it fails.
extern "C" __attribute__((visibility("default"))) bool save(const char* text, const char* name,
                                                            const char* file, char* message,
                                                            std::size_t size) {
    try {
        pinocchio::Model model;
        model.loadFromString(text);
        const Number x = Number::sym("x", model.nq + 2 * model.nv);
        const std::vector<Number> y =
            results(name, model.cast<Number>(), part(x, 0, model.nq), part(x, model.nq, model.nv),
                    part(x, model.nq + model.nv, model.nv));
        const Number out = Number::densify(Number::vertcat(y));
        casadi::Function("function", {x}, Number::cse({out})).save(file);
        return true;
    } catch (const std::exception& error) {
        std::snprintf(message, size, "%s", error.what());
        return false;
    }
}
