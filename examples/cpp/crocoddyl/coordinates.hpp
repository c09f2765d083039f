// Maps states, controls and derivatives between Pinocchio's form and dtau's: Coordinates.
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

// For robots whose joints have one degree of freedom, with or without a free root. Both models have
// the same order, as from the same URDF. Pinocchio's continuous joints are (cosine, sine), dtau's
// are angles; all else is equal.
class Coordinates {
  public:
    // Throws std::invalid_argument if the robots have other joints or other dynamics.
    Coordinates(const pinocchio::Model& theirs, const dtau::Model& ours)
        : nq_(theirs.nq), nv_(theirs.nv) {
        const std::vector<std::string>& names = ours.joints();
        const int count = static_cast<int>(names.size());
        const int free = ours.nq() - ours.nv();  // 1: a root of 7 coordinates and 6 velocities
        bool same = theirs.njoints == count + 1 && theirs.nv == ours.nv() && free <= 1 &&
                    ours.nv() == count + 5 * free && (free == 0 || theirs.nqs[1] == 7);
        for (int i = free; i < count && same; ++i)
            same = theirs.names[i + 1] == names[i] && theirs.nvs[i + 1] == 1;
        if (!same)
            fail(
                "expected the joints of Pinocchio's model in its order, each of one degree of "
                "freedom, after at most one free root");
        for (int k = 0; k < 7 * free; ++k) coordinates_.push_back({k, false});
        for (int i = free; i < count; ++i)
            coordinates_.push_back({theirs.idx_qs[i + 1], theirs.nqs[i + 1] == 2});
        compare(theirs, ours);
    }

    void state_to_dtau(const double* x, double* q, double* v) const {
        for (const auto& [place, continuous] : coordinates_)
            *q++ = continuous ? std::atan2(x[place + 1], x[place]) : x[place];
        std::copy_n(x + nq_, nv_, v);
    }

    void state_from_dtau(const double* q, const double* v, double* x) const {
        for (const auto& [place, continuous] : coordinates_) {
            x[place] = continuous ? std::cos(*q) : *q;
            if (continuous) x[place + 1] = std::sin(*q);
            ++q;
        }
        std::copy_n(v, nv_, x + nq_);
    }

  private:
    struct Coordinate {  // of dtau's
        int place;       // in Pinocchio's configurations
        bool continuous;
    };

    [[noreturn]] static void fail(const std::string& what) {
        throw std::invalid_argument("model: " + what);
    }

    // Compares the inverse dynamics of both models at one state.
    void compare(const pinocchio::Model& theirs, const dtau::Model& ours) const {
        Eigen::VectorXd x(nq_ + nv_), q(ours.nq()), v(nv_), tau(nv_);
        const Eigen::VectorXd displacement = Eigen::VectorXd::LinSpaced(nv_, -0.7, 0.9);
        const Eigen::VectorXd a = Eigen::VectorXd::LinSpaced(nv_, 1.1, -0.8);
        x << pinocchio::integrate(theirs, pinocchio::neutral(theirs), displacement),
            Eigen::VectorXd::LinSpaced(nv_, 0.5, -0.6);
        pinocchio::Data data(theirs);
        const Eigen::VectorXd expected = pinocchio::rnea(theirs, data, x.head(nq_), x.tail(nv_), a);
        state_to_dtau(x.data(), q.data(), v.data());
        dtau::InverseDynamics inverse_dynamics(ours);
        if (!inverse_dynamics(q.data(), v.data(), a.data(), tau.data()))
            fail(inverse_dynamics.error());
        const double largest = expected.cwiseAbs().maxCoeff();
        if (!((tau - expected).cwiseAbs().maxCoeff() <= 1e-6 * largest))
            fail(
                "expected the dynamics of Pinocchio's model, got other torques: save it with the "
                "same armature and gravity, and without damping, friction and springs");
    }

    const int nq_, nv_;
    std::vector<Coordinate> coordinates_;
};
