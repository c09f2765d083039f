// Maps states, controls and derivatives between Pinocchio's order and form and dtau's: Coordinates.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <dtau.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/model.hpp>

// For robots whose joints have one degree of freedom, with or without a free root. Joints match by
// their names. Pinocchio's continuous joints are (cosine, sine), dtau's are angles.
class Coordinates {
  public:
    // Throws std::invalid_argument if the robots have other joints or other dynamics.
    Coordinates(const pinocchio::Model& theirs, const dtau::Model& ours) : nq_(theirs.nq) {
        const std::vector<std::string>& names = ours.joints();
        const int free = ours.nq() - ours.nv();  // 1: a root of 7 coordinates and 6 velocities
        if (ours.nv() != static_cast<int>(names.size()) + 5 * free || free > 1)
            fail("expected joints of one degree of freedom and at most a free root");
        if (theirs.nv != ours.nv()) fail("expected the joints of Pinocchio's model, got others");
        order_.resize(theirs.nv);
        for (int i = 1; i < theirs.njoints; ++i) {
            const int q = theirs.idx_qs[i], v = theirs.idx_vs[i];
            if (theirs.nvs[i] == 6 && free == 1 && theirs.parents[i] == 0) {
                for (int k = 0; k < 7; ++k) joints_.push_back({q + k, k, false});
                for (int k = 0; k < 6; ++k) order_[v + k] = k;
                continue;
            }
            const auto found = std::find(names.begin() + free, names.end(), theirs.names[i]);
            if (found == names.end() || theirs.nvs[i] != 1)
                fail("expected the joint '" + theirs.names[i] + "' of one degree of freedom");
            const int place = static_cast<int>(found - names.begin()) + 5 * free;
            joints_.push_back({q, place + free, theirs.nqs[i] == 2});
            order_[v] = place;
        }
        for (int k = 0; k < theirs.nv; ++k) same_order_ &= order_[k] == k;
        compare(theirs, ours);
    }

    void state_to_dtau(const double* x, double* q, double* v) const {
        for (const Joint& j : joints_)
            q[j.ours] = j.continuous ? std::atan2(x[j.theirs + 1], x[j.theirs]) : x[j.theirs];
        for (std::size_t k = 0; k < order_.size(); ++k) v[order_[k]] = x[nq_ + k];
    }

    void state_from_dtau(const double* q, const double* v, double* x) const {
        for (const Joint& j : joints_) {
            x[j.theirs] = j.continuous ? std::cos(q[j.ours]) : q[j.ours];
            if (j.continuous) x[j.theirs + 1] = std::sin(q[j.ours]);
        }
        for (std::size_t k = 0; k < order_.size(); ++k) x[nq_ + k] = v[order_[k]];
    }

    // Controls are the joint torques of the last velocities, in Pinocchio's order.
    void controls_to_dtau(const double* u, int nu, double* tau) const {
        const int nv = static_cast<int>(order_.size());
        for (int k = 0; k < nv - nu; ++k) tau[order_[k]] = 0.0;
        for (int k = 0; k < nu; ++k) tau[order_[nv - nu + k]] = u[k];
    }

    // Copies a matrix by rows, whose rows are displacements and velocities. Its columns are as many
    // velocities, or those from `first` on.
    void matrix_from_dtau(const double* matrix, int ncolumns, int first,
                          Eigen::MatrixXd& to) const {
        const int nv = static_cast<int>(order_.size());
        if (same_order_) {
            using ByRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
            to = Eigen::Map<const ByRows>(matrix, 2 * nv, ncolumns);
            return;
        }
        for (int c = 0; c < ncolumns; ++c) {
            const int column = c / nv * nv + order_[first + c % nv] - first;
            for (int r = 0; r < nv; ++r) {
                to(r, c) = matrix[order_[r] * ncolumns + column];
                to(nv + r, c) = matrix[(nv + order_[r]) * ncolumns + column];
            }
        }
    }

  private:
    struct Joint {
        int theirs, ours;  // places in the configurations
        bool continuous;
    };

    [[noreturn]] static void fail(const std::string& what) {
        throw std::invalid_argument("model: " + what);
    }

    // Compares the inverse dynamics of both models at one state.
    void compare(const pinocchio::Model& theirs, const dtau::Model& ours) const {
        const int nv = theirs.nv;
        Eigen::VectorXd x(nq_ + nv), q(ours.nq()), v(nv), a(nv), tau(nv), expected(nv);
        const Eigen::VectorXd displacement = Eigen::VectorXd::LinSpaced(nv, -0.7, 0.9);
        x << pinocchio::integrate(theirs, pinocchio::neutral(theirs), displacement),
            Eigen::VectorXd::LinSpaced(nv, 0.5, -0.6);
        const Eigen::VectorXd a_theirs = Eigen::VectorXd::LinSpaced(nv, 1.1, -0.8);
        pinocchio::Data data(theirs);
        expected = pinocchio::rnea(theirs, data, x.head(nq_), x.tail(nv), a_theirs);
        state_to_dtau(x.data(), q.data(), v.data());
        for (int k = 0; k < nv; ++k) a[order_[k]] = a_theirs[k];
        dtau::InverseDynamics inverse_dynamics(ours);
        if (!inverse_dynamics(q.data(), v.data(), a.data(), tau.data()))
            fail(inverse_dynamics.error());
        for (int k = 0; k < nv; ++k)
            if (!(std::abs(tau[order_[k]] - expected[k]) <= 1e-6 * expected.cwiseAbs().maxCoeff()))
                fail(
                    "expected the dynamics of Pinocchio's model, got other torques: save it with "
                    "the same armature and gravity, and with damping=0");
    }

    const int nq_;
    std::vector<Joint> joints_;
    std::vector<int> order_;  // dtau's velocities, in Pinocchio's order
    bool same_order_ = true;
};
